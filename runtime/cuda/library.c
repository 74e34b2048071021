/* Products by cuBLASLt: library.h. Each product gets its algorithm when the program starts, among those
 * that use no atomic operations, so that the bits are the same in every run. */
#include "cuda/library.h"

#include <stdio.h>
#include <stdlib.h>

#include "cuda/cublaslt.h"
#include "cuda/failure.h"
#include "os/assert.h"
#include "os/exit.h"
#include "os/message.h"

enum { WORKSPACE = 32 << 20 }; /* what NVIDIA advises for compute capability 9.0 */

/* A product that is ready to run. */
typedef struct Ready {
  BlasProduct product;
  BlasLayout first, second, result;
  BlasAlgorithm algorithm;
  bool can_run;
} Ready;

struct nnc_library {
  const nnc_gpu *gpu;
  const nnc_cuda_program *program;
  BlasHandle handle;
  BlasWish wish;
  CuAddress workspace;
  Ready *ready; /* by kernel */
};

static int blas_type(enum nnc_dtype type) {
  return type == NNC_BF16 ? BLAS_BF16 : type == NNC_F16 ? BLAS_F16 : BLAS_F32;
}

/* --- Preparing ------------------------------------------------------------------------------ */

static bool make_layout(BlasLayout *layout, enum nnc_dtype type, const nnc_cuda_matrix *matrix,
                        int64_t rows, int64_t columns, int64_t batches) {
  int32_t count = (int32_t)batches;
  int64_t across = matrix->is_transposed ? rows : columns;
  int64_t along = matrix->is_transposed ? columns : rows;
  return batches <= INT32_MAX &&
         nnc_blas.layout_create(layout, blas_type(type), (uint64_t)along, (uint64_t)across,
                                matrix->line) == 0 &&
         nnc_blas.layout_set(*layout, BLAS_LAYOUT_BATCHES, &count, sizeof count) == 0 &&
         nnc_blas.layout_set(*layout, BLAS_LAYOUT_BATCH_STRIDE, &matrix->batch,
                             sizeof matrix->batch) == 0;
}

static bool make_product(BlasProduct *product, const nnc_cuda_product *wanted) {
  int32_t first = wanted->first.is_transposed ? BLAS_TRANSPOSED : BLAS_PLAIN;
  int32_t second = wanted->second.is_transposed ? BLAS_TRANSPOSED : BLAS_PLAIN;
  int sums = wanted->is_tf32 ? BLAS_SUMS_TF32 : BLAS_SUMS_F32;
  return nnc_blas.product_create(product, sums, BLAS_F32) == 0 &&
         nnc_blas.product_set(*product, BLAS_PRODUCT_TRANSPOSED_FIRST, &first, sizeof first) == 0 &&
         nnc_blas.product_set(*product, BLAS_PRODUCT_TRANSPOSED_SECOND, &second, sizeof second) ==
             0;
}

/* What an algorithm may use and count on. `c` of the library's formula is the result. */
static bool make_wish(BlasWish wish, const nnc_cuda_product *product) {
  const nnc_cuda_matrix *const matrices[] = {&product->first, &product->second, &product->result,
                                             &product->result};
  const uint64_t workspace = WORKSPACE;
  const uint32_t reductions = BLAS_REDUCTIONS_IN_ORDER;
  bool good = nnc_blas.wish_set(wish, BLAS_WISH_WORKSPACE, &workspace, sizeof workspace) == 0 &&
              nnc_blas.wish_set(wish, BLAS_WISH_REDUCTIONS, &reductions, sizeof reductions) == 0;
  for (int i = 0; i < 4; i++) {
    const uint32_t alignment = (uint32_t)matrices[i]->alignment;
    good = good && nnc_blas.wish_set(wish, BLAS_WISH_ALIGNMENT_FIRST + i, &alignment,
                                     sizeof alignment) == 0;
  }
  return good;
}

static bool make_layouts(Ready *ready, const nnc_cuda_product *product) {
  int64_t rows = product->rows, columns = product->columns, depth = product->depth;
  int64_t batches = product->batches;
  return make_layout(&ready->first, product->type, &product->first, rows, depth, batches) &&
         make_layout(&ready->second, product->type, &product->second, depth, columns, batches) &&
         make_layout(&ready->result, product->result_type, &product->result, rows, columns,
                     batches);
}

