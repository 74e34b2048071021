/* passes.def as a table, run in order; stopping and resuming.
 *
 * A pass above the -O level is skipped, but its name still marks its place for --dump-after
 * and --stop-after. */
#include <string.h>
#include "graph/textual.h"
#include "ops/op.h"
#include "ops/verify.h"
#include "passes/pass.h"
#include "support/names.h"

const Pass pass_table[] = {
#define PASS(function, name, level, summary) {name, pass_##function, level, summary},
#include "passes/passes.def"
#undef PASS
};
const int pass_count = sizeof pass_table / sizeof *pass_table;

const Pass *pass_find(const char *name) {
  for (int i = 0; i < pass_count; i++)
    if (strcmp(pass_table[i].name, name) == 0) return &pass_table[i];
  return NULL;
}

/* ---- options ------------------------------------------------------------------------------ */

static bool check_name(Diagnostics *diagnostics, const char *option, const char *name) {
  const char *names[sizeof pass_table / sizeof *pass_table];
  if (!name || pass_find(name)) return true;
  for (int i = 0; i < pass_count; i++) names[i] = pass_table[i].name;
  Diagnostic *error = diag_error(diagnostics, (Span){0}, "%s: there is no pass '%s'", option, name);
  const char *near = name_nearest(name, names, pass_count);
  if (near) diag_help(error, "did you mean '%s'?", near);
  return false;
}

static bool check_options(Diagnostics *diagnostics, const PipelineOptions *options) {
  bool dumps_all = options->dump_after && strcmp(options->dump_after, "all") == 0;
  bool fine = dumps_all || check_name(diagnostics, "--dump-after", options->dump_after);
  fine = check_name(diagnostics, "--stop-after", options->stop_after) && fine;
  return check_name(diagnostics, "--resume-after", options->start_after) && fine;
}

static bool is_named(const char *option, const Pass *pass) {
  return option && strcmp(option, pass->name) == 0;
}

/* ---- running ------------------------------------------------------------------------------ */

static int count_nodes(const Module *module) {
  int count = 0;
  for (int i = 0; i < ENTRY_COUNT; i++)
    if (module->entries[i]) count += module->entries[i]->nodes.count;
  return count;
}

typedef struct PassSubject {
  Module *module;
  Diagnostics *diagnostics;
} PassSubject;

static void run_pass(const PipelineStep *step) {
  const Pass *pass = step->row;
  const PassSubject *subject = step->subject;
  pass->run(subject->module, subject->diagnostics);
  step->time->count = count_nodes(subject->module);
}

static const char *verify(Arena *arena, const void *subject, const void *pass) {
  return module_verify(arena, ((const PassSubject *)subject)->module);
}

static void print(Text *text, const void *subject, const void *pass) {
  module_print(text, ((const PassSubject *)subject)->module);
}

static bool run_all(Pipeline *pipeline, PassSubject *subject, bool *stopped, StepTime *times) {
  const PipelineOptions *options = pipeline->options;
  bool skipping = options->start_after != NULL;
  for (int i = 0; i < pass_count; i++) {
    const Pass *pass = &pass_table[i];
    PipelineStep step = {.name = pass->name,
                         .time = &times[i],
                         .subject = subject,
                         .row = pass,
                         .run = pass->level <= options->level ? run_pass : NULL,
                         .verify = verify,
                         .print = print};
    if (skipping) skipping = !is_named(options->start_after, pass);
    else if (!pipeline_run(pipeline, &step)) return false;
    else if ((*stopped = is_named(options->stop_after, pass))) return false;
  }
  return true;
}

/* What no pass leaves and no kernel computes, bodies of scans included; NULL: there is none. */
static const Node *find_unlowered(const Graph *graph, const Target *target) {
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    const OpClass *class = op_info(node->op)->class;
    bool is_result = node_is_scan_result(node);
    bool is_lowered = class->lower && node_has_kernel(node, target);
    const Node *found = node->body ? find_unlowered(node->body, target)
                        : is_lowered || class->leaf != LEAF_NONE || is_result ? NULL
                                                                              : node;
    if (found) return found;
  }
  return NULL;
}

/* A dump may hold what a skipped pass would have replaced: it was taken before that pass. */
static bool check_resumed(const Module *module, Diagnostics *diagnostics, const char *after) {
  for (int entry = 0; entry < ENTRY_COUNT; entry++) {
    const Graph *graph = module->entries[entry];
    const Node *node = graph ? find_unlowered(graph, module->target) : NULL;
    if (!node) continue;
    const char *name = op_info(node->op)->name;
    bool is_other = op_info(node->op)->class->lower != NULL;
    Diagnostic *error =
        is_other
            ? diag_error(diagnostics, node->span,
                         "the dump was made for another target: this one has no kernel for '%s'",
                         name)
            : diag_error(diagnostics, node->span,
                         "the dump was not taken after %s: it holds a '%s'", after, name);
    diag_help(error, is_other ? "--target takes the target that it was made for"
                              : "--resume-after takes the pass that --dump-after named");
    return false;
  }
  return true;
}

bool passes_run(Module *module, Diagnostics *diagnostics, const PipelineOptions *options,
                bool *stopped) {
  StepTime times[sizeof pass_table / sizeof *pass_table] = {{0}};
  Pipeline pipeline = {.kind = "pass", .options = options, .diagnostics = diagnostics};
  PassSubject subject = {module, diagnostics};
  *stopped = false;
  if (!check_options(diagnostics, options)) return false;
  pipeline_verify(&(PipelineStep){.subject = &subject, .verify = verify},
                  "elaboration or the reading of a dump");
  bool finished = run_all(&pipeline, &subject, stopped, times);
  if (options->time) pipeline_print_times(&pipeline, "nodes", times, pass_count);
  const char *after = options->start_after;
  return finished && (!after || check_resumed(module, diagnostics, after));
}
