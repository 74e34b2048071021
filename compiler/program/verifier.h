/* Inside of the proof of a plan (verify.c): what its files share. */
#ifndef NNC_PROGRAM_VERIFIER_H
#define NNC_PROGRAM_VERIFIER_H

#include "program/program.h"

typedef struct Verifier {
  Arena *arena;
  const Program *program;
  const ProgramEntry *entry;
  int *barriers;
  int *first, *last; /* by buffer: steps that touch it; -1 */
  bool *written;     /* by buffer */
} Verifier;

static inline const Buffer *verifier_buffer(const Program *program, int id) {
  return &program->buffers.items[id];
}

static inline bool buffers_overlap(const Buffer *a, const Buffer *b) {
  return (a->kind == BUFFER_WORKER) == (b->kind == BUFFER_WORKER) &&
         a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

/* What a step does with a buffer. */
typedef struct StepAccess {
  int buffer; /* a view's whole */
  int at;     /* the operand itself */
  bool reads, writes;
  int64_t block_bytes, blocks; /* of a task loop that goes through it; 0 */
} StepAccess;

typedef VEC(StepAccess) AccessList;

/* By the kernel's own expressions. */
AccessList step_accesses(Arena *arena, const Program *program, const Step *step);

/* That barriers lie where workers would meet, in the entry and between the rounds of its loops. NULL, or what is
 * wrong. */
const char *verify_barriers(Verifier *verifier);

#endif
