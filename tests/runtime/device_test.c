/* core/device.h and core/feed.h: parts of tensors are read and written without a trace elsewhere, entries run
 * on what was written, and inputs are matched by name.  Built with the runtime's invariants checked. */
#include <stdio.h>
#include <string.h>

#include "core/device.h"
#include "core/feed.h"
#include "nnc_parallel.h"

static int failures;

#define expect(condition)                                                                          \
  do {                                                                                             \
    if (condition) break;                                                                          \
    printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                                         \
    failures++;                                                                                    \
  } while (0)

enum { WORKERS = 3, TASKS = 6 };

static const nnc_tensor a = {"a", NNC_F32, 2, {2, 3}, 0}, b = {"b", NNC_F32, 2, {2, 3}, 64},
                        flag = {"flag", NNC_BOOL, 1, {1}, 128}, big = {"big", NNC_I64, 0, {0}, 192},
                        half = {"half", NNC_BF16, 1, {2}, 256},
                        turned = {"turned", NNC_F32, 3, {2, 3, 2}, 384},
                        stream = {"stream", NNC_F32, 1, {1}, 448};

/* b = a * scalar + step, a task an element. */
static void run_shared(nnc_worker *worker) {
  const float *from = (const float *)worker->arena;
  float *to = (float *)(worker->arena + b.offset);
  nnc_mark(worker, 0);
  NNC_TASKS(worker, TASKS, i)
  to[i] = from[i] * (float)worker->scalars[0] + (float)worker->step;
  nnc_barrier(worker);
  nnc_mark(worker, 1);
}

static void run_alone(nnc_worker *worker) {
  expect(worker->count == 1);
  nnc_mark(worker, 0);
  *(int64_t *)(worker->arena + big.offset) = (int64_t)worker->example;
  nnc_mark(worker, 1);
}

static const nnc_step shared_step = {.class_name = "elementwise", .tasks = TASKS},
                      alone_step = {.class_name = "elementwise", .tasks = 1};

/* run_turned: the elements of `turned` as they lie. */
static float laid[12];

static void run_turned(nnc_worker *worker) {
  nnc_mark(worker, 0);
  memcpy(laid, worker->arena + turned.offset, sizeof laid);
  nnc_mark(worker, 1);
}

/* Row-major outside, [n, place, c] inside: whole and by parts that begin and end within rows. */
static void test_turned(nnc_device *device) {
  static const float inside[12] = {0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11};
  static const nnc_entry entry = {.run = run_turned, .steps = &alone_step, .step_count = 1};
  const nnc_run run = {.scalars = (const double[]){0}};
  float values[12], found[12];
  for (int i = 0; i < 12; i++) values[i] = (float)i;
  nnc_device_write(device, &turned, 0, 5, values);
  nnc_device_write(device, &turned, 5, 7, values + 5);
  nnc_device_run(device, &entry, &run);
  expect(memcmp(laid, inside, sizeof inside) == 0);
  nnc_device_read(device, &turned, 0, 12, found);
  expect(memcmp(found, values, sizeof values) == 0);
  nnc_device_read(device, &turned, 4, 5, found);
  expect(memcmp(found, values + 4, 5 * sizeof *values) == 0);
}

static void test_parts(nnc_device *device) {
  const float ones[6] = {1, 1, 1, 1, 1, 1}, two[2] = {7, 8};
  const float wanted[6] = {1, 1, 7, 8, 1, 1};
  float found[6], untouched[6], part[2];
  nnc_device_write(device, &a, 0, 6, ones);
  nnc_device_write(device, &a, 2, 2, two);
  nnc_device_read(device, &a, 0, 6, found);
  nnc_device_read(device, &b, 0, 6, untouched);
  nnc_device_read(device, &a, 3, 2, part);
  expect(memcmp(found, wanted, sizeof wanted) == 0);
  expect(part[0] == 8 && part[1] == 1);
  for (int i = 0; i < 6; i++) expect(untouched[i] == 0);
  nnc_device_write(device, &a, 6, 0, two); /* nothing, at the end */
  nnc_device_read(device, &a, 0, 6, found);
  expect(memcmp(found, wanted, sizeof wanted) == 0);
}

static void test_numbers(nnc_device *device) {
  nnc_device_write(device, &flag, 0, 1, "\1");
  nnc_device_write(device, &half, 0, 2, (const uint16_t[]){0x4049, 0xbf80});
  nnc_device_write(device, &big, 0, 1, (const int64_t[]){-5});
  expect(nnc_device_number(device, &flag) == 1);
  expect(nnc_device_number(device, &half) == 3.140625);
  expect(nnc_device_number(device, &big) == -5);
}

