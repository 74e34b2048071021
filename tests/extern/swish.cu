/* As swish.c: x / (1 + exp(-beta x)) and its derivative times dy, for f32 and f64. */
#include "nnc_cuda_extern.h"

NNC_DEVICE double number(const nnc_extern_tensor *tensor) {
  return tensor->dtype == NNC_F64 ? *(const double *)tensor->data : *(const float *)tensor->data;
}

NNC_EXTERN void swish(int count, const nnc_extern_tensor *inputs, const nnc_extern_tensor *result) {
  const double beta = number(&inputs[1]);
  for (int64_t i = nnc_extern_first(); i < result->elements; i += nnc_extern_threads()) {
    if (result->dtype == NNC_F64) {
      const double x = ((const double *)inputs[0].data)[i];
      ((double *)result->data)[i] = x / (1 + exp(-beta * x));
    } else {
      const float x = ((const float *)inputs[0].data)[i];
      ((float *)result->data)[i] = x / (1 + expf(-(float)beta * x));
    }
  }
}

NNC_EXTERN void swish_grad(int count, const nnc_extern_tensor *inputs,
                           const nnc_extern_tensor *result) {
  const double beta = number(&inputs[2]);
  const bool is_double = result->dtype == NNC_F64;
  for (int64_t i = nnc_extern_first(); i < result->elements; i += nnc_extern_threads()) {
    const double x =
        is_double ? ((const double *)inputs[0].data)[i] : ((const float *)inputs[0].data)[i];
    const double dy =
        is_double ? ((const double *)inputs[1].data)[i] : ((const float *)inputs[1].data)[i];
    const double s = 1 / (1 + exp(-beta * x)), dx = dy * (s + beta * x * s * (1 - s));
    if (is_double) ((double *)result->data)[i] = dx;
    else ((float *)result->data)[i] = (float)dx;
  }
}
