/* What follows a product and is an affine function of it, the same for all elements of a channel, becomes one
 * product and one sum: of batch normalization by fixed statistics
 *
 *     (y - mean) * r * gamma + beta -> y * s + t      s = r * gamma, t = -mean * s + beta
 *
 * where all but y are vectors of channels, broadcast alike. The vectors are computed once a run, which costs nothing,
 * and each element of y three operations less.
 *
 * It is rounded elsewhere than what was written: y * s and t may be greater than their sum by what the mean is greater
 * than the deviation. But y, a sum of products, was rounded at that size before. So the result is as exact as y itself
 * within a small factor; docs/numbers.md has it. */
#include "passes/rules/rules.h"

enum { MOST_STEPS = 8, LEAST_TIMES = 4 };

typedef struct Affine {
  Node *step[MOST_STEPS];   /* from the last operation to the one that reads the product */
  Node *vector[MOST_STEPS]; /* what it adds, subtracts or multiplies by, as a broadcast */
  int count;
  Node *product;
} Affine;

/* A broadcast of what is much smaller, like that of the steps before it. */
static bool fits(const Affine *affine, const Node *node) {
  if (node->op != OP_BROADCAST) return false;
  const Node *first = affine->count > 0 ? affine->vector[0] : node;
  Shape own = node->operands[0]->type.shape, shape = first->operands[0]->type.shape;
  return shape_elements(own) * LEAST_TIMES <= shape_elements(node->type.shape) &&
         shape_equal(own, shape) && node_same_attributes(node, first);
}

/* The operation's other operand, NULL where it is none of the chain. */
static Node *take_step(Affine *affine, Node *node) {
  bool commutes = node->op == OP_ADD || node->op == OP_MUL;
  if ((!commutes && node->op != OP_SUB) || affine->count == MOST_STEPS) return NULL;
  int side = fits(affine, node->operands[1]) ? 1 : 0;
  if (side == 0 && (!commutes || !fits(affine, node->operands[0]))) return NULL;
  affine->step[affine->count] = node;
  affine->vector[affine->count++] = node->operands[side];
  return node->operands[1 - side];
}

static bool is_product(const Node *node) { return node->op == OP_CONV || node->op == OP_CONTRACT; }

static bool match(Affine *affine, Node *node) {
  DType dtype = node->type.dtype;
  if (dtype != DTYPE_F32 && dtype != DTYPE_F64) return false;
  while (node && !is_product(node)) node = take_step(affine, node);
  affine->product = node;
  return node != NULL;
}

static Node *spread(const Maker *maker, Node *vector, const Node *like) {
  return make_node(maker, OP_BROADCAST, 1, &vector, like->attribute_count, like->attributes);
}

Node *rules_join_affine(const Maker *maker, Node *node) {
  Affine affine = {.count = 0};
  Node *scale = NULL, *shift = NULL;
  if (!match(&affine, node)) return NULL;
  bool has_scale = false, has_shift = false;
  for (int i = 0; i < affine.count; i++)
    if (affine.step[i]->op == OP_MUL) has_scale = true;
    else has_shift = true;
  if (affine.count <= has_scale + has_shift) return NULL;
  for (int i = affine.count - 1; i >= 0; i--) {
    Node *vector = affine.vector[i]->operands[0];
    Op op = affine.step[i]->op;
    if (op == OP_MUL) {
      scale = scale ? make_binary(maker, OP_MUL, scale, vector) : vector;
      if (shift) shift = make_binary(maker, OP_MUL, shift, vector);
    } else if (shift) shift = make_binary(maker, op, shift, vector);
    else shift = op == OP_ADD ? vector : make_unary(maker, OP_NEG, vector);
  }
  Node *result = affine.product;
  if (scale) {
    Node *factor = spread(maker, scale, affine.vector[0]);
    result = make_binary(maker, OP_MUL, result, factor);
  }
  if (shift) {
    Node *term = spread(maker, shift, affine.vector[0]);
    result = make_binary(maker, OP_ADD, result, term);
  }
  return result;
}
