/* Which products cuBLASLt computes, and what it must know of each (nnc_cuda_product). It sees
 * matrices whose columns lie in one piece each, or those of their transposes.
 *
 * The product is a matrix of `rows`, along which neighbours lie together, and `columns`. If the last
 * axis of a result lies in one piece, its rows are our columns, so the sides change places:
 * y = a b is computed as y^T = b^T a^T. */
#include "backend/cuda/library.h"

#include "backend/common/c.h"
#include "ops/op.h"
#include "support/integers.h"
#include "support/panic.h"

enum {
  LEAST_EXTENT = 64,   /* of rows, columns, depth: below, a launch of its own costs more */
  MOST_ALIGNMENT = 256 /* that an algorithm asks for */
};

static int64_t free_elements(const Node *node, int side) {
  static const AttributeKey taken[2][2] = {{ATTR_BATCH_LEFT, ATTR_SUM_LEFT},
                                           {ATTR_BATCH_RIGHT, ATTR_SUM_RIGHT}};
  Shape shape = node->operands[side]->type.shape;
  for (int kind = 0; kind < 2; kind++) {
    const Attribute *axes = node_ints(node, taken[side][kind]);
    for (int i = 0; i < axes->count; i++) shape.dim[axes->ints[i]] = 1;
  }
  return shape_elements(shape);
}

bool library_wants(const Node *node) {
  if (node->op != OP_CONTRACT || !dtype_is_float(node->type.dtype)) return false;
  const Attribute *sum = node_ints(node, ATTR_SUM_LEFT);
  int64_t depth = 1;
  for (int i = 0; i < sum->count; i++) depth *= node->operands[0]->type.shape.dim[sum->ints[i]];
  return least(depth, least(free_elements(node, 0), free_elements(node, 1))) >= LEAST_EXTENT;
}

/* The stride of a group's axes in an operand as if they were one; false: they are not. */
static bool joined_stride(int count, const int64_t *extent, const int64_t *stride,
                          int64_t *joined) {
  int64_t next = 0;
  *joined = 0;
  for (int i = count - 1; i >= 0; i--) {
    if (extent[i] == 1) continue;
    if (*joined == 0) *joined = stride[i];
    else if (stride[i] != next) return false;
    next = stride[i] * extent[i];
  }
  return true;
}

/* The strides of one matrix: across batches, and along two of m, n, k. */
typedef struct Strides {
  int64_t batch, m, n, k;
} Strides;

static bool side_strides(const ContractSlots *slots, int side, Strides *strides) {
  const AxisGroup *groups[] = {&slots->batch, side == 0 ? &slots->m : &slots->n, &slots->k};
  int64_t *const to[] = {&strides->batch, side == 0 ? &strides->m : &strides->n, &strides->k};
  bool good = true;
  for (int i = 0; i < 3; i++)
    good =
        good && joined_stride(groups[i]->count, groups[i]->extent, groups[i]->stride[side], to[i]);
  return good;
}

/* What is stored is the product, where the axes of the domain, which are those of the groups, say. */
static bool result_strides(const Kernel *kernel, Strides *strides) {
  const ContractSlots *slots = &kernel->contract;
  const Store *store = kernel->epilogue;
  int64_t base, coefficient[2 * KERNEL_MAX_AXES];
  if (kernel->epilogue_count != 1 || store->value->kind != EXPR_RESULT ||
      !index_is_affine(store->index, kernel->axis_count, &base, coefficient) || base != 0)
    return false;
  const AxisGroup *groups[] = {&slots->batch, &slots->m, &slots->n};
  int64_t *const to[] = {&strides->batch, &strides->m, &strides->n};
  bool good = true;
  for (int i = 0, axis = 0; i < 3; axis += groups[i]->count, i++)
    good = good && joined_stride(groups[i]->count, groups[i]->extent, coefficient + axis, to[i]);
  return good;
}

static bool types_fit(const Kernel *kernel) {
  DType left = kernel->operands[0].dtype,
        result = kernel->operands[kernel->epilogue[0].operand].dtype;
  return left == kernel->operands[1].dtype && kernel_sum_type(kernel) == DTYPE_F32 &&
         (result == left || result == DTYPE_F32) && kernel->epilogue[0].value->dtype == result;
}

