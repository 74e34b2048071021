/* The rules and the texts of steer.h. Of equal reports the first is the better one, so that a run that is
 * resumed decides as one that was not. */
#include "core/steer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/assert.h"
#include "os/message.h"

static bool marks_open(nnc_marks *marks) {
  marks->items = calloc(NNC_MOST_KEPT + 2, sizeof *marks->items);
  if (!marks->items) nnc_error("cannot allocate a list of checkpoints");
  return marks->items != NULL;
}

void nnc_steer_limit(nnc_steer *steer, const nnc_run_flags *flags) {
  steer->best.limit = steer->best_of ? steer->best_of->count : 0;
  steer->kept.limit = flags->keep >= 0 ? flags->keep : steer->model->keep;
  steer->patience = flags->patience >= 0 ? flags->patience
                    : steer->stop_of     ? steer->stop_of->count
                                         : 0;
}

bool nnc_steer_open(nnc_steer *steer, const nnc_model *model, const nnc_run_flags *flags) {
  *steer = (nnc_steer){.model = model};
  for (int i = 0; i < model->watch_count; i++) {
    const nnc_watch *watch = &model->watches[i];
    *(watch->kind == NNC_WATCH_BEST ? &steer->best_of : &steer->stop_of) = watch;
  }
  nnc_steer_limit(steer, flags);
  return marks_open(&steer->best) && marks_open(&steer->kept);
}

void nnc_steer_close(nnc_steer *steer) {
  free(steer->best.items);
  free(steer->kept.items);
}

/* ---- lists --------------------------------------------------------------------------------- */

const nnc_moment *nnc_marks_find(const nnc_marks *marks, int64_t step) {
  for (int64_t i = 0; i < marks->count && i < marks->limit; i++)
    if (marks->items[i].step == step) return &marks->items[i];
  return NULL;
}

void nnc_marks_retract(nnc_marks *marks, int64_t step) {
  int64_t count = 0;
  for (int64_t i = 0; i < marks->count; i++)
    if (marks->items[i].step != step) marks->items[count++] = marks->items[i];
  marks->count = count;
}

void nnc_marks_clear(nnc_marks *marks) { marks->count = 0; }

void nnc_marks_trim(nnc_marks *marks) {
  if (marks->count > marks->limit + 1) marks->count = marks->limit + 1;
}

/* What had fallen out before is forgotten. */
static void insert(nnc_marks *marks, int64_t at, nnc_moment mark) {
  NNC_ASSERT(at >= 0 && at <= marks->count && at < marks->limit);
  if (marks->count > marks->limit) marks->count = marks->limit;
  for (int64_t i = marks->count; i > at; i--) marks->items[i] = marks->items[i - 1];
  marks->items[at] = mark;
  marks->count++;
}

/* ---- rules --------------------------------------------------------------------------------- */

/* A metric that is no number is no improvement. */
static bool is_better(const nnc_watch *watch, double value, double best, double margin) {
  return watch->is_max ? value > best + margin : value < best - margin;
}

bool nnc_steer_best(nnc_steer *steer, nnc_moment report) {
  nnc_marks *best = &steer->best;
  int64_t at = best->count < best->limit ? best->count : best->limit;
  NNC_ASSERT(steer->best_of);
  if (isnan(report.value)) return false;
  while (at > 0 && is_better(steer->best_of, report.value, best->items[at - 1].value, 0)) at--;
  if (at >= best->limit) return false;
  insert(best, at, report);
  return true;
}

void nnc_steer_wait(nnc_steer *steer, nnc_moment report) {
  const nnc_watch *watch = steer->stop_of;
  NNC_ASSERT(watch);
  bool is_first = steer->good.step == 0 && !isnan(report.value);
  bool better = is_first || is_better(watch, report.value, steer->good.value, watch->threshold);
  if (better) steer->good = report;
  steer->bad = better ? 0 : steer->bad + 1;
}

bool nnc_steer_stops(const nnc_steer *steer) {
  return steer->stop_of && steer->patience > 0 && steer->bad >= steer->patience;
}

void nnc_steer_keep(nnc_steer *steer, nnc_moment checkpoint) {
  nnc_marks *kept = &steer->kept;
  if (kept->limit > 0 && !nnc_marks_find(kept, checkpoint.step)) insert(kept, 0, checkpoint);
}

/* ---- texts --------------------------------------------------------------------------------- */

const char *nnc_watch_name(char name[NNC_WATCH_NAME], const nnc_model *model,
                           const nnc_watch *watch) {
  snprintf(name, NNC_WATCH_NAME, "%s.%s", watch->set, model->metric_names[watch->metric]);
  return name;
}

