/* What the commands share: reading sources, printing diagnostics, writing results. */
#include "driver/commands.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "support/files.h"

/* Pictures, tensors, archives and UTF-16 begin with bytes that no text has, NUL among them. One such byte is a mistake of
 * its line, as are codes that a terminal obeys. */
static bool begins_binary(const SourceFile *source) {
  enum { BEGINNING = 16, MANY = 3 };
  int odd = 0, nul = 0;
  for (size_t i = 0; i < source->length && i < BEGINNING; i++) {
    unsigned char byte = (unsigned char)source->text[i];
    odd += iscntrl(byte) && !isspace(byte);
    nul += byte == '\0';
  }
  return odd >= MANY && nul > 0;
}

/* What a file is that holds no text, with what to do; NULL: it may hold a text. */
static const char *describe_binary(Arena *arena, const SourceFile *source) {
  if (file_begins_executable(source->text, source->length))
    return arena_printf(arena,
                        "it is an executable, and nnc reads .net files; '%s%s --help' says what "
                        "it does",
                        strchr(source->name, '/') ? "" : "./", source->name);
  return begins_binary(source) ? "it is no text in UTF-8, as .net files are" : NULL;
}

SourceFile *driver_read(Arena *arena, const char *path) {
  const char *reason = NULL;
  SourceFile *source = source_read(arena, path, &reason);
  if (source) reason = describe_binary(arena, source);
  if (reason) fprintf(stderr, "nnc: cannot read %s: %s\n", path, reason);
  return reason ? NULL : source;
}

bool driver_report(const Diagnostics *diagnostics, const Options *options) {
  diagnostics_print(diagnostics, stderr, options->colour);
  return diagnostics_error_count(diagnostics) > 0;
}

static bool write_stdout(const Text *text) {
  bool good = fwrite(text->data, 1, text->length, stdout) == text->length && fflush(stdout) == 0;
  if (!good) fprintf(stderr, "nnc: error: cannot write standard output: %s\n", strerror(errno));
  return good;
}

bool driver_write(Arena *arena, const InputFiles *inputs, const char *path, Made made,
                  const Text *text) {
  if (!path || !strcmp(path, "-")) return write_stdout(text);
  return output_check(inputs, path, made) && output_write(arena, path, made, text);
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

static int compare_texts(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *driver_definitions_text(Arena *arena, const Options *options) {
  int count = options->definitions.count;
  const char **sorted = ARENA_ARRAY(arena, const char *, count + 1);
  const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.=+-,/";
  const char *text = "";
  for (int i = 0; i < count; i++) sorted[i] = options->definitions.items[i];
  if (count > 0) qsort(sorted, (size_t)count, sizeof *sorted, compare_texts);
  for (int i = 0; i < count; i++) {
    const char *quote = sorted[i][strspn(sorted[i], plain)] ? "'" : "";
    text = arena_printf(arena, "%s%s-D %s%s%s", text, i ? " " : "", quote, sorted[i], quote);
  }
  return text;
}
