/* Lowering of movement: all of it is arithmetic on indices, so nothing is copied where a consumer
 * can read through it. */
#include "ops/lower.h"

/* The operand's index along each axis is a digit of the element's row-major number; the algebra
 * leaves no division where the axes of both shapes nest. */
void lower_reshape(KernelBuilder *builder, const Node *node) {
  Arena *arena = builder_arena(builder);
  Shape from = node->operands[0]->type.shape, to = node->type.shape;
  int64_t from_stride[MAX_RANK], to_stride[MAX_RANK];
  shape_strides(from, from_stride);
  shape_strides(to, to_stride);
  Index *flat = index_const(arena, 0);
  for (int i = 0; i < to.rank; i++)
    flat = index_add(arena, flat, index_mul(arena, builder_point(builder, i), to_stride[i]));
  Index *at[MAX_RANK];
  int axis_count;
  const int64_t *extents = builder_extents(builder, &axis_count);
  int first = 0; /* the outermost digit needs no modulus */
  while (first < from.rank && from.dim[first] == 1) first++;
  for (int i = 0; i < from.rank; i++) {
    if (from.dim[i] <= 1 || from_stride[i] == 0) { /* 0: there are no elements */
      at[i] = index_const(arena, 0);
      continue;
    }
    at[i] = index_div(arena, flat, from_stride[i], extents, axis_count);
    if (i > first) at[i] = index_mod(arena, at[i], from.dim[i], extents, axis_count);
  }
  builder_return(builder, builder_operand(builder, 0, at));
}

void lower_transpose(KernelBuilder *builder, const Node *node) {
  const Attribute *axes = node_ints(node, ATTR_PERMUTATION);
  Index *at[MAX_RANK];
  for (int i = 0; i < axes->count; i++) at[axes->ints[i]] = builder_point(builder, i);
  builder_return(builder, builder_operand(builder, 0, at));
}

void lower_broadcast(KernelBuilder *builder, const Node *node) {
  const Attribute *axes = node_ints(node, ATTR_AXES);
  Index *at[MAX_RANK];
  for (int i = 0; i < axes->count; i++) at[i] = builder_point(builder, (int)axes->ints[i]);
  builder_return(builder, builder_operand(builder, 0, at));
}

void lower_slice(KernelBuilder *builder, const Node *node) {
  Arena *arena = builder_arena(builder);
  const Attribute *start = node_ints(node, ATTR_START), *step = node_ints(node, ATTR_STEP);
  Index *at[MAX_RANK];
  for (int i = 0; i < node->type.shape.rank; i++)
    at[i] = index_add(arena, index_mul(arena, builder_point(builder, i), step->ints[i]),
                      index_const(arena, start->ints[i]));
  builder_return(builder, builder_operand(builder, 0, at));
}

void lower_pad(KernelBuilder *builder, const Node *node) {
  Arena *arena = builder_arena(builder);
  const Attribute *low = node_ints(node, ATTR_LOW), *step = node_ints(node, ATTR_STEP);
  Shape from = node->operands[0]->type.shape;
  Index *at[MAX_RANK];
  Guard guards[2 * MAX_RANK];
  int count = 0, axis_count;
  const int64_t *extents = builder_extents(builder, &axis_count);
  for (int i = 0; i < from.rank; i++) {
    Index *index = index_add(arena, builder_point(builder, i), index_const(arena, -low->ints[i]));
    if (step->ints[i] > 1) { /* between two elements there are zeros */
      Index *rest = index_mod(arena, index, step->ints[i], extents, axis_count);
      guards[count++] = (Guard){rest, 1};
    }
    at[i] = index_div(arena, index, step->ints[i], extents, axis_count);
    guards[count++] = (Guard){at[i], from.dim[i]};
  }
  builder_return(builder, builder_operand_guarded(builder, 0, at, count, guards,
                                                  node_float(node, ATTR_VALUE)));
}

/* where(i < end of the first, first, where(i < end of the second, second, ... last)) */
void lower_concat(KernelBuilder *builder, const Node *node) {
  Arena *arena = builder_arena(builder);
  int axis = (int)node_int(node, ATTR_AXIS);
  Index *at[MAX_RANK];
  lower_point(builder, node, at);
  Index *along = at[axis];
  int64_t begin = node->type.shape.dim[axis];
  Expr *value = NULL;
  for (int i = node->operand_count - 1; i >= 0; i--) {
    int64_t extent = node->operands[i]->type.shape.dim[axis], end = begin;
    begin -= extent;
    if (extent == 0) continue;
    at[axis] = index_add(arena, along, index_const(arena, -begin));
    Guard guard = {at[axis], extent};
    Expr *part = builder_operand_guarded(builder, i, at, 1, &guard, 0);
    if (value != NULL) {
      Expr *ends[2] = {builder_index(builder, along, DTYPE_I64),
                       builder_const(builder, DTYPE_I64, (double)end)};
      Expr *is_before = builder_op(builder, OP_LT, DTYPE_BOOL, 2, ends);
      part = builder_op(builder, OP_WHERE, node->type.dtype, 3, (Expr *[]){is_before, part, value});
    }
    value = part;
  }
  if (value == NULL) value = builder_const(builder, node->type.dtype, 0); /* no elements at all */
  builder_return(builder, value);
}
