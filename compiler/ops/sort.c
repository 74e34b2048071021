/* argsort: see sort.h. The reference merges; kernels sort keys by their bytes (nnc_sort.h).
 */
#include "ops/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/infer.h"
#include "ops/lower.h"
#include "ops/op.h"
#include "support/panic.h"

static bool argsort_infer(Arena *arena, const Node *node, Type *type, const char **reason) {
  Type x = node->operands[0]->type;
  if (x.shape.rank < 1) return infer_fail(arena, reason, "the operand is a scalar");
  if (x.shape.dim[x.shape.rank - 1] > INT32_MAX)
    return infer_fail(arena, reason, "the last axis of %s is too long for indices of type i32",
                      infer_shape_text(arena, x.shape));
  *type = type_make(DTYPE_I32, x.shape);
  return true;
}

/* ---- evaluation ---- */

static bool comes_before(double a, double b, bool descending) {
  if (isnan(a) || isnan(b)) return descending ? isnan(a) && !isnan(b) : !isnan(a) && isnan(b);
  return descending ? a > b : a < b;
}

/* Merges order[0, half) and order[half, count), each in order; the left one first among equals. */
static void merge(const double *x, int64_t half, int64_t count, bool descending, int32_t *order,
                  int32_t *spare) {
  memcpy(spare, order, (size_t)half * sizeof *spare);
  for (int64_t left = 0, right = half, to = 0; left < half; to++) {
    bool takes_right = right < count && comes_before(x[order[right]], x[spare[left]], descending);
    order[to] = takes_right ? order[right++] : spare[left++];
  }
}

static void sort_part(const double *x, int64_t count, bool descending, int32_t *order,
                      int32_t *spare) {
  int64_t half = count / 2;
  if (count < 2) return;
  sort_part(x, half, descending, order, spare);
  sort_part(x, count - half, descending, order + half, spare);
  merge(x, half, count, descending, order, spare);
}

void sort_order(const double *x, int64_t count, bool descending, int32_t *order) {
  int32_t *spare = malloc((size_t)count * sizeof *spare + 1);
  if (!spare) panic("no memory to sort %lld elements", (long long)count);
  for (int64_t i = 0; i < count; i++) order[i] = (int32_t)i;
  sort_part(x, count, descending, order, spare);
  free(spare);
}

static void argsort_evaluate(const Node *node, const Tensor *const *operands, Tensor *result,
                             const EvaluateContext *context) {
  (void)context;
  Shape shape = node->type.shape;
  int64_t count = shape.dim[shape.rank - 1], elements = shape_elements(shape);
  int32_t *order = malloc((size_t)count * sizeof *order + 1);
  if (!order) panic("no memory to sort %lld elements", (long long)count);
  for (int64_t row = 0; row < elements; row += count) {
    sort_order(operands[0]->data + row, count, node_int(node, ATTR_DESCENDING) != 0, order);
    for (int64_t i = 0; i < count; i++) result->data[row + i] = order[i];
  }
  free(order);
}

/* ---- cost, pieces, kernel ---- */

/* A comparison for each doubling of the row. */
static Cost argsort_cost(const Node *node) {
  Type x = node->operands[0]->type;
  double count = (double)x.shape.dim[x.shape.rank - 1], elements = (double)shape_elements(x.shape);
  return (Cost){.flops = elements * (count > 1 ? log2(count) : 0),
                .bytes = (double)type_bytes(x) + (double)type_bytes(node->type)};
}

static int argsort_cut(const Node *node, int axis, int operand) {
  (void)operand;
  return axis < node->type.shape.rank - 1 ? axis : AXIS_UNCUT;
}

static void argsort_lower(KernelBuilder *builder, const Node *node) {
  Shape shape = node->type.shape;
  int64_t count = shape.dim[shape.rank - 1];
  int64_t rows = count > 0 ? shape_elements(shape) / count : 0;
  builder_operand_plain(builder, 0);
  builder_set_kind(builder, KERNEL_ARGSORT)->sort =
      (SortSlots){rows, count, node_int(node, ATTR_DESCENDING) != 0};
}

const OpClass op_class_argsort = {
    .family = FAMILY_INDEXING,
    .infer = argsort_infer,
    .evaluate = argsort_evaluate,
    .cost = argsort_cost,
    .cut = argsort_cut,
    .lower = argsort_lower,
    .is_costly = true,
    .doc = "places of the elements along the last axis in their order",
};
