/* The eval command: the metrics of a checkpoint over data sets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/json.h"
#include "core/options.h"
#include "core/session.h"
#include "core/tally.h"
#include "data/read.h"
#include "os/message.h"
#include "os/printable.h"
#include "train/checkpoint.h"
#include "train/classes.h"
#include "train/commands.h"
#include "train/evaluate.h"

static void print_metrics(const nnc_model *model, const double *metrics) {
  for (int i = 0; i < model->metric_count; i++) {
    if (!nnc_metric_is_told(model, i, false)) continue;
    fputc(',', stdout);
    nnc_json_put_string(stdout, model->metric_names[i]);
    fputc(':', stdout);
    nnc_json_put_number(stdout, metrics[i]);
  }
}

static void print_json(const nnc_model *model, const nnc_eval_set *set, int64_t step,
                       const double *metrics) {
  fputs("{\"data\":", stdout);
  nnc_json_put_string(stdout, set->name);
  printf(",\"examples\":%lld,\"step\":%lld", (long long)nnc_data_examples(set->data),
         (long long)step);
  print_metrics(model, metrics);
}

/* A number by itself, in the row of the set. */
static bool has_column(const nnc_model *model, int metric) {
  return nnc_metric_list(model, metric) == 0 && nnc_metric_is_told(model, metric, false);
}

static void print_head(const nnc_model *model) {
  printf("%-12s %10s", "data", "examples");
  for (int i = 0; i < model->metric_count; i++)
    if (has_column(model, i)) printf(" %12s", nnc_printable(model->metric_names[i]));
  putchar('\n');
}

/* A line for each list, or each list of a list. */
static void print_lists(const nnc_model *model, const double *metrics) {
  size_t before = 0;
  for (int i = 0; i < model->metric_count; i++) {
    size_t length = nnc_metric_is_told(model, i, false) ? nnc_metric_list(model, i) : 0;
    const char *name = model->metric_names[i];
    if (length > 0) {
      bool goes_on = length == before && !strncmp(name, model->metric_names[i - 1], length + 1);
      if (!goes_on) printf("\n%-23.*s", (int)length, name);
      printf(" %12.6g", metrics[i]);
    }
    before = length;
  }
}

static void print_row(const nnc_model *model, const char *name, int64_t examples,
                      const double *metrics) {
  printf("%-12s %10lld", nnc_printable(name), (long long)examples);
  for (int i = 0; i < model->metric_count; i++)
    if (has_column(model, i)) printf(" %12.6g", metrics[i]);
  print_lists(model, metrics);
  putchar('\n');
}

/* The loss may depend on host scalars: they are those of the last step. */
static void set_scalars(nnc_session *session, const nnc_position *position) {
  const nnc_model *model = session->model;
  int64_t per_epoch = position->steps_per_epoch;
  bool is_between = position->step_in_epoch == 0 && position->epoch > 0;
  nnc_session_host(session, position->step > 0 ? position->step : 1,
                   is_between ? position->epoch - 1 : position->epoch,
                   nnc_checkpoint_length(model, position), per_epoch);
}

/* One set; false after a message. */
static bool evaluate_set(nnc_evaluator *evaluator, int i, const nnc_position *position,
                         double *metrics, bool as_json) {
  const nnc_model *model = evaluator->session->model;
  const nnc_eval_set *set = &evaluator->sets[i];
  nnc_classes *classes = evaluator->looker;
  if (classes && !nnc_classes_start(classes, set->data)) return false;
  if (!nnc_evaluator_run(evaluator, i, metrics) && evaluator->has_failed) return false;
  if (!as_json) {
    if (classes && i > 0) print_head(model);
    print_row(model, set->name, nnc_data_examples(set->data), metrics);
    if (classes) nnc_classes_print(stdout, classes, set->data);
    return true;
  }
  print_json(model, set, position->step, metrics);
  if (classes) nnc_classes_put_json(stdout, classes, set->data);
  puts("}");
  return true;
}

