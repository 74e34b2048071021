/* Opening, running and closing of session.h. */

#include "core/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fitted.h"
#include "core/index_check.h"
#include "core/level.h"
#include "core/number.h"
#include "core/options.h"
#include "os/assert.h"
#include "os/cpus.h"
#include "os/message.h"
#include "os/replace.h"

/* --- Streams -------------------------------------------------------------------------------- */

/* Copies all streams one after the other; the bytes of all. `buffer` NULL: counts alone. */
static size_t streams_read(const nnc_session *session, char *buffer) {
  size_t at = 0;
  for (int i = 0; i < session->model->variable_count; i++) {
    const nnc_tensor *tensor = &session->model->variables[i].tensor;
    if (session->model->variables[i].kind != NNC_STREAM) continue;
    if (buffer)
      nnc_device_read(session->device, tensor, 0, nnc_tensor_elements(tensor), buffer + at);
    at += (size_t)nnc_tensor_bytes(tensor);
  }
  return at;
}

static void streams_write(nnc_session *session, const char *buffer) {
  for (int i = 0; i < session->model->variable_count; i++) {
    const nnc_tensor *tensor = &session->model->variables[i].tensor;
    if (session->model->variables[i].kind != NNC_STREAM) continue;
    nnc_device_write(session->device, tensor, 0, nnc_tensor_elements(tensor), buffer);
    buffer += nnc_tensor_bytes(tensor);
  }
}

static bool streams_open(nnc_session *session) {
  size_t bytes = streams_read(session, NULL);
  if (bytes == 0) return true;
  session->stream_start = malloc(bytes);
  session->stream_saved = malloc(bytes);
  if (session->stream_start && session->stream_saved) return true;
  nnc_error("cannot allocate %zu bytes for the streams", bytes);
  return false;
}

void nnc_streams_start(nnc_session *session) { streams_write(session, session->stream_start); }

void nnc_streams_save(nnc_session *session) { streams_read(session, session->stream_saved); }

void nnc_streams_restore(nnc_session *session) { streams_write(session, session->stream_saved); }

/* --- Sessions ------------------------------------------------------------------------------- */

static int choose_threads(const nnc_options *options) {
  nnc_cpus cpus;
  if (options->threads > 0) return (int)options->threads;
  nnc_cpus_find(&cpus);
  return nnc_cpus_default_threads(&cpus);
}

char *nnc_default_folder(const nnc_options *options) {
  char *folder = NULL;
  int length = options->out ? asprintf(&folder, "%s", options->out)
                            : asprintf(&folder, "%s.run", nnc_the_model.name);
  if (length >= 0) return folder;
  nnc_error("cannot allocate a path");
  return NULL;
}

static bool plateaus_open(nnc_session *session) {
  size_t count = (size_t)session->model->plateau_count;
  count += (size_t)session->model->option_count;
  session->host_inputs = calloc(4 + count, sizeof *session->host_inputs);
  if (session->host_inputs && nnc_plateaus_open(&session->plateaus, session->model)) return true;
  nnc_error("cannot allocate the inputs of the schedules");
  return false;
}

/* Whether the number of steps matters to what the host computes: tried, for runs of all sizes. */
static bool find_schedules(nnc_session *session) {
  const nnc_model *model = session->model;
  size_t bytes = (size_t)model->scalar_count * sizeof *session->scalars;
  double *before = malloc(bytes + 1);
  if (!before) {
    nnc_error("cannot allocate %d scalars", model->scalar_count);
    return false;
  }
  for (int64_t t = 1; t <= 100000000 && !session->schedules_have_length; t *= 10) {
    for (int64_t steps = 1; steps <= 100000000; steps *= 10) {
      nnc_session_host(session, t, t / 100, steps, 100);
      if (steps > 1 && memcmp(before, session->scalars, bytes) != 0)
        session->schedules_have_length = true;
      memcpy(before, session->scalars, bytes);
    }
  }
  free(before);
  nnc_plateaus_take(&session->plateaus, session->scalars);
  return true;
}

static bool open_parts(nnc_session *session) {
  const nnc_model *model = session->model;
  char *folder = nnc_default_folder(session->options);
  session->checkpoint =
      folder ? nnc_path_join(folder,
                             session->options->best ? "best.safetensors" : "checkpoint.safetensors")
             : NULL;
  free(folder);
  session->scalars = calloc((size_t)model->scalar_count + 1, sizeof *session->scalars);
  if (!session->scalars) nnc_error("cannot allocate %d scalars", model->scalar_count);
  if (!session->checkpoint || !session->scalars || !plateaus_open(session) ||
      !nnc_steer_open(&session->steer, model, &session->flags))
    return false;
  if (!find_schedules(session)) return false;
  session->threads = choose_threads(session->options);
  session->device = nnc_device_open(model, session->threads, (int)session->options->device);
  return session->device && streams_open(session);
}

