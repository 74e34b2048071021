/* Source `image_list(file, columns = [...], header = true, separator = ",", missing = [...], folder = "",
 * workers = 0, on_error = "stop")`: a text table whose first field names pictures.
 *
 *     file,label,age
 *     00/17.jpg,cat,3.5
 *
 * The table is read as `csv` reads it; the names are looked for in `folder`. What is not there is told with
 * the line of the table before training begins, unless it may be skipped. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/dictionary.h"
#include "data/call.h"
#include "data/class.h"
#include "data/csv.h"
#include "data/file.h"
#include "data/picture_files.h"
#include "data/table.h"
#include "nnc_data.h"

static const char *const formals[] = {
    "file",   "columns", "header",   "separator", "missing",
    "folder", "workers", "on_error", NULL}; /* the first as csv's */

/* The file of a row; NULL: no memory. */
static char *path_of(const DataContext *context, const char *name) {
  const nnc_value *value = data_argument(context->call, formals, "folder");
  const char *folder = value && value->kind == NNC_STRING ? value->string : "";
  const char *base = context->files ? NULL : context->directory;
  if (!*folder) return data_path(base, name, "");
  char *root = data_path(base, folder, "");
  char *path = root ? data_path(root, name, "") : NULL;
  free(root);
  return path;
}

/* Files that are not there: the first with its line, and how many. */
static int check_files(const DataContext *context, const DataField *field, int64_t rows,
                       const PictureNames *names) {
  const int32_t *codes = (const int32_t *)field->values;
  int64_t count = 0, first = 0;
  struct stat status;
  for (int64_t row = 0; row < rows; row++)
    if (stat(names->items[row], &status) < 0 && count++ == 0) first = row;
  if (count == 0) return 0;
  int code = stat(names->items[first], &status) < 0 ? errno : 0;
  char more[64] = "";
  if (count > 1) snprintf(more, sizeof more, "; %lld others cannot either", (long long)count - 1);
  return data_fail(context, "%s:%lld: cannot read the picture %s: %s%s", field->file,
                   (long long)field->dictionaries[0].lines[codes[first]], names->items[first],
                   strerror(code), more);
}

static int take_names(const DataContext *context, DataField *field, PictureFiles *files) {
  int64_t rows = field->dim[0];
  const int32_t *codes = (const int32_t *)field->values;
  for (int64_t row = 0; row < rows; row++) {
    char *path = path_of(context, field->dictionaries[0].words[codes[row]]);
    if (data_picture_add_name(context, &files->names, path) < 0) return -1;
  }
  if (!files->skips && !context->is_prediction &&
      check_files(context, field, rows, &files->names) < 0)
    return -1;
  data_field_free_text(field);
  free(field->values);
  field->values = NULL;
  return data_picture_shape(context, field, rows);
}

static int load(const DataContext *context, DataTable *table) {
  PictureFiles *files = data_picture_open(context, table, formals);
  if (!files || data_picture_on_error(context, files, formals) < 0) return -1;
  table->keeps_rows = false;
  DataField *field = &table->fields[0];
  field->is_name = true;
  if (data_csv_load(context, table) < 0) return -1;
  return field->input ? take_names(context, field, files) : 0;
}

/* Names follow their rows. */
static void choose(DataTable *table, const uint32_t *chosen, int64_t count) {
  PictureNames *names = &((PictureFiles *)table->state)->names;
  int64_t kept = 0;
  for (int64_t i = 0; i < names->count; i++) {
    bool is_kept = kept < count && chosen[kept] == i;
    if (is_kept) names->items[kept++] = names->items[i];
    else free(names->items[i]);
  }
  names->count = kept;
}

static const char *row_name(const DataTable *table, int64_t row) {
  return table->fields[0].input ? data_picture_row_name(table, row) : NULL;
}

const struct nnc_source_class nnc_source_image_list = {.name = "image_list",
                                                       .gives = DATA_GIVES_image_list,
                                                       .formals = formals,
                                                       .load = load,
                                                       .choose = choose,
                                                       .make = data_picture_make,
                                                       .row_name = row_name,
                                                       .ready = data_picture_ready,
                                                       .workers = data_picture_workers,
                                                       .skips = data_picture_skips,
                                                       .open_cache = data_cache_open,
                                                       .close = data_picture_close};
