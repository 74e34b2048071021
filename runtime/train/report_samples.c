/* Examples in a page: see report_samples.h. What an example is made of comes from the set as the evaluation reads it, with
 * its label; what is predicted comes from the entry that predicts one example. Where that has no inputs, its results are
 * drawn as `predict --count` draws them. */
#include "train/report_samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/feed.h"
#include "core/number.h"
#include "data/read.h"
#include "data/session_data.h"
#include "report/page.h"
#include "train/predict_print.h"

enum {
  FIRST_SAMPLES = 12,
  WRONG_SAMPLES = 12,
  DRAWN_SAMPLES = 12,
  MOST_NUMBERS = 8,
  MOST_WORDS = 60,
  TOP = 3
};
enum { LEAST_SIDE = 8, MOST_SIDE = 64 }; /* of a picture, and of what it is scaled down to */

typedef struct Samples {
  FILE *file;
  nnc_session *session;
  const nnc_entry *read, *predict; /* predict: NULL where it is not used */
  nnc_data *data, *predict_data;
  nnc_feed feed;
  nnc_predict_column *columns;
  void **inputs; /* of `read`, a batch each */
} Samples;

/* ---- inputs ---------------------------------------------------------------------------------- */

/* How an example lies in memory as a picture. */
typedef struct View {
  int64_t height, width, channels;
  int64_t row, column, channel; /* from one to the next */
} View;

static bool find_view(const int64_t *dim, int rank, View *view) {
  bool is_first = rank == 3 && (dim[0] == 1 || dim[0] == 3); /* channels */
  bool is_last = rank == 3 && !is_first && (dim[2] == 1 || dim[2] == 3);
  if (rank != 2 && !is_first && !is_last) return false;
  const int64_t *side = dim + is_first;
  *view = (View){.height = side[0], .width = side[1], .channels = is_first ? dim[0] : 1};
  if (is_last) view->channels = dim[2];
  view->column = is_last ? view->channels : 1;
  view->row = view->width * view->column;
  view->channel = is_last ? 1 : view->height * view->width;
  return view->height >= LEAST_SIDE && view->width >= LEAST_SIDE && view->height <= 4096 &&
         view->width <= 4096;
}

static double pixel_at(const nnc_tensor *tensor, const View *view, const void *values, int64_t y,
                       int64_t x, int64_t c) {
  return nnc_number_get(tensor->dtype, values,
                        y * view->row + x * view->column + c * view->channel);
}

/* The mean over a square of `step` pixels. */
static double mean_at(const nnc_tensor *tensor, const View *view, const void *values,
                      const int64_t place[3], int64_t step) {
  double sum = 0;
  for (int64_t y = 0; y < step; y++)
    for (int64_t x = 0; x < step; x++)
      sum += pixel_at(tensor, view, values, place[0] * step + y, place[1] * step + x, place[2]);
  return sum / (double)(step * step);
}

/* Bytes are as they are; other numbers reach from the example's least to its greatest. */
static void put_pixels(FILE *file, const nnc_tensor *tensor, const View *view, const void *values) {
  int64_t longer = view->height > view->width ? view->height : view->width;
  int64_t step = (longer + MOST_SIDE - 1) / MOST_SIDE;
  int64_t height = view->height / step, width = view->width / step;
  int64_t elements = view->height * view->width * view->channels;
  double least = tensor->dtype == NNC_U8 ? 0 : HUGE_VAL,
         most = tensor->dtype == NNC_U8 ? 255 : -HUGE_VAL;
  for (int64_t i = 0; tensor->dtype != NNC_U8 && i < elements; i++) {
    double value = nnc_number_get(tensor->dtype, values, i);
    least = fmin(least, value);
    most = fmax(most, value);
  }
  uint8_t *pixels = calloc((size_t)(height * width * view->channels), 1), *at = pixels;
  for (int64_t y = 0; pixels && y < height; y++)
    for (int64_t x = 0; x < width; x++)
      for (int64_t c = 0; c < view->channels; c++) {
        double value = mean_at(tensor, view, values, (int64_t[]){y, x, c}, step);
        *at++ = most > least ? (uint8_t)fmax(0, 255 * (value - least) / (most - least)) : 0;
      }
  if (pixels) nnc_page_picture(file, (int)width, (int)height, (int)view->channels, pixels);
  free(pixels);
}

static void put_name_of(FILE *file, const char *name) {
  fputs("<br>", file);
  nnc_page_text(file, name);
  fputs(": ", file);
}

