/* The pool of nnc_parallel.h: threads that wait at a barrier for the next function to run.
 *
 * The barrier counts arrivals; the last to arrive resets the count and advances `phase`, which
 * the others watch: first by spinning for some 50 microseconds (a step has many barriers, and a
 * sleep costs more than the wait), then on a futex.  A sleeper announces itself before it
 * sleeps, and the last arrival advances the phase before it looks for sleepers, both
 * sequentially consistent, so either it sees the sleeper or the sleeper sees the phase.  With
 * more workers than processors nobody spins: the worker that is waited for may need this very
 * processor. */
#include "core/pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "os/assert.h"
#include "os/cpus.h"
#include "os/futex.h"
#include "os/memory.h"
#include "os/message.h"
#include "os/thread.h"

enum { CACHE_LINE = 64, SPIN_NANOSECONDS = 50000, PAGE = 4096 };

/* Each worker on lines of its own. */
typedef struct Seat {
  _Alignas(CACHE_LINE) nnc_worker worker;
  pthread_t thread;
} Seat;

struct nnc_pool {
  _Alignas(CACHE_LINE) atomic_uint arrived;
  _Alignas(CACHE_LINE) atomic_uint phase;
  atomic_uint sleepers; /* read once a phase, by the last arrival */
  _Alignas(CACHE_LINE) int count;
  int started;                     /* threads that run, worker 0 not counted */
  int spin;                        /* looks at the phase before sleeping */
  void (*run)(nnc_worker *worker); /* NULL: the threads end */
  nnc_block scratch;
  Seat *seats;
};

static inline void spin_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static void phase_wait(nnc_pool *pool, unsigned seen) {
  for (int i = 0; i < pool->spin; i++) {
    if (atomic_load_explicit(&pool->phase, memory_order_acquire) != seen) return;
    spin_pause();
  }
  atomic_fetch_add(&pool->sleepers, 1);
  while (atomic_load(&pool->phase) == seen) nnc_futex_sleep(&pool->phase, seen);
  atomic_fetch_sub(&pool->sleepers, 1);
}

void nnc_barrier(nnc_worker *worker) {
  nnc_pool *pool = worker->pool;
  if (worker->count == 1) return;
  unsigned seen = atomic_load_explicit(&pool->phase, memory_order_relaxed);
  unsigned before = atomic_fetch_add_explicit(&pool->arrived, 1, memory_order_acq_rel);
  NNC_ASSERT(before < (unsigned)pool->count);
  if (before + 1 < (unsigned)pool->count) {
    phase_wait(pool, seen);
    return;
  }
  atomic_store_explicit(&pool->arrived, 0, memory_order_relaxed);
  atomic_store(&pool->phase, seen + 1);
  if (atomic_load(&pool->sleepers) > 0) nnc_futex_wake(&pool->phase);
}

/* How many looks fill SPIN_NANOSECONDS: `pause` takes from 5 to 140 cycles. */
static int calibrate_spin(nnc_pool *pool) {
  enum { LOOKS = 2000 };
  struct timespec start, end;
  if (clock_gettime(CLOCK_MONOTONIC, &start) != 0) return LOOKS;
  for (int i = 0; i < LOOKS; i++) {
    if (atomic_load_explicit(&pool->phase, memory_order_acquire) != 0) break;
    spin_pause();
  }
  if (clock_gettime(CLOCK_MONOTONIC, &end) != 0) return LOOKS;
  double taken = (double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec);
  double looks = LOOKS * (double)SPIN_NANOSECONDS / (taken < 1000 ? 1000 : taken);
  return looks < 100 ? 100 : looks > 50000 ? 50000 : (int)looks;
}

static void *worker_main(void *argument) {
  nnc_worker *worker = argument;
  nnc_pool *pool = worker->pool;
  for (;;) {
    nnc_barrier(worker);
    if (!pool->run) return NULL;
    pool->run(worker);
    nnc_barrier(worker);
  }
}

