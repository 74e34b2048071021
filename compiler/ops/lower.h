/* The lowering rules of the operators: OpClass.lower.  How one is written: kernel/build.h. */
#ifndef NNC_OPS_LOWER_H
#define NNC_OPS_LOWER_H

#include "kernel/build.h"
#include "ops/make.h"
#include "target/target.h"

/* lower_elementwise.c */
void lower_elementwise(KernelBuilder *builder, const Node *node); /* also cast */
void lower_constant(KernelBuilder *builder, const Node *node);
void lower_scalar(KernelBuilder *builder, const Node *node);
void lower_iota(KernelBuilder *builder, const Node *node);
void lower_random(KernelBuilder *builder, const Node *node);

/* lower_reduce.c */
void lower_reduce(KernelBuilder *builder, const Node *node); /* sum, max, min, prod */
void lower_reduce_mean(KernelBuilder *builder, const Node *node);
void lower_arg_reduce(KernelBuilder *builder, const Node *node); /* argmax, argmin */

/* lower_movement.c */
void lower_reshape(KernelBuilder *builder, const Node *node);
void lower_transpose(KernelBuilder *builder, const Node *node);
void lower_broadcast(KernelBuilder *builder, const Node *node);
void lower_slice(KernelBuilder *builder, const Node *node);
void lower_pad(KernelBuilder *builder, const Node *node);
void lower_concat(KernelBuilder *builder, const Node *node);

/* lower_contract.c */
void lower_contract(KernelBuilder *builder, const Node *node);
/* Adds an axis to a group of a contraction, with its stride on either side and in the result. */
void group_add(AxisGroup *group, int64_t extent, int64_t left, int64_t right, int64_t result);

/* Makes the kernel one of the template of contractions. */
void lower_product(KernelBuilder *builder, const ContractSlots *slots);

/* conv_product.c: convolutions as contractions; false where the templates are better. */
bool lower_conv_product(KernelBuilder *builder, const Node *node);
bool lower_conv_input_product(KernelBuilder *builder, const Node *node);
bool lower_conv_weight_product(KernelBuilder *builder, const Node *node);
/* conv_copies.c: a convolution of groups of few channels, or a gradient of one, which is made of planes, with copies of what
 * it sees that are planes, and its result as another value (an identity reshape); another one that sees an input of many
 * channels with a copy of that. NULL: it needs none. */
Node *conv_copies_prepare(const Maker *maker, const Target *target, const Node *node,
                          Node *const *operands);
Node *conv_weight_prepare(const Maker *maker, const Target *target, const Node *node,
                          Node *const *operands);

/* lower_depthwise.c: convolutions of single channels as loops; false where they are none, and NULL where the
 * node is as good. */
bool conv_is_depthwise(const Target *target, const Node *node, Shape x, Shape y);
bool lower_depthwise_conv(KernelBuilder *builder, const Node *node);
bool lower_depthwise_input(KernelBuilder *builder, const Node *node);
bool lower_depthwise_weight(KernelBuilder *builder, const Node *node);
Node *depthwise_weight_prepare(const Maker *maker, const Target *target, const Node *node,
                               Node *const *operands);

/* lower_window.c: convolutions and pooling */
ConvSlots conv_slots(const Node *node, Shape x, Shape w, Shape y);
void lower_conv(KernelBuilder *builder, const Node *node);
void lower_conv_input(KernelBuilder *builder, const Node *node);
void lower_conv_weight(KernelBuilder *builder, const Node *node);
void lower_max_pool(KernelBuilder *builder, const Node *node);
void lower_max_pool_grad(KernelBuilder *builder, const Node *node);
void lower_max_pool_pick(KernelBuilder *builder, const Node *node);
void lower_max_place(KernelBuilder *builder, const Node *node);
void lower_max_unpool(KernelBuilder *builder, const Node *node);
void lower_sum_pool(KernelBuilder *builder, const Node *node);
void lower_sum_pool_grad(KernelBuilder *builder, const Node *node);

/* lower_gather.c */
void lower_gather(KernelBuilder *builder, const Node *node);
void lower_scatter_add(KernelBuilder *builder, const Node *node);
void lower_pick(KernelBuilder *builder, const Node *node);
void lower_unpick(KernelBuilder *builder, const Node *node);

/* What the rules share: the point of the result that is asked for, whole. */
static inline void lower_point(KernelBuilder *builder, const Node *node, Index **at) {
  for (int i = 0; i < node->type.shape.rank; i++) at[i] = builder_point(builder, i);
}

#endif
