/* Movement: chains become one, and what does nothing disappears.  All exact. */
#include "passes/rules/rules.h"

static Node *first(const Node *node) { return node->operands[0]; }

/* ---- lifting ------------------------------------------------------------------------------ */

static bool can_lift(const Node *node) {
  return node->op == OP_BROADCAST || node->op == OP_RESHAPE || node->op == OP_TRANSPOSE;
}

/* The same movement of a tensor of the same shape. */
static bool moves_alike(const Node *node, const Node *model) {
  return node->op == model->op && shape_equal(first(node)->type.shape, first(model)->type.shape) &&
         node_same_attributes(node, model);
}

/* Elementwise work is done before elements multiply, so arithmetic on scalars stays scalar; and
 * before they move, so the work joins what made them and movements meet and cancel. */
Node *rule_lift_movement(const Rewrite *rewrite, Node *node) {
  const Maker *maker = &rewrite->maker;
  Node *operands[3];
  const Node *model = NULL;
  double value;
  if (!op_is_elementwise(node->op) || node->operand_count > 3) return NULL;
  for (int i = 0; i < node->operand_count && !model; i++)
    if (can_lift(node->operands[i])) model = node->operands[i];
  if (!model) return NULL;
  for (int i = 0; i < node->operand_count; i++)
    if (!match_constant(node->operands[i], &value) && !moves_alike(node->operands[i], model))
      return NULL;
  for (int i = 0; i < node->operand_count; i++) {
    Node *operand = node->operands[i];
    Type type = type_make(operand->type.dtype, first(model)->type.shape);
    operands[i] =
        match_constant(operand, &value) ? make_constant(maker, type, value) : first(operand);
  }
  Node *result = make_node(maker, node->op, node->operand_count, operands, node->attribute_count,
                           node->attributes);
  return make_node(maker, model->op, 1, &result, model->attribute_count, model->attributes);
}

/* The operand of a broadcast, if it is one element, as a scalar; else NULL. */
static Node *match_fill(const Rewrite *rewrite, const Node *node) {
  if (node->op != OP_BROADCAST || shape_elements(first(node)->type.shape) != 1) return NULL;
  return make_reshape(&rewrite->maker, first(node), shape_scalar());
}

Node *rule_refill(const Rewrite *rewrite, Node *node) {
  Node *scalar = match_fill(rewrite, first(node));
  return scalar ? make_broadcast(&rewrite->maker, scalar, node->type.shape, NULL) : NULL;
}

/* ---- reshape ------------------------------------------------------------------------------ */

Node *rule_reshape(const Rewrite *rewrite, Node *node) {
  if (shape_equal(first(node)->type.shape, node->type.shape)) return first(node);
  if (first(node)->op != OP_RESHAPE) return NULL;
  return make_reshape(&rewrite->maker, first(first(node)), node->type.shape);
}

/* ---- transpose ---------------------------------------------------------------------------- */

Node *rule_transpose(const Rewrite *rewrite, Node *node) {
  const Attribute *outer = node_ints(node, ATTR_PERMUTATION);
  bool moves = false;
  for (int i = 0; i < outer->count; i++) moves = moves || outer->ints[i] != i;
  if (!moves) return first(node);
  if (first(node)->op != OP_TRANSPOSE) return NULL;
  const Attribute *inner = node_ints(first(node), ATTR_PERMUTATION);
  int64_t both[MAX_RANK];
  for (int i = 0; i < outer->count; i++) both[i] = inner->ints[outer->ints[i]];
  return make_transpose(&rewrite->maker, first(first(node)), both);
}

Node *rule_transpose_units(const Rewrite *rewrite, Node *node) {
  const Attribute *axes = node_ints(node, ATTR_PERMUTATION);
  int64_t last = -1;
  for (int i = 0; i < axes->count; i++) {
    if (node->type.shape.dim[i] == 1) continue;
    if (axes->ints[i] < last) return NULL;
    last = axes->ints[i];
  }
  return make_reshape(&rewrite->maker, first(node), node->type.shape);
}

/* The operand's own axes are brought in order first, where they are fewer elements. */
Node *rule_transpose_broadcast(const Rewrite *rewrite, Node *node) {
  const Node *operand = first(node);
  if (operand->op != OP_BROADCAST) return NULL;
  const Attribute *permutation = node_ints(node, ATTR_PERMUTATION);
  const Attribute *axes = node_ints(operand, ATTR_AXES);
  int64_t order[MAX_RANK], landed[MAX_RANK];
  int count = 0;
  for (int i = 0; i < permutation->count; i++) {
    for (int k = 0; k < axes->count; k++) {
      if (axes->ints[k] != permutation->ints[i]) continue;
      order[count] = k;
      landed[count++] = i;
    }
  }
  Node *x = make_transpose(&rewrite->maker, first(operand), order);
  return make_broadcast(&rewrite->maker, x, node->type.shape, landed);
}

