/* Source `csv(file, columns = [...], header = true, separator = ",", missing = ["", "NA", "?"])`.
 *
 * One pass: each record is split (csv_reader.c), its cells parsed and stored in the fields'
 * arrays, which grow.  A field without value stages is checked and stored in its input's type at
 * once; one with stages is stored in f64, with NaN for missing values; text becomes codes of a
 * dictionary. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/convert.h"
#include "core/number.h"
#include "core/dictionary.h"
#include "data/call.h"
#include "data/class.h"
#include "data/csv.h"
#include "data/csv_columns.h"
#include "data/csv_hints.h"
#include "data/csv_names.h"
#include "data/csv_reader.h"
#include "data/decimal.h"
#include "data/file.h"
#include "data/table.h"
#include "os/assert.h"
#include "os/buffer.h"
#include "nnc_data.h"

enum { FIRST_ROWS = NNC_BUFFER(1024, 1) };

typedef struct CsvLoad {
  CsvReader reader;
  CsvColumns columns;
  DataTable *table;
  int64_t rows, capacity;
  int64_t file;     /* number of the file at hand */
  nnc_fitted names; /* of the columns of the first file */
  int missing_count;
  const char **missing;
  bool missing_start[256]; /* does a missing word start with this byte? [0]: is one empty? */
} CsvLoad;

/* --- arguments ------------------------------------------------------------------------------- */

static int get_arguments(const DataContext *context, bool *has_header, char *separator) {
  const nnc_call *call = context->call;
  const nnc_value *value = data_argument(call, csv_formals, "header");
  if (value && value->kind != NNC_BOOLEAN)
    return data_fail_call(context, "header of csv must be true or false");
  *has_header = !value || value->number != 0;
  value = data_argument(call, csv_formals, "separator");
  if (value && (value->kind != NNC_STRING || strlen(value->string) != 1 ||
                strchr("\"\r\n", value->string[0])))
    return data_fail_call(context, "separator of csv must be one character, not a quote");
  *separator = value ? value->string[0] : ',';
  return 0;
}

static int get_missing(CsvLoad *load, const DataContext *context) {
  static const char *const usual[] = {"", "NA", "?"};
  const nnc_value *value = data_argument(context->call, csv_formals, "missing");
  if (value && value->kind != NNC_LIST && value->kind != NNC_STRING)
    return data_fail_call(context, "missing of csv must be a list of texts in quotes");
  const nnc_value *items = value && value->kind == NNC_LIST ? value->items : value;
  load->missing_count = !value ? 3 : value->kind == NNC_LIST ? value->count : 1;
  load->missing = calloc((size_t)load->missing_count + 1, sizeof *load->missing);
  if (!load->missing) return data_fail_memory(context, "csv", 64);
  for (int i = 0; i < load->missing_count; i++) {
    if (value && items[i].kind != NNC_STRING)
      return data_fail_call(context, "missing of csv must be a list of texts in quotes");
    load->missing[i] = value ? items[i].string : usual[i];
    load->missing_start[(unsigned char)load->missing[i][0]] = true;
  }
  return 0;
}

/* --- cells ----------------------------------------------------------------------------------- */

static bool is_missing(const CsvLoad *load, const char *text, int64_t length) {
  if (length == 0 || !load->missing_start[(unsigned char)text[0]])
    return length == 0 && load->missing_start[0];
  for (int i = 0; i < load->missing_count; i++)
    if (strlen(load->missing[i]) == (size_t)length &&
        memcmp(load->missing[i], text, (size_t)length) == 0)
      return true;
  return false;
}

static int store_text(CsvLoad *load, DataField *field, int64_t position, const CsvCell *cell,
                      const char *text, bool missing) {
  int32_t code = -1;
  if (field->is_name && (missing || cell->length == 0))
    return csv_fail(&load->reader, cell->line, cell->column, "the name of a picture is missing");
  if (!missing) {
    code = nnc_dictionary_add(&field->dictionaries[position], text, cell->length,
                              load->file << DATA_LINE_BITS | cell->line);
    if (code < 0) return data_fail_memory(load->reader.context, field->file, cell->length);
  }
  ((int32_t *)field->values)[load->rows * field->width + position] = code;
  return 0;
}

