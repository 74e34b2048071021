/* Lowering of operators that need no other element than the one asked for: elementwise ones, and
 * leaves that are computed rather than loaded. */
#include "ops/lower.h"

/* Whether `of` repeats, for each element of x, an extremum of elements of which it is one: OP_REDUCE_MAX
 * or OP_REDUCE_MIN; else OP_COUNT. */
static Op own_extremum(const Node *x, const Node *of) {
  if (of->op != OP_BROADCAST) return OP_COUNT;
  const Node *reduced = of->operands[0];
  while (reduced->op == OP_RESHAPE || reduced->op == OP_STOP_GRADIENT)
    reduced = reduced->operands[0];
  if (reduced->op != OP_REDUCE_MAX && reduced->op != OP_REDUCE_MIN) return OP_COUNT;
  const Attribute *axes = node_ints(reduced, ATTR_AXES), *kept = node_ints(of, ATTR_AXES);
  for (int i = 0; i < axes->count; i++)
    for (int k = 0; k < kept->count; k++)
      if (axes->ints[i] == kept->ints[k]) return OP_COUNT;
  bool is_own = reduced->operands[0] == x && axes->count + kept->count == x->type.shape.rank;
  return is_own ? reduced->op : OP_COUNT;
}

static bool is_product(const Expr *x) {
  while (x->kind == EXPR_OP && x->op == OP_NEG) x = x->args[0];
  return x->kind == EXPR_OP && x->op == OP_MUL && dtype_is_float(x->dtype);
}

/* x - max(x), and the like, where x is a product. A machine multiplies and subtracts in one
 * instruction, which does not round the product. The maximum is one of rounded products, though, and
 * from large ones the exact product may be any number away, above or below: the exp of it would be
 * infinite, or 0 in a whole row. min(x, max(x)) is the product, rounded. */
static void round_product(KernelBuilder *builder, const Node *node, Expr **args) {
  for (int i = 0; i < 2; i++) {
    Op extremum = own_extremum(node->operands[i], node->operands[1 - i]);
    if (extremum == OP_COUNT || !is_product(args[i])) continue;
    Op op = extremum == OP_REDUCE_MAX ? OP_MIN : OP_MAX;
    args[i] = builder_op(builder, op, node->type.dtype, 2, args);
  }
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
  if (node->op == OP_SUB) round_product(builder, node, args);
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
