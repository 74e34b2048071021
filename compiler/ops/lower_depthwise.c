/* Depthwise convolutions as loops, for a target that keeps channels last: each channel is convolved with
 * taps of its own, so there is no product, and neighbouring channels are parallel work that lies together.
 *
 *   conv         y[n, k, o]   = sum over t of        x[n, k, o * stride - low + t * dilation] * w[k, 0, t]
 *   conv_input   dx[n, k, i]  = sum over t of        dy[n, k, (i + low - t * dilation) / stride] * w[k, 0, t]
 *   conv_weight  dw[k, 0, t]  = sum over n and o of  x[n, k, o * stride - low + t * dilation] * dy[n, k, o]
 *
 * Both factors are under the conditions of the padding: what is not there is no product with zero. */
#include "ops/lower.h"
#include "ops/op.h"
#include "ops/window.h"
#include "support/integers.h"

bool conv_is_depthwise(const Target *target, const Node *node, Shape x, Shape y) {
  return conv_keeps_channels_last(target, node) && x.dim[1] > 1 &&
         x.dim[1] == node_int(node, ATTR_GROUPS) && y.dim[1] == x.dim[1];
}

/* Some axes of the loop, from `first` on. */
static void loop_axes(KernelBuilder *builder, int first, int count, Index **axes) {
  for (int i = 0; i < count; i++) axes[i] = index_axis(builder_arena(builder), first + i);
}

/* out * stride - low + tap * dilation, which is to lie in the input. */
static Guard met_input(KernelBuilder *builder, const ConvSlots *slots, int axis, Index *out,
                       Index *tap) {
  Arena *arena = builder_arena(builder);
  Index *begin = index_add(arena, index_mul(arena, out, slots->stride[axis]),
                           index_const(arena, -slots->low[axis]));
  Index *at = index_add(arena, begin, index_mul(arena, tap, slots->dilation[axis]));
  return (Guard){at, slots->in[axis]};
}

/* Values of 16 bits are multiplied and added up in f32. */
static Expr *widened(KernelBuilder *builder, Expr *value) {
  if (!dtype_is_half(value->dtype)) return value;
  return builder_op(builder, OP_CAST, DTYPE_F32, 1, &value);
}

/* The sum of products of operand 0 at `left` and operand 1 at `right`. */
static void sum_products(KernelBuilder *builder, Index *const *left, Index *const *right, int count,
                         const Guard *guards) {
  Expr *factors[] = {
      widened(builder, builder_operand_guarded(builder, 0, left, count, guards, 0)),
      widened(builder, builder_operand_guarded(builder, 1, right, count, guards, 0))};
  Expr *product = builder_op(builder, OP_MUL, factors[0]->dtype, 2, factors);
  builder_return(builder, builder_reduce(builder, OP_REDUCE_SUM, product));
}

bool lower_depthwise_conv(KernelBuilder *builder, const Node *node) {
  Shape x = node->operands[0]->type.shape, w = node->operands[1]->type.shape;
  if (!builder_target(builder)->depthwise_is_loop ||
      !conv_is_depthwise(builder_target(builder), node, x, node->type.shape))
    return false;
  ConvSlots slots = conv_slots(node, x, w, node->type.shape);
  Index *point[MAX_RANK], *at[MAX_RANK], *weight[MAX_RANK];
  Guard guards[3];
  lower_point(builder, node, point);
  at[0] = point[0];
  at[1] = weight[0] = point[1];
  weight[1] = index_const(builder_arena(builder), 0);
  int first = builder_reduce_axes(builder, slots.spatial, slots.kernel);
  loop_axes(builder, first, slots.spatial, weight + 2);
  for (int i = 0; i < slots.spatial; i++) {
    guards[i] = met_input(builder, &slots, i, point[2 + i], weight[2 + i]);
    at[2 + i] = guards[i].index;
  }
  sum_products(builder, at, weight, slots.spatial, guards);
  return true;
}

