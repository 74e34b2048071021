/* Lowering of operators that need no other element than the one asked for: elementwise ones, and
 * leaves that are computed rather than loaded. */
#include "ops/lower.h"

void lower_elementwise(KernelBuilder *builder, const Node *node) {
  Index *at[MAX_RANK];
  Expr *args[3];
  lower_point(builder, node, at);
  for (int i = 0; i < node->operand_count; i++) args[i] = builder_operand(builder, i, at);
  if (node->op == OP_STOP_GRADIENT) { /* it only concerns differentiation */
    builder_return(builder, args[0]);
    return;
  }
  builder_return(builder,
                 builder_op(builder, node->op, node->type.dtype, node->operand_count, args));
}

void lower_constant(KernelBuilder *builder, const Node *node) {
  builder_return(builder, builder_const(builder, node->type.dtype, node_float(node, ATTR_VALUE)));
}

void lower_scalar(KernelBuilder *builder, const Node *node) {
  builder_return(builder, builder_scalar(builder, node_string(node, ATTR_NAME)));
}

void lower_iota(KernelBuilder *builder, const Node *node) {
  Index *index = builder_point(builder, (int)node_int(node, ATTR_AXIS));
  builder_return(builder, builder_index(builder, index, node->type.dtype));
}

/* The counter of the generator is the element's row-major number. */
void lower_random(KernelBuilder *builder, const Node *node) {
  Arena *arena = builder_arena(builder);
  int64_t stride[MAX_RANK];
  shape_strides(node->type.shape, stride);
  Index *element = index_const(arena, 0);
  for (int i = 0; i < node->type.shape.rank; i++)
    element = index_add(arena, element, index_mul(arena, builder_point(builder, i), stride[i]));
  builder_return(builder, builder_random(builder, node->op, node_string(node, ATTR_KEY),
                                         node_int(node, ATTR_STREAM), element, node->type.dtype));
}
