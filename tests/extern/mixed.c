/* rows[k] = a[index[k]] * scale + b[k] - c[k], of five operands; and how often each index stands in
 * a row. */
#include "nnc_extern.h"
#include "mixed.h"

void mixed_rows(int count, const nnc_extern_tensor *inputs, const nnc_extern_tensor *result) {
  const int64_t rows = result->dim[0], columns = result->dim[1];
  const int32_t *index = inputs[1].data;
  const int32_t scale = *(const int32_t *)inputs[4].data;
  (void)count;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = 0; c < columns; c++) {
      const int64_t at = r * columns + c, from = index[r] * columns + c;
      if (result->dtype == NNC_F64)
        ((double *)result->data)[at] = ((const double *)inputs[0].data)[from] * scale +
                                       ((const double *)inputs[2].data)[at] -
                                       ((const double *)inputs[3].data)[at];
      else
        ((float *)result->data)[at] = ((const float *)inputs[0].data)[from] * (float)scale +
                                      ((const float *)inputs[2].data)[at] -
                                      ((const float *)inputs[3].data)[at];
    }
}

void tally(int count, const nnc_extern_tensor *inputs, const nnc_extern_tensor *result) {
  const int32_t *index = inputs[0].data;
  int32_t *counts = result->data;
  (void)count;
  for (int64_t i = 0; i < result->elements; i++) counts[i] = OFFSET;
  for (int64_t i = 0; i < inputs[0].elements; i++) counts[index[i]]++;
}
