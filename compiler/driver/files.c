/* What the commands share: reading sources, printing diagnostics, writing results. */
#include "driver/commands.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

SourceFile *driver_read(Arena *arena, const char *path) {
  const char *reason = NULL;
  SourceFile *source = source_read(arena, path, &reason);
  if (!source) fprintf(stderr, "nnc: cannot read %s: %s\n", path, reason);
  return source;
}

bool driver_report(const Diagnostics *diagnostics, const Options *options) {
  diagnostics_print(diagnostics, stderr, options->colour);
  return diagnostics_error_count(diagnostics) > 0;
}

bool driver_write(const char *path, const Text *text) {
  bool to_stdout = !path || !strcmp(path, "-");
  const char *name = to_stdout ? "standard output" : path;
  FILE *stream = to_stdout ? stdout : fopen(path, "w");
  if (!stream) {
    fprintf(stderr, "nnc: cannot write %s: %s\n", name, strerror(errno));
    return false;
  }
  bool good = fwrite(text->data, 1, text->length, stream) == text->length && fflush(stream) == 0;
  int error = errno;
  if (!to_stdout && fclose(stream) != 0 && good) {
    error = errno;
    good = false;
  }
  if (!good) fprintf(stderr, "nnc: cannot write %s: %s\n", name, strerror(error));
  return good;
}

Definition *driver_definitions(Arena *arena, const Options *options) {
  Definition *result = ARENA_ARRAY(arena, Definition, options->definitions.count + 1);
  for (int i = 0; i < options->definitions.count; i++) {
    const char *text = options->definitions.items[i];
    const char *equals = strchr(text, '=');
    result[i].name = arena_strndup(arena, text, (size_t)(equals - text));
    result[i].value = equals + 1;
  }
  return result;
}
