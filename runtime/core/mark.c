/* The marks between the steps of an entry: see nnc_mark. */
#include <stdlib.h>
#include <time.h>

#include "os/message.h"
#include "profile/profile.h"

int64_t nnc_nanoseconds_now(void) {
  struct timespec now;
  if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) {
    nnc_error_system("read", "the clock");
    abort();
  }
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void nnc_mark_now(nnc_worker *worker, int number) { worker->marks[number] = nnc_nanoseconds_now(); }

void nnc_laps_begin_now(nnc_worker *worker, int first, int count) {
  worker->lap = nnc_nanoseconds_now();
  worker->marks[first] = worker->lap;
  for (int i = 1; i <= count; i++) worker->marks[first + i] = 0;
}

void nnc_lap_now(nnc_worker *worker, int number) {
  int64_t now = nnc_nanoseconds_now();
  worker->marks[number] += now - worker->lap;
  worker->lap = now;
}

void nnc_laps_end_now(nnc_worker *worker, int first, int count) {
  for (int i = 1; i <= count; i++) worker->marks[first + i] += worker->marks[first + i - 1];
}
