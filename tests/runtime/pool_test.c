/* The pool and its barrier under load: every phase must see the whole of the phase before.  Meant
 * to run plain, with the thread sanitizer, and with more workers than processors. */
#include <stdio.h>
#include <stdlib.h>

#include "core/pool.h"

enum { ROUNDS = 300, MOST = 9, TASKS = 1000 };

static long cells[MOST][16]; /* one line a worker, written by it alone */
static long total[2];        /* written by worker 0 */
static unsigned char seen[TASKS];
static atomic_int failures;

/* Phases end with a mark, which nothing here asks for. */
void nnc_mark_now(nnc_worker *worker, int number) {
  (void)worker;
  (void)number;
  abort();
}

static void expect(int condition) {
  if (!condition) atomic_fetch_add(&failures, 1);
}

/* Workers write their cells, all read all cells, worker 0 sums: no locks but the barrier. */
static void run_rounds(nnc_worker *worker) {
  for (long round = 1; round <= ROUNDS; round++) {
    cells[worker->index][0] = round * (worker->index + 1);
    nnc_barrier(worker);
    for (int i = 0; i < worker->count; i++) expect(cells[i][0] == round * (i + 1));
    if (worker->index == 0) total[round & 1] = round;
    nnc_barrier(worker);
    expect(total[round & 1] == round);
  }
}

static void run_tasks(nnc_worker *worker) {
  NNC_TASKS(worker, TASKS, task) seen[task]++;
  worker->scratch[0] = (char)worker->index;
}

enum { LOOPS = 6, MANY = 3 << 21 };
static const int64_t extents[LOOPS] = {1000, 3, 0, 1, 57, MANY};
static unsigned char *done[LOOPS];
static atomic_long moved; /* tasks outside of the worker's own range */

static void slow_down(const nnc_worker *worker, long round) {
  if ((worker->index + round) % 3 == 0)
    for (volatile int i = 0; i < 20000; i++) continue;
}

/* Loops whose tasks move follow each other without a barrier, each task is done once; tasks before a
 * barrier are seen after it. Workers begin at different times. */
static void run_shared(nnc_worker *worker) {
  for (long round = 0; round < 40; round++) {
    slow_down(worker, round);
    for (int loop = 0; loop < (round ? LOOPS - 1 : LOOPS); loop++) {
      int64_t tasks = extents[loop];
      nnc_share(worker);
      NNC_TASKS(worker, tasks, task) {
        done[loop][task]++;
        if (task < tasks * worker->index / worker->count ||
            task >= tasks * (worker->index + 1) / worker->count)
          atomic_fetch_add(&moved, 1);
      }
      expect(!worker->is_shared);
    }
    nnc_barrier(worker);
    NNC_TASKS(worker, TASKS, task) expect(done[0][task] == round + 1 && ++seen[task] == round + 1);
    nnc_barrier(worker);
  }
}

static void test_shared(int count) {
  _Alignas(64) static char arena[64 + MOST * 128];
  nnc_pool *pool = nnc_pool_create(count, arena, (nnc_blocks){64, 128});
  if (!pool) exit(1);
  for (int loop = 0; loop < LOOPS; loop++) {
    done[loop] = calloc((size_t)extents[loop] + 1, 1);
    if (!done[loop]) exit(1);
  }
  for (int i = 0; i < TASKS; i++) seen[i] = 0;
  nnc_pool_run(pool, run_shared);
  for (int loop = 0; loop < LOOPS; loop++) {
    for (int64_t i = 0; i < extents[loop]; i++)
      expect(done[loop][i] == (loop < LOOPS - 1 ? 40 : 1));
    free(done[loop]);
  }
  nnc_pool_destroy(pool);
  expect((moved > 0) == (count > 1));
  moved = 0;
}

/* ---- phases ---- */

static void run_alone(nnc_worker *worker);

enum { PHASES = 6, PHASE_ROUNDS = 60, PARTS = 40 };
static long cells_of[PHASES][PARTS]; /* each written by one task */
static long shared_cells[TASKS];
static atomic_long strangers; /* parts that another worker than their own has done */

