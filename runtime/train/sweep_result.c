/* What a run has reached: see sweep_result.h. */
#include "train/sweep_result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "nnc_model.h"
#include "os/message.h"
#include "os/replace.h"

static const nnc_model *model = &nnc_the_model;

static int set_count(void) { return model->data_set_count + 1; }

/* Row 0 is training. */
static const char *set_name(int row) { return row == 0 ? "train" : model->data_sets[row - 1].name; }

static int compared_row(void) {
  for (int i = 1; i < set_count(); i++)
    if (strcmp(set_name(i), "train") != 0 && strcmp(set_name(i), "predict") != 0) return i;
  return 0;
}

const char *nnc_sweep_compared_set(void) { return set_name(compared_row()); }

const double *nnc_sweep_compared(const nnc_sweep_report *report) {
  return report->metrics + compared_row() * model->metric_count;
}

/* --- Reading -------------------------------------------------------------------------------- */

static size_t report_size(void) { return (size_t)(set_count() * model->metric_count) + 1; }

static bool report_open(nnc_sweep_report *report) {
  report->metrics = malloc(report_size() * sizeof *report->metrics);
  return report->metrics != NULL;
}

static double number_of(const nnc_json *value) {
  if (!value) return NAN;
  if (value->kind == NNC_JSON_NUMBER) return strtod(value->text, NULL);
  if (value->kind != NNC_JSON_STRING) return NAN;
  return strcmp(value->text, "Infinity") == 0    ? INFINITY
         : strcmp(value->text, "-Infinity") == 0 ? -INFINITY
                                                 : NAN;
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
      bool is_again = row > 0 && strcmp(set_name(row), "train") == 0; /* row 0 has it */
      report->metrics[row * model->metric_count + i] =
          is_again ? NAN : metric_of(&document, set_name(row), model->metric_names[i]);
    }
  nnc_json_free(&document);
  return report->step >= 0;
}

static void copy_report(nnc_sweep_report *to, const nnc_sweep_report *from) {
  to->step = from->step;
  memcpy(to->metrics, from->metrics, report_size() * sizeof *to->metrics);
}

static void take_line(nnc_sweep_result *result, const nnc_sweep_report *report) {
  bool is_better = !result->is_there || isnan(nnc_sweep_compared(&result->best)[0]) ||
                   nnc_sweep_compared(report)[0] < nnc_sweep_compared(&result->best)[0];
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
      bool is_evaluated = row == 0 || (strcmp(set_name(row), "train") != 0 &&
                                       strcmp(set_name(row), "predict") != 0);
      if (!is_evaluated) continue;
      fprintf(file, ",\"%s/%s\":", set_name(row), model->metric_names[i]);
      nnc_json_put_number(file, value);
    }
  fputc('}', file);
}
