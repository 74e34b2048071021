/* Plateaus: see plateau.h. The rule is that of PyTorch's ReduceLROnPlateau. */
#include "core/plateau.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void nnc_plateaus_reset(nnc_session *session) {
  for (int i = 0; i < session->model->plateau_count; i++) {
    const nnc_plateau *plateau = &session->model->plateaus[i];
    session->plateaus[i] = (nnc_plateau_state){.value = plateau->start,
                                               .best = plateau->is_max ? -INFINITY : INFINITY};
  }
}

/* A metric that is no number is no improvement. */
static bool is_better(const nnc_plateau *plateau, double metric, double best) {
  double margin = plateau->threshold;
  if (plateau->is_relative && plateau->is_max) return metric > best * (1 + margin);
  if (plateau->is_relative) return metric < best * (1 - margin);
  return plateau->is_max ? metric > best + margin : metric < best - margin;
}

void nnc_plateau_advance(nnc_session *session, int i, double metric) {
  const nnc_plateau *plateau = &session->model->plateaus[i];
  nnc_plateau_state *state = &session->plateaus[i];
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

char *nnc_plateaus_format(const nnc_session *session) {
  char *text = NULL;
  size_t size;
  FILE *file = open_memstream(&text, &size);
  if (!file) return NULL;
  for (int i = 0; i < session->model->plateau_count; i++) {
    const nnc_plateau_state *state = &session->plateaus[i];
    fprintf(file, "%s%.17g %.17g %" PRId64 " %" PRId64, i ? " " : "", state->value, state->best,
            state->bad, state->resting);
  }
  if (fclose(file) == 0) return text;
  free(text);
  return NULL;
}

bool nnc_plateaus_parse(nnc_session *session, const char *text) {
  bool good = true;
  for (int i = 0; i < session->model->plateau_count && good; i++) {
    nnc_plateau_state *state = &session->plateaus[i];
    int length = 0;
    good = sscanf(text, "%lf %lf %" SCNd64 " %" SCNd64 "%n", &state->value, &state->best,
                  &state->bad, &state->resting, &length) == 4 &&
           isfinite(state->value) && state->bad >= 0 && state->resting >= 0;
    text += length;
  }
  if (good && *text == '\0') return true;
  nnc_plateaus_reset(session);
  return false;
}
