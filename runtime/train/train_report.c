/* Reports (validation, log line, screen) and checkpoints of a training run.
 *
 * When to save, unless --save-every says: at a report, if the last save is ten seconds old (a
 * small model makes a hundred epochs in that time), and ten minutes after the last save in any
 * case. */
#include "train/trainer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/buffer.h"
#include "os/clock.h"
#include "os/message.h"
#include "core/number.h"
#include "core/plateau.h"
#include "data/read.h"
#include "data/skipped.h"
#include "train/report.h"

static const double report_save_interval = 10, save_interval = 600, report_show_interval = 0.25;
static const double minute = 60, page_interval = 2;

int64_t nnc_trainer_examples_per_step(const Trainer *trainer) {
  return trainer->model->train.batch * trainer->model->accumulation;
}

/* The epoch that the last step belongs to, from 1. */
static int64_t current_epoch(const Trainer *trainer) {
  const nnc_position *position = &trainer->position;
  return position->step_in_epoch > 0 || position->step == 0 ? position->epoch + 1 : position->epoch;
}

static double *set_metrics(const Trainer *trainer, int set) {
  return trainer->metrics + (set + 1) * trainer->model->metric_count;
}

static void put_metrics(FILE *file, const nnc_model *model, const char *set,
                        const double *metrics) {
  for (int i = 0; i < model->metric_count; i++) {
    if (!nnc_metric_is_told(model, i, strcmp(set, "train") == 0)) continue;
    fprintf(file, ",\"%s/%s\":", set, model->metric_names[i]);
    nnc_json_put_number(file, metrics[i]);
  }
}

/* What the schedules gave the last step: a step has other values of plateaus than the next. */
static void find_rates(Trainer *trainer) {
  const nnc_position *position = &trainer->position;
  const nnc_model *model = trainer->model;
  if (model->rate_count == 0 || position->step == 0) return;
  nnc_session_host(trainer->session, position->step, current_epoch(trainer) - 1,
                   position->schedule_steps, position->steps_per_epoch);
  for (int i = 0; i < model->rate_count; i++)
    trainer->rates[i] = trainer->session->scalars[model->rates[i].scalar];
}

static void put_rates(FILE *file, const Trainer *trainer) {
  for (int i = 0; i < trainer->model->rate_count; i++) {
    fputc(',', file);
    nnc_json_put_string(file, trainer->model->rates[i].name);
    fputc(':', file);
    nnc_json_put_number(file, trainer->rates[i]);
  }
}

static void put_steer(FILE *file, const nnc_steer *steer) {
  if (steer->best_of && steer->best.count > 0) {
    fputs(",\"best\":", file);
    nnc_json_put_number(file, steer->best.items[0].value);
    fprintf(file, ",\"best_step\":%lld", (long long)steer->best.items[0].step);
  }
  if (steer->stop_of) fprintf(file, ",\"bad_reports\":%lld", (long long)steer->bad);
  if (nnc_steer_stops(steer)) fputs(",\"stopped\":\"patience\"", file);
}

/* Files that were left out since the line before, of the sets that have some. */
static void put_skipped(FILE *file, const Trainer *trainer) {
  const nnc_evaluator *evaluator = &trainer->evaluator;
  bool is_open = false;
  for (int i = -1; i < evaluator->count; i++) {
    const nnc_data *data = i < 0 ? trainer->data : evaluator->sets[i].data;
    if (!data || nnc_skipped_count(nnc_data_skipped(data)) == 0) continue;
    fputs(is_open ? "," : ",\"skipped\":{", file);
    nnc_skipped_put(nnc_data_skipped(data), i < 0 ? "train" : evaluator->sets[i].name, file);
    is_open = true;
  }
  if (is_open) fputc('}', file);
}

/* In the first line that this process writes: what it was started with. */
static void put_command(FILE *file, const nnc_options *options) {
  for (int i = 0; i < options->word_count; i++) {
    fputs(i ? "," : ",\"command\":[", file);
    nnc_json_put_string(file, options->words[i]);
  }
  fputc(']', file);
}

