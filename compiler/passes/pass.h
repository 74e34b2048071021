/* The passes: a table (passes.def), run in order by the runner of support/pipeline.h.
 *
 * The runner verifies the module after every pass and names the culprit; dumping, stopping and
 * timing come from the runner alone. A pass reads attributes or recomputes; nothing travels in side
 * tables. */
#ifndef NNC_PASSES_PASS_H
#define NNC_PASSES_PASS_H

#include "graph/module.h"
#include "support/pipeline.h"

typedef struct Pass {
  const char *name; /* "simplify" */
  void (*run)(Module *module, Diagnostics *diagnostics);
  int level;           /* least -O level at which it runs: 0 always, 1 when optimizing */
  const char *summary; /* one line for --help-passes and the documentation */
} Pass;

/* pass_simplify(), pass_differentiate(), ...: one function a distinct pass, in a file of its
 * name. */
#define PASS(function, ...) void pass_##function(Module *module, Diagnostics *diagnostics);
#include "passes/passes.def"
#undef PASS

extern const Pass pass_table[];
extern const int pass_count;

/* False when a pass reported an error or --stop-after was reached (*stopped tells). */
bool passes_run(Module *module, Diagnostics *diagnostics, const PipelineOptions *options,
                bool *stopped);
const Pass *pass_find(const char *name);

#endif
