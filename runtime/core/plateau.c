/* Plateaus: see plateau.h. The rule is that of PyTorch's ReduceLROnPlateau. */
#include "core/plateau.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "os/assert.h"
#include "os/message.h"

static void begin(nnc_plateaus *plateaus, int i) {
  nnc_plateau_state *state = &plateaus->states[i];
  state->value = state->numbers[NNC_PLATEAU_START];
  state->best = plateaus->model->plateaus[i].is_max ? -INFINITY : INFINITY;
  state->bad = state->resting = 0;
}

static void reset(nnc_plateaus *plateaus) {
  for (int i = 0; i < plateaus->model->plateau_count; i++) begin(plateaus, i);
}

/* What the compiler holds constants to (compiler/elaborate/builtins/plateau.c). */
static const struct {
  const char *what;
  double least, most;
  bool is_whole;
  const char *wanted;
} rules[NNC_PLATEAU_PARTS] = {
    [NNC_PLATEAU_START] = {"start", -DBL_MAX, DBL_MAX, false, "a finite number"},
    [NNC_PLATEAU_FACTOR] = {"factor", DBL_TRUE_MIN, 1 - DBL_EPSILON / 2, false, "between 0 and 1"},
    [NNC_PLATEAU_PATIENCE] = {"patience", 0, INT32_MAX, true, "a whole number of reports"},
    [NNC_PLATEAU_THRESHOLD] = {"threshold", 0, DBL_MAX, false, "a finite number from 0"},
    [NNC_PLATEAU_COOLDOWN] = {"cooldown", 0, INT32_MAX, true, "a whole number of reports"},
    [NNC_PLATEAU_FLOOR] = {"floor", -DBL_MAX, DBL_MAX, false, "a finite number"},
    [NNC_PLATEAU_LEAST] = {"least", 0, DBL_MAX, false, "a finite number from 0"}};

static const char *find_fault(const double *numbers, int *part) {
  for (*part = 0; *part < NNC_PLATEAU_PARTS; ++*part) {
    double number = numbers[*part];
    bool is_within = number >= rules[*part].least && number <= rules[*part].most;
    if (!is_within || (rules[*part].is_whole && number != floor(number))) return rules[*part].what;
  }
  return NULL;
}

bool nnc_plateaus_check(const nnc_plateaus *plateaus) {
  const nnc_model *model = plateaus->model;
  for (int i = 0; i < model->plateau_count; i++) {
    int part;
    const nnc_plateau *plateau = &model->plateaus[i];
    const char *what = find_fault(plateaus->states[i].numbers, &part);
    if (!what) continue;
    nnc_error("the %s of the plateau of %s.%s must be %s, but the options give %g", what,
              plateau->set, model->metric_names[plateau->metric], rules[part].wanted,
              plateaus->states[i].numbers[part]);
    return false;
  }
  return true;
}

void nnc_plateaus_take(nnc_plateaus *plateaus, const double *scalars) {
  for (int i = 0; i < plateaus->model->plateau_count; i++)
    for (int part = 0; part < NNC_PLATEAU_PARTS; part++) {
      int scalar = plateaus->model->plateaus[i].numbers[part].scalar;
      if (scalar > 0) plateaus->states[i].numbers[part] = scalars[scalar - 1];
    }
  reset(plateaus);
}

bool nnc_plateaus_open(nnc_plateaus *plateaus, const nnc_model *model) {
  plateaus->model = model;
  plateaus->begun_anew = -1;
  plateaus->states = calloc((size_t)model->plateau_count + 1, sizeof *plateaus->states);
  if (!plateaus->states) return false;
  for (int i = 0; i < model->plateau_count; i++)
    for (int part = 0; part < NNC_PLATEAU_PARTS; part++)
      plateaus->states[i].numbers[part] = model->plateaus[i].numbers[part].value;
  reset(plateaus);
  return true;
}

void nnc_plateaus_close(nnc_plateaus *plateaus) { free(plateaus->states); }

/* A metric that is no number is no improvement. */
static bool is_better(const nnc_plateau *plateau, double margin, double metric, double best) {
  if (plateau->is_relative && plateau->is_max) return metric > best * (1 + margin);
  if (plateau->is_relative) return metric < best * (1 - margin);
  return plateau->is_max ? metric > best + margin : metric < best - margin;
}

void nnc_plateau_advance(nnc_plateaus *plateaus, int i, double metric) {
  NNC_ASSERT(i >= 0 && i < plateaus->model->plateau_count);
  const nnc_plateau *plateau = &plateaus->model->plateaus[i];
  nnc_plateau_state *state = &plateaus->states[i];
  const double *numbers = state->numbers;
  bool better = is_better(plateau, numbers[NNC_PLATEAU_THRESHOLD], metric, state->best);
  if (better) state->best = metric;
  state->bad = better ? 0 : state->bad + 1;
  if (state->resting > 0) {
    state->resting--;
    state->bad = 0;
  }
  if ((double)state->bad <= numbers[NNC_PLATEAU_PATIENCE]) return;
  double lower = fmax(state->value * numbers[NNC_PLATEAU_FACTOR], numbers[NNC_PLATEAU_FLOOR]);
  if (state->value - lower > numbers[NNC_PLATEAU_LEAST]) state->value = lower;
  state->resting = (int64_t)numbers[NNC_PLATEAU_COOLDOWN];
  state->bad = 0;
}

char *nnc_plateaus_format(const nnc_plateaus *plateaus) {
  char *text = NULL;
  size_t size;
  FILE *file = open_memstream(&text, &size);
  if (!file) return NULL;
  for (int i = 0; i < plateaus->model->plateau_count; i++) {
    const nnc_plateau_state *state = &plateaus->states[i];
    fprintf(file, "%s%.17g %.17g %" PRId64 " %" PRId64, i ? " " : "", state->value, state->best,
            state->bad, state->resting);
    if (plateaus->model->plateaus[i].numbers[NNC_PLATEAU_START].scalar)
      fprintf(file, " %.17g", state->numbers[NNC_PLATEAU_START]);
  }
  if (fclose(file) == 0) return text;
  free(text);
  return NULL;
}

/* Where options give another start now, the schedule begins anew from there. */
static bool read_start(nnc_plateaus *plateaus, int i, const char **text) {
  double start;
  int length = 0;
  if (sscanf(*text, "%lf%n", &start, &length) != 1) return false;
  *text += length;
  if (start == plateaus->states[i].numbers[NNC_PLATEAU_START]) return true;
  if (plateaus->begun_anew < 0) plateaus->begun_anew = i;
  begin(plateaus, i);
  return true;
}

bool nnc_plateaus_parse(nnc_plateaus *plateaus, const char *text) {
  bool good = true;
  plateaus->begun_anew = -1;
  for (int i = 0; i < plateaus->model->plateau_count && good; i++) {
    nnc_plateau_state *state = &plateaus->states[i];
    int length = 0;
    good = sscanf(text, "%lf %lf %" SCNd64 " %" SCNd64 "%n", &state->value, &state->best,
                  &state->bad, &state->resting, &length) == 4 &&
           isfinite(state->value) && state->bad >= 0 && state->resting >= 0;
    text += length;
    if (good && plateaus->model->plateaus[i].numbers[NNC_PLATEAU_START].scalar)
      good = read_start(plateaus, i, &text);
  }
  if (good && *text == '\0') return true;
  reset(plateaus);
  return false;
}
