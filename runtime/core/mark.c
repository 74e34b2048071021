/* The marks between the steps of an entry: see nnc_mark. */
#include "core/device.h"
#include "os/assert.h"
#include "nnc_parallel.h"
#include "os/clock.h"

void nnc_mark_now(nnc_worker *worker, int number) {
  if (worker->onlooker) worker->onlooker->look(worker->onlooker, number);
  else worker->marks[number] = nnc_nanoseconds_now();
}

void nnc_laps_begin_now(nnc_worker *worker, int first, int count) {
  if (worker->onlooker) return;
  worker->lap = nnc_nanoseconds_now();
  worker->marks[first] = worker->lap;
  for (int i = 1; i <= count; i++) worker->marks[first + i] = 0;
}

void nnc_lap_now(nnc_worker *worker, int number) {
  NNC_ASSERT(worker->marks && number >= 0);
  if (worker->onlooker) {
    worker->onlooker->look(worker->onlooker, number);
    return;
  }
  int64_t now = nnc_nanoseconds_now();
  worker->marks[number] += now - worker->lap;
  worker->lap = now;
}

void nnc_laps_end_now(nnc_worker *worker, int first, int count) {
  if (worker->onlooker) return;
  for (int i = 1; i <= count; i++) worker->marks[first + i] += worker->marks[first + i - 1];
}
