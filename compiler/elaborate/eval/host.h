/* Schedules: numbers that the host computes before each step. */
#ifndef NNC_ELABORATE_HOST_H
#define NNC_ELABORATE_HOST_H

#include "elaborate/core/elaborator.h"

/* The value of a schedule as a leaf of the current graph; NULL after an error. */
Node *host_schedule(Elaborator *e, Deferred *deferred, const char *name);
/* t, epoch, steps, steps_per_epoch: what every definer sees. */
void host_ambient(Elaborator *e, Symbol ambient[4]);

#endif
