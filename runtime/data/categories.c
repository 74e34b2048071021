/* Stage `categories(field, ..., unknown = false)`: text to class numbers, from 0, in the sorted order of the
 * training set's values: by value when all are numbers, else by bytes.  A field of several text
 * columns has classes of its own for each ("field.categories.0", ...). */
#include <stdlib.h>
#include <string.h>

#include "core/convert.h"
#include "core/number.h"
#include "core/dictionary.h"
#include "core/fitted.h"
#include "data/call.h"
#include "data/class.h"
#include "data/decimal.h"
#include "data/table.h"
#include "os/message.h"
#include "nnc_data.h"

static const char *const formals[] = {"unknown", NULL};
static const char other[] = "<unk>"; /* the class of what the training set lacks */

static bool has_other(const DataContext *context) {
  const nnc_value *value = data_argument(context->call, formals, "unknown");
  return value && value->number != 0;
}

static int compare_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "1" and "1.0" are equal numbers but two classes. */
static int compare_numbers(const void *a, const void *b) {
  const char *x = *(const char *const *)a, *y = *(const char *const *)b;
  double p = 0, q = 0;
  data_parse_number(x, (int64_t)strlen(x), &p);
  data_parse_number(y, (int64_t)strlen(y), &q);
  return p != q ? (p > q) - (p < q) : strcmp(x, y);
}

static void name_column(char *text, size_t size, const DataField *field, int64_t column) {
  nnc_fitted_name(text, size, field->name, "categories", field->width == 1 ? -1 : column);
}

/* The words of a column that examples of the line have. */
static int find_words(const DataContext *context, const DataLine *line, int index, int64_t column,
                      nnc_dictionary *known) {
  for (int t = 0; t < line->count; t++) {
    const DataField *field = &line->tables[t].fields[index];
    const int32_t *codes = (const int32_t *)field->values;
    for (int64_t i = 0; i < line->tables[t].count; i++) {
      int32_t code = codes[data_example_row(&line->tables[t], i) * field->width + column];
      if (code < 0) continue;
      const char *word = field->dictionaries[column].words[code];
      if (nnc_dictionary_add(known, word, (int64_t)strlen(word), 0) < 0)
        return data_fail_memory(context, "categories", known->count);
    }
  }
  return 0;
}

static int add_classes(const DataContext *context, const DataField *field, int64_t column,
                       const nnc_dictionary *known, nnc_fitted *fitted) {
  int32_t count = known->count;
  bool are_numbers = true;
  const char **words = malloc(((size_t)count + 1) * sizeof *words);
  if (!words) return data_fail_memory(context, "categories", count * 8);
  for (int32_t i = 0; i < count; i++) {
    double number;
    words[i] = known->words[i];
    are_numbers = are_numbers && data_parse_number(words[i], (int64_t)strlen(words[i]), &number);
  }
  qsort(words, (size_t)count, sizeof *words, are_numbers ? compare_numbers : compare_text);
  if (has_other(context) && nnc_dictionary_find(known, other, sizeof other - 1) < 0)
    words[count++] = other;
  char name[256];
  name_column(name, sizeof name, field, column);
  int result = nnc_fitted_add_strings(fitted, name, count, words);
  free(words);
  return result < 0 ? data_fail_memory(context, name, count) : 0;
}

static int fit_column(const DataContext *context, const DataLine *line, int index, int64_t column,
                      nnc_fitted *fitted) {
  nnc_dictionary known = {0};
  int result = find_words(context, line, index, column, &known);
  if (result == 0)
    result = add_classes(context, &line->tables[0].fields[index], column, &known, fitted);
  nnc_dictionary_free(&known);
  return result;
}

static int fail_kind(const DataContext *context, const DataField *field) {
  return data_fail_call(context,
                        "categories(%s): the source delivers numbers (%s), which need none",
                        field->name, nnc_dtype_name(field->dtype));
}

static int fit(const DataContext *context, const DataLine *line, int index, nnc_fitted *fitted) {
  const DataField *field = &line->tables[0].fields[index];
  for (int t = 0; t < line->count; t++)
    if (!line->tables[t].fields[index].dictionaries)
      return fail_kind(context, &line->tables[t].fields[index]);
  for (int64_t column = 0; column < field->width; column++)
    if (fit_column(context, line, index, column, fitted) < 0) return -1;
  return 0;
}

