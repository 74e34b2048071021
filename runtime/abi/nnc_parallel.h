/* Workers: a fixed pool of threads that run one function together (SPMD).
 *
 * Worker 0 is the calling thread. Inside an entry every worker executes the same sequence of task loops
 * and barriers. Tasks are fixed at compile time, so bits do not depend on the number of workers:
 *
 *     NNC_TASKS(worker, 42, task) kernel(worker, task);   // a static range of the 42 tasks each
 *     nnc_barrier(worker);
 */
#ifndef NNC_PARALLEL_H
#define NNC_PARALLEL_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct nnc_pool nnc_pool;

struct nnc_worker {
  int index, count;
  char *arena;           /* base of the model's arena */
  char *scratch;         /* this worker's block of nnc_model.worker_bytes */
  const double *scalars; /* host scalars of this step */
  uint64_t seed, step;   /* for the random operators */
  uint64_t example; /* number of the batch's first example, for random operators in evaluation */
  int64_t *marks;   /* `profile`: when each step of the entry began; NULL otherwise */
  int64_t lap;      /* `profile`: when the step of a task loop began that is running */
  nnc_pool *pool;
};
typedef struct nnc_worker nnc_worker;

#define NNC_TASKS(worker, tasks, task)                                                             \
  for (int64_t task = (int64_t)(tasks) * (worker)->index / (worker)->count,                        \
               task##_end = (int64_t)(tasks) * ((worker)->index + 1) / (worker)->count;            \
       task < task##_end; task++)

/* Spins briefly, then sleeps on a futex; at once when more workers than processors are about. */
void nnc_barrier(nnc_worker *worker);

/* Between steps of an entry, after `number` of them: notes the time when it is profiled. */
void nnc_mark_now(nnc_worker *worker, int number);
static inline __attribute__((always_inline, unused)) void nnc_mark(nnc_worker *worker, int number) {
  if (__builtin_expect(worker->marks != 0, 0)) nnc_mark_now(worker, number);
}

/* A single worker, which does all tasks of a kernel, for the block of a task loop that begins
 * `examples` after the first of the batch. */
static inline __attribute__((always_inline, unused)) nnc_worker nnc_solo(const nnc_worker *worker,
                                                                         int64_t examples) {
  nnc_worker solo = *worker;
  solo.index = 0;
  solo.count = 1;
  solo.example += (uint64_t)examples;
  return solo;
}

/* In a task loop of `count` steps from number `first` on: nnc_lap adds the time since the lap before
 * to what the step has taken, after number + 1 of them; at the end marks are set as if
 * each step had run once, for all of that time. */
void nnc_laps_begin_now(nnc_worker *worker, int first, int count);
void nnc_lap_now(nnc_worker *worker, int number);
void nnc_laps_end_now(nnc_worker *worker, int first, int count);
static inline __attribute__((always_inline, unused)) void nnc_laps_begin(nnc_worker *worker,
                                                                         int first, int count) {
  if (__builtin_expect(worker->marks != 0, 0)) nnc_laps_begin_now(worker, first, count);
}
static inline __attribute__((always_inline, unused)) void nnc_lap(nnc_worker *worker, int number) {
  if (__builtin_expect(worker->marks != 0, 0)) nnc_lap_now(worker, number);
}
static inline __attribute__((always_inline, unused)) void nnc_laps_end(nnc_worker *worker,
                                                                       int first, int count) {
  if (__builtin_expect(worker->marks != 0, 0)) nnc_laps_end_now(worker, first, count);
}

#endif
