/* A stand-in for libcublasLt.so.13, on the stand-in for the driver: checks what it is told and computes the
 * product in double. Numbers and argument lists are those of the cuBLAS Library documentation.
 *
 * NNC_EMULATED_CUBLASLT  "broken": it cannot start; "refuse": it has no algorithms; "refuse-tf32": none for
 *                        these; "fail": products cannot run
 * NNC_EMULATOR_STATISTICS  1: how many products were asked for, on stderr at the end
 *
 * A wrong call ends the process with a message. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nnc_half.h"

#define EXPORT __attribute__((visibility("default")))

enum { SUCCESS = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 7, EXECUTION_FAILED = 13 };
enum { F32 = 0, F16 = 2, BF16 = 14, SUMS_F32 = 68, SUMS_TF32 = 77 };
enum { PROPOSED_WORKSPACE = 4096, MARK = 0x6e6e63 };

typedef struct Handle {
  int mark;
} Handle;

typedef struct Product {
  int sums, transposed[2];
} Product;

typedef struct Layout {
  int type, batches;
  uint64_t rows, columns;
  int64_t line, stride;
} Layout;

typedef struct Wish {
  uint64_t workspace;
  uint32_t reductions, alignment[4];
} Wish;

typedef struct Algorithm {
  uint64_t mark, product; /* of what it was proposed for */
  uint32_t alignment[4];
  uint64_t unused[4];
} Algorithm;

typedef struct Proposal {
  Algorithm algorithm;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
} Proposal;

static int product_count;

static void wrong(const char *format, ...) {
  va_list list;
  va_start(list, format);
  fprintf(stderr, "nnc emulator: cuBLASLt: ");
  vfprintf(stderr, format, list);
  fprintf(stderr, "\n");
  va_end(list);
  abort();
}

static bool is_told(const char *word) {
  const char *told = getenv("NNC_EMULATED_CUBLASLT");
  return told && strcmp(told, word) == 0;
}

static void *make(size_t bytes) {
  void *made = calloc(1, bytes);
  if (!made) abort();
  return made;
}

/* ---- descriptions ---- */

static void print_statistics(void) {
  const char *wanted = getenv("NNC_EMULATOR_STATISTICS");
  if (wanted && strcmp(wanted, "1") == 0)
    fprintf(stderr, "nnc emulator: cuBLASLt: %d products\n", product_count);
}

EXPORT int cublasLtCreate(Handle **to) {
  if (is_told("broken")) return NOT_INITIALIZED;
  *to = make(sizeof **to);
  (*to)->mark = MARK;
  atexit(print_statistics);
  return SUCCESS;
}

EXPORT int cublasLtDestroy(Handle *handle) {
  if (handle->mark != MARK) wrong("no handle");
  free(handle);
  return SUCCESS;
}

EXPORT const char *cublasLtGetStatusString(int status) {
  return status == NOT_INITIALIZED    ? "the library was not initialized"
         : status == EXECUTION_FAILED ? "the GPU program failed to execute"
                                      : "an unsupported value or parameter was passed";
}

EXPORT int cublasLtMatmulDescCreate(Product **to, int sums, int scale) {
  if ((sums != SUMS_F32 && sums != SUMS_TF32) || scale != F32)
    wrong("sums of kind %d, scaled by kind %d", sums, scale);
  *to = make(sizeof **to);
  (*to)->sums = sums;
  return SUCCESS;
}

EXPORT int cublasLtMatmulDescSetAttribute(Product *product, int key, const void *value,
                                          size_t bytes) {
  if ((key != 3 && key != 4) || bytes != 4) wrong("attribute %d of %zu bytes", key, bytes);
  memcpy(&product->transposed[key - 3], value, 4);
  if (product->transposed[key - 3] > 1) wrong("operation %d", product->transposed[key - 3]);
  return SUCCESS;
}

EXPORT int cublasLtMatmulDescDestroy(Product *product) {
  free(product);
  return SUCCESS;
}

EXPORT int cublasLtMatrixLayoutCreate(Layout **to, int type, uint64_t rows, uint64_t columns,
                                      int64_t line) {
  if (type != F32 && type != F16 && type != BF16) wrong("elements of kind %d", type);
  if (line < (int64_t)rows)
    wrong("%llu rows, but columns %lld apart", (unsigned long long)rows, (long long)line);
  *to = make(sizeof **to);
  **to = (Layout){type, 1, rows, columns, line, 0};
  return SUCCESS;
}

