/* Offsets of buffers in one region of memory. */
#ifndef NNC_PROGRAM_OFFSETS_H
#define NNC_PROGRAM_OFFSETS_H

#include "program/program.h"

/* Sets the offsets of the `count` buffers, from `begin` on, so that those which are alive together lie
 * apart: two are, if they are used at steps with the same `time`, or one between the uses of the other.
 * Returns the end of the region. */
int64_t offsets_assign(Program *program, int count, const int *buffers, const int *time,
                       int64_t begin);

#endif
