/* swish(x, beta) = x / (1 + exp(-beta x)) and its gradient, the operators of swish.net, for nnc
 * --target=cuda. Every thread calls the function and computes some of the elements. They compute in f32;
 * with nnc --float=f64 the elements would be doubles, result->dtype NNC_F64. */
#include "nnc_cuda_extern.h"

/* inputs: x, beta */
NNC_EXTERN void swish(int count, const nnc_extern_tensor *inputs, const nnc_extern_tensor *result) {
  const float *x = (const float *)inputs[0].data, beta = *(const float *)inputs[1].data;
  float *y = (float *)result->data;
  for (int64_t i = nnc_extern_first(); i < result->elements; i += nnc_extern_threads())
    y[i] = x[i] / (1 + expf(-beta * x[i]));
}

/* inputs: x, dy, beta */
NNC_EXTERN void swish_gradient(int count, const nnc_extern_tensor *inputs,
                               const nnc_extern_tensor *result) {
  const float *x = (const float *)inputs[0].data, *dy = (const float *)inputs[1].data;
  const float beta = *(const float *)inputs[2].data;
  float *dx = (float *)result->data;
  for (int64_t i = nnc_extern_first(); i < result->elements; i += nnc_extern_threads()) {
    const float s = 1 / (1 + expf(-beta * x[i]));
    dx[i] = dy[i] * s * (1 + beta * x[i] * (1 - s));
  }
}
