/* The runner: passes.def as a table, run in order.
 *
 * After every pass the module is verified; what the verifier says is then a mistake of that pass,
 * and the panic names it.  Dumping, stopping, resuming and timing are done here and nowhere else.
 * A pass above the -O level is passed over, but its name still marks its place for --dump-after
 * and --stop-after. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "graph/textual.h"
#include "ops/op.h"
#include "ops/verify.h"
#include "passes/pass.h"
#include "support/names.h"
#include "support/panic.h"

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

static bool check_options(Diagnostics *diagnostics, const PassOptions *options) {
  bool dumps_all = options->dump_after && strcmp(options->dump_after, "all") == 0;
  bool fine = dumps_all || check_name(diagnostics, "--dump-after", options->dump_after);
  fine = check_name(diagnostics, "--stop-after", options->stop_after) && fine;
  return check_name(diagnostics, "--resume-after", options->start_after) && fine;
}

static bool is_named(const char *option, const Pass *pass) {
  return option && strcmp(option, pass->name) == 0;
}

/* ---- timing ------------------------------------------------------------------------------- */

typedef struct PassTime {
  double run, verify; /* seconds */
  int nodes;          /* afterwards, in all entries */
  bool ran;
} PassTime;

static double now(void) {
  struct timespec time;
  if (clock_gettime(CLOCK_MONOTONIC, &time) != 0) panic("the monotonic clock cannot be read");
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int count_nodes(const Module *module) {
  int count = 0;
  for (int i = 0; i < ENTRY_COUNT; i++)
    if (module->entries[i]) count += module->entries[i]->nodes.count;
  return count;
}

static void print_times(const PassTime *times) {
  double total = 0;
  fprintf(stderr, "%-14s %10s %10s %8s\n", "pass", "run, ms", "verify, ms", "nodes");
  for (int i = 0; i < pass_count; i++) {
    if (!times[i].ran) continue;
    fprintf(stderr, "%-14s %10.2f %10.2f %8d\n", pass_table[i].name, 1e3 * times[i].run,
            1e3 * times[i].verify, times[i].nodes);
    total += times[i].run + times[i].verify;
  }
  fprintf(stderr, "%-14s %10.2f\n", "total", 1e3 * total);
}

/* ---- running ------------------------------------------------------------------------------ */

static void verify_after(const Module *module, const char *culprit) {
  Arena *arena = arena_create();
  panic_set_context(culprit);
  const char *message = module_verify(arena, module);
  if (message) panic("the verifier rejects the module: %s", message);
  panic_set_context(NULL);
  arena_destroy(arena);
}

/* To stdout.  With "all", each is headed by a comment. */
static bool dump(const Module *module, Diagnostics *diagnostics, const Pass *pass,
                 bool with_title) {
  Text text = {0};
  if (with_title) text_printf(&text, "# after %s\n", pass->name);
  module_print(&text, module);
  bool written = fwrite(text.data, 1, text.length, stdout) == text.length && fflush(stdout) == 0;
  text_free(&text);
  if (!written)
    diag_error(diagnostics, (Span){0}, "the dump after %s cannot be written", pass->name);
  return written;
}

/* Runs and verifies one pass; false when it reported errors. */
static bool run_pass(Module *module, Diagnostics *diagnostics, const Pass *pass, PassTime *time) {
  const char *context = arena_printf(module->arena, "pass %s", pass->name);
  int errors_before = diagnostics_error_count(diagnostics);
  double start = now();
  panic_set_context(context);
  pass->run(module, diagnostics);
  panic_set_context(NULL);
  double end = now();
  *time = (PassTime){.run = end - start, .ran = true};
  if (diagnostics_error_count(diagnostics) > errors_before) return false;
  verify_after(module, context);
  time->verify = now() - end;
  time->nodes = count_nodes(module);
  return true;
}

static bool run_all(Module *module, Diagnostics *diagnostics, const PassOptions *options,
                    bool *stopped, PassTime *times) {
  const char *wanted = options->dump_after;
  bool dumps_all = wanted && strcmp(wanted, "all") == 0;
  bool skipping = options->start_after != NULL;
  for (int i = 0; i < pass_count; i++) {
    const Pass *pass = &pass_table[i];
    if (skipping) {
      skipping = !is_named(options->start_after, pass);
      continue;
    }
    if (pass->level <= options->level && !run_pass(module, diagnostics, pass, &times[i]))
      return false;
    if ((dumps_all || is_named(wanted, pass)) && !dump(module, diagnostics, pass, dumps_all))
      return false;
    *stopped = is_named(options->stop_after, pass);
    if (*stopped) return false;
  }
  return true;
}

/* What no pass leaves and no kernel computes, bodies of scans included; NULL: there is none. */
static const Node *find_unlowered(const Graph *graph) {
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    const OpClass *class = op_info(node->op)->class;
    bool is_result = node_is_scan_result(node);
    const Node *found = node->body ? find_unlowered(node->body)
                        : class->lower || class->leaf != LEAF_NONE || is_result ? NULL
                                                                                : node;
    if (found) return found;
  }
  return NULL;
}

/* A dump may hold what a skipped pass would have replaced: it was taken before that pass. */
static bool check_resumed(const Module *module, Diagnostics *diagnostics, const char *after) {
  for (int entry = 0; entry < ENTRY_COUNT; entry++) {
    const Graph *graph = module->entries[entry];
    const Node *node = graph ? find_unlowered(graph) : NULL;
    if (!node) continue;
    Diagnostic *error =
        diag_error(diagnostics, node->span, "the dump was not taken after %s: it holds a '%s'",
                   after, op_info(node->op)->name);
    diag_help(error, "--resume-after takes the pass that --dump-after named");
    return false;
  }
  return true;
}

bool passes_run(Module *module, Diagnostics *diagnostics, const PassOptions *options,
                bool *stopped) {
  PassTime times[sizeof pass_table / sizeof *pass_table] = {{0}};
  *stopped = false;
  if (!check_options(diagnostics, options)) return false;
  verify_after(module, "elaboration or the reading of a dump");
  bool finished = run_all(module, diagnostics, options, stopped, times);
  if (options->time_passes) print_times(times);
  const char *after = options->start_after;
  return finished && (!after || check_resumed(module, diagnostics, after));
}
