/* The profile command: where the time of a training step goes, or with --predict that of a prediction.
 *
 * Steps with marks and steps without alternate, so that what measuring costs is measured too.
 * Of the marked steps the middle half by duration counts: on a busy machine a few steps take far
 * longer, and the tables should tell of the others. The loop allocates nothing. */

#include "profile/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/options.h"
#include "core/session.h"
#include "data/read.h"
#include "os/message.h"
#include "nnc_parallel.h"
#include "os/clock.h"

enum { DEFAULT_STEPS = 50, DEFAULT_WARMUP = 5, TRACE_STEPS = 5, MARKS_A_LINE = 8 };

static int workers_of(const nnc_profile *profile) {
  return nnc_device_workers(profile->session->device);
}

/* --- Rows ----------------------------------------------------------------------------------- */

static void add_rows(nnc_profile *profile, const nnc_entry *entry, const char *name, double calls) {
  const nnc_step *before = NULL;
  for (int i = 0; i < entry->step_count; i++) {
    const nnc_step *step = &entry->steps[i];
    bool is_barrier = !*step->path && before;
    profile->rows[profile->row_count++] =
        (nnc_profile_row){.class_name = step->class_name,
                          .operator_name = step->operator_name,
                          .name = is_barrier ? before->path : step->path,
                          .step = step,
                          .entry = name,
                          .number = i,
                          .calls = calls * (double)(step->rounds > 0 ? step->rounds : 1),
                          .flops = step->flops * calls,
                          .bytes = step->bytes * calls};
    if (*step->path) before = step;
  }
}

static bool make_rows(nnc_profile *profile) {
  static const nnc_profile_row own[NNC_ROW_OWN_COUNT] = {
      [NNC_ROW_HOST] = {.class_name = "host", .name = "schedules"},
      [NNC_ROW_DATA] = {.class_name = "data", .name = "next minibatch"},
      [NNC_ROW_START] = {.class_name = "start", .name = "workers begin"},
      [NNC_ROW_JOIN] = {.class_name = "barrier", .name = "workers end"}};
  const nnc_model *model = profile->session->model;
  const nnc_entry *last = profile->trial.last;
  double earlier = (double)(profile->trial.runs - 1);
  int count = NNC_ROW_OWN_COUNT + last->step_count + model->accumulate.step_count;
  profile->rows = calloc((size_t)count, sizeof *profile->rows);
  if (!profile->rows) {
    nnc_error("cannot allocate %d rows", count);
    return false;
  }
  for (int i = 0; i < NNC_ROW_OWN_COUNT; i++) {
    profile->rows[i] = own[i];
    profile->rows[i].operator_name = profile->rows[i].entry = "";
    profile->rows[i].calls = i == NNC_ROW_HOST ? 1 : (double)profile->trial.runs;
  }
  if (!profile->trial.loader) profile->rows[NNC_ROW_DATA].calls = 0;
  profile->row_count = profile->first_row[0] = NNC_ROW_OWN_COUNT;
  if (earlier > 0) add_rows(profile, &model->accumulate, "accumulate", earlier);
  profile->first_row[1] = profile->row_count;
  add_rows(profile, last, last == &model->train ? "train" : "predict", 1);
  return true;
}

/* --- Memory --------------------------------------------------------------------------------- */

/* NULL after a message; zeroed. */
static void *take(int64_t count, int64_t each, size_t size) {
  int64_t elements;
  void *memory = NULL;
  if (!__builtin_mul_overflow(count, each, &elements) && (uint64_t)elements < SIZE_MAX / size)
    memory = aligned_alloc(64, ((size_t)elements * size + 63) / 64 * 64 + 64);
  if (!memory) nnc_error("cannot allocate the times of %lld steps", (long long)count);
  else memset(memory, 0, (size_t)elements * size);
  return memory;
}

