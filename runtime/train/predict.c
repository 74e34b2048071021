/* The predict command: one line of results for every example. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fitted.h"
#include "core/feed.h"
#include "core/json.h"
#include "core/number.h"
#include "core/options.h"
#include "core/session.h"
#include "data/read.h"
#include "data/session_data.h"
#include "os/message.h"
#include "os/printable.h"
#include "train/checkpoint.h"
#include "train/commands.h"

/* One result as it is printed: an example's part of the tensor. */
typedef struct Column {
  const char *name;
  int dtype, rank;
  const int64_t *dim;
  int64_t elements; /* of one example */
  bool is_batched;
  const nnc_tensor *tensor;
  char *data;                      /* its values after a run */
  const nnc_fitted_value *classes; /* names for its values, or NULL */
} Column;

typedef struct Predictor {
  nnc_session *session;
  const nnc_entry *entry;
  nnc_data *data; /* NULL: the entry has no inputs */
  nnc_feed feed;
  Column *columns;
  int count;
} Predictor;

/* --- Printing ------------------------------------------------------------------------------- */

/* The shortest decimal that reads back as the same number. */
static void put_float(double value, bool is_double, bool as_json) {
  char text[40];
  if (!isfinite(value)) {
    if (as_json) nnc_json_put_number(stdout, value);
    else fputs(isnan(value) ? "nan" : value > 0 ? "inf" : "-inf", stdout);
    return;
  }
  for (int digits = is_double ? 15 : 6; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    double back = strtod(text, NULL);
    if (is_double ? back == value : (float)back == (float)value) break;
  }
  fputs(text, stdout);
}

static const char *class_name(const Column *column, int64_t element) {
  if (!column->classes || !column->classes->strings) return NULL;
  double value = nnc_number_get(column->dtype, column->data, element);
  bool is_known = value >= 0 && value < (double)column->classes->count;
  return is_known ? column->classes->strings[(int64_t)value] : NULL;
}

/* RFC 4180: quotes are needed around a separator, a quote or a line end, and doubled inside. */
static void put_csv_string(const char *string) {
  if (isatty(STDOUT_FILENO)) string = nnc_printable(string);
  if (!strpbrk(string, ",\"\r\n")) {
    fputs(string, stdout);
    return;
  }
  putchar('"');
  for (; *string; string++) {
    if (*string == '"') putchar('"');
    putchar(*string);
  }
  putchar('"');
}

static void put_element(const Column *column, int64_t element, bool as_json) {
  const char *name = class_name(column, element);
  if (name && as_json) nnc_json_put_string(stdout, name);
  else if (name) put_csv_string(name);
  else if (column->dtype == NNC_I64)
    printf("%lld", (long long)((const int64_t *)column->data)[element]);
  else if (column->dtype == NNC_I32 || column->dtype == NNC_U8)
    printf("%d", (int)nnc_number_get(column->dtype, column->data, element));
  else if (column->dtype == NNC_BOOL)
    fputs(nnc_number_get(NNC_BOOL, column->data, element) != 0 ? "true" : "false", stdout);
  else
    put_float(nnc_number_get(column->dtype, column->data, element), column->dtype == NNC_F64,
              as_json);
}

/* Nested arrays over the axes from `axis` on; `*element` is counted on. */
static void put_nested(const Column *column, int axis, int64_t *element) {
  if (axis == column->rank) {
    put_element(column, (*element)++, true);
    return;
  }
  putchar('[');
  for (int64_t i = 0; i < column->dim[axis]; i++) {
    if (i) putchar(',');
    put_nested(column, axis + 1, element);
  }
  putchar(']');
}

static void print_json(const Predictor *predictor, int64_t row) {
  putchar('{');
  for (int i = 0; i < predictor->count; i++) {
    const Column *column = &predictor->columns[i];
    int64_t element = column->is_batched ? row * column->elements : 0;
    if (i) putchar(',');
    nnc_json_put_string(stdout, column->name);
    putchar(':');
    put_nested(column, 0, &element);
  }
  puts("}");
}

/* An empty result has no cells; where all are empty a line is empty, and there is one for the head and
 * one for every example as ever. */
