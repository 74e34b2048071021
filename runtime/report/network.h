/* The layers of the program: their variables with shapes and sizes, and their share of the work. */
#ifndef NNC_NETWORK_H
#define NNC_NETWORK_H

#include <stdio.h>

#include "nnc_model.h"

int64_t nnc_network_parameters(const nnc_model *model);
void nnc_network_put(FILE *file, const nnc_model *model);

#endif
