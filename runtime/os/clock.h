/* The monotonic clock. */
#ifndef NNC_CLOCK_H
#define NNC_CLOCK_H

#include <stdint.h>

int64_t nnc_nanoseconds_now(void); /* of the marks of `profile` */
double nnc_seconds_now(void);      /* never less than before; for the main thread alone */

#endif
