/* Fuzzing target: `nnc check` of a source: parse, elaborate, verify, print what is wrong. */
#include "fuzz_compiler.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  Arena *arena = arena_create();
  Diagnostics *diagnostics = diagnostics_create(arena);
  fuzz_module(arena, diagnostics, fuzz_source(arena, bytes, size), true);
  fuzz_report(diagnostics);
  arena_destroy(arena);
  return 0;
}
