/* expand: operators that exist for the reader's and the metrics' convenience become those that
 * have kernels: a mean is a sum times 1 / n, a value with a gradient of its own that value.
 *
 * Runs after differentiation, so that gradients are those of the operator as written. Requires
 * that no gradient is left; afterwards none of the expanded operators is, in bodies of scans
 * neither. */
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "passes/rules/rules.h"

static Graph *expand_graph(const Graph *graph) {
  Graph *into = rewrite_start(graph);
  NodeMap map = node_map_create(graph->arena, graph);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    Maker maker = {into, node->span, node->path};
    Node *expanded = rules_expand(&maker, node, &map);
    if (!expanded) expanded = graph_copy_node(into, node, &map);
    if (node->body) expanded->body = expand_graph(node->body);
    node_map_set(&map, node, expanded);
  }
  graph_map_outputs(into, graph, &map);
  return into;
}

void pass_expand(Module *module, Diagnostics *diagnostics) {
  rewrite_entries(module, expand_graph);
}
