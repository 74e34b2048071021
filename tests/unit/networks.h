/* Real networks from tests/unit/networks, as modules after the passes. */
#ifndef NNC_TESTS_UNIT_NETWORKS_H
#define NNC_TESTS_UNIT_NETWORKS_H

#include "elaborate/elaborate.h"
#include "graphs.h"
#include "passes/pass.h"
#include "syntax/parse.h"

/* With scans that are loops of the program where the name says so. */
#define AS_LOOPS "loops of "
static const char *const network_names[] = {
    "mlp",         "cnn",    "gpt",   "accumulate", "bn1d",          "lstm",          "blocks",
    "blocks_norm", "slopes", "masks", "pools",      AS_LOOPS "lstm", AS_LOOPS "scans"};
enum { NETWORKS = sizeof network_names / sizeof *network_names };

static inline Module *network_module(Arena *arena, const char *name, int level) {
  bool as_loops = strncmp(name, AS_LOOPS, strlen(AS_LOOPS)) == 0;
  const char *reason, *file_name = as_loops ? name + strlen(AS_LOOPS) : name;
  const char *path = arena_printf(arena, "%s/tests/unit/networks/%s.net", SOURCE_DIR, file_name);
  SourceFile *file = source_read(arena, path, &reason);
  if (!file) fail_msg("%s: %s", path, reason);
  Diagnostics *diagnostics = diagnostics_create(arena);
  AstProgram *program = parse_program(arena, diagnostics, file);
  Module *module = NULL;
  if (diagnostics_error_count(diagnostics) == 0)
    module = elaborate(arena, diagnostics, program, NULL);
  if (module) module->run.scans = as_loops ? SCANS_LOOP : SCANS_UNROLL;
  PipelineOptions options = {.level = level};
  bool stopped;
  if (!module || !passes_run(module, diagnostics, &options, &stopped)) {
    diagnostics_print(diagnostics, stderr, 0);
    fail_msg("%s does not compile", path);
  }
  return module;
}

#endif
