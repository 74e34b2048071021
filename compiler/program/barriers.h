/* Barriers between steps. */
#ifndef NNC_PROGRAM_BARRIERS_H
#define NNC_PROGRAM_BARRIERS_H

#include "program/program.h"

/* By step, and for the end: how many barriers come before it. */
int *barriers_before(Arena *arena, const ProgramEntry *entry);

/* Puts barriers before the `count` steps `places`, each of which is in no loop or the first of a task loop. Live
 * ranges and loops keep their steps. */
void barriers_insert(Program *program, ProgramEntry *entry, int count, const int *places,
                     const char *reason);

#endif
