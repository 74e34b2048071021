/* Seeded faults, which show how sharp the judges are: small mistakes in the train entry after
 * differentiation, such as a wrong pass or kernel makes. The reference stays that of the sound graph.
 *
 *   a constant is off by a 64th
 *   a sum lacks its last term, a contraction the last of an axis that it sums over
 *   the elements of a tensor are read one place off
 *
 * The seed chooses the node; faults that change no result at all are drawn anew. */
#include <math.h>

#include "fuzz.h"
#include "graph/graph.h"
#include "ops/make.h"
#include "ops/number.h"
#include "ops/op.h"

enum { TRIES = 24 };

typedef enum FaultKind { FAULT_CONSTANT, FAULT_TERM, FAULT_PLACE, FAULT_KIND_COUNT } FaultKind;

static uint64_t draw(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

/* ---- one node with a mistake ---- */

static void spoil_constant(Node *node) {
  for (int i = 0; i < node->attribute_count; i++) {
    Attribute *attribute = &node->attributes[i];
    if (attribute->key != ATTR_VALUE) continue;
    double value = attribute->real;
    attribute->real = number_round(value == 0 ? 0x1p-6 : value * (1 + 0x1p-6), node->type.dtype);
  }
}

/* The elements of `a` from `start` to before `stop` along one axis. */
static Node *cut(const Maker *maker, Node *a, int axis, int64_t start, int64_t stop) {
  Shape shape = a->type.shape;
  int64_t low[MAX_RANK] = {0}, high[MAX_RANK], step[MAX_RANK];
  for (int i = 0; i < shape.rank; i++) {
    high[i] = shape.dim[i];
    step[i] = 1;
  }
  low[axis] = start;
  high[axis] = stop;
  return make_slice(maker, a, low, high, step);
}

/* The first axis of more than one element that the node sums over, or -1. */
static int summed_axis(const Node *node) {
  bool is_contraction = node->op == OP_CONTRACT;
  const Attribute *axes = node_attribute(node, is_contraction ? ATTR_SUM_LEFT : ATTR_AXES);
  Shape shape = node->operands[0]->type.shape;
  for (int i = 0; i < axes->count; i++)
    if (shape.dim[axes->ints[i]] > 1) return is_contraction ? i : (int)axes->ints[i];
  return -1;
}

static Node *without_term(const Maker *maker, Node *node) {
  if (node->op == OP_ADD) return node->operands[0];
  int axis = summed_axis(node);
  if (axis < 0) return NULL;
  Node model = *node, *operands[2];
  model.operands = operands;
  for (int i = 0; i < node->operand_count; i++) {
    AttributeKey side = i == 0 ? ATTR_SUM_LEFT : ATTR_SUM_RIGHT;
    int own = node->op == OP_CONTRACT ? (int)node_ints(node, side)->ints[axis] : axis;
    Node *a = node->operands[i];
    operands[i] = cut(maker, a, own, 0, a->type.shape.dim[own] - 1);
  }
  return graph_add(maker->graph, &model);
}

static Node *one_place_off(const Maker *maker, Node *node) {
  int axis = node->type.shape.rank - 1;
  if (axis < 0 || node->type.shape.dim[axis] < 2) return NULL;
  int64_t extent = node->type.shape.dim[axis];
  Node *rest = cut(maker, node, axis, 1, extent);
  Node *last = cut(maker, node, axis, extent - 1, extent);
  return make_concat(maker, 2, (Node *[]){rest, last}, axis);
}

static bool may_have(const Node *node, FaultKind kind) {
  if (!dtype_is_float(node->type.dtype) || op_info(node->op)->class->leaf == LEAF_SCALAR)
    return false;
  bool sums = node->op == OP_ADD || node->op == OP_REDUCE_SUM || node->op == OP_REDUCE_MEAN ||
              node->op == OP_CONTRACT;
  if (kind == FAULT_CONSTANT) return node->op == OP_CONSTANT;
  return kind == FAULT_TERM ? sums : node->type.shape.rank > 0;
}

/* NULL where the node is too small to have it. */
static Node *spoiled(const Maker *maker, Node *node, FaultKind kind) {
  if (kind == FAULT_TERM) return without_term(maker, node);
  if (kind == FAULT_PLACE) return one_place_off(maker, node);
  spoil_constant(node);
  return node;
}

/* ---- a case with a mistake ---- */

static const Node *pick_node(Arena *arena, const Graph *graph, FaultKind kind, uint64_t *state) {
  const bool *live = graph_live_nodes(arena, graph);
  const Node *picked = NULL;
  uint64_t count = 0;
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (live[node->id] && may_have(node, kind) && draw(state) % ++count == 0) picked = node;
  }
  return picked;
}

