/* A library of NVIDIA's that computes matrix products in place of kernels of the program. */
#ifndef NNC_CUDA_LIBRARY_H
#define NNC_CUDA_LIBRARY_H

#include <stdbool.h>

#include "cuda/gpu.h"
#include "nnc_cuda_program.h"

typedef struct nnc_library nnc_library; /* opened */

typedef struct nnc_cuda_library {
  const char *name;  /* "cuBLASLt" */
  int64_t workspace; /* bytes of the device's memory that it takes */
  /* Finds the library and prepares the products of all kernels. NULL after a warning where it is not
   * there, cannot start or has no memory: then the program's kernels compute them. False after a
   * message where the host has no memory. */
  bool (*open)(nnc_library **library, const nnc_gpu *gpu, const nnc_cuda_program *program);
  /* Puts the product of kernel `kernel` into the stream; false: it has none. Ends the program with a
   * message where that fails. */
  bool (*launch)(nnc_library *library, int kernel, void **arguments);
  void (*close)(nnc_library *library);
} nnc_cuda_library;

#endif