static int fail_cell(const CsvLoad *load, const DataField *field, int64_t column, double number) {
  const CsvReader *reader = &load->reader;
  const CsvCell *cell = &reader->cells[column];
  char name[80];
  csv_column_text(name, sizeof name, &load->columns, column);
  int shown = cell->length < 60 ? (int)cell->length : 60;
  const char *text = csv_text(reader, column);
  if (is_missing(load, text, cell->length))
    return csv_fail(reader, cell->line, cell->column,
                    "missing value '%.*s'%s; the stage impute(%s) "
                    "fills missing values",
                    shown, text, name, field->name);
  if (isnan(number))
    return csv_fail(
        reader, cell->line, cell->column, "expected a number%s, found '%.*s'%s", name, shown, text,
        csv_hint_number(reader, column, field->name, !load->columns.names && load->rows == 0).text);
  if (isinf(number))
    return csv_fail(reader, cell->line, cell->column, "'%.*s'%s is too large for a number", shown,
                    text, name);
  return csv_fail(reader, cell->line, cell->column,
                  "'%.*s'%s does not fit the input %s, which is %s", shown, text, name, field->name,
                  nnc_dtype_name(field->input->dtype));
}

static int store_number(CsvLoad *load, DataField *field, int64_t position, int64_t column,
                        bool missing) {
  const CsvCell *cell = &load->reader.cells[column];
  double number = NAN;
  if (missing ? !field->wants_missing
              : !data_parse_number(csv_text(&load->reader, column), cell->length, &number) ||
                    isinf(number))
    return fail_cell(load, field, column, number);
  int64_t index = load->rows * field->width + position;
  if (!nnc_store_double(number, field->dtype, field->values + index * nnc_dtype_size(field->dtype)))
    return fail_cell(load, field, column, number);
  return 0;
}

/* --- rows ------------------------------------------------------------------------------------ */

static int grow(CsvLoad *load) {
  int64_t capacity = load->capacity ? load->capacity + load->capacity / 2 + 1 : FIRST_ROWS;
  for (int f = 0; f < load->table->field_count; f++) {
    DataField *field = &load->table->fields[f];
    if (!field->input) continue;
    int64_t bytes = capacity;
    bool fits = nnc_multiply(bytes, field->width, &bytes) &&
                nnc_multiply(bytes, nnc_dtype_size(field->dtype), &bytes);
    char *values = fits ? realloc(field->values, (size_t)bytes + 1) : NULL;
    if (!values)
      return data_fail_memory(load->reader.context, field->file, fits ? bytes : INT64_MAX);
    field->values = values;
  }
  load->capacity = capacity;
  return 0;
}

static int store_record(CsvLoad *load) {
  CsvReader *reader = &load->reader;
  if (reader->count != load->columns.count)
    return csv_fail(reader, reader->cells[0].line, 1,
                    "%lld column%s, where the first line has %lld", (long long)reader->count,
                    reader->count == 1 ? "" : "s", (long long)load->columns.count);
  if (load->rows == load->capacity && grow(load) < 0) return -1;
  for (int f = 0; f < load->table->field_count; f++) {
    DataField *field = &load->table->fields[f];
    if (!field->input) continue;
    const CsvField *csv = &load->columns.fields[f];
    for (int64_t k = 0; k < csv->count; k++) {
      const CsvCell *cell = &reader->cells[csv->column[k]];
      const char *text = csv_text(reader, csv->column[k]);
      bool missing = is_missing(load, text, cell->length);
      int result = field->dictionaries ? store_text(load, field, k, cell, text, missing)
                                       : store_number(load, field, k, csv->column[k], missing);
      if (result < 0) return -1;
    }
  }
  load->rows++;
  NNC_ASSERT(load->rows <= load->capacity);
  return 0;
}

static int prepare_field(CsvLoad *load, DataField *field, const CsvField *csv) {
  const DataContext *context = load->reader.context;
  if (load->file > 0 && csv->count != field->width)
    return data_fail(context, "%s: %s has %lld columns here, but %lld in %s",
                     data_file_name(load->reader.file), field->name, (long long)csv->count,
                     (long long)field->width, field->file);
  if (load->file > 0) return 0;
  if (!field->batched)
    return data_fail_call(context, "csv delivers examples, but the input %s has no axis for them",
                          field->name);
  field->file = strdup(data_file_name(load->reader.file));
  if (!field->file) return data_fail_memory(context, "csv", 64);
  field->width = csv->count;
  bool is_text = field->wants_text || field->is_name;
  field->dtype = is_text ? NNC_I32 : field->changes ? NNC_F64 : field->input->dtype;
  if (!is_text) return 0;
  field->dictionaries = calloc((size_t)csv->count + 1, sizeof *field->dictionaries);
  return field->dictionaries ? 0 : data_fail_memory(context, field->file, csv->count * 64);
}

/* The shape was not known before the last row. */
static int finish_field(CsvLoad *load, DataField *field, const CsvField *csv) {
  int64_t dim[2] = {load->rows, csv->count};
  field->dim[0] = load->rows;
  if (field->is_name) return 0;
  if (data_field_shape(load->reader.context, field, field->dtype, csv->is_vector ? 2 : 1, dim,
                       true) < 0)
    return -1;
  int64_t bytes = load->rows * field->width * nnc_dtype_size(field->dtype);
  char *values = realloc(field->values, (size_t)bytes + 1);
  if (values) field->values = values;
  return 0;
}

