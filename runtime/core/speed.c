/* The machine's speed: see speed.h.
 *
 * Multiply-add: for half a millisecond at a time, the fastest counts.  Reading: over and over
 * through as much memory as the model takes (at least 1 MB, at most 256 MB), since that decides
 * from which level of the caches its kernels can be served; the fastest counts.  A kernel whose
 * own operands fit a nearer cache may read faster. */
#include "core/speed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/planned.h"
#include "core/pool.h"
#include "os/clock.h"
#include "os/memory.h"
#include "os/message.h"
#include "nnc_limits.h"

enum { LEAST_BYTES = 1 << 20, MOST_BYTES = 256 << 20, READ_AT_ONCE = 16 << 20, SCRATCH = 4096 };
enum { LEAST_REPEATS = 5 };
static const int64_t round_time = 500000, measure_time = 120000000; /* nanoseconds */

/* Each worker takes its own time, so that a machine which is busy with other things, and lets one
 * worker wait while the other runs, does not seem slow. */
static void timed_multiply(nnc_worker *worker) {
  int64_t start = nnc_nanoseconds_now();
  nnc_the_model.limits->multiply(worker);
  worker->marks[0] = nnc_nanoseconds_now() - start;
}

static double multiply_speed(nnc_pool *pool, int threads, double scalars[2]) {
  double rounds = 1, speed = 0;
  nnc_worker *first = nnc_pool_worker(pool, 0);
  for (scalars[0] = rounds; rounds < 1e6; scalars[0] = rounds *= 2) {
    nnc_pool_run(pool, timed_multiply);
    if (first->marks[0] >= round_time) break;
  }
  for (int w = 0; w < threads; w++) nnc_pool_worker(pool, w)->marks[1] = INT64_MAX;
  int64_t begin = nnc_nanoseconds_now();
  for (int i = 0; i < LEAST_REPEATS || nnc_nanoseconds_now() - begin < measure_time; i++) {
    nnc_pool_run(pool, timed_multiply);
    for (int w = 0; w < threads; w++) {
      int64_t *marks = nnc_pool_worker(pool, w)->marks;
      if (marks[0] > 0 && marks[0] < marks[1]) marks[1] = marks[0];
    }
  }
  for (int w = 0; w < threads; w++) speed += rounds / (double)nnc_pool_worker(pool, w)->marks[1];
  return speed * nnc_the_model.limits->flops * 1e9;
}

/* Together: the workers share the memory. */
static double read_speed(nnc_pool *pool, int64_t bytes, double scalars[2]) {
  int64_t best = INT64_MAX, begin = nnc_nanoseconds_now();
  scalars[0] = (double)bytes;
  scalars[1] = (double)((READ_AT_ONCE + bytes - 1) / bytes);
  for (int i = 0; i < LEAST_REPEATS || nnc_nanoseconds_now() - begin < measure_time; i++) {
    int64_t start = nnc_nanoseconds_now();
    nnc_pool_run(pool, nnc_the_model.limits->read);
    int64_t taken = nnc_nanoseconds_now() - start;
    if (taken > 0 && taken < best) best = taken;
  }
  return scalars[0] * scalars[1] * 1e9 / (double)best;
}

static bool measure(nnc_pool *pool, int threads, int64_t bytes, nnc_speed *speed) {
  double scalars[2] = {0};
  int64_t(*marks)[8] = calloc((size_t)threads, sizeof *marks); /* a cache line each */
  if (!marks) {
    nnc_error("cannot allocate the times of %d workers", threads);
    return false;
  }
  for (int w = 0; w < threads; w++) {
    nnc_pool_worker(pool, w)->scalars = scalars;
    nnc_pool_worker(pool, w)->marks = marks[w];
  }
  *speed = (nnc_speed){.bandwidth = read_speed(pool, bytes, scalars), .read_bytes = bytes};
  speed->flops[NNC_UNIT_PLAIN] = multiply_speed(pool, threads, scalars);
  for (int unit = 1; unit < NNC_UNIT_COUNT; unit++)
    speed->flops[unit] = speed->flops[NNC_UNIT_PLAIN];
  free(marks);
  return true;
}

/* What was measured, in words. */
static void describe(const nnc_model *model, nnc_speed *speed) {
  char memory[NNC_FORMAT_BYTES];
  snprintf(speed->flops_of, sizeof speed->flops_of, "multiply-add in %s for %s",
           model->limits->float_name, model->isa);
  snprintf(speed->bandwidth_of, sizeof speed->bandwidth_of, "reading %s, the model's size",
           nnc_format_bytes(memory, (double)speed->read_bytes));
}

bool nnc_speed_measure(nnc_device *device, const nnc_model *model, int threads, nnc_speed *speed) {
  nnc_block block;
  (void)device; /* its pool has the arena, which is not to be read */
  int64_t bytes = nnc_planned_bytes(model, threads);
  bytes = bytes < LEAST_BYTES ? LEAST_BYTES : bytes > MOST_BYTES ? MOST_BYTES : bytes;
  bytes = (bytes + SCRATCH - 1) / SCRATCH * SCRATCH;
  if (!nnc_block_take(&block, bytes + threads * (int64_t)SCRATCH, "the measurement of memory"))
    return false;
  memset(block.base, 1, (size_t)bytes); /* pages that were never written would all be one */
  nnc_pool *pool = nnc_pool_create(threads, block.base, (nnc_blocks){bytes, SCRATCH});
  bool good = pool && measure(pool, threads, bytes, speed);
  if (good) describe(model, speed);
  nnc_pool_destroy(pool);
  nnc_block_free(&block);
  return good;
}
