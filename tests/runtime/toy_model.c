/* A generated program written by hand: linear regression with momentum, so that the runtime can be
 * tested without the compiler.  It has one of everything: parameters, a state, a stream, optimizer
 * states, host scalars, random numbers, tasks for several workers, and accumulators of two kinds.
 *
 * Macros: WIDTH (columns of x), ACCUMULATE, EPOCHS, ISA, MORE_LEVELS, ARENA_BYTES, LIMIT (of y),
 * COUNT_ALLOCATIONS, ON_CUDA.  Environment, read by the kernels: TOY_NAN_STEP=n makes the loss of step n
 * NaN, TOY_SLOW=microseconds delays each step, TOY_INTERRUPT=n and TOY_KILL=n send SIGINT and
 * SIGKILL in step n. */
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nnc_data.h"
#include "nnc_limits.h"
#include "nnc_model.h"
#include "nnc_parallel.h"

#ifndef MODEL_NAME
#define MODEL_NAME "toy"
#endif
#ifndef WIDTH
#define WIDTH 3
#endif
#ifndef ACCUMULATE
#define ACCUMULATE 1
#endif
#ifndef EPOCHS
#define EPOCHS 4
#endif
#ifndef ARENA_BYTES
#define ARENA_BYTES ARENA
#endif
#ifndef LIMIT
#define LIMIT 0
#endif
#ifndef ISA
#define ISA "any"
#endif

enum { BATCH = 10, TASKS = 5, PER_TASK = BATCH / TASKS };

/* Offsets in the arena. */
enum {
  AT_W = 0,
  AT_B = 64,
  AT_W_M = 128,
  AT_B_M = 192,
  AT_COUNT = 256,
  AT_MEMORY = 320,
  AT_GRADIENT = 384, /* accumulated: f32[WIDTH + 1] */
  AT_X = 512,
  AT_Y = 1024,
  AT_LOSS = 1536,
  AT_WORST = 1600,
  AT_PARTIAL = 1664, /* f64[TASKS][WIDTH + 3] */
  AT_VALUE = 3072,
  AT_PAIR = 3136,
  AT_IS_BIG = 3200,
  AT_KIND = 3264,
  ARENA = 4096
};
enum { PARTIALS = WIDTH + 3 }; /* gradient of w and b, loss, worst */

/* Long enough for a checkpoint to exceed the file size limit of a test, 1024 bytes. */
#define FILL_64 "# ............................................................\n"
#define FILL_512 FILL_64 FILL_64 FILL_64 FILL_64 FILL_64 FILL_64 FILL_64 FILL_64

#define F32(worker, offset) ((float *)((worker)->arena + (offset)))
#define PARTIAL(worker, task) ((double *)((worker)->arena + AT_PARTIAL) + (task)*PARTIALS)

static double random_uniform(uint64_t seed, uint64_t step, uint64_t element) {
  uint64_t z =
      seed * 0x9E3779B97F4A7C15u + step * 0xBF58476D1CE4E5B9u + element * 0x94D049BB133111EBu;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return (double)((z ^ z >> 31) >> 11) * 0x1p-53 - 0.5;
}

static void run_init(nnc_worker *worker) {
  if (worker->index == 0) {
    memset(worker->arena, 0, AT_X);
    for (int i = 0; i < WIDTH; i++)
      F32(worker, AT_W)[i] = (float)random_uniform(worker->seed, 0, (uint64_t)i);
  }
  nnc_barrier(worker);
}

static float predict_row(const nnc_worker *worker, int row) {
  float sum = F32(worker, AT_B)[0];
  for (int i = 0; i < WIDTH; i++) sum += F32(worker, AT_W)[i] * F32(worker, AT_X)[row * WIDTH + i];
  return sum;
}

/* Gradient, loss and worst error of the rows of one task. */
static void task_backward(nnc_worker *worker, int64_t task, int rows, double noise) {
  double *partial = PARTIAL(worker, task);
  memset(partial, 0, PARTIALS * sizeof *partial);
  for (int row = (int)task * rows; row < ((int)task + 1) * rows; row++) {
    double jitter =
        noise * random_uniform(worker->seed, worker->step, worker->example + (uint64_t)row);
    double error = predict_row(worker, row) - F32(worker, AT_Y)[row] + jitter;
    for (int i = 0; i < WIDTH; i++) partial[i] += error * F32(worker, AT_X)[row * WIDTH + i];
    partial[WIDTH] += error;
    partial[WIDTH + 1] += error * error;
    partial[WIDTH + 2] = fmax(partial[WIDTH + 2], fabs(error));
  }
}

