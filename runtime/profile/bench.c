/* The bench command: times training steps on synthetic inputs, or on the data when --data is
 * given; with --predict predictions of one example.
 *
 * Each step is timed by itself, until the device has ended it. With --ahead groups of steps are, as training
 * runs them: what the host does for a step, its inputs included, goes on beside the steps before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device_json.h"
#include "core/json.h"
#include "core/options.h"
#include "core/planned.h"
#include "core/session.h"
#include "os/message.h"
#include "profile/trial.h"
#include "profile/bench.h"
#include "os/clock.h"

enum { DEFAULT_STEPS = 50, DEFAULT_WARMUP = 5, GROUPS = 10 };

typedef struct Bench {
  nnc_session *session;
  nnc_trial trial;
  int64_t steps, warmup;
  int64_t times;    /* that are taken: of steps, or with --ahead of groups of them */
  double *seconds;  /* of a step, by each of the times in their order */
  double *sorted;   /* the same, the shortest first */
  double data_wait; /* the part of the time that loading took; -1: nothing is loaded */
} Bench;

static bool open_bench(Bench *bench, nnc_session *session) {
  const nnc_options *options = session->options;
  *bench = (Bench){.session = session,
                   .steps = options->steps >= 0 ? options->steps : DEFAULT_STEPS,
                   .warmup = options->warmup >= 0 ? options->warmup : DEFAULT_WARMUP};
  bench->times = options->ahead && bench->steps > GROUPS ? GROUPS : bench->steps;
  bench->seconds = calloc((size_t)bench->steps, sizeof *bench->seconds);
  bench->sorted = calloc((size_t)bench->steps, sizeof *bench->sorted);
  bool has_times = bench->seconds && bench->sorted;
  if (!has_times) nnc_error("cannot allocate %lld times", (long long)bench->steps);
  return has_times &&
         nnc_trial_open(&bench->trial, session, bench->warmup + bench->steps, options->ahead);
}

static void close_bench(Bench *bench) {
  nnc_trial_close(&bench->trial);
  free(bench->seconds);
  free(bench->sorted);
}

static void run_step(Bench *bench, int64_t step) {
  nnc_trial *trial = &bench->trial;
  nnc_trial_host(trial, step);
  for (int64_t run = 0; run < trial->runs; run++) {
    nnc_trial_fill(trial, run);
    double start = nnc_seconds_now();
    nnc_trial_load(trial, run);
    nnc_trial_run(trial, step, run);
    if (step > bench->warmup) bench->seconds[step - bench->warmup - 1] += nnc_seconds_now() - start;
  }
}

static void begin_step(Bench *bench, int64_t step) {
  nnc_trial *trial = &bench->trial;
  nnc_trial_host(trial, step);
  for (int64_t run = 0; run < trial->runs; run++) {
    nnc_trial_fill(trial, run);
    nnc_trial_load(trial, run);
    nnc_trial_begin(trial, step, run);
  }
}

/* Group `number` has the steps up to steps * (number + 1) / times, so sizes differ by one at most. */
static void run_groups(Bench *bench) {
  nnc_trial *trial = &bench->trial;
  int64_t step = 0, done = 0;
  while (step < bench->warmup && !trial->has_failed) begin_step(bench, ++step);
  nnc_trial_wait(trial);
  nnc_trial_start_clock(trial);
  for (int64_t group = 0; group < bench->times && !trial->has_failed; group++) {
    int64_t end = bench->steps * (group + 1) / bench->times, count = end - done;
    double start = nnc_seconds_now();
    for (; done < end && !trial->has_failed; done++) begin_step(bench, ++step);
    nnc_trial_wait(trial);
    bench->seconds[group] = (nnc_seconds_now() - start) / (double)count;
  }
}

static void run_steps(Bench *bench) {
  nnc_trial_start_clock(&bench->trial);
  for (int64_t step = 1; step <= bench->warmup + bench->steps && !bench->trial.has_failed; step++) {
    run_step(bench, step);
    if (step == bench->warmup) nnc_trial_start_clock(&bench->trial);
  }
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* Linear between the two nearest of sorted values. */
static double quantile(const double *sorted, int64_t count, double q) {
  double place = q * (double)(count - 1);
  int64_t below = (int64_t)place;
  int64_t above = below + 1 < count ? below + 1 : below;
  return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

static void put_times(const Bench *bench) {
  printf(",\"all_ms\":[");
  for (int64_t i = 0; i < bench->times; i++)
    printf("%s%.6g", i > 0 ? "," : "", bench->seconds[i] * 1e3);
  putchar(']');
}

static bool print_result(const Bench *bench) {
  const nnc_session *session = bench->session;
  const nnc_model *model = session->model;
  const nnc_entry *last = bench->trial.last;
  double before = (double)(bench->trial.runs - 1);
  double flops = before * model->accumulate.flops + last->flops;
  double products = before * model->accumulate.product_flops + last->product_flops;
  double bytes = before * model->accumulate.bytes + last->bytes;
  double median = quantile(bench->sorted, bench->times, 0.5);
  fputs("{\"model\":", stdout);
  nnc_json_put_string(stdout, model->name);
  printf(",\"batch\":%lld,\"threads\":%d,\"steps\":%lld",
         (long long)(last->batch * bench->trial.runs), session->threads, (long long)bench->steps);
  printf(",\"step_ms\":%.6g,\"p10\":%.6g,\"p90\":%.6g", median * 1e3,
         quantile(bench->sorted, bench->times, 0.1) * 1e3,
         quantile(bench->sorted, bench->times, 0.9) * 1e3);
  printf(",\"gflop\":%.6g,\"product_gflop\":%.9g,\"gflops\":%.6g,\"bytes\":%.0f", flops * 1e-9,
         products * 1e-9, flops * 1e-9 / median, bytes);
  printf(",\"arena_bytes\":%lld",
         (long long)nnc_planned_bytes(model, nnc_device_workers(session->device)));
  if (bench->data_wait >= 0) printf(",\"data_wait\":%.4g", bench->data_wait);
  nnc_device_json(stdout, model, (int)session->options->device);
  if (session->options->all) put_times(bench);
  puts("}");
  if (fflush(stdout) == 0) return true;
  nnc_error_system("write", "the result");
  return false;
}

static bool bench_model(nnc_session *session) {
  Bench bench;
  bool good = open_bench(&bench, session);
  if (good) {
    if (session->options->ahead) run_groups(&bench);
    else run_steps(&bench);
    bench.data_wait = nnc_trial_data_wait(&bench.trial);
    memcpy(bench.sorted, bench.seconds, (size_t)bench.times * sizeof *bench.sorted);
    qsort(bench.sorted, (size_t)bench.times, sizeof *bench.sorted, compare_doubles);
    good = !bench.trial.has_failed && print_result(&bench);
  }
  close_bench(&bench);
  return good;
}

int nnc_bench_command(const nnc_options *options) {
  nnc_session session;
  if (!nnc_session_open(&session, options)) return NNC_EXIT_FAILURE;
  bool good = options->data_only ? nnc_bench_data(&session) : bench_model(&session);
  nnc_session_close(&session);
  return good ? NNC_EXIT_OK : NNC_EXIT_FAILURE;
}
