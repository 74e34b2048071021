/* Where the elements of a variable lie that the device keeps with its channels, axis 1, last. */
#ifndef NNC_LAYOUT_H
#define NNC_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "nnc_model.h"

bool nnc_layout_is_turned(const nnc_model *model, const nnc_tensor *tensor);
/* The elements of a row: of all that belongs to one number along axis 0, which lies in one piece. */
int64_t nnc_layout_row(const nnc_tensor *tensor);
/* Where the element of this row-major number lies among those of a turned tensor. */
int64_t nnc_layout_place(const nnc_tensor *tensor, int64_t element);

#endif
