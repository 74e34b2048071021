/* Workers: a fixed pool of threads that run one function together (SPMD).
 *
 * Worker 0 is the calling thread. Inside an entry every worker executes the same sequence of task loops
 * and barriers. Tasks are fixed at compile time, so bits do not depend on the number of workers, nor on
 * who does a task:
 *
 *     NNC_PHASE(worker, 0, 1) {                           // ends with a barrier, which is step 1
 *       NNC_TASKS(worker, 42, task) kernel(worker, task); // a static range of the 42 tasks each
 *     }
 *     NNC_PHASE(worker, 1, 3) {                           // holds one task loop that is shared
 *       nnc_share(worker);                                // in the next task loop a worker that is
 *       NNC_TASKS(worker, 42, task) other(worker, task);  // done takes tasks of the others' ranges
 *     }
 *     NNC_TASKS(worker, 7, task) last(worker, task);      // outside of phases: its own range
 *     nnc_barrier(worker);
 *
 * Where other processes compete for the processors, whole phases move, too (core/pool.c): `index` is then the
 * part of the phase that the worker does, and it does as many parts as nobody else has begun.
 */
#ifndef NNC_PARALLEL_H
#define NNC_PARALLEL_H

#include <stdatomic.h>
#include <stdint.h>

#include "nnc_inline.h"

typedef struct nnc_pool nnc_pool;

struct nnc_worker {
  int index, count;
  uint32_t is_moving;    /* in this run phases move */
  uint32_t fills;        /* kernels pack the weights that they keep, and do nothing else */
  char *arena;           /* base of the model's arena */
  char *scratch;         /* this worker's block of memory in this phase */
  char *own_scratch;     /* where it is unless something alive ends above `free_from` */
  int64_t free_from;     /* bytes of the arena */
  int64_t seat;          /* of the worker, whatever part it does */
  const double *scalars; /* host scalars of this step */
  uint64_t seed, step;   /* for the random operators */
  uint64_t example; /* number of the batch's first example, for random operators in evaluation */
  /* `profile`: when each step of the entry began; not NULL with an onlooker, which is told instead */
  int64_t *marks;
  int64_t lap;        /* `profile`: when the step of a task loop began that is running */
  uint32_t shared;    /* task loops whose tasks move, so far: the same number in all workers */
  uint32_t is_shared; /* whether the next task loop is one */
  struct nnc_onlooker *onlooker; /* at each step (core/device.h); NULL: none */
  nnc_pool *pool;
};
typedef struct nnc_worker nnc_worker;

/* Tasks [at, end) of a loop. */
typedef struct nnc_task_range {
  int64_t at, end;
} nnc_task_range;

/* Of a loop whose tasks move: the next tasks to do, first of the worker's own range from its beginning,
 * then of the others' from their ends; none: all have been taken. */
nnc_task_range nnc_claim(nnc_worker *worker, int64_t tasks);

NNC_INLINE nnc_task_range nnc_first_range(nnc_worker *worker, int64_t tasks) {
  if (worker->is_shared) return nnc_claim(worker, tasks);
  return (nnc_task_range){tasks * worker->index / worker->count,
                          tasks * (worker->index + 1) / worker->count};
}

NNC_INLINE nnc_task_range nnc_next_range(nnc_worker *worker, int64_t tasks) {
  return worker->is_shared ? nnc_claim(worker, tasks) : (nnc_task_range){0, 0};
}

