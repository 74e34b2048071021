/* The sum of a value over the steps of a scan, computed after the loop. */
#ifndef NNC_OPS_SUM_STEPS_H
#define NNC_OPS_SUM_STEPS_H

#include "ops/make.h"

typedef VEC(Node *) Nodes;

/* The operands in the body whose stacks the sum of `node` is made of, appended to `stacked` once
 * each; false when it can only be added up step by step. */
bool sum_steps_find(Arena *arena, Node *node, Nodes *stacked);
/* The sum, of the stacks [length, ...] that correspond to `stacked`. */
Node *sum_steps_make(const Maker *maker, const Node *node, const Nodes *stacked,
                     Node *const *stacks);

#endif
