/* Contractions by the means of sm_90a alone: boxes of both sides by TMA, products by warpgroups
 * (wgmma). It is another form of kernels of tensor.h, in images for sm_90a, where the product is
 * large enough and its sides lie in memory as TMA takes them. */
#ifndef NNC_BACKEND_CUDA_WGMMA_H
#define NNC_BACKEND_CUDA_WGMMA_H

#include "backend/cuda/product.h"

/* Whether the contraction has this form, which is filled in. */
bool wgmma_find_form(const KernelFunction *function, const ProductExtents *extents, CudaForm *form);
/* Writes its body; of the text it takes the type of indices and the epilogue. */
void wgmma_write(Code *code, KernelFunction *function, const ProductExtents *extents,
                 const ProductText *text);

#endif
