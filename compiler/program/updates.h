/* Updates of parameters, for the report. */
#ifndef NNC_PROGRAM_UPDATES_H
#define NNC_PROGRAM_UPDATES_H

#include "program/program.h"
#include "support/vec.h"

typedef struct Update {
  const char *variable; /* its path */
  const char *reason; /* why it has a pass of its own; NULL: the kernel of its gradient stores it */
} Update;

typedef VEC(Update) UpdateList;

/* Those of the train entry, in the order of the parameters.  Equal reasons are one pointer. */
UpdateList updates_find(Arena *arena, const Program *program);

#endif
