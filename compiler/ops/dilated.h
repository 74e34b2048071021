/* Dilated convolutions as ordinary ones, as the stage `phases` makes them. */
#ifndef NNC_OPS_DILATED_H
#define NNC_OPS_DILATED_H

#include "ops/make.h"
#include "target/target.h"

/* A convolution of f32 with a dilation, or one of its gradients, as that of its phases, if the
 * target's filtering (Target.conv_gains_by_winograd) gains by these; else NULL. Operands are those of the node, copied. */
Node *make_of_phases(const Maker *maker, const Target *target, const Node *node,
                     Node *const *operands);

#endif
