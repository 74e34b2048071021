/* The pool of workers, as the runtime starts and ends it; generated code sees nnc_parallel.h alone. */
#ifndef NNC_POOL_H
#define NNC_POOL_H

#include "nnc_parallel.h"

/* Where the workers' blocks lie unless a phase has them elsewhere (nnc_work_at): one after the other from `at` on,
 * bytes from the arena's base. */
typedef struct nnc_blocks {
  int64_t at, bytes; /* multiples of 64; of each worker */
} nnc_blocks;

/* Starts `count` - 1 threads, pinned when the workers take all cores for themselves. NULL with a
 * message on failure. */
nnc_pool *nnc_pool_create(int count, char *arena, nnc_blocks blocks);
void nnc_pool_run(nnc_pool *pool, void (*run)(nnc_worker *worker));
/* Worker 0 does all tasks, by the same record; the others sleep on. */
void nnc_pool_run_alone(nnc_pool *pool, void (*run)(nnc_worker *worker));
nnc_worker *nnc_pool_worker(nnc_pool *pool, int index);
/* For tests: from now on phases move, as where other processes compete for the processors. */
void nnc_pool_move(nnc_pool *pool);
void nnc_pool_destroy(nnc_pool *pool);

#endif
