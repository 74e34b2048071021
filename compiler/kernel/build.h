/* How an operator's `lower` rule describes its kernel.
 *
 * A rule says, for a point of the result given by one Index per result axis, which expression it
 * is over the operands; the builder does the rest. So movement and elementwise rules need no loops
 * and fuse for free: the program's fusion simply asks the producer's rule at the consumer's point.
 *
 *     static void lower_transpose(KernelBuilder *b, const Node *node) {
 *       Index *at[MAX_RANK];
 *       for (int i = 0; i < rank; i++) at[permutation[i]] = builder_point(b, i);
 *       builder_return(b, builder_operand(b, 0, at));
 *     }
 */
#ifndef NNC_KERNEL_BUILD_H
#define NNC_KERNEL_BUILD_H

#include "kernel/kernel.h"

Arena *builder_arena(KernelBuilder *builder);
/* What the kernel is for (target/target.h). */
const struct Target *builder_target(const KernelBuilder *builder);
/* Whether templates may read a parameter from a copy in their own order that stays from run to run. */
bool builder_keeps_weights(const KernelBuilder *builder);
/* The index along result axis `i` of the point being asked for. */
Index *builder_point(KernelBuilder *builder, int axis);
/* Extents of the axes in scope, for index_div and index_mod. */
const int64_t *builder_extents(KernelBuilder *builder, int *axis_count);
/* True where all guards hold; NULL where they always do. */
Expr *builder_guards_hold(KernelBuilder *builder, int count, const Guard *guards);
/* Element of operand `operand` of the node at `at` (an Index for each of its axes): a load, or its
 * own expression when it is fused. */
Expr *builder_operand(KernelBuilder *builder, int operand, Index *const *at);
/* The same under conditions; `otherwise` where one fails. */
Expr *builder_operand_guarded(KernelBuilder *builder, int operand, Index *const *at,
                              int guard_count, const Guard *guards, double otherwise);
/* An integer operand's element as an index clamped to [0, bound). */
Index *builder_operand_index(KernelBuilder *builder, int operand, Index *const *at, int64_t bound);
Expr *builder_const(KernelBuilder *builder, DType dtype, double value);
Expr *builder_scalar(KernelBuilder *builder, const char *name);
Expr *builder_index(KernelBuilder *builder, Index *index, DType dtype);
Expr *builder_op(KernelBuilder *builder, Op op, DType dtype, int arg_count, Expr *const *args);
Expr *builder_random(KernelBuilder *builder, Op op, const char *key, int64_t stream, Index *element,
                     DType dtype);
/* Opens reduction axes; returns the number of the first: index_axis(arena, first + i). */
int builder_reduce_axes(KernelBuilder *builder, int count, const int64_t *extents);
/* Closes them: the reduced scalar. */
Expr *builder_reduce(KernelBuilder *builder, Op reduce, Expr *value);
/* The node's value at the point. Exactly one of builder_return and the template calls per rule. */
void builder_return(KernelBuilder *builder, Expr *value);

/* Template kernels: operands are the node's, materialized; the result may have an epilogue. Each
 * of the node's operands is claimed before the slots are given, in the order in which the template
 * numbers them: as a view with a stride for each of its axes (so a transposed or broadcast operand
 * needs no copy), or as plain row-major. */
void builder_operand_strides(KernelBuilder *builder, int operand, int64_t *stride);
void builder_operand_plain(KernelBuilder *builder, int operand);
/* The same where axis 1 may also be the innermost in memory: whether it is, or may be said to be because
 * an extent is 1. */
bool builder_operand_planes(KernelBuilder *builder, int operand);
/* Makes the kernel one of `kind`; the rule sets the slots of what it returns. */
Kernel *builder_set_kind(KernelBuilder *builder, KernelKind kind);

#endif