EXPORT int cublasLtMatrixLayoutSetAttribute(Layout *layout, int key, const void *value,
                                            size_t bytes) {
  if (key == 5 && bytes == 4) memcpy(&layout->batches, value, 4);
  else if (key == 6 && bytes == 8) memcpy(&layout->stride, value, 8);
  else wrong("attribute %d of a matrix, %zu bytes", key, bytes);
  return SUCCESS;
}

EXPORT int cublasLtMatrixLayoutDestroy(Layout *layout) {
  free(layout);
  return SUCCESS;
}

EXPORT int cublasLtMatmulPreferenceCreate(Wish **to) {
  *to = make(sizeof **to);
  return SUCCESS;
}

EXPORT int cublasLtMatmulPreferenceSetAttribute(Wish *wish, int key, const void *value,
                                                size_t bytes) {
  if (key == 1 && bytes == 8) memcpy(&wish->workspace, value, 8);
  else if (key == 3 && bytes == 4) memcpy(&wish->reductions, value, 4);
  else if (key >= 5 && key <= 8 && bytes == 4) memcpy(&wish->alignment[key - 5], value, 4);
  else wrong("preference %d of %zu bytes", key, bytes);
  return SUCCESS;
}

EXPORT int cublasLtMatmulPreferenceDestroy(Wish *wish) {
  free(wish);
  return SUCCESS;
}

/* ---- products ---- */

/* A number that differs between products. */
static uint64_t product_hash(const Product *product, const Layout *const *layouts) {
  uint64_t hash = (uint64_t)product->sums * 4 + (uint64_t)product->transposed[0] * 2 +
                  (uint64_t)product->transposed[1];
  for (int i = 0; i < 3; i++) {
    const uint64_t parts[] = {(uint64_t)layouts[i]->type, (uint64_t)layouts[i]->batches,
                              layouts[i]->rows,           layouts[i]->columns,
                              (uint64_t)layouts[i]->line, (uint64_t)layouts[i]->stride};
    for (int k = 0; k < 6; k++) hash = (hash ^ parts[k]) * 0x100000001b3u;
  }
  return hash;
}

static uint64_t rows_of(const Layout *layout, int transposed) {
  return transposed ? layout->columns : layout->rows;
}

static void check_product(const Product *product, const Layout *const *layouts) {
  const Layout *first = layouts[0], *second = layouts[1], *result = layouts[2];
  if (rows_of(first, product->transposed[0]) != result->rows ||
      rows_of(second, !product->transposed[1]) != result->columns ||
      rows_of(first, !product->transposed[0]) != rows_of(second, product->transposed[1]))
    wrong("the matrices do not fit");
  if (first->type != second->type || (result->type != first->type && result->type != F32))
    wrong("elements of kinds %d, %d and %d", first->type, second->type, result->type);
  if (product->sums == SUMS_TF32 && first->type != F32) wrong("tf32 of 16 bits");
  if (first->batches != result->batches || second->batches != result->batches ||
      result->batches < 1)
    wrong("batches of %d, %d and %d", first->batches, second->batches, result->batches);
}

EXPORT int cublasLtMatmulAlgoGetHeuristic(Handle *handle, Product *product, Layout *first,
                                          Layout *second, Layout *c, Layout *result, Wish *wish,
                                          int most, Proposal *proposals, int *count) {
  const Layout *const layouts[] = {first, second, result};
  *count = 0;
  if (handle->mark != MARK || most < 1 || c != result) wrong("a proposal for something else");
  check_product(product, layouts);
  if (wish->reductions & 1) wrong("reductions in place have no fixed order");
  if (is_told("refuse") || (is_told("refuse-tf32") && product->sums == SUMS_TF32)) return SUCCESS;
  if (wish->workspace < PROPOSED_WORKSPACE) return SUCCESS;
  memset(proposals, 0, sizeof *proposals);
  proposals->algorithm.mark = MARK;
  proposals->algorithm.product = product_hash(product, layouts);
  memcpy(proposals->algorithm.alignment, wish->alignment, sizeof wish->alignment);
  proposals->workspace = PROPOSED_WORKSPACE;
  *count = 1;
  return SUCCESS;
}

typedef struct Task {
  Product product;
  Layout layouts[3];
  const char *first, *second;
  char *result, *workspace;
} Task;

