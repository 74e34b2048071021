/* How long work takes. */
#ifndef NNC_SUPPORT_CLOCK_H
#define NNC_SUPPORT_CLOCK_H

/* Seconds of a clock that nobody sets, from any time on: only differences mean something. */
double clock_seconds(void);

#endif
