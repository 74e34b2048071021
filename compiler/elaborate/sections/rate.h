/* Learning rates that the log tells: see rate.c. */
#ifndef NNC_ELABORATE_RATE_H
#define NNC_ELABORATE_RATE_H

#include "elaborate/sections/update.h"

/* The rate of a parameter, whose optimizer was called with these arguments. */
void rate_note(Update *update, const UpdateTarget *target, const Deferred *optimizer);
/* All that differ go into the module. */
void rate_finish(Update *update);

#endif
