/* Columns of a text table: by name, by number, in lists, or by default; as training has them: csv_names.c. */

#include "data/csv_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/dictionary.h"
#include "data/call.h"
#include "data/csv_hints.h"
#include "data/csv_reader.h"
#include "data/file.h"
#include "data/table.h"
#include "os/assert.h"
#include "os/message.h"

const char *const csv_formals[] = {"file", "columns", "header", "separator", "missing", NULL};

static int fail_name(const CsvReader *reader, const CsvColumns *columns, const char *name) {
  if (!columns->names)
    return data_fail_call(reader->context, "column \"%s\": names of columns need header = true",
                          name);
  CsvHint hint = csv_hint_record(reader);
  const char *near =
      columns->count < 100000 && !*hint.text
          ? nnc_nearest(name, (int)columns->count, (const char *const *)columns->names)
          : NULL;
  return data_fail_call(reader->context, "%s has no column \"%s\"%s%s%s%s",
                        data_file_name(reader->file), name, near ? "; did you mean \"" : "",
                        near ? near : "", near ? "\"?" : "", hint.text);
}

int csv_column_find(const CsvReader *reader, const CsvColumns *columns, const char *name,
                    int64_t *found) {
  int32_t code = nnc_dictionary_find(&columns->known, name, (int64_t)strlen(name));
  if (code < 0) return fail_name(reader, columns, name);
  *found = columns->known.lines[code];
  if (columns->second[code] == 0) return 0;
  return data_fail_call(reader->context, "%s has two columns \"%s\", number %lld and %lld",
                        data_file_name(reader->file), name, (long long)*found,
                        (long long)columns->second[code]);
}

int64_t csv_columns_stated(const nnc_value *value) {
  if (value->kind != NNC_LIST) return 1;
  int64_t count = 0;
  for (int i = 0; i < value->count; i++) count += csv_columns_stated(&value->items[i]);
  return count;
}

static int add_columns(const CsvReader *reader, const CsvColumns *columns, const nnc_value *value,
                       CsvField *field) {
  int64_t column = -1;
  if (value->kind == NNC_LIST) {
    for (int i = 0; i < value->count; i++)
      if (add_columns(reader, columns, &value->items[i], field) < 0) return -1;
    return 0;
  }
  if (value->kind == NNC_STRING || value->kind == NNC_FIELD) {
    if (csv_column_find(reader, columns, value->string, &column) < 0) return -1;
  } else if (value->kind == NNC_NUMBER && value->number >= -1e15 && value->number <= 1e15 &&
             value->number == (double)(int64_t)value->number) {
    column = (int64_t)value->number + (value->number < 0 ? columns->count : 0);
    if (column < 0 || column >= columns->count)
      return data_fail_call(reader->context, "%s has %lld column%s, so there is no column %lld%s",
                            data_file_name(reader->file), (long long)columns->count,
                            columns->count == 1 ? "" : "s", (long long)value->number,
                            csv_hint_record(reader).text);
  } else {
    return data_fail_call(reader->context,
                          "a column is a name in quotes, a number or a list of these");
  }
  NNC_ASSERT(column >= 0 && column < columns->count);
  field->column[field->count++] = column;
  return 0;
}

int csv_field_allocate(const CsvReader *reader, CsvField *field, int64_t count) {
  field->column = calloc((size_t)count + 1, sizeof *field->column);
  if (field->column) return 0;
  return data_fail_memory(reader->context, data_file_name(reader->file), count * 8);
}

static int resolve_stated(CsvColumns *columns, const CsvReader *reader, const DataTable *table,
                          const nnc_value *stated) {
  if (stated->kind != NNC_LIST || stated->count != table->field_count)
    return data_fail_call(reader->context,
                          "columns must be a list with one entry for each of the %d "
                          "fields",
                          table->field_count);
  for (int f = 0; f < table->field_count; f++) {
    CsvField *field = &columns->fields[f];
    if (!table->fields[f].input || field->column) continue; /* the latter: by name already */
    field->is_vector = stated->items[f].kind == NNC_LIST;
    if (csv_field_allocate(reader, field, csv_columns_stated(&stated->items[f])) < 0 ||
        add_columns(reader, columns, &stated->items[f], field) < 0)
      return -1;
  }
  return 0;
}

static int set_range(const CsvReader *reader, CsvField *field, int64_t first, int64_t count,
                     bool is_vector) {
  if (csv_field_allocate(reader, field, count) < 0) return -1;
  for (int64_t i = 0; i < count; i++) field->column[i] = first + i;
  field->count = count;
  field->is_vector = is_vector;
  return 0;
}

static int64_t input_width(const DataField *field) {
  int64_t width = 1;
  if (field->is_name) return width;
  for (int i = field->window ? 2 : 1; field->input && i < field->input->rank - field->is_class; i++)
    width *= field->input->dim[i];
  return width;
}

static void put_names(char *text, size_t size, const DataTable *table, bool only_needed) {
  size_t used = 0;
  *text = 0;
  for (int f = 0; f < table->field_count; f++)
    if ((table->fields[f].input || !only_needed) && used < size)
      used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                               table->fields[f].name);
}

