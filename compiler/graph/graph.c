/* Graphs: building nodes, copying them into another graph, liveness and use counts.
 *
 * A graph only grows.  A pass that changes something copies what it keeps into a fresh graph, with
 * a NodeMap from old to new; so the topological order is kept by construction and ids stay
 * compact. */
#include "graph/graph.h"

#include "ops/op.h"
#include "support/names.h"
#include "support/panic.h"

Graph *graph_create(Arena *arena, const char *name) {
  Graph *graph = ARENA_NEW(arena, Graph);
  graph->arena = arena;
  graph->name = name_intern(name);
  return graph;
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

static Node *node_create(Graph *graph, Op op, int operand_count, Node *const *operands,
                         int attribute_count, const Attribute *attributes, Span span,
                         const char *path) {
  CHECK(path != NULL);
  Arena *arena = graph->arena;
  Node *node = ARENA_NEW(arena, Node);
  node->op = op;
  node->operand_count = operand_count;
  node->operands = ARENA_ARRAY(arena, Node *, operand_count);
  for (int i = 0; i < operand_count; i++) {
    CHECK(operands[i] != NULL);
    node->operands[i] = operands[i];
  }
  node->attribute_count = attribute_count;
  node->attributes = attributes_copy(arena, attribute_count, attributes);
  node->span = span;
  node->path = name_intern(path);
  return node;
}

static Node *graph_append(Graph *graph, Node *node) {
  node->id = graph->next_id++;
  vec_push(graph->arena, &graph->nodes, node);
  return node;
}

Node *graph_add(Graph *graph, Op op, int operand_count, Node *const *operands, int attribute_count,
                const Attribute *attributes, Span span, const char *path) {
  const OpInfo *info = op_info(op);
  Node *node =
      node_create(graph, op, operand_count, operands, attribute_count, attributes, span, path);
  if (operand_count < info->least_operands ||
      (info->most_operands >= 0 && operand_count > info->most_operands))
    panic("%s (%s) is built with %d operands", info->name, path, operand_count);
  const char *reason = "no reason given";
  if (!info->class->infer(graph->arena, node, &node->type, &reason))
    panic("%s (%s) in graph %s cannot be built: %s", info->name, path, graph->name, reason);
  return graph_append(graph, node);
}

Node *graph_add_typed(Graph *graph, Op op, Type type, int operand_count, Node *const *operands,
                      int attribute_count, const Attribute *attributes, Span span,
                      const char *path) {
  Node *node =
      node_create(graph, op, operand_count, operands, attribute_count, attributes, span, path);
  node->type = type;
  return graph_append(graph, node);
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
  Node *copy = graph_add_typed(into, node->op, node->type, node->operand_count, operands,
                               node->attribute_count, node->attributes, node->span, node->path);
  copy->body = node->body;
  copy->rule = node->rule;
  return copy;
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
