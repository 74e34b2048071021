/* Times: see clock.h. Durations are those of CLOCK_MONOTONIC. */
#include "os/clock.h"

#include <stdlib.h>
#include <time.h>

#include "os/message.h"

int64_t nnc_nanoseconds_now(void) {
  struct timespec now;
  if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) {
    nnc_error_system("read", "the clock");
    abort();
  }
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t nnc_thread_nanoseconds(void) {
  struct timespec now;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) return 0;
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* A step backward, which the clocks of some virtual machines and simulators make, is taken off what
 * follows: durations are never negative. */
double nnc_seconds_now(void) {
  static double last, offset;
  struct timespec now;
  if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return last;
  double seconds = (double)now.tv_sec + (double)now.tv_nsec * 1e-9 + offset;
  if (seconds < last) {
    offset += last - seconds;
    seconds = last;
  }
  return last = seconds;
}

double nnc_unix_seconds_now(void) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return 0;
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
