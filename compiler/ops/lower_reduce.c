/* Lowering of reductions: the reduced axes become the inner loop of a stage. */
#include "ops/lower.h"

/* The operand at the point with reduced axes from `first` on, in order. */
static Expr *reduced_operand(KernelBuilder *builder, int rank, int count, const int64_t *axes,
                             int first) {
  Index *at[MAX_RANK];
  int kept = 0, reduced = 0;
  for (int i = 0; i < rank; i++) {
    bool is_reduced = reduced < count && axes[reduced] == i;
    at[i] = is_reduced ? index_axis(builder_arena(builder), first + reduced++)
                       : builder_point(builder, kept++);
  }
  return builder_operand(builder, 0, at);
}

static Expr *reduce(KernelBuilder *builder, const Node *node, Op op, int count,
                    const int64_t *axes) {
  Shape shape = node->operands[0]->type.shape;
  int64_t extents[MAX_RANK];
  for (int i = 0; i < count; i++) extents[i] = shape.dim[axes[i]];
  int first = builder_reduce_axes(builder, count, extents);
  return builder_reduce(builder, op, reduced_operand(builder, shape.rank, count, axes, first));
}

void lower_reduce(KernelBuilder *builder, const Node *node) {
  const Attribute *axes = node_ints(node, ATTR_AXES);
  builder_return(builder, reduce(builder, node, node->op, axes->count, axes->ints));
}

void lower_reduce_mean(KernelBuilder *builder, const Node *node) {
  const Attribute *axes = node_ints(node, ATTR_AXES);
  double count = 1;
  for (int i = 0; i < axes->count; i++)
    count *= (double)node->operands[0]->type.shape.dim[axes->ints[i]];
  Expr *both[2] = {reduce(builder, node, OP_REDUCE_SUM, axes->count, axes->ints),
                   builder_const(builder, node->type.dtype, count)};
  builder_return(builder, builder_op(builder, OP_DIV, node->type.dtype, 2, both));
}

void lower_arg_reduce(KernelBuilder *builder, const Node *node) {
  int64_t axis = node_int(node, ATTR_AXIS);
  builder_return(builder, reduce(builder, node, node->op, 1, &axis));
}
