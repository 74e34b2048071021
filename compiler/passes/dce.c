/* dce: nodes that no output needs disappear, and ids become compact.
 *
 * Requires nothing; breaks nothing. */
#include "passes/pass.h"
#include "passes/rewrite.h"

static Graph *keep_live(const Graph *graph) {
  Graph *into = rewrite_start(graph);
  NodeMap map = node_map_create(graph->arena, graph);
  const bool *live = graph_live_nodes(graph->arena, graph);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (live[node->id]) node_map_set(&map, node, graph_copy_node(into, node, &map));
  }
  rewrite_outputs(into, graph, &map);
  return into;
}

void pass_dce(Module *module, Diagnostics *diagnostics) {
  (void)diagnostics;
  rewrite_entries(module, keep_live);
}
