/* Failures that a test asks for by NNC_EMULATOR_FAIL, a list of NAME:COUNT:ERROR with commas
 * between: the COUNT-th call of the driver's function NAME (as cuMemAlloc_v2) gives the error
 * ERROR; with the name `kernel`, the COUNT-th kernel that runs, which the next call that waits for
 * it tells. Errors of the device (700 to 719, ECC's 214, unavailability's 46) stay: every later
 * call gives them. */
#ifndef FAILURES_H
#define FAILURES_H

#include <stdbool.h>

/* Counts an occasion of that name; the error that it is to fail with, or 0. */
int failure_of(const char *name);
bool failure_is_lasting(int error);

#endif
