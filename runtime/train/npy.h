/* The header of NumPy's .npy files, version 1.0. NumPy lacks bf16: it is written as f32, which has all its values. */
#ifndef NNC_NPY_H
#define NNC_NPY_H

#include <stdint.h>

enum { NNC_NPY_HEADER = 512 };

int64_t nnc_npy_size(int dtype); /* bytes of an element */
/* Its length, a multiple of 64 and at least `least`. */
int nnc_npy_header(char header[NNC_NPY_HEADER], int dtype, int rank, const int64_t *dim, int least);

#endif
