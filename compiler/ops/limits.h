/* Limits of integer inputs that are used as indices. */
#ifndef NNC_OPS_LIMITS_H
#define NNC_OPS_LIMITS_H

#include "graph/graph.h"

/* The input's values must lie in [0, result): the least bound over all operators that use it, or a
 * cast, reshape or other movement of it, as an index.  0: it is not used as an index. */
int64_t graph_input_limit(Arena *arena, const Graph *graph, const char *input);

#endif
