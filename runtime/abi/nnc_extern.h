/* Operators of one's own in C: what a function declared by `extern` is given.
 *
 *     #include "nnc_extern.h"
 *     void swish(int count, const nnc_extern_tensor *inputs, const nnc_extern_tensor *result)
 *     {
 *       const float *x = inputs[0].data;
 *       float *y = result->data;
 *       for (int64_t i = 0; i < result->elements; i++) y[i] = x[i] / (1 + expf(-x[i]));
 *     }
 *
 * `inputs` are the arguments in their order, numbers among them as tensors without axes; all are
 * row-major and must not be written. Every element of the result must be. Equal inputs must give
 * equal results: a call may be left out, or made again. One thread makes a call at a time, but not
 * always the same one. */
#ifndef NNC_EXTERN_H
#define NNC_EXTERN_H

#include <stdint.h>

#include "nnc_extern_tensor.h"

#endif
