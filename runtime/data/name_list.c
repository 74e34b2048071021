/* Files that a text table names: see name_list.h. */
#include "data/name_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/dictionary.h"
#include "data/call.h"
#include "data/csv.h"
#include "data/file.h"

/* The file of a row; NULL: no memory. */
static char *path_of(const DataContext *context, const char *const *formals, const char *name) {
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
static int check_files(const DataContext *context, const DataTable *table, const FileNames *names) {
  const DataField *field = &table->fields[0];
  const int32_t *codes = (const int32_t *)field->values;
  int64_t count = 0, first = 0;
  struct stat status;
  for (int64_t row = 0; row < names->count; row++)
    if (stat(names->items[row], &status) < 0 && count++ == 0) first = row;
  if (count == 0) return 0;
  int code = stat(names->items[first], &status) < 0 ? errno : 0;
  char more[64] = "";
  if (count > 1) snprintf(more, sizeof more, "; %lld others cannot either", (long long)count - 1);
  int64_t line = field->dictionaries[0].lines[codes[first]];
  const char *file = data_table_file(table, field, &line);
  return data_fail(context, "%s:%lld: cannot read %s: %s%s", file, (long long)line,
                   names->items[first], strerror(code), more);
}

static int take_names(const DataContext *context, const DataTable *table, RowFiles *files,
                      const char *const *formals) {
  DataField *field = &table->fields[0];
  int64_t rows = field->dim[0];
  const int32_t *codes = (const int32_t *)field->values;
  for (int64_t row = 0; row < rows; row++) {
    char *path = path_of(context, formals, field->dictionaries[0].words[codes[row]]);
    if (data_files_add_name(context, &files->names, path) < 0) return -1;
  }
  if (!files->skips && !context->is_prediction && check_files(context, table, &files->names) < 0)
    return -1;
  data_field_free_text(field);
  free(field->values);
  field->values = NULL;
  return files->kind->shape(context, field, rows);
}

int data_name_list_load(const DataContext *context, DataTable *table, const char *const *formals) {
  RowFiles *files = table->state;
  if (data_files_on_error(context, files, formals) < 0) return -1;
  table->keeps_rows = false;
  DataField *field = &table->fields[0];
  field->is_name = true;
  if (data_csv_load(context, table) < 0) return -1;
  return field->input ? take_names(context, table, files, formals) : 0;
}

/* Names follow their rows. */
void data_name_list_choose(DataTable *table, const uint32_t *chosen, int64_t count) {
  FileNames *names = &((RowFiles *)table->state)->names;
  int64_t kept = 0;
  for (int64_t i = 0; i < names->count; i++) {
    bool is_kept = kept < count && chosen[kept] == i;
    if (is_kept) names->items[kept++] = names->items[i];
    else free(names->items[i]);
  }
  names->count = kept;
}

const char *data_name_list_row_name(const DataTable *table, int64_t row) {
  return table->fields[0].input ? data_files_row_name(table, row) : NULL;
}
