/* The files of the user's (extern): C that is compiled as units of its own, and what is linked; or, for
 * a device, text that the units of its kernels hold. */
#ifndef NNC_BACKEND_COMMON_EXTERNS_H
#define NNC_BACKEND_COMMON_EXTERNS_H

#include "backend/common/compile.h"

/* Adds a unit for each C file of the user's; for a device there are none.  False after a message on
 * standard error. */
bool externs_add_units(Arena *arena, CSource *source, const CompileOptions *options);
/* The user's files of one kind, "c" for C and else what is linked as it is, each once. */
typedef struct ExternFile {
  const char *name;
  const ExternInfo *external; /* the first that names it */
} ExternFile;
const ExternFile *externs_files(Arena *arena, const CompileOptions *options, bool of_c, int *count);

/* A file for the device. Its functions are called by kernels and compiled with them. */
typedef struct DeviceFile {
  const char *name;
  Text text;                  /* in the arena */
  const ExternInfo *external; /* the first that names it */
} DeviceFile;
/* Reads the device's files, each once, into options->device_files.  False after a message on standard
 * error. */
bool externs_read(Arena *arena, CompileOptions *options);
/* The number of the file that has the function. */
int externs_device_file(const CompileOptions *options, const char *function);
/* The folder of a file: what it includes is looked for there. */
const char *externs_folder(Arena *arena, const char *file);

/* Whether the text of the unit tells all that it is made of; no: it includes files beside it. */
bool externs_unit_is_whole(const SourceUnit *unit);

#endif
