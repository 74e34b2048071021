/* Threads that make the rows of a batch side by side.
 *
 * A run hands out indices under one mutex: making a row takes far longer than that.  The caller
 * works too; a second caller waits for the first one's end. */
#include "data/workers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "data/call.h"
#include "data/scratch.h"
#include "os/assert.h"
#include "os/thread.h"

struct DataWorkers {
  int started; /* threads besides the caller */
  pthread_t *threads;
  DataScratch *scratch;   /* of each, the caller's first */
  pthread_mutex_t caller; /* held during a run */
  pthread_mutex_t mutex;
  pthread_cond_t has_work, is_done;
  void (*run)(void *state, int64_t index, DataScratch *scratch);
  void *state;
  int64_t next, total, unfinished;
  bool ends;
};

typedef struct WorkerStart {
  DataWorkers *workers;
  int worker;
} WorkerStart;

/* With the mutex held: takes indices until there are none. */
static void work(DataWorkers *workers, int worker) {
  while (workers->next < workers->total) {
    int64_t index = workers->next++;
    NNC_ASSERT(worker <= workers->started && workers->unfinished > 0);
    pthread_mutex_unlock(&workers->mutex);
    workers->run(workers->state, index, &workers->scratch[worker]);
    pthread_mutex_lock(&workers->mutex);
    if (--workers->unfinished == 0) pthread_cond_signal(&workers->is_done);
  }
}

static void *serve(void *argument) {
  WorkerStart start = *(WorkerStart *)argument;
  DataWorkers *workers = start.workers;
  free(argument);
  pthread_mutex_lock(&workers->mutex);
  while (!workers->ends) {
    work(workers, start.worker);
    if (!workers->ends) pthread_cond_wait(&workers->has_work, &workers->mutex);
  }
  pthread_mutex_unlock(&workers->mutex);
  return NULL;
}

static bool start_thread(DataWorkers *workers, int worker) {
  WorkerStart *start = malloc(sizeof *start);
  if (!start) return false;
  *start = (WorkerStart){workers, worker};
  if (nnc_thread_start(&workers->threads[workers->started], -1, serve, start) == 0) {
    workers->started++;
    return true;
  }
  free(start);
  return false;
}

DataWorkers *data_workers_open(const DataContext *context, int count) {
  DataWorkers *workers = calloc(1, sizeof *workers);
  bool good = workers && (workers->threads = calloc((size_t)count, sizeof *workers->threads)) &&
              (workers->scratch = calloc((size_t)count, sizeof *workers->scratch));
  if (good && pthread_mutex_init(&workers->caller, NULL) == 0 &&
      pthread_mutex_init(&workers->mutex, NULL) == 0 &&
      pthread_cond_init(&workers->has_work, NULL) == 0 &&
      pthread_cond_init(&workers->is_done, NULL) == 0) {
    for (int i = 1; i < count && good; i++) good = start_thread(workers, i);
    if (good) return workers;
    data_workers_close(workers);
  } else if (workers) {
    free(workers->threads);
    free(workers->scratch);
    free(workers);
  }
  data_fail(context, "cannot start %d threads that prepare examples", count);
  return NULL;
}

void data_workers_run(DataWorkers *workers, int64_t count, void *state,
                      void (*run)(void *state, int64_t index, DataScratch *scratch)) {
  pthread_mutex_lock(&workers->caller);
  pthread_mutex_lock(&workers->mutex);
  workers->run = run;
  workers->state = state;
  workers->next = 0;
  workers->total = workers->unfinished = count;
  pthread_cond_broadcast(&workers->has_work);
  work(workers, 0);
  while (workers->unfinished > 0) pthread_cond_wait(&workers->is_done, &workers->mutex);
  workers->total = 0;
  pthread_mutex_unlock(&workers->mutex);
  pthread_mutex_unlock(&workers->caller);
}

int data_workers_count(const DataWorkers *workers) { return workers->started + 1; }

const DataScratch *data_workers_scratch(const DataWorkers *workers, int worker) {
  NNC_ASSERT(worker <= workers->started);
  return &workers->scratch[worker];
}

void data_workers_close(DataWorkers *workers) {
  if (!workers) return;
  pthread_mutex_lock(&workers->mutex);
  workers->ends = true;
  pthread_cond_broadcast(&workers->has_work);
  pthread_mutex_unlock(&workers->mutex);
  for (int i = 0; i < workers->started; i++) pthread_join(workers->threads[i], NULL);
  for (int i = 0; i <= workers->started; i++) data_scratch_free(&workers->scratch[i]);
  pthread_cond_destroy(&workers->has_work);
  pthread_cond_destroy(&workers->is_done);
  pthread_mutex_destroy(&workers->mutex);
  pthread_mutex_destroy(&workers->caller);
  free(workers->scratch);
  free(workers->threads);
  free(workers);
}
