/* Graphs: building nodes, copying them into another graph, liveness and use counts.
 *
 * A graph only grows.  A pass that changes something copies what it keeps into a fresh graph, with
 * a NodeMap from old to new; so the topological order is kept by construction and ids stay
 * compact. */
#include "graph/graph.h"

#include <string.h>
#include "support/names.h"
#include "support/panic.h"

Graph *graph_create(Arena *arena, const char *name) {
  Graph *graph = ARENA_NEW(arena, Graph);
  graph->arena = arena;
  graph->name = name_intern(name);
  return graph;
}

/* ---- the names of operators --------------------------------------------------------------- */

static const char *const operator_names[OP_COUNT] = {
#define OP(identifier, name, ...) [OP_##identifier] = name,
#include "ops/ops.def"
#undef OP
};

const char *op_name(Op op) {
  if ((unsigned)op >= OP_COUNT) panic("there is no operator number %d", (int)op);
  return operator_names[op];
}

bool op_parse(const char *name, Op *op) {
  for (int i = 0; i < OP_COUNT; i++) {
    if (strcmp(operator_names[i], name) != 0) continue;
    *op = (Op)i;
    return true;
  }
  return false;
}

/* ---- nodes -------------------------------------------------------------------------------- */

/* Attributes with their arrays, in the order of their keys (insertion: there are a handful). */
static Attribute *attributes_copy(Arena *arena, int count, const Attribute *attributes) {
  Attribute *copy = ARENA_ARRAY(arena, Attribute, count);
  for (int i = 0; i < count; i++) {
    Attribute attribute = attributes[i];
    if (attribute_kind(attribute.key) == ATTRIBUTE_INTS)
      attribute.ints =
          arena_copy(arena, attribute.ints, sizeof *attribute.ints * (size_t)attribute.count);
    int at = i;
    for (; at > 0 && copy[at - 1].key > attribute.key; at--) copy[at] = copy[at - 1];
    copy[at] = attribute;
  }
  return copy;
}

Node *graph_add(Graph *graph, const Node *model) {
  CHECK(model->path != NULL);
  Arena *arena = graph->arena;
  Node *node = ARENA_NEW(arena, Node);
  *node = *model;
  node->id = graph->next_id++;
  for (int i = 0; i < node->operand_count; i++) CHECK(node->operands[i] != NULL);
  node->operands =
      arena_copy(arena, node->operands, sizeof *node->operands * (size_t)node->operand_count);
  node->attributes = attributes_copy(arena, node->attribute_count, node->attributes);
  const Node *before = graph->nodes.count > 0 ? graph->nodes.items[graph->nodes.count - 1] : NULL;
  bool is_interned = before && before->path == node->path; /* most nodes: of one statement */
  if (!is_interned) node->path = name_intern(node->path);
  vec_push(arena, &graph->nodes, node);
  return node;
}

/* ---- outputs ------------------------------------------------------------------------------ */

void graph_add_output(Graph *graph, Output output) {
  CHECK(output.node != NULL && output.name != NULL);
  output.name = name_intern(output.name);
  vec_push(graph->arena, &graph->outputs, output);
}

Output *graph_find_output(Graph *graph, OutputKind kind, const char *name) {
  const char *interned = name_intern(name);
  for (int i = 0; i < graph->outputs.count; i++) {
    Output *output = &graph->outputs.items[i];
    if (output->kind == kind && output->name == interned) return output;
  }
  return NULL;
}

/* ---- rewriting ---------------------------------------------------------------------------- */

NodeMap node_map_create(Arena *arena, const Graph *graph) {
  return (NodeMap){.to = ARENA_ARRAY(arena, Node *, graph->next_id), .capacity = graph->next_id};
}

Node *node_map_get(const NodeMap *map, const Node *node) {
  return node->id < map->capacity ? map->to[node->id] : NULL;
}

void node_map_set(NodeMap *map, const Node *node, Node *to) {
  if (node->id >= map->capacity)
    panic("node %%%d (%s) was added after its map was made", node->id, node->path);
  map->to[node->id] = to;
}

Node *graph_copy_node(Graph *into, const Node *node, const NodeMap *map) {
  Node **operands = ARENA_ARRAY(into->arena, Node *, node->operand_count);
  for (int i = 0; i < node->operand_count; i++) {
    operands[i] = node_map_get(map, node->operands[i]);
    if (!operands[i])
      panic("node %%%d (%s) is copied before its operand %%%d", node->id, node->path,
            node->operands[i]->id);
  }
  Node model = *node;
  model.operands = operands;
  return graph_add(into, &model);
}

/* Depth first with a stack of its own: graphs are deep where programs are long. */
Node *graph_copy_tree(Graph *into, Node *node, NodeMap *map) {
  VEC(Node *) stack = {0};
  vec_push(into->arena, &stack, node);
  while (stack.count > 0) {
    Node *top = stack.items[stack.count - 1];
    if (node_map_get(map, top)) {
      stack.count--;
      continue;
    }
    int before = stack.count;
    for (int i = top->operand_count - 1; i >= 0; i--)
      if (!node_map_get(map, top->operands[i])) vec_push(into->arena, &stack, top->operands[i]);
    if (stack.count > before) continue;
    node_map_set(map, top, graph_copy_node(into, top, map));
    stack.count--;
  }
  return node_map_get(map, node);
}

void graph_map_outputs(Graph *into, const Graph *from, const NodeMap *map) {
  for (int i = 0; i < from->outputs.count; i++) {
    Output output = from->outputs.items[i];
    output.node = node_map_get(map, output.node);
    if (!output.node) panic("output \"%s\" of %s lost its node", output.name, from->name);
    graph_add_output(into, output);
  }
}

/* ---- analyses ----------------------------------------------------------------------------- */

bool *graph_live_nodes(Arena *arena, const Graph *graph) {
  bool *live = ARENA_ARRAY(arena, bool, graph->next_id);
  for (int i = 0; i < graph->outputs.count; i++) live[graph->outputs.items[i].node->id] = true;
  for (int i = graph->nodes.count - 1; i >= 0; i--) {
    const Node *node = graph->nodes.items[i];
    if (!live[node->id]) continue;
    for (int k = 0; k < node->operand_count; k++) live[node->operands[k]->id] = true;
  }
  return live;
}

bool *graph_forward_nodes(Arena *arena, const Graph *graph) {
  bool *is_forward = ARENA_ARRAY(arena, bool, graph->next_id);
  for (int i = 0; i < graph->outputs.count; i++)
    if (graph->outputs.items[i].kind == OUTPUT_ACCUMULATOR &&
        graph->outputs.items[i].combine != COMBINE_STEPS)
      is_forward[graph->outputs.items[i].node->id] = true;
  for (int i = graph->nodes.count - 1; i >= 0; i--) {
    const Node *node = graph->nodes.items[i];
    for (int k = 0; is_forward[node->id] && k < node->operand_count; k++)
      is_forward[node->operands[k]->id] = true;
  }
  return is_forward;
}

int *graph_use_counts(Arena *arena, const Graph *graph) {
  const bool *live = graph_live_nodes(arena, graph);
  int *uses = ARENA_ARRAY(arena, int, graph->next_id);
  for (int i = 0; i < graph->outputs.count; i++) uses[graph->outputs.items[i].node->id]++;
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (!live[node->id]) continue;
    for (int k = 0; k < node->operand_count; k++) uses[node->operands[k]->id]++;
  }
  return uses;
}