/* Joins the tasks in order; by worker 0. */
static void join(nnc_worker *worker, int tasks, int rows, bool adds_gradient) {
  double loss = 0, worst = 0;
  for (int task = 0; task < tasks; task++) {
    const double *partial = PARTIAL(worker, task);
    for (int i = 0; adds_gradient && i <= WIDTH; i++)
      F32(worker, AT_GRADIENT)[i] += (float)(partial[i] / (rows * ACCUMULATE));
    loss += partial[WIDTH + 1];
    worst = fmax(worst, partial[WIDTH + 2]);
  }
  F32(worker, AT_LOSS)[0] = (float)(loss / rows);
  F32(worker, AT_WORST)[0] = (float)worst;
}

static void update(nnc_worker *worker) {
  float *gradient = F32(worker, AT_GRADIENT), *memory = F32(worker, AT_MEMORY);
  float lr = (float)worker->scalars[0] * (1 + 0.01f * memory[0]);
  memory[0] = 0.5f * memory[0] + F32(worker, AT_LOSS)[0];
  for (int i = 0; i <= WIDTH; i++) {
    float *m = i < WIDTH ? F32(worker, AT_W_M) + i : F32(worker, AT_B_M);
    float *w = i < WIDTH ? F32(worker, AT_W) + i : F32(worker, AT_B);
    *m = 0.9f * *m + gradient[i];
    *w -= lr * *m;
    gradient[i] = 0;
  }
  *(int64_t *)(worker->arena + AT_COUNT) += 1;
}

static bool is_step_of(const nnc_worker *worker, const char *variable) {
  const char *step = getenv(variable);
  return step && (uint64_t)atoll(step) == worker->step;
}

static void misbehave(nnc_worker *worker) {
  const char *slow = getenv("TOY_SLOW");
  if (is_step_of(worker, "TOY_NAN_STEP")) F32(worker, AT_LOSS)[0] = NAN;
  if (is_step_of(worker, "TOY_INTERRUPT")) kill(getpid(), SIGINT);
  if (is_step_of(worker, "TOY_KILL")) kill(getpid(), SIGKILL);
  struct timespec left = {.tv_nsec = slow ? atol(slow) % 1000000 * 1000 : 0,
                          .tv_sec = slow ? atol(slow) / 1000000 : 0};
  while (slow && nanosleep(&left, &left) != 0) continue; /* signals do not shorten it */
}

/* The numbers of the marks are those of train_steps. */
static void run_accumulate(nnc_worker *worker) {
  nnc_mark(worker, 0);
  NNC_TASKS(worker, TASKS, task) task_backward(worker, task, PER_TASK, 0.01);
  nnc_mark(worker, 1);
  nnc_barrier(worker);
  nnc_mark(worker, 2);
  if (worker->index == 0) join(worker, TASKS, BATCH, true);
  nnc_mark(worker, 3);
  nnc_barrier(worker);
  nnc_mark(worker, 4);
}

static void run_train(nnc_worker *worker) {
  run_accumulate(worker);
  if (worker->index == 0) {
    update(worker);
    misbehave(worker);
  }
  nnc_mark(worker, 5);
  nnc_barrier(worker);
  nnc_mark(worker, 6);
}

static void run_eval(nnc_worker *worker) {
  NNC_TASKS(worker, TASKS, task) task_backward(worker, task, PER_TASK, 0);
  nnc_barrier(worker);
  if (worker->index == 0) join(worker, TASKS, BATCH, false);
  nnc_barrier(worker);
}

static void run_eval_one(nnc_worker *worker) {
  if (worker->index == 0) {
    task_backward(worker, 0, 1, 0);
    join(worker, 1, 1, false);
  }
  nnc_barrier(worker);
}

static void run_predict(nnc_worker *worker) {
  if (worker->index == 0) {
    float value = predict_row(worker, 0);
    F32(worker, AT_VALUE)[0] = value;
    F32(worker, AT_PAIR)[0] = value;
    F32(worker, AT_PAIR)[1] = -value;
    *(uint8_t *)(worker->arena + AT_IS_BIG) = value > 1;
    *(int32_t *)(worker->arena + AT_KIND) = value > 0 ? 1234567 : -1;
  }
  nnc_barrier(worker);
}

