/* Products (product.h) on tensor cores: of two sides of the same type of 16 bits with sums in f32,
 * or of f32 where the program lets them be rounded to tf32. */
#ifndef NNC_BACKEND_CUDA_TENSOR_H
#define NNC_BACKEND_CUDA_TENSOR_H

#include "backend/cuda/product.h"

/* Bytes that a copy brings, and a lane's row of a fragment. */
enum { TENSOR_CHUNK = 16 };

/* How long it takes about; equal units for all products. */
double tensor_time(const ProductExtents *extents);
/* "bf16", "f16" or "tf32", as functions for products are called. */
const char *tensor_mma_name(DType dtype);
bool tensor_takes(const Kernel *kernel, const ProductExtents *extents);
CudaGrid tensor_grid(const Kernel *kernel, const ProductExtents *extents);
void tensor_write(Code *code, KernelFunction *function, const ProductExtents *extents,
                  const ProductText *text);

#endif
