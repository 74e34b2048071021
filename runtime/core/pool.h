/* The pool of workers, as the runtime starts and ends it; generated code sees nnc_parallel.h alone. */
#ifndef NNC_POOL_H
#define NNC_POOL_H

#include "nnc_parallel.h"

/* Starts `count` - 1 threads, pinned when the workers take all cores for themselves. NULL with a
 * message on failure. */
nnc_pool *nnc_pool_create(int count, char *arena, int64_t worker_bytes);
void nnc_pool_run(nnc_pool *pool, void (*run)(nnc_worker *worker));
/* Worker 0 does all tasks; the others sleep on. */
void nnc_pool_run_alone(nnc_pool *pool, void (*run)(nnc_worker *worker));
nnc_worker *nnc_pool_worker(nnc_pool *pool, int index);
/* For tests: from now on phases move, as where other processes compete for the processors. */
void nnc_pool_move(nnc_pool *pool);
void nnc_pool_destroy(nnc_pool *pool);

#endif
