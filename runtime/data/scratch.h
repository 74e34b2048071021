/* What a thread that makes rows keeps from one row to the next: buffers, and how long it worked. */
#ifndef NNC_DATA_SCRATCH_H
#define NNC_DATA_SCRATCH_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "data/spent.h"

enum DataBuffer {
  DATA_BUFFER_FILE,
  DATA_BUFFER_JOINT,  /* of a part of a joint table */
  DATA_BUFFER_ROW,    /* of a file that stays on disk */
  DATA_BUFFER_CACHED, /* of the cache's file */
  DATA_BUFFER_DECODED,
  DATA_BUFFER_TURNED,
  DATA_BUFFER_SCALED, /* and the next: what one scaling makes is read by another */
  DATA_BUFFER_SCALED_AGAIN,
  DATA_BUFFER_DOWN,
  DATA_BUFFER_ACROSS,
  DATA_BUFFER_LINE,
  DATA_BUFFER_COUNT
};

/* One writes; all may read the sums at the same time (data_scratch_add_to). */
typedef struct DataScratch {
  struct {
    void *bytes;
    size_t size;
  } buffers[DATA_BUFFER_COUNT];
  int64_t since; /* the thread's processor time at the last mark */
  _Atomic int64_t nanoseconds[NNC_DATA_WORKS];
  int64_t found; /* by the cache, of the rows that are being made */
  _Atomic int64_t rows;
  _Atomic int64_t cached;      /* of them, what the cache had */
  _Atomic uint64_t is_written; /* grows when rows and cached begin to change, and when they have */
} DataScratch;

/* The buffer, with room for `size` bytes, aligned for any type; what it held is lost. NULL when
 * there is no memory. */
void *data_scratch_take(DataScratch *scratch, enum DataBuffer buffer, size_t size);
/* Rows begin; the time since the last call was for this kind of work; so many rows are done. */
void data_scratch_begin(DataScratch *scratch);
void data_scratch_mark(DataScratch *scratch, enum nnc_data_work work);
void data_scratch_end(DataScratch *scratch, int64_t rows);
/* Adds what the thread has spent; rows and what the cache had of them belong together. */
void data_scratch_add_to(const DataScratch *scratch, nnc_data_spent *spent);
void data_scratch_free(DataScratch *scratch);

#endif
