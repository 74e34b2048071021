/* Products of few results and a long depth: their sums are made in equal pieces, which many processors
 * compute side by side, and then added up. */
#ifndef NNC_OPS_DEPTH_H
#define NNC_OPS_DEPTH_H

#include "ops/make.h"
#include "target/target.h"

typedef struct DepthCutter {
  Maker maker;
  const Target *target; /* which says how many pieces are worth it */
  bool allows_tf32;
  const Node *node;
  Node *const *operands; /* the node's, in the maker's graph */
} DepthCutter;

/* The node's value by pieces of its depth; NULL where none are worth it, or it is no product. */
Node *make_depth_pieces(const DepthCutter *cutter);

#endif
