/* --memory-limit: finds a program whose arena and workers' blocks fit. */
#ifndef NNC_MEMORY_MEMORY_H
#define NNC_MEMORY_MEMORY_H

#include "program/program.h"
#include "support/diagnostics.h"

typedef struct MemoryRequest {
  int64_t limit; /* bytes; 0: none, or by the share */
  double share;  /* of what is needed beside parameters and states without a limit; 0: none */
  int threads;   /* whose blocks count; 0: as many as this machine runs */
  ProgramOptions lowering;
  bool verbose; /* each candidate is told on standard error */
} MemoryRequest;

/* What was done to meet the limit. */
typedef struct MemoryFit {
  ProgramOptions lowering; /* by which the module fits */
  int64_t limit;           /* bytes; 0: none was given, and the rest is unset */
  double share;            /* as it was given; 0: bytes were */
  int threads;
  int64_t default_peak; /* without a limit */
  int64_t peak;
  bool writes_scans; /* scans that would be loops are written out */
  int pieces;        /* micro-batches a step */
  int segments;      /* of recomputation; 1: none */
  bool cheap_only;
  int recomputed; /* nodes */
  double flops;   /* of these, in a step */
  int kept_count; /* values that recomputation starts from */
  const char **kept;
} MemoryFit;

/* Bytes of the arena and of the blocks of so many workers. */
int64_t program_peak(const Program *program, int threads);
/* As many as this machine runs at a time. */
int memory_default_threads(void);
/* Changes the training and evaluation entries of the module until its plan fits. False after an
 * error that gives the least limit that can be met and says what holds it. */
bool memory_fit(Arena *arena, Module *module, Diagnostics *diagnostics,
                const MemoryRequest *request, MemoryFit *fit);
/* A copy of the module whose training step takes its batch in so many micro-batches; NULL where that is impossible, or
 * too large for a plan. */
Module *memory_divide(Arena *arena, const Module *module, int pieces);
void memory_print(Text *text, const MemoryFit *fit);
/* Adds the member "memory_limit" to the JSON object that `text` ends with. */
void memory_add_json(Text *text, const MemoryFit *fit);

#endif
