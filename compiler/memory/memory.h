/* --memory-limit: a program whose arena and workers fit. */
#ifndef NNC_MEMORY_MEMORY_H
#define NNC_MEMORY_MEMORY_H

#include "driver/options.h"
#include "program/program.h"
#include "support/diagnostics.h"

/* What was done to meet the limit. */
typedef struct MemoryFit {
  int64_t limit; /* bytes; 0: none was given, and the rest is unset */
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

/* Lowers the module; with a limit, first changes its training and evaluation entries until the plan
 * fits. NULL after an error that gives the least limit that can be met and says what holds it. */
Program *memory_fit(Arena *arena, Module *module, Diagnostics *diagnostics, const Options *options,
                    MemoryFit *fit);
void memory_print(Text *text, const MemoryFit *fit);
/* Adds the member "memory_limit" to the JSON object that `text` ends with. */
void memory_add_json(Text *text, const MemoryFit *fit);

#endif
