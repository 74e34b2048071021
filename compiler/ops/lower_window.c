/* Lowering of convolutions (templates) and of pooling (reductions over the window, with guards for
 * the padding).
 *
 *   window element of output o at tap t:  i = o * stride - low + t * dilation,   0 <= i < in
 *   output of input i at tap t:           o = (i + low - t * dilation) / stride, a whole number */
#include <math.h>

#include "ops/lower.h"
#include "ops/window.h"
#include "support/integers.h"

/* x: [n, c, in...]; y: [n, k, out...]; window [..., kernel...] */
static ConvSlots window_slots(const Node *node, Shape x, Shape y) {
  ConvSlots slots = {.spatial = x.rank - 2, .n = x.dim[0], .c = x.dim[1], .k = y.dim[1]};
  const Attribute *stride = node_ints(node, ATTR_STRIDE), *low = node_ints(node, ATTR_LOW);
  const Attribute *high = node_ints(node, ATTR_HIGH), *dilation = node_ints(node, ATTR_DILATION);
  for (int i = 0; i < slots.spatial; i++) {
    slots.in[i] = x.dim[2 + i];
    slots.out[i] = y.dim[2 + i];
    slots.stride[i] = stride->ints[i];
    slots.low[i] = low->ints[i];
    slots.high[i] = high->ints[i];
    slots.dilation[i] = dilation->ints[i];
  }
  return slots;
}

ConvSlots conv_slots(const Node *node, Shape x, Shape w, Shape y) {
  ConvSlots slots = window_slots(node, x, y);
  slots.groups = node_int(node, ATTR_GROUPS);
  for (int i = 0; i < slots.spatial; i++) slots.kernel[i] = w.dim[w.rank - slots.spatial + i];
  return slots;
}

bool conv_shapes(const Node *node, ConvShapes *found) {
  if (node->operand_count != 2) return false;
  Shape a = node->operands[0]->type.shape, b = node->operands[1]->type.shape;
  Shape own = node->type.shape;
  switch (node->op) {
  case OP_CONV: *found = (ConvShapes){a, b, own}; return true;
  case OP_CONV_INPUT: *found = (ConvShapes){own, b, a}; return true;
  case OP_CONV_WEIGHT: *found = (ConvShapes){a, own, b}; return true;
  default: return false;
  }
}

int conv_direction(const Node *node) {
  return node->op == OP_CONV ? 0 : node->op == OP_CONV_INPUT ? 1 : 2;
}

ConvSides conv_sides(const Node *node) {
  return (ConvSides){{node->operands[0], node->op == OP_CONV_WEIGHT ? node->operands[1] : node}};
}

/* Channels and groups alone. */
static ConvSlots channel_slots(const Node *node) {
  const Node *w = node->op == OP_CONV_WEIGHT ? node : node->operands[1];
  int first = node_attribute(node, ATTR_PIECES) != NULL;
  ConvSlots slots = {.k = w->type.shape.dim[first], .groups = node_int(node, ATTR_GROUPS)};
  slots.c = w->type.shape.dim[first + 1] * slots.groups;
  return slots;
}

bool conv_keeps_channels_last(const Target *target, const Node *node) {
  ConvSlots slots = channel_slots(node);
  return target->keeps_channels_last && target->keeps_channels_last(&slots);
}

bool conv_follows_channels_last(const Target *target, const Node *node) {
  ConvSlots slots = channel_slots(node);
  return target->follows_channels_last && target->follows_channels_last(&slots);
}

/* A template over windows. Each of its operands has its channels first, or last if the target has that. */
static void window_set(KernelBuilder *builder, KernelKind kind, ConvSlots slots) {
  bool may_be_last = builder_target(builder)->keeps_channels_last != NULL;
  for (int i = 0; i < 2; i++) {
    if (!may_be_last) builder_operand_plain(builder, i);
    else if (builder_operand_planes(builder, i)) slots.last |= (int64_t)1 << i;
  }
  builder_set_kind(builder, kind)->conv = slots;
}

static void conv_lower(KernelBuilder *builder, const Node *node, KernelKind kind, Shape x, Shape w,
                       Shape y) {
  ConvSlots slots = conv_slots(node, x, w, y);
  slots.may_be_winograd = target_gains_by_winograd(builder_target(builder), &slots,
                                                   node->operands[0]->type.dtype, false);
  window_set(builder, kind, slots);
}

void lower_conv(KernelBuilder *builder, const Node *node) {
  if (lower_conv_product(builder, node) || lower_depthwise_conv(builder, node)) return;
  conv_lower(builder, node, KERNEL_CONV, node->operands[0]->type.shape,
             node->operands[1]->type.shape, node->type.shape);
}

void lower_conv_input(KernelBuilder *builder, const Node *node) {
  if (lower_conv_input_product(builder, node) || lower_depthwise_input(builder, node)) return;
  conv_lower(builder, node, KERNEL_CONV_INPUT, node->type.shape, node->operands[1]->type.shape,
             node->operands[0]->type.shape);
}

