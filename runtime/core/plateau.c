/* Plateaus: see plateau.h. The rule is that of PyTorch's ReduceLROnPlateau. */
#include "core/plateau.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "os/assert.h"

static void reset(nnc_plateaus *plateaus) {
  for (int i = 0; i < plateaus->model->plateau_count; i++) {
    const nnc_plateau *plateau = &plateaus->model->plateaus[i];
    plateaus->states[i] = (nnc_plateau_state){.value = plateau->start,
                                              .best = plateau->is_max ? -INFINITY : INFINITY};
  }
}

bool nnc_plateaus_open(nnc_plateaus *plateaus, const nnc_model *model) {
  plateaus->model = model;
  plateaus->states = calloc((size_t)model->plateau_count + 1, sizeof *plateaus->states);
  if (plateaus->states) reset(plateaus);
  return plateaus->states != NULL;
}

void nnc_plateaus_close(nnc_plateaus *plateaus) { free(plateaus->states); }

/* A metric that is no number is no improvement. */
static bool is_better(const nnc_plateau *plateau, double metric, double best) {
  double margin = plateau->threshold;
  if (plateau->is_relative && plateau->is_max) return metric > best * (1 + margin);
  if (plateau->is_relative) return metric < best * (1 - margin);
  return plateau->is_max ? metric > best + margin : metric < best - margin;
}

void nnc_plateau_advance(nnc_plateaus *plateaus, int i, double metric) {
  NNC_ASSERT(i >= 0 && i < plateaus->model->plateau_count);
  const nnc_plateau *plateau = &plateaus->model->plateaus[i];
  nnc_plateau_state *state = &plateaus->states[i];
  bool better = is_better(plateau, metric, state->best);
  if (better) state->best = metric;
  state->bad = better ? 0 : state->bad + 1;
  if (state->resting > 0) {
    state->resting--;
    state->bad = 0;
  }
  if (state->bad <= plateau->patience) return;
  double lower = fmax(state->value * plateau->factor, plateau->floor);
  if (state->value - lower > plateau->least) state->value = lower;
  state->resting = plateau->cooldown;
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
  }
  if (fclose(file) == 0) return text;
  free(text);
  return NULL;
}

bool nnc_plateaus_parse(nnc_plateaus *plateaus, const char *text) {
  bool good = true;
  for (int i = 0; i < plateaus->model->plateau_count && good; i++) {
    nnc_plateau_state *state = &plateaus->states[i];
    int length = 0;
    good = sscanf(text, "%lf %lf %" SCNd64 " %" SCNd64 "%n", &state->value, &state->best,
                  &state->bad, &state->resting, &length) == 4 &&
           isfinite(state->value) && state->bad >= 0 && state->resting >= 0;
    text += length;
  }
  if (good && *text == '\0') return true;
  reset(plateaus);
  return false;
}