static int each_field(CsvLoad *load, int (*act)(CsvLoad *, DataField *, const CsvField *)) {
  for (int f = 0; f < load->table->field_count; f++) {
    DataField *field = &load->table->fields[f];
    if (field->input && act(load, field, &load->columns.fields[f]) < 0) return -1;
  }
  return 0;
}

/* A table of numbers whose first line is a row, not a header, would silently lose it. */
static int check_header(CsvLoad *load) {
  CsvReader *reader = &load->reader;
  bool are_numbers = false;
  if (data_argument(reader->context->call, csv_formals, "header")) return 0; /* the user said so */
  for (int f = 0; f < load->table->field_count; f++) {
    const CsvField *csv = &load->columns.fields[f];
    const DataField *field = &load->table->fields[f];
    if (!field->input || field->wants_text || field->is_name) continue;
    for (int64_t k = 0; k < csv->count; k++) {
      double number;
      int64_t column = csv->column[k];
      if (!data_parse_number(csv_text(reader, column), reader->cells[column].length, &number))
        return 0;
      are_numbers = true;
    }
  }
  if (!are_numbers) return 0;
  return csv_fail(reader, reader->cells[0].line, 1,
                  "a header is expected, but this line has numbers; %s",
                  csv_hint_header(reader->context));
}

/* Columns that the call does not state are those that training has, or in other files of a pattern the first. */
static int resolve_columns(CsvLoad *load, bool has_header) {
  const CsvReader *reader = &load->reader;
  const DataTable *table = load->table;
  CsvColumns *columns = &load->columns;
  bool is_first = load->file == 0;
  if (csv_columns_open(columns, reader, table, has_header) < 0) return -1;
  int result =
      csv_names_match(columns, reader, table, is_first ? reader->context->fitted : &load->names,
                      is_first ? "training" : table->files.items[0]);
  if (result == 0) result = csv_columns_choose(columns, reader, table);
  return result < 0 ? -1 : csv_columns_check(columns, reader, table);
}

/* Other files of a pattern go by the names of the first, and other tables by those of training. */
static int keep_names(CsvLoad *load) {
  const DataContext *context = load->reader.context;
  if (!load->columns.names || load->file > 0) return 0;
  if (csv_names_note(&load->columns, &load->reader, load->table, &load->names) < 0) return -1;
  return context->learns ? csv_names_learn(context, load->table, &load->names, context->learns) : 0;
}

static int read_table(CsvLoad *load, bool has_header) {
  CsvReader *reader = &load->reader;
  int result = csv_reader_next(reader);
  if (result == 0) return data_fail(reader->context, "%s: is empty", data_file_name(reader->file));
  if (result < 0 || resolve_columns(load, has_header) < 0 || each_field(load, prepare_field) < 0)
    return -1;
  if (has_header && check_header(load) < 0) return -1;
  if (keep_names(load) < 0) return -1;
  if (has_header) result = csv_reader_next(reader);
  for (; result > 0; result = csv_reader_next(reader))
    if (store_record(load) < 0) return -1;
  if (result < 0 || load->file < load->table->files.count - 1) return result;
  if (load->rows == 0)
    return data_fail(reader->context, "%s: has no line after its header",
                     data_file_name(reader->file));
  return each_field(load, finish_field);
}

/* File number load->file of the table. */
static int read_file(CsvLoad *load, const DataContext *context, bool has_header, char separator) {
  char **name = &load->table->files.items[load->file];
  DataFile *file = data_file_open(context, *name);
  if (!file) return -1;
  int result = csv_reader_open(&load->reader, context, file, separator);
  char *opened = strdup(data_file_name(file));
  if (result == 0 && !opened) result = data_fail_memory(context, *name, 64);
  if (opened) {
    free(*name);
    *name = opened;
  }
  if (result == 0) result = read_table(load, has_header);
  csv_columns_free(&load->columns, load->table);
  csv_reader_close(&load->reader);
  data_file_close(file);
  return result;
}

int data_csv_load(const DataContext *context, DataTable *table) {
  bool has_header = true;
  char separator = ',';
  CsvLoad load = {.table = table};
  if (get_arguments(context, &has_header, &separator) < 0 ||
      data_file_argument_names(context, csv_formals, &table->files) < 0)
    return -1;
  int result = get_missing(&load, context);
  for (; load.file < table->files.count && result == 0; load.file++)
    result = read_file(&load, context, has_header, separator);
  nnc_fitted_free(&load.names);
  free(load.missing);
  return result;
}

const struct nnc_source_class nnc_source_csv = {.name = "csv",
                                                .gives = DATA_GIVES_csv,
                                                .formals = csv_formals,
                                                .has_file_each = false,
                                                .load = data_csv_load};
