/* Evaluating graphs on made-up leaves, and comparing what they give. */
#ifndef NNC_TESTS_UNIT_EVALUATE_GRAPHS_H
#define NNC_TESTS_UNIT_EVALUATE_GRAPHS_H

#include <math.h>
#include "graphs.h"
#include "interpret/interpret.h"

/* Values between -2 and 2 for floats, whole ones for integers, a function of the name alone. */
static inline Tensor *leaf_value(Arena *arena, const Node *node) {
  Tensor *value = tensor_create(arena, node->type);
  uint64_t seed = 1;
  for (const char *c = node_string(node, ATTR_NAME); *c; c++) seed = seed * 131 + (uint64_t)*c;
  for (int64_t i = 0; i < shape_elements(node->type.shape); i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    double real = (double)(seed >> 33) / (double)(1u << 29) - 2;
    if (node->type.dtype == DTYPE_BOOL) real = real > 0;
    else if (!dtype_is_float(node->type.dtype)) real = floor(fabs(real) * 100);
    value->data[i] = real;
  }
  return value;
}

/* Leaves that `count` bindings do not give get values of their own. */
static inline Evaluation *evaluate_with(Arena *arena, const Graph *graph, int count,
                                        const Binding *given) {
  VEC(Binding) bindings = {0};
  for (int i = 0; i < count; i++) vec_push(arena, &bindings, given[i]);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    LeafKind leaf = op_info(node->op)->class->leaf;
    if (leaf == LEAF_NONE || leaf == LEAF_CONSTANT) continue;
    bool is_given = false;
    for (int k = 0; k < count; k++)
      is_given =
          is_given || (given[k].op == node->op && given[k].name == node_string(node, ATTR_NAME));
    if (is_given) continue;
    Binding binding = {node->op, node_string(node, ATTR_NAME), leaf_value(arena, node)};
    vec_push(arena, &bindings, binding);
  }
  EvaluateContext context = {.seed = 5, .step = 1};
  return graph_evaluate(arena, graph, bindings.count, bindings.items, &context);
}

static inline Evaluation *evaluate(Arena *arena, const Graph *graph) {
  return evaluate_with(arena, graph, 0, NULL);
}

static inline void assert_same_value(const Tensor *a, const Tensor *b, const char *what) {
  assert_true(type_equal(a->type, b->type));
  for (int64_t i = 0; i < shape_elements(a->type.shape); i++) {
    double x = a->data[i], y = b->data[i];
    bool same = x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= 1e-13 * fmax(fabs(x), fabs(y));
    if (!same) fail_msg("%s: element %lld was %.17g and is %.17g", what, (long long)i, x, y);
  }
}

static inline void assert_same_results(Arena *arena, const Graph *before, const Graph *after) {
  const Evaluation *a = evaluate(arena, before), *b = evaluate(arena, after);
  assert_int_equal(before->outputs.count, after->outputs.count);
  for (int i = 0; i < before->outputs.count; i++)
    assert_same_value(evaluation_output(a, i), evaluation_output(b, i),
                      before->outputs.items[i].name);
}

#endif
