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

/* The learning rate of parameters for which the same groups say it (rate.c). */
typedef struct TargetRate {
  int groups[3];      /* that give the optimizer, its lr, lr_scale; -1: none */
  const char *scalar; /* output of the host graph; NULL: there is a constant, or nothing is known */
  bool is_constant;
  double constant;
  const Slot *first; /* parameter */
  Span span;
} TargetRate;

typedef struct Update {
  Elaborator *e;
  const TrainPlan *plan;
  VEC(UpdateTarget) targets; /* in the order of the variables */
  VEC(TargetRate) rates;
} Update;

/* What an objective minimizes; NULL: nothing that was understood. */
Node *update_loss(const TrainPlan *plan, int objective);

/* Limits the gradients of an objective by the `clip` that holds for each. */
void update_clip(Update *update, int objective);

/* The sum of the squares of all elements; of two such sums one, in f64 where one of them is (clip.c). */
Node *update_sum_squares(Elaborator *e, Node *gradient);
Node *update_add_squares(Elaborator *e, Node *total, Node *squares);

/* The stores of the train entry; of the accumulate entry. */
void update_parameters(Elaborator *e);
void update_accumulators(Elaborator *e);
/* Stores of states, after which no reader comes. */
void update_states(Elaborator *e);

#endif
