/* --tune without its measurements: what is chosen of given times, how these are kept, and under which key. */
#include <stdio.h>
#include <string.h>

#include "driver/tune.h"

enum { FORMAT = 1 /* of what the cache holds */ };

/* At most this part of the time that the cost model's choice takes: of a kernel or a plan, and of a whole step. */
static const double WORTH = .97, STEP_WORTH = .99;

const char *const tuned_plan_names[PLAN_COUNT] = {
    [PLAN_MODEL] = "as the cost model picks", [PLAN_NO_LOOPS] = "without task loops",
    [PLAN_PLANES] = "no channels last",       [PLAN_HALVES] = "2 micro-batches",
    [PLAN_QUARTERS] = "4 micro-batches",
};

int tuning_find(const Tuning *tuning, const char *key) {
  for (int i = 0; i < tuning->count; i++)
    if (strcmp(tuning->kernels[i].key, key) == 0) return i;
  return -1;
}

int tuning_choose(int count, const double *ms) {
  int chosen = 0;
  for (int i = 1; i < count; i++)
    if (ms[i] > 0 && ms[i] < WORTH * ms[0] && ms[i] < ms[chosen]) chosen = i;
  return chosen;
}

bool tuning_is_worth(double model_ms, double tuned_ms) {
  return tuned_ms > 0 && tuned_ms <= STEP_WORTH * model_ms;
}

void tuning_write_times(Text *text, const char *of, int count, const double *ms) {
  text_printf(text, "%s", of);
  for (int i = 0; i < count; i++) text_printf(text, " %.6g", ms[i]);
  text_add_char(text, '\n');
}

bool tuning_read_times(const Text *text, const char *of, int count, double *ms) {
  size_t length = strlen(of);
  if (text->length <= length || strncmp(text->data, of, length) != 0) return false;
  const char *at = text->data + length;
  int used;
  for (int i = 0; i < count; i++, at += used)
    if (sscanf(at, " %lf%n", &ms[i], &used) != 1 || !(ms[i] >= 0)) return false;
  return strcmp(at, "\n") == 0;
}

void tuning_add_key(Sha256 *hash, const TuningKey *key) {
  const int numbers[] = {FORMAT, key->threads};
  sha256_add_string(hash, "tuning");
  sha256_add(hash, numbers, sizeof numbers);
  sha256_add_string(hash, key->version);
  sha256_add_string(hash, key->target);
  sha256_add_string(hash, key->arch);
  sha256_add_string(hash, key->cflags);
}

void tuning_share_waits(const ProgramEntry *entry, double *ms) {
  double sum = 0;
  int first = 0;
  for (int i = 0; i < entry->steps.count; i++) {
    if (entry->steps.items[i].kind != STEP_BARRIER) {
      sum += ms[i];
      continue;
    }
    for (int k = first; k < i && sum > 0; k++) ms[k] *= 1 + ms[i] / sum;
    first = i + 1;
    sum = 0;
  }
}
