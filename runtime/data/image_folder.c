/* Source `image_folder(folder, workers = 0, on_error = "stop")`: JPEG and PNG files, in a folder for each class.
 *
 *     train/cat/1.jpg  train/cat/2.png  train/dog/1.jpg
 *
 * Fields are the picture and, where there is a second, its class: the folders' names in sorted
 * order, learnt from the training set like the classes of a `categories` stage.  Files count when
 * their names end in .jpg, .jpeg or .png (in any case) and do not begin with a dot; their order is
 * that of the classes, then of the names.  Pictures are decoded when they are read, by worker
 * threads. */
#include <stdlib.h>
#include <string.h>

#include "core/dictionary.h"
#include "core/fitted.h"
#include "data/call.h"
#include "data/class.h"
#include "data/file.h"
#include "data/picture_files.h"
#include "data/table.h"
#include "nnc_data.h"

static const char *const formals[] = {"folder", "workers", "on_error", NULL};

enum { PICTURE, LABEL };

/* --- classes ---------------------------------------------------------------------------------- */

static const char *last_part(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static const nnc_fitted_value *find_classes(const DataContext *context, const char *field,
                                            const PictureNames *folders) {
  char name[256];
  nnc_fitted_name(name, sizeof name, field, "categories", -1);
  const nnc_fitted_value *found = nnc_fitted_find(context->fitted, name);
  if (!found && context->learns) {
    const char **words = malloc(((size_t)folders->count + 1) * sizeof *words);
    for (int64_t i = 0; words && i < folders->count; i++) words[i] = last_part(folders->items[i]);
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
  const char *name = last_part(folder);
  int32_t code = nnc_dictionary_find(known, name, (int64_t)strlen(name));
  if (code >= 0) return (int)known->lines[code];
  return data_fail(context, "%s: the class '%.60s' does not occur in the training set", folder,
                   name);
}

/* --- loading ---------------------------------------------------------------------------------- */

/* The pictures of one class after those of the classes before it. */
static int add_class(const DataContext *context, const char *folder, int class, PictureNames *files,
                     int32_t **labels) {
  int64_t first = files->count;
  if (data_picture_add_folder(context, folder, files) < 0) return -1;
  int32_t *grown = realloc(*labels, (size_t)files->count * sizeof **labels);
  if (!grown) return data_fail_memory(context, folder, files->count * 4);
  *labels = grown;
  for (int64_t i = first; i < files->count; i++) grown[i] = class;
  return 0;
}

/* With or without a label among the inputs: examples are the same. */
static int add_classes(const DataContext *context, const DataTable *table, const char *root,
                       PictureNames *files, int32_t **labels) {
  PictureNames folders = {0};
  nnc_dictionary known = {0};
  bool is_labelled = table->field_count > LABEL;
  int result = data_picture_list(context, root, true, &folders);
  if (result == 0 && folders.count == 0)
    result = data_fail(context, "%s has no folders; image_folder expects one for each class", root);
  if (result == 0 && is_labelled) {
    const nnc_fitted_value *classes = find_classes(context, table->fields[LABEL].name, &folders);
    result = classes ? list_classes(context, classes, &known) : -1;
  }
  for (int64_t i = 0; result == 0 && i < folders.count; i++) {
    int class = is_labelled ? class_of(context, &known, folders.items[i]) : 0;
    result = class < 0 ? -1 : add_class(context, folders.items[i], class, files, labels);
  }
  data_picture_free_names(&folders);
  nnc_dictionary_free(&known);
  return result;
}

static int add_given(const DataContext *context, const DataTable *table, PictureNames *files) {
  if (table->field_count > LABEL && table->fields[LABEL].input)
    return data_fail(context, "files given have no class, which %s wants",
                     table->fields[LABEL].name);
  return data_picture_add_given(context, files);
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
                        const int32_t *labels, int64_t count) {
  for (int f = 0; f < table->field_count; f++) {
    DataField *field = &table->fields[f];
    if (!field->input) continue;
    if (!field->batched)
      return data_fail_call(context, "the input %s has no axis of examples", field->name);
    field->file = strdup(root);
    if (!field->file) return data_fail_memory(context, root, 64);
    if ((f == PICTURE ? data_picture_shape(context, field, count)
                      : fill_labels(context, field, labels, count)) < 0)
      return -1;
  }
  return 0;
}

static char *root_folder(const DataContext *context) {
  const nnc_value *value = data_argument(context->call, formals, "folder");
  if (!value || value->kind != NNC_STRING) {
    data_fail_call(context, "image_folder needs the name of its folder in quotes");
    return NULL;
  }
  char *root = data_path(context->directory, value->string, "");
  if (!root) data_fail_memory(context, value->string, 64);
  return root;
}

static int load(const DataContext *context, DataTable *table) {
  int32_t *labels = NULL;
  if (table->field_count > 2)
    return data_fail_call(context, "image_folder gives a picture and its class, not %d fields",
                          table->field_count);
  PictureFiles *files = data_picture_open(context, table, formals);
  if (files && data_picture_on_error(context, files, formals) < 0) return -1;
  char *root = files ? root_folder(context) : NULL;
  if (!root) return -1;
  int result = context->files ? add_given(context, table, &files->names)
                              : add_classes(context, table, root, &files->names, &labels);
  if (result == 0) result = shape_fields(context, table, root, labels, files->names.count);
  free(labels);
  free(root);
  return result;
}

const struct nnc_source_class nnc_source_image_folder = {.name = "image_folder",
                                                         .gives = DATA_GIVES_image_folder,
                                                         .formals = formals,
                                                         .has_file_each = false,
                                                         .load = load,
                                                         .make = data_picture_make,
                                                         .row_name = data_picture_row_name,
                                                         .ready = data_picture_ready,
                                                         .workers = data_picture_workers,
                                                         .skips = data_picture_skips,
                                                         .open_cache = data_cache_open,
                                                         .close = data_picture_close,
                                                         .learns = true,
                                                         .takes_many_files = true};
