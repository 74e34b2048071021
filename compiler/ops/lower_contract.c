/* Lowering of contractions.  Axes go into the groups batch, m, n and k with their strides in both
 * operands, so any transposition is only strides.  Without summed axes it is a product of two
 * elements, which fuses with anything; with a single row or column it is a reduction, for which a
 * tile of accumulators would be a waste, unless the template keeps its weights packed, or reads several
 * lines of a large matrix at once; of integers always, since the template's tiles hold floats. */
#include "ops/lower.h"
#include "target/target.h"

typedef struct Sides {
  const Attribute *batch[2], *sum[2];
  int free_count[2];
  int free[2][MAX_RANK];
} Sides;

static Sides contract_sides(const Node *node) {
  Sides sides = {.batch = {node_ints(node, ATTR_BATCH_LEFT), node_ints(node, ATTR_BATCH_RIGHT)},
                 .sum = {node_ints(node, ATTR_SUM_LEFT), node_ints(node, ATTR_SUM_RIGHT)}};
  for (int side = 0; side < 2; side++) {
    bool is_taken[MAX_RANK] = {false};
    for (int i = 0; i < sides.batch[side]->count; i++) is_taken[sides.batch[side]->ints[i]] = true;
    for (int i = 0; i < sides.sum[side]->count; i++) is_taken[sides.sum[side]->ints[i]] = true;
    for (int i = 0; i < node->operands[side]->type.shape.rank; i++)
      if (!is_taken[i]) sides.free[side][sides.free_count[side]++] = i;
  }
  return sides;
}

static int64_t free_extent(const Node *node, const Sides *sides, int side) {
  int64_t extent = 1;
  for (int i = 0; i < sides->free_count[side]; i++)
    extent *= node->operands[side]->type.shape.dim[sides->free[side][i]];
  return extent;
}

/* The operand at the point of the result, summed axes from `first` on. */
static Expr *side_element(KernelBuilder *builder, const Sides *sides, int side, int first) {
  Index *at[MAX_RANK];
  int batch_count = sides->batch[side]->count;
  int before = batch_count + (side == 1 ? sides->free_count[0] : 0);
  for (int i = 0; i < batch_count; i++) at[sides->batch[side]->ints[i]] = builder_point(builder, i);
  for (int i = 0; i < sides->free_count[side]; i++)
    at[sides->free[side][i]] = builder_point(builder, before + i);
  for (int i = 0; i < sides->sum[side]->count; i++)
    at[sides->sum[side]->ints[i]] = index_axis(builder_arena(builder), first + i);
  return builder_operand(builder, side, at);
}

/* Of 16 bits in f32 where products are summed, so that the sum alone is rounded. */
static Expr *product(KernelBuilder *builder, const Node *node, const Sides *sides, int first) {
  Expr *both[2] = {side_element(builder, sides, 0, first), side_element(builder, sides, 1, first)};
  DType dtype = node->operands[0]->type.dtype;
  if (dtype_is_half(dtype) && sides->sum[0]->count > 0) {
    dtype = DTYPE_F32;
    for (int i = 0; i < 2; i++) both[i] = builder_op(builder, OP_CAST, dtype, 1, &both[i]);
  }
  return builder_op(builder, OP_MUL, dtype, 2, both);
}

static void lower_as_reduction(KernelBuilder *builder, const Node *node, const Sides *sides) {
  Shape left = node->operands[0]->type.shape;
  int64_t extents[MAX_RANK];
  for (int i = 0; i < sides->sum[0]->count; i++) extents[i] = left.dim[sides->sum[0]->ints[i]];
  int first = builder_reduce_axes(builder, sides->sum[0]->count, extents);
  builder_return(builder,
                 builder_reduce(builder, OP_REDUCE_SUM, product(builder, node, sides, first)));
}

void group_add(AxisGroup *group, int64_t extent, int64_t left, int64_t right, int64_t result) {
  int i = group->count++;
  group->extent[i] = extent;
  group->stride[0][i] = left;
  group->stride[1][i] = right;
  group->stride[2][i] = result;
}

void lower_product(KernelBuilder *builder, const ContractSlots *slots) {
  Kernel *kernel = builder_set_kind(builder, KERNEL_CONTRACT);
  kernel->contract = *slots;
  kernel->has_few_registers = builder_target(builder)->has_few_registers;
}