/* Numbers, or the classes or words that they stand for. */
static void put_elements(Samples *samples, const nnc_tensor *tensor, int64_t count,
                         const void *values) {
  FILE *file = samples->file;
  char text[NNC_DIGITS];
  const nnc_fitted_value *names = nnc_fitted_class_names(&samples->session->fitted, tensor->name);
  bool has_words = names && names->strings;
  int64_t most = has_words ? MOST_WORDS : MOST_NUMBERS;
  fputs("<span class=\"text\">", file);
  for (int64_t i = 0; i < count && i < most; i++) {
    double value = nnc_number_get(tensor->dtype, values, i);
    bool is_known = has_words && value >= 0 && value < (double)names->count;
    const char *word = is_known ? names->strings[(int64_t)value] : NULL;
    bool is_letter = word && word[0] && !word[1]; /* of a text: letters follow each other */
    if (i > 0 && !is_letter) fputs(word ? " " : ", ", file);
    if (word) nnc_page_text(file, word);
    else fputs(nnc_page_digits(text, 4, value), file);
  }
  fputs("</span>", file);
  if (count > most) fprintf(file, " ... (%lld)", (long long)count);
}

static void put_input(Samples *samples, int number, bool as_picture, int64_t example) {
  const nnc_tensor *tensor = &samples->read->inputs[number];
  const unsigned char *batched = samples->read->input_is_batched;
  bool is_batched = batched && batched[number];
  View view;
  int rank = tensor->rank - is_batched;
  bool is_picture = find_view(tensor->dim + is_batched, rank, &view);
  if (is_picture != as_picture) return;
  if (is_picture) {
    fputs("<img alt=\"", samples->file);
    nnc_page_text(samples->file, tensor->name);
    fprintf(samples->file, " of example %lld\" src=\"", (long long)example);
    put_pixels(samples->file, tensor, &view, samples->inputs[number]);
    fputs("\">", samples->file);
    return;
  }
  int64_t count = 1;
  for (int i = is_batched; i < tensor->rank; i++) count *= tensor->dim[i];
  put_name_of(samples->file, tensor->name);
  put_elements(samples, tensor, count, samples->inputs[number]);
}

/* ---- predictions ----------------------------------------------------------------------------- */

static void put_greatest(FILE *file, const nnc_predict_column *column) {
  char text[NNC_DIGITS];
  double value = INFINITY;
  int64_t place = -1;
  for (int64_t i = 0; i < column->top; i++) {
    place = nnc_predict_next_greatest(column, 0, value, place);
    if (place < 0) return;
    value = nnc_number_get(column->dtype, column->data, place);
    const char *name = nnc_predict_place_name(column, place);
    if (i > 0) fputs(", ", file);
    if (name) nnc_page_text(file, name);
    else fprintf(file, "%lld", (long long)place);
    fprintf(file, " (%s)", nnc_page_digits(text, 2, value));
    if (isnan(value)) value = -INFINITY;
  }
}

/* Names of classes say more than a picture of their numbers. */
static bool find_result_view(const nnc_predict_column *column, View *view) {
  return column->top == 0 && !column->classes && find_view(column->dim, column->rank, view);
}

static void put_result(FILE *file, const nnc_predict_column *column) {
  char text[NNC_DIGITS];
  View view;
  put_name_of(file, column->name);
  if (find_result_view(column, &view)) {
    fputs("<img alt=\"", file);
    nnc_page_text(file, column->name);
    fputs("\" src=\"", file);
    put_pixels(file, column->tensor, &view, column->data);
    fputs("\">", file);
    return;
  }
  fputs("<b>", file);
  if (column->top > 0) put_greatest(file, column);
  for (int64_t i = 0; column->top == 0 && i < column->elements && i < MOST_NUMBERS; i++) {
    const char *name = nnc_predict_class_name(column, i);
    if (i > 0) fputs(", ", file);
    if (name) nnc_page_text(file, name);
    else fputs(nnc_page_digits(text, 4, nnc_number_get(column->dtype, column->data, i)), file);
  }
  if (column->top == 0 && column->elements > MOST_NUMBERS)
    fprintf(file, " ... (%lld)", (long long)column->elements);
  fputs("</b>", file);
}

static void put_columns(const Samples *samples, const nnc_entry *entry) {
  for (int i = 0; i < entry->result_count; i++) {
    nnc_predict_column *column = &samples->columns[i];
    nnc_device_read(samples->session->device, column->tensor, 0,
                    nnc_tensor_elements(column->tensor), column->data);
    put_result(samples->file, column);
  }
}

static void put_results(Samples *samples, int64_t example) {
  char message[NNC_MESSAGE];
  if (!samples->predict) return;
  void *const *places = nnc_feed_begin(&samples->feed);
  bool good = nnc_data_read(samples->predict_data, example, 1, places, message) == 0;
  nnc_feed_end(&samples->feed);
  if (!good) return;
  nnc_session_run(samples->session, samples->predict, 0, example);
  put_columns(samples, samples->predict);
}

/* ---- examples -------------------------------------------------------------------------------- */

