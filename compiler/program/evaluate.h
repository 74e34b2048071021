/* A plain evaluation of Programs, in double: the judge of lowering, fusion and the memory plan. */
#ifndef NNC_PROGRAM_EVALUATE_H
#define NNC_PROGRAM_EVALUATE_H

#include "ops/tensor.h"
#include "program/program.h"

typedef struct Machine Machine;

/* Memory of the program's arena, all of it poisoned. */
Machine *machine_create(Arena *arena, const Program *program);
/* Elements of a buffer by its id, as doubles. */
void machine_write(Machine *machine, int buffer, const double *values);
void machine_read(const Machine *machine, int buffer, double *values);
/* Runs an entry; `scalars` are numbered as Program.scalar_names. */
void machine_run(Machine *machine, EntryKind entry, const double *scalars,
                 const EvaluateContext *context);

#endif
