/* What must hold of a Program. */
#ifndef NNC_PROGRAM_VERIFY_H
#define NNC_PROGRAM_VERIFY_H

#include "program/program.h"

/* The steps of an entry so far: kernels and operands fit, views stay inside of what they are part
 * of. `is_whole`: the entry has all its steps and barriers; its loops are closed, too, and what is
 * read was written. NULL, or what is wrong. */
const char *steps_verify(Arena *arena, const Program *program, EntryKind kind, bool is_whole);

#endif
