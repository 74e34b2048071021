/* Task loops: runs of launches that go through the batch in blocks. */
#ifndef NNC_PROGRAM_LOOPS_H
#define NNC_PROGRAM_LOOPS_H

#include "program/lowering.h"

/* What the values and weights that a block of a task loop touches may take of a second-level cache
 * of 512 KiB. */
enum { LOOP_CACHE_BYTES = 384 << 10 };

/* The number of blocks for a batch; 0 when it has none that is good. */
int64_t batch_blocks(int64_t batch);

#endif
