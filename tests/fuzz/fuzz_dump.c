/* Fuzzing target: dumps, of modules and of whole programs.  What the reader accepts prints to a text that reads back as itself, and
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

/* A program that is accepted prints to a text that reads back as itself, and is emitted. */
static void whole_program(Arena *arena, Diagnostics *diagnostics, const SourceFile *dump) {
  PipelineOptions nothing = {.start_after = pass_table[pass_count - 1].name};
  Text texts[2] = {{0}, {0}};
  bool stopped;
  Program *program = program_parse(arena, diagnostics, dump, module_find_violation, &target_c);
  if (!program != (diagnostics_error_count(diagnostics) > 0))
    panic("a refusal without a reason, or a program in spite of errors");
  if (!program) return;
  program_print_whole(&texts[0], program);
  SourceFile *again = source_from_text(arena, "again", texts[0].data, texts[0].length);
  const Program *read = program_parse(arena, diagnostics, again, module_find_violation, &target_c);
  if (!read) panic("a printed program does not read back:\n%s", texts[0].data);
  program_print_whole(&texts[1], read);
  if (strcmp(texts[0].data, texts[1].data) != 0)
    panic("the dump\n%s\nreads back as\n%s", texts[0].data, texts[1].data);
  if (passes_run((Module *)program->module, diagnostics, &nothing, &stopped)) fuzz_emit(program);
  for (int i = 0; i < 2; i++) text_free(&texts[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size < 1) return 0;
  Arena *arena = arena_create();
  Diagnostics *diagnostics = diagnostics_create(arena);
  int choice = (uint8_t)(bytes[0] - '@'), after = choice / 2 % (pass_count + 1);
  const SourceFile *dump = fuzz_source(arena, bytes + 1, size - 1);
  bool is_whole = strstr(dump->text, "\nprogram \"") != NULL;
  if (is_whole) whole_program(arena, diagnostics, dump);
  Module *module = is_whole ? NULL : module_parse(arena, diagnostics, dump, module_find_violation);
  if (!is_whole && !module != (diagnostics_error_count(diagnostics) > 0))
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
