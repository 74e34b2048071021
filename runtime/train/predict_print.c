/* How predictions are printed: see predict_print.h. One thread prints, so no output asks for the lock of standard output. */
#include "train/predict_print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fitted.h"
#include "core/json.h"
#include "core/number.h"
#include "core/shortest.h"
#include "os/buffer.h"
#include "os/message.h"
#include "os/printable.h"

/* --- Elements ------------------------------------------------------------------------------- */

/* Its length. */
static size_t write_float(char text[NNC_SHORTEST_TEXT], double value, bool is_double,
                          bool as_json) {
  static const char *const names[2][3] = {{"nan", "inf", "-inf"},
                                          {"\"NaN\"", "\"Infinity\"", "\"-Infinity\""}};
  if (isfinite(value)) return (size_t)nnc_shortest(text, value, is_double);
  strcpy(text, names[as_json][isnan(value) ? 0 : value > 0 ? 1 : 2]);
  return strlen(text);
}

static void put_float(double value, bool is_double, bool as_json) {
  char text[NNC_SHORTEST_TEXT];
  fwrite_unlocked(text, 1, write_float(text, value, is_double, as_json), stdout);
}

/* With a comma after each but the last; so many at a time that they fit on the stack. */
static void put_floats(const nnc_predict_column *column, int64_t first, int64_t count,
                       bool as_json) {
  char text[NNC_BUFFER(1 << 11, NNC_SHORTEST_TEXT + 1)], *at = text;
  for (int64_t i = 0; i < count; i++) {
    if (text + sizeof text - at < NNC_SHORTEST_TEXT + 1) {
      fwrite_unlocked(text, 1, (size_t)(at - text), stdout);
      at = text;
    }
    at += write_float(at, nnc_number_get(column->dtype, column->data, first + i),
                      column->dtype == NNC_F64, as_json);
    if (i + 1 < count) *at++ = ',';
  }
  fwrite_unlocked(text, 1, (size_t)(at - text), stdout);
}

static void put_integer(int64_t value) {
  char text[24], *at = text + sizeof text;
  uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
  do *--at = (char)('0' + size % 10);
  while ((size /= 10) > 0);
  if (value < 0) *--at = '-';
  fwrite_unlocked(at, 1, (size_t)(text + sizeof text - at), stdout);
}

const char *nnc_predict_class_name(const nnc_predict_column *column, int64_t element) {
  if (!column->classes || !column->classes->strings) return NULL;
  double value = nnc_number_get(column->dtype, column->data, element);
  bool is_known = value >= 0 && value < (double)column->classes->count;
  return is_known ? column->classes->strings[(int64_t)value] : NULL;
}

/* RFC 4180: quotes are needed around a separator, a quote or a line end, and doubled inside. */
static void put_csv_string(const char *string) {
  if (isatty(STDOUT_FILENO)) string = nnc_printable(string);
  if (!strpbrk(string, ",\"\r\n")) {
    fputs_unlocked(string, stdout);
    return;
  }
  putchar_unlocked('"');
  for (; *string; string++) {
    if (*string == '"') putchar_unlocked('"');
    putchar_unlocked(*string);
  }
  putchar_unlocked('"');
}

static void put_element(const nnc_predict_column *column, int64_t element, bool as_json) {
  const char *name = nnc_predict_class_name(column, element);
  if (name && as_json) nnc_json_put_string(stdout, name);
  else if (name) put_csv_string(name);
  else if (column->dtype == NNC_I64) put_integer(((const int64_t *)column->data)[element]);
  else if (column->dtype == NNC_I32 || column->dtype == NNC_U8)
    put_integer((int64_t)nnc_number_get(column->dtype, column->data, element));
  else if (column->dtype == NNC_BOOL)
    fputs_unlocked(nnc_number_get(NNC_BOOL, column->data, element) != 0 ? "true" : "false", stdout);
  else
    put_float(nnc_number_get(column->dtype, column->data, element), column->dtype == NNC_F64,
              as_json);
}

/* Nested arrays over the axes from `axis` on; `*element` is counted on. */
static void put_nested(const nnc_predict_column *column, int axis, int64_t *element) {
  if (axis == column->rank) {
    put_element(column, (*element)++, true);
    return;
  }
  bool is_row = axis + 1 == column->rank && nnc_dtype_is_float(column->dtype);
  putchar_unlocked('[');
  if (is_row) {
    put_floats(column, *element, column->dim[axis], true);
    *element += column->dim[axis];
  }
  for (int64_t i = 0; !is_row && i < column->dim[axis]; i++) {
    if (i) putchar_unlocked(',');
    put_nested(column, axis + 1, element);
  }
  putchar_unlocked(']');
}

/* --- The greatest ---------------------------------------------------------------------------- */

int64_t nnc_predict_next_greatest(const nnc_predict_column *column, int64_t first, double value,
                                  int64_t place) {
  int64_t best = -1;
  double greatest = 0;
  for (int64_t i = 0; i < column->elements; i++) {
    double own = nnc_number_get(column->dtype, column->data, first + i);
    if (isnan(own)) own = -INFINITY;
    bool is_after = own < value || (own == value && i > place);
    if (!is_after || (best >= 0 && own <= greatest)) continue;
    best = i;
    greatest = own;
  }
  return best;
}

