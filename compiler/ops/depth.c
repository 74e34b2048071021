/* Pieces of the depth: depth.h.
 *
 *   contract      the sum axes, from the first on, become axes of the batch until there are enough
 *                 pieces; the last of them is cut in two for that
 *   conv_weight   pieces of the images (ATTR_PIECES)
 *
 * Pieces of 16 bits are of f32 (ATTR_DTYPE), so that their sum alone is rounded. A kernel of its own
 * adds them up, in one order, into which fuses whatever reads the sum. */
#include "ops/depth.h"

#include "ops/lower.h"
#include "ops/op.h"
#include "support/integers.h"

/* A way to cut: the first `whole` sum axes, and `part` pieces of the next one. */
typedef struct Cut {
  int whole;
  int64_t part, pieces;
} Cut;

/* What pieces of 16 bits are of. */
static DType piece_type(DType dtype) { return dtype_is_half(dtype) ? DTYPE_F32 : dtype; }

/* Of pieces; negative: so many are not possible. They take no more memory than the operands. */
static double time_of(const DepthCutter *cutter, const ProductShape *product, int64_t pieces) {
  const DepthLimits *limits = &cutter->target->depth;
  const Node *node = cutter->node;
  int64_t bytes = type_bytes(node->operands[0]->type) + type_bytes(node->operands[1]->type);
  int64_t own = product_results(product) * dtype_size(piece_type(node->type.dtype));
  if (product->depth / pieces < limits->least_depth || own * pieces > bytes) return -1;
  return limits->time(product, pieces);
}

/* What pieces must stay below. */
static double worthy_time(const DepthCutter *cutter, const ProductShape *product) {
  const DepthLimits *limits = &cutter->target->depth;
  return limits->worth * limits->time(product, 1);
}

/* What all pieces, whose first axes count them, add up to. */
static Node *joined(const DepthCutter *cutter, Node *pieces, int count) {
  int64_t axes[MAX_RANK];
  for (int i = 0; i < count; i++) axes[i] = i;
  Node *sum = make_reduce(&cutter->maker, OP_REDUCE_SUM, pieces, count, axes);
  return make_cast(&cutter->maker, sum, cutter->node->type.dtype);
}

static ProductShape product_of(const DepthCutter *cutter, int64_t batches, int64_t depth) {
  DType dtype = cutter->node->operands[0]->type.dtype;
  return (ProductShape){.batches = batches,
                        .depth = depth,
                        .dtype = dtype,
                        .is_tf32 = cutter->allows_tf32 && dtype == DTYPE_F32};
}

/* ---- contractions ---- */

static int64_t extents_of(Shape shape, const Attribute *axes) {
  int64_t product = 1;
  for (int i = 0; i < axes->count; i++) product *= shape.dim[axes->ints[i]];
  return product;
}

static ProductShape contract_shape(const DepthCutter *cutter) {
  const Node *node = cutter->node;
  Shape left = node->operands[0]->type.shape, right = node->operands[1]->type.shape;
  ProductShape product = product_of(cutter, extents_of(left, node_ints(node, ATTR_BATCH_LEFT)),
                                    extents_of(left, node_ints(node, ATTR_SUM_LEFT)));
  int64_t others = greatest(product.batches * product.depth, 1);
  product.rows = shape_elements(left) / others;
  product.columns = shape_elements(right) / others;
  return product;
}

static Cut best_cut(const DepthCutter *cutter) {
  const Attribute *sum = node_ints(cutter->node, ATTR_SUM_LEFT);
  Shape left = cutter->node->operands[0]->type.shape;
  ProductShape product = contract_shape(cutter);
  Cut best = {.pieces = 1};
  double least_time = worthy_time(cutter, &product);
  int64_t before = 1, most = cutter->target->depth.most_pieces;
  for (int i = 0; i < sum->count && before > 0 && before <= most; i++) {
    int64_t extent = left.dim[sum->ints[i]];
    for (int64_t part = 2; part <= least(extent, most / before); part++) {
      double time = extent % part == 0 ? time_of(cutter, &product, before * part) : -1;
      if (time < 0 || time >= least_time) continue;
      least_time = time;
      best = (Cut){i, part, before * part};
    }
    before *= extent;
  }
  return best;
}

/* An operand with a sum axis cut in two. */
static Node *cut_operand(const Maker *maker, Node *operand, int64_t axis, int64_t part) {
  Shape from = operand->type.shape, shape = {.rank = from.rank + 1};
  for (int i = 0; i < from.rank; i++) shape.dim[i + (i > axis)] = from.dim[i];
  shape.dim[axis] = part;
  shape.dim[axis + 1] = from.dim[axis] / part;
  return make_reshape(maker, operand, shape);
}

