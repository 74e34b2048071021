/* How the examples of a batch go through a graph: which values belong to single examples.
 *
 * An example owns one of `batch` equal pieces of a value along an axis. An operator's `cut` rule
 * (op.h) says which pieces of its operands a piece of its result is computed from; the analysis
 * follows the examples by these rules alone, from the inputs on. What an operator without a rule
 * makes of examples is taken for mixed.
 *
 * Metrics ask it (elaborate/sections/metrics.c), and so does the predict block. Micro-batches share
 * `loop_find_axis`; they may cut what says where an example lies, which here counts as mixing. */
#ifndef NNC_OPS_FLOW_H
#define NNC_OPS_FLOW_H

#include "graph/graph.h"

typedef enum FlowKind {
  FLOW_NONE,     /* no example decides it */
  FLOW_SIZED,    /* likewise, but it follows how many examples a batch has, or where they lie */
  FLOW_SEPARATE, /* piece i along `axis` follows from example i alone, wherever it lies */
  FLOW_JOINED,   /* reduced over all examples; no axis for them is left */
  FLOW_MIXED     /* anything else */
} FlowKind;

/* Why examples mix. */
typedef enum FlowCause {
  CAUSE_JOINED, /* `by` reduces the batch, and an example meets the result */
  CAUSE_PAIRS,  /* two examples meet in `by` */
  CAUSE_SIZE,   /* an example meets `by`, which follows the size of the batch */
  CAUSE_PLACE,  /* an example meets `by`, which differs from place to place in the batch */
  CAUSE_MOVED   /* `by` takes elements of several examples, or leaves the order of the batch */
} FlowCause;

typedef struct Flow {
  FlowKind kind;
  int axis;        /* FLOW_SEPARATE */
  uint32_t alike;  /* FLOW_NONE: bit i is set where all the pieces along axis i are the same */
  FlowCause cause; /* FLOW_SIZED, FLOW_MIXED */
  const Node *by;  /* FLOW_SIZED, FLOW_JOINED, FLOW_MIXED: where it begins */
} Flow;

/* The flow of each node, by id. `single` has the node's counterpart in the same program with a batch
 * of one, by id, as counterparts_find() gives; NULL: inputs whose first extent is `batch` carry it.
 * In a batch of one nothing mixes. */
const Flow *flow_find(Arena *arena, const Graph *graph, int64_t batch, const Node *const *single);

/* For each node that `roots` depend on the node of the other graph that computes the same for a batch
 * of one, by id; NULL where the graphs differ. */
const Node **counterparts_find(Arena *arena, const Graph *graph, int count, Node *const *roots,
                               Node *const *single_roots);

/* The first axis of the node's loop (op.h, `cut`) of which `pieces` equal pieces can be computed one
 * by one, where fits(state, k, axis of operand k or AXIS_WHOLE) says whether operand k can be had so;
 * -1: there is none. From the rank of the result on it is an axis that the node sums over. */
int loop_find_axis(const Node *node, int64_t pieces,
                   bool (*fits)(const void *state, int operand, int axis), const void *state);

#endif
