/* Fuzzing target: the whole compiler but the C compiler, on a source; odd lengths without
 * optimization. */
#include "fuzz_compiler.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  Arena *arena = arena_create();
  Diagnostics *diagnostics = diagnostics_create(arena);
  Module *module = fuzz_module(arena, diagnostics, fuzz_source(arena, bytes, size), false);
  if (module) fuzz_back_end(arena, diagnostics, module, NULL, size % 2 ? 0 : 1);
  fuzz_report(diagnostics);
  arena_destroy(arena);
  return 0;
}