/* Without inputs and data: the metrics of one evaluation. */
static bool evaluate_once(nnc_evaluator *evaluator, const nnc_position *position, bool as_json) {
  nnc_session *session = evaluator->session;
  const nnc_model *model = session->model;
  double *metrics = calloc((size_t)model->metric_count + 1, sizeof *metrics);
  if (!metrics) {
    nnc_error("cannot allocate %d metrics", model->metric_count);
    return false;
  }
  set_scalars(session, position);
  nnc_tally_reset(&evaluator->tally);
  nnc_streams_start(session);
  nnc_session_run(session, &model->eval, 0, 0);
  nnc_tally_add(&evaluator->tally, &model->eval, session->device);
  nnc_tally_metrics(&evaluator->tally, model, &model->eval, metrics);
  if (as_json) {
    printf("{\"step\":%lld", (long long)position->step);
    print_metrics(model, metrics);
    puts("}");
  } else {
    print_head(model);
    print_row(model, "none", 1, metrics);
  }
  free(metrics);
  if (fflush(stdout) == 0 && !ferror(stdout)) return true;
  nnc_error_system("write", "the metrics");
  return false;
}

static bool evaluate_all(nnc_evaluator *evaluator, const nnc_position *position, bool as_json) {
  const nnc_model *model = evaluator->session->model;
  double *metrics = calloc((size_t)model->metric_count + 1, sizeof *metrics);
  if (!metrics) {
    nnc_error("cannot allocate %d metrics", model->metric_count);
    return false;
  }
  set_scalars(evaluator->session, position);
  if (!as_json) print_head(model);
  for (int i = 0; i < evaluator->count; i++) {
    if (!evaluate_set(evaluator, i, position, metrics, as_json)) {
      free(metrics);
      return false;
    }
  }
  free(metrics);
  if (fflush(stdout) == 0 && !ferror(stdout)) return true;
  nnc_error_system("write", "the metrics");
  return false;
}

/* `classes` looks at all examples; NULL: nobody does. */
static bool evaluate_with(nnc_session *session, nnc_classes *classes) {
  const nnc_options *options = session->options;
  nnc_evaluator evaluator;
  nnc_position position;
  if (!nnc_checkpoint_load(session, &position)) return false;
  if (!nnc_evaluator_open(&evaluator, session, options->argument_count, options->arguments))
    return false;
  evaluator.looker = classes;
  evaluator.look = classes ? nnc_classes_look : NULL;
  bool good = evaluator.count > 0, as_json = options->json || !isatty(STDOUT_FILENO);
  const nnc_model *model = session->model;
  if (good) good = evaluate_all(&evaluator, &position, as_json);
  else if (model->eval.input_count == 0 && model->ranking_count == 0 && !classes)
    good = evaluate_once(&evaluator, &position, as_json);
  else nnc_error("%s has no data set but train; 'eval train' evaluates that", model->file);
  nnc_evaluator_close(&evaluator);
  return good;
}

static bool evaluate(nnc_session *session) {
  nnc_classes classes = {0};
  const nnc_class_tables *tables = &session->options->class_tables;
  bool wants = nnc_wants_classes(tables);
  if (!session->model->eval.run) {
    nnc_error("%s has no loss to evaluate", session->model->file);
    return false;
  }
  if (wants && !nnc_classes_open(&classes, session, tables)) return false;
  bool good = evaluate_with(session, wants ? &classes : NULL);
  nnc_classes_close(&classes);
  return good;
}

int nnc_eval_command(const nnc_options *options) {
  nnc_session session;
  if (!nnc_session_open(&session, options)) return NNC_EXIT_FAILURE;
  bool good = evaluate(&session);
  nnc_session_close(&session);
  return good ? NNC_EXIT_OK : NNC_EXIT_FAILURE;
}
