/* Max pooling: what of the values that it reads its adjoint needs.
 *
 * Places: the adjoint needs to know where the maxima were (rules_make_places, for the pass remember).
 *
 * Choices: what is chosen by the values that a max pooling reads is chosen by its result, which has fewer.
 *
 * All that the adjoint of max pooling sends to an element comes from windows whose maximum is that element. So where
 * the element decides whether an adjoint passes, as it does at a ReLU, the maximum decides the same before: the ReLU's
 * gradient no longer needs what was pooled.
 *
 * The same goes for the parts of a concatenation that was pooled as a whole. If only some of them chose, the adjoint
 * would have to be made twice; so all must look alike.
 *
 * Joined channels: parts are pooled one by one, and what they give is joined, which is less. So a part is dead when it
 * is pooled, the whole is nowhere in memory, and neither is its adjoint. */
#include "ops/window.h"
#include "passes/rules/rules.h"

typedef struct Choice {
  const Node *condition; /* a comparison ... */
  int compared;          /* ... of this operand with a constant */
  double bound;
  Node *slice;   /* of the adjoint, or NULL */
  Node *adjoint; /* the operator max_pool_grad */
  bool is_first; /* the adjoint, in the choice */
} Choice;

static bool is_comparison(Op op) {
  return op == OP_LE || op == OP_LT || op == OP_GE || op == OP_GT || op == OP_EQ || op == OP_NE;
}

static bool match_condition(const Node *condition, Choice *choice) {
  if (!is_comparison(condition->op)) return false;
  choice->condition = condition;
  choice->compared = match_constant(condition->operands[0], &choice->bound);
  return choice->compared == 0 ? match_constant(condition->operands[1], &choice->bound) : true;
}

static bool match_choice(const Node *node, Choice *choice) {
  if (!match_condition(node->operands[0], choice)) return false;
  choice->is_first = match_value(node->operands[2], 0);
  if (!choice->is_first && !match_value(node->operands[1], 0)) return false;
  Node *chosen = node->operands[choice->is_first ? 1 : 2];
  if (chosen->op == OP_SLICE) {
    choice->slice = chosen;
    chosen = chosen->operands[0];
  }
  choice->adjoint = chosen;
  return chosen->op == OP_MAX_POOL_GRAD;
}

/* Whether `slice` takes from a concatenation what `part` gave to it, and the other parts end with the same operator. */
static bool takes_part(const Node *slice, const Node *whole, const Node *part) {
  if (whole->op != OP_CONCAT || node_int(whole, ATTR_AXIS) > 1) return false;
  int axis = (int)node_int(whole, ATTR_AXIS);
  const Attribute *start = node_ints(slice, ATTR_START), *step = node_ints(slice, ATTR_STEP);
  int64_t offset = 0;
  bool is_taken = false;
  if (!shape_equal(part->type.shape, slice->type.shape)) return false;
  for (int i = 0; i < step->count; i++)
    if (step->ints[i] != 1 || (i != axis && start->ints[i] != 0)) return false;
  for (int k = 0; k < whole->operand_count; k++) {
    const Node *other = whole->operands[k];
    if (other->op != part->op) return false;
    is_taken = is_taken || (other == part && offset == start->ints[axis]);
    offset += other->type.shape.dim[axis];
  }
  return is_taken;
}

bool rules_finds_maxima(const Node *node, const Node *adjoint) {
  return node->op == OP_MAX_POOL && node->operands[0] == adjoint->operands[0] &&
         node_same_attributes(node, adjoint);
}

/* The maxima whose adjoint it is, where they are in the graph. */
static Node *find_maxima(const Graph *graph, const Node *adjoint) {
  for (int i = 0; i < graph->nodes.count; i++)
    if (rules_finds_maxima(graph->nodes.items[i], adjoint)) return graph->nodes.items[i];
  return NULL;
}

Node *rule_choice_pooled(const Rewrite *rewrite, Node *node) {
  const Maker *maker = &rewrite->maker;
  Choice choice = {0};
  if (!match_choice(node, &choice)) return NULL;
  Node *seen = choice.condition->operands[choice.compared], *x = choice.adjoint->operands[0];
  if (choice.slice ? !takes_part(choice.slice, x, seen) : seen != x) return NULL;
  Node *maxima = find_maxima(maker->graph, choice.adjoint);
  if (!maxima) return NULL;
  Node *bound = make_constant(maker, maxima->type, choice.bound);
  Node *condition = choice.compared == 0 ? make_binary(maker, choice.condition->op, maxima, bound)
                                         : make_binary(maker, choice.condition->op, bound, maxima);
  Node *dy = choice.adjoint->operands[1], *zero = make_constant(maker, dy->type, 0);
  dy = choice.is_first ? make_where(maker, condition, dy, zero)
                       : make_where(maker, condition, zero, dy);
  Node *adjoint = make_like(maker, OP_MAX_POOL_GRAD, x, dy, choice.adjoint, NULL);
  if (!choice.slice) return adjoint;
  return make_like(maker, OP_SLICE, adjoint, NULL, choice.slice, NULL);
}

Node *rule_pool_joined(const Rewrite *rewrite, Node *node) {
  enum { MOST_PARTS = 16, LESS = 3 /* times, that the result has at least */ };
  const Node *whole = node->operands[0];
  if (whole->op != OP_CONCAT || node_int(whole, ATTR_AXIS) > 1 || whole->operand_count > MOST_PARTS)
    return NULL;
  if (shape_elements(node->type.shape) * LESS > shape_elements(whole->type.shape)) return NULL;
  Node *parts[MOST_PARTS];
  for (int k = 0; k < whole->operand_count; k++)
    parts[k] = make_like(&rewrite->maker, OP_MAX_POOL, whole->operands[k], NULL, node, NULL);
  return make_concat(&rewrite->maker, whole->operand_count, parts, (int)node_int(whole, ATTR_AXIS));
}

/* A window of one element has no choice. */
bool rules_needs_maxima(const Node *node) {
  if (node->op != OP_MAX_POOL_GRAD) return false;
  int64_t taps = window_tap_count(node);
  return taps > 1 && taps <= MOST_PLACES;
}

Node *rules_make_places(const Maker *maker, const Node *maxima) {
  return make_like(maker, OP_MAX_PLACE, maxima->operands[0], NULL, maxima, NULL);
}

Node *rules_adjoint_by_places(const Maker *maker, const Node *adjoint, Node *places, Node *dy) {
  return make_like(maker, OP_MAX_UNPOOL, places, dy, adjoint, &adjoint->type.shape);
}