static void seat_workers(nnc_pool *pool, char *arena, int64_t stride) {
  for (int i = 0; i < pool->count; i++) {
    pool->seats[i].worker = (nnc_worker){
        .index = i,
        .count = pool->count,
        .arena = arena,
        .scratch = pool->scratch.base + stride * i,
        .pool = pool,
    };
  }
}

/* Worker 0 stays free to move: threads that it creates later inherit its mask, and with every
 * other core taken the scheduler leaves it where it is. */
static bool start_threads(nnc_pool *pool) {
  nnc_cpus cpus;
  nnc_cpus_find(&cpus);
  bool has_own_processor = pool->count <= cpus.count && pool->count <= cpus.quota;
  bool pin = has_own_processor && pool->count >= cpus.cores;
  pool->spin = has_own_processor ? calibrate_spin(pool) : 0;
  for (int i = 1; i < pool->count; i++) {
    Seat *seat = &pool->seats[i];
    int error =
        nnc_thread_start(&seat->thread, pin ? cpus.order[i] : -1, worker_main, &seat->worker);
    pool->started += !error;
    if (!error) continue;
    nnc_error("cannot start worker thread %d of %d: %s", i + 1, pool->count, strerror(error));
    return false;
  }
  return true;
}

/* Threads that already wait at the barrier cannot be released when others never came: the
 * barrier is completed in the name of the missing ones. */
static void arrive_for_missing(nnc_pool *pool) {
  int missing = pool->count - 1 - pool->started;
  atomic_fetch_add(&pool->arrived, (unsigned)missing);
}

nnc_pool *nnc_pool_create(int count, char *arena, int64_t worker_bytes) {
  NNC_ASSERT(count >= 1 && worker_bytes >= 0);
  nnc_pool *pool = aligned_alloc(CACHE_LINE, sizeof *pool);
  Seat *seats = aligned_alloc(CACHE_LINE, (size_t)count * sizeof *seats);
  if (!pool || !seats) {
    nnc_error("cannot allocate the pool of %d workers", count);
    free(pool);
    free(seats);
    return NULL;
  }
  memset(pool, 0, sizeof *pool);
  memset(seats, 0, (size_t)count * sizeof *seats);
  pool->count = count;
  pool->seats = seats;
  int64_t stride = (worker_bytes + PAGE - 1) / PAGE * PAGE;
  if (!nnc_block_take(&pool->scratch, stride * count, "the workers' buffers")) {
    free(seats);
    free(pool);
    return NULL;
  }
  seat_workers(pool, arena, stride);
  if (start_threads(pool)) return pool;
  arrive_for_missing(pool);
  nnc_pool_destroy(pool);
  return NULL;
}

nnc_worker *nnc_pool_worker(nnc_pool *pool, int index) {
  NNC_ASSERT(index >= 0 && index < pool->count);
  return &pool->seats[index].worker;
}

void nnc_pool_run(nnc_pool *pool, void (*run)(nnc_worker *worker)) {
  nnc_worker *first = &pool->seats[0].worker;
  pool->run = run;
  nnc_barrier(first);
  run(first);
  nnc_barrier(first);
}

void nnc_pool_run_alone(nnc_pool *pool, void (*run)(nnc_worker *worker)) {
  nnc_worker alone = pool->seats[0].worker;
  alone.count = 1;
  run(&alone);
}

void nnc_pool_destroy(nnc_pool *pool) {
  if (!pool) return;
  pool->run = NULL;
  nnc_barrier(&pool->seats[0].worker);
  for (int i = 1; i <= pool->started; i++) {
    int error = pthread_join(pool->seats[i].thread, NULL);
    if (error) nnc_error("cannot join worker thread %d: %s", i + 1, strerror(error));
  }
  nnc_block_free(&pool->scratch);
  free(pool->seats);
  free(pool);
}
