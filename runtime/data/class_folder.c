/* Files in a folder for each class: see class_folder.h. */
#include "data/class_folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/dictionary.h"
#include "core/fitted.h"
#include "data/call.h"
#include "data/file.h"

enum { FILE_FIELD, LABEL };

/* --- classes ---------------------------------------------------------------------------------- */

static const nnc_fitted_value *find_classes(const DataContext *context, const char *field,
                                            const FileNames *folders) {
  char name[256];
  nnc_fitted_name(name, sizeof name, field, "categories", -1);
  const nnc_fitted_value *found = nnc_fitted_find(context->fitted, name);
  if (!found && context->learns) {
    const char **words = malloc(((size_t)folders->count + 1) * sizeof *words);
    for (int64_t i = 0; words && i < folders->count; i++)
      words[i] = data_path_last(folders->items[i]);
    int result = words ? nnc_fitted_add_strings(context->learns, name, folders->count, words) : -1;
    free(words);
    if (result < 0) {
      data_fail_memory(context, name, folders->count * 8);
      return NULL;
    }
    found = nnc_fitted_find(context->fitted, name);
  }
  if (found && found->strings) return found;
  data_fail_call(context, "the classes of %s come from the training set or a checkpoint", field);
  return NULL;
}

/* To find classes by their names: a word's line is its class. */
static int list_classes(const DataContext *context, const nnc_fitted_value *classes,
                        nnc_dictionary *known) {
  for (int64_t i = 0; i < classes->count; i++) {
    const char *name = classes->strings[i];
    if (nnc_dictionary_add(known, name, (int64_t)strlen(name), i) < 0)
      return data_fail_memory(context, "the classes", classes->count * 8);
  }
  return 0;
}

static int class_of(const DataContext *context, const nnc_dictionary *known, const char *folder) {
  const char *name = data_path_last(folder);
  int32_t code = nnc_dictionary_find(known, name, (int64_t)strlen(name));
  if (code >= 0) return (int)known->lines[code];
  return data_fail(context, "%s: the class '%.60s' does not occur in the training set", folder,
                   name);
}

/* --- loading ---------------------------------------------------------------------------------- */

/* The files of one class after those of the classes before it. */
static int add_class(const DataContext *context, const char *folder, int class, RowFiles *files,
                     int32_t **labels) {
  int64_t first = files->names.count, *count = &files->names.count;
  if (data_files_add_folder(context, folder, files) < 0) return -1;
  int32_t *grown = realloc(*labels, (size_t)*count * sizeof **labels);
  if (!grown) return data_fail_memory(context, folder, *count * 4);
  *labels = grown;
  for (int64_t i = first; i < *count; i++) grown[i] = class;
  return 0;
}

/* With or without a label among the inputs: examples are the same. */
static int add_classes(const DataContext *context, const DataTable *table, const char *root,
                       RowFiles *files, int32_t **labels) {
  FileNames folders = {0};
  nnc_dictionary known = {0};
  bool is_labelled = table->field_count > LABEL;
  int result = data_files_list(context, root, NULL, false, &folders);
  bool is_flat = !is_labelled && result == 0 && data_files_hold(context, root, files->kind);
  if (is_flat) result = data_files_add_flat(context, root, files);
  else if (result == 0 && folders.count == 0)
    result = data_files_fail_flat(context, root, files->kind);
  if (result == 0 && is_labelled) {
    const nnc_fitted_value *classes = find_classes(context, table->fields[LABEL].name, &folders);
    result = classes ? list_classes(context, classes, &known) : -1;
  }
  for (int64_t i = 0; result == 0 && !is_flat && i < folders.count; i++) {
    int class = is_labelled ? class_of(context, &known, folders.items[i]) : 0;
    result = class < 0 ? -1 : add_class(context, folders.items[i], class, files, labels);
  }
  data_files_free_names(&folders);
  nnc_dictionary_free(&known);
  return result;
}

/* The last part of the folder's path, of which "", "." and ".." are none. */
static bool folder_part(const char *file, const char **begin, int *length) {
  const char *end = strrchr(file, '/');
  while (end && end > file &&
         (end[-1] == '/' || (end[-1] == '.' && end - 1 > file && end[-2] == '/')))
    end--;
  *begin = end ? end : file;
  while (*begin > file && (*begin)[-1] != '/') --*begin;
  *length = end ? (int)(end - *begin) : 0;
  bool is_dots = *length > 0 && *length <= 2 && strspn(*begin, ".") >= (size_t)*length;
  return *length > 0 && !is_dots;
}

