/* Tensors of several files: where each is, and what is told of that. */
#include "train/init_files.h"

#include <stdio.h>
#include <string.h>

#include "os/message.h"

enum { MOST_NAMES = 20, NAMES_TEXT = 1024 };

bool nnc_init_files_open(nnc_init_files *files, int count, const char *const *paths) {
  *files = (nnc_init_files){0};
  while (files->count < count) {
    nnc_safetensors *file = nnc_safetensors_open(paths[files->count]);
    if (!file) {
      nnc_init_files_close(files);
      return false;
    }
    files->files[files->count++] = file;
  }
  return true;
}

void nnc_init_files_close(nnc_init_files *files) {
  while (files->count > 0) nnc_safetensors_close(files->files[--files->count]);
}

const nnc_stored *nnc_init_files_find(const nnc_init_files *files, const char *name,
                                      const nnc_safetensors **file) {
  const nnc_stored *stored = NULL;
  *file = NULL;
  for (int i = files->count - 1; i >= 0 && !stored; i--) {
    stored = nnc_safetensors_find(files->files[i], name);
    if (stored) *file = files->files[i];
  }
  return stored;
}

const char *nnc_init_files_metadata(const nnc_init_files *files, const char *key,
                                    const char **path) {
  const char *text = NULL;
  for (int i = files->count - 1; i >= 0 && !text; i--) {
    text = nnc_safetensors_metadata(files->files[i], key);
    *path = files->files[i]->path;
  }
  return text;
}

const char *nnc_init_files_call(const nnc_init_files *files, const nnc_safetensors *file) {
  if (files->count == 1) return "the file";
  return file ? file->path : "the files";
}

/* The tensors that one file gave, and their names in a text: of "h1.w" and "h1.b" that of the layer. */
static int list_given(const nnc_init_files *files, const nnc_safetensors *file,
                      const nnc_model *model, const bool *taken, char text[NAMES_TEXT]) {
  int given = 0, names = 0;
  size_t at = 0, last_length = 0;
  const char *last = "";
  text[0] = '\0';
  for (int i = 0; i < model->variable_count; i++) {
    const nnc_safetensors *from;
    const char *name = model->variables[i].tensor.name;
    const char *dot = strrchr(name, '.');
    size_t length = dot ? (size_t)(dot - name) : strlen(name);
    int kind = model->variables[i].kind;
    bool is_read = taken ? taken[i] : kind == NNC_PARAM || kind == NNC_STATE;
    if (!is_read || !nnc_init_files_find(files, name, &from) || from != file) continue;
    given++;
    if (length == last_length && memcmp(name, last, length) == 0) continue;
    last = name;
    last_length = length;
    if (names++ >= MOST_NAMES || at >= NAMES_TEXT) continue;
    at +=
        (size_t)snprintf(text + at, NAMES_TEXT - at, "%s%.*s", at ? ", " : ": ", (int)length, name);
  }
  if (names > MOST_NAMES && at < NAMES_TEXT)
    snprintf(text + at, NAMES_TEXT - at, " and %d more layers", names - MOST_NAMES);
  return given;
}

bool nnc_init_files_tell(const nnc_init_files *files, const nnc_model *model, const bool *taken) {
  for (int i = 0; i < files->count; i++) {
    const nnc_safetensors *file = files->files[i];
    char text[NAMES_TEXT];
    int given = list_given(files, file, model, taken, text);
    if (given == 0) {
      nnc_error("%s: none of its %d tensors fits this program%s", file->path, file->count,
                files->count > 1 ? " and is missing in the files of --init after it" : "");
      return false;
    }
    nnc_note("loaded %d tensor%s of %s%s", given, given == 1 ? "" : "s", file->path,
             files->count > 1 ? text : "");
  }
  return true;
}