/* Each phase reads what the one before wrote, in tasks of other ranges; loops of a phase that are not shared have the
 * same ranges, and the second reads what the first wrote. A phase that is shared, one by itself, and a barrier follow. */
static void run_phases(nnc_worker *worker) {
  const int own = worker->index;
  for (long round = 1; round <= PHASE_ROUNDS; round++) {
    for (int phase = 0; phase < PHASES; phase++) {
      slow_down(worker, round + phase);
      NNC_PHASE(worker, 0, 0) {
        if (worker->index != own) atomic_fetch_add(&strangers, 1);
        NNC_TASKS(worker, PARTS, task) {
          const long before = round - (phase == 0);
          expect(cells_of[(phase + PHASES - 1) % PHASES][(task + 7) % PARTS] == 2 * before);
          expect(cells_of[phase][task] == 2 * (round - 1));
          cells_of[phase][task]++;
        }
        NNC_TASKS(worker, PARTS, task) expect(++cells_of[phase][task] == 2 * round);
      }
      expect(worker->index == own);
    }
    NNC_PHASE(worker, 2, 0) {
      nnc_share(worker);
      NNC_TASKS(worker, TASKS, task) shared_cells[task]++;
      nnc_share(worker);
      NNC_TASKS(worker, 3, task) expect(cells_of[PHASES - 1][task] == 2 * round);
    }
    NNC_TASKS(worker, TASKS, task) expect(shared_cells[(task + 100) % TASKS] == round);
    nnc_barrier(worker);
  }
}

static void test_phases(int count, int is_moving) {
  _Alignas(64) static char arena[64 + MOST * 128];
  nnc_pool *pool = nnc_pool_create(count, arena, (nnc_blocks){64, 128});
  if (!pool) exit(1);
  if (is_moving) nnc_pool_move(pool);
  strangers = 0;
  for (int run = 0; run < 5; run++) {
    for (int i = 0; i < PHASES; i++)
      for (int k = 0; k < PARTS; k++) cells_of[i][k] = 0;
    for (int i = 0; i < TASKS; i++) shared_cells[i] = 0;
    nnc_pool_run(pool, run_phases);
    for (int i = 0; i < PHASES; i++)
      for (int k = 0; k < PARTS; k++) expect(cells_of[i][k] == 2 * PHASE_ROUNDS);
    for (int i = 0; i < TASKS; i++) expect(shared_cells[i] == PHASE_ROUNDS);
  }
  nnc_pool_run_alone(pool, run_alone);
  nnc_pool_destroy(pool);
  if (count == 1) expect(strangers == 0);
  else if (is_moving) expect(strangers > 0); /* else it depends on other processes */
}

/* Does not wait for the others at its barrier, and they do not run. */
static void run_alone(nnc_worker *worker) {
  expect(worker->index == 0 && worker->count == 1);
  nnc_barrier(worker);
  NNC_TASKS(worker, TASKS, task) seen[task]++;
}

static void test_count(int count) {
  _Alignas(64) static char arena[64 + MOST * 128];
  nnc_pool *pool = nnc_pool_create(count, arena, (nnc_blocks){64, 128});
  if (!pool) exit(1);
  for (int i = 0; i < 20; i++) nnc_pool_run(pool, run_rounds);
  for (int i = 0; i < TASKS; i++) seen[i] = 0;
  nnc_pool_run(pool, run_tasks);
  for (int i = 0; i < TASKS; i++) expect(seen[i] == 1);
  for (int i = 0; i < count; i++) {
    expect(nnc_pool_worker(pool, i)->scratch[0] == i);
    expect((uintptr_t)nnc_pool_worker(pool, i)->scratch % 64 == 0);
  }
  for (int i = 0; i < 20; i++) nnc_pool_run_alone(pool, run_alone);
  for (int i = 0; i < TASKS; i++) expect(seen[i] == 21);
  for (int i = 0; i < 20; i++) nnc_pool_run(pool, run_rounds);
  nnc_pool_destroy(pool);
}

int main(void) {
  for (int count = 1; count <= MOST; count += count < 4 ? 1 : 5) {
    test_count(count);
    test_shared(count);
    test_phases(count, 0);
    test_phases(count, 1);
  }
  printf("%d failures\n", failures);
  return failures != 0;
}
