/* The monotonic clock. */
#ifndef NNC_CLOCK_H
#define NNC_CLOCK_H

#include <stdint.h>

int64_t nnc_nanoseconds_now(void);    /* of the marks of `profile` */
int64_t nnc_thread_nanoseconds(void); /* processor time of the calling thread; 0: unknown */
double nnc_seconds_now(void);         /* never less than before; for the main thread alone */
double nnc_unix_seconds_now(void);    /* since 1970, which may be set anew at any time */

#endif
