/* Buffers of a thread that makes rows: they grow, and stay for the next row.  A large one is given
 * back when its row is done: each thread would keep the largest picture of the set. */
#include "data/scratch.h"

#include <stdlib.h>

#include "os/assert.h"
#include "os/buffer.h"
#include "os/clock.h"

enum { KEPT = NNC_BUFFER(1 << 25, 64) }; /* bytes of a buffer that stays */

void *data_scratch_take(DataScratch *scratch, enum DataBuffer buffer, size_t size) {
  NNC_ASSERT(buffer < DATA_BUFFER_COUNT);
  if (size <= scratch->buffers[buffer].size) return scratch->buffers[buffer].bytes;
  free(scratch->buffers[buffer].bytes);
  scratch->buffers[buffer].bytes = malloc(size);
  scratch->buffers[buffer].size = scratch->buffers[buffer].bytes ? size : 0;
  return scratch->buffers[buffer].bytes;
}

static void add(_Atomic int64_t *sum, int64_t value) {
  atomic_fetch_add_explicit(sum, value, memory_order_relaxed);
}

void data_scratch_begin(DataScratch *scratch) { scratch->since = nnc_thread_nanoseconds(); }

void data_scratch_mark(DataScratch *scratch, enum nnc_data_work work) {
  int64_t now = nnc_thread_nanoseconds();
  add(&scratch->nanoseconds[work], now - scratch->since);
  scratch->since = now;
}

void data_scratch_end(DataScratch *scratch, int64_t rows) {
  add(&scratch->rows, rows);
  for (int b = 0; b < DATA_BUFFER_COUNT; b++) {
    if (scratch->buffers[b].size <= KEPT) continue;
    free(scratch->buffers[b].bytes);
    scratch->buffers[b].bytes = NULL;
    scratch->buffers[b].size = 0;
  }
}

void data_scratch_free(DataScratch *scratch) {
  for (int b = 0; b < DATA_BUFFER_COUNT; b++) free(scratch->buffers[b].bytes);
}
