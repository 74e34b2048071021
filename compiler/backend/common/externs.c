/* The C files of the user's (extern): units of their own. */
#include "backend/common/compile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "backend/common/code.h"
#include "backend/common/externs.h"
#include "support/files.h"

enum { EXTERN_WEIGHT = 100000 };

static bool is_c(const char *file) {
  size_t length = strlen(file);
  return length > 2 && strcmp(file + length - 2, ".c") == 0;
}

const ExternFile *externs_files(Arena *arena, const CompileOptions *options, bool of_c,
                                int *count) {
  VEC(ExternFile) files = {0};
  for (int i = 0; i < options->extern_count; i++) {
    const ExternInfo *external = options->externs[i];
    for (int k = 0; k < external->file_count; k++) {
      ExternFile file = {path_for_program(arena, external->files[k]), external};
      bool is_wanted = is_c(file.name) == of_c;
      for (int f = 0; f < files.count; f++)
        is_wanted = is_wanted && strcmp(files.items[f].name, file.name) != 0;
      if (is_wanted) vec_push(arena, &files, file);
    }
  }
  *count = files.count;
  return files.items;
}

bool externs_add_units(Arena *arena, CSource *source, const CompileOptions *options) {
  int count = source->unit_count, added;
  const ExternFile *files = externs_files(arena, options, true, &added);
  SourceUnit *units = ARENA_ARRAY(arena, SourceUnit, count + added + 1);
  for (int i = 0; i < count; i++) units[i] = source->units[i];
  source->units = units;
  for (int i = 0; i < added; i++) {
    SourceUnit *unit = &units[source->unit_count];
    Text text = {0};
    *unit =
        (SourceUnit){.weight = EXTERN_WEIGHT, .file = files[i].name, .external = files[i].external};
    if (!file_read(unit->file, &text)) {
      fprintf(stderr, "nnc: error: cannot read %s: %s\n", unit->file, strerror(errno));
      return false;
    }
    text_printf(&unit->text, "#line 1 %s\n", code_string(arena, unit->file));
    if (text.length > 0) text_add_bytes(&unit->text, text.data, text.length);
    text_free(&text);
    source->unit_count++;
  }
  return true;
}

bool externs_unit_is_whole(const SourceUnit *unit) {
  if (unit->file == NULL) return true;
  for (const char *at = strstr(unit->text.data, "include"); at; at = strstr(at, "include")) {
    at += strlen("include");
    at += strspn(at, " \t");
    if (*at == '"' && strncmp(at, "\"nnc_extern.h\"", 14) != 0) return false;
  }
  return strstr(unit->text.data, "embed") == NULL;
}