static void write_log_line(FILE *file, void *context) {
  const Trainer *trainer = context;
  fprintf(file, "{\"epoch\":%lld,\"step\":%lld,\"seconds\":%.3f", (long long)current_epoch(trainer),
          (long long)trainer->position.step, trainer->seconds);
  if (trainer->model->option_count > 0) {
    fputs(",\"options\":", file);
    nnc_settings_put(file, &trainer->session->settings);
  }
  if (trainer->data_wait >= 0) fprintf(file, ",\"data_wait\":%.4f", trainer->data_wait);
  put_rates(file, trainer);
  put_metrics(file, trainer->model, "train", trainer->metrics);
  for (int i = 0; i < trainer->evaluator.count; i++)
    put_metrics(file, trainer->model, trainer->evaluator.sets[i].name, set_metrics(trainer, i));
  put_steer(file, &trainer->session->steer);
  put_skipped(file, trainer);
  nnc_trainer_put_classes(trainer, file);
  if (!trainer->has_told_command) put_command(file, trainer->options);
  fputc('}', file);
}

static void write_text(FILE *file, void *context) { fputs(context, file); }

/* The log, and events with the numbers of its line where they are wanted. */
static void log_report(Trainer *trainer) {
  char *line = NULL;
  size_t length;
  FILE *file = trainer->events.path ? open_memstream(&line, &length) : NULL;
  if (file) write_log_line(file, trainer);
  if (file && fclose(file) == 0) {
    nnc_log_write(&trainer->log, write_text, line);
    nnc_event_file_write(&trainer->events, line, length);
  } else nnc_log_write(&trainer->log, write_log_line, trainer);
  trainer->has_told_command = true;
  free(line);
}

static void show_report(Trainer *trainer) {
  double now = nnc_seconds_now();
  bool is_last = trainer->position.step == trainer->total_steps;
  if (!is_last && now - trainer->progress.reported < report_show_interval) return;
  char line[NNC_PROGRESS_LINE], prefix[64];
  size_t at = 0;
  if (trainer->total_epochs > 0)
    at = (size_t)snprintf(line, sizeof line, "epoch %lld/%lld", (long long)current_epoch(trainer),
                          (long long)trainer->total_epochs);
  if (trainer->total_epochs == 0 || trainer->validate_steps > 0) /* several reports an epoch */
    at += (size_t)snprintf(line + at, sizeof line - at, "%sstep %lld/%lld", at > 0 ? "  " : "",
                           (long long)trainer->position.step, (long long)trainer->total_steps);
  at = nnc_progress_metrics(line, at, trainer->model, "", trainer->metrics);
  for (int i = 0; i < trainer->evaluator.count; i++) {
    snprintf(prefix, sizeof prefix, "%s ", trainer->evaluator.sets[i].name);
    at = nnc_progress_metrics(line, at, trainer->model, prefix, set_metrics(trainer, i));
  }
  if (at < sizeof line)
    at += (size_t)snprintf(line + at, sizeof line - at, "%s  %.1f s",
                           trainer->is_best ? "  best" : "", trainer->seconds);
  if (at < sizeof line && trainer->data_wait >= 0)
    snprintf(line + at, sizeof line - at, "  data %.0f%%", trainer->data_wait * 100);
  nnc_progress_report(line);
  trainer->progress.reported = trainer->progress.shown = nnc_seconds_now();
}

/* Of a set that is reported; "train" is the period itself. */
static double metric_of(const Trainer *trainer, const char *set, int metric) {
  const double *metrics = trainer->metrics;
  for (int k = 0; k < trainer->evaluator.count; k++)
    if (strcmp(trainer->evaluator.sets[k].name, set) == 0) metrics = set_metrics(trainer, k);
  return metrics[metric];
}

/* A report at the end of a run may be one that would not have come in a longer one. */
static bool is_regular(const Trainer *trainer) {
  const nnc_position *position = &trainer->position;
  int64_t every = trainer->validate_steps;
  return position->step > 0 &&
         (every > 0 ? position->step % every == 0 : position->step_in_epoch == 0);
}

/* A report that is not regular does not count, so that a run in parts goes as one at a stretch. */
static void advance_plateaus(Trainer *trainer) {
  const nnc_model *model = trainer->model;
  for (int i = 0; i < model->plateau_count && is_regular(trainer); i++) {
    const nnc_plateau *plateau = &model->plateaus[i];
    nnc_plateau_advance(&trainer->session->plateaus, i,
                        metric_of(trainer, plateau->set, plateau->metric));
  }
}

