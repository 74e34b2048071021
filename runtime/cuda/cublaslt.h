/* NVIDIA's cuBLASLt, found when the program starts. Types, numbers and functions are those of the
 * cuBLAS Library documentation, chapter "Using the cuBLASLt API", under names of our own. */
#ifndef NNC_CUDA_CUBLASLT_H
#define NNC_CUDA_CUBLASLT_H

#include <stddef.h>
#include <stdint.h>

#include "cuda/driver.h"

typedef int BlasResult; /* 0: it worked */
typedef struct BlasState *BlasHandle;
typedef struct BlasProductState *BlasProduct; /* what is multiplied how */
typedef struct BlasLayoutState *BlasLayout;   /* of a matrix */
typedef struct BlasWishState *BlasWish;       /* what an algorithm may use */

typedef struct BlasAlgorithm {
  uint64_t data[8];
} BlasAlgorithm;

/* An algorithm that the library proposes. */
typedef struct BlasProposal {
  BlasAlgorithm algorithm;
  size_t workspace; /* bytes */
  BlasResult state; /* 0: it can be used */
  float waves;
  int reserved[4];
} BlasProposal;

enum {
  BLAS_F32 = 0, /* cudaDataType */
  BLAS_F16 = 2,
  BLAS_BF16 = 14,
  BLAS_SUMS_F32 = 68, /* cublasComputeType_t */
  BLAS_SUMS_TF32 = 77,
  BLAS_PRODUCT_TRANSPOSED_FIRST = 3, /* cublasLtMatmulDescAttributes_t */
  BLAS_PRODUCT_TRANSPOSED_SECOND = 4,
  BLAS_PLAIN = 0, /* cublasOperation_t */
  BLAS_TRANSPOSED = 1,
  BLAS_LAYOUT_BATCHES = 5, /* cublasLtMatrixLayoutAttribute_t */
  BLAS_LAYOUT_BATCH_STRIDE = 6,
  BLAS_WISH_WORKSPACE = 1, /* cublasLtMatmulPreferenceAttributes_t */
  BLAS_WISH_REDUCTIONS = 3,
  BLAS_WISH_ALIGNMENT_FIRST = 5, /* then of the second, of c and of the result */
  /* cublasLtReductionScheme_t: pieces of the depth are joined by a kernel of their own, in a fixed
   * order */
  BLAS_REDUCTIONS_IN_ORDER = 2 | 4
};

/* X(name, symbol of the library, parameters...) */
#define NNC_BLAS_FUNCTIONS(X)                                                                      \
  X(create, "cublasLtCreate", BlasHandle *handle)                                                  \
  X(destroy, "cublasLtDestroy", BlasHandle handle)                                                 \
  X(product_create, "cublasLtMatmulDescCreate", BlasProduct *product, int sums, int scale)         \
  X(product_set, "cublasLtMatmulDescSetAttribute", BlasProduct product, int key,                   \
    const void *value, size_t bytes)                                                               \
  X(product_destroy, "cublasLtMatmulDescDestroy", BlasProduct product)                             \
  X(layout_create, "cublasLtMatrixLayoutCreate", BlasLayout *layout, int type, uint64_t rows,      \
    uint64_t columns, int64_t line)                                                                \
  X(layout_set, "cublasLtMatrixLayoutSetAttribute", BlasLayout layout, int key, const void *value, \
    size_t bytes)                                                                                  \
  X(layout_destroy, "cublasLtMatrixLayoutDestroy", BlasLayout layout)                              \
  X(wish_create, "cublasLtMatmulPreferenceCreate", BlasWish *wish)                                 \
  X(wish_set, "cublasLtMatmulPreferenceSetAttribute", BlasWish wish, int key, const void *value,   \
    size_t bytes)                                                                                  \
  X(wish_destroy, "cublasLtMatmulPreferenceDestroy", BlasWish wish)                                \
  X(propose, "cublasLtMatmulAlgoGetHeuristic", BlasHandle handle, BlasProduct product,             \
    BlasLayout first, BlasLayout second, BlasLayout c, BlasLayout result, BlasWish wish, int most, \
    BlasProposal *proposals, int *count)                                                           \
  X(multiply, "cublasLtMatmul", BlasHandle handle, BlasProduct product, const void *alpha,         \
    const void *first, BlasLayout first_layout, const void *second, BlasLayout second_layout,      \
    const void *beta, const void *c, BlasLayout c_layout, void *result, BlasLayout result_layout,  \
    const BlasAlgorithm *algorithm, void *workspace, size_t workspace_bytes, CuStream stream)

typedef struct nnc_blas_functions {
#define X(name, symbol, ...) BlasResult (*name)(__VA_ARGS__);
  NNC_BLAS_FUNCTIONS(X)
#undef X
  const char *(*text)(BlasResult result); /* cublasLtGetStatusString */
} nnc_blas_functions;

extern nnc_blas_functions nnc_blas;

/* Opens libcublasLt.so.13 or .12, whichever the driver is new enough for, or the file that the
 * environment variable NNC_CUBLASLT names. False with a message of NNC_MESSAGE bytes (os/message.h). */
bool nnc_blas_open(char *message);
/* The file that was opened. */
const char *nnc_blas_file(void);

#endif
