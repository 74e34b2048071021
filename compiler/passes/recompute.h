/* Recomputation: a training step needs less memory, and computes parts of the forward pass twice. */
#ifndef NNC_PASSES_RECOMPUTE_H
#define NNC_PASSES_RECOMPUTE_H

#include "graph/graph.h"

typedef struct RecomputeOptions {
  int segments;    /* of the forward part, at least 2; all but the last are recomputed */
  bool cheap_only; /* results of contractions and the like are kept all the same */
  bool tapers;     /* segments are the smaller the later they are, else equal */
} RecomputeOptions;

typedef struct RecomputeResult {
  int node_count;         /* nodes that are computed twice */
  double flops;           /* of these */
  VEC(const char *) kept; /* paths of large values that the segments start from */
} RecomputeResult;

/* A copy of `graph` in the arena `into`; the values of its outputs are the same. */
Graph *graph_recompute(Arena *into, const Graph *graph, const RecomputeOptions *options,
                       RecomputeResult *result);
/* Cheap values that gradients need are computed again (rematerialize.c), if all together they have
 * `least_bytes`; else returns `graph` itself. */
Graph *graph_rematerialize(Arena *into, Graph *graph, int64_t least_bytes);

#endif