/* For the best every report counts: it tells of weights that are there to be kept. */
void nnc_trainer_watch(Trainer *trainer) {
  nnc_steer *steer = &trainer->session->steer;
  const nnc_watch *best = steer->best_of, *stop = steer->stop_of;
  nnc_moment mark = {.step = trainer->position.step, .epoch = current_epoch(trainer)};
  trainer->is_best = false;
  if (best && mark.step > 0) {
    mark.value = metric_of(trainer, best->set, best->metric);
    trainer->is_best = nnc_steer_best(steer, mark);
  }
  if (!stop || !is_regular(trainer)) return;
  mark.value = metric_of(trainer, stop->set, stop->metric);
  nnc_steer_wait(steer, mark);
}

/* The loss of the first set that is evaluated, else of training. */
static void note_least(Trainer *trainer) {
  if (trainer->model->metric_count == 0 || trainer->position.step == 0) return;
  double loss = trainer->evaluator.count > 0 ? set_metrics(trainer, 0)[0] : trainer->metrics[0];
  trainer->reports++;
  if (isnan(loss)) return; /* it is never the best */
  if (trainer->least.step == 0 || loss < trainer->least.value)
    trainer->least = (nnc_moment){loss, trainer->position.step, current_epoch(trainer)};
}

void nnc_trainer_follow(Trainer *trainer, bool goes_on) {
  const nnc_marks *best = &trainer->session->steer.best;
  char path[NNC_KEPT_PATH];
  double now = nnc_seconds_now();
  if (!trainer->page || (goes_on && now - trainer->page_time < page_interval)) return;
  nnc_followed_run run = {.page = trainer->page, .log = trainer->log_path, .goes_on = goes_on};
  if (trainer->session->steer.best_of && best->count > 0) {
    run.best = nnc_trainer_best_path(trainer, path);
    run.best_step = best->items[0].step;
  }
  if (trainer->saved_step >= 0) {
    run.last = trainer->session->checkpoint;
    run.last_step = trainer->saved_step;
  }
  if (!trainer->model->report->follow(trainer->session, &run))
    nnc_warning("the page is not written; training goes on");
  trainer->page_time = nnc_seconds_now();
}

void nnc_trainer_begin_period(Trainer *trainer) {
  trainer->period_start = nnc_seconds_now();
  trainer->period_waited = trainer->loader ? nnc_loader_waited(trainer->loader) : 0;
  trainer->data_wait = -1;
}

/* Validation, which comes now, is no part of the period. */
static void end_period(Trainer *trainer) {
  double taken = nnc_seconds_now() - trainer->period_start;
  if (!trainer->progress.loader || taken <= 0) return;
  trainer->data_wait = (nnc_loader_waited(trainer->loader) - trainer->period_waited) / taken;
  nnc_data_advise(trainer->data, trainer->data_wait, taken);
}

bool nnc_trainer_report(Trainer *trainer) {
  end_period(trainer);
  for (int i = 0; i < trainer->evaluator.count; i++)
    if (!nnc_trainer_watch_classes(trainer, i) ||
        !nnc_evaluator_run(&trainer->evaluator, i, set_metrics(trainer, i)))
      return false;
  trainer->seconds = nnc_seconds_now() - trainer->start;
  nnc_tally_metrics(&trainer->tally, trainer->model, &trainer->model->train, trainer->metrics);
  find_rates(trainer);
  advance_plateaus(trainer);
  nnc_trainer_watch(trainer);
  if (!trainer->is_replay) {
    note_least(trainer);
    log_report(trainer);
    nnc_trainer_follow(trainer, true);
    show_report(trainer);
  }
  nnc_tally_reset(&trainer->tally);
  trainer->position.report_is_due = false;
  nnc_progress_restart(&trainer->progress, trainer->position.step);
  nnc_trainer_begin_period(trainer);
  return true;
}

void nnc_trainer_show_step(Trainer *trainer) {
  if (!nnc_progress_is_due(&trainer->progress)) return;
  nnc_tally_metrics(&trainer->tally, trainer->model, &trainer->model->train, trainer->metrics);
  nnc_progress_place place = {current_epoch(trainer),
                              trainer->total_epochs,
                              trainer->position.step,
                              trainer->total_steps,
                              nnc_trainer_examples_per_step(trainer),
                              NULL};
  find_rates(trainer);
  if (trainer->model->rate_count > 0) place.rate = trainer->rates;
  nnc_progress_step(&trainer->progress, trainer->model, &place, trainer->metrics);
}

