/* recognize: attention that a program writes out with products and a softmax becomes the
 * operator, where the target has kernels for it; otherwise nothing changes.
 *
 * In 16 bits or tf32 products have tensor cores: attention whose kernels have none stays as it is.
 *
 * Runs before differentiation, so that the gradient is the operator's, and after simplify, whose
 * forms it knows. Bodies of scans stay as they are. */
#include "ops/op.h"
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "passes/rules/rules.h"

static Graph *recognize(const Graph *graph, const Module *module) {
  Graph *into = rewrite_start(graph);
  NodeMap map = node_map_create(graph->arena, graph);
  const int *uses = graph_use_counts(graph->arena, graph);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    Maker maker = {into, node->span, node->path};
    Node *recognized = rules_recognize_attention(&maker, node, &map, uses, module);
    node_map_set(&map, node, recognized ? recognized : graph_copy_node(into, node, &map));
  }
  graph_map_outputs(into, graph, &map);
  return into;
}

void pass_recognize(Module *module, Diagnostics *diagnostics) {
  if (!op_attention_has_kernels(module->target)) return;
  for (int i = 0; i < ENTRY_COUNT; i++)
    if (module->entries[i]) module->entries[i] = recognize(module->entries[i], module);
}
