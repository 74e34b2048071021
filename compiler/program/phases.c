/* Convolutions in other forms, before task loops, pieces and layouts are decided for them: dilated ones become those of their
 * phases where the target's filtering gains by these (ops/dilated.h), and those to few channels a product and a sum of its
 * parts (ops/few_channels.h). */
#include "program/prepare.h"
#include "program/stages.h"

#include "ops/dilated.h"
#include "ops/few_channels.h"

static Node *other_form(const Lowering *lowering, Graph *copy, const Node *node, const NodeMap *map,
                        FewWindowsList *windows) {
  Maker maker = {copy, node->span, node->path};
  Node *operands[2];
  if (node->operand_count != 2) return NULL;
  for (int i = 0; i < 2; i++) operands[i] = node_map_get(map, node->operands[i]);
  const Target *target = lowering->program->target;
  Node *made = make_for_few_channels(&maker, target, node, operands, windows);
  /* Products of units are faster than the filtering. */
  return made || lowering->module->run.splits_products
             ? made
             : make_of_phases(&maker, target, node, operands);
}

void stage_phases(Lowering *lowering) {
  const Graph *graph = lowering->graph;
  Graph *copy = graph_create(lowering->arena, graph->name);
  NodeMap map = node_map_create(lowering->arena, graph);
  bool is_changed = false;
  FewWindowsList windows = {0};
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    Node *made = other_form(lowering, copy, node, &map, &windows);
    is_changed = is_changed || made;
    node_map_set(&map, node, made ? made : graph_copy_node(copy, node, &map));
  }
  if (!is_changed) return;
  graph_copy_outputs(copy, graph, &map, NULL);
  lowering->graph = copy;
}
