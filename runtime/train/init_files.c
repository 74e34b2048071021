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

/* Bytes of "w" in "w:average", the path of the average of w; 0: it is the path of no average. */
static size_t averaged_length(const char *name) {
  static const char end[] = ":average";
  size_t length = strlen(name), tail = sizeof end - 1;
  return length > tail && strcmp(name + length - tail, end) == 0 ? length - tail : 0;
}

/* The tensor whose name is these bytes; NULL: it is not there, or there are none. */
static const nnc_stored *find_parameter(const nnc_safetensors *file, const char *name,
                                        size_t length) {
  for (int i = 0; length > 0 && i < file->count; i++) {
    const char *other = file->tensors[i].name;
    if (strncmp(other, name, length) == 0 && other[length] == '\0') return &file->tensors[i];
  }
  return NULL;
}

const nnc_stored *nnc_init_files_find(const nnc_init_files *files, const char *name,
                                      const nnc_safetensors **file) {
  size_t averaged = averaged_length(name);
  const nnc_stored *stored = NULL;
  *file = NULL;
  for (int i = files->count - 1; i >= 0 && !stored; i--) {
    stored = nnc_safetensors_find(files->files[i], name);
    if (!stored) stored = find_parameter(files->files[i], name, averaged);
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

typedef struct Telling {
  const nnc_init_files *files;
  const nnc_safetensors *file; /* what it gave is told */
  const nnc_model *model;
  const bool *taken;
} Telling;

/* The tensor that the file gave a variable; NULL: none. */
static const nnc_stored *given(const Telling *telling, int variable) {
  const nnc_variable *own = &telling->model->variables[variable];
  const nnc_safetensors *from;
  bool is_read =
      telling->taken ? telling->taken[variable] : own->kind == NNC_PARAM || own->kind == NNC_STATE;
  const nnc_stored *stored =
      is_read ? nnc_init_files_find(telling->files, own->tensor.name, &from) : NULL;
  return stored && from == telling->file ? stored : NULL;
}

/* The name in a list: of "h1.w" that of the layer, "h1"; of "scale:average" that of the parameter. */
static size_t listed_length(const char *name) {
  const char *dot = strrchr(name, '.');
  size_t averaged = averaged_length(name);
  return dot ? (size_t)(dot - name) : averaged > 0 ? averaged : strlen(name);
}

/* Whether the file gave something before this variable that has the same name in a list. */
static bool is_listed(const Telling *telling, int variable) {
  const char *name = telling->model->variables[variable].tensor.name;
  size_t length = listed_length(name);
  for (int i = 0; i < variable; i++) {
    const char *other = telling->model->variables[i].tensor.name;
    if (listed_length(other) == length && memcmp(other, name, length) == 0 && given(telling, i))
      return true;
  }
  return false;
}

/* The names of what the file gave. */
static void list_given(const Telling *telling, char text[NAMES_TEXT]) {
  int names = 0;
  size_t at = 0;
  text[0] = '\0';
  for (int i = 0; i < telling->model->variable_count; i++) {
    const char *name = telling->model->variables[i].tensor.name;
    if (!given(telling, i) || is_listed(telling, i)) continue;
    if (names++ >= MOST_NAMES || at >= NAMES_TEXT) continue;
    at += (size_t)snprintf(text + at, NAMES_TEXT - at, "%s%.*s", at ? ", " : ": ",
                           (int)listed_length(name), name);
  }
  if (names > MOST_NAMES && at < NAMES_TEXT)
    snprintf(text + at, NAMES_TEXT - at, " and %d more layers", names - MOST_NAMES);
}

/* False after a message when the file gave nothing. */
static bool tell_given(const Telling *telling) {
  const nnc_safetensors *file = telling->file;
  bool is_one = telling->files->count == 1;
  int count = 0;
  char text[NAMES_TEXT];
  for (int i = 0; i < telling->model->variable_count; i++) {
    const nnc_stored *stored = given(telling, i);
    count += stored && strcmp(stored->name, telling->model->variables[i].tensor.name) == 0;
  }
  if (count == 0) {
    nnc_error("%s: none of its %d tensors fits this program%s", file->path, file->count,
              is_one ? "" : " and is missing in the files of --init after it");
    return false;
  }
  list_given(telling, text);
  nnc_note("loaded %d tensor%s of %s%s", count, count == 1 ? "" : "s", file->path,
           is_one ? "" : text);
  return true;
}

static bool has_variable(const nnc_model *model, const char *name) {
  for (int i = 0; i < model->variable_count; i++)
    if (strcmp(model->variables[i].tensor.name, name) == 0) return true;
  return false;
}

/* The averages that begin with their parameters, and those that the program does not have. */
static void tell_averages(const Telling *telling) {
  const nnc_model *model = telling->model;
  const nnc_safetensors *file = telling->file;
  int begun = 0, unused = 0;
  for (int i = 0; i < model->variable_count; i++) {
    const nnc_stored *stored = given(telling, i);
    const char *name = model->variables[i].tensor.name;
    char average[NNC_MESSAGE];
    begun += stored && strcmp(stored->name, name) != 0;
    snprintf(average, sizeof average, "%s:average", name);
    unused += stored && nnc_safetensors_find(file, average) && !has_variable(model, average);
  }
  if (begun > 0)
    nnc_note("%s has no average of %d parameter%s: %s", file->path, begun, begun == 1 ? "" : "s",
             begun == 1 ? "it begins with the parameter" : "they begin with the parameters");
  if (unused > 0)
    nnc_note("not used: the average%s of %d parameter%s in %s; the program has no 'average' for "
             "%s and takes the parameter%s",
             unused == 1 ? "" : "s", unused, unused == 1 ? "" : "s", file->path,
             unused == 1 ? "it" : "them", unused == 1 ? "" : "s");
}

bool nnc_init_files_tell(const nnc_init_files *files, const nnc_model *model, const bool *taken) {
  for (int i = 0; i < files->count; i++) {
    Telling telling = {files, files->files[i], model, taken};
    if ((taken || files->count > 1) && !tell_given(&telling)) return false;
    tell_averages(&telling);
  }
  return true;
}