/* A side's axes in the cut contraction: the pieces come before its batch. */
static void cut_axes(const Attribute *batch, const Attribute *sum, const Cut *cut,
                     int64_t *batch_axes, int64_t *sum_axes) {
  int64_t axis = sum->ints[cut->whole];
  int at = 0, rest = 0;
  for (int i = 0; i <= cut->whole; i++) batch_axes[at++] = sum->ints[i] + (sum->ints[i] > axis);
  for (int i = 0; i < batch->count; i++)
    batch_axes[at++] = batch->ints[i] + (batch->ints[i] > axis);
  for (int i = cut->whole; i < sum->count; i++)
    sum_axes[rest++] = sum->ints[i] + (sum->ints[i] >= axis);
}

static Node *cut_contract(const DepthCutter *cutter) {
  const Node *node = cutter->node;
  const Attribute *sum[] = {node_ints(node, ATTR_SUM_LEFT), node_ints(node, ATTR_SUM_RIGHT)};
  const Attribute *batch[] = {node_ints(node, ATTR_BATCH_LEFT), node_ints(node, ATTR_BATCH_RIGHT)};
  Cut cut = best_cut(cutter);
  int added = cut.whole + 1;
  ContractAxes axes = {.batch_count = batch[0]->count + added,
                       .sum_count = sum[0]->count - cut.whole};
  Node *sides[2];
  if (cut.pieces == 1 || node->type.shape.rank + added > MAX_RANK) return NULL;
  for (int i = 0; i < 2; i++) {
    if (node->operands[i]->type.shape.rank == MAX_RANK) return NULL;
    cut_axes(batch[i], sum[i], &cut, i == 0 ? axes.batch_left : axes.batch_right,
             i == 0 ? axes.sum_left : axes.sum_right);
  }
  for (int i = 0; i < 2; i++)
    sides[i] = cut_operand(&cutter->maker, cutter->operands[i], sum[i]->ints[cut.whole], cut.part);
  DType dtype = piece_type(node->type.dtype);
  Node *pieces = make_contract_of(&cutter->maker, sides[0], sides[1], &axes, dtype);
  return joined(cutter, pieces, added);
}

/* ---- gradients of the weights of convolutions ---- */

/* A gradient in weights as a product. */
static ProductShape weights_shape(const DepthCutter *cutter, Shape w, Shape y) {
  ProductShape product =
      product_of(cutter, node_int(cutter->node, ATTR_GROUPS), shape_elements(y) / y.dim[1]);
  product.rows = w.dim[0] / product.batches;
  product.columns = shape_elements(w) / w.dim[0];
  return product;
}

/* Pieces of equally many images. */
static int64_t best_pieces(const DepthCutter *cutter, const ConvSlots *slots, Shape w, Shape y) {
  const Target *target = cutter->target;
  DType dtype = cutter->node->operands[0]->type.dtype;
  if (target->depth.winograd_pieces && target_gains_by_winograd(target, slots, dtype, true))
    return target->depth.winograd_pieces(slots);
  if (!target->depth.cuts_convolution(slots)) return 1;
  ProductShape product = weights_shape(cutter, w, y);
  double least_time = worthy_time(cutter, &product);
  int64_t images = y.dim[0], best = 1;
  for (int64_t part = 2; part <= least(images, target->depth.most_pieces); part++) {
    double time = images % part == 0 ? time_of(cutter, &product, part) : -1;
    if (time < 0 || time >= least_time) continue;
    least_time = time;
    best = part;
  }
  return best;
}

static Node *cut_conv_weight(const DepthCutter *cutter) {
  const Node *node = cutter->node;
  Shape w = node->type.shape, y = node->operands[1]->type.shape;
  if (conv_is_depthwise(cutter->target, node, node->operands[0]->type.shape, y)) return NULL;
  if (node_attribute(node, ATTR_PIECES) || w.rank == MAX_RANK || shape_elements(y) == 0)
    return NULL;
  ConvSlots slots = conv_slots(node, node->operands[0]->type.shape, w, y);
  int64_t pieces = best_pieces(cutter, &slots, w, y);
  if (pieces == 1) return NULL;
  Node *parts = make_pieces(&cutter->maker, node, cutter->operands[0], cutter->operands[1], pieces,
                            piece_type(node->type.dtype));
  return joined(cutter, parts, 1);
}

static bool is_parameter(const Node *node) {
  while (op_info(node->op)->class->keeps_order) node = node->operands[0];
  return op_info(node->op)->class->leaf == LEAF_PARAM;
}

static bool has_parameter(const Node *node) {
  for (int i = 0; i < node->operand_count; i++)
    if (is_parameter(node->operands[i])) return true;
  return false;
}

Node *make_depth_pieces(const DepthCutter *cutter) {
  const Node *node = cutter->node;
  const Target *target = cutter->target;
  if (target->depth.time == NULL || node_attribute(node, ATTR_PHASE) ||
      (target->product_stands_alone && target->product_stands_alone(node)) ||
      !dtype_is_float(node->type.dtype) || shape_elements(node->type.shape) == 0)
    return NULL;
  if (node->op == OP_CONV_WEIGHT)
    return target->depth.cuts_convolution ? cut_conv_weight(cutter) : NULL;
  if (node->op != OP_CONTRACT || (!target->depth.cuts_weights && has_parameter(node))) return NULL;
  return cut_contract(cutter);
}
