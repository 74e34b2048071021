/* 2 v in f16. */
#include "nnc_extern.h"
#include "nnc_half.h"
void twice(int count, const nnc_extern_tensor *inputs, const nnc_extern_tensor *result) {
  (void)count;
  const uint16_t *x = inputs[0].data;
  uint16_t *y = result->data;
  for (int64_t i = 0; i < result->elements; i++) y[i] = nnc_to_f16(2 * nnc_from_f16(x[i]));
}
