/* Nothing is padded: a set of 10,050 examples with batches of 100 runs 100 batches and 50
 * single examples, and every example weighs the same in a mean. */

#include "train/evaluate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/number.h"
#include "core/session.h"
#include "core/tally.h"
#include "data/skipped.h"
#include "data/read.h"
#include "data/session_data.h"
#include "os/message.h"
#include "os/stop.h"
#include "train/detections.h"

static bool is_evaluation_set(const char *name) {
  return strcmp(name, "train") != 0 && strcmp(name, "predict") != 0;
}

static bool has_set(const nnc_model *model, const char *name) {
  for (int i = 0; i < model->data_set_count; i++)
    if (strcmp(model->data_sets[i].name, name) == 0) return true;
  return false;
}

static bool open_set(nnc_evaluator *evaluator, const char *name) {
  nnc_session *session = evaluator->session;
  nnc_data *data = nnc_session_open_data(session, name, &session->model->eval);
  if (!data) return false;
  evaluator->sets[evaluator->count++] = (nnc_eval_set){.name = name, .data = data};
  return true;
}

/* "train, test" */
static void list_sets(const nnc_model *model, char text[NNC_MESSAGE]) {
  size_t at = 0;
  text[0] = '\0';
  for (int i = 0; i < model->data_set_count && at < NNC_MESSAGE; i++)
    at += (size_t)snprintf(text + at, NNC_MESSAGE - at, "%s%s", i ? ", " : "",
                           model->data_sets[i].name);
}

static bool refuse_set(const nnc_model *model, const char *name) {
  const char *known[64], *nearest;
  char sets[NNC_MESSAGE];
  int count = 0;
  for (int i = 0; i < model->data_set_count && count < 64; i++)
    known[count++] = model->data_sets[i].name;
  nearest = nnc_nearest(name, count, known);
  list_sets(model, sets);
  if (nearest) nnc_error("the model has no data set '%s'; did you mean '%s'?", name, nearest);
  else if (count == 0) nnc_error("the model has no data set '%s', and no other", name);
  else nnc_error("the model has no data set '%s'; it has %s", name, sets);
  return false;
}

static bool open_named(nnc_evaluator *evaluator, int name_count, char *const *names) {
  const nnc_model *model = evaluator->session->model;
  for (int i = 0; i < name_count; i++) {
    if (!has_set(model, names[i])) return refuse_set(model, names[i]);
    if (!open_set(evaluator, names[i])) return false;
  }
  return true;
}

static bool open_all(nnc_evaluator *evaluator) {
  const nnc_model *model = evaluator->session->model;
  for (int i = 0; i < model->data_set_count; i++)
    if (is_evaluation_set(model->data_sets[i].name) &&
        !open_set(evaluator, model->data_sets[i].name))
      return false;
  return true;
}

static bool has_means_of_batches(const nnc_entry *entry) {
  for (int i = 0; i < entry->accumulator_count; i++)
    if (entry->accumulators[i].combine == NNC_BATCHES) return true;
  return false;
}

static void warn_of_small(const nnc_evaluator *evaluator) {
  const nnc_entry *eval = &evaluator->session->model->eval;
  for (int i = 0; i < evaluator->count && has_means_of_batches(eval); i++) {
    long long examples = (long long)nnc_data_examples(evaluator->sets[i].data);
    if (examples < eval->batch)
      nnc_warning("data %s: %lld examples fill no batch of %lld; what is reported as a mean over "
                  "batches is that of single examples",
                  evaluator->sets[i].name, examples, (long long)eval->batch);
  }
}

/* Without eval_one, the examples after the last full batch cannot run. */
static void warn_of_tails(const nnc_evaluator *evaluator) {
  const nnc_model *model = evaluator->session->model;
  if (model->eval_one.run) {
    warn_of_small(evaluator);
    return;
  }
  for (int i = 0; i < evaluator->count; i++) {
    long long rest = (long long)(nnc_data_examples(evaluator->sets[i].data) % model->eval.batch);
    if (rest)
      nnc_warning("data %s: the last %lld examples fill no batch and are left out",
                  evaluator->sets[i].name, rest);
  }
}

