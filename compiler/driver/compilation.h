/* nnc FILE: what the files of this command share. */
#ifndef NNC_DRIVER_COMPILATION_H
#define NNC_DRIVER_COMPILATION_H

#include "driver/commands.h"
#include "memory/memory.h"

typedef struct Compilation {
  Arena *arena;
  const Options *options;
  Diagnostics *diagnostics;
  InputFiles inputs; /* which no output may be */
} Compilation;

/* inputs.c: notes the files that the program names, which no output may be. */
void inputs_add_named(Compilation *compilation, const Module *module);

/* results.c: what can be asked for instead of an executable. Each is written where the user wants it;
 * the exit status. */
int write_text(const Compilation *compilation, Text *text);
int write_module(const Compilation *compilation, const Module *module);
struct Tuning; /* tune.h */
int write_report(const Compilation *compilation, const Program *program, const MemoryFit *fit,
                 const struct Tuning *tuning);
int write_program(const Compilation *compilation, const Program *program);
int write_gradient_table(const Compilation *compilation, Module *module);

/* executable.c: the back end's files, compiled and linked, for a run within `memory_limit` bytes (0: any); the exit
 * status. */
int write_executable(const Compilation *compilation, const Program *program, int64_t memory_limit);

#endif
