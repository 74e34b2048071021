/* split: where convolutions read joined channels, and gradients read the adjoint of these part by part, each part is
 * a convolution of its own (rules/parts.c). So the adjoint of the whole is nowhere in memory, and a part need not be
 * there before it is wanted.
 *
 * Requires that equal nodes are one and dead ones gone: a dead reader is taken for one; breaks nothing. */
#include "ops/op.h"
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "passes/rules/rules.h"

/* By id: how many nodes read a part of the node; -1: something reads it otherwise. */
static int *count_parts(const Graph *graph) {
  int *parts = ARENA_ARRAY(graph->arena, int, graph->next_id);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    for (int k = 0; k < node->operand_count; k++) {
      int *own = &parts[node->operands[k]->id];
      *own = *own >= 0 && rules_takes_part(node) ? *own + 1 : -1;
    }
  }
  for (int i = 0; i < graph->outputs.count; i++) parts[graph->outputs.items[i].node->id] = -1;
  return parts;
}

static Graph *split(const Graph *graph) {
  const int *parts = count_parts(graph);
  Graph *into = rewrite_start(graph);
  NodeMap map = node_map_create(graph->arena, graph);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    Maker maker = {into, node->span, node->path};
    const Node *whole = rules_takes_part(node) ? node->operands[0] : NULL;
    bool splits = whole && rules_gains_by_parts(whole, parts[whole->id]);
    node_map_set(&map, node,
                 splits ? rules_make_part(&maker, node, &map) : graph_copy_node(into, node, &map));
  }
  graph_map_outputs(into, graph, &map);
  return into;
}

void pass_split(Module *module, Diagnostics *diagnostics) {
  static const EntryKind entries[] = {ENTRY_TRAIN, ENTRY_ACCUMULATE};
  if (!op_values_are_remade(module->target)) return;
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    Graph **graph = &module->entries[entries[i]];
    if (*graph) *graph = split(*graph);
  }
}
