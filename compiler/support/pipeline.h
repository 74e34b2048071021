/* Runs a table of passes over a module, or of stages of lowering; each is a step here.
 *
 * After each step what it worked on is verified; what the verifier says is then a mistake of that
 * step, and the panic names it. Dumping and timing are done here and nowhere else. */
#ifndef NNC_SUPPORT_PIPELINE_H
#define NNC_SUPPORT_PIPELINE_H

#include <stdbool.h>
#include "support/diagnostics.h"
#include "support/text.h"

typedef struct PipelineOptions {
  int level;               /* -O */
  const char *dump_after;  /* a step's name, "all" or NULL; printed to stdout */
  const char *stop_after;  /* NULL: run all */
  const char *start_after; /* resuming from a dump: steps up to this one are skipped */
  bool time;               /* a table on stderr */
} PipelineOptions;

typedef struct StepTime {
  const char *name;   /* NULL: it did not run */
  double run, verify; /* seconds, without those of steps that it started */
  int count;          /* what the table counts */
} StepTime;

typedef struct Pipeline {
  const char *kind;               /* "pass" */
  const PipelineOptions *options; /* or NULL: nothing is dumped */
  Diagnostics *diagnostics;       /* or NULL: its steps report no errors */
  double inner;                   /* seconds of steps that the present one has started */
} Pipeline;

/* A step on its way over a subject. */
typedef struct PipelineStep {
  const char *name;
  const char *of; /* which subject, for panics and dumps; NULL: there is only one */
  StepTime *time;
  void *subject;
  const void *row;                              /* of the caller's table */
  void (*run)(const struct PipelineStep *step); /* NULL: it is skipped, not so its dump */
  const char *(*verify)(Arena *arena, const void *subject, const void *row);
  void (*print)(Text *text, const void *subject, const void *row);
} PipelineStep;

/* False when the step reported errors, or its dump could not be written. */
bool pipeline_run(Pipeline *pipeline, const PipelineStep *step);
/* Verifies what comes from outside; a panic names `culprit`. */
void pipeline_verify(const PipelineStep *step, const char *culprit);
void pipeline_print_times(const Pipeline *pipeline, const char *counted, const StepTime *times,
                          int count);

#endif
