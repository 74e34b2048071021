/* The parts of the emitted source: who writes them, and how they are joined. */
#ifndef NNC_BACKEND_COMMON_PARTS_H
#define NNC_BACKEND_COMMON_PARTS_H

#include "backend/common/emit.h"
#include "backend/common/function.h"
#include "backend/common/naming.h"

typedef struct Emitter {
  Code code;
  Arena *arena;
  const Program *program;
  const CompileOptions *options;
  NameScope names;           /* of the file */
  KernelFunction *functions; /* by kernel */
  const char **memory;       /* by buffer: "mem_h1_w"; NULL for workers' */
} Emitter;

/* The memory plan as enumerators. */
void emit_memory(Emitter *emitter);
/* The buffer's place after following aliases. */
int64_t buffer_offset(const Program *program, int buffer);

void emit_entries(Emitter *emitter);
/* After `number` steps of an entry: `profile` notes the time there. */
void emit_mark(Emitter *emitter, int number);
/* The table of the steps; returns what it adds to the initializer of the nnc_entry. */
const char *emit_step_table(Emitter *emitter, const char *name, const ProgramEntry *entry);
void emit_host(Emitter *emitter);
/* The table of the functions; the list of such tables (levels.c). */
void emit_level(Emitter *emitter);
void emit_level_table(Emitter *emitter);
int level_count(const CompileOptions *options);
void emit_tables(Emitter *emitter);

/* ---- joining (units.c) ---- */

typedef struct KernelPart {
  const Kernel *kernel;
  const char *name;
  Text text;
} KernelPart;

/* In their order in the one file; the declarations are for the unit that calls the kernels. */
typedef struct SourceParts {
  const BackEnd *back_end;
  Text header, includes, memory;
  int kernel_count;
  KernelPart *kernels;
  Text declarations, calls;
  Text tables;
  bool has_levels; /* all but the tables is compiled once for each level */
} SourceParts;

void source_join(Text *whole, const SourceParts *parts);
/* Units; with `file` their lines are numbered as those of the one file of that name. */
void source_cut(Arena *arena, CSource *source, const SourceParts *parts, const char *file);
void parts_free(SourceParts *parts);

#endif