static bool take_trace(nnc_profile *profile) {
  int64_t runs = profile->trial.runs, marks = profile->stride * workers_of(profile);
  if (!profile->session->options->trace) return true;
  profile->trace_steps = profile->steps < TRACE_STEPS ? profile->steps : TRACE_STEPS;
  profile->trace = take(profile->trace_steps, runs, sizeof *profile->trace);
  profile->trace_begin = take(profile->trace_steps, 1, sizeof *profile->trace_begin);
  profile->trace_marks = take(profile->trace_steps * runs, marks, sizeof *profile->trace_marks);
  if (!profile->trace || !profile->trace_begin || !profile->trace_marks) return false;
  for (int64_t i = 0; i < profile->trace_steps * runs; i++)
    profile->trace[i].marks = profile->trace_marks + i * marks;
  return true;
}

static bool take_times(nnc_profile *profile) {
  const nnc_model *model = profile->session->model;
  int last = profile->trial.last->step_count, earlier = model->accumulate.step_count;
  int most = last > earlier ? last : earlier;
  profile->stride = ((int64_t)most + 1 + MARKS_A_LINE - 1) / MARKS_A_LINE * MARKS_A_LINE;
  profile->times = take(profile->steps, profile->row_count, sizeof *profile->times);
  profile->marked = take(profile->steps, 1, sizeof *profile->marked);
  profile->plain = take(profile->steps, 1, sizeof *profile->plain);
  profile->marks = take(profile->stride, workers_of(profile), sizeof *profile->marks);
  return profile->times && profile->marked && profile->plain && profile->marks &&
         take_trace(profile);
}

static bool open_profile(nnc_profile *profile, nnc_session *session) {
  const nnc_options *options = session->options;
  *profile = (nnc_profile){.session = session,
                           .steps = options->steps >= 0 ? options->steps : DEFAULT_STEPS,
                           .warmup = options->warmup >= 0 ? options->warmup : DEFAULT_WARMUP};
  return nnc_trial_open(&profile->trial, session, profile->warmup + 2 * profile->steps, false) &&
         make_rows(profile) && take_times(profile);
}

void nnc_profile_close(nnc_profile *profile) {
  nnc_profile_free_tables(profile);
  nnc_trial_close(&profile->trial);
  free(profile->rows);
  free(profile->times);
  free(profile->marked);
  free(profile->plain);
  free(profile->marks);
  free(profile->trace);
  free(profile->trace_begin);
  free(profile->trace_marks);
}

/* --- Running -------------------------------------------------------------------------------- */

/* Adds one run's times to the rows of its step. */
static void add_run(const nnc_profile *profile, const nnc_profile_run *run, int64_t index,
                    int64_t *times) {
  const nnc_entry *entry = nnc_trial_entry(&profile->trial, index);
  int workers = workers_of(profile);
  int64_t *rows = times + profile->first_row[index + 1 == profile->trial.runs];
  times[NNC_ROW_DATA] += (run->begin - run->load) * workers;
  for (int w = 0; w < workers; w++) {
    const int64_t *marks = run->marks + w * profile->stride;
    times[NNC_ROW_START] += marks[0] - run->begin;
    for (int i = 0; i < entry->step_count; i++) rows[i] += marks[i + 1] - marks[i];
    times[NNC_ROW_JOIN] += run->end - marks[entry->step_count];
  }
}

/* Keeps one run's times for the trace when it is one of the last steps. */
static void keep_run(nnc_profile *profile, const nnc_profile_run *run, int64_t step,
                     int64_t index) {
  int64_t kept = step - (profile->steps - profile->trace_steps);
  if (kept < 0) return;
  nnc_profile_run *place = &profile->trace[kept * profile->trial.runs + index];
  place->load = run->load;
  place->begin = run->begin;
  place->end = run->end;
  memcpy(place->marks, run->marks,
         sizeof *run->marks * (size_t)(profile->stride * workers_of(profile)));
}

