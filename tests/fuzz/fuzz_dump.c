/* Fuzzing target: dumps.  What the reader accepts prints to a text that reads back as itself, and
 * goes through the rest of the compiler: the first byte says after which pass (@A after none,
 * BC after the first, ...) and with which -O (@ 0, A 1). */
#include "fuzz_compiler.h"

static char *printed(Arena *arena, const Module *module) {
  Text text = {0};
  module_print(&text, module);
  char *copy = arena_strndup(arena, text.data, text.length);
  text_free(&text);
  return copy;
}

static void round_trip(Arena *arena, Diagnostics *diagnostics, const Module *module) {
  char *once = printed(arena, module);
  SourceFile *again = source_from_text(arena, "again", once, strlen(once));
  Module *read = module_parse(arena, diagnostics, again, module_find_violation);
  if (!read) {
    diagnostics_print(diagnostics, stderr, 0);
    panic("a printed module does not read back:\n%s", once);
  }
  char *twice = printed(arena, read);
  if (strcmp(once, twice) != 0) panic("the dump\n%s\nreads back as\n%s", once, twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size < 1) return 0;
  Arena *arena = arena_create();
  Diagnostics *diagnostics = diagnostics_create(arena);
  int choice = (uint8_t)(bytes[0] - '@'), after = choice / 2 % (pass_count + 1);
  Module *module = module_parse(arena, diagnostics, fuzz_source(arena, bytes + 1, size - 1),
                                module_find_violation);
  if (!module != (diagnostics_error_count(diagnostics) > 0))
    panic("a refusal without a reason, or a module in spite of errors");
  if (module) {
    round_trip(arena, diagnostics, module);
    fuzz_back_end(arena, diagnostics, module, after > 0 ? pass_table[after - 1].name : NULL,
                  choice % 2);
  }
  fuzz_report(diagnostics);
  arena_destroy(arena);
  return 0;
}