const char *nnc_predict_place_name(const nnc_predict_column *column, int64_t place) {
  bool has_names = column->classes && column->classes->strings && place < column->classes->count;
  return has_names ? column->classes->strings[place] : NULL;
}

static void put_place(const nnc_predict_column *column, int64_t place, bool as_json) {
  const char *name = nnc_predict_place_name(column, place);
  if (!name) printf("%lld", (long long)place);
  else if (as_json) nnc_json_put_string(stdout, name);
  else put_csv_string(name);
}

/* [{"class":"cat","value":0.9},...], or as cells */
static void put_top(const nnc_predict_column *column, int64_t first, bool as_json) {
  double value = INFINITY;
  int64_t place = -1;
  if (as_json) putchar_unlocked('[');
  for (int64_t i = 0; i < column->top; i++) {
    place = nnc_predict_next_greatest(column, first, value, place);
    value = nnc_number_get(column->dtype, column->data, first + place);
    fputs_unlocked(as_json ? i ? ",{\"class\":" : "{\"class\":" : i ? "," : "", stdout);
    put_place(column, place, as_json);
    fputs_unlocked(as_json ? ",\"value\":" : ",", stdout);
    put_float(value, column->dtype == NNC_F64, as_json);
    if (as_json) putchar_unlocked('}');
    if (isnan(value)) value = -INFINITY;
  }
  if (as_json) putchar_unlocked(']');
}

/* --- Lines ---------------------------------------------------------------------------------- */

static void print_json(const nnc_predict_print *print, int count, const nnc_predict_column *columns,
                       int64_t row, const char *name) {
  bool is_first = !print->with_names;
  putchar_unlocked('{');
  if (print->with_names) {
    fputs_unlocked("\"file\":", stdout);
    nnc_json_put_string(stdout, name);
  }
  for (int i = 0; i < count; i++) {
    const nnc_predict_column *column = &columns[i];
    int64_t element = column->is_batched ? row * column->elements : 0;
    if (column->files) continue;
    if (!is_first) putchar_unlocked(',');
    is_first = false;
    fputs_unlocked(column->key, stdout);
    if (column->top > 0) put_top(column, element, true);
    else put_nested(column, 0, &element);
  }
  fputs_unlocked("}\n", stdout);
}

bool nnc_predict_prints(const nnc_predict_print *print, int count,
                        const nnc_predict_column *columns) {
  bool prints = print->with_names || count == 0;
  for (int i = 0; i < count; i++) prints = prints || !columns[i].files;
  return prints;
}

/* An empty result has no cells; where all are empty a line is empty, and there is one for the head and
 * one for every example as ever. */
void nnc_predict_print_head(const nnc_predict_print *print, int count,
                            const nnc_predict_column *columns) {
  bool is_first = !print->with_names;
  if (!print->as_csv) return;
  if (print->with_names) fputs_unlocked("file", stdout);
  for (int i = 0; i < count; i++) {
    const nnc_predict_column *column = &columns[i];
    int64_t cells = column->files ? 0 : column->top > 0 ? column->top : column->elements;
    for (int64_t k = 0; k < cells; k++) {
      if (!is_first) putchar_unlocked(',');
      is_first = false;
      put_csv_string(column->name);
      if (column->top > 0) {
        printf(".%lld.class,", (long long)k);
        put_csv_string(column->name);
        printf(".%lld.value", (long long)k);
      } else if (column->rank > 0) {
        printf(".%lld", (long long)k);
      }
    }
  }
  putchar_unlocked('\n');
}

static void print_csv(const nnc_predict_print *print, int count, const nnc_predict_column *columns,
                      int64_t row, const char *name) {
  bool is_first = !print->with_names;
  if (print->with_names) put_csv_string(name);
  for (int i = 0; i < count; i++) {
    const nnc_predict_column *column = &columns[i];
    int64_t first = column->is_batched ? row * column->elements : 0;
    if (column->files) continue;
    if (column->top > 0) {
      if (!is_first) putchar_unlocked(',');
      is_first = false;
      put_top(column, first, false);
      continue;
    }
    if (nnc_dtype_is_float(column->dtype) && column->elements > 0) {
      if (!is_first) putchar_unlocked(',');
      is_first = false;
      put_floats(column, first, column->elements, false);
      continue;
    }
    for (int64_t k = 0; k < column->elements; k++) {
      if (!is_first) putchar_unlocked(',');
      is_first = false;
      put_element(column, first + k, false);
    }
  }
  putchar_unlocked('\n');
}

void nnc_predict_print_row(const nnc_predict_print *print, int count,
                           const nnc_predict_column *columns, int64_t row, const char *name) {
  (print->as_csv ? print_csv : print_json)(print, count, columns, row, name);
}

