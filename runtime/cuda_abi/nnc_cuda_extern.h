/* Operators of one's own in CUDA: what a function declared by `extern` with cuda = "f.cu" is given, and
 * how its threads share the work.
 *
 *     #include "nnc_cuda_extern.h"
 *     NNC_EXTERN void swish(int count, const nnc_extern_tensor *inputs, const nnc_extern_tensor *result)
 *     {
 *       const float *x = (const float *)inputs[0].data;
 *       float *y = (float *)result->data;
 *       for (int64_t i = nnc_extern_first(); i < result->elements; i += nnc_extern_threads())
 *         y[i] = x[i] / (1 + expf(-x[i]));
 *     }
 *
 * Every thread of a launch calls the function with the same arguments. `inputs` are the arguments of the
 * operator in their order, numbers among them as tensors without axes; all lie in the device's memory,
 * are row-major and must not be written. Every element of the result must be, each by one thread:
 * threads of different blocks do not wait for each other, so none may read what another block writes.
 * Equal inputs must give equal results: a call may be left out, or made again.
 *
 * Threads of a block may share variables that are NNC_BLOCK_MEMORY, with nnc_sync() between, which all
 * threads of the block must reach. All that nnc_cuda.h has may be used. */
#ifndef NNC_CUDA_EXTERN_H
#define NNC_CUDA_EXTERN_H

#include "nnc_cuda.h"
#include "nnc_extern_tensor.h"

/* The number of this thread among all of the launch, and how many they are. */
NNC_DEVICE int64_t nnc_extern_first(void) { return NNC_BLOCK * NNC_THREADS + NNC_THREAD; }
NNC_DEVICE int64_t nnc_extern_threads(void) { return NNC_BLOCKS * NNC_THREADS; }

#endif
