/* Source `image_folder(folder, workers = 0)`: JPEG and PNG files, in a folder for each class.
 *
 *     train/cat/1.jpg  train/cat/2.png  train/dog/1.jpg
 *
 * Fields are the picture and, where there is a second, its class: the folders' names in sorted
 * order, learnt from the training set like the classes of a `categories` stage.  Files count when
 * their names end in .jpg, .jpeg or .png (in any case) and do not begin with a dot; their order is
 * that of the classes, then of the names.  Pictures are decoded when they are read, by worker
 * threads. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "data_picture.h"

static const char *const formals[] = {"folder", "workers", NULL};

enum { PICTURE, LABEL };

/* --- listing ---------------------------------------------------------------------------------- */

/* A growing list of strings that it owns. */
typedef struct Names {
  int64_t count, capacity;
  char **items;
} Names;

static int add_name(const DataContext *context, Names *names, char *name) {
  if (name && names->count == names->capacity) {
    int64_t capacity = names->capacity ? names->capacity * 2 : 64;
    char **items = realloc(names->items, (size_t)capacity * sizeof *items);
    if (items) {
      names->items = items;
      names->capacity = capacity;
    }
  }
  if (!name || names->count == names->capacity) {
    free(name);
    return data_fail_memory(context, "the names of the files", names->count * 8);
  }
  names->items[names->count++] = name;
  return 0;
}

static void free_names(Names *names) {
  for (int64_t i = 0; i < names->count; i++) free(names->items[i]);
  free(names->items);
}

static bool is_picture(const char *name) {
  static const char *const ends[] = {".jpg", ".jpeg", ".png"};
  size_t length = strlen(name);
  for (int i = 0; i < 3; i++) {
    size_t end = strlen(ends[i]);
    if (length > end && strcasecmp(name + length - end, ends[i]) == 0) return true;
  }
  return false;
}

