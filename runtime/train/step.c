/* `step`: training steps on inputs that are given, for comparison with another implementation.
 *
 *     OUT step --inputs IN.safetensors [--init WEIGHTS.safetensors] [--steps N] [--eval] RESULT.safetensors
 *
 * IN holds, for every input of the network, one tensor of its name (used in each step) or one
 * for each minibatch, "0/image", "1/image", ...  Shapes and types are the inputs'. Schedules
 * see N steps in all, in one epoch.  Each step prints its metrics as a JSON line; RESULT holds
 * all variables at the end.  With --eval each is one minibatch of an evaluation instead. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/json.h"
#include "core/number.h"
#include "core/options.h"
#include "core/safetensors.h"
#include "core/session.h"
#include "core/tally.h"
#include "os/message.h"
#include "train/checkpoint.h"
#include "train/commands.h"
#include "train/weights_format.h"

typedef struct Feeder {
  nnc_session *session;
  nnc_safetensors *file;
} Feeder;

static bool same_type(const nnc_tensor *wanted, const nnc_stored *found) {
  if (wanted->dtype != found->dtype || wanted->rank != found->rank) return false;
  for (int i = 0; i < wanted->rank; i++)
    if (wanted->dim[i] != found->dim[i]) return false;
  return true;
}

/* Kernels do not check what they take as an index. */
static bool check_limit(const Feeder *feeder, const nnc_entry *entry, int input,
                        const char *values) {
  const nnc_tensor *tensor = &entry->inputs[input];
  int64_t limit = entry->input_limits ? entry->input_limits[input] : 0;
  int64_t except = entry->input_exceptions ? entry->input_exceptions[input] : INT64_MIN;
  int64_t elements = limit > 0 ? nnc_tensor_elements(tensor) : 0;
  for (int64_t i = 0; i < elements; i++) {
    double value = nnc_number_get(tensor->dtype, values, i);
    if ((value >= 0 && value < (double)limit) || value == (double)except) continue;
    nnc_error("%s: '%s' holds %.0f, but the model takes it as an index from 0 to %lld",
              feeder->file->path, tensor->name, value, (long long)limit - 1);
    return false;
  }
  return true;
}

/* Reads minibatch number `batch` of every input of `entry` to where the entry reads it. */
static bool feed(const Feeder *feeder, const nnc_entry *entry, int64_t batch) {
  for (int i = 0; i < entry->input_count; i++) {
    const nnc_tensor *input = &entry->inputs[i];
    char name[256], wanted[NNC_STORED_TEXT], found[NNC_STORED_TEXT];
    snprintf(name, sizeof name, "%lld/%s", (long long)batch, input->name);
    const nnc_stored *stored = nnc_safetensors_find(feeder->file, name);
    if (!stored) stored = nnc_safetensors_find(feeder->file, input->name);
    if (!stored) {
      nnc_error("%s has neither a tensor '%s' nor '%s'", feeder->file->path, name, input->name);
      return false;
    }
    if (!same_type(input, stored)) {
      nnc_error("%s: '%s' is %s, but the input needs %s", feeder->file->path, stored->name,
                nnc_stored_type_text(found, stored),
                nnc_tensor_type_text(wanted, input->dtype, input->rank, input->dim));
      return false;
    }
    char *values = nnc_device_begin_write(feeder->session->device, input);
    bool good =
        nnc_safetensors_read(feeder->file, stored, values) && check_limit(feeder, entry, i, values);
    nnc_device_end_write(feeder->session->device, input);
    if (!good) return false;
  }
  return true;
}

static void print_metrics(const nnc_model *model, int64_t step, const double *metrics,
                          bool trains) {
  printf("{\"step\": %lld", (long long)step);
  for (int i = 0; i < model->metric_count; i++) {
    if (!trains && !nnc_metric_is_told(model, i, false)) continue;
    /* Exact: these numbers are there to be compared. */
    double value = metrics[i];
    fputs(", ", stdout);
    nnc_json_put_string(stdout, model->metric_names[i]);
    fputs(": ", stdout);
    if (isfinite(value)) printf("%.17g", value);
    else nnc_json_put_number(stdout, value);
  }
  puts("}");
}

/* One step of training, or with --eval one minibatch of an evaluation; its sums go to the tally. */
static bool run_step(const Feeder *feeder, nnc_tally *tally, int64_t step) {
  nnc_session *session = feeder->session;
  const nnc_model *model = session->model;
  bool trains = !session->options->eval;
  int64_t parts = trains ? model->accumulation : 1;
  for (int64_t part = 0; part < parts; part++) {
    const nnc_entry *entry = !trains            ? &model->eval
                             : part + 1 < parts ? &model->accumulate
                                                : &model->train;
    if (!feed(feeder, entry, step * parts + part)) return false;
    nnc_session_run(session, entry, trains ? step + 1 : 0,
                    trains ? part * model->batch : step * model->batch);
    nnc_tally_add(tally, entry, session->device);
  }
  return true;
}

static bool run_steps(const Feeder *feeder, int64_t steps) {
  nnc_session *session = feeder->session;
  const nnc_model *model = session->model;
  const nnc_entry *entry = session->options->eval ? &model->eval : &model->train;
  nnc_tally tally;
  double *metrics = calloc((size_t)model->metric_count + 1, sizeof *metrics);
  bool good = nnc_tally_open(&tally, entry) && metrics;
  for (int64_t step = 0; good && step < steps; step++) {
    nnc_session_host(session, step + 1, 0, steps, steps);
    nnc_tally_reset(&tally);
    good = run_step(feeder, &tally, step);
    if (!good) break;
    nnc_tally_metrics(&tally, model, entry, metrics);
    print_metrics(model, step + 1, metrics, !session->options->eval);
  }
  nnc_tally_close(&tally);
  free(metrics);
  return good;
}

static bool take_steps(nnc_session *session) {
  const nnc_options *options = session->options;
  const nnc_entry *entry = options->eval ? &session->model->eval : &session->model->train;
  if (!entry->run) {
    nnc_error("%s %s", session->model->file,
              options->eval ? "has no loss to evaluate"
                            : "does not train: it has no 'train' block");
    return false;
  }
  Feeder feeder = {session, nnc_safetensors_open(options->inputs)};
  bool good = feeder.file && nnc_session_read_initials(session) && nnc_checkpoint_init(session) &&
              run_steps(&feeder, options->steps >= 0 ? options->steps : 1);
  nnc_safetensors_close(feeder.file);
  return good &&
         nnc_checkpoint_save(session, options->arguments[0], NULL, NNC_EVERYTHING, NULL, NULL);
}

int nnc_step_command(const nnc_options *options) {
  nnc_session session;
  if (!options->inputs) {
    nnc_error("step needs --inputs FILE, a safetensors file with the inputs");
    return NNC_EXIT_USAGE;
  }
  const char *result = options->arguments[0];
  if (nnc_weights_format_of(result, "step", true) < 0) return NNC_EXIT_USAGE;
  if (!nnc_weights_may_replace(result, NNC_SAFETENSORS)) return NNC_EXIT_FAILURE;
  if (!nnc_session_open(&session, options)) return NNC_EXIT_FAILURE;
  nnc_session_initialize(&session);
  bool good = take_steps(&session);
  nnc_session_close(&session);
  return good ? NNC_EXIT_OK : NNC_EXIT_FAILURE;
}