static double loaded(const char *at, int type, bool is_tf32) {
  uint32_t bits;
  uint16_t half;
  memcpy(&half, at, 2);
  if (type != F32) return (double)(type == F16 ? nnc_from_f16(half) : nnc_from_bf16(half));
  memcpy(&bits, at, 4);
  if (is_tf32 && (bits & 0x7f800000u) != 0x7f800000u) bits = (bits + 0x1000u) & ~0x1fffu;
  return (double)nnc_bits_f32(bits);
}

static void store(char *at, int type, double sum) {
  float value = (float)sum;
  uint16_t half = type == F16 ? nnc_to_f16(value) : nnc_to_bf16(value);
  if (type == F32) memcpy(at, &value, 4);
  else memcpy(at, &half, 2);
}

static int64_t size_of(int type) { return type == F32 ? 4 : 2; }

static int64_t place(const Layout *layout, bool transposed, int64_t row, int64_t column) {
  return transposed ? column + row * layout->line : row + column * layout->line;
}

static void multiply_one(const Task *task, int64_t batch) {
  const Layout *first = &task->layouts[0], *second = &task->layouts[1], *result = &task->layouts[2];
  const int *transposed = task->product.transposed;
  bool is_tf32 = task->product.sums == SUMS_TF32;
  int64_t size = size_of(first->type), depth = (int64_t)rows_of(first, !transposed[0]);
  for (int64_t column = 0; column < (int64_t)result->columns; column++)
    for (int64_t row = 0; row < (int64_t)result->rows; row++) {
      double sum = 0;
      for (int64_t k = 0; k < depth; k++) {
        int64_t a = batch * first->stride + place(first, transposed[0], row, k);
        int64_t b = batch * second->stride + place(second, transposed[1], k, column);
        sum += loaded(task->first + a * size, first->type, is_tf32) *
               loaded(task->second + b * size, second->type, is_tf32);
      }
      int64_t to = batch * result->stride + place(result, false, row, column);
      store(task->result + to * size_of(result->type), result->type, sum);
    }
}

/* It runs whenever the graph that it was captured into does. */
static void run(void *given) {
  const Task *task = given;
  memset(task->workspace, 0xff, PROPOSED_WORKSPACE);
  for (int i = 0; i < task->layouts[2].batches; i++) multiply_one(task, i);
}

/* The stand-in for the driver, which the program has opened. */
static int call_in_stream(void *stream, void (*function)(void *), void *data) {
  int (*call)(void *, void (*)(void *), void *);
  void *driver = dlopen(getenv("NNC_LIBCUDA"), RTLD_NOW | RTLD_NOLOAD);
  void *found = driver ? dlsym(driver, "cuLaunchHostFunc") : NULL;
  if (!found) wrong("NNC_LIBCUDA names no stand-in for the driver");
  memcpy(&call, &found, sizeof call);
  return call(stream, function, data);
}

EXPORT int cublasLtMatmul(Handle *handle, Product *product, const float *alpha, const void *first,
                          Layout *first_layout, const void *second, Layout *second_layout,
                          const float *beta, const void *c, Layout *c_layout, void *result,
                          Layout *result_layout, const Algorithm *algorithm, void *workspace,
                          size_t workspace_bytes, void *stream) {
  const Layout *const layouts[] = {first_layout, second_layout, result_layout};
  const void *const addresses[] = {first, second, c, result};
  if (is_told("fail")) return EXECUTION_FAILED;
  if (handle->mark != MARK || *alpha != 1 || *beta != 0 || c_layout != result_layout || c != result)
    wrong("another product than result = first second");
  if (algorithm->mark != MARK || algorithm->product != product_hash(product, layouts))
    wrong("the algorithm is another product's");
  if (workspace_bytes < PROPOSED_WORKSPACE) wrong("a workspace of %zu bytes", workspace_bytes);
  for (int i = 0; i < 4; i++)
    if (algorithm->alignment[i] == 0 || (uintptr_t)addresses[i] % algorithm->alignment[i] != 0)
      wrong("matrix %d at %p is not aligned to %u bytes", i, addresses[i], algorithm->alignment[i]);
  Task *task = make(sizeof *task); /* kept until the end: a graph may have it */
  *task = (Task){*product, {*first_layout, *second_layout, *result_layout}, first, second, result,
                 workspace};
  product_count++;
  return call_in_stream(stream, run, task) == 0 ? SUCCESS : EXECUTION_FAILED;
}
