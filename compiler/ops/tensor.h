/* Values of the reference interpreter: every element is a double, rounded to the dtype where the
 * dtype is integer, bool, bf16 or f16.  f32 is not rounded. */
#ifndef NNC_OPS_TENSOR_H
#define NNC_OPS_TENSOR_H

#include <string.h>
#include "graph/types.h"

typedef struct Tensor {
  Type type;
  double *data; /* row-major, shape_elements(type.shape) */
} Tensor;

static inline void tensor_copy(double *to, const Tensor *from) {
  size_t count = (size_t)shape_elements(from->type.shape);
  if (count > 0) memcpy(to, from->data, sizeof(double) * count);
}

static inline void tensor_fill(Tensor *tensor, double value) {
  int64_t count = shape_elements(tensor->type.shape);
  for (int64_t i = 0; i < count; i++) tensor->data[i] = value;
}

/* to[i . to_stride] = from[i . from_stride] for every index i below `dim`; strides may be 0
 * (repeat, in `from`) or negative. */
void strided_copy(int rank, const int64_t *dim, double *to, const int64_t *to_stride,
                  const double *from, const int64_t *from_stride);
/* A dense copy of `from` (of `shape`, row-major) with its axes in the order of `axes`. */
void strided_pack(double *to, const double *from, Shape shape, int count, const int64_t *axes);

typedef struct EvaluateContext {
  uint64_t seed; /* for random operators */
  uint64_t step;
  uint64_t example_offset; /* number of the batch's first example, for random operators: random.c */
} EvaluateContext;

#endif
