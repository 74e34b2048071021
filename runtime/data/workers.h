/* Threads that make the rows of a batch side by side. */
#ifndef NNC_DATA_WORKERS_H
#define NNC_DATA_WORKERS_H

#include <stdint.h>

#include "data/call.h"

typedef struct DataWorkers DataWorkers;
struct DataScratch;
/* `count` with the caller, who is one of them. */
DataWorkers *data_workers_open(const DataContext *context, int count);
/* Calls run(state, index, scratch) for each index below `count`, in any order; no two calls have
 * the same scratch at a time. */
void data_workers_run(DataWorkers *workers, int64_t count, void *state,
                      void (*run)(void *state, int64_t index, struct DataScratch *scratch));
int data_workers_count(const DataWorkers *workers);
const struct DataScratch *data_workers_scratch(const DataWorkers *workers, int worker);
void data_workers_close(DataWorkers *workers); /* NULL is fine */

#endif
