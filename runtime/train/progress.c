/* Progress on stderr: ten times a second in place on a terminal, a line in five seconds
 * elsewhere. */
#include "train/progress.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/tally.h"
#include "os/assert.h"
#include "os/clock.h"
#include "os/memory.h"
#include "os/message.h"

static const double live_interval = 0.1, plain_interval = 5;
static const double least_period = 0.3, rate_period = 3; /* seconds that a rate is taken over */

static double waited(const nnc_progress *progress) {
  return progress->loader ? nnc_loader_waited(progress->loader) : 0;
}

void nnc_progress_start(nnc_progress *progress, int64_t step, const nnc_loader *loader) {
  double now = nnc_seconds_now();
  *progress = (nnc_progress){.shown = now,
                             .reported = -HUGE_VAL,
                             .period_start = now,
                             .period_step = step,
                             .loader = loader};
  progress->period_waited = waited(progress);
}

void nnc_progress_restart(nnc_progress *progress, int64_t step) {
  progress->period_start = nnc_seconds_now();
  progress->period_step = step;
  progress->period_waited = waited(progress);
}

bool nnc_progress_is_due(const nnc_progress *progress) {
  double interval = nnc_progress_is_live() ? live_interval : plain_interval;
  return !nnc_message_is_quiet() && nnc_seconds_now() - progress->shown >= interval;
}

__attribute__((format(printf, 3, 4))) static size_t append(char line[NNC_PROGRESS_LINE], size_t at,
                                                           const char *format, ...) {
  va_list arguments;
  NNC_ASSERT(at < NNC_PROGRESS_LINE);
  if (at + 1 >= NNC_PROGRESS_LINE) return at;
  va_start(arguments, format);
  int length = vsnprintf(line + at, NNC_PROGRESS_LINE - at, format, arguments);
  va_end(arguments);
  if (length < 0) return at;
  return at + (size_t)length < NNC_PROGRESS_LINE ? at + (size_t)length : NNC_PROGRESS_LINE - 1;
}

/* Without the elements of lists, which are many: the log has them. */
static size_t append_metrics(char line[NNC_PROGRESS_LINE], size_t at, const nnc_model *model,
                             int count, const char *prefix, const double *metrics) {
  for (int i = 0; i < count; i++)
    if (nnc_metric_is_told(model, i, *prefix == '\0') && nnc_metric_list(model, i) == 0)
      at = append(line, at, "  %s%s %.4g", prefix, model->metric_names[i], metrics[i]);
  return at;
}

size_t nnc_progress_metrics(char line[NNC_PROGRESS_LINE], size_t at, const nnc_model *model,
                            const char *prefix, const double *metrics) {
  return append_metrics(line, at, model, model->metric_count, prefix, metrics);
}

static void update_rate(nnc_progress *progress, int64_t step) {
  double now = nnc_seconds_now(), taken = now - progress->period_start;
  if (taken <= 0) return;
  if (progress->rate == 0 || taken >= least_period) {
    progress->rate = (double)(step - progress->period_step) / taken;
    progress->data_wait = (waited(progress) - progress->period_waited) / taken;
  }
  if (taken >= rate_period) nnc_progress_restart(progress, step);
}

static size_t append_left(char line[NNC_PROGRESS_LINE], size_t at, double seconds) {
  if (!(seconds < 1e7)) return at;
  long whole = lround(seconds);
  if (whole < 3600) return append(line, at, "  %ld:%02ld left", whole / 60, whole % 60);
  return append(line, at, "  %ld:%02ld:%02ld left", whole / 3600, whole / 60 % 60, whole % 60);
}

static size_t append_memory(char line[NNC_PROGRESS_LINE], size_t at) {
  char text[NNC_FORMAT_BYTES];
  int64_t bytes = nnc_memory_resident();
  return bytes < 0 ? at : append(line, at, "  %s", nnc_format_bytes(text, (double)bytes));
}

/* What a line has room for. */
typedef struct Room {
  int metrics; /* the first ones */
  bool rate, memory;
} Room;

static void make_line(char line[NNC_PROGRESS_LINE], const nnc_model *model,
                      const nnc_progress_place *place, const nnc_progress *progress,
                      const double *metrics, Room room) {
  size_t at = 0;
  if (place->epochs > 0)
    at = append(line, at, "epoch %lld/%lld  ", (long long)place->epoch, (long long)place->epochs);
  at = append(line, at, "step %lld/%lld", (long long)place->step, (long long)place->steps);
  at = append_metrics(line, at, model, room.metrics, "", metrics);
  double rate = progress->rate;
  if (room.rate && place->rate) at = append(line, at, "  rate %.4g", *place->rate);
  at = append(line, at, "  %.0f examples/s", rate * (double)place->examples_per_step);
  if (progress->loader) at = append(line, at, "  data %.0f%%", progress->data_wait * 100);
  if (room.memory) at = append_memory(line, at);
  double left = rate > 0 ? (double)(place->steps - place->step) / rate : -1;
  if (left >= 0) append_left(line, at, left);
}

/* What does not fit beside the time left is not shown, memory first, then the learning rate and metrics: a longer line
 * would scroll. */
void nnc_progress_step(nnc_progress *progress, const nnc_model *model,
                       const nnc_progress_place *place, const double *metrics) {
  char line[NNC_PROGRESS_LINE];
  update_rate(progress, place->step);
  int count = model->metric_count;
  int columns = nnc_progress_is_live() ? nnc_progress_columns() : NNC_PROGRESS_LINE;
  make_line(line, model, place, progress, metrics, (Room){count, true, true});
  if (nnc_progress_width(line) >= columns)
    make_line(line, model, place, progress, metrics, (Room){count, true, false});
  for (; nnc_progress_width(line) >= columns && count >= 0; count--)
    make_line(line, model, place, progress, metrics, (Room){count, false, false});
  nnc_progress_show(line);
  progress->shown = nnc_seconds_now();
}