void lower_conv_weight(KernelBuilder *builder, const Node *node) {
  if (lower_conv_weight_product(builder, node) || lower_depthwise_weight(builder, node)) return;
  const Attribute *pieces = node_attribute(node, ATTR_PIECES);
  Shape x = node->operands[0]->type.shape, y = node->operands[1]->type.shape;
  ConvSlots slots = conv_slots(node, x, node->type.shape, y);
  slots.pieces = pieces ? pieces->integer : 0;
  slots.may_be_winograd = target_gains_by_winograd(builder_target(builder), &slots,
                                                   node->operands[0]->type.dtype, true);
  window_set(builder, KERNEL_CONV_WEIGHT, slots);
}

/* ---- pooling ---- */

static ConvSlots pool_slots(const Node *node, Shape x, Shape y) {
  ConvSlots slots = window_slots(node, x, y);
  const Attribute *kernel = node_ints(node, ATTR_KERNEL);
  slots.groups = slots.c;
  for (int i = 0; i < slots.spatial; i++) slots.kernel[i] = kernel->ints[i];
  return slots;
}

/* Index of x under tap `tap` of the window at the point; with a guard for each spatial axis. */
static void window_element(KernelBuilder *builder, const ConvSlots *slots, Index *const *tap,
                           Index **at, Guard *guards) {
  Arena *arena = builder_arena(builder);
  at[0] = builder_point(builder, 0);
  at[1] = builder_point(builder, 1);
  for (int i = 0; i < slots->spatial; i++) {
    Index *begin =
        index_add(arena, index_mul(arena, builder_point(builder, 2 + i), slots->stride[i]),
                  index_const(arena, -slots->low[i]));
    at[2 + i] = index_add(arena, begin, index_mul(arena, tap[i], slots->dilation[i]));
    guards[i] = (Guard){at[2 + i], slots->in[i]};
  }
}

/* Opens a reduction over the window: its element of x, and the tap and guards that it belongs to. */
static Expr *under_window(KernelBuilder *builder, const ConvSlots *slots, double padding,
                          Index **tap, Guard *guards) {
  int first = builder_reduce_axes(builder, slots->spatial, slots->kernel);
  Index *at[MAX_RANK];
  for (int i = 0; i < slots->spatial; i++) tap[i] = index_axis(builder_arena(builder), first + i);
  window_element(builder, slots, tap, at, guards);
  return builder_operand_guarded(builder, 0, at, slots->spatial, guards, padding);
}

static void pool_lower(KernelBuilder *builder, const Node *node, Op reduce, double padding) {
  ConvSlots slots = pool_slots(node, node->operands[0]->type.shape, node->type.shape);
  Index *tap[3];
  Guard guards[3];
  Expr *value = under_window(builder, &slots, padding, tap, guards);
  builder_return(builder, builder_reduce(builder, reduce, value));
}

void lower_max_pool(KernelBuilder *builder, const Node *node) {
  pool_lower(builder, node, OP_REDUCE_MAX, -INFINITY);
}

void lower_sum_pool(KernelBuilder *builder, const Node *node) {
  pool_lower(builder, node, OP_REDUCE_SUM, 0);
}

void lower_sum_pool_grad(KernelBuilder *builder, const Node *node) {
  Arena *arena = builder_arena(builder);
  ConvSlots slots = pool_slots(node, node->type.shape, node->operands[0]->type.shape);
  int first = builder_reduce_axes(builder, slots.spatial, slots.kernel), axis_count;
  const int64_t *extents = builder_extents(builder, &axis_count);
  Index *at[MAX_RANK] = {builder_point(builder, 0), builder_point(builder, 1)};
  Guard guards[6];
  int count = 0;
  for (int i = 0; i < slots.spatial; i++) {
    Index *tap = index_mul(arena, index_axis(arena, first + i), -slots.dilation[i]);
    Index *begin =
        index_add(arena, builder_point(builder, 2 + i), index_const(arena, slots.low[i]));
    Index *place = index_add(arena, begin, tap);
    if (slots.stride[i] > 1)
      guards[count++] = (Guard){index_mod(arena, place, slots.stride[i], extents, axis_count), 1};
    at[2 + i] = index_div(arena, place, slots.stride[i], extents, axis_count);
    guards[count++] = (Guard){at[2 + i], slots.out[i]};
  }
  Expr *value = builder_operand_guarded(builder, 0, at, count, guards, 0);
  builder_return(builder, builder_reduce(builder, OP_REDUCE_SUM, value));
}

void lower_max_pool_grad(KernelBuilder *builder, const Node *node) {
  ConvSlots slots = pool_slots(node, node->type.shape, node->operands[1]->type.shape);
  window_set(builder, KERNEL_MAX_POOL_GRAD, slots);
}

/* Tap number `number` of the window, row-major over its axes, as a tap for each axis. */
static void tap_digits(KernelBuilder *builder, const ConvSlots *slots, Index *number, Index **tap) {
  int axis_count;
  const int64_t *extents = builder_extents(builder, &axis_count);
  for (int i = slots->spatial - 1; i >= 0; i--) {
    tap[i] = index_mod(builder_arena(builder), number, slots->kernel[i], extents, axis_count);
    number = index_div(builder_arena(builder), number, slots->kernel[i], extents, axis_count);
  }
}

