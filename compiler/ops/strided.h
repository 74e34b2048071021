/* Copying between strided views: what movement operators and packing come down to. */
#ifndef NNC_OPS_STRIDED_H
#define NNC_OPS_STRIDED_H

#include "graph/types.h"

/* to[i . to_stride] = from[i . from_stride] for every index i below `dim`; strides may be 0
 * (repeat, in `from`) or negative. */
void strided_copy(int rank, const int64_t *dim, double *to, const int64_t *to_stride,
                  const double *from, const int64_t *from_stride);
/* A dense copy of `from` (of `shape`, row-major) with its axes in the order of `axes`. */
void strided_pack(double *to, const double *from, Shape shape, int count, const int64_t *axes);

#endif
