/* The pool of nnc_parallel.h: threads that wait at a barrier for the next function to run.
 *
 * A phase ends at a barrier. It has as many parts as there are workers; `finished` counts the parts that are
 * done, of all phases, and who does the last one of a phase sets `turn` to its number. The others watch that:
 * first by spinning for some 50 microseconds (a step has many barriers, and a
 * sleep costs more than the wait), then on a futex.  A sleeper announces itself before it
 * sleeps, and the last one sets the turn before it looks for sleepers, both
 * sequentially consistent, so either it sees the sleeper or the sleeper sees the turn.  With
 * more workers than processors nobody spins: the worker that is waited for may need this very
 * processor.
 *
 * Where other processes compete for the processors, the scheduler takes a worker's away for milliseconds, and all
 * would wait for the part that it was at. Then phases move: a worker gives its processor up itself from
 * time to time, between two phases, and the others do its parts meanwhile. When it comes back it finds
 * phases that are over, and passes them. Runs begin and end with all workers. */
#include "core/pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "os/assert.h"
#include "os/clock.h"
#include "os/cpus.h"
#include "os/futex.h"
#include "os/message.h"
#include "os/thread.h"

enum { CACHE_LINE = 64, SPIN_NANOSECONDS = 50000 };

/* Each worker on lines of its own.
 *
 * `claims` is what has been taken of the worker's range in a task loop whose tasks move: the loop's number, units
 * from the front (by the worker itself) and from the back (by others), in one word, which only grows by compare
 * and swap. A word of an earlier loop stands for a range of which nothing has been taken, so a range may be
 * emptied before its worker begins; one of a later loop for a range that is done, since a worker leaves a loop
 * when all of it has been taken. Workers that claim are at most the loops of a phase apart. */
typedef struct Seat {
  _Alignas(CACHE_LINE) nnc_worker worker;
  pthread_t thread;
  uint64_t phase;  /* that the worker is in; the first one is 1 */
  uint32_t shared; /* worker.shared when it began */
  int64_t since;   /* when the worker last gave its processor up, in nanoseconds */
  _Alignas(CACHE_LINE) _Atomic uint64_t claims;
  _Atomic uint64_t
      taken; /* the last phase of which this seat's part has been begun, where phases move */
} Seat;

enum {
  LOOP_BITS = 24,
  UNIT_BITS = 20
}; /* of Seat.claims; a unit is one task unless they are too many */

/* Of competing processes, in nanoseconds. A scheduler's slice is a millisecond and more. */
enum {
  BETWEEN_LOOKS = 20 * 1000 * 1000,
  STOP_EVERY = 20 * 1000 * 1000, /* a stop in less than this is often */
  REMEMBERED = 500 * 1000 * 1000,
  BETWEEN_YIELDS = 1000 * 1000,
};

typedef struct Contention {
  int64_t looked, stops; /* when, and how often the process had been stopped */
  int64_t until;         /* phases move until then */
} Contention;

struct nnc_pool {
  _Alignas(CACHE_LINE) _Atomic uint64_t finished; /* parts of phases */
  _Alignas(CACHE_LINE) atomic_uint turn;          /* the last phase that is over, its low bits */
  atomic_uint sleepers;                           /* read once a phase, by who does its last part */
  _Alignas(CACHE_LINE) int count;
  int started;         /* threads that run, worker 0 not counted */
  int spin;            /* looks at the turn before sleeping */
  int first_processor; /* where worker 0 begins; -1: anywhere */
  Contention contention;
  void (*run)(nnc_worker *worker); /* NULL: the threads end */
  uint32_t is_moving;              /* phases, in this run */
  Seat *seats;
};

static inline void spin_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static inline bool is_over(const nnc_pool *pool, uint64_t phase, memory_order order) {
  return (int32_t)(atomic_load_explicit(&pool->turn, order) - (uint32_t)phase) >= 0;
}

__attribute__((noinline)) static void wait_for(nnc_pool *pool, uint64_t phase) {
  for (int i = 0; i < pool->spin; i++) {
    if (is_over(pool, phase, memory_order_acquire)) return;
    spin_pause();
  }
  atomic_fetch_add(&pool->sleepers, 1);
  for (;;) {
    const unsigned seen = atomic_load(&pool->turn);
    if ((int32_t)(seen - (uint32_t)phase) >= 0) break;
    nnc_futex_sleep(&pool->turn, seen);
  }
  atomic_fetch_sub(&pool->sleepers, 1);
}

/* No part of the next phase begins before the turn is set, so it never goes back. */
__attribute__((noinline)) static void finish_parts(nnc_pool *pool, uint64_t phase, int parts) {
  const uint64_t all = phase * (uint64_t)pool->count;
  const uint64_t before =
      atomic_fetch_add_explicit(&pool->finished, (uint64_t)parts, memory_order_acq_rel);
  NNC_ASSERT(before + (uint64_t)parts <= all);
  if (before + (uint64_t)parts < all) return;
  atomic_store(&pool->turn, (uint32_t)phase);
  if (atomic_load(&pool->sleepers) > 0) nnc_futex_wake(&pool->turn);
}

void nnc_barrier(nnc_worker *worker) {
  if (worker->count == 1) return;
  Seat *seat = (Seat *)worker;
  seat->phase++;
  finish_parts(worker->pool, seat->phase, 1);
  wait_for(worker->pool, seat->phase);
}

/* ---- phases that move ---- */

