/* Barriers between steps. */
#ifndef NNC_PROGRAM_BARRIERS_H
#define NNC_PROGRAM_BARRIERS_H

#include "program/program.h"

/* By step, and for the end: how many barriers come before it. */
int *barriers_before(Arena *arena, const ProgramEntry *entry);

#endif
