/* Follows an input through casts and movement to the operators that use it as an index. */
#include "ops/limits.h"

#include <string.h>
#include "ops/op.h"

/* Values pass unchanged: movement of whole elements, and conversions between integers. */
static bool keeps_values(const Node *node)
{
  if (op_info(node->op)->class->family == FAMILY_MOVEMENT) return true;
  return node->op == OP_CAST && dtype_is_int(node->type.dtype);
}

int64_t graph_input_limit(Arena *arena, const Graph *graph, const char *input)
{
  bool *carries = ARENA_ARRAY(arena, bool, graph->next_id);
  int64_t limit = 0;
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (node->op == OP_INPUT) carries[node->id] = !strcmp(node_string(node, ATTR_NAME), input);
    const OpClass *class = op_info(node->op)->class;
    for (int k = 0; k < node->operand_count; k++) {
      if (!carries[node->operands[k]->id]) continue;
      int64_t bound = class->index_bound ? class->index_bound(node, k) : 0;
      if (bound > 0 && (limit == 0 || bound < limit)) limit = bound;
      if (keeps_values(node)) carries[node->id] = true;
    }
  }
  return limit;
}