/* "val.loss min", which tells whether a text is of this program. */
static int put_name(FILE *file, const nnc_steer *steer, const nnc_watch *watch) {
  char name[NNC_WATCH_NAME];
  nnc_watch_name(name, steer->model, watch);
  return fprintf(file, "%s %s", name, watch->is_max ? "max" : "min");
}

static void put_mark(FILE *file, const nnc_moment *mark) {
  fprintf(file, " %.17g %" PRId64 " %" PRId64, mark->value, mark->step, mark->epoch);
}

static void put_best(FILE *file, const nnc_steer *steer) {
  put_name(file, steer, steer->best_of);
  for (int64_t i = 0; i < steer->best.count; i++) put_mark(file, &steer->best.items[i]);
}

static void put_stop(FILE *file, const nnc_steer *steer) {
  put_name(file, steer, steer->stop_of);
  fprintf(file, " %" PRId64, steer->bad);
  put_mark(file, &steer->good);
}

static void put_kept(FILE *file, const nnc_steer *steer) {
  for (int64_t i = 0; i < steer->kept.count; i++)
    fprintf(file, "%s%" PRId64, i ? " " : "", steer->kept.items[i].step);
}

static bool put_text(char **text, const nnc_steer *steer,
                     void (*put)(FILE *file, const nnc_steer *steer)) {
  size_t size;
  FILE *file = open_memstream(text, &size);
  if (!file) return false;
  put(file, steer);
  if (fclose(file) == 0) return true;
  free(*text);
  *text = NULL;
  return false;
}

bool nnc_steer_format(const nnc_steer *steer, nnc_steer_texts *texts) {
  *texts = (nnc_steer_texts){0};
  return (!steer->best_of || put_text(&texts->best, steer, put_best)) &&
         (!steer->stop_of || put_text(&texts->stop, steer, put_stop)) &&
         (steer->kept.limit == 0 || put_text(&texts->kept, steer, put_kept));
}

void nnc_steer_texts_free(nnc_steer_texts *texts) {
  free(texts->best);
  free(texts->stop);
  free(texts->kept);
}

/* The text after "val.loss min"; NULL when it is of something else. */
static const char *skip_name(const nnc_steer *steer, const nnc_watch *watch, const char *text) {
  char name[NNC_WATCH_NAME + 8];
  nnc_watch_name(name, steer->model, watch);
  strcat(name, watch->is_max ? " max" : " min");
  size_t length = strlen(name);
  bool is_same =
      text && strncmp(text, name, length) == 0 && (text[length] == ' ' || text[length] == '\0');
  return is_same ? text + length : NULL;
}

static bool take_mark(const char **text, nnc_moment *mark) {
  int length = 0;
  if (sscanf(*text, "%lf %" SCNd64 " %" SCNd64 "%n", &mark->value, &mark->step, &mark->epoch,
             &length) != 3 ||
      mark->step < 0 || mark->epoch < 0 || isnan(mark->value))
    return false;
  *text += length;
  return true;
}

/* They may be more than are kept now, when the run kept more. */
static void add_last(nnc_marks *marks, nnc_moment mark) { marks->items[marks->count++] = mark; }

bool nnc_steer_parse_best(nnc_steer *steer, const char *text) {
  nnc_moment mark;
  nnc_marks_clear(&steer->best);
  text = skip_name(steer, steer->best_of, text);
  while (text && *text) {
    if (steer->best.count > NNC_MOST_KEPT || !take_mark(&text, &mark)) text = NULL;
    else add_last(&steer->best, mark);
  }
  if (!text) nnc_marks_clear(&steer->best);
  return text != NULL;
}

bool nnc_steer_parse_stop(nnc_steer *steer, const char *text) {
  int length = 0;
  text = skip_name(steer, steer->stop_of, text);
  bool good = text && sscanf(text, "%" SCNd64 "%n", &steer->bad, &length) == 1 && steer->bad >= 0;
  if (good) {
    text += length;
    good = take_mark(&text, &steer->good) && *text == '\0';
  }
  if (good) return true;
  steer->good = (nnc_moment){0};
  steer->bad = 0;
  return false;
}

bool nnc_steer_parse_kept(nnc_steer *steer, const char *text) {
  nnc_marks_clear(&steer->kept);
  while (*text) {
    nnc_moment mark = {0};
    int length = 0;
    if (sscanf(text, "%" SCNd64 "%n", &mark.step, &length) != 1 || mark.step < 0 ||
        steer->kept.count > NNC_MOST_KEPT) {
      nnc_marks_clear(&steer->kept);
      return false;
    }
    text += length;
    add_last(&steer->kept, mark);
  }
  return true;
}
