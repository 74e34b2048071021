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
  atomic_fetch_add(&scratch->is_written, 1);
  atomic_fetch_add(&scratch->rows, rows);
  atomic_fetch_add(&scratch->cached, scratch->found);
  atomic_fetch_add(&scratch->is_written, 1);
  scratch->found = 0;
  for (int b = 0; b < DATA_BUFFER_COUNT; b++) {
    if (scratch->buffers[b].size <= KEPT) continue;
    free(scratch->buffers[b].bytes);
    scratch->buffers[b].bytes = NULL;
    scratch->buffers[b].size = 0;
  }
}

void data_scratch_add_to(const DataScratch *scratch, nnc_data_spent *spent) {
  uint64_t before, after;
  int64_t rows, cached;
  do {
    before = atomic_load(&scratch->is_written);
    rows = atomic_load(&scratch->rows);
    cached = atomic_load(&scratch->cached);
    after = atomic_load(&scratch->is_written);
  } while (before != after || before % 2 != 0);
  spent->rows += rows;
  spent->cached += cached;
  for (int w = 0; w < NNC_DATA_WORKS; w++)
    spent->seconds[w] +=
        1e-9 * (double)atomic_load_explicit(&scratch->nanoseconds[w], memory_order_relaxed);
}

void data_scratch_free(DataScratch *scratch) {
  for (int b = 0; b < DATA_BUFFER_COUNT; b++) free(scratch->buffers[b].bytes);
}
