/* Rows that are pictures: lists of files, and the making of a row of a file, for the sources
 * image_folder and files. */
#include "data/picture_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/call.h"
#include "data/class.h"
#include "data/file.h"
#include "data/picture.h"
#include "data/picture_stages.h"
#include "data/picture_view.h"
#include "data/scratch.h"
#include "data/table.h"
#include "data/visit.h"
#include "os/buffer.h"

enum { FIRST_NAMES = NNC_BUFFER(64, 1) };

/* --- lists ------------------------------------------------------------------------------------ */

int data_picture_add_name(const DataContext *context, PictureNames *names, char *name) {
  if (name && names->count == names->capacity) {
    int64_t capacity = names->capacity ? names->capacity * 2 : FIRST_NAMES;
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

void data_picture_free_names(PictureNames *names) {
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

/* Whether an entry is one of what is listed: 1 or 0, or -1 with a message.  Of two kinds of entries
 * one would be missed silently: links to nowhere, and what is called like a picture and is none. */
static int is_listed(const DataContext *context, const char *path, const char *name,
                     bool wants_folders) {
  struct stat status;
  if (name[0] == '.') return 0;
  if (stat(path, &status) < 0 && (wants_folders || is_picture(name)))
    return data_fail(context, "%s: %s", path,
                     errno == ENOENT ? "the link leads nowhere" : strerror(errno));
  if (wants_folders) return S_ISDIR(status.st_mode);
  if (!is_picture(name)) return 0;
  const char *kind = data_file_kind(status.st_mode);
  return kind ? data_fail(context, "%s is called like a picture, but is %s", path, kind) : 1;
}

int data_picture_list(const DataContext *context, const char *folder, bool wants_folders,
                      PictureNames *names) {
  DIR *listing = opendir(folder);
  if (!listing)
    return data_fail_call(context, "cannot read the folder %s: %s%s", folder, strerror(errno),
                          context->files ? "" : "; --data says where the data is");
  int result = 0;
  struct dirent *entry;
  while (result == 0 && (errno = 0, entry = readdir(listing))) {
    char *path = data_path(folder, entry->d_name, "");
    int listed = path ? is_listed(context, path, entry->d_name, wants_folders)
                      : data_fail_memory(context, folder, 256);
    result = listed > 0 ? data_picture_add_name(context, names, path) : listed;
    if (listed <= 0) free(path);
  }
  if (result == 0 && errno)
    result = data_fail(context, "cannot read the folder %s: %s", folder, strerror(errno));
  closedir(listing);
  if (names->count > 0)
    qsort(names->items, (size_t)names->count, sizeof *names->items, compare_names);
  return result;
}

int data_picture_add_folder(const DataContext *context, const char *folder, PictureNames *names) {
  PictureNames found = {0};
  int result = data_picture_list(context, folder, false, &found);
  if (result == 0 && found.count == 0)
    result = data_fail(context, "%s holds no pictures (.jpg, .jpeg, .png)", folder);
  for (int64_t i = 0; result == 0 && i < found.count; i++) {
    result = data_picture_add_name(context, names, found.items[i]);
    found.items[i] = NULL; /* it belongs to `names` now, or is gone */
  }
  data_picture_free_names(&found);
  return result;
}

int data_picture_add_given(const DataContext *context, PictureNames *names) {
  struct stat status;
  int result = 0;
  for (int i = 0; result == 0 && i < context->file_count; i++) {
    const char *name = context->files[i];
    if (strcmp(name, "-") == 0)
      return data_fail(context, "pictures are read from files, not from standard input");
    bool is_folder = stat(name, &status) == 0 && S_ISDIR(status.st_mode);
    result = is_folder ? data_picture_add_folder(context, name, names)
                       : data_picture_add_name(context, names, strdup(name));
  }
  return result;
}

/* --- opening ---------------------------------------------------------------------------------- */

PictureFiles *data_picture_open(const DataContext *context, DataTable *table,
                                const char *const *formals) {
  double workers = 0;
  if (data_argument_number(context, formals, "workers", 0, 256, &workers) < 0) return NULL;
  PictureFiles *files = table->state = calloc(1, sizeof *files);
  if (!files) {
    data_fail_memory(context, context->call->function, sizeof *files);
    return NULL;
  }
  files->workers = (int)workers;
  table->keeps_rows = true;
  return files;
}

int data_picture_on_error(const DataContext *context, PictureFiles *files,
                          const char *const *formals) {
  const nnc_value *value = data_argument(context->call, formals, "on_error");
  const char *word = value && value->kind == NNC_STRING ? value->string : value ? "" : "stop";
  files->skips = strcmp(word, "skip") == 0;
  if (files->skips || strcmp(word, "stop") == 0) return 0;
  return data_fail_call(context, "%s takes on_error = \"stop\" or \"skip\"",
                        context->call->function);
}

/* The extents are the input's: that the stages make such pictures is checked when all are known,
 * and for each picture. */
int data_picture_shape(const DataContext *context, DataField *field, int64_t count) {
  const nnc_tensor *input = field->input;
  int64_t dim[4] = {count, 3, 0, 0};
  bool fits = input->rank == 4 && (input->dim[1] == 1 || input->dim[1] == 3);
  if (!fits)
    return data_fail_call(context,
                          "the input %s must be [batch, channels, height, width] with 1 or 3 "
                          "channels",
                          field->name);
  if (input->dtype == NNC_BOOL)
    return data_fail_call(context,
                          "pictures have values from 0 to 255, which the input %s of type "
                          "bool does not take",
                          field->name);
  memcpy(dim + 1, input->dim + 1, 3 * sizeof *dim);
  field->is_made = true;
  field->made_most = 255;
  return data_field_shape(context, field, NNC_U8, 4, dim, false);
}

/* --- making rows ------------------------------------------------------------------------------ */

static int look_at_file(const PictureOrigin *origin, struct stat *status) {
  return stat(origin->name, status);
}

static unsigned char *read_file(const DataContext *context, const PictureOrigin *origin,
                                DataScratch *scratch, size_t *size) {
  const char *name = origin->name;
  struct stat status;
  const char *kind = stat(name, &status) == 0 ? data_file_kind(status.st_mode) : NULL;
  if (kind) { /* before it is opened: a pipe would wait for its other end */
    data_fail(context, "cannot read %s: it is %s", name, kind);
    return NULL;
  }
  int file = open(name, O_RDONLY | O_CLOEXEC);
  unsigned char *bytes = NULL;
  ssize_t got = 0;
  *size = 0;
  if (file >= 0 && fstat(file, &status) == 0 &&
      (bytes = data_scratch_take(scratch, DATA_BUFFER_FILE, (size_t)status.st_size + 1)))
    while (*size < (size_t)status.st_size &&
           (got = read(file, bytes + *size, (size_t)status.st_size - *size)) > 0)
      *size += (size_t)got;
  if (!bytes || got < 0) data_fail(context, "cannot read %s: %s", name, strerror(errno));
  if (file >= 0) close(file);
  return got < 0 ? NULL : bytes;
}

int data_picture_make(const DataContext *context, const DataTable *table, const DataField *field,
                      const DataVisit *visit, unsigned char *row) {
  const PictureFiles *pictures = table->state;
  PictureOrigin origin = {
      .name = pictures->names.items[visit->row], .look = look_at_file, .read = read_file};
  return data_picture_make_of(context, table, field, visit, &origin, row);
}

const char *data_picture_row_name(const DataTable *table, int64_t row) {
  return ((const PictureFiles *)table->state)->names.items[row];
}

bool data_picture_skips(const DataTable *table) {
  return ((const PictureFiles *)table->state)->skips;
}

int data_picture_workers(const DataTable *table) {
  return ((const PictureFiles *)table->state)->workers;
}

void data_picture_close(DataTable *table) {
  PictureFiles *pictures = table->state;
  if (pictures) data_picture_free_names(&pictures->names);
  free(pictures);
}
