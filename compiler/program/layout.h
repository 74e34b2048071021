/* Which variables lie in memory with their channels last: decided once, for all entries. */
#ifndef NNC_PROGRAM_LAYOUT_H
#define NNC_PROGRAM_LAYOUT_H

#include "program/program.h"

/* Sets Buffer.has_channels_last of the variables' buffers. */
void layout_variables(Program *program);

#endif