static int compare_names(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The folder's own folders, or its pictures, sorted; hidden ones do not count. */
static int list(const DataContext *context, const char *folder, bool wants_folders, Names *names) {
  DIR *listing = opendir(folder);
  if (!listing)
    return data_fail_call(context, "cannot read the folder %s: %s%s", folder, strerror(errno),
                          context->files ? "" : "; --data says where the data is");
  int result = 0;
  struct dirent *entry;
  while (result == 0 && (errno = 0, entry = readdir(listing))) {
    struct stat status;
    char *path = data_path(folder, entry->d_name, "");
    if (!path) result = data_fail_memory(context, folder, 256);
    else if (entry->d_name[0] == '.' || stat(path, &status) < 0 ||
             !(wants_folders ? S_ISDIR(status.st_mode)
                             : S_ISREG(status.st_mode) && is_picture(entry->d_name)))
      free(path);
    else result = add_name(context, names, path);
  }
  if (result == 0 && errno)
    result = data_fail(context, "cannot read the folder %s: %s", folder, strerror(errno));
  closedir(listing);
  if (names->count > 0)
    qsort(names->items, (size_t)names->count, sizeof *names->items, compare_names);
  return result;
}

/* --- classes ---------------------------------------------------------------------------------- */

static const char *last_part(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static const nnc_fitted_value *find_classes(const DataContext *context, const char *field,
                                            const Names *folders) {
  char name[256];
  data_fitted_name(name, sizeof name, field, "categories", -1);
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

static int class_of(const DataContext *context, const nnc_fitted_value *classes,
                    const char *folder) {
  const char *name = last_part(folder);
  for (int64_t i = 0; i < classes->count; i++)
    if (strcmp(classes->strings[i], name) == 0) return (int)i;
  return data_fail(context, "%s: the class '%.60s' does not occur in the training set", folder,
                   name);
}

/* --- loading ---------------------------------------------------------------------------------- */

/* The pictures of one class behind those of the classes before it. */
static int add_folder(const DataContext *context, const char *folder, int class, Names *files,
                      int32_t **labels) {
  int64_t first = files->count;
  Names found = {0};
  int result = list(context, folder, false, &found);
  if (result == 0 && found.count == 0)
    result = data_fail(context, "%s holds no pictures (.jpg, .jpeg, .png)", folder);
  for (int64_t i = 0; result == 0 && i < found.count; i++) {
    result = add_name(context, files, found.items[i]);
    found.items[i] = NULL; /* it belongs to `files` now, or is gone */
  }
  free_names(&found);
  int32_t *grown = result == 0 ? realloc(*labels, (size_t)files->count * sizeof **labels) : NULL;
  if (result == 0 && !grown) result = data_fail_memory(context, folder, files->count * 4);
  if (!grown) return result;
  *labels = grown;
  for (int64_t i = first; i < files->count; i++) grown[i] = class;
  return 0;
}

/* With or without a label among the inputs: examples are the same. */
static int add_classes(const DataContext *context, const DataTable *table, const char *root,
                       Names *files, int32_t **labels) {
  Names folders = {0};
  const nnc_fitted_value *classes = NULL;
  int result = list(context, root, true, &folders);
  if (result == 0 && folders.count == 0)
    result = data_fail(context, "%s has no folders; image_folder expects one for each class", root);
  if (result == 0 && table->field_count > LABEL) {
    classes = find_classes(context, table->fields[LABEL].name, &folders);
    if (!classes) result = -1;
  }
  for (int64_t i = 0; result == 0 && i < folders.count; i++) {
    int class = classes ? class_of(context, classes, folders.items[i]) : 0;
    result = class < 0 ? -1 : add_folder(context, folders.items[i], class, files, labels);
  }
  free_names(&folders);
  return result;
}

/* Pictures, or folders of them, from the command line: they have no classes. */
static int add_given(const DataContext *context, const DataTable *table, Names *files,
                     int32_t **labels) {
  struct stat status;
  int result = 0;
  if (table->field_count > LABEL && table->fields[LABEL].input)
    return data_fail(context, "files given have no class, which %s wants",
                     table->fields[LABEL].name);
  for (int i = 0; result == 0 && i < context->file_count; i++) {
    const char *name = context->files[i];
    bool is_folder = stat(name, &status) == 0 && S_ISDIR(status.st_mode);
    result = is_folder ? add_folder(context, name, 0, files, labels)
                       : add_name(context, files, strdup(name));
  }
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

/* The extents are the input's: that the stages make such pictures is checked when all are known,
 * and for each picture. */
static int shape_picture(const DataContext *context, DataField *field, int64_t count) {
  const nnc_tensor *input = field->input;
  int64_t dim[4] = {count, 3, 0, 0};
  bool fits = input->rank == 4 && (input->dim[1] == 1 || input->dim[1] == 3);
  if (!fits)
    return data_fail_call(context,
                          "the input %s must be [batch, channels, height, width] with 1 or 3 "
                          "channels",
                          field->name);
  memcpy(dim + 1, input->dim + 1, 3 * sizeof *dim);
  field->is_made = true;
  field->made_most = 255;
  return data_field_shape(context, field, NNC_U8, 4, dim, false);
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
    if ((f == PICTURE ? shape_picture(context, field, count)
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
  double workers = 0;
  Names files = {0};
  int32_t *labels = NULL;
  if (table->field_count > 2)
    return data_fail_call(context, "image_folder gives a picture and its class, not %d fields",
                          table->field_count);
  if (data_argument_number(context, formals, "workers", 0, 256, &workers) < 0) return -1;
  ImageFolder *folder = table->state = calloc(1, sizeof *folder);
  if (!folder) return data_fail_memory(context, "image_folder", sizeof *folder);
  folder->workers = (int)workers;
  table->keeps_rows = true;
  char *root = root_folder(context);
  int result = !root            ? -1
               : context->files ? add_given(context, table, &files, &labels)
                                : add_classes(context, table, root, &files, &labels);
  folder->files = files.items;
  folder->count = files.count;
  if (result == 0) result = shape_fields(context, table, root, labels, files.count);
  free(labels);
  free(root);
  return result;
}

/* --- after the stages ------------------------------------------------------------------------- */

/* The last stage that gives a size must give the input's. */
static int ready(const DataContext *context, DataTable *table) {
  const ImageFolder *folder = table->state;
  const DataField *field = &table->fields[PICTURE];
  if (!field->input) return 0;
  const int64_t *dim = field->input->dim;
  for (int i = folder->stages.count - 1; i >= 0; i--) {
    const PictureStage *stage = &folder->stages.stages[i];
    if (stage->kind == PICTURE_RANDOM_FLIP) continue;
    if (stage->kind == PICTURE_RESIZE && !stage->width) return 0; /* each picture shows it */
    if (stage->height == dim[2] && stage->width == dim[3]) return 0;
    return data_fail_call(context,
                          "the stages make pictures of %lld x %lld, but the input %s is "
                          "%lld x %lld",
                          (long long)stage->height, (long long)stage->width, field->name,
                          (long long)dim[2], (long long)dim[3]);
  }
  return 0;
}

/* --- making rows ------------------------------------------------------------------------------ */

static unsigned char *read_file(const DataContext *context, const char *name, size_t *size) {
  FILE *file = fopen(name, "rb");
  struct stat status;
  unsigned char *bytes = NULL;
  if (file && fstat(fileno(file), &status) == 0) {
    *size = (size_t)status.st_size;
    bytes = malloc(*size + 1);
    if (bytes && fread(bytes, 1, *size, file) != *size) {
      free(bytes);
      bytes = NULL;
    }
  }
  if (!bytes) data_fail(context, "cannot read %s: %s", name, strerror(errno));
  if (file) fclose(file);
  return bytes;
}

/* Interleaved channels become planes. */
static void store_planes(const Picture *picture, unsigned char *bytes) {
  int64_t pixels = picture->height * picture->width;
  for (int c = 0; c < picture->channels; c++)
    for (int64_t p = 0; p < pixels; p++)
      bytes[c * pixels + p] = picture->bytes[p * picture->channels + c];
}

static int make(const DataContext *context, const DataTable *table, const DataField *field,
                const DataVisit *visit, unsigned char *bytes) {
  const ImageFolder *folder = table->state;
  const char *name = folder->files[visit->row];
  const int64_t *dim = field->input->dim;
  Picture picture = {0};
  size_t size = 0;
  unsigned char *file = read_file(context, name, &size);
  int result = file ? data_picture_decode(context, name, file, size, (int)dim[1], &picture) : -1;
  free(file);
  if (result == 0 && data_picture_apply(&folder->stages, visit, &picture) < 0)
    result = data_fail_memory(context, name, field->width * 8);
  if (result == 0 && (picture.height != dim[2] || picture.width != dim[3]))
    result =
        data_fail(context,
                  "%s is %lld x %lld after its stages, but the input %s is %lld x %lld; resize, "
                  "center_crop and random_crop change sizes",
                  name, (long long)picture.height, (long long)picture.width, field->name,
                  (long long)dim[2], (long long)dim[3]);
  if (result == 0) store_planes(&picture, bytes);
  free(picture.bytes);
  return result;
}

static int workers(const DataTable *table) { return ((const ImageFolder *)table->state)->workers; }

static void release(DataTable *table) {
  ImageFolder *folder = table->state;
  for (int64_t i = 0; folder && i < folder->count; i++) free(folder->files[i]);
  if (folder) free(folder->files);
  free(folder);
}

const struct nnc_source_class nnc_source_image_folder = {.name = "image_folder",
                                                         .formals = formals,
                                                         .has_file_each = false,
                                                         .load = load,
                                                         .make = make,
                                                         .ready = ready,
                                                         .workers = workers,
                                                         .close = release,
                                                         .learns = true,
                                                         .takes_many_files = true};
