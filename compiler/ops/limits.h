/* Limits of integer inputs that are used as indices. */
#ifndef NNC_OPS_LIMITS_H
#define NNC_OPS_LIMITS_H

#include "graph/graph.h"

typedef struct InputLimit {
  int64_t bound; /* values lie in [0, bound); 0: any */
  bool has_exception;
  int64_t exception; /* a value that never reaches an index: where(x == exception, 0, x) */
} InputLimit;

/* What an integer input is held against, because some operator of the graph takes it as an index.
 */
InputLimit graph_input_limit(Arena *arena, const Graph *graph, const char *input);

#endif
