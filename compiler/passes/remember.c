/* remember: the forward part notes down, in a byte, what the gradient would else find out from values that had to
 * stay for it.
 *
 * That is the place of the maximum in each window of a max pooling. Where gradients read what was pooled for something
 * else too, it stays anyway, and they find the maxima in it as before.
 *
 * A mask, such as where a ReLU let values through, is a byte an element that would stay too. Where the values are a part
 * of joined ones that stay anyway, the gradients compare these instead.
 *
 * Requires that equal nodes are one and dead ones gone: a dead reader is taken for one; breaks nothing. */
#include "ops/op.h"
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "passes/rules/rules.h"
#include "support/panic.h"

enum { MOST_MASK_OPERANDS = 4, MOST_STEPS = 8 };

typedef VEC(const Node *) NodeList;

typedef struct Memory {
  const bool *is_forward;
  const Node **base; /* by id: whose memory holds the value */
  bool *is_read;     /* by id of a base: gradients need it for more than its maxima ... */
  bool *is_kept;     /* ... and for more than masks */
  const Node *
      *whole; /* by id: what joins it with others in the forward part, and is kept, or NULL */
} Memory;

/* A part of the gradients that needs operand 0 for its maxima alone. */
static bool is_adjoint(const Memory *memory, const Node *node) {
  return !memory->is_forward[node->id] && rules_needs_maxima(node);
}

static bool is_mask(const Node *node) {
  return op_is_elementwise(node->op) && node->type.dtype == DTYPE_BOOL;
}

/* Leaves are in memory anyway, or nowhere. */
static void look_at(Memory *memory, const Node *node) {
  memory->base[node->id] = op_is_view(node) ? memory->base[node->operands[0]->id] : node;
  if (node->operand_count == 0) memory->is_read[node->id] = true;
  if (memory->is_forward[node->id]) return;
  for (int k = is_adjoint(memory, node); k < node->operand_count; k++) {
    int base = memory->base[node->operands[k]->id]->id;
    memory->is_read[base] = true;
    if (!is_mask(node)) memory->is_kept[base] = true;
  }
}

static Memory look_at_all(const Graph *graph) {
  Memory memory = {.is_forward = op_forward_nodes(graph->arena, graph),
                   .base = ARENA_ARRAY(graph->arena, const Node *, graph->next_id),
                   .is_read = ARENA_ARRAY(graph->arena, bool, graph->next_id),
                   .is_kept = ARENA_ARRAY(graph->arena, bool, graph->next_id),
                   .whole = ARENA_ARRAY(graph->arena, const Node *, graph->next_id)};
  for (int i = 0; i < graph->nodes.count; i++) look_at(&memory, graph->nodes.items[i]);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    bool joins = memory.is_forward[node->id] && memory.is_kept[node->id] && op_joins_parts(node);
    for (int k = 0; joins && k < node->operand_count; k++)
      if (!memory.whole[node->operands[k]->id]) memory.whole[node->operands[k]->id] = node;
  }
  return memory;
}

/* The adjoints for which nothing but maxima is needed of what was pooled. */
static NodeList find_adjoints(const Graph *graph, const Memory *memory) {
  NodeList adjoints = {0};
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (is_adjoint(memory, node) && !memory->is_read[memory->base[node->operands[0]->id]->id])
      vec_push(graph->arena, &adjoints, node);
  }
  return adjoints;
}

/* Whether arithmetic makes the value of what stays, so that gradients can make it, and its mask, once more. */
static bool is_made_of_kept(const Memory *memory, const Node *node, int most) {
  const Node *base = memory->base[node->id];
  if (base->operand_count == 0) return false; /* a parameter, a constant */
  if (memory->is_kept[base->id] || most == 0) return true;
  bool is_map = op_is_elementwise(node->op) || op_is_view(node);
  for (int k = 0; is_map && k < node->operand_count; k++)
    if (is_made_of_kept(memory, node->operands[k], most - 1)) return true;
  return false;
}

/* The copy of a mask compares a part of what stays instead of the part by itself. */
static Node *copy_mask(const Memory *memory, const Maker *maker, const Node *node,
                       const NodeMap *map) {
  Node *slices[MOST_MASK_OPERANDS] = {NULL};
  CHECK(node->operand_count <= MOST_MASK_OPERANDS);
  for (int k = 0; k < node->operand_count; k++) {
    const Node *part = node->operands[k], *whole = memory->whole[part->id];
    Node *joined = whole ? node_map_get(map, whole) : NULL; /* NULL, too, where it comes later */
    if (!joined || is_made_of_kept(memory, part, MOST_STEPS)) continue;
    slices[k] = rules_slice_of_part(maker, joined, node_map_get(map, part));
  }
  Node *copy = graph_copy_node(maker->graph, node, map);
  for (int k = 0; k < node->operand_count; k++)
    if (slices[k]) copy->operands[k] = slices[k];
  return copy;
}

static Graph *remember(const Graph *graph) {
  const Memory memory = look_at_all(graph);
  const bool *is_forward = memory.is_forward;
  const NodeList adjoints = find_adjoints(graph, &memory);
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
    } else if (!is_forward[node->id] && is_mask(node)) {
      copy = copy_mask(&memory, &maker, node, &map);
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
