/* The files of the user's (extern): C that is compiled as units of its own, and what is linked. */
#ifndef NNC_BACKEND_COMMON_EXTERNS_H
#define NNC_BACKEND_COMMON_EXTERNS_H

#include "backend/common/compile.h"

/* Adds a unit for each C file of the user's.  False after a message on standard error. */
bool externs_add_units(Arena *arena, CSource *source, const CompileOptions *options);
/* The user's files of one kind, "c" for C and else what is linked as it is, each once. */
typedef struct ExternFile {
  const char *name;
  const ExternInfo *external; /* the first that names it */
} ExternFile;
const ExternFile *externs_files(Arena *arena, const CompileOptions *options, bool of_c, int *count);
/* Whether the text of the unit tells all that it is made of; no: it includes files beside it. */
bool externs_unit_is_whole(const SourceUnit *unit);

#endif
