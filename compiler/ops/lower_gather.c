/* Lowering of indexing: loads at loaded indices; unpick compares instead, so it writes every
 * element once; only scatter_add, where indices may repeat, is a template. */
#include "ops/lower.h"
#include "support/integers.h"

/* table [v, rest...], index [i...] -> [i..., rest...] */
void lower_gather(KernelBuilder *builder, const Node *node) {
  Shape table = node->operands[0]->type.shape;
  int index_rank = node->operands[1]->type.shape.rank;
  Index *point[MAX_RANK], *at[MAX_RANK];
  lower_point(builder, node, point);
  at[0] = builder_operand_index(builder, 1, point, table.dim[0]);
  for (int i = 1; i < table.rank; i++) at[i] = point[index_rank + i - 1];
  builder_return(builder, builder_operand(builder, 0, at));
}

void lower_scatter_add(KernelBuilder *builder, const Node *node) {
  Shape index = node->operands[1]->type.shape, result = node->type.shape;
  int64_t indices = shape_elements(index),
          row_elements = extent_product(result.dim + 1, result.rank - 1);
  builder_operand_plain(builder, 0);
  builder_operand_plain(builder, 1);
  builder_set_kind(builder, KERNEL_SCATTER_ADD)->scatter =
      (ScatterSlots){indices, result.dim[0], row_elements};
}

/* The point without result axis `axis`. */
static void point_without(KernelBuilder *builder, const Node *node, int axis, Index **at) {
  for (int i = 0, to = 0; i < node->type.shape.rank; i++)
    if (i != axis) at[to++] = builder_point(builder, i);
}

void lower_pick(KernelBuilder *builder, const Node *node) {
  Shape x = node->operands[0]->type.shape;
  int axis = (int)node_int(node, ATTR_AXIS);
  Index *point[MAX_RANK], *at[MAX_RANK];
  lower_point(builder, node, point);
  for (int i = 0, from = 0; i < x.rank; i++)
    at[i] = i == axis ? builder_operand_index(builder, 1, point, x.dim[axis]) : point[from++];
  builder_return(builder, builder_operand(builder, 0, at));
}

void lower_unpick(KernelBuilder *builder, const Node *node) {
  int axis = (int)node_int(node, ATTR_AXIS);
  Index *at[MAX_RANK];
  point_without(builder, node, axis, at);
  Expr *index = builder_operand(builder, 1, at);
  Expr *here = builder_index(builder, builder_point(builder, axis), DTYPE_I64);
  if (index->dtype != DTYPE_I64) index = builder_op(builder, OP_CAST, DTYPE_I64, 1, &index);
  Expr *is_picked = builder_op(builder, OP_EQ, DTYPE_BOOL, 2, (Expr *[]){here, index});
  Expr *value = builder_operand(builder, 0, at);
  Expr *zero = builder_const(builder, node->type.dtype, 0);
  builder_return(builder, builder_op(builder, OP_WHERE, node->type.dtype, 3,
                                     (Expr *[]){is_picked, value, zero}));
}
