/* Inside of memory/: the state of a search for a plan within the limit. */
#ifndef NNC_MEMORY_FITTER_H
#define NNC_MEMORY_FITTER_H

#include "memory/memory.h"
#include "passes/recompute.h"

typedef struct Candidate {
  int pieces;
  RecomputeOptions recompute; /* segments 1: none */
  int recomputed;
  double flops;            /* of these */
  int64_t peak;            /* bytes, once it is planned; -1: the candidate is impossible */
  double cost;             /* of a training step, in flops */
  ProgramOptions lowering; /* of its plan */
} Candidate;

typedef struct Fitter {
  Arena *arena;
  Module *module;
  const MemoryRequest *request;
  bool is_large[ENTRY_COUNT]; /* does not fit as it is */
  const Node *coupled;        /* why there are no micro-batches; NULL: there can be */
  Candidate best;             /* with the smallest peak so far */
  int64_t best_peak;
  int64_t default_peak; /* without a limit */
} Fitter;

/* The entries that may be changed. */
enum { FITTED_COUNT = 3 };
extern const EntryKind fitted_entries[FITTED_COUNT];

/* The Program of a module within the limit, or the nearest to it; how it is lowered. One that needs more than
 * `most_bytes` (0: none does) is of no use and planned quickly, so it may seem to need even more. */
Program *memory_plan(Arena *arena, const Module *module, const MemoryRequest *request,
                     int64_t most_bytes, ProgramOptions *lowering);
/* Bytes of the region of activations that the entry takes up. */
int64_t entry_bytes(const Program *program, EntryKind entry);
/* Bytes that the entry needs with the variables and the blocks of so many workers. */
int64_t entry_peak(const Program *program, EntryKind entry, int threads);
/* Rewrites the large entries of `module`; false when the candidate is impossible. */
bool candidate_apply(Fitter *fitter, Module *module, const Candidate *candidate, Arena *arena,
                     RecomputeResult *total);
/* Panics where what a candidate made is no module. */
void candidate_verify(Arena *arena, const Module *module);
const char *candidate_text(Arena *arena, const Candidate *candidate, int64_t batch);
/* Reports that no candidate fits. */
void memory_refuse(Fitter *fitter, Diagnostics *diagnostics);

#endif
