/* expand: operators that exist for the reader's and the metrics' convenience become those that
 * have kernels: a mean is a sum times 1 / n, a value with a gradient of its own that value. So do
 * operators whose kernels the target lacks (OpClass.expand, or as parts of others OpClass.part).
 *
 * Runs after differentiation, so that gradients are those of the operator as written. Requires
 * that no gradient is left; afterwards none of the expanded operators is, in bodies of scans
 * neither. */
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "passes/rules/rules.h"

static Node *expand_for(const Target *target, const Maker *maker, const Node *node,
                        const NodeMap *map) {
  if (node_has_kernel(node, target)) return rules_expand(maker, node, map);
  Node **operands = ARENA_ARRAY(maker->graph->arena, Node *, node->operand_count);
  for (int i = 0; i < node->operand_count; i++) operands[i] = node_map_get(map, node->operands[i]);
  const OpClass *class = op_info(node->op)->class;
  bool is_part = class->part && target && target->kernels[class->whole];
  return is_part ? class->part(maker, node, operands) : class->expand(maker, node, operands);
}

static Graph *expand_graph(const Graph *graph, const Target *target) {
  Graph *into = rewrite_start(graph);
  NodeMap map = node_map_create(graph->arena, graph);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    Maker maker = {into, node->span, node->path};
    Node *expanded = expand_for(target, &maker, node, &map);
    if (!expanded) expanded = graph_copy_node(into, node, &map);
    if (node->body) expanded->body = expand_graph(node->body, target);
    node_map_set(&map, node, expanded);
  }
  graph_map_outputs(into, graph, &map);
  return into;
}

void pass_expand(Module *module, Diagnostics *diagnostics) {
  for (int i = 0; i < ENTRY_COUNT; i++)
    if (module->entries[i]) module->entries[i] = expand_graph(module->entries[i], module->target);
}