/* Operand `operand` under a tap of the window, over whose taps a reduction is opened. */
static Expr *tapped(KernelBuilder *builder, const ConvSlots *slots, int operand, double padding,
                    Index **number, Guard *guards) {
  int64_t taps = extent_product(slots->kernel, slots->spatial);
  Index *tap[3], *at[MAX_RANK];
  *number = index_axis(builder_arena(builder), builder_reduce_axes(builder, 1, &taps));
  tap_digits(builder, slots, *number, tap);
  window_element(builder, slots, tap, at, guards);
  return builder_operand_guarded(builder, operand, at, slots->spatial, guards, padding);
}

static Expr *compared(KernelBuilder *builder, Op op, Expr *a, Expr *b) {
  return builder_op(builder, op, DTYPE_BOOL, 2, (Expr *[]){a, b});
}

/* Where the greatest value, or NaN, is; not in the padding, whose -inf the value does not tell from others. */
static Expr *is_greatest(KernelBuilder *builder, const ConvSlots *slots, Expr *x, Expr *greatest,
                         const Guard *guards) {
  Expr *is = compared(builder, OP_OR, compared(builder, OP_EQ, x, greatest),
                      compared(builder, OP_NE, x, x)); /* NaN */
  Expr *inside = builder_guards_hold(builder, slots->spatial, guards);
  return inside ? compared(builder, OP_AND, is, inside) : is;
}

/* The number of the first greatest tap. With padding the greatest value is found first. */
static Expr *first_greatest(KernelBuilder *builder, const ConvSlots *slots) {
  Guard guards[3];
  Index *number;
  bool is_padded = false;
  for (int i = 0; i < slots->spatial; i++)
    is_padded = is_padded || slots->low[i] > 0 || slots->high[i] > 0;
  Expr *x = tapped(builder, slots, 0, -INFINITY, &number, guards);
  if (!is_padded) return builder_reduce(builder, OP_ARGMAX, x);
  Expr *greatest = builder_reduce(builder, OP_REDUCE_MAX, x);
  x = tapped(builder, slots, 0, -INFINITY, &number, guards);
  Expr *choice[] = {is_greatest(builder, slots, x, greatest, guards),
                    builder_const(builder, DTYPE_I32, 1), builder_const(builder, DTYPE_I32, 0)};
  return builder_reduce(builder, OP_ARGMAX, builder_op(builder, OP_WHERE, DTYPE_I32, 3, choice));
}

void lower_max_unpool(KernelBuilder *builder, const Node *node) {
  ConvSlots slots = pool_slots(node, node->type.shape, node->operands[1]->type.shape);
  window_set(builder, KERNEL_MAX_UNPOOL, slots);
}

/* A stage of its own type, not the node's. */
static Expr *reduced(KernelBuilder *builder, Op reduce, Expr *value) {
  Expr *result = builder_reduce(builder, reduce, value);
  result->dtype = value->dtype;
  return result;
}

/* The least tap under which the greatest value is, which max_pool finds by the same stage. */
void lower_max_place(KernelBuilder *builder, const Node *node) {
  ConvSlots slots = pool_slots(node, node->operands[0]->type.shape, node->type.shape);
  Index *tap[3], *number = index_const(builder_arena(builder), 0);
  Guard guards[3];
  Expr *x = under_window(builder, &slots, -INFINITY, tap, guards);
  Expr *greatest = reduced(builder, OP_REDUCE_MAX, x);
  x = under_window(builder, &slots, -INFINITY, tap, guards);
  for (int i = 0; i < slots.spatial; i++)
    number = index_add(builder_arena(builder),
                       index_mul(builder_arena(builder), number, slots.kernel[i]), tap[i]);
  Expr *choice[] = {is_greatest(builder, &slots, x, greatest, guards),
                    builder_index(builder, number, DTYPE_I32),
                    builder_const(builder, DTYPE_I32, MOST_PLACES)};
  Expr *place = builder_op(builder, OP_WHERE, DTYPE_I32, 3, choice);
  place = reduced(builder, OP_REDUCE_MIN, place);
  builder_return(builder, builder_op(builder, OP_CAST, DTYPE_U8, 1, &place));
}

/* v under the first greatest tap, as a sum with one term. */
void lower_max_pool_pick(KernelBuilder *builder, const Node *node) {
  ConvSlots slots = pool_slots(node, node->operands[0]->type.shape, node->type.shape);
  Guard guards[3];
  Index *number;
  Expr *greatest = first_greatest(builder, &slots);
  Expr *v = tapped(builder, &slots, 1, 0, &number, guards);
  Expr *is_it = compared(builder, OP_EQ, builder_index(builder, number, DTYPE_I32), greatest);
  Expr *choice[] = {is_it, v, builder_const(builder, node->type.dtype, 0)};
  Expr *term = builder_op(builder, OP_WHERE, node->type.dtype, 3, choice);
  builder_return(builder, builder_reduce(builder, OP_REDUCE_SUM, term));
}
