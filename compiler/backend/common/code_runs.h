/* Emitted C without its comments, run by run.
 *
 * Comments name places in the .net file, which move when a line is added above them; what is
 * compiled does not. So keys of the cache and sizes of units go by the code alone. */
#ifndef NNC_BACKEND_COMMON_CODE_RUNS_H
#define NNC_BACKEND_COMMON_CODE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include "support/sha256.h"

typedef struct CodeRun {
  const char *data;
  size_t length;
} CodeRun;

/* The code from *at to the next comment, after which *at moves; false at the end. A run may be
 * empty. */
bool code_runs_next(const char **at, const char *end, CodeRun *run);

/* How many bytes of a text are no comment. */
size_t code_runs_length(const char *text, size_t length);

/* Adds a text to a key: without comments, unless its lines are part of what is made of it. */
void code_runs_add(Sha256 *hash, const char *text, size_t length, bool has_lines);

#endif
