/* The files of the user's (extern): see externs.h. */
#include "backend/common/compile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "backend/common/code.h"
#include "backend/common/externs.h"
#include "support/embedded.h"
#include "support/files.h"
#include "support/panic.h"

enum { EXTERN_WEIGHT = 100000 };

static bool is_c(const char *file) {
  size_t length = strlen(file);
  return length > 2 && strcmp(file + length - 2, ".c") == 0;
}

const ExternFile *externs_files(Arena *arena, const CompileOptions *options, bool of_c,
                                int *count) {
  VEC(ExternFile) files = {0};
  for (int i = 0; options->images == NULL && i < options->extern_count; i++) {
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

static bool read_file(const char *name, Text *text) {
  if (file_read(name, text)) return true;
  fprintf(stderr, "nnc: error: cannot read %s: %s\n", name, strerror(errno));
  return false;
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
    if (!read_file(unit->file, &text)) return false;
    text_printf(&unit->text, "#line 1 %s\n", code_string(arena, unit->file));
    if (text.length > 0) text_add_bytes(&unit->text, text.data, text.length);
    text_free(&text);
    source->unit_count++;
  }
  return true;
}

/* ---- files of a device ---- */

int externs_device_file(const CompileOptions *options, const char *function) {
  const char *file = NULL;
  for (int i = 0; i < options->extern_count; i++)
    if (strcmp(options->externs[i]->function, function) == 0) file = options->externs[i]->cuda;
  for (int i = 0; i < options->device_file_count; i++)
    if (file != NULL && strcmp(options->device_files[i].external->cuda, file) == 0) return i;
  panic("no file of the device's has the function %s", function);
}

bool externs_read(Arena *arena, CompileOptions *options) {
  VEC(DeviceFile) files = {0};
  for (int i = 0; i < options->extern_count; i++) {
    const ExternInfo *external = options->externs[i];
    bool is_new = true;
    for (int k = 0; k < files.count; k++)
      is_new = is_new && strcmp(files.items[k].external->cuda, external->cuda) != 0;
    if (!is_new) continue;
    DeviceFile file = {.name = path_for_program(arena, external->cuda), .external = external};
    if (!read_file(file.name, &file.text)) return false;
    vec_push(arena, &files, file);
  }
  options->device_file_count = files.count;
  options->device_files = files.items;
  return true;
}

const char *externs_folder(Arena *arena, const char *file) {
  const char *slash = strrchr(file, '/');
  return slash ? arena_strndup(arena, file, (size_t)(slash - file) + 1) : ".";
}

/* ---- what files include ---- */

/* A device's compiler finds no headers but those of nnc and what lies beside the file. */
static bool is_known_header(const SourceUnit *unit, const char *at) {
  char name[64] = "cuda_abi/";
  size_t length = strcspn(at + 1, "\">"), folder = strlen(name);
  if (!unit->is_of_device) return *at != '"' || strncmp(at, "\"nnc_extern.h\"", 14) == 0;
  if (*at != '"' && *at != '<') return true;
  if (length + folder >= sizeof name) return false;
  memcpy(name + folder, at + 1, length);
  return embedded_find(name) != NULL;
}

bool externs_unit_is_whole(const SourceUnit *unit) {
  if (unit->file == NULL) return true;
  for (const char *at = strstr(unit->text.data, "include"); at; at = strstr(at, "include")) {
    at += strlen("include");
    at += strspn(at, " \t");
    if (!is_known_header(unit, at)) return false;
  }
  return strstr(unit->text.data, "embed") == NULL;
}
