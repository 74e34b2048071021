/* What kernels of contractions and of attention use beside nnc_kernel.h. */
#ifndef NNC_PRODUCTS_H
#define NNC_PRODUCTS_H

#include "nnc_attention.h"
#include "nnc_gemm.h"
#include "nnc_gemm_bf16.h"
#include "nnc_gemm_x3.h"
#include "nnc_kernel.h"
#include "nnc_pack_half.h"
#include "nnc_thin.h"

#endif
