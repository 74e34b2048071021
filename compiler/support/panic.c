/* Bugs of ours: the message names what was being done, then the process aborts. */
#include "support/panic.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const char *context;

const char *panic_set_context(const char *now) {
  const char *before = context;
  context = now;
  return before;
}

void panic(const char *format, ...) {
  fflush(stdout);
  fputs("nnc: internal error: ", stderr);
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  if (context) fprintf(stderr, "\n  while doing: %s", context);
  fputs("\n  this is a mistake in nnc, not in your program; please report it\n", stderr);
  abort();
}
