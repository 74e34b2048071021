/* Steps to be measured: see trial.h. */

#include "profile/trial.h"

#include <stdlib.h>
#include <string.h>

#include "core/number.h"
#include "core/session.h"
#include "data/loader.h"
#include "data/read.h"
#include "data/session_data.h"
#include "data/skipped.h"
#include "os/clock.h"
#include "os/message.h"

/* --- Synthetic inputs ----------------------------------------------------------------------- */

/* xorshift64*: any numbers will do, but the same in every run. */
static uint64_t next_random(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * 2685821657736338717u;
}

/* Floats in [-1, 1), integers in [0, limit); without a limit any byte will do. */
static void fill_input(char *to, const nnc_tensor *input, int64_t limit, uint64_t *state) {
  int64_t elements = nnc_tensor_elements(input);
  if (limit <= 0 || (input->dtype == NNC_U8 && limit > 256)) limit = 256;
  for (int64_t i = 0; i < elements; i++) {
    uint64_t bits = next_random(state);
    double uniform = (double)(bits >> 11) * 0x1p-52 - 1;
    float narrow = (float)uniform;
    uint32_t narrow_bits;
    int64_t index = (int64_t)((bits >> 16) % (uint64_t)limit);
    memcpy(&narrow_bits, &narrow, sizeof narrow_bits);
    switch (input->dtype) {
    case NNC_F64: ((double *)to)[i] = uniform; break;
    case NNC_F32: ((float *)to)[i] = narrow; break;
    case NNC_BF16: ((uint16_t *)to)[i] = (uint16_t)(narrow_bits >> 16); break;
    case NNC_F16: ((uint16_t *)to)[i] = (uint16_t)(bits >> 63 << 15 | 0x3800); break; /* +-0.5 */
    case NNC_I64: ((int64_t *)to)[i] = index; break;
    case NNC_I32: ((int32_t *)to)[i] = (int32_t)index; break;
    case NNC_U8: ((uint8_t *)to)[i] = (uint8_t)index; break;
    default: ((uint8_t *)to)[i] = (uint8_t)(bits >> 63); break;
    }
  }
}

static int64_t input_bytes(const nnc_entry *entry) {
  int64_t bytes = 0;
  for (int i = 0; i < entry->input_count; i++) bytes += nnc_tensor_bytes(&entry->inputs[i]) + 64;
  return bytes;
}

/* The inputs of an entry, one after the other. NULL after a message. */
static char *draw_entry(const nnc_session *session, const nnc_entry *entry) {
  uint64_t state = session->seed * 2 + 1;
  char *drawn = malloc((size_t)input_bytes(entry) + 1), *to = drawn;
  if (!drawn) nnc_error("cannot allocate %lld bytes of inputs", (long long)input_bytes(entry));
  for (int i = 0; drawn && i < entry->input_count; i++) {
    const nnc_tensor *input = &entry->inputs[i];
    fill_input(to, input, entry->input_limits ? entry->input_limits[i] : 0, &state);
    to += (nnc_tensor_bytes(input) + 63) / 64 * 64;
  }
  return drawn;
}

static void fill_entry(const nnc_session *session, const nnc_entry *entry, const char *drawn) {
  for (int i = 0; i < entry->input_count; i++) {
    const nnc_tensor *input = &entry->inputs[i];
    int64_t bytes = nnc_tensor_bytes(input);
    memcpy(nnc_device_begin_write(session->device, input), drawn, (size_t)bytes);
    nnc_device_end_write(session->device, input);
    drawn += (bytes + 63) / 64 * 64;
  }
}

/* --- Opening -------------------------------------------------------------------------------- */

/* The inputs of training as rows that follow each other. */
static bool keep_drawn(nnc_trial *trial) {
  const nnc_entry *entry = &trial->session->model->train;
  nnc_rows *rows = calloc((size_t)entry->input_count + 1, sizeof *rows);
  const char *values = trial->drawn;
  for (int i = 0; rows && i < entry->input_count; i++) {
    const nnc_tensor *input = &entry->inputs[i];
    int64_t bytes = nnc_tensor_bytes(input), elements = nnc_tensor_elements(input);
    bool is_batched = entry->input_is_batched && entry->input_is_batched[i];
    int64_t width = is_batched ? elements / input->dim[0] : elements;
    rows[i] = (nnc_rows){.input = input->name,
                         .dtype = input->dtype,
                         .is_batched = is_batched,
                         .width = width,
                         .step = width,
                         .values = values,
                         .held = values,
                         .held_bytes = bytes};
    values += (bytes + 63) / 64 * 64;
  }
  bool keeps = rows && nnc_session_keep_rows(trial->session, rows);
  free(rows);
  return keeps;
}

/* The numbers of a batch's examples, where the device keeps what they are of. */
static bool keep(nnc_trial *trial) {
  int64_t batch = trial->session->model->train.batch;
  if (trial->data ? !nnc_session_keep_data(trial->session, trial->data) : !keep_drawn(trial))
    return true;
  trial->examples = calloc((size_t)batch + 1, sizeof *trial->examples);
  if (!trial->examples) nnc_error("cannot allocate a batch of %lld", (long long)batch);
  for (int64_t i = 0; trial->examples && i < batch; i++) trial->examples[i] = (uint32_t)i;
  return trial->examples != NULL;
}