/* --- Saving --------------------------------------------------------------------------------- */

enum { PIECE = NNC_BUFFER(1 << 16, 8) }; /* of a parameter that is looked through */

/* *value: the first element that is not. */
static bool tensor_is_finite(const nnc_device *device, const nnc_tensor *tensor, double *value) {
  char values[PIECE];
  int64_t elements = nnc_tensor_elements(tensor), most = PIECE / nnc_dtype_size(tensor->dtype);
  for (int64_t from = 0, count; from < elements; from += count) {
    count = elements - from < most ? elements - from : most;
    nnc_device_read(device, tensor, from, count, values);
    for (int64_t i = 0; i < count; i++)
      if (!isfinite(*value = nnc_number_get(tensor->dtype, values, i))) return false;
  }
  return true;
}

/* A parameter that holds NaN or infinity must not replace a good checkpoint. */
static bool parameters_are_finite(Trainer *trainer) {
  for (int i = 0; i < trainer->model->variable_count; i++) {
    const nnc_variable *variable = &trainer->model->variables[i];
    const nnc_tensor *tensor = &variable->tensor;
    if (variable->kind != NNC_PARAM || !nnc_dtype_is_float(tensor->dtype)) continue;
    double value;
    if (tensor_is_finite(trainer->session->device, tensor, &value)) continue;
    nnc_error("step %lld: parameter %s holds %g; not saved", (long long)trainer->position.step,
              tensor->name, nnc_number_told(value));
    if (trainer->failed_step == 0) trainer->failed_step = trainer->position.step;
    return false;
  }
  return true;
}

bool nnc_trainer_may_save(const Trainer *trainer) {
  return trainer->has_stepped || trainer->resumes_own;
}

/* Is the checkpoint of this step one of those that are kept? */
static bool is_kept(const Trainer *trainer, bool was_reported) {
  const nnc_interval *every = &trainer->save_every;
  const nnc_position *position = &trainer->position;
  if (every->steps > 0) return position->step % every->steps == 0;
  if (every->epochs > 0)
    return position->step_in_epoch == 0 && position->epoch % every->epochs == 0;
  if (every->minutes == 0) return was_reported;
  return nnc_seconds_now() - trainer->save_time >= minute * (double)every->minutes;
}

void nnc_trainer_choose_kept(Trainer *trainer, bool was_reported) {
  trainer->keep_is_due = nnc_trainer_may_save(trainer) && trainer->session->steer.kept.limit > 0 &&
                         is_kept(trainer, was_reported);
}

bool nnc_trainer_save(Trainer *trainer) {
  nnc_position *position = &trainer->position;
  nnc_steer *steer = &trainer->session->steer;
  if (trainer->saved_step == position->step && !trainer->save_has_failed) return true;
  nnc_trainer_put_aside(trainer);
  if (trainer->keep_is_due)
    nnc_steer_keep(steer, (nnc_moment){.step = position->step, .epoch = current_epoch(trainer)});
  trainer->save_has_failed =
      (!trainer->options->keep_going && !parameters_are_finite(trainer)) ||
      !nnc_checkpoint_save(trainer->session, trainer->session->checkpoint, trainer->keep_path,
                           NNC_EVERYTHING, position, &trainer->tally);
  trainer->save_time = nnc_seconds_now();
  nnc_progress_restart(&trainer->progress, position->step);
  if (trainer->save_has_failed) {
    nnc_trainer_retract_kept(trainer);
    return false;
  }
  trainer->saved_step = position->step;
  free(trainer->keep_path);
  trainer->keep_path = NULL;
  nnc_trainer_publish_kept(trainer);
  return true;
}

bool nnc_trainer_save_is_due(const Trainer *trainer, bool was_reported) {
  const nnc_interval *every = &trainer->save_every;
  bool has_interval = every->steps > 0 || every->epochs > 0 || every->minutes > 0;
  if (!nnc_trainer_may_save(trainer)) return false;
  if (trainer->keep_is_due || (was_reported && trainer->is_best)) return true;
  if (has_interval) return is_kept(trainer, was_reported);
  double age = nnc_seconds_now() - trainer->save_time;
  return age >= save_interval || (was_reported && age >= report_save_interval);
}
