/* The keys of `train` that steer a run: which checkpoints are kept, and when it stops. */
#ifndef NNC_ELABORATE_STEER_H
#define NNC_ELABORATE_STEER_H

#include "elaborate/sections/train.h"

/* Fills module->watches and the run's configuration from the block's keys. */
void steer_configure(Elaborator *e, const TrainPlan *plan);
/* Whether what is watched exists, once all metrics and data sets are known. */
void steer_check(Elaborator *e);

#endif
