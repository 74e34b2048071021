/* Where values come from. */
#ifndef NNC_PROGRAM_PLACE_H
#define NNC_PROGRAM_PLACE_H

#include "program/lowering.h"

/* Gives `node` a kernel of its own. */
Group *place_in_own_group(Lowering *lowering, const Node *node);

#endif
