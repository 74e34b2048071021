/* The calls of futex.h: a failure is a mistake of ours, and the workers could not go on. */
#include "os/futex.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/message.h"

void nnc_futex_sleep(atomic_uint *number, unsigned seen) {
  if (syscall(SYS_futex, number, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0) == 0) return;
  if (errno == EAGAIN || errno == EINTR) return;
  nnc_error_system("sleep", "on a futex");
  abort();
}

void nnc_futex_wake(atomic_uint *number) {
  if (syscall(SYS_futex, number, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0) >= 0) return;
  nnc_error_system("wake", "the workers");
  abort();
}
