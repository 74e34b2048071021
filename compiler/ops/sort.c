/* argsort. The reference evaluation sorts by merging, kernels sort keys byte by byte (nnc_sort.h). */
#include "support/sort.h"

#include <math.h>
#include <stdlib.h>

#include "ops/lower.h"
#include "ops/op.h"
#include "support/panic.h"

static bool argsort_infer(Inference *in) {
  Type x = in->node->operands[0]->type;
  if (x.shape.rank < 1) return infer_fail(in, "the operand is a scalar");
  if (x.shape.dim[x.shape.rank - 1] > INT32_MAX)
    return infer_fail(in, "the last axis of %s is too long for indices of type i32",
                      shape_text(in->arena, x.shape));
  in->type = type_make(DTYPE_I32, x.shape);
  return true;
}

/* ---- evaluation ---- */

static void argsort_evaluate(const Node *node, const Tensor *const *operands, Tensor *result) {
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
  return (Cost){.flops = elements * (count > 1 ? log2(count) : 0), .bytes = node_bytes(node)};
}

static int argsort_cut(const Node *node, int axis, int operand) {
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
};
