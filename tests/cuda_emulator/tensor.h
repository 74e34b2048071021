/* Operations of tensor cores: what all lanes of a warp do together. */
#ifndef TENSOR_H
#define TENSOR_H

#include <stdint.h>

/* The number at depth `part` (0 or 1; tf32: 0) of a register. */
float tensor_number(int type, uint32_t bits, int part);
void tensor_load_matrices(uint32_t *to, const void *row, int is_turned, const char *file, int line);
void tensor_mma(int type, float *sums, const uint32_t *left, const uint32_t *right,
                const char *file, int line);

#endif
