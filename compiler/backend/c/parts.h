/* The parts of the emitted file behind the kernels. */
#ifndef NNC_BACKEND_C_PARTS_H
#define NNC_BACKEND_C_PARTS_H

#include "backend/c/emit.h"
#include "backend/c/kernels.h"

typedef struct Emitter {
  Code code;
  Arena *arena;
  const Program *program;
  const CompileOptions *options;
  NameScope names;             /* of the file */
  KernelFunction *functions;   /* by kernel */
  const char **memory;         /* by buffer: "mem_h1_w"; NULL for workers' */
} Emitter;

/* The memory plan as enumerators. */
void emit_memory(Emitter *emitter);
/* The buffer's place after following aliases. */
int64_t buffer_offset(const Program *program, int buffer);

void emit_entries(Emitter *emitter);
/* Behind `number` steps of an entry: `profile` notes the time there. */
void emit_mark(Emitter *emitter, int number);
/* The table of the steps; returns what it adds to the initializer of the nnc_entry. */
const char *emit_step_table(Emitter *emitter, const char *name, const ProgramEntry *entry);
void emit_host(Emitter *emitter);
void emit_tables(Emitter *emitter);

#endif
