/* As mixed.c. Names and macros are those of this file alone: swish.cu has a function `number`, and
 * kernels have parameters h and table. */
#include "mixed.h"
#include "nnc_cuda_extern.h"

#define h broken(
#define table broken(

NNC_DEVICE int32_t number(const nnc_extern_tensor *tensor) { return *(const int32_t *)tensor->data; }

template <class T> NNC_DEVICE void rows_of(const nnc_extern_tensor *inputs,
                                           const nnc_extern_tensor *result) {
  const int32_t *index = (const int32_t *)inputs[1].data, scale = number(&inputs[4]);
  const T *a = (const T *)inputs[0].data, *b = (const T *)inputs[2].data;
  const T *c = (const T *)inputs[3].data;
  for (int64_t i = nnc_extern_first(); i < result->elements; i += nnc_extern_threads()) {
    const int64_t row = i / result->dim[1], column = i % result->dim[1];
    ((T *)result->data)[i] = a[index[row] * result->dim[1] + column] * (T)scale + b[i] - c[i];
  }
}

NNC_EXTERN void mixed_rows(int count, const nnc_extern_tensor *inputs,
                           const nnc_extern_tensor *result) {
  if (result->dtype == NNC_F64) rows_of<double>(inputs, result);
  else rows_of<float>(inputs, result);
}

/* One thread a class; those of a block count in turns what all of them wait for. */
NNC_EXTERN void tally(int count, const nnc_extern_tensor *inputs, const nnc_extern_tensor *result) {
  NNC_BLOCK_MEMORY int32_t offset;
  const int32_t *index = (const int32_t *)inputs[0].data;
  if (NNC_THREAD == 0) offset = OFFSET;
  nnc_sync();
  for (int64_t k = nnc_extern_first(); k < result->elements; k += nnc_extern_threads()) {
    int32_t sum = offset;
    for (int64_t i = 0; i < inputs[0].elements; i++) sum += index[i] == k;
    ((int32_t *)result->data)[k] = sum;
  }
}
