/* nnc fmt FILE...: the canonical form; on standard output, in place, or only named. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/commands.h"
#include "syntax/format.h"

/* Replaces the file at once: a crash leaves the old text or the new one. */
static bool replace_file(Arena *arena, const char *path, const Text *text) {
  const char *temporary = arena_printf(arena, "%s.nnc-fmt.%d", path, (int)getpid());
  if (!driver_write(temporary, text)) return false;
  if (rename(temporary, path) == 0) return true;
  fprintf(stderr, "nnc: cannot replace %s\n", path);
  unlink(temporary);
  return false;
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
  if (in_place) return !changed || replace_file(arena, path, &text) ? 0 : EXIT_MACHINE;
  return driver_write(options->output, &text) ? 0 : EXIT_MACHINE;
}

int command_format(Arena *arena, const Options *options) {
  int status = 0;
  for (int i = 0; i < options->files.count; i++) {
    int one = format_file(arena, options, options->files.items[i]);
    if (one > status) status = one;
  }
  return status;
}