/* Step `number` from 1; its times go to measured step `step`, nowhere when that is negative. */
static int64_t run_step(nnc_profile *profile, int64_t number, int64_t step) {
  nnc_trial *trial = &profile->trial;
  int workers = workers_of(profile);
  nnc_device_mark(profile->session->device, step >= 0 ? profile->marks : NULL, profile->stride);
  int64_t *times = step >= 0 ? profile->times + step * profile->row_count : NULL;
  int64_t begin = nnc_nanoseconds_now();
  nnc_trial_host(trial, number);
  int64_t taken = nnc_nanoseconds_now() - begin;
  if (times) times[NNC_ROW_HOST] = taken * workers;
  for (int64_t i = 0; i < trial->runs; i++) {
    nnc_profile_run run = {.marks = profile->marks};
    nnc_trial_fill(trial, i);
    run.load = run.begin = nnc_nanoseconds_now();
    if (trial->loader) {
      nnc_trial_load(trial, i);
      run.begin = nnc_nanoseconds_now();
    }
    nnc_trial_run(trial, number, i);
    run.end = nnc_nanoseconds_now();
    taken += run.end - run.load;
    if (!times) continue;
    add_run(profile, &run, i, times);
    keep_run(profile, &run, step, i);
  }
  int64_t kept = step - (profile->steps - profile->trace_steps);
  if (step >= 0 && kept >= 0 && profile->trace_steps > 0) profile->trace_begin[kept] = begin;
  return taken;
}

static double sum_spent(const nnc_data_spent *spent) {
  double sum = 0;
  for (int w = 0; w < NNC_DATA_WORKS; w++) sum += spent->seconds[w];
  return sum;
}

/* What was spent since `before`, by steps; the loader is ahead by a few. */
static void note_loading(nnc_profile *profile, const nnc_data_spent *before) {
  nnc_data_spent after = nnc_data_spend(profile->trial.data);
  profile->loading_threads = after.threads;
  profile->loading_seconds = (sum_spent(&after) - sum_spent(before)) / (double)(2 * profile->steps);
}

/* In pairs, the marked step first in every other: neither kind is always the later one. */
static void run_steps(nnc_profile *profile) {
  int64_t number = 0;
  nnc_data *data = profile->trial.data;
  for (int64_t i = 0; i < profile->warmup; i++) run_step(profile, ++number, -1);
  nnc_data_spent before = data ? nnc_data_spend(data) : (nnc_data_spent){0};
  for (int64_t i = 0; i < profile->steps && !profile->trial.has_failed; i++) {
    bool is_marked_first = i % 2 == 0;
    if (is_marked_first) profile->marked[i] = run_step(profile, ++number, i);
    profile->plain[i] = run_step(profile, ++number, -1);
    if (!is_marked_first) profile->marked[i] = run_step(profile, ++number, i);
  }
  if (data) note_loading(profile, &before);
}

static double time_mark(const nnc_profile *profile) {
  enum { COUNT = 2000 };
  nnc_worker worker = {.marks = profile->marks};
  int64_t start = nnc_nanoseconds_now();
  for (int i = 0; i < COUNT; i++) nnc_mark_now(&worker, 0);
  return (double)(nnc_nanoseconds_now() - start) * 1e-9 / COUNT;
}

static bool show(const nnc_profile *profile) {
  const nnc_options *options = profile->session->options;
  if (options->json) nnc_profile_print_json(profile);
  else nnc_profile_print(profile);
  if (fflush(stdout) != 0) {
    nnc_error_system("write", "the profile");
    return false;
  }
  if (!options->trace) return true;
  if (!nnc_profile_write_trace(profile, options->trace)) return false;
  nnc_note("wrote %s", options->trace);
  return true;
}

bool nnc_profile_measure(nnc_profile *profile, nnc_session *session) {
  if (!open_profile(profile, session)) return false;
  profile->has_bound = !session->options->no_bound;
  if (profile->has_bound &&
      !nnc_speed_measure(session->device, session->model, session->threads, &profile->speed))
    return false;
  run_steps(profile);
  profile->mark_seconds = time_mark(profile);
  return !profile->trial.has_failed && nnc_profile_tabulate(profile);
}

int nnc_profile_command(const nnc_options *options) {
  nnc_session session;
  if (options->trace && !nnc_profile_check_trace(options->trace)) return NNC_EXIT_FAILURE;
  if (!nnc_session_open(&session, options)) return NNC_EXIT_FAILURE;
  nnc_profile profile;
  bool good = nnc_profile_measure(&profile, &session) && show(&profile);
  nnc_profile_close(&profile);
  nnc_session_close(&session);
  return good ? NNC_EXIT_OK : NNC_EXIT_FAILURE;
}