static void print_csv_head(const Predictor *predictor) {
  bool is_first = true;
  for (int i = 0; i < predictor->count; i++) {
    const Column *column = &predictor->columns[i];
    for (int64_t k = 0; k < column->elements; k++) {
      if (!is_first) putchar(',');
      is_first = false;
      put_csv_string(column->name);
      if (column->rank > 0) printf(".%lld", (long long)k);
    }
  }
  putchar('\n');
}

static void print_csv(const Predictor *predictor, int64_t row) {
  bool is_first = true;
  for (int i = 0; i < predictor->count; i++) {
    const Column *column = &predictor->columns[i];
    int64_t first = column->is_batched ? row * column->elements : 0;
    for (int64_t k = 0; k < column->elements; k++) {
      if (!is_first) putchar(',');
      is_first = false;
      put_element(column, first + k, false);
    }
  }
  putchar('\n');
}

/* In the place of an example that could not be read: lines and examples stay side by side. */
static void print_unread(const Predictor *predictor, bool as_csv, const char *message) {
  if (!as_csv) {
    fputs("{\"error\":", stdout);
    nnc_json_put_string(stdout, message);
    puts("}");
    return;
  }
  int64_t cells = 0;
  for (int i = 0; i < predictor->count; i++) cells += predictor->columns[i].elements;
  if (cells > 0) fputs("\"\"", stdout);
  for (int64_t i = 1; i < cells; i++) putchar(',');
  putchar('\n');
}

/* --- Opening -------------------------------------------------------------------------------- */

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

static Column make_column(const nnc_session *session, const nnc_entry *entry,
                          const nnc_tensor *tensor) {
  Column column = {.name = tensor->name,
                   .dtype = tensor->dtype,
                   .rank = tensor->rank,
                   .dim = tensor->dim,
                   .tensor = tensor,
                   .data = malloc((size_t)nnc_tensor_bytes(tensor) + 1)};
  column.is_batched = tensor->rank > 0 && tensor->dim[0] == entry->batch;
  if (column.is_batched) column.rank--, column.dim++;
  column.elements = 1;
  for (int i = 0; i < column.rank; i++) column.elements *= column.dim[i];
  bool is_integer = !nnc_dtype_is_float(tensor->dtype) && tensor->dtype != NNC_BOOL;
  if (is_integer) column.classes = find_classes(&session->fitted, tensor->name);
  return column;
}

static const char *first_evaluation_set(const nnc_model *model) {
  for (int i = 0; i < model->data_set_count; i++)
    if (strcmp(model->data_sets[i].name, "train") != 0) return model->data_sets[i].name;
  return model->data_set_count > 0 ? "train" : NULL;
}

static bool has_predict_set(const nnc_model *model) {
  for (int i = 0; i < model->data_set_count; i++)
    if (strcmp(model->data_sets[i].name, "predict") == 0) return true;
  return false;
}

/* Nothing to read: the same network drawing other random numbers for each example. */
static bool check_without_inputs(const nnc_options *options) {
  if (options->argument_count == 0) return true;
  nnc_error("predict takes no file here: what it computes depends on no input; --count N gives N "
            "examples");
  return false;
}

/* The files given; or those of `data predict`; or the first evaluation set. */
static bool open_data(Predictor *predictor) {
  nnc_session *session = predictor->session;
  const nnc_model *model = session->model;
  const nnc_options *options = session->options;
  const char *set = first_evaluation_set(model);
  if (predictor->entry->input_count == 0) return check_without_inputs(options);
  if (options->count >= 0) {
    nnc_error("--count is for predictions without inputs; here the examples are those of the data");
    return false;
  }
  if (options->argument_count > 0 || has_predict_set(model))
    predictor->data = nnc_session_open_files(session, predictor->entry);
  else if (set) predictor->data = nnc_session_open_data(session, set, predictor->entry);
  else nnc_error("%s names no data; give the files of the inputs", model->file);
  return predictor->data != NULL;
}

static bool open_predictor(Predictor *predictor, nnc_session *session) {
  const nnc_entry *entry = &session->model->predict;
  *predictor = (Predictor){.session = session, .entry = entry, .count = entry->result_count};
  predictor->columns = calloc((size_t)entry->result_count + 1, sizeof *predictor->columns);
  if (!predictor->columns) nnc_error("cannot allocate %d results", entry->result_count);
  if (!predictor->columns || !nnc_feed_open(&predictor->feed, session->device, entry, entry) ||
      !open_data(predictor))
    return false;
  for (int i = 0; i < entry->result_count; i++) {
    predictor->columns[i] = make_column(session, entry, &entry->results[i]);
    if (predictor->columns[i].data) continue;
    nnc_error("cannot allocate the values of %s", entry->results[i].name);
    return false;
  }
  return true;
}

