/* `bench --data-only`: how fast training's minibatches are loaded when nothing else is done.
 *
 * Rows that are made as they are read (pictures) are timed by the kinds of work: the processor time
 * of the threads that make them, which no other work on the machine adds to. */
#include <stdio.h>
#include <time.h>

#include "core/json.h"
#include "data/read.h"
#include "os/clock.h"
#include "os/message.h"
#include "profile/bench.h"
#include "profile/trial.h"

enum { DEFAULT_STEPS = 50, DEFAULT_WARMUP = 5 };

typedef struct Loading {
  double seconds;   /* passed */
  double processor; /* of all threads of the process */
  nnc_data_spent spent;
} Loading;

static double processor_seconds(void) {
  struct timespec now;
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) != 0) return 0;
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static Loading look(const nnc_trial *trial) {
  return (Loading){nnc_seconds_now(), processor_seconds(), nnc_data_spend(trial->data)};
}

static void load_steps(nnc_trial *trial, int64_t steps) {
  for (int64_t step = 0; step < steps; step++)
    for (int64_t run = 0; run < trial->runs && !trial->has_failed; run++)
      nnc_trial_load(trial, run);
}

/* Loads what is to be measured once before, so that the cache has it; the seconds that took. */
static double load_before(nnc_trial *trial, int64_t steps) {
  int64_t epoch, index;
  nnc_loader_position(trial->loader, &epoch, &index);
  double start = nnc_seconds_now();
  load_steps(trial, steps);
  double seconds = nnc_seconds_now() - start;
  nnc_loader_seek(trial->loader, epoch, index);
  return seconds;
}

/* Of what was loaded between two looks; `first`: how long it took for the first time, 0: it was not loaded before. */
static bool print_loading(const nnc_session *session, const Loading *from, const Loading *to,
                          int64_t examples, double first) {
  static const char *const names[NNC_DATA_WORKS] = {"read", "decode", "scale", "convert"};
  double seconds = to->seconds - from->seconds, processor = to->processor - from->processor;
  int64_t rows = to->spent.rows - from->spent.rows;
  fputs("{\"model\":", stdout);
  nnc_json_put_string(stdout, session->model->name);
  printf(",\"examples\":%lld,\"data_threads\":%d,\"seconds\":%.6g", (long long)examples,
         to->spent.threads, seconds);
  printf(",\"examples_per_second\":%.6g,\"processor_ms\":%.6g", (double)examples / seconds,
         processor * 1e3 / (double)examples);
  for (int w = 0; w < NNC_DATA_WORKS && rows > 0; w++)
    printf(",\"%s_ms\":%.6g", names[w],
           (to->spent.seconds[w] - from->spent.seconds[w]) * 1e3 / (double)rows);
  if (first > 0 && rows > 0)
    printf(",\"cached\":%.4g,\"first_per_second\":%.6g,\"gain\":%.4g",
           (double)(to->spent.cached - from->spent.cached) / (double)rows, (double)examples / first,
           first / seconds);
  puts("}");
  if (fflush(stdout) == 0) return true;
  nnc_error_system("write", "the result");
  return false;
}

bool nnc_bench_data(nnc_session *session) {
  const nnc_options *options = session->options;
  int64_t steps = options->steps >= 0 ? options->steps : DEFAULT_STEPS;
  int64_t warmup = options->warmup >= 0 ? options->warmup : DEFAULT_WARMUP;
  nnc_trial trial;
  bool good = nnc_trial_open(&trial, session, warmup + steps, false);
  if (good && !trial.loader) {
    nnc_error("--data-only: training reads no data");
    good = false;
  }
  if (good) {
    load_steps(&trial, warmup);
    double first = options->cache ? load_before(&trial, steps) : 0;
    Loading from = look(&trial);
    load_steps(&trial, steps);
    Loading to = look(&trial);
    int64_t examples = steps * trial.runs * session->model->train.batch;
    good = !trial.has_failed && print_loading(session, &from, &to, examples, first);
  }
  nnc_trial_close(&trial);
  return good;
}