/* False: the library does not compute this one. */
static bool prepare(const nnc_library *library, Ready *ready, const nnc_cuda_product *product) {
  BlasProposal proposal = {.state = 1};
  int count = 0;
  ready->can_run =
      make_product(&ready->product, product) && make_layouts(ready, product) &&
      make_wish(library->wish, product) &&
      nnc_blas.propose(library->handle, ready->product, ready->first, ready->second, ready->result,
                       ready->result, library->wish, 1, &proposal, &count) == 0 &&
      count > 0 && proposal.state == 0 && proposal.workspace <= WORKSPACE;
  if (ready->can_run) ready->algorithm = proposal.algorithm;
  return ready->can_run;
}

static void prepare_all(nnc_library *library) {
  int count = 0, refused = 0;
  for (int i = 0; i < library->program->kernel_count; i++) {
    const nnc_cuda_product *product = library->program->kernels[i].product;
    if (!product) continue;
    count++;
    refused += !prepare(library, &library->ready[i], product);
  }
  if (refused > 0)
    nnc_warning("cuBLASLt has no algorithm for %d of %d products: kernels of nnc's compute them",
                refused, count);
}

/* --- The library ---------------------------------------------------------------------------- */

static void close_library(nnc_library *library) {
  if (!library) return;
  for (int i = 0; library->ready && i < library->program->kernel_count; i++) {
    Ready *ready = &library->ready[i];
    BlasLayout layouts[] = {ready->first, ready->second, ready->result};
    for (int k = 0; k < 3; k++)
      if (layouts[k]) (void)nnc_blas.layout_destroy(layouts[k]);
    if (ready->product) (void)nnc_blas.product_destroy(ready->product);
  }
  if (library->wish) (void)nnc_blas.wish_destroy(library->wish);
  if (library->handle) (void)nnc_blas.destroy(library->handle);
  if (library->workspace) (void)nnc_cuda.memory_free(library->workspace);
  free(library->ready);
  free(library);
}

/* False with a message. */
static bool start(nnc_library *library, char *message) {
  if (!nnc_blas_open(message)) return false;
  BlasResult result = nnc_blas.create(&library->handle);
  if (result == 0) result = nnc_blas.wish_create(&library->wish);
  if (result != 0) {
    snprintf(message, NNC_MESSAGE, "cuBLASLt (%s) cannot start: %s", nnc_blas_file(),
             nnc_blas.text(result));
    return false;
  }
  if (nnc_cuda.memory_take(&library->workspace, WORKSPACE) == 0) return true;
  snprintf(message, NNC_MESSAGE, "the device has no %d MB for cuBLASLt", WORKSPACE >> 20);
  return false;
}

static bool open_library(nnc_library **to, const nnc_gpu *gpu, const nnc_cuda_program *program) {
  char message[NNC_MESSAGE];
  nnc_library *library = calloc(1, sizeof *library);
  *to = NULL;
  if (library) library->ready = calloc((size_t)program->kernel_count + 1, sizeof *library->ready);
  if (!library || !library->ready) {
    nnc_error("cannot allocate the table of %d products", program->kernel_count);
    close_library(library);
    return false;
  }
  library->gpu = gpu;
  library->program = program;
  if (!start(library, message)) {
    nnc_warning("%s: kernels of nnc's compute the products that --gemm=cublaslt meant for it",
                message);
    close_library(library);
    return true;
  }
  prepare_all(library);
  *to = library;
  return true;
}

static const void *operand(void **arguments, const nnc_cuda_matrix *matrix) {
  return *(const void **)arguments[matrix->argument];
}

static bool launch(nnc_library *library, int kernel, void **arguments) {
  const float one = 1, zero = 0;
  const Ready *ready = &library->ready[kernel];
  if (!ready->can_run) return false;
  const nnc_cuda_product *product = library->program->kernels[kernel].product;
  void *result = *(void **)arguments[product->result.argument];
  BlasResult status =
      nnc_blas.multiply(library->handle, ready->product, &one, operand(arguments, &product->first),
                        ready->first, operand(arguments, &product->second), ready->second, &zero,
                        result, ready->result, result, ready->result, &ready->algorithm,
                        (void *)(uintptr_t)library->workspace, WORKSPACE, library->gpu->stream);
  if (status == 0) return true;
  nnc_error("cuBLASLt cannot compute the product '%s': %s. A program that was compiled without "
            "--gemm=cublaslt does not need it",
            library->program->kernels[kernel].name, nnc_blas.text(status));
  exit(NNC_EXIT_FAILURE);
}

const nnc_cuda_library nnc_cublaslt = {.name = "cuBLASLt",
                                       .workspace = WORKSPACE,
                                       .open = open_library,
                                       .launch = launch,
                                       .close = close_library};