static void close_predictor(Predictor *predictor) {
  nnc_data_close(predictor->data);
  for (int i = 0; predictor->columns && i < predictor->count; i++) free(predictor->columns[i].data);
  free(predictor->columns);
  nnc_feed_close(&predictor->feed);
}

/* --- Running -------------------------------------------------------------------------------- */

static bool print_failed(void) {
  if (!ferror(stdout)) return false;
  nnc_error_system("write", "the predictions");
  return true;
}

/* Reads a batch of examples, which is a single one in what the compiler makes.  False when it
 * cannot be made (a file that is no picture): that is told, and `unread` counts. */
static bool read_examples(Predictor *predictor, int64_t first, int64_t count, bool as_csv,
                          int64_t *unread) {
  char message[NNC_MESSAGE];
  if (!predictor->data) return true;
  int result =
      nnc_data_read(predictor->data, first, count, nnc_feed_begin(&predictor->feed), message);
  nnc_feed_end(&predictor->feed);
  if (result == 0) return true;
  nnc_error("%s", message);
  for (int64_t row = 0; row < count; row++) print_unread(predictor, as_csv, message);
  *unread += count;
  return false;
}

static void read_results(Predictor *predictor) {
  for (int i = 0; i < predictor->count; i++) {
    const Column *column = &predictor->columns[i];
    nnc_device_read(predictor->session->device, column->tensor, 0,
                    nnc_tensor_elements(column->tensor), column->data);
  }
}

static bool predict_all(Predictor *predictor, bool as_csv) {
  const nnc_entry *entry = predictor->entry;
  int64_t batch = entry->batch > 0 ? entry->batch : 1, unread = 0;
  int64_t given = predictor->session->options->count;
  int64_t examples = predictor->data ? nnc_data_examples(predictor->data)
                     : given >= 0    ? given
                                     : batch;
  if (as_csv) print_csv_head(predictor);
  for (int64_t first = 0; first < examples; first += batch) {
    int64_t count = examples - first < batch ? examples - first : batch;
    if (read_examples(predictor, first, count, as_csv, &unread)) {
      /* Without data each example is a draw of its own: other random numbers, as another step has. */
      nnc_session_run(predictor->session, entry, predictor->data ? 0 : first,
                      predictor->data ? first : 0);
      read_results(predictor);
      for (int64_t row = 0; row < count; row++) (as_csv ? print_csv : print_json)(predictor, row);
    }
    if (print_failed()) return false;
  }
  if (fflush(stdout) != 0) {
    nnc_error_system("write", "the predictions");
    return false;
  }
  if (unread > 0 && examples > 1)
    nnc_error("%lld of %lld examples could not be read", (long long)unread, (long long)examples);
  return unread == 0;
}

static bool predict(nnc_session *session, bool as_csv) {
  Predictor predictor;
  nnc_position position;
  if (!session->model->predict.run) {
    nnc_error("%s has no 'predict' block", session->model->file);
    return false;
  }
  if (!nnc_checkpoint_load(session, &position)) return false;
  nnc_session_host(session, position.step > 0 ? position.step : 1, position.epoch,
                   nnc_checkpoint_length(session->model, &position), position.steps_per_epoch);
  nnc_streams_start(session);
  bool good = open_predictor(&predictor, session) && predict_all(&predictor, as_csv);
  close_predictor(&predictor);
  return good;
}

int nnc_predict_command(const nnc_options *options) {
  nnc_session session;
  bool as_csv = options->format && strcmp(options->format, "csv") == 0;
  if (options->format && !as_csv && strcmp(options->format, "json") != 0) {
    nnc_error("--format of predict is json or csv, not '%s'", options->format);
    return NNC_EXIT_USAGE;
  }
  if (!nnc_session_open(&session, options)) return NNC_EXIT_FAILURE;
  bool good = predict(&session, as_csv);
  nnc_session_close(&session);
  return good ? NNC_EXIT_OK : NNC_EXIT_FAILURE;
}
