/* Inside of recomputation: a graph whose forward values are computed a second time, where some way
 * to choose them (recompute.c, rematerialize.c) said so.
 *
 * The forward part is what the accumulators (loss, metrics) depend on; the rest, gradients and
 * updates, is late. Arrays are by position of a node in the graph. */
#ifndef NNC_PASSES_RECOMPUTE_GRAPH_H
#define NNC_PASSES_RECOMPUTE_GRAPH_H

#include "passes/recompute.h"

typedef struct Recompute {
  const Graph *graph;
  RecomputeResult *result;
  Arena *arena;  /* of what is needed while the graph is made */
  int count;     /* nodes */
  int *position; /* by id */
  bool *is_forward;
  bool *is_late_read; /* late nodes read its memory */
  int *base;          /* whose memory holds its value: itself but for movement */
  int *last_use;      /* of a base: the last forward node that reads its memory */
  int64_t late_bytes; /* of all bases that late nodes read */

  /* The choice. */
  int segments;    /* of the forward part; gradients reach the last one first, in phase 0 */
  int *segment;    /* forward nodes */
  bool *stays;     /* forward nodes that are in memory until late nodes read them */
  int last_again;  /* late nodes that read forward values up to this position are not in phase 0 */
  bool marks_each; /* each late node gets its phase (ATTR_PHASE), not just those where one begins */

  int *phase; /* late nodes */
  Graph *into;
  Node **copy;  /* the first one */
  Node **again; /* the second one, or NULL */
} Recompute;

/* Nothing is chosen: all forward nodes are in segment 0 of 2, and none stays. */
Recompute recompute_begin(Arena *into, const Graph *graph, RecomputeResult *result);
/* The graph by the choice. */
Graph *recompute_make(Recompute *r);
void recompute_end(Recompute *r);

const Node *recompute_node(const Recompute *r, int i);
int recompute_operand(const Recompute *r, int i, int k);
/* Of the memory that node i makes: 0 for movement and leaves. */
int64_t recompute_bytes(const Recompute *r, int i);
/* Is in memory anyway, or needs none. */
bool recompute_is_leaf(const Node *node);
/* A scan that is a loop, or a result of one: what its steps keep was decided with its gradient. */
bool recompute_is_loop(const Node *node);

#endif
