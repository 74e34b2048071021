/* Who writes the parts of the emitted source that are the same for all back ends. */
#ifndef NNC_BACKEND_COMMON_EMITTER_H
#define NNC_BACKEND_COMMON_EMITTER_H

#include "backend/common/emit.h"
#include "backend/common/function.h"
#include "backend/common/merge.h"
#include "backend/common/naming.h"
#include "support/vec.h"

/* A table of numbers, which entries share that have the same. */
typedef struct NumberTable {
  const char *name, *type, *numbers;
} NumberTable;

typedef struct Emitter {
  Code code;
  Arena *arena;
  const Program *program;
  const CompileOptions *options;
  NameScope names;           /* of the file */
  KernelFunction *functions; /* by kernel */
  MergePlan *merges;         /* launches that are made one, or NULL */
  const char **memory;       /* by buffer: "mem_h1_w"; NULL for workers' */
  VEC(NumberTable) numbers;  /* of inputs */
} Emitter;

/* The memory plan as addresses with types. */
void emitter_memory(Emitter *emitter);
/* Where the plan has a buffer, in bytes. */
int64_t emitter_offset(const Program *program, int buffer);
void emitter_entries(Emitter *emitter);
/* The table of the steps, where the runtime asks for it; returns what it adds to the initializer of the nnc_entry. */
const char *emitter_step_table(Emitter *emitter, const char *name, const ProgramEntry *entry);
/* The same of the plan of memory. */
const char *emitter_plan_table(Emitter *emitter, const char *name, const ProgramEntry *entry);
/* The lines of the data sets (data_tables.c); how many inputs stages look at to choose rows. */
void emitter_data_sets(Emitter *emitter);
int emitter_looked_at(Emitter *emitter);
/* The tables of an entry (entry_tables.c); the initializer of its nnc_entry, NULL: it is all 0. */
const char *emitter_entry_tables(Emitter *emitter, EntryKind kind);
/* The initializer of an nnc_tensor. */
const char *emitter_tensor(Emitter *emitter, const char *name, Type type, int64_t offset);
/* "static const HEAD = {rows};", in one line where there is room, else a row a line; nothing without rows. */
void emitter_rows(Emitter *emitter, const char *head, int count, const char *const *rows);
void emitter_host(Emitter *emitter);
/* How processors multiply what their kernels have of 16 bits, on which bits depend. */
typedef enum NarrowProducts {
  PRODUCTS_WIDE, /* not at all, or as f32 */
  PRODUCTS_BF16, /* bf16 */
  PRODUCTS_X3,   /* f32 that is split in bf16 */
} NarrowProducts;
NarrowProducts emitter_narrow_products(const Emitter *emitter);
/* The table of the functions; the list of such tables (levels.c). */
void emitter_level(Emitter *emitter);
void emitter_level_table(Emitter *emitter);
int emitter_level_count(const CompileOptions *options);
void emitter_tables(Emitter *emitter);

#endif
