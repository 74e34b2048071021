/* The predict command: one line of results for every example, or files of them.
 *
 * Examples go through the entry of a batch, where the program has one, as many at a time as --batch says; the rest of
 * the data that does not fill a third of a batch through that of one example. Lines are written for some runs
 * together: meanwhile the other workers wait, first by spinning, which takes as much processor time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/feed.h"
#include "core/number.h"
#include "core/options.h"
#include "core/session.h"
#include "data/read.h"
#include "data/session_data.h"
#include "os/clock.h"
#include "os/message.h"
#include "train/checkpoint.h"
#include "train/commands.h"
#include "train/predict_files.h"
#include "train/predict_print.h"
#include "train/predict_stream.h"

enum { WORTH = 3 }; /* an example of a batch takes at most that part of the time of one by itself */

/* Lines wait for those of other runs until their values have so many bytes, or for so long. */
enum { MOST_BYTES = 1 << 16, MOST_NANOSECONDS = 200 * 1000 * 1000 };

/* An entry that predicts, with what it reads and gives. */
typedef struct Way {
  const nnc_entry *entry;
  nnc_feed feed;
  nnc_predict_column *columns;
  int64_t room;           /* examples whose results the columns hold */
  int64_t first, pending; /* those that are not printed yet */
} Way;

typedef struct Predictor {
  nnc_session *session;
  nnc_predict_print print;
  nnc_data *data; /* NULL: the entry has no inputs */
  Way one, many;  /* many: no entry where the program has none, or it is not used */
  int64_t most;   /* examples at a time */
  int64_t before; /* examples of the data before these, of a stream */
  int64_t unread;
  bool is_stream; /* rows are predicted as they come */
  nnc_predict_stream stream;
  nnc_predict_files files;
  bool prints;     /* lines: not all results go to files */
  int64_t printed; /* when lines were written last, in nanoseconds */
} Predictor;

/* --- Opening -------------------------------------------------------------------------------- */

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
  if (predictor->one.entry->input_count == 0) return check_without_inputs(options);
  if (predictor->is_stream) return true; /* when rows are there */
  if (options->count >= 0) {
    nnc_error("--count is for programs none of whose results needs an input, but this one reads "
              "'%s'; a program of "
              "the drawn results alone takes these weights by --init",
              predictor->one.entry->inputs[0].name);
    return false;
  }
  if (options->argument_count > 0 || has_predict_set(model))
    predictor->data = nnc_session_open_files(session, predictor->one.entry, NULL, NULL);
  else if (set) predictor->data = nnc_session_open_data(session, set, predictor->one.entry);
  else nnc_error("%s names no data; give the files of the inputs", model->file);
  return predictor->data != NULL;
}

/* Of what examples share there is one value, that of the last run. */
static int64_t choose_room(const nnc_entry *entry, const nnc_predict_column *columns) {
  int64_t bytes = 1;
  for (int i = 0; i < entry->result_count; i++) {
    if (!columns[i].is_batched) return entry->batch;
    bytes += columns[i].elements * nnc_dtype_size(columns[i].dtype);
  }
  return MOST_BYTES / bytes > entry->batch ? MOST_BYTES / bytes : entry->batch;
}

static bool make_room(Way *way) {
  way->room = choose_room(way->entry, way->columns);
  for (int i = 0; way->room > way->entry->batch && i < way->entry->result_count; i++) {
    nnc_predict_column *column = &way->columns[i];
    size_t bytes = (size_t)(way->room * column->elements * nnc_dtype_size(column->dtype));
    char *data = realloc(column->data, bytes + 1);
    if (!data) {
      nnc_error("cannot allocate the values of %s", column->name);
      return false;
    }
    column->data = data;
  }
  return true;
}

static bool open_way(Predictor *predictor, Way *way, const nnc_entry *entry) {
  const nnc_options *options = predictor->session->options;
  way->entry = entry;
  way->columns = nnc_predict_columns(predictor->session, entry, &predictor->print);
  return way->columns && make_room(way) &&
         nnc_predict_files_choose(&predictor->files, options, entry->result_count, way->columns) &&
         nnc_feed_open(&way->feed, predictor->session->device, &predictor->session->model->predict,
                       entry);
}

static void close_way(Way *way) {
  if (way->entry) nnc_predict_columns_free(way->columns, way->entry->result_count);
  nnc_feed_close(&way->feed);
}

/* How many examples at a time: all that the program's batch has, unless --batch says less. */
static bool choose_batch(Predictor *predictor) {
  const nnc_model *model = predictor->session->model;
  int64_t asked = predictor->session->options->batch, batch = model->predict_batch.batch;
  bool has_batch = model->predict_batch.run != NULL;
  bool reads = predictor->data || predictor->is_stream;
  predictor->most = has_batch && reads ? asked > 0 ? asked : batch : 1;
  if (asked <= 1 || (has_batch && asked <= batch)) return true;
  if (has_batch)
    nnc_error("--batch: at most %lld, as many as the program has in a batch", (long long)batch);
  else nnc_error("--batch: %s predicts one example at a time", model->file);
  return false;
}

