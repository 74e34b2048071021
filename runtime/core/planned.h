/* How much memory a model's plan takes. */
#ifndef NNC_PLANNED_H
#define NNC_PLANNED_H

#include <stdint.h>

#include "nnc_model.h"

/* Bytes of the arena and of the blocks of so many workers. */
int64_t nnc_planned_bytes(const nnc_model *model, int workers);

#endif
