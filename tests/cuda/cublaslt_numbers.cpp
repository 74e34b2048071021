/* Numbers and sizes of runtime/cuda/cublaslt.h against NVIDIA's header, where that is installed; in C++, since the
 * header wants it. */
#include <cublasLt.h>

extern "C" {
#include "cuda/cublaslt.h"
}

static_assert(BLAS_F32 == CUDA_R_32F && BLAS_F16 == CUDA_R_16F && BLAS_BF16 == CUDA_R_16BF, "");
static_assert(BLAS_SUMS_F32 == CUBLAS_COMPUTE_32F, "");
static_assert(BLAS_SUMS_TF32 == CUBLAS_COMPUTE_32F_FAST_TF32, "");
static_assert(BLAS_PRODUCT_TRANSPOSED_FIRST == CUBLASLT_MATMUL_DESC_TRANSA, "");
static_assert(BLAS_PRODUCT_TRANSPOSED_SECOND == CUBLASLT_MATMUL_DESC_TRANSB, "");
static_assert(BLAS_PLAIN == CUBLAS_OP_N && BLAS_TRANSPOSED == CUBLAS_OP_T, "");
static_assert(BLAS_LAYOUT_BATCHES == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, "");
static_assert(BLAS_LAYOUT_BATCH_STRIDE == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, "");
static_assert(BLAS_WISH_WORKSPACE == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, "");
static_assert(BLAS_WISH_REDUCTIONS == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, "");
static_assert(BLAS_WISH_ALIGNMENT_FIRST == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, "");
static_assert(BLAS_WISH_ALIGNMENT_FIRST + 1 == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, "");
static_assert(BLAS_WISH_ALIGNMENT_FIRST + 2 == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, "");
static_assert(BLAS_WISH_ALIGNMENT_FIRST + 3 == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, "");
static_assert(BLAS_REDUCTIONS_IN_ORDER ==
                  (CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE | CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE),
              "");
static_assert(sizeof(BlasAlgorithm) == sizeof(cublasLtMatmulAlgo_t), "");
static_assert(sizeof(BlasProposal) == sizeof(cublasLtMatmulHeuristicResult_t), "");
static_assert(offsetof(BlasProposal, state) == offsetof(cublasLtMatmulHeuristicResult_t, state),
              "");
static_assert(offsetof(BlasProposal, workspace) ==
                  offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize),
              "");