/* ---- broadcast ---------------------------------------------------------------------------- */

Node *rule_broadcast(const Rewrite *rewrite, Node *node) {
  Node *x = first(node);
  if (shape_equal(x->type.shape, node->type.shape)) return x;
  int64_t elements = shape_elements(node->type.shape);
  if (elements > 0 && elements == shape_elements(x->type.shape)) /* only axes of extent 1 */
    return make_reshape(&rewrite->maker, x, node->type.shape);
  if (x->op != OP_BROADCAST) return NULL;
  const Attribute *outer = node_ints(node, ATTR_AXES), *inner = node_ints(x, ATTR_AXES);
  int64_t both[MAX_RANK];
  for (int i = 0; i < inner->count; i++) both[i] = outer->ints[inner->ints[i]];
  return make_broadcast(&rewrite->maker, first(x), node->type.shape, both);
}

/* The axes of `narrow` are found among those of `wide`, whose others have extent 1. */
static bool find_axes(Shape narrow, Shape wide, int64_t found[MAX_RANK]) {
  int next = 0;
  for (int i = 0; i < wide.rank; i++) {
    if (next < narrow.rank && narrow.dim[next] == wide.dim[i]) found[next++] = i;
    else if (wide.dim[i] != 1) return false;
  }
  return next == narrow.rank;
}

Node *rule_broadcast_reshape(const Rewrite *rewrite, Node *node) {
  if (first(node)->op != OP_RESHAPE) return NULL;
  Node *x = first(first(node));
  const Attribute *outer = node_ints(node, ATTR_AXES);
  int64_t axes[MAX_RANK];
  if (!find_axes(x->type.shape, first(node)->type.shape, axes)) return NULL;
  for (int i = 0; i < x->type.shape.rank; i++) axes[i] = outer->ints[axes[i]];
  return make_broadcast(&rewrite->maker, x, node->type.shape, axes);
}

/* ---- slice, pad, concat ------------------------------------------------------------------- */

Node *rule_slice_whole(const Rewrite *rewrite, Node *node) {
  const Attribute *step = node_ints(node, ATTR_STEP);
  if (!shape_equal(node->type.shape, first(node)->type.shape)) return NULL;
  for (int i = 0; i < step->count; i++)
    if (node->type.shape.dim[i] > 1 && step->ints[i] < 0) return NULL;
  return first(node);
}

/* A range along the axis that is one whole part, everything else whole. */
Node *rule_slice_concat(const Rewrite *rewrite, Node *node) {
  const Node *whole = first(node);
  if (whole->op != OP_CONCAT) return NULL;
  int axis = (int)node_int(whole, ATTR_AXIS);
  const Attribute *start = node_ints(node, ATTR_START), *step = node_ints(node, ATTR_STEP);
  int64_t offset = 0;
  for (int i = 0; i < start->count; i++)
    if (step->ints[i] != 1 || (i != axis && node->type.shape.dim[i] != whole->type.shape.dim[i]))
      return NULL;
  for (int k = 0; k < whole->operand_count; k++) {
    Node *part = whole->operands[k];
    if (offset == start->ints[axis] && shape_equal(part->type.shape, node->type.shape)) return part;
    offset += part->type.shape.dim[axis];
  }
  return NULL;
}

Node *rule_pad_nothing(const Rewrite *rewrite, Node *node) {
  return shape_equal(node->type.shape, first(node)->type.shape) ? first(node) : NULL;
}

Node *rule_concat_one(const Rewrite *rewrite, Node *node) {
  return node->operand_count == 1 ? first(node) : NULL;
}

Node *rules_slice_of_part(const Maker *maker, Node *whole, const Node *part) {
  if (whole->op != OP_CONCAT) return NULL;
  int axis = (int)node_int(whole, ATTR_AXIS);
  int64_t start[MAX_RANK] = {0}, stop[MAX_RANK], step[MAX_RANK];
  Shape shape = part->type.shape;
  int k = 0;
  while (k < whole->operand_count && whole->operands[k] != part)
    start[axis] += whole->operands[k++]->type.shape.dim[axis];
  if (k == whole->operand_count) return NULL;
  for (int i = 0; i < shape.rank; i++) {
    stop[i] = start[i] + shape.dim[i];
    step[i] = 1;
  }
  return make_slice(maker, whole, start, stop, step);
}