static void put_sample(Samples *samples, int64_t example, const char *mistake) {
  FILE *file = samples->file;
  char message[NNC_MESSAGE];
  const char *name = nnc_data_row_name(samples->data, example);
  if (nnc_data_read(samples->data, example, 1, samples->inputs, message) != 0) return;
  fputs("<figure>", file);
  for (int i = 0; i < samples->read->input_count; i++) put_input(samples, i, true, example);
  fprintf(file, "<figcaption>number %lld", (long long)example);
  if (name) {
    fputs(", ", file);
    nnc_page_text(file, name);
  }
  if (mistake) {
    fputs("<br><span class=\"bad\">", file);
    nnc_page_text(file, mistake);
    fputs("</span>", file);
  }
  for (int i = 0; i < samples->read->input_count; i++) put_input(samples, i, false, example);
  put_results(samples, example);
  fputs("</figcaption></figure>\n", file);
}

static void put_wrong(Samples *samples, const nnc_classes *classes) {
  char label[NNC_CLASS_NAME], guess[NNC_CLASS_NAME], text[2 * NNC_CLASS_NAME + 40];
  if (classes->wrong_count == 0) return;
  fputs("<h3>The most confidently wrong</h3>\n<div class=\"samples\">\n", samples->file);
  for (int64_t i = 0; i < classes->wrong_count && i < WRONG_SAMPLES; i++) {
    const nnc_wrong *wrong = &classes->wrong[i];
    snprintf(text, sizeof text, "%s taken for %s (%.4g)",
             nnc_class_name(classes, wrong->label, label),
             nnc_class_name(classes, wrong->guess, guess), wrong->confidence);
    put_sample(samples, wrong->number, text);
  }
  fputs("</div>\n", samples->file);
}

static bool open_predict(Samples *samples, const char *set) {
  const nnc_predict_print print = {.top = TOP};
  const nnc_entry *entry = &samples->session->model->predict;
  if (!entry->run || entry->input_count == 0) return true;
  samples->predict_data = nnc_session_open_data(samples->session, set, entry);
  samples->columns = nnc_predict_columns(samples->session, entry, &print);
  if (!samples->predict_data || !samples->columns ||
      !nnc_feed_open(&samples->feed, samples->session->device, entry, entry))
    return false;
  samples->predict = entry;
  return true;
}

static bool open_samples(Samples *samples, const char *set) {
  const nnc_entry *entry = samples->read;
  samples->data = nnc_session_open_data(samples->session, set, entry);
  samples->inputs = calloc((size_t)entry->input_count + 1, sizeof *samples->inputs);
  if (!samples->data || !samples->inputs) return false;
  for (int i = 0; i < entry->input_count; i++) {
    samples->inputs[i] = malloc((size_t)nnc_tensor_bytes(&entry->inputs[i]) + 1);
    if (!samples->inputs[i]) return false;
  }
  return open_predict(samples, set);
}

static void close_samples(Samples *samples) {
  for (int i = 0; samples->inputs && i < samples->read->input_count; i++) free(samples->inputs[i]);
  free(samples->inputs);
  nnc_data_close(samples->data);
  nnc_data_close(samples->predict_data);
  if (samples->columns)
    nnc_predict_columns_free(samples->columns, samples->session->model->predict.result_count);
  nnc_feed_close(&samples->feed);
}

void nnc_report_put_samples(FILE *file, nnc_session *session, const char *set,
                            const nnc_classes *classes) {
  Samples samples = {.file = file, .session = session, .read = &session->model->eval};
  if (open_samples(&samples, set)) {
    int64_t count = nnc_data_examples(samples.data);
    nnc_page_section(file, "Examples");
    fputs("<h3>The first of ", file);
    nnc_page_text(file, set);
    fputs("</h3>\n<div class=\"samples\">\n", file);
    nnc_streams_start(session);
    for (int64_t i = 0; i < count && i < FIRST_SAMPLES; i++) put_sample(&samples, i, NULL);
    fputs("</div>\n", file);
    if (classes) put_wrong(&samples, classes);
  }
  close_samples(&samples);
}

void nnc_report_put_drawn(FILE *file, nnc_session *session) {
  const nnc_predict_print print = {.top = TOP};
  const nnc_entry *entry = &session->model->predict;
  if (!entry->run || entry->input_count > 0 || entry->result_count == 0) return;
  Samples samples = {.file = file, .session = session};
  samples.columns = nnc_predict_columns(session, entry, &print);
  if (!samples.columns) return;
  nnc_page_section(file, "Drawn results");
  fputs("<div class=\"samples\">\n", file);
  nnc_streams_start(session);
  for (int64_t i = 0; i < DRAWN_SAMPLES; i++) {
    nnc_session_run(session, entry, i, 0);
    fprintf(file, "<figure><figcaption>number %lld", (long long)i);
    put_columns(&samples, entry);
    fputs("</figcaption></figure>\n", file);
  }
  fputs("</div>\n", file);
  nnc_predict_columns_free(samples.columns, entry->result_count);
}