static void lower_as_template(KernelBuilder *builder, const Node *node, const Sides *sides) {
  int64_t stride[2][MAX_RANK], result[MAX_RANK];
  builder_operand_strides(builder, 0, stride[0]);
  builder_operand_strides(builder, 1, stride[1]);
  shape_strides(node->type.shape, result);
  ContractSlots slots = {0};
  int axis = 0;
  for (int i = 0; i < sides->batch[0]->count; i++, axis++)
    group_add(&slots.batch, node->type.shape.dim[axis], stride[0][sides->batch[0]->ints[i]],
              stride[1][sides->batch[1]->ints[i]], result[axis]);
  for (int i = 0; i < sides->free_count[0]; i++, axis++)
    group_add(&slots.m, node->type.shape.dim[axis], stride[0][sides->free[0][i]], 0, result[axis]);
  for (int i = 0; i < sides->free_count[1]; i++, axis++)
    group_add(&slots.n, node->type.shape.dim[axis], 0, stride[1][sides->free[1][i]], result[axis]);
  for (int i = 0; i < sides->sum[0]->count; i++)
    group_add(&slots.k, node->operands[0]->type.shape.dim[sides->sum[0]->ints[i]],
              stride[0][sides->sum[0]->ints[i]], stride[1][sides->sum[1]->ints[i]], 0);
  lower_product(builder, &slots);
}

enum { LONG_SUM = 4096 }; /* a reduction of more sums in double */

/* Whether the result of a single row, or column, is the sums along the lines of a large matrix in memory, or the sum of its
 * lines, long ones. */
static bool sums_lines_of_matrix(const KernelBuilder *builder, const Node *node,
                                 const Sides *sides) {
  int side = free_extent(node, sides, 0) == 1 ? 1 : 0;
  const Node *matrix = node->operands[side];
  const Target *target = builder_target(builder);
  int64_t bytes = type_bytes(matrix->type);
  bool is_read = matrix->op == OP_PARAM || matrix->op == OP_STATE || matrix->op == OP_INPUT;
  if (target->least_lines_bytes == 0 || !is_read || sides->batch[0]->count > 0 ||
      matrix->type.shape.rank != 2 || sides->sum[side]->count != 1 ||
      dtype_is_half(matrix->type.dtype) || bytes < target->least_lines_bytes)
    return false;
  int64_t axis = sides->sum[side]->ints[0];
  const int64_t *extents = matrix->type.shape.dim;
  bool adds_lines = bytes > target->least_lines_bytes && extents[1] >= target->least_line;
  return extents[axis] <= LONG_SUM && (axis == 1 || adds_lines);
}

/* Whether a single row is multiplied by a large matrix of weights that the template may keep. The matrix lies with
 * what a column sums one below the other: else a reduction reads it as it lies. A longer sum would be in double. */
static bool keeps_weights_of_row(const KernelBuilder *builder, const Node *node,
                                 const Sides *sides) {
  const Node *weights = node->operands[1];
  int64_t least = builder_target(builder)->least_kept_bytes;
  return builder_keeps_weights(builder) && least > 0 && weights->op == OP_PARAM &&
         free_extent(node, sides, 0) == 1 && sides->batch[0]->count == 0 &&
         weights->type.shape.rank == 2 && sides->sum[1]->count == 1 &&
         sides->sum[1]->ints[0] == 0 && weights->type.shape.dim[0] <= LONG_SUM &&
         !dtype_is_half(weights->type.dtype) && type_bytes(weights->type) >= least;
}

static bool has_template(const KernelBuilder *builder, const Node *node, const Sides *sides) {
  if (!dtype_is_float(node->type.dtype)) return false;
  bool is_row = free_extent(node, sides, 0) == 1, is_column = free_extent(node, sides, 1) == 1;
  if (!is_row && !is_column) return true;
  return (is_row != is_column && sums_lines_of_matrix(builder, node, sides)) ||
         (!is_column && keeps_weights_of_row(builder, node, sides));
}

void lower_contract(KernelBuilder *builder, const Node *node) {
  Sides sides = contract_sides(node);
  if (sides.sum[0]->count == 0) builder_return(builder, product(builder, node, &sides, 0));
  else if (has_template(builder, node, &sides)) lower_as_template(builder, node, &sides);
  else lower_as_reduction(builder, node, &sides);
}
