/* Definitions of the command line, -D NAME=VALUE, that the program has no use for. */
#ifndef NNC_ELABORATE_DEFINITIONS_H
#define NNC_ELABORATE_DEFINITIONS_H

#include "elaborate/core/elaborator.h"

/* Reports them, once the program was traced: with the name that was meant, or with all there are. */
void definitions_check(Elaborator *e);

#endif