static bool open_data(nnc_trial *trial) {
  nnc_session *session = trial->session;
  const nnc_model *model = session->model;
  const nnc_options *options = session->options;
  if (!(options->data || options->data_only) || model->train.input_count == 0) return true;
  trial->data = nnc_session_open_data(session, "train", &model->train);
  return trial->data != NULL;
}

static bool open_loader(nnc_trial *trial) {
  char message[NNC_MESSAGE];
  if (!trial->data) return true;
  nnc_loader_options options = nnc_loader_training(trial->session->model, trial->data);
  options.names = trial->examples != NULL;
  trial->loader = nnc_loader_open(trial->data, &options, message);
  if (!trial->loader) nnc_error("data train: %s", message);
  return trial->loader != NULL;
}

static bool draw_inputs(nnc_trial *trial) {
  const nnc_model *model = trial->session->model;
  if (trial->data) return true;
  trial->drawn = draw_entry(trial->session, trial->last);
  if (trial->runs > 1) trial->accumulate_drawn = draw_entry(trial->session, &model->accumulate);
  return trial->drawn && (trial->runs == 1 || trial->accumulate_drawn);
}

bool nnc_trial_open(nnc_trial *trial, nnc_session *session, int64_t steps, bool keeps) {
  const nnc_model *model = session->model;
  bool predicts = session->options->predict;
  *trial = (nnc_trial){.session = session,
                       .last = predicts ? &model->predict : &model->train,
                       .runs = !predicts && model->accumulation > 1 ? model->accumulation : 1,
                       .steps = steps};
  if (!trial->last->run) {
    nnc_error(predicts ? "%s predicts nothing" : "%s does not train", model->file);
    return false;
  }
  keeps = keeps && !predicts;
  const nnc_entry *earlier = trial->runs > 1 ? &model->accumulate : trial->last;
  if (!nnc_feed_open(&trial->feed, session->device, trial->last, trial->last) ||
      !nnc_feed_open(&trial->accumulate_feed, session->device, trial->last, earlier) ||
      !open_data(trial) || !draw_inputs(trial) || (keeps && !keep(trial)) || !open_loader(trial))
    return false;
  nnc_session_initialize(session);
  nnc_streams_start(session);
  return true;
}

void nnc_trial_close(nnc_trial *trial) {
  nnc_loader_close(trial->loader);
  if (trial->data) nnc_skipped_tell(nnc_data_skipped(trial->data));
  nnc_data_close(trial->data);
  nnc_feed_close(&trial->feed);
  nnc_feed_close(&trial->accumulate_feed);
  free(trial->examples);
  free(trial->drawn);
  free(trial->accumulate_drawn);
}

/* --- Running -------------------------------------------------------------------------------- */

const nnc_entry *nnc_trial_entry(const nnc_trial *trial, int64_t run) {
  const nnc_model *model = trial->session->model;
  return run + 1 < trial->runs ? &model->accumulate : trial->last;
}

void nnc_trial_host(nnc_trial *trial, int64_t step) {
  nnc_session_host(trial->session, step, 0, trial->steps, trial->steps);
}

void nnc_trial_fill(nnc_trial *trial, int64_t run) {
  if (trial->loader || trial->examples) return;
  const nnc_entry *entry = nnc_trial_entry(trial, run);
  bool is_last = entry == trial->last;
  fill_entry(trial->session, entry, is_last ? trial->drawn : trial->accumulate_drawn);
}

void nnc_trial_load(nnc_trial *trial, int64_t run) {
  if (!trial->loader) return;
  nnc_feed *feed = run + 1 < trial->runs ? &trial->accumulate_feed : &trial->feed;
  nnc_batch batch;
  if (trial->examples) {
    batch = nnc_loader_next(trial->loader, (void *[]){trial->examples});
  } else {
    batch = nnc_loader_next(trial->loader, nnc_feed_begin(feed));
    nnc_feed_end(feed);
  }
  if (batch.count >= 0 || trial->has_failed) return;
  nnc_error("%s", nnc_loader_failure(trial->loader));
  trial->has_failed = true;
}

void nnc_trial_start_clock(nnc_trial *trial) {
  trial->began = nnc_seconds_now();
  trial->waited = trial->loader ? nnc_loader_waited(trial->loader) : 0;
}

double nnc_trial_data_wait(const nnc_trial *trial) {
  double taken = nnc_seconds_now() - trial->began;
  if (!trial->loader || taken <= 0) return -1;
  return (nnc_loader_waited(trial->loader) - trial->waited) / taken;
}

void nnc_trial_run(nnc_trial *trial, int64_t step, int64_t run) {
  nnc_trial_begin(trial, step, run);
  nnc_trial_wait(trial);
}

void nnc_trial_begin(nnc_trial *trial, int64_t step, int64_t run) {
  const nnc_entry *entry = nnc_trial_entry(trial, run);
  nnc_session_run_on(trial->session, entry, trial->examples, step, run * entry->batch);
}

void nnc_trial_wait(nnc_trial *trial) { nnc_device_wait(trial->session->device); }
