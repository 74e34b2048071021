/* Counterparts: which node of a program with a batch of one computes what a node of the program does.
 *
 * Both graphs are visited from the roots down, operand by operand, while their operators agree. With a
 * batch of one some reshapes and broadcasts are not there, or are others; they are stepped over. */
#include "ops/flow.h"
#include "ops/op.h"

static bool is_simple_movement(const Node *node) {
  return op_info(node->op)->class->family == FAMILY_MOVEMENT && node->operand_count == 1;
}

/* `other` computes what `node` does; one that agrees in the operator is not replaced. */
static void pair(const Node **single, const Node *node, const Node *other) {
  const Node *known = single[node->id];
  if (!known || known->op != node->op) single[node->id] = other;
}

static void pair_operands(const Node **single, const Node *node, const Node *other) {
  while (other->op != node->op && is_simple_movement(other)) other = other->operands[0];
  if (other->op != node->op) {
    if (is_simple_movement(node)) pair(single, node->operands[0], other);
    return;
  }
  /* Of other extents it keeps the counterpart that it was paired with. */
  if (other->type.shape.rank == node->type.shape.rank ||
      single[node->id]->type.shape.rank != node->type.shape.rank)
    single[node->id] = other;
  for (int k = 0; k < node->operand_count && node->operand_count == other->operand_count; k++)
    pair(single, node->operands[k], other->operands[k]);
}

const Node **counterparts_find(Arena *arena, const Graph *graph, int count, Node *const *roots,
                               Node *const *single_roots) {
  const Node **single = ARENA_ARRAY(arena, const Node *, graph->next_id + 1);
  for (int i = 0; i < count; i++) pair(single, roots[i], single_roots[i]);
  for (int i = graph->nodes.count - 1; i >= 0; i--) {
    const Node *node = graph->nodes.items[i];
    if (single[node->id]) pair_operands(single, node, single[node->id]);
  }
  return single;
}
