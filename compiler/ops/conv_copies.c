/* Copies for convolutions, as identity reshapes.
 *
 * Those of groups of few channels are made of planes: vectors are of places, since a group's channels fill none. What
 * lies beside them has its channels last as a rule. So they get copies of what they see, and what they make has an order of
 * its own.
 *
 * Others see channels that lie last. An input of many channels, such as those of a spectrogram or of sensors, is planes: the
 * convolution and its gradient in the weights read a copy. */
#include "ops/lower.h"
#include "ops/op.h"
#include "ops/window.h"

static bool is_of_planes(const Target *target, const Node *node) {
  Shape w = (node->op == OP_CONV_WEIGHT ? node : node->operands[1])->type.shape;
  bool is_depthwise = w.rank > 1 && w.dim[1] == 1;
  return target->keeps_channels_last != NULL && node_int(node, ATTR_GROUPS) > 1 && !is_depthwise &&
         !conv_keeps_channels_last(target, node);
}

/* An input whose channels had better lie last. */
static bool sees_planes(const Target *target, const Node *node, const Node *seen) {
  return op_info(seen->op)->class->leaf == LEAF_INPUT && target->least_turned_channels > 0 &&
         seen->type.shape.dim[1] >= target->least_turned_channels &&
         conv_keeps_channels_last(target, node);
}

/* The copy of an input, one for all that read it. */
static Node *copy_of_input(const Maker *maker, Node *input) {
  for (int i = 0; i < maker->graph->nodes.count; i++) {
    Node *node = maker->graph->nodes.items[i];
    if (node->op == OP_RESHAPE && node->operands[0] == input &&
        shape_equal(node->type.shape, input->type.shape))
      return node;
  }
  return make_alias(maker, input);
}

Node *conv_copies_prepare(const Maker *maker, const Target *target, const Node *node,
                          Node *const *operands) {
  int seen = node->op == OP_CONV_WEIGHT ? 2 : 1;
  Node *copies[2] = {operands[0], operands[1]};
  bool is_changed = false;
  if (sees_planes(target, node, operands[0])) {
    copies[0] = copy_of_input(maker, operands[0]);
    return make_node(maker, node->op, 2, copies, node->attribute_count, node->attributes);
  }
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