/* A matrix for the library: `line` is the stride from one column of it to the next; transposed, it is
 * the rows that lie in one piece each. */
typedef struct Matrix {
  int operand;
  bool is_transposed;
  int64_t line, batch;
} Matrix;

typedef struct Product {
  int64_t rows, columns;
  Matrix first, second, result;
} Product;

/* The side with `outer` and `depth` as its strides; `wants_outer`: plain columns run along it. */
static bool find_matrix(Matrix *matrix, int64_t outer, int64_t depth, bool wants_outer) {
  bool is_outer = outer == 1;
  if (!is_outer && depth != 1) return false;
  matrix->is_transposed = is_outer != wants_outer;
  matrix->line = is_outer ? depth : outer;
  return true;
}

static bool find_product(const Kernel *kernel, Product *product) {
  const ContractSlots *slots = &kernel->contract;
  Strides left = {0}, right = {0}, result = {0};
  if (!side_strides(slots, 0, &left) || !side_strides(slots, 1, &right) ||
      !result_strides(kernel, &result) || (result.n != 1 && result.m != 1))
    return false;
  bool swaps = result.n == 1;
  Matrix a = {.operand = 0, .batch = left.batch}, b = {.operand = 1, .batch = right.batch};
  if (!find_matrix(&a, left.m, left.k, !swaps) || !find_matrix(&b, right.n, right.k, swaps))
    return false;
  int64_t m = axis_group_extent(&slots->m), n = axis_group_extent(&slots->n);
  *product = (Product){.rows = swaps ? n : m,
                       .columns = swaps ? m : n,
                       .first = swaps ? b : a,
                       .second = swaps ? a : b,
                       .result = {.operand = kernel->epilogue[0].operand,
                                  .line = swaps ? result.m : result.n,
                                  .batch = result.batch}};
  return true;
}

/* Columns of a matrix do not overlap: the library wants them as far apart as they are long. */
static bool lines_fit(const Kernel *kernel, const Product *product) {
  int64_t depth = axis_group_extent(&kernel->contract.k);
  return product->first.line >= (product->first.is_transposed ? depth : product->rows) &&
         product->second.line >= (product->second.is_transposed ? product->columns : depth) &&
         product->result.line >= product->rows;
}

bool library_takes(const Kernel *kernel) {
  const ContractSlots *slots = &kernel->contract;
  Product product;
  return kernel->kind == KERNEL_CONTRACT &&
         least(axis_group_extent(&slots->m), axis_group_extent(&slots->n)) >= LEAST_EXTENT &&
         axis_group_extent(&slots->k) >= LEAST_EXTENT && axis_group_extent(&slots->batch) > 0 &&
         find_product(kernel, &product) && types_fit(kernel) && lines_fit(kernel, &product);
}

static const char *matrix_text(Arena *arena, const KernelFunction *function, const Matrix *matrix) {
  int64_t known = function->alignments[matrix->operand];
  return arena_printf(arena, "{%d, %s, %lld, %lld, %lld}", matrix->operand,
                      matrix->is_transposed ? "true" : "false",
                      (long long)least(known, MOST_ALIGNMENT), (long long)matrix->line,
                      (long long)matrix->batch);
}

static void write_product(Code *code, const KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  Arena *arena = code->arena;
  Product product;
  CHECK(find_product(kernel, &product));
  code_line(code, "{%s, %s, %s, %lld, %lld, %lld, %lld,", c_dtype(kernel->operands[0].dtype),
            c_dtype(kernel->operands[product.result.operand].dtype),
            kernel->is_tf32 ? "true" : "false", (long long)product.rows, (long long)product.columns,
            (long long)axis_group_extent(&kernel->contract.k),
            (long long)axis_group_extent(&kernel->contract.batch));
  code_line(code, " %s, %s, %s},", matrix_text(arena, function, &product.first),
            matrix_text(arena, function, &product.second),
            matrix_text(arena, function, &product.result));
}

void library_write_products(Code *code, const KernelFunction *functions, int count) {
  code_open(code, "static const nnc_cuda_product nnc_products[] =");
  for (int i = 0; i < count; i++)
    if (library_takes(functions[i].kernel)) write_product(code, &functions[i]);
  code_close_list(code);
}
