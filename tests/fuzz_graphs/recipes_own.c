/* Gradients of one's own: a value, and a rule that tells what its operands receive, whatever the
 * derivative is. A rule is differentiated with everything else, so its values are judged when the
 * whole is played. */
#include "generate.h"
#include "ops/own_gradient.h"
#include "ops/scan.h"

/* What a target of the type gets: of the gradient `dy` of the value, of the target and of others. For
 * zeros it gives zeros, as the language wants it: passes drop the ways that carry nothing else. */
static Node *rule_result(Generator *g, const Maker *m, Type type, Node *dy, Node *target,
                         Node *other) {
  Node *passed = dy;
  if (!shape_equal(dy->type.shape, type.shape)) {
    int64_t axes[MAX_RANK];
    for (int i = 0; i < dy->type.shape.rank; i++) axes[i] = i;
    Node *sum = make_reduce(m, OP_REDUCE_MEAN, dy, dy->type.shape.rank, axes);
    passed = make_broadcast(m, sum, type.shape, NULL);
  }
  switch (draw_below(g, 5)) {
  case 0: return make_binary_value(m, OP_MUL, passed, draw_real(g, -1, 1));
  case 1: return make_binary(m, OP_MUL, passed, make_unary(m, OP_SIGMOID, target));
  case 2: return make_binary(m, OP_MUL, make_unary(m, OP_TANH, passed), other);
  case 3: {
    Node *near = make_binary(m, OP_LT, make_unary(m, OP_ABS, target),
                             make_constant(m, target->type, draw_real(g, 0.5, 2)));
    return make_where(m, near, passed, make_constant(m, type, 0));
  }
  default: return passed;
  }
}

/* A value of `x`, mostly one that has no gradient of use. */
static Node *own_value(Generator *g, Node *x) {
  static const Op ops[] = {OP_SIGN, OP_ROUND, OP_FLOOR, OP_TANH, OP_ABS, OP_SIN};
  if (draw_chance(g, 20)) return make_binary_value(&g->maker, OP_MUL, x, 0.5);
  return try_unary(g, ops[draw_below(g, sizeof ops / sizeof *ops)], x);
}

/* Of one or two targets of one type, and a captured value. */
Node *grow_own(Generator *g) {
  Node *first = draw_node(g, KIND_FLOAT | KIND_ELEMENTS);
  if (!first) return NULL;
  Type type = first->type;
  bool is_scalar = draw_chance(g, 30) && type.shape.rank > 0;
  Node *second = draw_like(g, is_scalar ? type_scalar(type.dtype) : type);
  Node *value = own_value(g, first);
  if (!value) return NULL;
  Node *operands[] = {value, first, second, draw_like(g, type)};
  if (first == second) return NULL;
  int targets = 1 + (int)draw_below(g, 2);
  Maker rule = {graph_create(g->arena, "rule"), {0}, g->maker.path};
  Node *arguments[4];
  for (int i = 0; i < 4; i++) arguments[i] = make_argument(&rule, operands[i]->type, i);
  for (int i = 1; i <= targets; i++) {
    Node *other = i == 1 ? arguments[3] : arguments[2];
    Node *result = rule_result(g, &rule, operands[i]->type, arguments[0], arguments[i], other);
    graph_add_output(rule.graph, (Output){.kind = OUTPUT_RESULT, .name = "g", .node = result});
  }
  return make_own_gradient(&g->maker, rule.graph, 4, operands);
}
