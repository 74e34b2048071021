/* From groups of nodes to kernels. */
#ifndef NNC_PROGRAM_GROUP_H
#define NNC_PROGRAM_GROUP_H

#include "program/lowering.h"

/* Builds the group's kernel; NULL, or what one kernel cannot do and the node to blame. */
const char *group_build(Lowering *lowering, Group *group, const Node **blame);
/* Builds, giving nodes that are to blame groups of their own, until it works. */
void group_build_surely(Lowering *lowering, Group *group);

#endif