/* ---- metrics of the order of a whole set ------------------------------------------------------ */

static int64_t most_examples(const nnc_evaluator *evaluator) {
  int64_t most = 0;
  for (int i = 0; i < evaluator->count; i++)
    if (nnc_data_examples(evaluator->sets[i].data) > most)
      most = nnc_data_examples(evaluator->sets[i].data);
  return most;
}

/* All room is taken here: reports of training take none. */
static bool open_rankings(nnc_evaluator *evaluator) {
  const nnc_model *model = evaluator->session->model;
  size_t count = (size_t)model->ranking_count, examples = (size_t)most_examples(evaluator);
  if (count == 0) return true;
  evaluator->ranked = calloc(count, sizeof *evaluator->ranked);
  evaluator->rankings = calloc(count, sizeof *evaluator->rankings);
  bool good = evaluator->ranked && evaluator->rankings;
  for (size_t i = 0; good && i < count; i++) {
    const nnc_tensor *scores = &model->eval.results[2 * i];
    nnc_ranked_set *set = &evaluator->ranked[i];
    if (model->rankings[i] >= NNC_RANKING_BOXES) {
      set->boxes = model->detections->open((int64_t)examples, scores, scores + 1);
      good = set->boxes;
      continue;
    }
    set->width = nnc_tensor_elements(scores) / model->eval.batch;
    set->list = calloc(examples * (size_t)set->width + 1, sizeof *set->list);
    set->rows = malloc(
        (size_t)(nnc_tensor_bytes(scores) + nnc_tensor_bytes(&model->eval.results[2 * i + 1])) + 1);
    good = set->list && set->rows;
  }
  evaluator->tally.rankings = evaluator->rankings;
  if (!good) nnc_error("cannot allocate the order of %zu examples", examples);
  return good;
}

static void close_rankings(nnc_evaluator *evaluator) {
  /* without a session where opening failed before */
  const nnc_model *model = evaluator->ranked ? evaluator->session->model : NULL;
  for (int i = 0; evaluator->ranked && i < model->ranking_count; i++) {
    if (evaluator->ranked[i].boxes) model->detections->close(evaluator->ranked[i].boxes);
    free(evaluator->ranked[i].list);
    free(evaluator->ranked[i].rows);
  }
  free(evaluator->ranked);
  free(evaluator->rankings);
}

static void reset_rankings(nnc_evaluator *evaluator) {
  const nnc_model *model = evaluator->session->model;
  for (int i = 0; i < model->ranking_count; i++) {
    evaluator->ranked[i].count = 0;
    if (evaluator->ranked[i].boxes) model->detections->reset(evaluator->ranked[i].boxes);
  }
}

/* What a run has left. */
static void take_rankings(nnc_evaluator *evaluator, const nnc_entry *entry) {
  const nnc_device *device = evaluator->session->device;
  for (int i = 0; i < evaluator->session->model->ranking_count; i++) {
    const nnc_tensor *scores = &entry->results[2 * i], *label = &entry->results[2 * i + 1];
    nnc_ranked_set *set = &evaluator->ranked[i];
    if (set->boxes) {
      evaluator->session->model->detections->take(set->boxes, device, scores, label);
      continue;
    }
    int64_t elements = nnc_tensor_elements(scores);
    char *labels = set->rows + nnc_tensor_bytes(scores);
    nnc_device_read(device, scores, 0, elements, set->rows);
    nnc_device_read(device, label, 0, elements, labels);
    for (int64_t k = 0; k < elements; k++)
      set->list[set->count++] = (nnc_ranked){nnc_number_get(scores->dtype, set->rows, k),
                                             nnc_number_get(label->dtype, labels, k) != 0};
  }
}

