/* Offsets of buffers in one region of memory. */
#ifndef NNC_PROGRAM_OFFSETS_H
#define NNC_PROGRAM_OFFSETS_H

#include "program/program.h"

/* What lies in a region. */
typedef struct RegionUse {
  int count;
  const int *buffers; /* so many */
  const int *time;    /* of each step */
  const int64_t
      *above;    /* by time: bytes that are needed then above all that is alive; NULL: none */
  int64_t begin; /* of the region */
  int64_t
      most; /* bytes; where more are needed in whatever order, one order is as good as another */
  int64_t enough; /* bytes; a region of so many is as good as a smaller one */
} RegionUse;

/* Sets the offsets of the buffers so that those which are alive together lie apart: two are, if they are used
 * at steps with the same time, or one between the uses of the other. The region is small, with what is needed
 * above. Returns the end of the buffers. */
int64_t offsets_assign(Program *program, const RegionUse *use);

#endif
