/* Products that a library of NVIDIA's may compute in place of our kernels: --gemm=cublaslt. */
#ifndef NNC_BACKEND_CUDA_LIBRARY_H
#define NNC_BACKEND_CUDA_LIBRARY_H

#include "backend/cuda/cuda.h"

/* Whether the contraction is large enough for the library, so that nothing is fused into its kernel. */
bool library_wants(const Node *node);
/* Whether the kernel is a product that the library computes: matrices of floats, and the product
 * stored as it is. */
bool library_takes(const Kernel *kernel);
/* The table of those products, "static const nnc_cuda_product nnc_products[] = {...};". */
void library_write_products(Code *code, const KernelFunction *functions, int count);

#endif