/* A file to predict has neither the columns that are needed nor those of all fields. */
static int fail_count(const CsvColumns *columns, const CsvReader *reader, const DataTable *table,
                      int64_t needed, int64_t whole) {
  char some[200], all[200], rest[260] = "";
  put_names(some, sizeof some, table, true);
  put_names(all, sizeof all, table, false);
  if (needed != whole) snprintf(rest, sizeof rest, ", or %lld (%s)", (long long)whole, all);
  return data_fail(reader->context, "%s has %lld column%s; predict takes %lld (%s)%s%s",
                   data_file_name(reader->file), (long long)columns->count,
                   columns->count == 1 ? "" : "s", (long long)needed, some, rest,
                   csv_hint_record(reader).text);
}

/* The last fields have one column each, the first has the others. A file given for prediction may
 * hold just the columns of the fields that are needed. */
static int resolve_default(CsvColumns *columns, const CsvReader *reader, const DataTable *table) {
  int64_t others = table->field_count - 1, needed = 0;
  const DataField *first = &table->fields[0];
  for (int f = 0; f < table->field_count; f++)
    if (table->fields[f].input) needed += f ? 1 : input_width(first);
  bool is_whole = !first->input || columns->count == input_width(first) + others;
  bool is_partial = reader->context->is_prediction && !is_whole && columns->count == needed;
  if (reader->context->is_prediction && !is_whole && !is_partial)
    return fail_count(columns, reader, table, needed, input_width(first) + others);
  if (!is_partial && columns->count <= others)
    return data_fail(reader->context, "%s: has %lld column%s, too few for %d fields%s",
                     data_file_name(reader->file), (long long)columns->count,
                     columns->count == 1 ? "" : "s", table->field_count,
                     csv_hint_record(reader).text);
  int64_t at = 0;
  for (int f = 0; f < table->field_count; f++) {
    int64_t count = f ? 1 : is_partial ? input_width(first) : columns->count - others;
    bool is_needed = table->fields[f].input;
    if (!is_needed && is_partial) continue;
    if (set_range(reader, &columns->fields[f], at, count, f == 0) < 0) return -1;
    at += count;
  }
  return 0;
}

static int read_names(CsvColumns *columns, const CsvReader *reader) {
  columns->names = calloc((size_t)columns->count + 1, sizeof *columns->names);
  columns->second = calloc((size_t)columns->count + 1, sizeof *columns->second);
  bool complete = columns->names && columns->second;
  for (int64_t i = 0; complete && i < columns->count; i++) {
    char *name = columns->names[i] = strndup(csv_text(reader, i), (size_t)reader->cells[i].length);
    int32_t code = name ? nnc_dictionary_add(&columns->known, name, (int64_t)strlen(name), i) : -1;
    complete = code >= 0;
    if (complete && columns->known.lines[code] != i && columns->second[code] == 0)
      columns->second[code] = i;
  }
  return complete ? 0 : data_fail_memory(reader->context, data_file_name(reader->file), 64);
}

int csv_columns_check(const CsvColumns *columns, const CsvReader *reader, const DataTable *table) {
  const DataField *first = &table->fields[0];
  if (first->input && first->is_name && columns->fields[0].count != 1)
    return data_fail_call(reader->context,
                          "%s has %lld columns; columns = [...] says which one names the pictures "
                          "and which the other fields are",
                          data_file_name(reader->file), (long long)columns->count);
  for (int f = 0; f < table->field_count; f++) {
    const DataField *field = &table->fields[f];
    if (!field->input || columns->fields[f].count == input_width(field)) continue;
    char wanted[160];
    data_shape_text(wanted, sizeof wanted, field->input->dtype, field->input->rank,
                    field->input->dim);
    return data_fail(reader->context,
                     "%s has %lld column%s, of which %lld go%s to %s; but input %s is %s, which "
                     "takes %lld%s",
                     data_file_name(reader->file), (long long)columns->count,
                     columns->count == 1 ? "" : "s", (long long)columns->fields[f].count,
                     columns->fields[f].count == 1 ? "es" : "", field->name, field->name, wanted,
                     (long long)input_width(field), csv_hint_record(reader).text);
  }
  return 0;
}

int csv_columns_open(CsvColumns *columns, const CsvReader *reader, const DataTable *table,
                     bool has_header) {
  *columns = (CsvColumns){.count = reader->count};
  columns->fields = calloc((size_t)table->field_count + 1, sizeof *columns->fields);
  if (!columns->fields) return data_fail_memory(reader->context, data_file_name(reader->file), 64);
  return has_header ? read_names(columns, reader) : 0;
}

int csv_columns_choose(CsvColumns *columns, const CsvReader *reader, const DataTable *table) {
  const nnc_value *stated = data_argument(reader->context->call, csv_formals, "columns");
  return stated ? resolve_stated(columns, reader, table, stated)
                : resolve_default(columns, reader, table);
}

void csv_columns_free(CsvColumns *columns, const DataTable *table) {
  for (int64_t i = 0; columns->names && i < columns->count; i++) free(columns->names[i]);
  free(columns->names);
  free(columns->second);
  nnc_dictionary_free(&columns->known);
  for (int f = 0; columns->fields && f < table->field_count; f++) free(columns->fields[f].column);
  free(columns->fields);
  *columns = (CsvColumns){0};
}

void csv_column_text(char *text, size_t size, const CsvColumns *columns, int64_t column) {
  *text = 0;
  if (columns->names) snprintf(text, size, " (column %.60s)", columns->names[column]);
}
