/* Fitted data values as text for a checkpoint: a JSON array of {"name", "numbers" | "strings"}. */
#ifndef NNC_FITTED_TEXT_H
#define NNC_FITTED_TEXT_H

#include <stdbool.h>

#include "core/fitted.h"

char *nnc_fitted_format(const nnc_fitted *fitted); /* malloc'ed; NULL: no memory */
bool nnc_fitted_parse(nnc_fitted *fitted, const char *text, char *message, size_t message_size);

#endif
