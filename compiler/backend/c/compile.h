/* The call of the C compiler: an emitted file becomes an executable. */
#ifndef NNC_BACKEND_C_COMPILE_H
#define NNC_BACKEND_C_COMPILE_H

#include <stdbool.h>
#include "support/arena.h"
#include "support/text.h"

typedef struct CompileOptions {
  const char *cc;        /* --cc; NULL: the newest clang found, else gcc, else cc */
  const char *arch;      /* -march; NULL: "native" */
  const char *cflags;    /* more flags behind those of ours, separated by blanks; NULL: none */
  bool debug;            /* -g, not stripped */
  bool save_temps;       /* the C file is kept beside the executable */
  bool verbose;          /* prints the command before it runs */
  const char *prefix;    /* PREFIX/include/nnc and PREFIX/lib/nnc hold the runtime */
  const char *output;    /* the executable; a name that ends in .c is the C file's */
  /* filled by compile_prepare */
  const char *source;    /* the C file: OUTPUT.c */
  const char *compiler;  /* "clang-19 19.1.7 -O3 -march=native", for the tables */
  const char *command;   /* quoted for a shell; exactly what compile_c runs */
} CompileOptions;

/* Finds the C compiler and writes the command. False after a message on standard error. */
bool compile_prepare(Arena *arena, CompileOptions *options);
/* Writes `text` to the C file and compiles it. The file is removed unless it is to be kept or the
 * compiler failed, which is a bug of ours.  False after a message on standard error. */
bool compile_c(Arena *arena, const CompileOptions *options, const Text *text);

#endif
