/* Dilated convolutions become those of their phases where the target's filtering gains by these (ops/dilated.h): before task
 * loops, pieces and layouts are decided for them. */
#include "program/prepare.h"
#include "program/stages.h"

#include "ops/dilated.h"

static Node *of_phases(const Lowering *lowering, Graph *copy, const Node *node,
                       const NodeMap *map) {
  Maker maker = {copy, node->span, node->path};
  Node *operands[2];
  if (node->operand_count != 2) return NULL;
  for (int i = 0; i < 2; i++) operands[i] = node_map_get(map, node->operands[i]);
  return make_of_phases(&maker, lowering->program->target, node, operands);
}

void stage_phases(Lowering *lowering) {
  if (lowering->module->run.splits_products)
    return; /* products of units are faster than the filtering */
  const Graph *graph = lowering->graph;
  Graph *copy = graph_create(lowering->arena, graph->name);
  NodeMap map = node_map_create(lowering->arena, graph);
  bool is_changed = false;
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    Node *made = of_phases(lowering, copy, node, &map);
    is_changed = is_changed || made;
    node_map_set(&map, node, made ? made : graph_copy_node(copy, node, &map));
  }
  if (!is_changed) return;
  graph_copy_outputs(copy, graph, &map, NULL);
  lowering->graph = copy;
}
