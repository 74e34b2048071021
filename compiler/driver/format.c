/* nnc fmt FILE...: the canonical form; on standard output, in place, or only named. */
#include <string.h>

#include "driver/commands.h"
#include "syntax/format.h"

/* The formatted text of one program may take the place of another, but of none that is formatted. */
static bool write_result(Arena *arena, const Options *options, const Text *text) {
  const char *output = options->output;
  InputFiles inputs = {0};
  for (int i = 0; i < options->files.count; i++)
    inputs_add(arena, &inputs, options->files.items[i], "a file that is formatted; see -i");
  size_t length = output ? strlen(output) : 0;
  bool is_program = length > 4 && strcmp(output + length - 4, ".net") == 0;
  return driver_write(arena, &inputs, output, is_program ? MADE_PROGRAM : MADE_TEXT, text);
}

static int format_file(Arena *arena, const Options *options, const char *path) {
  SourceFile *source = driver_read(arena, path);
  if (!source) return EXIT_MACHINE;
  Diagnostics *diagnostics = diagnostics_create(arena);
  char *formatted = format_program(arena, diagnostics, source);
  if (driver_report(diagnostics, options) || !formatted) return EXIT_MISTAKES;
  Text text = {.data = formatted, .length = strlen(formatted)};
  bool changed = text.length != source->length || memcmp(formatted, source->text, text.length) != 0;
  if (options->format_check) {
    if (changed) printf("%s\n", path);
    return changed ? EXIT_MISTAKES : 0;
  }
  bool in_place = options->format_in_place && strcmp(path, "-") != 0;
  if (in_place) return !changed || output_rewrite(arena, path, &text) ? 0 : EXIT_MACHINE;
  return write_result(arena, options, &text) ? 0 : EXIT_MACHINE;
}

int command_format(Arena *arena, const Options *options) {
  int status = 0;
  for (int i = 0; i < options->files.count; i++) {
    int one = format_file(arena, options, options->files.items[i]);
    if (one > status) status = one;
  }
  return status;
}
