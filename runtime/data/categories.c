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

static int fit_column(const DataContext *context, const DataTable *table, const DataField *field,
                      int64_t column, nnc_fitted *fitted) {
  const nnc_dictionary *dictionary = &field->dictionaries[column];
  const int32_t *codes = (const int32_t *)field->values;
  bool *occurs = calloc((size_t)dictionary->count + 1, sizeof *occurs);
  const char **words = malloc(((size_t)dictionary->count + 2) * sizeof *words);
  int result = occurs && words ? 0 : data_fail_memory(context, "categories", dictionary->count * 9);
  int32_t count = 0;
  bool are_numbers = true, lacks_other = has_other(context);
  if (result == 0) {
    for (int64_t row = 0; row < table->rows; row++) {
      int32_t code = codes[row * field->width + column];
      if (code >= 0) occurs[code] = true;
    }
    for (int32_t i = 0; i < dictionary->count; i++) {
      if (!occurs[i]) continue;
      double number;
      const char *word = words[count++] = dictionary->words[i];
      are_numbers = are_numbers && data_parse_number(word, (int64_t)strlen(word), &number);
      lacks_other = lacks_other && strcmp(word, other) != 0;
    }
    qsort(words, (size_t)count, sizeof *words, are_numbers ? compare_numbers : compare_text);
    if (lacks_other) words[count++] = other;
    char name[256];
    name_column(name, sizeof name, field, column);
    if (nnc_fitted_add_strings(fitted, name, count, words) < 0)
      result = data_fail_memory(context, name, count);
  }
  free(occurs);
  free(words);
  return result;
}

static int fail_kind(const DataContext *context, const DataField *field) {
  return data_fail_call(context,
                        "categories(%s): the source delivers numbers (%s), which need none",
                        field->name, nnc_dtype_name(field->dtype));
}

static int fit(const DataContext *context, const DataTable *table, const DataField *field,
               nnc_fitted *fitted) {
  if (!field->dictionaries) return fail_kind(context, field);
  for (int64_t column = 0; column < field->width; column++)
    if (fit_column(context, table, field, column, fitted) < 0) return -1;
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

static int fail_unknown(const DataContext *context, const DataField *field, int64_t line,
                        const char *word, const nnc_fitted_value *classes) {
  const char *near = classes->count < 1000 ? nnc_nearest(word, (int)classes->count,
                                                         (const char *const *)classes->strings)
                                           : NULL;
  return data_fail(context, "%s:%lld: %s: '%.60s' does not occur in the training set%s%.60s%s",
                   field->file, (long long)line, field->name, word, near ? "; did you mean '" : "",
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
  for (int64_t row = 0; row < table->rows && result == 0; row++) {
    int32_t *code = &codes[row * field->width + column], word = *code;
    if (word < 0 && class_of[dictionary->count] >= 0) *code = class_of[dictionary->count];
    else if (word < 0)
      result = data_fail(context,
                         "%s: %s: a value is missing; to make the missing text a class of its "
                         "own, leave it out of csv's missing = [...]",
                         field->file, field->name);
    else if (class_of[word] < 0)
      result =
          fail_unknown(context, field, dictionary->lines[word], dictionary->words[word], classes);
    else *code = class_of[word];
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