/* A copy of the graph in which the node is spoiled; NULL where it cannot be. */
static Graph *graph_with_fault(Arena *arena, const Graph *graph, const Node *at, FaultKind kind) {
  Graph *into = graph_create(arena, graph->name);
  NodeMap map = node_map_create(arena, graph);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    Node *copy = graph_copy_node(into, node, &map);
    Maker maker = {into, node->span, node->path};
    if (node == at) copy = spoiled(&maker, copy, kind);
    if (!copy) return NULL;
    node_map_set(&map, node, copy);
  }
  graph_map_outputs(into, graph, &map);
  return into;
}

static bool is_same_bits(const Expected *a, const Expected *b) {
  for (int64_t i = 0; i < shape_elements(a->value->type.shape); i++) {
    double x = a->value->data[i], y = b->value->data[i];
    if (x != y && !(isnan(x) && isnan(y))) return false;
  }
  return true;
}

static bool has_effect(const Case *test, const Reference *sound, const Reference *wrong) {
  for (int step = 0; step < test->steps; step++)
    for (int i = 0; i < sound->output_count; i++)
      if (!is_same_bits(&sound->outputs[step][i], &wrong->outputs[step][i])) return true;
  return false;
}

bool fault_create(Arena *arena, const Case *test, const Reference *reference, Fault *fault) {
  static const char *const names[] = {"a wrong constant", "a sum without a term",
                                      "elements one place off"};
  const Graph *train = reference->module->entries[ENTRY_TRAIN];
  uint64_t state = test->seed * 0x9E3779B97F4A7C15u + 1;
  for (int i = 0; i < TRIES; i++) {
    FaultKind kind = (FaultKind)((test->seed + (uint64_t)i) % FAULT_KIND_COUNT);
    const Node *at = pick_node(arena, train, kind, &state);
    Graph *wrong = at ? graph_with_fault(arena, train, at, kind) : NULL;
    if (!wrong) continue;
    fault->test = *test;
    fault->test.module = module_copy(arena, reference->module);
    fault->test.module->entries[ENTRY_TRAIN] = wrong;
    fault->values = reference_create(arena, &fault->test);
    fault->text =
        arena_printf(arena, "%s: %%%d, a %s of %s", names[kind], at->id, op_name(at->op), at->path);
    if (has_effect(test, reference, fault->values)) return true;
  }
  return false;
}

const char *judge_values(Arena *arena, const Case *test, const Reference *reference,
                         const Reference *given) {
  Precision precision = case_is_in_own_types(test) ? PRECISION_OWN : PRECISION_DOUBLE;
  const char *text = NULL;
  for (int step = 0; step < test->steps && !text; step++) {
    for (int i = 0; i < reference->output_count && !text; i++)
      text = expected_differs(arena, &reference->outputs[step][i],
                              given->outputs[step][i].value->data, precision);
    for (int i = 0; i < test->start.count && !text; i++)
      text = expected_differs(arena, &reference->variables[step][i],
                              given->variables[step][i].value->data, precision);
  }
  return text;
}
