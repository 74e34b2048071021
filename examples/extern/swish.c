/* swish(x, beta) = x / (1 + exp(-beta x)) and its gradient, the operators of swish.net. They
 * compute in f32; with nnc --float=f64 the elements would be doubles, result->dtype NNC_F64. */
#include <math.h>

#include "nnc_extern.h"

/* inputs: x, beta */
void swish(int count, const nnc_extern_tensor *inputs, const nnc_extern_tensor *result) {
  const float *x = inputs[0].data, beta = *(const float *)inputs[1].data;
  float *y = result->data;
  (void)count;
  for (int64_t i = 0; i < result->elements; i++) y[i] = x[i] / (1 + expf(-beta * x[i]));
}

/* inputs: x, dy, beta */
void swish_gradient(int count, const nnc_extern_tensor *inputs, const nnc_extern_tensor *result) {
  const float *x = inputs[0].data, *dy = inputs[1].data, beta = *(const float *)inputs[2].data;
  float *dx = result->data;
  (void)count;
  for (int64_t i = 0; i < result->elements; i++) {
    const float s = 1 / (1 + expf(-beta * x[i]));
    dx[i] = dy[i] * s * (1 + beta * x[i] * (1 - s));
  }
}
