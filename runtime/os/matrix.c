/* See matrix.h.  Linux, Documentation/arch/x86/xstate.rst: dynamically enabled features. */
#include "os/matrix.h"

#include <sys/syscall.h>
#include <unistd.h>

bool nnc_matrix_permit(void) {
#if defined(__x86_64__)
  enum { ASK = 0x1023 /* ARCH_REQ_XCOMP_PERM */, TILE_DATA = 18 };
  return syscall(SYS_arch_prctl, ASK, TILE_DATA) == 0;
#else
  return false;
#endif
}
