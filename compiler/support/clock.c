#include "support/clock.h"

#include <time.h>
#include "support/panic.h"

double clock_seconds(void) {
  struct timespec time;
  if (clock_gettime(CLOCK_MONOTONIC, &time) != 0) panic("the monotonic clock cannot be read");
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