static bool has_names(const Predictor *predictor) {
  if (!predictor->print.with_names) return true;
  if (predictor->data &&
      (nnc_data_examples(predictor->data) == 0 || nnc_data_row_name(predictor->data, 0)))
    return true;
  nnc_error("--names: the examples are no files of their own");
  return false;
}

static bool open_predictor(Predictor *predictor) {
  const nnc_model *model = predictor->session->model;
  predictor->one.entry = &model->predict;
  if (!open_data(predictor) || !choose_batch(predictor)) return false;
  if (!predictor->is_stream && !has_names(predictor)) return false;
  const Way *one = &predictor->one;
  if (!open_way(predictor, &predictor->one, &model->predict) ||
      (predictor->most > 1 && !open_way(predictor, &predictor->many, &model->predict_batch)))
    return false;
  predictor->prints = nnc_predict_prints(&predictor->print, one->entry->result_count, one->columns);
  return nnc_predict_files_open(&predictor->files, predictor->session->options,
                                one->entry->result_count, one->columns, predictor->data);
}

static void close_predictor(Predictor *predictor) {
  nnc_data_close(predictor->data);
  close_way(&predictor->one);
  close_way(&predictor->many);
}

/* --- Running -------------------------------------------------------------------------------- */

static bool print_failed(void) {
  if (!ferror(stdout)) return false;
  nnc_error_system("write", "the predictions");
  return true;
}

static const char *row_name(const Predictor *predictor, int64_t example) {
  return predictor->print.with_names ? nnc_data_row_name(predictor->data, example) : NULL;
}

/* False when one of them cannot be made (a file that is no picture). */
static bool read_examples(Predictor *predictor, Way *way, int64_t first, int64_t count,
                          char *message) {
  if (!predictor->data) return true;
  int result = nnc_data_read(predictor->data, first, count, nnc_feed_begin(&way->feed), message);
  if (result == 0) nnc_feed_repeat(&way->feed, count, way->entry->batch);
  nnc_feed_end(&way->feed);
  return result == 0;
}

static void print_way(Predictor *predictor, Way *way) {
  for (int64_t row = 0; predictor->prints && row < way->pending; row++)
    nnc_predict_print_row(&predictor->print, way->entry->result_count, way->columns, row,
                          row_name(predictor, way->first + row));
  way->pending = 0;
}

/* Only one of them has any. */
static void print_pending(Predictor *predictor) {
  print_way(predictor, &predictor->one);
  print_way(predictor, &predictor->many);
}

static void print_if_due(Predictor *predictor, Way *way) {
  int64_t now = nnc_nanoseconds_now();
  if (way->pending + way->entry->batch <= way->room && now - predictor->printed < MOST_NANOSECONDS)
    return;
  print_way(predictor, way);
  predictor->printed = now;
}

static bool run_and_put(Predictor *predictor, Way *way, int64_t first, int64_t count) {
  const nnc_entry *entry = way->entry;
  int64_t row = way->pending;
  if (row == 0) {
    print_pending(predictor);
    way->first = first;
  }
  /* Without data each example is a draw of its own: other random numbers, as another step has. */
  nnc_session_run(predictor->session, entry, predictor->data ? 0 : first,
                  predictor->data ? predictor->before + first : 0);
  for (int i = 0; i < entry->result_count; i++) {
    const nnc_predict_column *column = &way->columns[i];
    nnc_device_read(predictor->session->device, column->tensor, 0,
                    nnc_tensor_elements(column->tensor),
                    column->data + row * column->elements * nnc_dtype_size(column->dtype));
  }
  way->pending += count;
  print_if_due(predictor, way);
  return nnc_predict_files_put(&predictor->files, entry->result_count, way->columns,
                               (nnc_result_rows){row, count, predictor->before + first});
}

static bool put_unread(Predictor *predictor, int64_t example, const char *name,
                       const char *message) {
  const Way *way = &predictor->one;
  print_pending(predictor);
  nnc_error("%s", message);
  if (predictor->prints)
    nnc_predict_print_unread(&predictor->print, way->entry->result_count, way->columns, name,
                             message);
  predictor->unread++;
  return nnc_predict_files_put(&predictor->files, way->entry->result_count, way->columns,
                               (nnc_result_rows){-1, 1, predictor->before + example});
}

static bool predict_one(Predictor *predictor, int64_t example) {
  char message[NNC_MESSAGE];
  if (read_examples(predictor, &predictor->one, example, 1, message))
    return run_and_put(predictor, &predictor->one, example, 1);
  return put_unread(predictor, example, row_name(predictor, example), message);
}

