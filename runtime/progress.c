/* Progress on stderr: ten times a second in place on a terminal, a line in five seconds
 * elsewhere. */
#include "progress.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "message.h"

static const double live_interval = 0.1, plain_interval = 5;
static const double least_period = 0.3, rate_period = 3; /* seconds that a rate is taken over */

double nnc_seconds_now(void) {
  struct timespec now;
  if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return 0;
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void nnc_progress_start(nnc_progress *progress, int64_t step) {
  double now = nnc_seconds_now();
  *progress = (nnc_progress){.shown = now, .reported = -HUGE_VAL, .period_start = now,
                             .period_step = step};
}

void nnc_progress_restart(nnc_progress *progress, int64_t step) {
  progress->period_start = nnc_seconds_now();
  progress->period_step = step;
}

bool nnc_progress_is_due(const nnc_progress *progress) {
  double interval = nnc_progress_is_live() ? live_interval : plain_interval;
  return !nnc_message_is_quiet() && nnc_seconds_now() - progress->shown >= interval;
}

__attribute__((format(printf, 3, 4)))
static size_t append(char line[NNC_PROGRESS_LINE], size_t at, const char *format, ...) {
  va_list arguments;
  if (at + 1 >= NNC_PROGRESS_LINE) return at;
  va_start(arguments, format);
  int length = vsnprintf(line + at, NNC_PROGRESS_LINE - at, format, arguments);
  va_end(arguments);
  if (length < 0) return at;
  return at + (size_t)length < NNC_PROGRESS_LINE ? at + (size_t)length : NNC_PROGRESS_LINE - 1;
}

size_t nnc_progress_metrics(char line[NNC_PROGRESS_LINE], size_t at, const nnc_model *model,
                            const char *prefix, const double *metrics) {
  for (int i = 0; i < model->metric_count; i++)
    at = append(line, at, "  %s%s %.4g", prefix, model->metric_names[i], metrics[i]);
  return at;
}

static void update_rate(nnc_progress *progress, int64_t step) {
  double now = nnc_seconds_now(), taken = now - progress->period_start;
  if (taken <= 0) return;
  if (progress->rate == 0 || taken >= least_period)
    progress->rate = (double)(step - progress->period_step) / taken;
  if (taken >= rate_period) nnc_progress_restart(progress, step);
}

static size_t append_left(char line[NNC_PROGRESS_LINE], size_t at, double seconds) {
  if (!(seconds < 1e7)) return at;
  long whole = lround(seconds);
  if (whole < 3600) return append(line, at, "  %ld:%02ld left", whole / 60, whole % 60);
  return append(line, at, "  %ld:%02ld:%02ld left", whole / 3600, whole / 60 % 60, whole % 60);
}

void nnc_progress_step(nnc_progress *progress, const nnc_model *model, int64_t epoch,
                       int64_t epochs, int64_t step, int64_t steps, int64_t examples_per_step,
                       const double *metrics) {
  char line[NNC_PROGRESS_LINE];
  size_t at = 0;
  update_rate(progress, step);
  if (epochs > 0) at = append(line, at, "epoch %lld/%lld  ", (long long)epoch, (long long)epochs);
  at = append(line, at, "step %lld/%lld", (long long)step, (long long)steps);
  at = nnc_progress_metrics(line, at, model, "", metrics);
  at = append(line, at, "  %.0f examples/s", progress->rate * (double)examples_per_step);
  if (progress->rate > 0) append_left(line, at, (double)(steps - step) / progress->rate);
  nnc_progress_show(line);
  progress->shown = nnc_seconds_now();
}
