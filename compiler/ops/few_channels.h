/* Convolutions to few channels as products of all taps at once, as the stage `phases` makes them. */
#ifndef NNC_OPS_FEW_CHANNELS_H
#define NNC_OPS_FEW_CHANNELS_H

#include "ops/make.h"
#include "support/vec.h"
#include "target/target.h"

/* What the taps of a convolution see of dy, once for both of its gradients. */
enum { FEW_KEY = 8 };
typedef struct FewWindows {
  const Node *dy;
  int64_t key[FEW_KEY]; /* the convolution */
  Node *windows;
} FewWindows;
typedef VEC(FewWindows) FewWindowsList;

/* A convolution whose result has few channels (Target.are_few_channels), such as the colours of a picture, or the adjoint in the
 * input of one that reads so few, as a product and a sum of its parts; the gradients of the former as products; NULL: there are more,
 * or it would not gain. Operands are those of the node, copied. */
Node *make_for_few_channels(const Maker *maker, const Target *target, const Node *node,
                            Node *const *operands, FewWindowsList *known);

#endif