/* Metrics are added up over entries: their accumulators must be the same list. */
static bool check_model(const nnc_model *model) {
  const nnc_entry *const entries[] = {&model->accumulate, &model->eval, &model->eval_one};
  if (model->abi != NNC_MODEL_ABI) {
    nnc_error("compiled for runtime interface %d, this is %d: compile %s again", model->abi,
              NNC_MODEL_ABI, model->file);
    return false;
  }
  if (nnc_level_lacks(nnc_level_used())) {
    nnc_error("compiled for %s, but this processor has no %s: compile with another --arch",
              nnc_level_used()->name, nnc_level_lacks(nnc_level_used()));
    return false;
  }
  for (int i = 0; i < 3; i++) {
    int count = i < 2 ? model->train.accumulator_count : model->eval.accumulator_count;
    bool is_compared = entries[i]->run && (i == 0 || model->train.run || i == 2);
    if (!is_compared || entries[i]->accumulator_count == count) continue;
    nnc_error("the compiled program is inconsistent: an entry has %d accumulators, another %d",
              entries[i]->accumulator_count, count);
    return false;
  }
  return true;
}

bool nnc_session_open(nnc_session *session, const nnc_options *options) {
  const nnc_model *model = &nnc_the_model;
  *session = (nnc_session){.model = model, .options = options};
  session->settings = options->settings;
  session->flags = nnc_run_flags_of(options);
  nnc_settings_apply(&session->settings);
  session->seed = options->has_seed ? options->seed : model->seed;
  if (check_model(model) && open_parts(session)) return true;
  nnc_session_close(session);
  return false;
}

void nnc_session_close(nnc_session *session) {
  nnc_device_close(session->device);
  nnc_fitted_free(&session->fitted);
  free(session->scalars);
  free(session->host_inputs);
  nnc_plateaus_close(&session->plateaus);
  nnc_steer_close(&session->steer);
  free(session->stream_start);
  free(session->stream_saved);
  free(session->checkpoint);
}

void nnc_session_run(nnc_session *session, const nnc_entry *entry, int64_t step, int64_t example) {
  nnc_session_run_on(session, entry, NULL, step, example);
}

void nnc_session_run_on(nnc_session *session, const nnc_entry *entry, const uint32_t *examples,
                        int64_t step, int64_t example) {
  nnc_device_run(session->device, entry,
                 &(nnc_run){session->scalars, session->seed, step, example, examples});
  /* What has been computed is worthless, in the variables too: the last checkpoint is the run's end. */
  if (nnc_index_check_failed(session->model, step, example)) exit(NNC_EXIT_FAILURE);
}

bool nnc_session_take_options(nnc_session *session, const char *text, const char *path) {
  bool goes_on = session->options->resume != NULL;
  if (!nnc_settings_recorded(&session->settings, text, path, goes_on)) return false;
  nnc_settings_apply(&session->settings);
  session->schedules_have_length = false;
  return find_schedules(session);
}

void nnc_session_initialize(nnc_session *session) {
  /* Initial values know the options, and nothing of the step. */
  if (session->model->option_count > 0) nnc_session_host(session, 1, 0, 1, 1);
  if (session->model->init.run) nnc_session_run(session, &session->model->init, 0, 0);
  streams_read(session, session->stream_start);
}

bool nnc_session_read_initials(nnc_session *session) {
  return !session->model->read_initials || session->model->read_initials(session);
}

void nnc_session_host(nnc_session *session, int64_t t, int64_t epoch, int64_t steps,
                      int64_t steps_per_epoch) {
  NNC_ASSERT(t >= 1 && epoch >= 0 && steps_per_epoch >= 0);
  double *inputs = session->host_inputs;
  inputs[0] = (double)t;
  inputs[1] = (double)epoch;
  inputs[2] = (double)steps;
  inputs[3] = (double)steps_per_epoch;
  for (int i = 0; i < session->model->plateau_count; i++)
    inputs[4 + i] = session->plateaus.states[i].value;
  for (int i = 0; i < session->model->option_count; i++)
    inputs[4 + session->model->plateau_count + i] = session->settings.values[i];
  if (session->model->host) session->model->host(inputs, session->scalars);
}
