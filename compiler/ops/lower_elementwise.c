/* Lowering of operators that need no other element than the one asked for: elementwise ones, and
 * leaves that are computed rather than loaded. */
#include "ops/lower.h"

/* Whether node is x - max(x): of each element a maximum that it is one of. */
static bool is_below_maximum(const Node *node) {
  const Node *x = node->operands[0], *most = node->operands[node->operand_count - 1];
  if (node->op != OP_SUB || most->op != OP_BROADCAST) return false;
  const Node *reduced = most->operands[0];
  while (reduced->op == OP_RESHAPE || reduced->op == OP_STOP_GRADIENT)
    reduced = reduced->operands[0];
  if (reduced->op != OP_REDUCE_MAX || reduced->operands[0] != x) return false;
  const Attribute *axes = node_ints(reduced, ATTR_AXES), *kept = node_ints(most, ATTR_AXES);
  for (int i = 0; i < axes->count * kept->count; i++)
    if (axes->ints[i % axes->count] == kept->ints[i / axes->count]) return false;
  return axes->count + kept->count == x->type.shape.rank;
}

/* A machine multiplies and subtracts in one instruction, which does not round the product. A maximum
 * of products is one of rounded ones, though, and from large ones the exact product may be any number
 * away, above or below: of x - max(x) the exp would be infinite, or 0 in a whole row. The minimum of
 * the two is the product, rounded. */
static void round_product(KernelBuilder *builder, const Node *node, Expr **args) {
  const Expr *x = args[0];
  while (x->kind == EXPR_OP && x->op == OP_NEG) x = x->args[0];
  if (x->kind == EXPR_OP && x->op == OP_MUL && dtype_is_float(x->dtype))
    args[0] = builder_op(builder, OP_MIN, node->type.dtype, 2, args);
}

void lower_elementwise(KernelBuilder *builder, const Node *node) {
  Index *at[MAX_RANK];
  Expr *args[3];
  lower_point(builder, node, at);
  for (int i = 0; i < node->operand_count; i++) args[i] = builder_operand(builder, i, at);
  if (node->op == OP_STOP_GRADIENT) { /* it only concerns differentiation */
    builder_return(builder, args[0]);
    return;
  }
  if (is_below_maximum(node)) round_product(builder, node, args);
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
