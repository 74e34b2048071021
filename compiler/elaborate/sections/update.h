/* Parameters under update: shared by update.c and clip.c. */
#ifndef NNC_ELABORATE_UPDATE_H
#define NNC_ELABORATE_UPDATE_H

#include "elaborate/sections/train.h"

/* A parameter with the keys that hold for it. */
typedef struct UpdateTarget {
  Slot *slot;
  int objective; /* 0: the block's loss; i + 1: that of group i */
  const KeyValue *keys[KEY_COUNT];
  Node *gradient;
} UpdateTarget;

typedef struct Update {
  Elaborator *e;
  const TrainPlan *plan;
  VEC(UpdateTarget) targets; /* in the order of the variables */
} Update;

/* Limits the gradients of an objective by the `clip` that holds for each. */
void update_clip(Update *update, int objective);

/* The stores of the train entry; of the accumulate entry. */
void update_parameters(Elaborator *e);
void update_accumulators(Elaborator *e);
/* Stores of states, after which no reader comes. */
void update_states(Elaborator *e);

#endif
