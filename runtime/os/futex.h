/* Sleeping until a number changes (futex(2)), among the threads of this process. */
#ifndef NNC_FUTEX_H
#define NNC_FUTEX_H

#include <stdatomic.h>

/* Sleeps until `number` is no longer `seen` and somebody wakes the sleepers; may return early. */
void nnc_futex_sleep(atomic_uint *number, unsigned seen);
/* Wakes all who sleep on `number`. */
void nnc_futex_wake(atomic_uint *number);

#endif