static void finish_rankings(nnc_evaluator *evaluator) {
  const nnc_model *model = evaluator->session->model;
  for (int i = 0; i < model->ranking_count; i++) {
    const nnc_ranked_set *set = &evaluator->ranked[i];
    if (set->boxes) {
      evaluator->rankings[i] = model->detections->finish(set->boxes, model->rankings[i]);
      continue;
    }
    nnc_ranking ranking = nnc_rank(set->list, set->count);
    evaluator->rankings[i] = model->rankings[i] == NNC_RANKING_AUC ? ranking.auc : ranking.average;
  }
}

bool nnc_evaluator_open(nnc_evaluator *evaluator, nnc_session *session, int name_count,
                        char *const *names) {
  const nnc_model *model = session->model;
  *evaluator = (nnc_evaluator){.session = session};
  if (!model->eval.run) return true;
  int most = name_count > model->data_set_count ? name_count : model->data_set_count;
  evaluator->sets = calloc((size_t)most + 1, sizeof *evaluator->sets);
  if (!evaluator->sets) nnc_error("cannot allocate %d data sets", most);
  bool good = evaluator->sets &&
              nnc_feed_open(&evaluator->batch_feed, session->device, &model->eval, &model->eval) &&
              (!model->eval_one.run || nnc_feed_open(&evaluator->one_feed, session->device,
                                                     &model->eval, &model->eval_one)) &&
              nnc_tally_open(&evaluator->tally, &model->eval) &&
              (name_count ? open_named(evaluator, name_count, names) : open_all(evaluator)) &&
              open_rankings(evaluator);
  if (good) warn_of_tails(evaluator);
  else nnc_evaluator_close(evaluator);
  return good;
}

void nnc_evaluator_close(nnc_evaluator *evaluator) {
  for (int i = 0; i < evaluator->count; i++) nnc_data_close(evaluator->sets[i].data);
  close_rankings(evaluator);
  nnc_tally_close(&evaluator->tally);
  free(evaluator->sets);
  nnc_feed_close(&evaluator->batch_feed);
  nnc_feed_close(&evaluator->one_feed);
  *evaluator = (nnc_evaluator){0};
}

/* Runs [first, first + entry->batch); false when an example cannot be read. */
static bool run_examples(nnc_evaluator *evaluator, const nnc_data *data, const nnc_entry *entry,
                         nnc_feed *feed, int64_t first) {
  nnc_session *session = evaluator->session;
  char message[NNC_MESSAGE];
  int result = nnc_data_read(data, first, entry->batch, nnc_feed_begin(feed), message);
  nnc_feed_end(feed);
  if (result < 0) {
    nnc_error("%s", message);
    evaluator->has_failed = true;
    return false;
  }
  nnc_session_run(session, entry, 0, first);
  nnc_tally_add(&evaluator->tally, entry, session->device);
  take_rankings(evaluator, entry);
  if (evaluator->look) evaluator->look(evaluator->looker, entry, first);
  return true;
}

static bool run_set(nnc_evaluator *evaluator, const nnc_data *data) {
  const nnc_model *model = evaluator->session->model;
  int64_t examples = nnc_data_examples(data), first = 0;
  while (first + model->eval.batch <= examples) {
    if (nnc_stop_requested()) return false;
    if (!run_examples(evaluator, data, &model->eval, &evaluator->batch_feed, first)) return false;
    first += model->eval.batch;
  }
  while (model->eval_one.run && first + model->eval_one.batch <= examples) {
    if (nnc_stop_requested()) return false;
    if (!run_examples(evaluator, data, &model->eval_one, &evaluator->one_feed, first)) return false;
    first += model->eval_one.batch;
  }
  return true;
}

bool nnc_evaluator_run(nnc_evaluator *evaluator, int index, double *metrics) {
  nnc_session *session = evaluator->session;
  nnc_tally_reset(&evaluator->tally);
  reset_rankings(evaluator);
  nnc_streams_save(session);
  nnc_streams_start(session);
  bool finished = run_set(evaluator, evaluator->sets[index].data);
  nnc_streams_restore(session);
  if (finished) finish_rankings(evaluator);
  nnc_skipped_tell(nnc_data_skipped(evaluator->sets[index].data));
  if (finished)
    nnc_tally_metrics(&evaluator->tally, session->model, &session->model->eval, metrics);
  return finished;
}