/* class_of[i]: the class of the column's word i, -1 when it has none; the last is that of missing values. */
static bool find_classes(const nnc_dictionary *words, const nnc_fitted_value *classes,
                         bool takes_unknown, int32_t *class_of) {
  nnc_dictionary known = {0};
  bool complete = true;
  for (int64_t i = 0; i < classes->count && complete; i++) {
    const char *name = classes->strings[i];
    complete = nnc_dictionary_add(&known, name, (int64_t)strlen(name), i) >= 0;
  }
  int32_t code =
      complete && takes_unknown ? nnc_dictionary_find(&known, other, sizeof other - 1) : -1;
  int32_t unknown = code < 0 ? -1 : (int32_t)known.lines[code];
  for (int32_t i = 0; complete && i < words->count; i++) {
    code = nnc_dictionary_find(&known, words->words[i], (int64_t)strlen(words->words[i]));
    class_of[i] = code < 0 ? unknown : (int32_t)known.lines[code];
  }
  class_of[words->count] = unknown;
  nnc_dictionary_free(&known);
  return complete;
}

static int fail_unknown(const DataContext *context, const DataTable *table, const DataField *field,
                        int64_t line, const char *word, const nnc_fitted_value *classes) {
  const char *file = data_table_file(table, field, &line);
  const char *near = classes->count < 1000 ? nnc_nearest(word, (int)classes->count,
                                                         (const char *const *)classes->strings)
                                           : NULL;
  return data_fail(context, "%s:%lld: %s: '%.60s' does not occur in the training set%s%.60s%s",
                   file, (long long)line, field->name, word, near ? "; did you mean '" : "",
                   near ? near : "", near ? "'?" : "");
}

/* Words of rows that are not examples (of another part of a split) have no class and need none. */
static int apply_column(const DataContext *context, const DataTable *table, DataField *field,
                        int64_t column, const nnc_fitted_value *classes) {
  const nnc_dictionary *dictionary = &field->dictionaries[column];
  int32_t *codes = (int32_t *)field->values;
  int32_t *class_of = malloc(((size_t)dictionary->count + 1) * sizeof *class_of);
  if (!class_of || !find_classes(dictionary, classes, has_other(context), class_of)) {
    free(class_of);
    return data_fail_memory(context, "categories", dictionary->count * 4);
  }
  int result = 0;
  for (int64_t i = 0; i < table->count && result == 0; i++) {
    int32_t word = codes[data_example_row(table, i) * field->width + column];
    if (class_of[word < 0 ? dictionary->count : word] >= 0) continue;
    result = word < 0
                 ? data_fail(context,
                             "%s: %s: a value is missing; to make the missing text a class of its "
                             "own, leave it out of csv's missing = [...]",
                             field->file, field->name)
                 : fail_unknown(context, table, field, dictionary->lines[word],
                                dictionary->words[word], classes);
  }
  for (int64_t row = 0; row < table->rows; row++) {
    int32_t *code = &codes[row * field->width + column];
    int32_t class = class_of[*code < 0 ? dictionary->count : *code];
    *code = class < 0 ? 0 : class; /* of a row that is no example */
  }
  free(class_of);
  return result;
}

static int apply(const DataContext *context, DataTable *table, DataField *field,
                 const nnc_fitted *fitted) {
  if (!field->dictionaries) return fail_kind(context, field);
  for (int64_t column = 0; column < field->width; column++) {
    char name[256];
    name_column(name, sizeof name, field, column);
    const nnc_fitted_value *classes = nnc_fitted_find(fitted, name);
    if (!classes || !classes->strings)
      return data_fail_call(context, "there are no classes %s: they were fitted to other columns",
                            name);
    if (apply_column(context, table, field, column, classes) < 0) return -1;
  }
  data_field_free_text(field); /* from here on it holds numbers */
  return 0;
}

const struct nnc_stage_class nnc_stage_categories = {.name = "categories",
                                                     .acts_on = DATA_ACTS_ON_categories,
                                                     .formals = formals,
                                                     .names_fields = true,
                                                     .reads_text = true,
                                                     .fit = fit,
                                                     .apply = apply};