static void host(const double inputs[4], double *scalars) {
  scalars[0] = 0.05 * (1 - 0.5 * inputs[0] / inputs[2]);
}

static void finish(const double *accumulators, double *metrics) {
  metrics[0] = accumulators[0];
  metrics[1] = accumulators[1];
}

/* --- Tables
 * ------------------------------------------------------------------------------------- */

static const nnc_variable variables[] = {
    {{"w", NNC_F32, 1, {WIDTH}, AT_W}, NNC_PARAM, 0, 7, 0},
    {{"b", NNC_F32, 0, {0}, AT_B}, NNC_PARAM, 0, 8, 0},
    {{"w:m", NNC_F32, 1, {WIDTH}, AT_W_M}, NNC_OPTIMIZER, 0, 0, 0},
    {{"b:m", NNC_F32, 0, {0}, AT_B_M}, NNC_OPTIMIZER, 0, 0, 0},
    {{"count", NNC_I64, 0, {0}, AT_COUNT}, NNC_STATE, 0, 9, 0},
    {{"memory", NNC_F32, 0, {0}, AT_MEMORY}, NNC_STREAM, 0, 10, 0},
};

static const nnc_tensor inputs[] = {{"x", NNC_F32, 2, {BATCH, WIDTH}, AT_X},
                                    {"y", NNC_F32, 1, {BATCH}, AT_Y}};
static const nnc_tensor inputs_one[] = {{"x", NNC_F32, 2, {1, WIDTH}, AT_X},
                                        {"y", NNC_F32, 1, {1}, AT_Y}};
static const unsigned char are_batched[] = {1, 1};
static const int64_t limits[] = {0, LIMIT};
static const nnc_accumulator accumulators[] = {
    {"loss", NNC_MEAN, {"loss", NNC_F32, 0, {0}, AT_LOSS}},
    {"worst", NNC_MAX, {"worst", NNC_F32, 0, {0}, AT_WORST}},
};
static const nnc_tensor results[] = {{"value", NNC_F32, 1, {1}, AT_VALUE},
                                     {"pair", NNC_F32, 2, {1, 2}, AT_PAIR},
                                     {"is_big", NNC_BOOL, 1, {1}, AT_IS_BIG},
                                     {"kind", NNC_I32, 1, {1}, AT_KIND}};

#define FILE_ARGUMENT(file)                                                                        \
  {                                                                                                \
    "", { NNC_STRING, 0, file, 0, NULL }                                                           \
  }
static const nnc_argument train_x[] = {FILE_ARGUMENT("train_x.npy")};
static const nnc_argument train_y[] = {FILE_ARGUMENT("train_y.npy")};
static const nnc_argument test_x[] = {FILE_ARGUMENT("test_x.npy")};
static const nnc_argument test_y[] = {FILE_ARGUMENT("test_y.npy")};
static const nnc_call calls[] = {
    {"npy", &nnc_source_npy, NULL, 1, train_x, 1, 1},
    {"npy", &nnc_source_npy, NULL, 1, train_y, 2, 1},
    {"npy", &nnc_source_npy, NULL, 1, test_x, 3, 1},
    {"npy", &nnc_source_npy, NULL, 1, test_y, 4, 1},
};
static const nnc_argument x_name[] = {{"", {.kind = NNC_FIELD, .string = "x"}}};
static const nnc_call train_x_calls[] = {
    {"npy", &nnc_source_npy, NULL, 1, train_x, 1, 1},
    {"standardize", NULL, &nnc_stage_standardize, 1, x_name, 1, 20},
};
static const char *const x_field[] = {"x"}, *const y_field[] = {"y"};
static const nnc_pipeline train_pipelines[] = {{1, x_field, 2, train_x_calls},
                                               {1, y_field, 1, &calls[1]}};
static const nnc_pipeline test_pipelines[] = {{1, x_field, 1, &calls[2]},
                                              {1, y_field, 1, &calls[3]}};
static const nnc_data_set data_sets[] = {{"train", 2, train_pipelines, 0, 0},
                                         {"test", 2, test_pipelines, 0, 0}};
static const char *const metric_names[] = {"loss", "worst"};
static const char *const scalar_names[] = {"lr"};

