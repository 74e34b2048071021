/* Single steps. */
#ifndef NNC_PROGRAM_STEPS_H
#define NNC_PROGRAM_STEPS_H

#include "program/lowering.h"

/* The step of a kernel's launch, and of a copy of `node` from one buffer to another. */
void launch_step_add(Lowering *lowering, const Launch *launch);
void copy_step_add(Lowering *lowering, const Node *node, int from, int to);

#endif