bool lower_depthwise_input(KernelBuilder *builder, const Node *node) {
  Shape y = node->operands[0]->type.shape, w = node->operands[1]->type.shape;
  if (!builder_target(builder)->depthwise_is_loop ||
      !conv_is_depthwise(builder_target(builder), node, node->type.shape, y))
    return false;
  Arena *arena = builder_arena(builder);
  ConvSlots slots = conv_slots(node, node->type.shape, w, y);
  Index *point[MAX_RANK], *at[MAX_RANK], *weight[MAX_RANK];
  Guard guards[6];
  int count = 0, axis_count;
  lower_point(builder, node, point);
  at[0] = point[0];
  at[1] = weight[0] = point[1];
  weight[1] = index_const(arena, 0);
  int first = builder_reduce_axes(builder, slots.spatial, slots.kernel);
  loop_axes(builder, first, slots.spatial, weight + 2);
  const int64_t *extents = builder_extents(builder, &axis_count);
  for (int i = 0; i < slots.spatial; i++) {
    Index *begin = index_add(arena, point[2 + i], index_const(arena, slots.low[i]));
    Index *place = index_add(arena, begin, index_mul(arena, weight[2 + i], -slots.dilation[i]));
    if (slots.stride[i] > 1)
      guards[count++] = (Guard){index_mod(arena, place, slots.stride[i], extents, axis_count), 1};
    at[2 + i] = index_div(arena, place, slots.stride[i], extents, axis_count);
    guards[count++] = (Guard){at[2 + i], slots.out[i]};
  }
  sum_products(builder, at, weight, count, guards);
  return true;
}

/* With pieces their number is the first axis of the result, and each sums over its part of the images. */
bool lower_depthwise_weight(KernelBuilder *builder, const Node *node) {
  Shape x = node->operands[0]->type.shape, y = node->operands[1]->type.shape;
  if (!builder_target(builder)->depthwise_is_loop ||
      !conv_is_depthwise(builder_target(builder), node, x, y))
    return false;
  Arena *arena = builder_arena(builder);
  const Attribute *pieces = node_attribute(node, ATTR_PIECES);
  int64_t count = pieces ? pieces->integer : 1, extents[4] = {x.dim[0] / count};
  ConvSlots slots = conv_slots(node, x, node->type.shape, y);
  Index *point[MAX_RANK], *at[MAX_RANK], *given[MAX_RANK];
  Guard guards[3];
  lower_point(builder, node, point);
  Index *const *own = pieces ? point + 1 : point; /* [k, 0, t...] */
  for (int i = 0; i < slots.spatial; i++) extents[1 + i] = slots.out[i];
  int first = builder_reduce_axes(builder, 1 + slots.spatial, extents);
  at[0] = index_axis(arena, first);
  if (pieces) at[0] = index_add(arena, index_mul(arena, point[0], extents[0]), at[0]);
  given[0] = at[0];
  given[1] = at[1] = own[0];
  loop_axes(builder, first + 1, slots.spatial, given + 2);
  for (int i = 0; i < slots.spatial; i++) {
    guards[i] = met_input(builder, &slots, i, given[2 + i], own[2 + i]);
    at[2 + i] = guards[i].index;
  }
  sum_products(builder, at, given, slots.spatial, guards);
  return true;
}

/* ---- before lowering ------------------------------------------------------------------------ */

/* Into how many pieces the images are cut: a sum over all of them is little parallel work. */
static int64_t good_pieces(const ReductionLimits *limits, Shape x) {
  int64_t images = x.dim[0];
  if (shape_elements(x) < limits->large || images < limits->least_pieces) return 1;
  if (images <= 4 * limits->most_pieces) return images;
  return reduction_pieces(limits, images);
}

/* What is made elsewhere or moved may lie row-major, which the layouts decide later. */
static bool may_be_row_major(const Node *node) {
  const OpClass *class = op_info(node->op)->class;
  return class->leaf != LEAF_NONE || class->family == FAMILY_MOVEMENT;
}

/* A template takes pieces only of what has its channels last. */
Node *depthwise_weight_prepare(const Maker *maker, const Target *target, const Node *node,
                               Node *const *operands) {
  Shape x = operands[0]->type.shape;
  if (!conv_is_depthwise(target, node, x, operands[1]->type.shape) ||
      node_attribute(node, ATTR_PIECES))
    return NULL;
  if (!target->depthwise_is_loop &&
      (may_be_row_major(operands[0]) || may_be_row_major(operands[1])))
    return NULL;
  int64_t pieces = good_pieces(&target->reductions, x), first = 0;
  if (pieces == 1 || node->type.shape.rank == MAX_RANK) return NULL;
  DType own = node->type.dtype, wide = dtype_is_half(own) ? DTYPE_F32 : own;
  Node *parts = make_pieces(maker, node, operands[0], operands[1], pieces, wide);
  return make_cast(maker, make_reduce(maker, OP_REDUCE_SUM, parts, 1, &first), own);
}
