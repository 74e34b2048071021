/* Values of the reference interpreter: every element is a double, rounded to the dtype where the
 * dtype is integer, bool, bf16 or f16.  f32 is not rounded. */
#ifndef NNC_OPS_TENSOR_H
#define NNC_OPS_TENSOR_H

#include "graph/types.h"

typedef struct Tensor {
  Type type;
  double *data; /* row-major, shape_elements(type.shape) */
} Tensor;

static inline void tensor_fill(Tensor *tensor, double value) {
  int64_t count = shape_elements(tensor->type.shape);
  for (int64_t i = 0; i < count; i++) tensor->data[i] = value;
}

typedef struct EvaluateContext {
  uint64_t seed; /* for random operators */
  uint64_t step;
  uint64_t example_offset; /* number of the batch's first example, for random operators: random.c */
} EvaluateContext;

#endif
