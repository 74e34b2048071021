/* Indices that an executable checks as it computes: --check-indices, and -O0.
 *
 * What is taken at an index goes through a check_index node, unless the index is known to lie inside:
 * it counts an axis, or is the place of an extremum or of an order. */
#include "elaborate/core/elaborator.h"
#include "elaborate/core/emit.h"
#include "ops/op.h"

static bool is_smaller_axis(const Node *node, int axis, int64_t extent) {
  return node->type.shape.dim[axis] <= extent;
}

static bool lies_inside(const Node *index, int64_t extent) {
  const OpClass *class = op_info(index->op)->class;
  while (class->is_alias || (class->family == FAMILY_MOVEMENT && class->moves_values) ||
         (index->op == OP_CAST && dtype_is_int(index->operands[0]->type.dtype) &&
          dtype_size(index->type.dtype) >= 4 && extent <= INT32_MAX)) {
    index = index->operands[0];
    class = op_info(index->op)->class;
  }
  switch (index->op) {
  case OP_IOTA: return is_smaller_axis(index, (int)node_int(index, ATTR_AXIS), extent);
  case OP_ARGMAX:
  case OP_ARGMIN:
    return is_smaller_axis(index->operands[0], (int)node_int(index, ATTR_AXIS), extent);
  case OP_ARGSORT: return is_smaller_axis(index, index->type.shape.rank - 1, extent);
  default: return false;
  }
}

/* The row-major number of each element. */
static Node *number_elements(Elaborator *e, Shape shape) {
  Type type = {.dtype = DTYPE_I64, .shape = {.rank = 1, .dim = {shape_elements(shape)}}};
  return emit_reshape(e, emit_iota(e, type, 0), shape);
}

Node *emit_check_index(Elaborator *e, Node *index, const char *taker, int axis, int64_t extent) {
  if (!index || !e->options->check_indices || e->region->is_host_only || lies_inside(index, extent))
    return index;
  Shape shape = index->type.shape;
  if (shape_elements(shape) == 0) return index;
  Node *numbers = number_elements(e, shape);
  if (!numbers) return NULL;
  Attribute attributes[] = {attr_make_string(ATTR_NAME, taker), attr_make_int(ATTR_AXIS, axis),
                            attr_make_int(ATTR_LENGTH, extent),
                            attr_make_int(ATTR_INDEX, e->checked_indices++),
                            attr_make_ints(ATTR_EXTENTS, shape.rank, shape.dim)};
  return emit_node(e, OP_CHECK_INDEX, 2, (Node *[]){index, numbers}, 5, attributes);
}