/* What fills the batch up is not printed. */
static bool predict_some(Predictor *predictor, int64_t first, int64_t count) {
  char message[NNC_MESSAGE];
  Way *way = &predictor->many;
  bool is_worth = count > 1 && (count == predictor->most || count * WORTH >= way->entry->batch);
  if (is_worth && read_examples(predictor, way, first, count, message))
    return run_and_put(predictor, way, first, count);
  for (int64_t i = 0; i < count; i++)
    if (!predict_one(predictor, first + i)) return false;
  return true;
}

static bool predict_all(Predictor *predictor) {
  int64_t given = predictor->session->options->count;
  int64_t examples = predictor->data ? nnc_data_examples(predictor->data) : given >= 0 ? given : 1;
  bool good = true;
  for (int64_t first = 0, count; good && first < examples; first += count) {
    count = examples - first < predictor->most ? examples - first : predictor->most;
    good = predict_some(predictor, first, count) && !print_failed();
  }
  print_pending(predictor);
  if (!good) return false;
  if (fflush(stdout) != 0) {
    nnc_error_system("write", "the predictions");
    return false;
  }
  predictor->before += examples;
  return true;
}

/* What is wrong with a row is its answer, and the next one is read. */
static bool predict_rows(Predictor *predictor, int64_t count) {
  char message[NNC_MESSAGE];
  predictor->data = nnc_session_open_files(predictor->session, predictor->one.entry,
                                           &predictor->stream.part, message);
  if (predictor->data) {
    bool good = has_names(predictor) && predict_all(predictor);
    nnc_data_close(predictor->data);
    predictor->data = NULL;
    return good;
  }
  if (count <= 1) {
    bool good = put_unread(predictor, 0, "", message);
    predictor->before++;
    return good && fflush(stdout) == 0 && !print_failed();
  }
  for (int64_t row = 0; row < count; row++)
    if (!nnc_predict_stream_take(&predictor->stream, row) || !predict_rows(predictor, 1))
      return false;
  return true;
}

static bool predict_stream(Predictor *predictor) {
  if (!nnc_predict_stream_open(&predictor->stream)) return false;
  for (;;) {
    int64_t count = nnc_predict_stream_next(&predictor->stream, predictor->most);
    if (count <= 0) return count == 0;
    if (!predict_rows(predictor, count)) return false;
  }
}

static bool run(Predictor *predictor) {
  if (predictor->prints)
    nnc_predict_print_head(&predictor->print, predictor->one.entry->result_count,
                           predictor->one.columns);
  if (!(predictor->is_stream ? predict_stream(predictor) : predict_all(predictor))) return false;
  if (fflush(stdout) != 0) {
    nnc_error_system("write", "the predictions");
    return false;
  }
  return true;
}

static bool has_read_all(const Predictor *predictor) {
  if (predictor->unread > 0 && predictor->before > 1)
    nnc_error("%lld of %lld examples could not be read", (long long)predictor->unread,
              (long long)predictor->before);
  return predictor->unread == 0;
}

static bool predict(nnc_session *session, bool as_csv) {
  const nnc_options *options = session->options;
  Predictor predictor = {.session = session,
                         .is_stream = nnc_predict_streams(options),
                         .stream = {.source = -1},
                         .print = {as_csv, options->names, options->top > 0 ? options->top : 0}};
  nnc_position position;
  if (!session->model->predict.run) {
    nnc_error("%s has no 'predict' block", session->model->file);
    return false;
  }
  if (!nnc_checkpoint_load(session, &position)) return false;
  nnc_session_host(session, position.step > 0 ? position.step : 1, position.epoch,
                   nnc_checkpoint_length(session->model, &position), position.steps_per_epoch);
  nnc_streams_start(session);
  bool ran = open_predictor(&predictor) && run(&predictor);
  bool good = nnc_predict_files_close(&predictor.files, ran) && ran && has_read_all(&predictor);
  if (predictor.is_stream) nnc_predict_stream_close(&predictor.stream);
  close_predictor(&predictor);
  return good;
}

int nnc_predict_command(const nnc_options *options) {
  nnc_session session;
  bool as_csv = options->format && strcmp(options->format, "csv") == 0;
  if (options->format && !as_csv && strcmp(options->format, "json") != 0) {
    const char *nearest = nnc_nearest(options->format, 2, (const char *const[]){"json", "csv"});
    nnc_error("--format of predict is json or csv, not '%s'%s%s%s", options->format,
              nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    return NNC_EXIT_USAGE;
  }
  if (!nnc_session_open(&session, options)) return NNC_EXIT_FAILURE;
  bool good = predict(&session, as_csv);
  nnc_session_close(&session);
  return good ? NNC_EXIT_OK : NNC_EXIT_FAILURE;
}
