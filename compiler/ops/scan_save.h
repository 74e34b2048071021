/* What a forward step keeps for the backward step (scan_save.c). */
#ifndef NNC_OPS_SCAN_SAVE_H
#define NNC_OPS_SCAN_SAVE_H

#include "ops/make.h"
#include "ops/sum_steps.h"

/* A copy of a forward step in the body of the backward scan. */
typedef struct ForwardStep {
  Node *scan;      /* whose body belongs to the pass: it may yield more */
  const Graph *in; /* the body that holds the copy */
  int count;       /* nodes with ids below are the copy; after them comes the backward part */
  Node **origins;  /* by id in `in`: the node that was copied, in the body of the scan */
} ForwardStep;

typedef struct SavedValue {
  Node *node; /* of the copy */
  int result; /* the number under which the forward scan yields it */
} SavedValue;
typedef VEC(SavedValue) SavedValues;

/* What `roots` need of the copy and is more expensive to compute than to keep; the scan yields it now. */
SavedValues scan_save_values(Arena *arena, const ForwardStep *step, const Nodes *roots);

#endif
