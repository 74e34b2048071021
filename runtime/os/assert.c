/* The end of a program whose invariants do not hold. */
#include "os/assert.h"

#include <stdio.h>
#include <stdlib.h>

void nnc_assert_failed(const char *condition, const char *file, int line) {
  fprintf(stderr, "%s:%d: a mistake of the runtime: %s does not hold\n", file, line, condition);
  abort();
}
