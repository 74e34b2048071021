/* Convolutions that are better computed as one matrix product over all images.
 *
 * The templates of convolutions go through the images one by one, with vectors along the positions
 * of a plane. Where planes are small, sums are short and vectors half empty. Without padding, an
 * element of x has a stride along every axis that a convolution loops over, taps as well as
 * positions, so that these are contractions of x as it is:
 *
 *   conv_weight   dw[k, c t] = sum over n, o of dy[n, k, o] * x[n, c, o + t]
 *   conv          y[n, k]    = sum over c, t of x[n, c, t] * w[k, c, t]     with a single o
 *   conv_input    dx[n, c t] = sum over k of    dy[n, k] * w[k, c, t]       with a single o
 *
 * For the first, conv_weight_prepare makes the padding a node of its own, which is then in memory. */
#include "ops/lower.h"
#include "support/integers.h"

enum {
  LANES = 16,    /* of a vector, to count costs in */
  SUM_COST = 10, /* vector multiply-adds' time for a sum: loading, storing, adding up its lanes */
  COPY_COST = 5, /* the same for an element of x copied for a panel of the product, by short runs */
  RUN_COST = 2,  /* ... and by long ones, where there is one tap */
  ROW_BLOCK = 240, /* rows of a task of a contraction, which copies for itself where a sum is */
  LONG_SUM = 1024, /* longer than this (kernel/tiles.c) */
  FEW_ROWS = 8     /* for a tile of registers */
};

static int64_t vectors(int64_t elements) { return (elements + LANES - 1) / LANES; }

static bool is_unpadded(const Node *node) {
  const Attribute *low = node_ints(node, ATTR_LOW), *high = node_ints(node, ATTR_HIGH);
  for (int i = 0; i < low->count; i++)
    if (low->ints[i] != 0 || high->ints[i] > 0) return false;
  return true;
}

/* Vectors of a plane of the output with the gaps that the window's reach puts between its rows. */
static int64_t raster_vectors(const Node *node, int spatial, const int64_t *out,
                              const int64_t *kernel) {
  int last = spatial - 1;
  int64_t reach = (kernel[last] - 1) * node_ints(node, ATTR_DILATION)->ints[last];
  int64_t gap = reach / node_ints(node, ATTR_STRIDE)->ints[last];
  return vectors(extent_product(out, spatial - 1) * (out[last] + gap));
}

static bool conv_weight_is_product(const Node *node) {
  Shape y = node->operands[1]->type.shape, w = node->type.shape;
  int spatial = y.rank - 2;
  if (node_attribute(node, ATTR_PIECES) || node_int(node, ATTR_GROUPS) != 1 ||
      !dtype_is_float(node->type.dtype) || shape_elements(w) == 0 || shape_elements(y) == 0)
    return false;
  double images = (double)y.dim[0], rows = (double)w.dim[0];
  double depth = images * (double)extent_product(y.dim + 2, spatial);
  double raster = (double)raster_vectors(node, spatial, y.dim + 2, w.dim + 2);
  double plane = (double)vectors(extent_product(y.dim + 2, spatial));
  double sums = images * (plane < raster ? plane : raster) + SUM_COST;
  double times = depth > LONG_SUM ? (double)((w.dim[0] + ROW_BLOCK - 1) / ROW_BLOCK) : 1;
  double copies =
      times * depth * (extent_product(w.dim + 2, spatial) == 1 ? RUN_COST : COPY_COST) / rows;
  return 1.15 * (1.05 * depth / LANES + 1 + copies) < sums;
}

Node *conv_weight_prepare(const Maker *maker, const Node *node, Node *const *operands) {
  if (is_unpadded(node) || !conv_weight_is_product(node)) return NULL;
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
  builder_set_kind(builder, KERNEL_CONTRACT)->contract = *slots;
}

bool lower_conv_weight_product(KernelBuilder *builder, const Node *node) {
  if (!is_unpadded(node) || !conv_weight_is_product(node)) return false;
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
static bool is_of_points(const Node *node, Shape x, Shape w, Shape y) {
  const Attribute *dilation = node_ints(node, ATTR_DILATION);
  if (!is_unpadded(node) || node_int(node, ATTR_GROUPS) != 1) return false;
  for (int i = 2; i < x.rank; i++)
    if (y.dim[i] != 1 || x.dim[i] != w.dim[i] || dilation->ints[i - 2] != 1) return false;
  return dtype_is_float(node->type.dtype) && x.dim[0] >= FEW_ROWS;
}

bool lower_conv_product(KernelBuilder *builder, const Node *node) {
  Shape x = node->operands[0]->type.shape, w = node->operands[1]->type.shape, y = node->type.shape;
  if (!is_of_points(node, x, w, y) || w.dim[0] < FEW_ROWS) return false;
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
  if (!is_of_points(node, x, w, y)) return false;
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
