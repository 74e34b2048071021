/* Runs, verifies, times and dumps single passes or stages, which the callers' tables list. */
#include "support/pipeline.h"

#include <stdio.h>
#include <string.h>
#include "support/clock.h"
#include "support/panic.h"

void pipeline_verify(const PipelineStep *step, const char *culprit) {
  Arena *scratch = arena_create();
  const char *outer = panic_set_context(culprit);
  const char *wrong = step->verify(scratch, step->subject, step->row);
  if (wrong) panic("the verifier rejects %s: %s", step->of ? "the result" : "the module", wrong);
  panic_set_context(outer);
  arena_destroy(scratch);
}

/* To stdout. Where there are several, each is headed by a comment. */
static bool dump(const Pipeline *pipeline, const PipelineStep *step) {
  const char *wanted = pipeline->options ? pipeline->options->dump_after : NULL;
  bool is_one_of_all = wanted && !strcmp(wanted, "all");
  if (!wanted || (!is_one_of_all && strcmp(wanted, step->name) != 0)) return true;
  Text text = {0};
  if (step->of) text_printf(&text, "# after %s of %s\n", step->name, step->of);
  else if (is_one_of_all) text_printf(&text, "# after %s\n", step->name);
  step->print(&text, step->subject, step->row);
  bool written = fwrite(text.data, 1, text.length, stdout) == text.length && fflush(stdout) == 0;
  text_free(&text);
  if (!written)
    diag_error(pipeline->diagnostics, (Span){0}, "the dump after %s cannot be written", step->name);
  return written;
}

/* Runs and verifies the step; false when it reported errors. */
static bool run_step(Pipeline *pipeline, const PipelineStep *step, const char *context) {
  Diagnostics *diagnostics = pipeline->diagnostics;
  int errors = diagnostics ? diagnostics_error_count(diagnostics) : 0;
  double outer = pipeline->inner, start = clock_seconds();
  pipeline->inner = 0;
  step->run(step);
  double end = clock_seconds();
  step->time->name = step->name;
  step->time->run += end - start - pipeline->inner;
  if (diagnostics && diagnostics_error_count(diagnostics) > errors) return false;
  pipeline_verify(step, context);
  double verified = clock_seconds();
  step->time->verify += verified - end;
  pipeline->inner = outer + verified - start;
  return true;
}

bool pipeline_run(Pipeline *pipeline, const PipelineStep *step) {
  Arena *scratch = arena_create();
  const char *context = arena_printf(scratch, "%s %s%s%s", pipeline->kind, step->name,
                                     step->of ? " of " : "", step->of ? step->of : "");
  const char *outer = panic_set_context(context);
  bool good = !step->run || run_step(pipeline, step, context);
  panic_set_context(outer);
  arena_destroy(scratch);
  return good && dump(pipeline, step);
}

void pipeline_print_times(const Pipeline *pipeline, const char *counted, const StepTime *times,
                          int count) {
  double total = 0;
  fprintf(stderr, "%-14s %10s %10s %8s\n", pipeline->kind, "run, ms", "verify, ms", counted);
  for (int i = 0; i < count; i++) {
    if (!times[i].name) continue;
    fprintf(stderr, "%-14s %10.2f %10.2f %8d\n", times[i].name, 1e3 * times[i].run,
            1e3 * times[i].verify, times[i].count);
    total += times[i].run + times[i].verify;
  }
  fprintf(stderr, "%-14s %10.2f\n", "total", 1e3 * total);
}