/* Gives the processor up before the scheduler takes it, but not more often than is worth a change of processes. */
static void give_way(Seat *seat) {
  const int64_t now = nnc_nanoseconds_now();
  if (now - seat->since < BETWEEN_YIELDS) return;
  nnc_thread_yield();
  seat->since = nnc_nanoseconds_now();
}

static bool take_part(Seat *seat, int index) {
  _Atomic uint64_t *taken = &seat->worker.pool->seats[index].taken;
  uint64_t seen = atomic_load_explicit(taken, memory_order_relaxed);
  while (seen < seat->phase)
    if (atomic_compare_exchange_weak_explicit(taken, &seen, seat->phase, memory_order_relaxed,
                                              memory_order_relaxed))
      return true;
  return false;
}

/* The next part that nobody has begun, the worker's own first; false: there is none. */
__attribute__((noinline)) static bool take_a_part(Seat *seat) {
  nnc_worker *worker = &seat->worker;
  const int own = (int)(seat - worker->pool->seats);
  for (int k = 0; k < worker->count; k++) {
    worker->index = (own + k) % worker->count;
    if (!take_part(seat, worker->index)) continue;
    worker->shared = seat->shared;
    return true;
  }
  worker->index = own;
  return false;
}

__attribute__((noinline)) static int end_phase(Seat *seat, int shared) {
  seat->worker.shared = seat->shared + (uint32_t)shared;
  wait_for(seat->worker.pool, seat->phase);
  return 0;
}

int nnc_phase_take(nnc_worker *worker, int shared) {
  Seat *seat = (Seat *)worker;
  seat->phase++;
  seat->shared = worker->shared;
  if (is_over(worker->pool, seat->phase, memory_order_acquire)) return end_phase(seat, shared);
  give_way(seat);
  return take_a_part(seat) || end_phase(seat, shared);
}

int nnc_phase_next(nnc_worker *worker, int shared) {
  if (!worker->is_moving) {
    nnc_barrier(worker);
    return 0;
  }
  Seat *seat = (Seat *)worker;
  finish_parts(worker->pool, seat->phase, 1);
  return take_a_part(seat) || end_phase(seat, shared);
}

/* Whether others compete for the processors: the scheduler has stopped this process's threads often of late. */
static bool is_contended(Contention *contention) {
  const int64_t now = nnc_nanoseconds_now(), past = now - contention->looked;
  if (past >= BETWEEN_LOOKS) {
    const int64_t stops = nnc_thread_stops();
    const bool is_often = (stops - contention->stops) * STOP_EVERY > past;
    if (is_often && contention->looked && contention->until < now + REMEMBERED)
      contention->until = now + REMEMBERED;
    contention->looked = now;
    contention->stops = stops;
  }
  return now < contention->until;
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
    if (atomic_load_explicit(&pool->turn, memory_order_acquire) != 0) break;
    spin_pause();
  }
  if (clock_gettime(CLOCK_MONOTONIC, &end) != 0) return LOOKS;
  double taken = (double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec);
  double looks = LOOKS * (double)SPIN_NANOSECONDS / (taken < 1000 ? 1000 : taken);
  return looks < 100 ? 100 : looks > 50000 ? 50000 : (int)looks;
}

static void begin_run(nnc_worker *worker) { worker->is_moving = worker->pool->is_moving; }

static void *worker_main(void *argument) {
  nnc_worker *worker = argument;
  nnc_pool *pool = worker->pool;
  for (;;) {
    nnc_barrier(worker);
    if (!pool->run) return NULL;
    begin_run(worker);
    pool->run(worker);
    nnc_barrier(worker);
  }
}

static void seat_workers(nnc_pool *pool, char *arena, nnc_blocks blocks) {
  for (int i = 0; i < pool->count; i++) {
    char *scratch = arena + blocks.at + blocks.bytes * i;
    pool->seats[i].worker = (nnc_worker){
        .index = i,
        .count = pool->count,
        .arena = arena,
        .scratch = scratch,
        .own_scratch = scratch,
        .free_from = blocks.at,
        .seat = i,
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
  if (missing > 0) finish_parts(pool, 1, missing);
}

nnc_pool *nnc_pool_create(int count, char *arena, nnc_blocks blocks) {
  NNC_ASSERT(count >= 1 && blocks.bytes >= 0 && blocks.bytes % CACHE_LINE == 0);
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
  seat_workers(pool, arena, blocks);
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
  /* those that are timed step by step do not move */
  pool->is_moving =
      pool->count > 1 && !first->marks && !first->onlooker && is_contended(&pool->contention);
  if (pool->first_processor >= 0 && nnc_thread_processor() != pool->first_processor)
    nnc_thread_go(pool->first_processor);
  nnc_barrier(first);
  begin_run(first);
  run(first);
  nnc_barrier(first);
  first->is_moving = 0;
}

void nnc_pool_run_alone(nnc_pool *pool, void (*run)(nnc_worker *worker)) {
  nnc_worker *worker = &pool->seats[0].worker;
  const nnc_worker before = *worker;
  worker->count = 1;
  run(worker);
  *worker = before;
}

void nnc_pool_move(nnc_pool *pool) { pool->contention.until = INT64_MAX; }

void nnc_pool_destroy(nnc_pool *pool) {
  if (!pool) return;
  pool->run = NULL;
  nnc_barrier(&pool->seats[0].worker);
  for (int i = 1; i <= pool->started; i++) {
    int error = pthread_join(pool->seats[i].thread, NULL);
    if (error) nnc_error("cannot join worker thread %d: %s", i + 1, strerror(error));
  }
  free(pool->seats);
  free(pool);
}