/* The folder that the file is in, as the file system names it, allocated; NULL: it has none. */
static char *real_folder(const char *file) {
  const char *slash = strrchr(file, '/');
  char *path = slash ? strndup(file, (size_t)(slash - file) + 1) : strdup(".");
  char *real = path ? realpath(path, NULL) : NULL;
  free(path);
  return real;
}

static int fail_class(const DataContext *context, const char *label, const char *file,
                      const char *folder, int length) {
  struct stat status;
  if (stat(file, &status) < 0 && errno != EACCES)
    return data_fail(context, "cannot read %s: %s", file, strerror(errno));
  return data_fail(context,
                   "%s: a result is computed of %s, so the file's folder must be named as its "
                   "class, and '%.*s' is none: give it as FOLDER/CLASS/NAME, or take that result "
                   "out of the predict block",
                   file, label, length, folder);
}

/* The class of a file that is given is its folder's name. */
static int given_class(const DataContext *context, const nnc_dictionary *known, const char *label,
                       const char *file) {
  const char *folder;
  int length;
  char *real = folder_part(file, &folder, &length) ? NULL : real_folder(file);
  if (real) {
    folder = data_path_last(real);
    length = (int)strlen(folder);
  }
  int32_t code = nnc_dictionary_find(known, folder, length);
  int class =
      code >= 0 ? (int)known->lines[code] : fail_class(context, label, file, folder, length);
  free(real);
  return class;
}

static int add_given(const DataContext *context, const DataTable *table, RowFiles *files,
                     int32_t **labels) {
  nnc_dictionary known = {0};
  FileNames none = {0};
  int result = data_files_add_given(context, files, true);
  if (result < 0 || table->field_count <= LABEL || !table->fields[LABEL].input) return result;
  const char *label = table->fields[LABEL].name;
  const nnc_fitted_value *classes = find_classes(context, label, &none);
  result = classes ? list_classes(context, classes, &known) : -1;
  *labels = malloc(((size_t)files->names.count + 1) * sizeof **labels);
  if (result == 0 && !*labels)
    result = data_fail_memory(context, "the classes", files->names.count * 4);
  for (int64_t i = 0; result == 0 && i < files->names.count; i++) {
    (*labels)[i] = given_class(context, &known, label, files->names.items[i]);
    if ((*labels)[i] < 0) result = -1;
  }
  nnc_dictionary_free(&known);
  return result;
}

static int fill_labels(const DataContext *context, DataField *field, const int32_t *labels,
                       int64_t count) {
  int64_t dim[1] = {count};
  if (data_field_shape(context, field, NNC_I32, 1, dim, false) < 0 ||
      data_field_allocate(context, field) < 0)
    return -1;
  memcpy(field->values, labels, (size_t)count * sizeof *labels);
  return 0;
}

static int shape_fields(const DataContext *context, DataTable *table, const char *root,
                        const int32_t *labels) {
  const RowFiles *files = table->state;
  int64_t count = files->names.count;
  for (int f = 0; f < table->field_count; f++) {
    DataField *field = &table->fields[f];
    if (!field->input) continue;
    if (!field->batched)
      return data_fail_call(context, "the input %s has no axis of examples", field->name);
    field->file = strdup(root);
    if (!field->file) return data_fail_memory(context, root, 64);
    if ((f == FILE_FIELD ? files->kind->shape(context, field, count)
                         : fill_labels(context, field, labels, count)) < 0)
      return -1;
  }
  return 0;
}

static char *root_folder(const DataContext *context, const char *const *formals) {
  const nnc_value *value = data_argument(context->call, formals, "folder");
  if (!value || value->kind != NNC_STRING) {
    data_fail_call(context, "%s needs the name of its folder in quotes", context->call->function);
    return NULL;
  }
  char *root = data_path(context->directory, value->string, "");
  if (!root) data_fail_memory(context, value->string, 64);
  return root;
}

int data_class_folder_load(const DataContext *context, DataTable *table,
                           const char *const *formals) {
  RowFiles *files = table->state;
  int32_t *labels = NULL;
  if (table->field_count > LABEL + 1)
    return data_fail_call(context, "%s gives %s and its class, not %d fields",
                          context->call->function, files->kind->one, table->field_count);
  if (data_files_on_error(context, files, formals) < 0) return -1;
  char *root = root_folder(context, formals);
  if (!root) return -1;
  int result = context->files ? add_given(context, table, files, &labels)
                              : add_classes(context, table, root, files, &labels);
  if (result == 0) result = shape_fields(context, table, root, labels);
  free(labels);
  free(root);
  return result;
}
