/* Contractions read their operands by strides: a transposed operand is the plain one with other
 * axes in the lists. */
#include "passes/rules/rules.h"

typedef struct SideKeys {
  AttributeKey batch, sum;
} SideKeys;

static const SideKeys side_keys[2] = {{ATTR_BATCH_LEFT, ATTR_SUM_LEFT},
                                      {ATTR_BATCH_RIGHT, ATTR_SUM_RIGHT}};

static bool holds(const Attribute *axes, int64_t axis) {
  for (int i = 0; i < axes->count; i++)
    if (axes->ints[i] == axis) return true;
  return false;
}

/* Free axes are in the result in their own order: the transposition must not change it. */
static bool keeps_free_order(const Node *node, int side, const Attribute *permutation) {
  const Attribute *batch = node_ints(node, side_keys[side].batch);
  const Attribute *sum = node_ints(node, side_keys[side].sum);
  int64_t last = -1;
  for (int i = 0; i < permutation->count; i++) {
    if (holds(batch, i) || holds(sum, i)) continue;
    if (permutation->ints[i] < last) return false;
    last = permutation->ints[i];
  }
  return true;
}

/* The list of axes of the transposed operand, in terms of the plain one. */
static int map_axes(const Node *node, AttributeKey key, const Attribute *permutation,
                    int64_t axes[MAX_RANK]) {
  const Attribute *list = node_ints(node, key);
  for (int i = 0; i < list->count; i++)
    axes[i] = permutation ? permutation->ints[list->ints[i]] : list->ints[i];
  return list->count;
}

Node *rule_contract_transpose(const Rewrite *rewrite, Node *node) {
  const Attribute *permutation[2] = {NULL, NULL};
  Node *operand[2];
  for (int side = 0; side < 2; side++) {
    operand[side] = node->operands[side];
    if (operand[side]->op != OP_TRANSPOSE) continue;
    const Attribute *turned = node_ints(operand[side], ATTR_PERMUTATION);
    if (!keeps_free_order(node, side, turned)) continue;
    permutation[side] = turned;
    operand[side] = operand[side]->operands[0];
  }
  if (!permutation[0] && !permutation[1]) return NULL;
  ContractAxes axes;
  axes.batch_count = map_axes(node, ATTR_BATCH_LEFT, permutation[0], axes.batch_left);
  axes.sum_count = map_axes(node, ATTR_SUM_LEFT, permutation[0], axes.sum_left);
  map_axes(node, ATTR_BATCH_RIGHT, permutation[1], axes.batch_right);
  map_axes(node, ATTR_SUM_RIGHT, permutation[1], axes.sum_right);
  return make_contract(&rewrite->maker, operand[0], operand[1], &axes);
}
