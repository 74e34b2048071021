/* remember: the forward part notes down, in a byte, what the gradient would else find out from values that had to
 * stay for it.
 *
 * That is the place of the maximum in each window of a max pooling. Where gradients read what was pooled for something
 * else too, it stays anyway, and they find the maxima in it as before.
 *
 * Requires that equal nodes are one and dead ones gone: a dead reader is taken for one; breaks nothing. */
#include "ops/op.h"
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "passes/rules/rules.h"

typedef VEC(const Node *) NodeList;

typedef struct Memory {
  const bool *is_forward;
  const Node **base; /* by id: whose memory holds the value */
  bool *is_read;     /* by id of a base: gradients need it for more than its maxima */
} Memory;

static bool is_view(const Node *node) {
  const OpClass *class = op_info(node->op)->class;
  return class->family == FAMILY_MOVEMENT && class->moves_values && node->operand_count == 1;
}

/* A part of the gradients that needs operand 0 for its maxima alone. */
static bool is_adjoint(const Memory *memory, const Node *node) {
  return !memory->is_forward[node->id] && rules_needs_maxima(node);
}

/* Leaves are in memory anyway, or nowhere. */
static void look_at(Memory *memory, const Node *node) {
  memory->base[node->id] = is_view(node) ? memory->base[node->operands[0]->id] : node;
  if (node->operand_count == 0) memory->is_read[node->id] = true;
  if (memory->is_forward[node->id]) return;
  for (int k = is_adjoint(memory, node); k < node->operand_count; k++)
    memory->is_read[memory->base[node->operands[k]->id]->id] = true;
}

/* The adjoints for which nothing but maxima is needed of what was pooled. */
static NodeList find_adjoints(const Graph *graph, const bool *is_forward) {
  Memory memory = {.is_forward = is_forward,
                   .base = ARENA_ARRAY(graph->arena, const Node *, graph->next_id),
                   .is_read = ARENA_ARRAY(graph->arena, bool, graph->next_id)};
  NodeList adjoints = {0};
  for (int i = 0; i < graph->nodes.count; i++) look_at(&memory, graph->nodes.items[i]);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (is_adjoint(&memory, node) && !memory.is_read[memory.base[node->operands[0]->id]->id])
      vec_push(graph->arena, &adjoints, node);
  }
  return adjoints;
}

static Graph *remember(const Graph *graph) {
  const bool *is_forward = op_forward_nodes(graph->arena, graph);
  const NodeList adjoints = find_adjoints(graph, is_forward);
  Graph *into = rewrite_start(graph);
  NodeMap map = node_map_create(graph->arena, graph);
  Node **places = ARENA_ARRAY(graph->arena, Node *, graph->next_id); /* by id of an adjoint */
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    Maker maker = {into, node->span, node->path};
    Node *copy, *noted = NULL;
    if (places[node->id]) {
      Node *dy = node_map_get(&map, node->operands[1]);
      copy = rules_adjoint_by_places(&maker, node, places[node->id], dy);
    } else {
      copy = graph_copy_node(into, node, &map);
    }
    node_map_set(&map, node, copy);
    for (int k = 0; is_forward[node->id] && k < adjoints.count; k++) {
      if (!rules_finds_maxima(node, adjoints.items[k])) continue;
      if (!noted) noted = rules_make_places(&maker, copy);
      places[adjoints.items[k]->id] = noted;
    }
  }
  graph_map_outputs(into, graph, &map);
  return into;
}

void pass_remember(Module *module, Diagnostics *diagnostics) {
  static const EntryKind entries[] = {ENTRY_TRAIN, ENTRY_ACCUMULATE};
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    Graph **graph = &module->entries[entries[i]];
    if (*graph) *graph = remember(*graph);
  }
}
