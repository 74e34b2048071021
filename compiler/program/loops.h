/* Task loops: runs of launches that go through the batch in blocks. */
#ifndef NNC_PROGRAM_LOOPS_H
#define NNC_PROGRAM_LOOPS_H

#include "program/lowering.h"

/* The number of blocks for a batch; 0 when it has none that is good. */
int64_t batch_blocks(const TaskLoopLimits *limits, int64_t batch);

/* The same for the rounds of a scan and so many threads; 0 threads: none. */
int64_t scan_blocks(const TaskLoopLimits *limits, int64_t batch, int threads);

#endif
