/* Sums and squared deviations of large values, by pieces: see moments.h. */
#include "ops/moments.h"

/* Whether it is the same along the axes of the values that it is subtracted from. */
static bool is_constant_along(const Node *shift, const Attribute *axes) {
  if (shift->op != OP_BROADCAST) return false;
  const Attribute *own = node_ints(shift, ATTR_AXES);
  for (int i = 0; i < own->count; i++)
    for (int k = 0; k < axes->count; k++)
      if (own->ints[i] == axes->ints[k]) return false;
  return true;
}

/* x - m of a sum of squares of it, m of moments_match; else NULL. */
static const Node *deviation(const Node *node) {
  if (node->op != OP_REDUCE_SUM) return NULL;
  const Node *square = node->operands[0];
  if (square->op != OP_MUL || square->operands[0] != square->operands[1]) return NULL;
  const Node *difference = square->operands[0];
  if (difference->op != OP_SUB || dtype_is_half(difference->type.dtype) ||
      !dtype_is_float(difference->type.dtype))
    return NULL;
  const Node *shift = difference->operands[1];
  bool is_from_mean = is_constant_along(shift, node_ints(node, ATTR_AXES)) &&
                      shape_equal(shift->operands[0]->type.shape, node->type.shape);
  return is_from_mean ? difference : NULL;
}

bool moments_match(const Node *sum, const Node *node) {
  const Node *difference = sum->op == OP_REDUCE_SUM ? deviation(node) : NULL;
  return difference != NULL && difference->operands[0] == sum->operands[0] &&
         node_same_attributes(sum, node);
}

const Node *moments_mean(const Node *node) { return deviation(node)->operands[1]->operands[0]; }

/* The axes of `rank` that are not among these. */
static void other_axes(int rank, int count, const int64_t *axes, int64_t *others) {
  int next = 0;
  for (int64_t axis = 0; axis < rank; axis++) {
    bool is_there = false;
    for (int i = 0; i < count; i++) is_there |= axes[i] == axis;
    if (!is_there) others[next++] = axis;
  }
}

static Node *divided(const Maker *maker, Node *sums, double count) {
  return make_binary_value(maker, OP_MUL, sums, 1 / count);
}

Node *moments_deviations(const Maker *maker, const Pieces *pieces, Node *mean) {
  Node *cut = pieces->cut, *partial = pieces->partial;
  Shape of_cut = cut->type.shape, of_pieces = partial->type.shape;
  const Attribute *inner = node_ints(partial, ATTR_AXES);
  int64_t kept[MAX_RANK], columns[MAX_RANK];
  other_axes(of_cut.rank, inner->count, inner->ints, kept);
  other_axes(of_pieces.rank, pieces->axis_count, pieces->axes, columns);
  double count = (double)(shape_elements(of_cut) / shape_elements(of_pieces));
  /* The mean of a piece is a product that what follows may round or not, by fused multiply-adds: so it is made anew for
   * each of both differences, which then see the same number. */
  Node *center = make_broadcast(maker, divided(maker, partial, count), of_cut, kept);
  Node *d = make_binary(maker, OP_SUB, cut, center);
  Node *rest = make_reduce(maker, OP_REDUCE_SUM, d, inner->count, inner->ints);
  Node *square = make_binary(maker, OP_MUL, d, d);
  Node *within = make_reduce(maker, OP_REDUCE_SUM, square, inner->count, inner->ints);
  Node *own = divided(maker, partial, count);
  Node *between = make_binary(maker, OP_SUB, own, make_broadcast(maker, mean, of_pieces, columns));
  Node *twice = make_binary_value(maker, OP_MUL, rest, 2);
  Node *shifted = make_add(maker, twice, make_binary_value(maker, OP_MUL, between, count));
  Node *all = make_add(maker, within, make_binary(maker, OP_MUL, between, shifted));
  /* Rounding may leave less than 0, which has no root. */
  all = make_binary_value(maker, OP_MAX, all, 0);
  return make_reduce(maker, OP_REDUCE_SUM, all, pieces->axis_count, pieces->axes);
}
