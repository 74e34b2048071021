/* The sum over the steps of a scan: see sum_steps.h.
 *
 * A step's part of a weight gradient is a contraction of two values of the step; the sum of all of
 * them is one contraction in which the steps are a further summed axis. Likewise a sum over axes,
 * and what is linear in one of these: a padding by zeros is, the adjoint of a slice of a weight. */
#include "ops/sum_steps.h"

#include "graph/graph.h"
#include "ops/op.h"
#include "support/panic.h"

static void add_once(Arena *arena, Nodes *nodes, Node *node) {
  for (int i = 0; i < nodes->count; i++)
    if (nodes->items[i] == node) return;
  vec_push(arena, nodes, node);
}

static bool is_linear(const Node *node) {
  Op op = node->op;
  if (op == OP_PAD) return node_float(node, ATTR_VALUE) == 0;
  return op == OP_ADD || op == OP_SUB || op == OP_NEG || op == OP_RESHAPE || op == OP_TRANSPOSE;
}

bool sum_steps_find(Arena *arena, Node *node, Nodes *stacked) {
  if (is_linear(node)) {
    for (int k = 0; k < node->operand_count; k++)
      if (!sum_steps_find(arena, node->operands[k], stacked)) return false;
    return true;
  }
  if (node->op != OP_CONTRACT && node->op != OP_REDUCE_SUM) return false;
  for (int k = 0; k < node->operand_count; k++) {
    if (node->operands[k]->type.shape.rank == MAX_RANK) return false;
    add_once(arena, stacked, node->operands[k]);
  }
  return true;
}

static Node *stack_of(const Node *node, const Nodes *stacked, Node *const *stacks) {
  for (int i = 0; i < stacked->count; i++)
    if (stacked->items[i] == node) return stacks[i];
  panic("the value of %%%d (%s) was not stacked", node->id, node->path);
}

static void shift(const Attribute *from, int64_t *to) {
  for (int i = 0; i < from->count; i++) to[i] = from->ints[i] + 1;
}

/* Axis 0 of both is summed along with the others. */
static Node *sum_contract(const Maker *maker, const Node *node, Node *left, Node *right) {
  const Attribute *batch = node_ints(node, ATTR_BATCH_LEFT);
  const Attribute *sum = node_ints(node, ATTR_SUM_LEFT);
  ContractAxes axes = {.batch_count = batch->count, .sum_count = sum->count + 1};
  shift(batch, axes.batch_left);
  shift(node_ints(node, ATTR_BATCH_RIGHT), axes.batch_right);
  shift(sum, axes.sum_left + 1);
  shift(node_ints(node, ATTR_SUM_RIGHT), axes.sum_right + 1);
  return make_contract(maker, left, right, &axes);
}

static Node *sum_reduction(const Maker *maker, const Node *node, Node *stack) {
  const Attribute *axes = node_ints(node, ATTR_AXES);
  int64_t all[MAX_RANK] = {0};
  shift(axes, all + 1);
  return make_reduce(maker, OP_REDUCE_SUM, stack, axes->count + 1, all);
}

Node *sum_steps_make(const Maker *maker, const Node *node, const Nodes *stacked,
                     Node *const *stacks) {
  Node *x = node->operands[0];
  if (node->op == OP_CONTRACT)
    return sum_contract(maker, node, stack_of(x, stacked, stacks),
                        stack_of(node->operands[1], stacked, stacks));
  if (node->op == OP_REDUCE_SUM) return sum_reduction(maker, node, stack_of(x, stacked, stacks));
  Node *sums[2] = {sum_steps_make(maker, x, stacked, stacks), NULL};
  if (node->op == OP_RESHAPE) return make_reshape(maker, sums[0], node->type.shape);
  if (node->op == OP_TRANSPOSE)
    return make_transpose(maker, sums[0], node_ints(node, ATTR_PERMUTATION)->ints);
  if (node->operand_count > 1) sums[1] = sum_steps_make(maker, node->operands[1], stacked, stacks);
  return make_node(maker, node->op, node->operand_count, sums, node->attribute_count,
                   node->attributes);
}
