/* Fuzzing target: the formatter.  What parses is formatted, and formatting that changes nothing
 * (format_program itself panics when the tree or a comment is lost). */
#include "fuzz_compiler.h"
#include "syntax/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  Arena *arena = arena_create();
  Diagnostics *diagnostics = diagnostics_create(arena);
  char *once = format_program(arena, diagnostics, fuzz_source(arena, bytes, size));
  fuzz_report(diagnostics);
  if (!once != (diagnostics_error_count(diagnostics) > 0))
    panic("a refusal without a reason, or a result in spite of errors");
  if (once) {
    SourceFile *again = source_from_text(arena, "fuzz.net", once, strlen(once));
    char *twice = format_program(arena, diagnostics, again);
    if (!twice) panic("the formatted text does not parse:\n%s", once);
    if (strcmp(once, twice) != 0) panic("formatting again changes\n%s\nto\n%s", once, twice);
  }
  arena_destroy(arena);
  return 0;
}
