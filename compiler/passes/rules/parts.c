/* Parts of a convolution's adjoint in its input: some of the input's channels are the adjoint by the weights of these
 * channels. */
#include "passes/rules/rules.h"

enum { CHANNELS = 1 /* the axis, of the input and of the weights */ };

bool rules_takes_part(const Node *node) {
  if (node->op != OP_SLICE || node->operands[0]->op != OP_CONV_INPUT) return false;
  const Shape *whole = &node->operands[0]->type.shape, *part = &node->type.shape;
  const Attribute *step = node_ints(node, ATTR_STEP);
  for (int i = 0; i < whole->rank; i++)
    if (step->ints[i] != 1 || (i != CHANNELS && part->dim[i] != whole->dim[i])) return false;
  return true;
}

/* Each part reads all of the adjoint of the result, and weights of its own: they are small beside what it makes. */
bool rules_gains_by_parts(const Node *whole, int parts) {
  enum { LESS = 2 /* times, that what is read has at least */ };
  if (whole->op != OP_CONV_INPUT || parts < 2 || node_int(whole, ATTR_GROUPS) != 1) return false;
  int64_t result = shape_elements(whole->type.shape);
  int64_t read = parts * shape_elements(whole->operands[0]->type.shape) +
                 shape_elements(whole->operands[1]->type.shape);
  return read * LESS <= result;
}

Node *rules_make_part(const Maker *maker, const Node *slice, const NodeMap *map) {
  const Node *whole = slice->operands[0];
  Node *dy = node_map_get(map, whole->operands[0]),
       *weights = node_map_get(map, whole->operands[1]);
  int64_t start = node_ints(slice, ATTR_START)->ints[CHANNELS];
  Node *own = make_range(maker, weights, CHANNELS, start, start + slice->type.shape.dim[CHANNELS]);
  return make_like(maker, OP_CONV_INPUT, dy, own, whole, &slice->type.shape);
}
