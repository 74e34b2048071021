/* Offsets of buffers in one region of memory. */
#ifndef NNC_PROGRAM_OFFSETS_H
#define NNC_PROGRAM_OFFSETS_H

#include "program/program.h"

/* Sets the offsets of the `count` buffers, from `begin` on, so that those which are alive together lie
 * apart: two are, if they are used at steps with the same `time`, or one between the uses of the other.
 * `above`, by time: bytes that are needed then above all that is alive; NULL: none. So the region is small with
 * these. Where all of it needs more than `most` bytes, whatever its order, one order is as good as another. Returns
 * the end of the buffers. */
int64_t offsets_assign(Program *program, int count, const int *buffers, const int *time,
                       const int64_t *above, int64_t begin, int64_t most);

#endif
