/* Accumulators over batches: each kind of combination is one row of a table. */
#include "core/tally.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/assert.h"
#include "os/message.h"
#include "core/number.h"

bool nnc_tally_open(nnc_tally *tally, const nnc_entry *entry) {
  size_t count = (size_t)entry->accumulator_count;
  *tally = (nnc_tally){.count = entry->accumulator_count, .batch = entry->batch};
  tally->sums = calloc(count + 1, sizeof *tally->sums);
  tally->values = calloc(count + (size_t)nnc_the_model.ranking_count + 1, sizeof *tally->values);
  if (tally->sums && tally->values) return true;
  nnc_error("cannot allocate %zu accumulators", count);
  nnc_tally_close(tally);
  return false;
}

void nnc_tally_close(nnc_tally *tally) {
  free(tally->sums);
  free(tally->values);
  *tally = (nnc_tally){0};
}

void nnc_tally_reset(nnc_tally *tally) {
  for (int i = 0; i < tally->count; i++) tally->sums[i] = 0;
  tally->examples = tally->in_batches = 0;
  tally->entry = NULL;
}

/* A comparison with NaN is false: these let NaN through, so that it is seen. */
static double combine(int kind, double sum, double value, double examples, bool is_first) {
  switch (kind) {
  case NNC_MEAN:
  case NNC_BATCHES:
  case NNC_STEPS: return sum + value * examples;
  case NNC_COUNTS:
  case NNC_SUM: return sum + value;
  case NNC_MAX: return is_first || value > sum || isnan(value) ? value : sum;
  case NNC_MIN: return is_first || value < sum || isnan(value) ? value : sum;
  default: return value;
  }
}

/* After whole batches single examples do not count where they say nothing of these. */
static bool is_left_out(const nnc_tally *tally, int kind, const nnc_entry *entry) {
  return kind == NNC_BATCHES && entry->batch < tally->batch && tally->in_batches > 0;
}

void nnc_tally_take(nnc_tally *tally, const nnc_entry *entry, const nnc_device *device,
                    int64_t run) {
  NNC_ASSERT(!tally->entry && tally->count == entry->accumulator_count && entry->batch > 0);
  for (int i = 0; i < tally->count; i++) {
    const nnc_accumulator *accumulator = &entry->accumulators[i];
    if (is_left_out(tally, accumulator->combine, entry)) continue;
    double value = nnc_device_left(device, run, &accumulator->tensor);
    tally->sums[i] = combine(accumulator->combine, tally->sums[i], value, (double)entry->batch,
                             tally->examples == 0);
  }
  tally->examples += entry->batch;
  if (entry->batch >= tally->batch) tally->in_batches += entry->batch;
}

static bool is_of_order(const nnc_model *model, int metric) {
  return model->metric_is_ranked && model->metric_is_ranked[metric];
}

static bool is_of_steps(const nnc_model *model, int metric) {
  return model->metric_is_of_steps && model->metric_is_of_steps[metric];
}

bool nnc_metric_is_told(const nnc_model *model, int metric, bool of_training) {
  return !(of_training ? is_of_order : is_of_steps)(model, metric);
}

/* "loss.2" is the loss of a group. */
size_t nnc_metric_list(const nnc_model *model, int metric) {
  const char *name = model->metric_names[metric], *dot = strrchr(name, '.');
  return dot && strncmp(name, "loss.", 5) != 0 ? (size_t)(dot - name) : 0;
}

void nnc_tally_settle(nnc_tally *tally) {
  const nnc_entry *entry = tally->entry;
  if (!entry) return;
  tally->entry = NULL;
  nnc_tally_take(tally, entry, tally->device, tally->run);
}

void nnc_tally_add(nnc_tally *tally, const nnc_entry *entry, const nnc_device *device) {
  NNC_ASSERT(tally->count == entry->accumulator_count && entry->batch > 0);
  nnc_tally_settle(tally);
  tally->entry = entry;
  tally->device = device;
  tally->run = nnc_device_under_way(device);
  if (tally->run == 0) nnc_tally_settle(tally);
}

void nnc_tally_metrics(nnc_tally *tally, const nnc_model *model, const nnc_entry *entry,
                       double *metrics) {
  nnc_tally_settle(tally);
  NNC_ASSERT(tally->count == entry->accumulator_count && tally->in_batches <= tally->examples);
  int64_t in_batches = tally->in_batches > 0 ? tally->in_batches : tally->examples;
  for (int i = 0; i < tally->count; i++) {
    int kind = entry->accumulators[i].combine;
    double minibatches = model->accumulation > 1 ? (double)model->accumulation : 1;
    bool is_mean = kind == NNC_MEAN || kind == NNC_COUNTS;
    double examples = is_mean               ? (double)tally->examples
                      : kind == NNC_BATCHES ? (double)in_batches
                      : kind == NNC_STEPS   ? (double)tally->examples / minibatches
                                            : 1;
    tally->values[i] = tally->sums[i] / examples;
  }
  for (int i = 0; i < model->ranking_count; i++)
    tally->values[tally->count + i] = tally->rankings ? tally->rankings[i] : NAN;
  model->finish(tally->values, metrics);
  for (int i = 0; i < model->metric_count; i++) metrics[i] = nnc_number_told(metrics[i]);
}

char *nnc_tally_format(nnc_tally *tally) {
  char *text = NULL;
  size_t size;
  nnc_tally_settle(tally);
  FILE *file = open_memstream(&text, &size);
  if (!file) return NULL;
  fprintf(file, "%lld", (long long)tally->examples);
  for (int i = 0; i < tally->count; i++) fprintf(file, " %.17g", tally->sums[i]);
  if (fclose(file) == 0) return text;
  free(text);
  return NULL;
}

bool nnc_tally_parse(nnc_tally *tally, const char *text) {
  char *end;
  long long examples = strtoll(text, &end, 10);
  if (end == text || examples < 0) return false;
  for (int i = 0; i < tally->count; i++) {
    text = end;
    tally->sums[i] = strtod(text, &end);
    if (end == text) return false;
  }
  tally->examples = tally->in_batches = examples; /* training has whole batches alone */
  return *end == '\0';
}