static const nnc_step train_steps[] = {
    {"contraction", "contract+2", "backward", "error", "partial", 6.0 * BATCH *WIDTH,
     4.0 * BATCH *WIDTH, TASKS, 11},
    NNC_BARRIER,
    {"reduction", "reduce_sum", "join", "loss", "loss, worst, gradient", TASKS,
     8.0 * TASKS *PARTIALS, 1, 12},
    NNC_BARRIER,
    {"elementwise", "add+3", "update", "w", "w:m, w, b:m, b", 4.0 * (WIDTH + 1), 16.0 * (WIDTH + 1),
     1, 13},
    NNC_BARRIER,
};

NNC_DEFINE_LIMITS(f32);

/* For the test that training allocates nothing: the number of allocations does not depend on the
 * number of steps.  Linked with -Wl,--wrap for the three. */
#ifdef COUNT_ALLOCATIONS
static _Atomic long allocations;
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_malloc(size_t bytes) {
  allocations++;
  return __real_malloc(bytes);
}
void *__wrap_calloc(size_t count, size_t bytes) {
  allocations++;
  return __real_calloc(count, bytes);
}
void *__wrap_aligned_alloc(size_t alignment, size_t bytes) {
  allocations++;
  return __real_aligned_alloc(alignment, bytes);
}
__attribute__((destructor)) static void tell_allocations(void) {
  fprintf(stderr, "allocations: %ld\n", allocations);
}
#endif

#define ENTRY(tensors, count, batch_, result_count_, results_, step_count_)                        \
  {                                                                                                \
    .input_count = count, .inputs = tensors, .input_is_batched = are_batched,                      \
    .input_limits = limits, .batch = batch_, .accumulator_count = result_count_ ? 0 : 2,           \
    .accumulators = accumulators, .result_count = result_count_, .results = results_,              \
    .flops = 8.0 * (batch_)*WIDTH, .bytes = 4.0 * (batch_)*WIDTH, .step_count = step_count_,       \
    .steps = train_steps, .is_for_all = 1                                                          \
  }

#ifdef ON_CUDA
#include "toy_cuda.h"
#define RUN(name) launched_##name
#else
#define RUN(name) run_##name
#endif

static const nnc_level level = {
    .name = MODEL_NAME,
    .isa = ISA,
    .extensions = "",
    .limits = &nnc_limits_f32,
    .host = host,
    .finish = finish,
    .run = {RUN(init), RUN(train), RUN(accumulate), RUN(eval), RUN(eval_one), RUN(predict)},
};
#ifdef MORE_LEVELS /* the same code under a name that wants what no processor has */
static const nnc_level level_beyond = {
    .name = "toy-beyond",
    .isa = "beyond",
    .extensions = "teleport ",
    .limits = &nnc_limits_f32,
    .host = host,
    .finish = finish,
    .run = {RUN(init), RUN(train), RUN(accumulate), RUN(eval), RUN(eval_one), RUN(predict)},
};
static const nnc_level *const levels[] = {&level, &level_beyond};
#else
static const nnc_level *const levels[] = {&level};
#endif

nnc_model nnc_the_model = {
    .abi = NNC_MODEL_ABI,
    .name = MODEL_NAME,
    .file = "toy.net",
    .source = "# a toy\nwidth = 3\nisa = " ISA "\nend\n" FILL_512 FILL_512,
    .compiler = "by hand",
    .level_count = sizeof levels / sizeof *levels,
    .levels = levels,
    .arena_bytes = ARENA_BYTES,
    .worker_bytes = 64,
    .parameter_bytes = 4 * (WIDTH + 1),
    .optimizer_bytes = 4 * (WIDTH + 1),
    .state_bytes = 8,
    .activation_bytes = ARENA - AT_X,
    .variable_count = 6,
    .variables = variables,
    .train = ENTRY(inputs, 2, BATCH, 0, NULL, 6),
    .accumulate = ENTRY(inputs, 2, BATCH, 0, NULL, 4),
    .eval = ENTRY(inputs, 2, BATCH, 0, NULL, 0),
    .eval_one = ENTRY(inputs_one, 2, 1, 0, NULL, 0),
    .predict = ENTRY(inputs_one, 1, 1, 4, results, 0),
    .scalar_count = 1,
    .scalar_names = scalar_names,
    .metric_count = 2,
    .metric_names = metric_names,
    .data_set_count = 2,
    .data_sets = data_sets,
    .batch = BATCH,
    .epochs = EPOCHS,
    .accumulation = ACCUMULATE,
    .seed = 1,
};
