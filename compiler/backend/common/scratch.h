/* A folder for the files between the compiler's steps. */
#ifndef NNC_BACKEND_COMMON_SCRATCH_H
#define NNC_BACKEND_COMMON_SCRATCH_H

#include <stdbool.h>
#include "support/arena.h"

typedef struct Scratch Scratch;

/* In $TMPDIR or /tmp. It is removed, with its files, when a signal ends nnc. NULL after a
 * message. */
Scratch *scratch_create(Arena *arena);
/* The path of a file in it, which need not exist yet. */
const char *scratch_file(Scratch *scratch, const char *name);
/* Removes its files and it: the one that was created last. */
void scratch_remove(Scratch *scratch);

#endif
