/* From groups of nodes to kernels. */
#ifndef NNC_PROGRAM_GROUP_H
#define NNC_PROGRAM_GROUP_H

#include "program/lowering.h"

/* Builds the group's kernel; NULL, or what one kernel cannot do and the node to blame. */
const char *group_build(Lowering *lowering, Group *group, const Node **blame);
/* Builds, giving nodes that are to blame groups of their own, until it works. */
void group_build_surely(Lowering *lowering, Group *group);
/* Whether the node takes few elements of a value that is computed, such as the scores of the classes that
 * are true. They stay for a later kernel in place of the value. */
bool group_takes_few(const Lowering *lowering, const Node *node);

#endif
