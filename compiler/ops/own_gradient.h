/* own_gradient: a value whose gradient is told by a rule instead of being derived.
 *
 * Operands are the value y, then the targets (what the gradient is with respect to), then whatever
 * else the rule reads. The rule is a graph of its own, like the body of a scan: argument 0 is the
 * gradient of y, argument i the value of operand i, and result i what target i + 1 receives. */
#ifndef NNC_OPS_OWN_GRADIENT_H
#define NNC_OPS_OWN_GRADIENT_H

#include "ops/make.h"

Node *make_own_gradient(const Maker *maker, const Graph *rule, int operand_count,
                        Node *const *operands);
/* Whether a gradient goes from `node` to its operand `i`: y gets none, and captured values none. */
bool own_gradient_leads(const Node *node, int operand);

#endif
