/* The end of a program whose invariants do not hold. */
#include "os/assert.h"

#include <stdlib.h>

#include "os/message.h"

void nnc_assert_failed(const char *condition, const char *file, int line) {
  nnc_error("%s:%d: a mistake of the runtime: %s does not hold", file, line, condition);
  abort();
}
