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

/* Each worker on lines of its own.
 *
 * `claims` is what has been taken of the worker's range in a task loop whose tasks move: the loop's number, units
 * from the front (by the worker itself) and from the back (by others), in one word, which only grows by compare
 * and swap. A word of an earlier loop stands for a range of which nothing has been taken, so a range may be
 * emptied before its worker begins; one of a later loop for a range that is done, since a worker leaves a loop
 * when all of it has been taken. Workers are at most the loops between two barriers apart. */
typedef struct Seat {
  _Alignas(CACHE_LINE) nnc_worker worker;
  pthread_t thread;
  _Alignas(CACHE_LINE) _Atomic uint64_t claims;
} Seat;

enum {
  LOOP_BITS = 24,
  UNIT_BITS = 20
}; /* of Seat.claims; a unit is one task unless they are too many */

struct nnc_pool {
  _Alignas(CACHE_LINE) atomic_uint arrived;
  _Alignas(CACHE_LINE) atomic_uint phase;
  atomic_uint sleepers; /* read once a phase, by the last arrival */
  _Alignas(CACHE_LINE) int count;
  int started;                     /* threads that run, worker 0 not counted */
  int spin;                        /* looks at the phase before sleeping */
  int first_processor;             /* where worker 0 begins; -1: anywhere */
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

/* ---- tasks that move ---- */

typedef struct Claims {
  uint32_t loop, front, back;
} Claims;

static inline Claims unpack_claims(uint64_t word) {
  const uint64_t most = (UINT64_C(1) << UNIT_BITS) - 1;
  return (Claims){(uint32_t)(word >> 2 * UNIT_BITS), (uint32_t)(word >> UNIT_BITS & most),
                  (uint32_t)(word & most)};
}

static inline uint64_t pack_claims(Claims claims) {
  return (uint64_t)claims.loop << 2 * UNIT_BITS | (uint64_t)claims.front << UNIT_BITS | claims.back;
}

/* Takes a unit of the range of worker `owner`, from its front or its back; an empty range: there is none left.
 * The owner notes that it has been here even where it finds none, so that no word falls behind.
 * Relaxed order suffices: what tasks write is published by barriers. */
static nnc_task_range claim_of(nnc_worker *worker, int owner, int64_t tasks) {
  const nnc_task_range none = {0, 0};
  const int64_t first = tasks * owner / worker->count, end = tasks * (owner + 1) / worker->count;
  const int64_t most = (1 << UNIT_BITS) - 1, unit = (end - first + most - 1) / most;
  const int64_t units = unit ? (end - first + unit - 1) / unit : 0;
  const uint32_t loop_mask = (1u << LOOP_BITS) - 1, loop = worker->shared & loop_mask;
  const bool is_own = owner == worker->index;
  _Atomic uint64_t *word = &worker->pool->seats[owner].claims;
  uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);
  for (;;) {
    Claims claims = unpack_claims(seen);
    const uint32_t ahead = (claims.loop - loop) & loop_mask;
    if (ahead != 0 && ahead < 1u << (LOOP_BITS - 1)) return none;
    if (ahead != 0) claims = (Claims){loop, 0, 0};
    const bool is_left = (int64_t)claims.front + claims.back < units;
    if (!is_left && (ahead == 0 || !is_own)) return none;
    const int64_t at = is_own ? claims.front : units - 1 - claims.back;
    claims.front += is_left && is_own;
    claims.back += is_left && !is_own;
    if (!atomic_compare_exchange_weak_explicit(word, &seen, pack_claims(claims),
                                               memory_order_relaxed, memory_order_relaxed))
      continue;
    if (!is_left) return none;
    return (nnc_task_range){first + at * unit, at + 1 < units ? first + (at + 1) * unit : end};
  }
}

nnc_task_range nnc_claim(nnc_worker *worker, int64_t tasks) {
  for (int k = 0; k < worker->count; k++) {
    const int owner = (worker->index + k) % worker->count;
    const nnc_task_range range = claim_of(worker, owner, tasks);
    if (range.at < range.end) return range;
  }
  worker->is_shared = 0;
  return (nnc_task_range){0, 0};
}

/* ---- starting and ending ---- */

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

/* Worker 0 stays free to move: threads that it creates later inherit its mask. With every other core
 * taken it begins each run on the one that is left: where it was started, or where it waited, may
 * be the core of another worker, which the scheduler notes only after many steps. */
static bool start_threads(nnc_pool *pool) {
  nnc_cpus cpus;
  nnc_cpus_find(&cpus);
  bool has_own_processor = pool->count <= cpus.count && pool->count <= cpus.quota;
  bool pin = has_own_processor && pool->count >= cpus.cores;
  pool->first_processor = pin && pool->count > 1 ? cpus.order[0] : -1;
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
  if (pool->first_processor >= 0 && nnc_thread_processor() != pool->first_processor)
    nnc_thread_go(pool->first_processor);
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
