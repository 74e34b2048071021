/* Convolutions that are better computed as one matrix product over all images.
 *
 * Templates of convolutions go through the images one by one. Where planes are small, their sums are
 * short; whether the other way is faster, the target says. Without padding, an
 * element of x has a stride along every axis that a convolution loops over, taps as well as
 * positions, so that these are contractions of x as it is:
 *
 *   conv_weight   dw[k, c t] = sum over n, o of dy[n, k, o] * x[n, c, o + t]
 *   conv          y[n, k]    = sum over c, t of x[n, c, t] * w[k, c, t]     with a single o
 *   conv_input    dx[n, c t] = sum over k of    dy[n, k] * w[k, c, t]       with a single o
 *
 * For the first, conv_weight_prepare makes the padding a node of its own, which is then in memory. */
#include "ops/lower.h"
#include "ops/window.h"
#include "support/integers.h"

static bool is_unpadded(const Node *node) {
  const Attribute *low = node_ints(node, ATTR_LOW), *high = node_ints(node, ATTR_HIGH);
  for (int i = 0; i < low->count; i++)
    if (low->ints[i] != 0 || high->ints[i] > 0) return false;
  return true;
}

static bool conv_weight_is_product(const Target *target, const Node *node) {
  Shape x = node->operands[0]->type.shape, y = node->operands[1]->type.shape;
  if (node_attribute(node, ATTR_PIECES) || node_int(node, ATTR_GROUPS) != 1 ||
      !dtype_is_float(node->type.dtype) || shape_elements(node->type.shape) == 0 ||
      shape_elements(y) == 0)
    return false;
  ConvSlots slots = conv_slots(node, x, node->type.shape, y);
  return !conv_keeps_channels_last(target, node) && target->conv_weight_is_product(&slots);
}

Node *conv_weight_prepare(const Maker *maker, const Target *target, const Node *node,
                          Node *const *operands) {
  Node *depthwise = depthwise_weight_prepare(maker, target, node, operands);
  if (depthwise) return depthwise;
  Node *copied = conv_copies_prepare(maker, target, node, operands);
  if (copied) return copied;
  if (is_unpadded(node) || !conv_weight_is_product(target, node)) return NULL;
  const Attribute *low = node_ints(node, ATTR_LOW), *high = node_ints(node, ATTR_HIGH);
  int64_t before[MAX_RANK] = {0}, after[MAX_RANK] = {0}, step[MAX_RANK] = {1, 1};
  for (int i = 0; i < low->count; i++) {
    if (low->ints[i] < 0 || high->ints[i] < 0) return NULL;
    before[2 + i] = low->ints[i];
    after[2 + i] = high->ints[i];
    step[2 + i] = 1;
  }
  Node *padded = make_pad(maker, operands[0], before, after, step, 0);
  return make_unpadded(maker, node, padded, operands[1]);
}

/* ---- lowering ---- */

/* Axes of extent 1 get strides by which they collapse with their neighbours. */
static void group_settle(AxisGroup *group) {
  for (int slot = 0; slot < 3; slot++) {
    int64_t *stride = group->stride[slot];
    for (int i = 1; i < group->count; i++)
      if (group->extent[i] == 1) stride[i] = stride[i - 1];
    for (int i = group->count - 2; i >= 0; i--)
      if (group->extent[i] == 1) stride[i] = stride[i + 1] * group->extent[i + 1];
  }
}

static void build(KernelBuilder *builder, ContractSlots *slots) {
  group_settle(&slots->m);
  group_settle(&slots->n);
  group_settle(&slots->k);
  lower_product(builder, slots);
}

