/* What kernels are instead in images for sm_90a: CudaForm. */
#ifndef NNC_BACKEND_CUDA_FORM_H
#define NNC_BACKEND_CUDA_FORM_H

#include "backend/cuda/cuda.h"

/* Writes the form of the kernel as an nnc_cuda_form, if it has one; its address as text, or "NULL". */
const char *form_write(Code *code, const KernelFunction *function);

#endif