void nnc_predict_print_unread(const nnc_predict_print *print, int count,
                              const nnc_predict_column *columns, const char *name,
                              const char *message) {
  if (!print->as_csv) {
    fputs_unlocked("{", stdout);
    if (print->with_names) {
      fputs_unlocked("\"file\":", stdout);
      nnc_json_put_string(stdout, name);
      putchar_unlocked(',');
    }
    fputs_unlocked("\"error\":", stdout);
    nnc_json_put_string(stdout, message);
    puts("}");
    return;
  }
  int64_t cells = 0;
  for (int i = 0; i < count; i++)
    if (!columns[i].files) cells += columns[i].top > 0 ? 2 * columns[i].top : columns[i].elements;
  if (print->with_names) put_csv_string(name);
  if (print->with_names && cells > 0) putchar_unlocked(',');
  if (cells == 1 && !print->with_names)
    fputs_unlocked("\"\"", stdout); /* no line that readers skip */
  for (int64_t i = 1; i < cells; i++) putchar_unlocked(',');
  putchar_unlocked('\n');
}

/* --- Columns -------------------------------------------------------------------------------- */

/* A result called like a field with categories holds class numbers of it: `species`, or a name
 * that goes on after an underscore, `species_guess`. */
static const nnc_fitted_value *find_classes(const nnc_fitted *fitted, const char *result) {
  char field[256];
  snprintf(field, sizeof field, "%s", result);
  for (;;) {
    const nnc_fitted_value *classes = nnc_fitted_class_names(fitted, field);
    char *underscore = strrchr(field, '_');
    if (classes || !underscore) return classes;
    *underscore = '\0';
  }
}

/* Of a vector of values for classes: names by the result's own, or those of the one field that has as many. */
static const nnc_fitted_value *find_places(const nnc_fitted *fitted, const char *result,
                                           int64_t count) {
  const nnc_fitted_value *found = find_classes(fitted, result);
  if (found && found->count == count) return found;
  found = NULL;
  for (int i = 0; i < fitted->count; i++) {
    const nnc_fitted_value *value = &fitted->values[i];
    if (!value->strings || nnc_fitted_is_columns(value) || value->count != count) continue;
    if (found) return NULL;
    found = value;
  }
  return found;
}

/* "NAME": as each line has it; NULL: no memory. */
static char *make_key(const char *name) {
  char *key = NULL;
  size_t size;
  FILE *file = open_memstream(&key, &size);
  if (!file) return NULL;
  nnc_json_put_string(file, name);
  fputc(':', file);
  return fclose(file) == 0 ? key : NULL;
}

static nnc_predict_column make_column(const nnc_session *session, const nnc_entry *entry,
                                      const nnc_tensor *tensor, const nnc_predict_print *print) {
  nnc_predict_column column = {.name = tensor->name,
                               .key = make_key(tensor->name),
                               .dtype = tensor->dtype,
                               .rank = tensor->rank,
                               .dim = tensor->dim,
                               .tensor = tensor,
                               .data = malloc((size_t)nnc_tensor_bytes(tensor) + 1)};
  column.is_batched = tensor->rank > 0 && tensor->dim[0] == entry->batch;
  if (column.is_batched) column.rank--, column.dim++;
  column.elements = 1;
  for (int i = 0; i < column.rank; i++) column.elements *= column.dim[i];
  bool is_float = nnc_dtype_is_float(tensor->dtype);
  if (!is_float && tensor->dtype != NNC_BOOL)
    column.classes = find_classes(&session->fitted, tensor->name);
  if (print->top > 0 && is_float && column.rank == 1 && column.elements > 1) {
    column.top = print->top < column.elements ? print->top : column.elements;
    column.classes = find_places(&session->fitted, tensor->name, column.elements);
  }
  return column;
}

/* Where some vectors have the names of classes, others are none of classes: a box, an embedding. */
static void leave_others_whole(nnc_predict_column *columns, int count) {
  bool has_names = false;
  for (int i = 0; i < count; i++) has_names |= columns[i].top > 0 && columns[i].classes;
  for (int i = 0; has_names && i < count; i++)
    if (!columns[i].classes) columns[i].top = 0;
}

nnc_predict_column *nnc_predict_columns(const nnc_session *session, const nnc_entry *entry,
                                        const nnc_predict_print *print) {
  nnc_predict_column *columns = calloc((size_t)entry->result_count + 1, sizeof *columns);
  if (!columns) nnc_error("cannot allocate %d results", entry->result_count);
  for (int i = 0; columns && i < entry->result_count; i++) {
    columns[i] = make_column(session, entry, &entry->results[i], print);
    if (columns[i].data && columns[i].key) continue;
    nnc_error("cannot allocate the values of %s", entry->results[i].name);
    nnc_predict_columns_free(columns, i + 1);
    return NULL;
  }
  if (columns) leave_others_whole(columns, entry->result_count);
  return columns;
}

void nnc_predict_columns_free(nnc_predict_column *columns, int count) {
  for (int i = 0; columns && i < count; i++) {
    free(columns[i].data);
    free(columns[i].key);
  }
  free(columns);
}
