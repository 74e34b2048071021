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

/* Does not wait for the others at its barrier, and they do not run. */
static void run_alone(nnc_worker *worker) {
  expect(worker->index == 0 && worker->count == 1);
  nnc_barrier(worker);
  NNC_TASKS(worker, TASKS, task) seen[task]++;
}

static void test_count(int count) {
  static char arena[64];
  nnc_pool *pool = nnc_pool_create(count, arena, 100);
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
  for (int count = 1; count <= MOST; count += count < 4 ? 1 : 5) test_count(count);
  printf("%d failures\n", failures);
  return failures != 0;
}