/* `break` would leave one range of tasks, not the loop. */
#define NNC_TASKS(worker, tasks, task)                                                             \
  for (nnc_task_range task##_range = nnc_first_range(worker, tasks);                               \
       task##_range.at < task##_range.end; task##_range = nnc_next_range(worker, tasks))           \
    for (int64_t task = task##_range.at; task < task##_range.end; task++)

/* The tasks of the next task loop move. It needs no other loop since the last barrier: a worker may do
 * a task of it while others are still at those. */
NNC_INLINE void nnc_share(nnc_worker *worker) {
  worker->shared++;
  worker->is_shared = worker->count > 1;
}

/* In this phase values live up to `from`, bytes from the arena's base, and workers need blocks of `bytes` each:
 * their own ones, which may still be in the caches, or where these hold values others from there on. */
NNC_INLINE void nnc_work_at(nnc_worker *worker, int64_t from, int64_t bytes) {
  worker->scratch =
      from <= worker->free_from ? worker->own_scratch : worker->arena + from + bytes * worker->seat;
}

/* Spins briefly, then sleeps on a futex; at once when more workers than processors are about. */
void nnc_barrier(nnc_worker *worker);

/* What the kernels of an entry keep is there, of all workers. */
NNC_INLINE void nnc_filled(nnc_worker *worker) {
  worker->fills = 0;
  nnc_barrier(worker);
}

/* Runs its statement for the worker's part, and where phases move for parts that nobody has begun; then waits
 * until all parts are done. It follows another phase, a barrier or the beginning of the entry at once, and
 * holds no barrier; `shared` is the number of nnc_share in it, `number` that of the step that its barrier is. */
#define NNC_PHASE(worker, shared, number)                                                          \
  for (int nnc_part = nnc_phase_begin(worker, shared);                                             \
       nnc_part || (nnc_mark(worker, (number) + 1), 0); nnc_part = nnc_phase_next(worker, shared))

/* Whether there is a part to do; else the phase is over. */
int nnc_phase_take(nnc_worker *worker, int shared);
int nnc_phase_next(nnc_worker *worker, int shared);
NNC_INLINE int nnc_phase_begin(nnc_worker *worker, int shared) {
  return worker->is_moving ? nnc_phase_take(worker, shared) : 1;
}

/* A function of some of the many steps of an entry: calls alone, which are no better when they are optimized. */
#if defined(__clang__)
#define NNC_PIECE __attribute__((noinline, optnone))
#else
#define NNC_PIECE __attribute__((noinline))
#endif

/* Between steps of an entry, after `number` of them: notes the time when it is profiled. */
void nnc_mark_now(nnc_worker *worker, int number);
NNC_INLINE void nnc_mark(nnc_worker *worker, int number) {
  if (__builtin_expect(worker->marks != 0, 0)) nnc_mark_now(worker, number);
}

/* The step `number` of an entry, in its function, where `worker` is the worker: the call that launches a kernel, and
 * the mark after it. Of a shared one the tasks move. */
#define NNC_STEP(number, call)                                                                     \
  do {                                                                                             \
    call;                                                                                          \
    nnc_mark(worker, (number) + 1);                                                                \
  } while (0)
#define NNC_SHARED_STEP(number, call)                                                              \
  do {                                                                                             \
    nnc_share(worker);                                                                             \
    NNC_STEP(number, call);                                                                        \
  } while (0)

/* The address of a value in the arena. */
#define NNC_AT(type, offset) ((type *)(worker->arena + (offset)))

/* A single worker, which does all tasks of a kernel, for the block of a task loop that begins
 * `examples` after the first of the batch. */
NNC_INLINE nnc_worker nnc_solo(const nnc_worker *worker, int64_t examples) {
  nnc_worker solo = *worker;
  solo.is_shared = 0;
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
NNC_INLINE void nnc_laps_begin(nnc_worker *worker, int first, int count) {
  if (__builtin_expect(worker->marks != 0, 0)) nnc_laps_begin_now(worker, first, count);
}
NNC_INLINE void nnc_lap(nnc_worker *worker, int number) {
  if (__builtin_expect(worker->marks != 0, 0)) nnc_lap_now(worker, number);
}
NNC_INLINE void nnc_laps_end(nnc_worker *worker, int first, int count) {
  if (__builtin_expect(worker->marks != 0, 0)) nnc_laps_end_now(worker, first, count);
}

/* NNC_STEP in such a loop. */
#define NNC_LAP(number, call)                                                                      \
  do {                                                                                             \
    call;                                                                                          \
    nnc_lap(worker, (number) + 1);                                                                 \
  } while (0)

#endif
