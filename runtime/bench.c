/* The bench command: times training steps on synthetic inputs, or on the data when --data is
 * given. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "json.h"
#include "message.h"
#include "number.h"
#include "progress.h"
#include "session.h"

enum { DEFAULT_STEPS = 50, DEFAULT_WARMUP = 5 };

typedef struct Bench {
  nnc_session *session;
  nnc_data *data;
  nnc_loader *loader;  /* NULL: synthetic inputs, filled once */
  void **places, **accumulate_places;
  int64_t steps, warmup;
  double *seconds;     /* of each step */
} Bench;

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

static void fill_entry(const nnc_session *session, const nnc_entry *entry) {
  uint64_t state = session->seed * 2 + 1;
  for (int i = 0; i < entry->input_count; i++)
    fill_input(nnc_session_at(session, &entry->inputs[i]), &entry->inputs[i],
               entry->input_limits ? entry->input_limits[i] : 0, &state);
}

/* --- Opening -------------------------------------------------------------------------------- */

static bool open_data(Bench *bench) {
  nnc_session *session = bench->session;
  const nnc_model *model = session->model;
  char message[NNC_MESSAGE];
  if (!session->options->data || model->train.input_count == 0) return true;
  bench->data = nnc_session_open_data(session, "train", &model->train);
  if (!bench->data) return false;
  nnc_loader_options options = nnc_loader_training(model, bench->data);
  bench->loader = nnc_loader_open(bench->data, &options, message);
  if (!bench->loader) nnc_error("data train: %s", message);
  return bench->loader != NULL;
}

static bool open_bench(Bench *bench, nnc_session *session) {
  const nnc_model *model = session->model;
  const nnc_options *options = session->options;
  *bench = (Bench){.session = session,
                   .steps = options->steps >= 0 ? options->steps : DEFAULT_STEPS,
                   .warmup = options->warmup >= 0 ? options->warmup : DEFAULT_WARMUP};
  if (!model->train.run || bench->steps < 1) {
    nnc_error(model->train.run ? "--steps: at least 1" : "%s does not train", model->file);
    return false;
  }
  bench->seconds = calloc((size_t)bench->steps, sizeof *bench->seconds);
  bench->places = nnc_session_bind(session, &model->train, &model->train);
  bench->accumulate_places = nnc_session_bind(
      session, &model->train, model->accumulation > 1 ? &model->accumulate : &model->train);
  if (!bench->seconds) nnc_error("cannot allocate %lld times", (long long)bench->steps);
  return bench->seconds && bench->places && bench->accumulate_places && open_data(bench);
}

static void close_bench(Bench *bench) {
  nnc_loader_close(bench->loader);
  nnc_data_close(bench->data);
  free(bench->seconds);
  free(bench->places);
  free(bench->accumulate_places);
}

/* --- Running -------------------------------------------------------------------------------- */

static void run_step(Bench *bench, int64_t step) {
  nnc_session *session = bench->session;
  const nnc_model *model = session->model;
  nnc_session_host(session, step, 0, bench->warmup + bench->steps, bench->warmup + bench->steps);
  for (int64_t i = 0; i < model->accumulation || i == 0; i++) {
    bool is_last = i + 1 >= model->accumulation;
    const nnc_entry *entry = is_last ? &model->train : &model->accumulate;
    void *const *places = is_last ? bench->places : bench->accumulate_places;
    if (!bench->loader) fill_entry(session, entry);
    double start = nnc_seconds_now();
    if (bench->loader) nnc_loader_next(bench->loader, places);
    nnc_session_run(session, entry, step, i * entry->batch);
    if (step > bench->warmup)
      bench->seconds[step - bench->warmup - 1] += nnc_seconds_now() - start;
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

static bool print_result(const Bench *bench) {
  const nnc_session *session = bench->session;
  const nnc_model *model = session->model;
  double before = (double)(model->accumulation > 1 ? model->accumulation - 1 : 0);
  double flops = before * model->accumulate.flops + model->train.flops;
  double bytes = before * model->accumulate.bytes + model->train.bytes;
  double median = quantile(bench->seconds, bench->steps, 0.5);
  fputs("{\"model\":", stdout);
  nnc_json_put_string(stdout, model->name);
  printf(",\"batch\":%lld,\"threads\":%d,\"steps\":%lld",
         (long long)(model->train.batch * (int64_t)(before + 1)), session->threads,
         (long long)bench->steps);
  printf(",\"step_ms\":%.6g,\"p10\":%.6g,\"p90\":%.6g", median * 1e3,
         quantile(bench->seconds, bench->steps, 0.1) * 1e3,
         quantile(bench->seconds, bench->steps, 0.9) * 1e3);
  printf(",\"gflop\":%.6g,\"gflops\":%.6g,\"bytes\":%.0f", flops * 1e-9, flops * 1e-9 / median,
         bytes);
  printf(",\"arena_bytes\":%lld}\n",
         (long long)(model->arena_bytes + model->worker_bytes * session->threads));
  if (fflush(stdout) == 0) return true;
  nnc_error_system("write", "the result");
  return false;
}

static bool bench_model(nnc_session *session) {
  Bench bench;
  bool good = open_bench(&bench, session);
  if (good) {
    nnc_session_initialize(session);
    nnc_streams_start(session);
    for (int64_t step = 1; step <= bench.warmup + bench.steps; step++) run_step(&bench, step);
    qsort(bench.seconds, (size_t)bench.steps, sizeof *bench.seconds, compare_doubles);
    good = print_result(&bench);
  }
  close_bench(&bench);
  return good;
}

int nnc_bench_command(const nnc_options *options) {
  nnc_session session;
  if (!nnc_session_open(&session, options)) return NNC_EXIT_FAILURE;
  bool good = bench_model(&session);
  nnc_session_close(&session);
  return good ? NNC_EXIT_OK : NNC_EXIT_FAILURE;
}
