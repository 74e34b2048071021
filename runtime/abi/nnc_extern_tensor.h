/* What functions of one's own are given (nnc_extern.h in C, nnc_cuda_extern.h in CUDA), which say what
 * int64_t is. */
#ifndef NNC_EXTERN_TENSOR_H
#define NNC_EXTERN_TENSOR_H

#include "nnc_dtype.h"

typedef struct nnc_extern_tensor {
  void *data;
  int dtype; /* enum nnc_dtype; with --float=f64 every float is NNC_F64 */
  int rank;
  int64_t elements; /* in all */
  int64_t dim[NNC_MAX_RANK];
} nnc_extern_tensor;

#endif
