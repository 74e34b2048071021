/* Threads that make the rows of a batch side by side. */
#ifndef NNC_DATA_WORKERS_H
#define NNC_DATA_WORKERS_H

#include <stdint.h>

#include "data/call.h"

typedef struct DataWorkers DataWorkers;
/* `count` with the caller, who is one of them. */
DataWorkers *data_workers_open(const DataContext *context, int count);
/* Calls run(state, index, worker) for each index below `count`, in any order. */
void data_workers_run(DataWorkers *workers, int64_t count, void *state,
                      void (*run)(void *state, int64_t index, int worker));
void data_workers_close(DataWorkers *workers); /* NULL is fine */

#endif
