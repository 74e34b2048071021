/* Reductions over nothing much, and the expansion of means. */
#include "passes/rules/rules.h"

Node *rule_reduce_units(const Rewrite *rewrite, Node *node) {
  Node *x = node->operands[0];
  const Attribute *axes = node_ints(node, ATTR_AXES);
  for (int i = 0; i < axes->count; i++)
    if (x->type.shape.dim[axes->ints[i]] != 1) return NULL;
  return make_reshape(&rewrite->maker, x, node->type.shape);
}

/* Rounding is symmetric: every partial sum changes its sign and nothing else. */
Node *rule_sum_negated(const Rewrite *rewrite, Node *node) {
  const Node *x = node->operands[0];
  if (x->op != OP_NEG) return NULL;
  const Attribute *axes = node_ints(node, ATTR_AXES);
  Node *sum = make_reduce(&rewrite->maker, node->op, x->operands[0], axes->count, axes->ints);
  return make_unary(&rewrite->maker, OP_NEG, sum);
}

/* Extrema only: sums are not reassociated. Of equal elements the gradient goes to the first; while it
 * is not made, the axes of `inner` must be the last ones, so that the first stays the first. */
Node *rule_reduce_twice(const Rewrite *rewrite, Node *node) {
  Node *inner = node->operands[0];
  if (inner->op != node->op) return NULL;
  Node *x = inner->operands[0];
  const Attribute *first = node_ints(inner, ATTR_AXES), *then = node_ints(node, ATTR_AXES);
  bool reduced[MAX_RANK] = {false};
  int64_t left[MAX_RANK], axes[MAX_RANK];
  int left_count = 0, count = 0;
  for (int i = 0; i < first->count; i++) reduced[first->ints[i]] = true;
  for (int i = 0; i < x->type.shape.rank; i++)
    if (!reduced[i]) left[left_count++] = i;
  for (int i = 0; i < then->count; i++) {
    int64_t axis = left[then->ints[i]];
    for (int k = 0; k < first->count && rewrite->keeps_stops; k++)
      if (first->ints[k] < axis) return NULL;
    reduced[axis] = true;
  }
  for (int i = 0; i < x->type.shape.rank; i++)
    if (reduced[i]) axes[count++] = i;
  return make_reduce(&rewrite->maker, node->op, x, count, axes);
}

/* mean(x) -> sum(x) * (1 / n); of 16 bits in f32, with one rounding after it. */
static Node *expand_mean(const Maker *maker, const Node *node, const NodeMap *map) {
  Node *x = node_map_get(map, node->operands[0]);
  const Attribute *axes = node_ints(node, ATTR_AXES);
  double count = 1;
  for (int i = 0; i < axes->count; i++) count *= (double)x->type.shape.dim[axes->ints[i]];
  if (dtype_is_half(x->type.dtype)) x = make_cast(maker, x, DTYPE_F32);
  Node *sum = make_reduce(maker, OP_REDUCE_SUM, x, axes->count, axes->ints);
  return make_cast(maker, make_binary_value(maker, OP_MUL, sum, 1 / count), node->type.dtype);
}

/* A sum or product of 16 bits -> in f32, so that its parts are never rounded, however it is cut. */
static Node *expand_total(const Maker *maker, const Node *node, const NodeMap *map) {
  if (!dtype_is_half(node->type.dtype)) return NULL;
  Node *x = make_cast(maker, node_map_get(map, node->operands[0]), DTYPE_F32);
  const Attribute *axes = node_ints(node, ATTR_AXES);
  return make_cast(maker, make_reduce(maker, node->op, x, axes->count, axes->ints),
                   node->type.dtype);
}

Node *rules_expand(const Maker *maker, const Node *node, const NodeMap *map) {
  if (node->op == OP_OWN_GRADIENT) return node_map_get(map, node->operands[0]);
  if (node->op == OP_REDUCE_MEAN) return expand_mean(maker, node, map);
  bool is_total = node->op == OP_REDUCE_SUM || node->op == OP_REDUCE_PROD;
  return is_total ? expand_total(maker, node, map) : NULL;
}