static void test_run(nnc_device *device) {
  static const nnc_entry shared = {.run = run_shared, .step_count = 1, .is_for_all = 1};
  static const nnc_entry alone = {.run = run_alone, .step_count = 1, .steps = &alone_step};
  const double scalars[1] = {10};
  int64_t marks[WORKERS][8] = {{0}};
  float *input = nnc_device_begin_write(device, &a), found[6];
  for (int i = 0; i < 6; i++) input[i] = (float)i;
  nnc_device_end_write(device, &a);
  nnc_device_run(device, &shared, &(nnc_run){scalars, 1, 4, 0, NULL});
  nnc_device_read(device, &b, 0, 6, found);
  for (int i = 0; i < 6; i++) expect(found[i] == (float)(10 * i + 4));
  nnc_device_mark(device, &marks[0][0], 8);
  nnc_device_run(device, &shared, &(nnc_run){scalars, 1, 4, 0, NULL});
  for (int w = 0; w < WORKERS; w++) expect(marks[w][0] > 0 && marks[w][1] >= marks[w][0]);
  nnc_device_run(device, &alone, &(nnc_run){scalars, 1, 0, 9, NULL});
  for (int w = 1; w < WORKERS; w++)
    expect(marks[w][0] == marks[0][0] && marks[w][1] == marks[0][0]);
  nnc_device_mark(device, NULL, 0);
  nnc_device_run(device, &alone, &(nnc_run){scalars, 1, 0, 12, NULL});
  expect(nnc_device_number(device, &big) == 12);
}

/* run_keeping: whether its kernels are to pack the weights that they keep. */
static bool fills;

static void run_keeping(nnc_worker *worker) {
  nnc_mark(worker, 0);
  fills = worker->fills;
  nnc_mark(worker, 1);
}

static bool packs(nnc_device *device, const nnc_entry *entry) {
  nnc_device_run(device, entry, &(nnc_run){.scalars = (const double[]){0}});
  return fills;
}

/* Weights that are kept stay as long as the entry alone runs, and only its inputs and streams are written. */
static void test_kept(nnc_device *device) {
  static const nnc_entry keeping = {.run = run_keeping,
                                    .steps = &alone_step,
                                    .step_count = 1,
                                    .inputs = &half,
                                    .input_count = 1},
                         other = {.run = run_keeping, .steps = &alone_step, .step_count = 1};
  const float one = 1;
  expect(packs(device, &keeping));
  expect(!packs(device, &keeping));
  nnc_device_write(device, &half, 0, 2, (const uint16_t[]){1, 2}); /* its input */
  nnc_device_write(device, &stream, 0, 1, &one);
  expect(!packs(device, &keeping));
  nnc_device_write(device, &a, 1, 1, &one); /* a parameter */
  expect(packs(device, &keeping));
  expect(!packs(device, &keeping));
  nnc_device_begin_write(device, &a);
  nnc_device_end_write(device, &a);
  expect(packs(device, &keeping));
  nnc_device_write(device, &flag, 0, 1, "\1"); /* nothing that it knows */
  expect(packs(device, &keeping));
  expect(packs(device, &other));
  expect(packs(device, &keeping));
  expect(!packs(device, &keeping));
}

/* Of the inputs a and flag, the other entry reads `a` elsewhere and has no flag. */
static void test_feed(nnc_device *device) {
  const nnc_tensor moved = {"a", NNC_F32, 2, {1, 3}, 320}, unknown = {"c", NNC_F32, 0, {0}, 320};
  const nnc_tensor inputs[2] = {a, flag};
  const nnc_entry opened = {.input_count = 2, .inputs = inputs};
  const nnc_entry other = {.input_count = 1, .inputs = &moved};
  const nnc_entry wrong = {.input_count = 1, .inputs = &unknown};
  nnc_feed feed;
  expect(nnc_feed_open(&feed, device, &opened, &other));
  void *const *places = nnc_feed_begin(&feed);
  memcpy(places[0], (const float[]){3, 2, 1}, 12);
  memset(places[1], 0, 1);
  nnc_feed_end(&feed);
  nnc_feed_close(&feed);
  expect(nnc_device_number(device, &moved) == 3 && nnc_device_number(device, &flag) == 0);
  expect(nnc_device_number(device, &a) == 0);
  expect(!nnc_feed_open(&feed, device, &opened, &wrong));
  nnc_feed_close(&feed);
}

int main(void) {
  static const nnc_variable variables[] = {
      {.tensor = {"a", NNC_F32, 2, {2, 3}, 0}},
      {.tensor = {"turned", NNC_F32, 3, {2, 3, 2}, 384}},
      {.tensor = {"stream", NNC_F32, 1, {1}, 448}, .kind = NNC_STREAM}};
  const nnc_model model = {.arena_bytes = 512,
                           .worker_bytes = 64,
                           .variable_count = 3,
                           .variables = variables,
                           .channels_last = (const char[]){0, 1, 0}};
  nnc_device *device = nnc_device_open(&model, WORKERS, -1);
  if (!device) return 1;
  test_parts(device);
  test_turned(device);
  test_numbers(device);
  test_run(device);
  test_kept(device);
  test_feed(device);
  nnc_device_close(device);
  printf("%d failures\n", failures);
  return failures != 0;
}
