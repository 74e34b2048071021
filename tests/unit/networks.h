/* Real networks from tests/unit/networks, as modules after the passes. */
#ifndef NNC_TESTS_UNIT_NETWORKS_H
#define NNC_TESTS_UNIT_NETWORKS_H

#include "elaborate/elaborate.h"
#include "graphs.h"
#include "passes/pass.h"
#include "syntax/parse.h"

static const char *const network_names[] = {"mlp",  "cnn",  "gpt",    "accumulate",
                                            "bn1d", "lstm", "blocks", "blocks_norm"};
enum { NETWORKS = sizeof network_names / sizeof *network_names };

static inline Module *network_module(Arena *arena, const char *name, int level) {
  const char *reason,
      *path = arena_printf(arena, "%s/tests/unit/networks/%s.net", SOURCE_DIR, name);
  SourceFile *file = source_read(arena, path, &reason);
  if (!file) fail_msg("%s: %s", path, reason);
  Diagnostics *diagnostics = diagnostics_create(arena);
  AstProgram *program = parse_program(arena, diagnostics, file);
  Module *module = NULL;
  if (diagnostics_error_count(diagnostics) == 0)
    module = elaborate(arena, diagnostics, program, NULL);
  PassOptions options = {.level = level};
  bool stopped;
  if (!module || !passes_run(module, diagnostics, &options, &stopped)) {
    diagnostics_print(diagnostics, stderr, 0);
    fail_msg("%s does not compile", path);
  }
  return module;
}

#endif
