/* The order of launches. */
#ifndef NNC_PROGRAM_SCHEDULE_H
#define NNC_PROGRAM_SCHEDULE_H

#include "program/lowering.h"

/* Puts the launches in an order that keeps few bytes alive at once. */
void launches_schedule(Lowering *lowering);

#endif
