/* The call of the C compiler: an emitted file becomes an executable. */
#ifndef NNC_BACKEND_C_COMPILE_H
#define NNC_BACKEND_C_COMPILE_H

#include <stdbool.h>
#include "support/arena.h"

typedef struct CompileOptions {
  const char *cc;        /* --cc; NULL: the newest clang found, else gcc, else cc */
  const char *arch;      /* -march; NULL: "native" */
  bool debug;            /* -g, not stripped */
  bool verbose;          /* prints the command before it runs */
  const char *include_directory; /* of nnc_kernel.h */
  const char *library_directory; /* of libnncrt.a */
} CompileOptions;

/* The compiler that will be used: a name for the PATH, or a path.  NULL with *reason when there is none. */
const char *compile_find_cc(Arena *arena, const CompileOptions *options, const char **reason);
/* "clang-19 19.1.7": the compiler and its version, for the tables. */
const char *compile_describe_cc(Arena *arena, const char *cc);
/* The command line, quoted for a shell: exactly what compile_c runs. */
const char *compile_command(Arena *arena, const CompileOptions *options, const char *cc,
                            const char *source_path, const char *output_path);
/* Runs it.  False with *reason (one line; the compiler's own messages have gone to standard error). */
bool compile_c(Arena *arena, const CompileOptions *options, const char *cc, const char *source_path,
               const char *output_path, const char **reason);

/* The directories beside nnc's own executable: DIR/../include/nnc and DIR/../lib/nnc, both in the
 * build tree and installed.  False with *reason when the runtime is not there. */
bool compile_find_runtime(Arena *arena, CompileOptions *options, const char **reason);

#endif
