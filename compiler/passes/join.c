/* join: in entries that do not train, several operations by channel that follow a product become one product and one
 * sum (rules/affine.c): a batch normalization by its running statistics.
 *
 * Entries that train keep them, since their statistics follow from the values themselves and their gradients read what
 * lies between. Runs after simplify2, which removes what does nothing, and before cse, which finds equal vectors. */
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "passes/rules/rules.h"

static bool only_reads(EntryKind entry) {
  return entry == ENTRY_EVAL || entry == ENTRY_EVAL_ONE || entry == ENTRY_PREDICT ||
         entry == ENTRY_PREDICT_BATCH || entry == ENTRY_GENERATE;
}

static Graph *join_graph(const Graph *graph) {
  Graph *into = rewrite_start(graph);
  NodeMap map = node_map_create(graph->arena, graph);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    Maker maker = {into, node->span, node->path};
    Node *copy = graph_copy_node(into, node, &map);
    if (node->body) copy->body = join_graph(node->body);
    Node *joined = rules_join_affine(&maker, copy);
    node_map_set(&map, node, joined ? joined : copy);
  }
  graph_map_outputs(into, graph, &map);
  return into;
}

void pass_join(Module *module, Diagnostics *diagnostics) {
  for (int i = 0; i < ENTRY_COUNT; i++)
    if (module->entries[i] && only_reads((EntryKind)i))
      module->entries[i] = join_graph(module->entries[i]);
}
