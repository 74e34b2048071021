/* What a run has reached: see sweep_result.h. */
#include "train/sweep_result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/tally.h"
#include "nnc_model.h"
#include "os/message.h"
#include "os/replace.h"

static const nnc_model *model = &nnc_the_model;

static int set_count(void) { return model->data_set_count + 1; }

/* Row 0 is training. */
const char *nnc_sweep_set(int row) { return row == 0 ? "train" : model->data_sets[row - 1].name; }

/* Row 0 has the metrics of training, so those of `train` as a data set are not there again. */
bool nnc_sweep_has_set(int row) {
  const char *name = nnc_sweep_set(row);
  return row == 0 || (strcmp(name, "train") != 0 && strcmp(name, "predict") != 0);
}

const char *nnc_sweep_set_of(int row, int metric) {
  return nnc_metric_is_told(model, metric, row == 0) || row == 0 ? nnc_sweep_set(row) : "train";
}

nnc_sweep_measure nnc_sweep_compared_by(void) {
  nnc_sweep_measure by = {0, 0, false};
  const char *set = NULL;
  for (int i = 0; i < model->watch_count; i++) {
    const nnc_watch *watch = &model->watches[i];
    if (watch->kind != NNC_WATCH_BEST) continue;
    by.metric = watch->metric;
    by.is_greatest = watch->is_max;
    set = watch->set;
  }
  for (int i = set_count() - 1; i > 0; i--)
    if (nnc_sweep_has_set(i) && (!set || strcmp(set, nnc_sweep_set(i)) == 0)) by.set = i;
  return by;
}

const double *nnc_sweep_compared(const nnc_sweep_report *report) {
  return report->metrics + nnc_sweep_compared_by().set * model->metric_count;
}

double nnc_sweep_badness(const nnc_sweep_report *report) {
  nnc_sweep_measure by = nnc_sweep_compared_by();
  double value = nnc_sweep_compared(report)[by.metric];
  return by.is_greatest ? -value : value;
}

/* --- Reading -------------------------------------------------------------------------------- */

static size_t report_size(void) { return (size_t)(set_count() * model->metric_count) + 1; }

static bool report_open(nnc_sweep_report *report) {
  report->metrics = malloc(report_size() * sizeof *report->metrics);
  return report->metrics != NULL;
}

/* What is no number of JSON is text, "NaN" or "-Infinity", which strtod reads, too. */
static double number_of(const nnc_json *value) {
  bool is_number = value && (value->kind == NNC_JSON_NUMBER || value->kind == NNC_JSON_STRING);
  return is_number ? strtod(value->text, NULL) : NAN;
}

static double metric_of(const nnc_json_document *document, const char *set, const char *metric) {
  char *key = NULL;
  if (asprintf(&key, "%s/%s", set, metric) < 0) return NAN;
  double value = number_of(nnc_json_member(document, document->values, key));
  free(key);
  return value;
}

/* A line of the log; false for one that is none. */
static bool read_line(nnc_sweep_report *report, double *seconds, char *line, size_t length) {
  nnc_json_document document;
  char message[128];
  if (!nnc_json_parse(&document, line, length, message, sizeof message)) return false;
  double step = number_of(nnc_json_member(&document, document.values, "step"));
  *seconds = number_of(nnc_json_member(&document, document.values, "seconds"));
  report->step = step >= 0 && step < 0x1p53 ? (int64_t)step : -1;
  for (int row = 0; row < set_count(); row++)
    for (int i = 0; i < model->metric_count; i++) {
      report->metrics[row * model->metric_count + i] =
          !nnc_sweep_has_set(row)
              ? NAN
              : metric_of(&document, nnc_sweep_set_of(row, i), model->metric_names[i]);
    }
  nnc_json_free(&document);
  return report->step >= 0;
}

static void copy_report(nnc_sweep_report *to, const nnc_sweep_report *from) {
  to->step = from->step;
  memcpy(to->metrics, from->metrics, report_size() * sizeof *to->metrics);
}

static void take_line(nnc_sweep_result *result, const nnc_sweep_report *report) {
  double before = result->is_there ? nnc_sweep_badness(&result->best) : NAN;
  bool is_better = isnan(before) || nnc_sweep_badness(report) < before;
  if (is_better) copy_report(&result->best, report);
  copy_report(&result->last, report);
  result->is_there = true;
}

static void read_log(nnc_sweep_result *result, nnc_sweep_report *report, FILE *file) {
  char *line = NULL;
  size_t capacity = 0;
  double seconds;
  for (ssize_t length; (length = getline(&line, &capacity, file)) > 0;) {
    if (!read_line(report, &seconds, line, (size_t)length)) continue;
    take_line(result, report);
    result->seconds = seconds;
  }
  free(line);
}

bool nnc_sweep_result_read(nnc_sweep_result *result, const char *folder) {
  nnc_sweep_report report = {0};
  *result = (nnc_sweep_result){0};
  char *path = nnc_path_join(folder, "log.jsonl");
  bool good =
      path && report_open(&report) && report_open(&result->last) && report_open(&result->best);
  FILE *file = good ? fopen(path, "r") : NULL;
  if (file) {
    read_log(result, &report, file);
    fclose(file);
  }
  free(report.metrics);
  free(path);
  if (!good) nnc_error("cannot allocate the metrics of a run");
  return good;
}

void nnc_sweep_result_free(nnc_sweep_result *result) {
  free(result->last.metrics);
  free(result->best.metrics);
}

void nnc_sweep_report_put(FILE *file, const nnc_sweep_report *report) {
  fprintf(file, "{\"step\":%lld", (long long)report->step);
  for (int row = 0; row < set_count(); row++)
    for (int i = 0; i < model->metric_count; i++) {
      double value = report->metrics[row * model->metric_count + i];
      if (!nnc_sweep_has_set(row) || (row > 0 && !nnc_metric_is_told(model, i, false))) continue;
      fprintf(file, ",\"%s/%s\":", nnc_sweep_set(row), model->metric_names[i]);
      nnc_json_put_number(file, value);
    }
  fputc('}', file);
}
