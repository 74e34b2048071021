/* What the steps of a scan compute one by one, computed for all of them at once. */
#ifndef NNC_PASSES_RULES_ALL_STEPS_H
#define NNC_PASSES_RULES_ALL_STEPS_H

#include "ops/make.h"

/* Whether `node`, of a body, can be computed so; `stacked`: by operand, its values differ from step
 * to step. */
bool all_steps_can(const Node *node, int64_t length, const bool *stacked);
/* The stack [length, ...] of the node's values; `operands`: stacks where `stacked` says so, else
 * the one value of all steps. */
Node *all_steps_make(const Maker *maker, const Node *node, int64_t length, Node *const *operands,
                     const bool *stacked);

#endif
