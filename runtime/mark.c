/* The marks between the steps of an entry: see nnc_mark. */
#include <stdlib.h>
#include <time.h>

#include "message.h"
#include "profile.h"

int64_t nnc_nanoseconds_now(void) {
  struct timespec now;
  if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) {
    nnc_error_system("read", "the clock");
    abort();
  }
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void nnc_mark_now(nnc_worker *worker, int number) {
  worker->marks[number] = nnc_nanoseconds_now();
}
