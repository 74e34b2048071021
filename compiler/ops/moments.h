/* Sums and squared deviations of large values, by pieces, as the stage `prepare` makes them.
 *
 * A variance reads its values twice: for the mean, and for the deviations from it. Of values that lie in no cache, pieces are
 * read twice instead, each while it is near: for its own mean, and for the deviations from that. Then (Chan, Golub & LeVeque
 * 1983, "Algorithms for Computing the Sample Variance") with n elements x of a piece, its mean c and any m
 *
 *   sum((x - m)^2) = sum((x - c)^2) + 2 (c - m) sum(x - c) + n (c - m)^2
 *
 * where sum(x - c) is what the rounding of c leaves. */
#ifndef NNC_OPS_MOMENTS_H
#define NNC_OPS_MOMENTS_H

#include "ops/make.h"

/* Whether `sum` adds up some x, and `node` (x - m)^2 over the same axes, m a value that is the same along them. */
bool moments_match(const Node *sum, const Node *node);
/* m of such a node. */
const Node *moments_mean(const Node *node);

/* A sum in two steps. */
typedef struct Pieces {
  Node *cut;      /* what is summed, perhaps with an axis cut in two */
  Node *partial;  /* the sums of its pieces ... */
  int axis_count; /* ... which are joined over these axes */
  int64_t axes[2];
} Pieces;

/* The same sum of squares by the pieces of the sum. */
Node *moments_deviations(const Maker *maker, const Pieces *pieces, Node *mean);

#endif
