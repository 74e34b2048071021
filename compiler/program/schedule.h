/* What launches use, and their order. */
#ifndef NNC_PROGRAM_SCHEDULE_H
#define NNC_PROGRAM_SCHEDULE_H

#include "program/lowering.h"

/* A buffer that a launch reads or writes: an operand of the kernel, or an end of the copy. */
typedef struct LaunchUse {
  int buffer;
  bool writes;
  bool is_first; /* no operand before it is the same buffer */
} LaunchUse;

/* In the order of the kernel's operands; of a copy, what it reads and what it writes. */
typedef VEC(LaunchUse) LaunchUses;
LaunchUses launch_uses(Arena *arena, const Lowering *lowering, const Launch *launch);

/* Puts the launches in an order that keeps few bytes alive at once. */
void launches_schedule(Lowering *lowering);

#endif
