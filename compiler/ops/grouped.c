/* Convolutions of groups of few channels are made of planes: vectors are of places, since a group's channels fill none. What
 * lies beside them has its channels last as a rule. So they get copies of what they see, and what they make has an order of
 * its own. */
#include "ops/lower.h"
#include "ops/op.h"
#include "ops/window.h"

static bool is_of_planes(const Target *target, const Node *node) {
  Shape w = (node->op == OP_CONV_WEIGHT ? node : node->operands[1])->type.shape;
  bool is_depthwise = w.rank > 1 && w.dim[1] == 1;
  return target->keeps_channels_last != NULL && node_int(node, ATTR_GROUPS) > 1 && !is_depthwise &&
         !conv_keeps_channels_last(target, node);
}

Node *grouped_prepare(const Maker *maker, const Target *target, const Node *node,
                      Node *const *operands) {
  int seen = node->op == OP_CONV_WEIGHT ? 2 : 1;
  Node *copies[2] = {operands[0], operands[1]};
  bool is_changed = false;
  if (!is_of_planes(target, node) || node_attribute(node, ATTR_PIECES)) return NULL;
  for (int i = 0; i < seen; i++) {
    if (op_info(operands[i]->op)->class->leaf != LEAF_NONE) continue; /* it is row-major */
    copies[i] = make_alias(maker, operands[i]);
    is_changed = true;
  }
  if (!is_changed) return NULL;
  Node *made = make_node(maker, node->op, 2, copies, node->attribute_count, node->attributes);
  return node->op == OP_CONV_WEIGHT ? made : make_alias(maker, made);
}
