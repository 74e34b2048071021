/* Operations of tensor cores: what all lanes of a warp do together. */
#ifndef TENSOR_H
#define TENSOR_H

#include <stdint.h>

void tensor_load_matrices(uint32_t *to, const void *row, int is_turned, const char *file, int line);
void tensor_mma(int type, float *sums, const uint32_t *left, const uint32_t *right,
                const char *file, int line);

#endif
