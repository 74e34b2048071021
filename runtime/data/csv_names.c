/* Columns by the names that another table's header has: see csv_names.h. */

#include "data/csv_names.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/dictionary.h"
#include "data/call.h"
#include "data/csv_hints.h"
#include "data/decimal.h"
#include "data/file.h"
#include "os/message.h"

static const char all_columns[] = "." NNC_FITTED_COLUMNS;

static const nnc_fitted_value *names_of(const DataField *field, const nnc_fitted *known) {
  char name[256];
  nnc_fitted_name(name, sizeof name, field->name, NNC_FITTED_COLUMNS, -1);
  const nnc_fitted_value *value = nnc_fitted_find(known, name);
  return value && value->strings ? value : NULL;
}

static bool knows_all(const DataTable *table, const nnc_fitted *known) {
  for (int f = 0; f < table->field_count; f++)
    if (table->fields[f].input && !names_of(&table->fields[f], known)) return false;
  return true;
}

/* --- names in messages ----------------------------------------------------------------------- */

typedef struct NameList {
  int64_t count;
  char text[300];
  const char *first;
} NameList;

__attribute__((format(printf, 2, 3))) static void append(NameList *list, const char *format, ...) {
  size_t used = strlen(list->text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(list->text + used, sizeof list->text - used, format, arguments);
  va_end(arguments);
}

static void list_name(NameList *list, const char *name) {
  enum { SHOWN = 3 };
  if (list->count == 0) list->first = name;
  if (list->count < SHOWN) append(list, "%s\"%.60s\"", list->count ? ", " : "", name);
  if (list->count == SHOWN) append(list, " and others");
  list->count++;
}

static const char *plural(const NameList *list) { return list->count == 1 ? "" : "s"; }

/* --- columns that are missing ---------------------------------------------------------------- */

static int64_t find_column(const CsvColumns *columns, const char *name) {
  int32_t code = nnc_dictionary_find(&columns->known, name, (int64_t)strlen(name));
  return code < 0 ? -1 : columns->known.lines[code];
}

static NameList list_missing(const CsvColumns *columns, const nnc_fitted_value *names) {
  NameList missing = {0};
  for (int64_t i = 0; i < names->count; i++)
    if (find_column(columns, names->strings[i]) < 0) list_name(&missing, names->strings[i]);
  return missing;
}

static bool has_any(const CsvColumns *columns, const DataTable *table, const nnc_fitted *known) {
  for (int f = 0; f < table->field_count; f++) {
    const nnc_fitted_value *names =
        table->fields[f].input ? names_of(&table->fields[f], known) : NULL;
    for (int64_t i = 0; names && i < names->count; i++)
      if (find_column(columns, names->strings[i]) >= 0) return true;
  }
  return false;
}

/* Where a file has no header its first row is taken for one. */
static int check_header(const CsvColumns *columns, const CsvReader *reader, const DataTable *table,
                        const nnc_fitted *known) {
  double number;
  if (data_argument(reader->context->call, csv_formals, "header")) return 0; /* the user said so */
  if (has_any(columns, table, known)) return 0;
  for (int64_t i = 0; i < columns->count; i++)
    if (data_parse_number(csv_text(reader, i), reader->cells[i].length, &number))
      return csv_fail(reader, reader->cells[0].line, 1,
                      "a header is expected, but this line has numbers; %s",
                      csv_hint_header(reader->context));
  return 0;
}

/* What the missing one may be called here: of the columns that have no place in training. */
static const char *find_near(const CsvColumns *columns, const nnc_dictionary *taken,
                             const char *name) {
  enum { MOST = 1000 };
  const char *free_names[MOST];
  int count = 0;
  for (int64_t i = 0; i < columns->count && count < MOST; i++) {
    const char *own = columns->names[i];
    if (nnc_dictionary_find(taken, own, (int64_t)strlen(own)) < 0) free_names[count++] = own;
  }
  return nnc_nearest(name, count, free_names);
}

static int check_missing(const CsvColumns *columns, const CsvReader *reader, const DataField *field,
                         const nnc_fitted_value *names, const nnc_dictionary *taken,
                         const char *owner) {
  NameList missing = list_missing(columns, names);
  if (missing.count == 0) return 0;
  CsvHint hint = csv_hint_record(reader);
  bool is_one = missing.count == 1 && !*hint.text;
  const char *near = is_one ? find_near(columns, taken, missing.first) : NULL;
  return data_fail(reader->context, "%s has no column%s %s, which %s has for %s%s%s%s%s",
                   data_file_name(reader->file), plural(&missing), missing.text, owner, field->name,
                   near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "", hint.text);
}

/* --- columns that are more ------------------------------------------------------------------- */

/* The columns of all fields; false: no memory. */
static bool take_names(nnc_dictionary *taken, const nnc_fitted *known) {
  for (int v = 0; v < known->count; v++) {
    const nnc_fitted_value *value = &known->values[v];
    for (int64_t i = 0; nnc_fitted_is_columns(value) && i < value->count; i++)
      if (nnc_dictionary_add(taken, value->strings[i], (int64_t)strlen(value->strings[i]), 0) < 0)
        return false;
  }
  return true;
}

/* A field that nothing reads may have any column. */
static bool may_have_others(const DataTable *table, const nnc_fitted *known) {
  for (int f = 0; f < table->field_count; f++)
    if (!table->fields[f].input && !names_of(&table->fields[f], known))
      return !nnc_fitted_find(known, all_columns);
  return false;
}

/* Once a call, which a stream of rows makes for each of them. */
static void warn_of_others(const CsvReader *reader, const NameList *others, const char *owner) {
  static const nnc_call *told;
  if (told == reader->context->call) return;
  told = reader->context->call;
  nnc_warning("%s: column%s %s %s left out: no field of %s takes %s", data_file_name(reader->file),
              plural(others), others->text, others->count == 1 ? "is" : "are", owner,
              others->count == 1 ? "it" : "them");
}

static int check_others(const CsvColumns *columns, const CsvReader *reader, const DataTable *table,
                        const nnc_fitted *known, const nnc_dictionary *taken, const char *owner) {
  NameList others = {0};
  if (may_have_others(table, known)) return 0;
  for (int64_t i = 0; i < columns->count; i++)
    if (nnc_dictionary_find(taken, columns->names[i], (int64_t)strlen(columns->names[i])) < 0)
      list_name(&others, columns->names[i]);
  if (others.count == 0) return 0;
  if (reader->context->is_prediction) {
    warn_of_others(reader, &others, owner);
    return 0;
  }
  return data_fail(reader->context,
                   "%s has the column%s %s, which no field of %s takes; columns = [...] says which "
                   "are meant",
                   data_file_name(reader->file), plural(&others), others.text, owner);
}

/* --- matching -------------------------------------------------------------------------------- */

static int check_all(const CsvColumns *columns, const CsvReader *reader, const DataTable *table,
                     const nnc_fitted *known, const char *owner) {
  nnc_dictionary taken = {0};
  int result = take_names(&taken, known)
                   ? check_header(columns, reader, table, known)
                   : data_fail_memory(reader->context, data_file_name(reader->file), 64);
  for (int f = 0; result == 0 && f < table->field_count; f++) {
    const DataField *field = &table->fields[f];
    if (field->input)
      result = check_missing(columns, reader, field, names_of(field, known), &taken, owner);
  }
  if (result == 0) result = check_others(columns, reader, table, known, &taken, owner);
  nnc_dictionary_free(&taken);
  return result;
}

/* The columns of field number f. */
static int find_all(CsvColumns *columns, const CsvReader *reader, int f,
                    const nnc_fitted_value *names, bool is_vector) {
  CsvField *field = &columns->fields[f];
  field->is_vector = is_vector;
  if (csv_field_allocate(reader, field, names->count) < 0) return -1;
  for (; field->count < names->count; field->count++)
    if (csv_column_find(reader, columns, names->strings[field->count],
                        &field->column[field->count]) < 0)
      return -1;
  return 0;
}

/* --- columns that the program counts --------------------------------------------------------- */

static bool has_number(const nnc_value *stated) {
  if (stated->kind != NNC_LIST) return stated->kind == NNC_NUMBER;
  for (int i = 0; i < stated->count; i++)
    if (has_number(&stated->items[i])) return true;
  return false;
}

/* What training calls the columns of field number f, if the program counts them; NULL: it does not, or no names are
 * known. */
static const nnc_fitted_value *counted_names(const DataTable *table, int f, const nnc_value *stated,
                                             const nnc_fitted *known) {
  const nnc_fitted_value *names = table->fields[f].input && has_number(&stated->items[f])
                                      ? names_of(&table->fields[f], known)
                                      : NULL;
  return names && names->count == csv_columns_stated(&stated->items[f]) ? names : NULL;
}

static int check_counted(const CsvColumns *columns, const CsvReader *reader, const DataField *field,
                         const nnc_fitted_value *names) {
  NameList missing = list_missing(columns, names);
  nnc_dictionary taken = {0};
  if (missing.count == 0) return 0;
  bool is_one = missing.count == 1 && take_names(&taken, reader->context->fitted);
  const char *near = is_one ? find_near(columns, &taken, missing.first) : NULL;
  char meant[80] = "other columns are";
  if (near) snprintf(meant, sizeof meant, "\"%.60s\" is", near);
  else if (missing.count == 1) snprintf(meant, sizeof meant, "another column is");
  nnc_dictionary_free(&taken);
  return data_fail(reader->context,
                   "%s has no column%s %s, which training has for %s; if %s meant, rename %s in "
                   "the header",
                   data_file_name(reader->file), plural(&missing), missing.text, field->name, meant,
                   missing.count == 1 ? "it" : "them");
}

/* The program counts the columns of its own file. One that predict is given may have them in another order, or lack
 * some: it goes by training's names where its header has any of them. */
static int match_counted(CsvColumns *columns, const CsvReader *reader, const DataTable *table,
                         const nnc_value *stated) {
  const DataContext *context = reader->context;
  const nnc_fitted *known = context->fitted;
  bool is_given = context->is_prediction && context->files, has_some = false;
  if (!is_given || !known || stated->kind != NNC_LIST || stated->count != table->field_count)
    return 0;
  for (int f = 0; f < table->field_count; f++) {
    const nnc_fitted_value *names = counted_names(table, f, stated, known);
    for (int64_t i = 0; names && i < names->count; i++)
      has_some = has_some || find_column(columns, names->strings[i]) >= 0;
  }
  for (int f = 0; has_some && f < table->field_count; f++) {
    const nnc_fitted_value *names = counted_names(table, f, stated, known);
    if (names && (check_counted(columns, reader, &table->fields[f], names) < 0 ||
                  find_all(columns, reader, f, names, stated->items[f].kind == NNC_LIST) < 0))
      return -1;
  }
  return 0;
}

int csv_names_match(CsvColumns *columns, const CsvReader *reader, const DataTable *table,
                    const nnc_fitted *known, const char *owner) {
  const nnc_value *stated = data_argument(reader->context->call, csv_formals, "columns");
  if (!columns->names || !known) return 0;
  if (stated) return match_counted(columns, reader, table, stated);
  if (!knows_all(table, known)) return 0;
  if (check_all(columns, reader, table, known, owner) < 0) return -1;
  for (int f = 0; f < table->field_count; f++)
    if (table->fields[f].input &&
        find_all(columns, reader, f, names_of(&table->fields[f], known), f == 0) < 0)
      return -1;
  return 1;
}

/* --- learning -------------------------------------------------------------------------------- */

/* Whether no other column of the table has the name of one of the field's. */
static bool has_own_names(const CsvColumns *columns, const CsvField *field) {
  for (int64_t i = 0; i < field->count; i++) {
    const char *name = columns->names[field->column[i]];
    int32_t code = nnc_dictionary_find(&columns->known, name, (int64_t)strlen(name));
    if (code < 0 || columns->second[code] != 0) return false;
  }
  return field->count > 0;
}

static int note_field(const CsvColumns *columns, const DataField *field, const CsvField *csv,
                      nnc_fitted *names) {
  char name[256];
  const char **own = calloc((size_t)csv->count + 1, sizeof *own);
  for (int64_t i = 0; own && i < csv->count; i++) own[i] = columns->names[csv->column[i]];
  nnc_fitted_name(name, sizeof name, field->name, NNC_FITTED_COLUMNS, -1);
  int result = own ? nnc_fitted_add_strings(names, name, csv->count, own) : -1;
  free(own);
  return result;
}

int csv_names_note(const CsvColumns *columns, const CsvReader *reader, const DataTable *table,
                   nnc_fitted *names) {
  int result = nnc_fitted_add_strings(names, all_columns, columns->count,
                                      (const char *const *)columns->names);
  for (int f = 0; f < table->field_count && result == 0; f++)
    if (has_own_names(columns, &columns->fields[f]))
      result = note_field(columns, &table->fields[f], &columns->fields[f], names);
  return result == 0 ? 0 : data_fail_memory(reader->context, data_file_name(reader->file), 64);
}

int csv_names_learn(const DataContext *context, const DataTable *table, const nnc_fitted *names,
                    nnc_fitted *fitted) {
  for (int f = 0; f < table->field_count; f++) {
    const nnc_fitted_value *own = names_of(&table->fields[f], names);
    if (!own || names_of(&table->fields[f], fitted)) continue;
    if (nnc_fitted_add_strings(fitted, own->name, own->count, (const char *const *)own->strings) <
        0)
      return data_fail_memory(context, own->name, own->count);
  }
  return 0;
}
