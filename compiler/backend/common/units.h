/* The parts of the emitted source, joined to one file or cut into units. */
#ifndef NNC_BACKEND_COMMON_UNITS_H
#define NNC_BACKEND_COMMON_UNITS_H

#include "backend/common/compile.h"
#include "backend/common/function.h"
#include "target/target.h"

typedef struct KernelPart {
  const Kernel *kernel; /* NULL: it is the back end's own */
  const char *name;
  const char *use; /* "h1.y of train", its first one, as comments may hold it; "" */
  Text text;
  int file; /* the number of the user's file that it calls; -1: none */
  int unit; /* of those that hold kernels; filled by units_plan */
} KernelPart;

/* In their order in the one file; the declarations are for the unit that calls the kernels. The kernels of
 * a device are in a branch of the preprocessor's of their own, and before the rest. */
typedef struct SourceParts {
  const Target *target;
  /* What all includes, and what kernels include besides. */
  Text header, contents, includes, kernel_includes, memory;
  int kernel_count;
  KernelPart *kernels;
  int file_count; /* of the user's for a device: each is after the kernels of a unit that call it */
  Text *files;
  const struct DeviceFile *device_files;
  Text declarations, calls;
  Text tables;
  bool has_levels; /* all but the tables is compiled once for each level */
  int most_units; /* of kernels, where files of the user's need no more; 0: as their times ask for */
} SourceParts;

/* Cuts the kernels into units of like times for a compiler with these flags; returns how many they are. */
int units_plan(SourceParts *parts, const char *cflags);
/* What kernels include, when these are there. */
void units_add_includes(SourceParts *parts);
/* Writes the table of contents, when all other parts are there; not of a device's source, nor where parts are
 * compiled for several levels. */
void units_write_contents(SourceParts *parts);
void units_join(Text *whole, const SourceParts *parts);
/* Units; with `file` their lines are numbered as those of the one file of that name. */
void units_cut(Arena *arena, CSource *source, const SourceParts *parts, const char *file);
void units_free_parts(SourceParts *parts);
void units_free(CSource *source);

#endif