bool lower_conv_weight_product(KernelBuilder *builder, const Node *node) {
  if (!is_unpadded(node) || !conv_weight_is_product(builder_target(builder), node)) return false;
  const Attribute *stride = node_ints(node, ATTR_STRIDE);
  const Attribute *dilation = node_ints(node, ATTR_DILATION);
  Shape y = node->operands[1]->type.shape, w = node->type.shape;
  int64_t x_stride[MAX_RANK], y_stride[MAX_RANK], w_stride[MAX_RANK];
  builder_operand_strides(builder, 1, y_stride); /* dy is the left side: its channels come first */
  builder_operand_strides(builder, 0, x_stride);
  shape_strides(w, w_stride);
  ContractSlots slots = {0};
  group_add(&slots.m, w.dim[0], y_stride[1], 0, w_stride[0]);
  group_add(&slots.n, w.dim[1], 0, x_stride[1], w_stride[1]);
  group_add(&slots.k, y.dim[0], y_stride[0], x_stride[0], 0);
  for (int i = 0; i < stride->count; i++) {
    int64_t step = x_stride[2 + i];
    group_add(&slots.n, w.dim[2 + i], 0, step * dilation->ints[i], w_stride[2 + i]);
    group_add(&slots.k, y.dim[2 + i], y_stride[2 + i], step * stride->ints[i], 0);
  }
  build(builder, &slots);
  return true;
}

/* ---- planes that become a point, or come from one ---- */

/* One position of the output sees all of x: then the axes of x are channels and taps. */
static bool is_of_points(const Node *node, int64_t least_rows, Shape x, Shape w, Shape y) {
  const Attribute *dilation = node_ints(node, ATTR_DILATION);
  if (!is_unpadded(node) || node_int(node, ATTR_GROUPS) != 1) return false;
  for (int i = 2; i < x.rank; i++)
    if (y.dim[i] != 1 || x.dim[i] != w.dim[i] || dilation->ints[i - 2] != 1) return false;
  return dtype_is_float(node->type.dtype) && x.dim[0] >= least_rows;
}

bool lower_conv_product(KernelBuilder *builder, const Node *node) {
  Shape x = node->operands[0]->type.shape, w = node->operands[1]->type.shape, y = node->type.shape;
  int64_t least_rows = builder_target(builder)->least_product_rows;
  if (!is_of_points(node, least_rows, x, w, y) || w.dim[0] < least_rows) return false;
  int64_t x_stride[MAX_RANK], w_stride[MAX_RANK], y_stride[MAX_RANK];
  builder_operand_strides(builder, 0, x_stride);
  builder_operand_strides(builder, 1, w_stride);
  shape_strides(y, y_stride);
  ContractSlots slots = {0};
  group_add(&slots.m, x.dim[0], x_stride[0], 0, y_stride[0]);
  group_add(&slots.n, w.dim[0], 0, w_stride[0], y_stride[1]);
  for (int i = 2; i < x.rank; i++) group_add(&slots.n, 1, 0, 0, 0);
  for (int i = 1; i < x.rank; i++) group_add(&slots.k, x.dim[i], x_stride[i], w_stride[i], 0);
  build(builder, &slots);
  return true;
}

bool lower_conv_input_product(KernelBuilder *builder, const Node *node) {
  Shape x = node->type.shape, w = node->operands[1]->type.shape, y = node->operands[0]->type.shape;
  int64_t least_rows = builder_target(builder)->least_product_rows;
  if (!is_of_points(node, least_rows, x, w, y)) return false;
  int64_t x_stride[MAX_RANK], w_stride[MAX_RANK], y_stride[MAX_RANK];
  builder_operand_strides(builder, 0, y_stride);
  builder_operand_strides(builder, 1, w_stride);
  shape_strides(x, x_stride);
  ContractSlots slots = {0};
  group_add(&slots.m, x.dim[0], y_stride[0], 0, x_stride[0]);
  for (int i = 1; i < x.rank; i++) group_add(&slots.n, x.dim[i], 0, w_stride[i], x_stride[i]);
  group_add(&slots.k, y.dim[1], y_stride[1], w_stride[0], 0);
  build(builder, &slots);
  return true;
}
