/* The marks between the steps of an entry: see nnc_mark. */
#include <stdlib.h>
#include <time.h>

#include "message.h"
#include "nnc_parallel.h"

void nnc_mark_now(nnc_worker *worker, int number) {
  struct timespec now;
  if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) {
    nnc_error_system("read", "the clock");
    abort();
  }
  worker->marks[number] = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
