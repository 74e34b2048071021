/* The device that is an NVIDIA GPU (runtime/cuda), on a stand-in for the driver that counts calls
 * (counting_driver.c): what the host asks of the driver, in which order, and what it says when that
 * fails. Kernels themselves are the business of other tests. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/device.h"
#include "core/index_check.h"
#include "core/speed.h"
#include "nnc_cuda_program.h"
#include "os/clock.h"
#include "os/exit.h"
#include "os/message.h"

/* --- The program ---------------------------------------------------------------------------- */

enum { SCALE, OUTSIDE, NOTHING };
enum { X_PLACE = 0, Y_PLACE = 64, BIG_PLACE = 128, BIG = 3 << 20, ARENA = BIG_PLACE + 4 * BIG };

static const unsigned char image[] = "image";
#define IMAGE(name)                                                                                \
  { name, 0, image, image + sizeof image - 1 }
static const nnc_cuda_image plain_images[] = {IMAGE("sm_80"), IMAGE("sm_90"), IMAGE("sm_90a")};
static const nnc_cuda_image ptx_images[] = {IMAGE("sm_80"), IMAGE("compute_80")};
static const nnc_cuda_image special_images[] = {IMAGE("sm_90a")};
static const nnc_cuda_kernel kernels[] = {[SCALE] = {"scale", 0, 2, 64, 100000, NULL, NULL},
                                          {"outside", 0, 1, 32, 0, NULL, NULL},
                                          {"nothing", 0, 0, 32, 0, NULL, NULL}};

static nnc_cuda_program the_program = {1, 3, plain_images, 3, kernels, NULL, NULL, NULL, 0};
extern const nnc_cuda_program nnc_the_cuda_program __attribute__((alias("the_program")));

/* Y = X * scalar + step. */
static void launch(nnc_worker *worker, int kernel) {
  void *x = worker->arena + X_PLACE, *y = worker->arena + Y_PLACE;
  const double *scalars = worker->scalars;
  nnc_cuda_state *state = nnc_cuda_state_of(worker);
  void *arguments[] = {&x, &y, &scalars, &state};
  nnc_cuda_launch(worker, kernel, arguments);
  memset(arguments, 0, sizeof arguments); /* they have been copied */
}

static int entries_run;
static void run_train(nnc_worker *worker) {
  entries_run++;
  nnc_mark(worker, 0);
  launch(worker, SCALE);
  nnc_barrier(worker);
  nnc_mark(worker, 1);
  launch(worker, NOTHING);
  nnc_laps_begin(worker, 1, 2);
  for (int round = 0; round < 3; round++) {
    nnc_cuda_copy(worker, worker->arena + BIG_PLACE, worker->arena + Y_PLACE, 16);
    nnc_lap(worker, 2);
    nnc_cuda_copy(worker, worker->arena + BIG_PLACE, worker->arena + Y_PLACE, 16);
    nnc_lap(worker, 3);
  }
  nnc_laps_end(worker, 1, 2);
}

static void run_eval(nnc_worker *worker) { launch(worker, OUTSIDE); }

static const nnc_tensor x = {"x", NNC_F32, 1, {4}, X_PLACE};
static const nnc_tensor y = {"y", NNC_F32, 1, {4}, Y_PLACE};
static const nnc_tensor big = {"big", NNC_F32, 1, {BIG}, BIG_PLACE};
static const nnc_accumulator accumulators[] = {
    {"loss", NNC_MEAN, {"loss", NNC_F32, 0, {0}, Y_PLACE}}};
static const nnc_index_place places[] = {{"pick", "h", 0, 4, 1, {8}, 1, 2},
                                         {"pick", "h2", 0, 4, 1, {8}, 3, 4}};

nnc_model nnc_the_model; /* the runtime's library asks for one */
static nnc_model model = {.file = "toy.net",
                          .arena_bytes = ARENA,
                          .worker_bytes = 100,
                          .scalar_count = 1,
                          .train = {.run = run_train,
                                    .input_count = 1,
                                    .inputs = &x,
                                    .accumulator_count = 1,
                                    .accumulators = accumulators,
                                    .step_count = 3},
                          .eval = {.run = run_eval}};

/* --- The stand-in --------------------------------------------------------------------------- */

static int calls(const char *name) {
  static int (*counting_calls)(const char *);
  if (!counting_calls) {
    void *library = dlopen(getenv("NNC_LIBCUDA"), RTLD_NOW);
    void *address = library ? dlsym(library, "counting_calls") : NULL;
    memcpy(&counting_calls, &address, sizeof address);
  }
  return counting_calls(name);
}

static void use(int image_count, const nnc_cuda_image *images) {
  the_program.image_count = image_count;
  the_program.images = images;
}

static nnc_device *open_device(void) {
  nnc_device *device = nnc_device_open(&model, 3, -1);
  assert_non_null(device);
  return device;
}

static void feed(nnc_device *device, float value) {
  float *values = nnc_device_begin_write(device, &x);
  for (int i = 0; i < 4; i++) values[i] = value;
  nnc_device_end_write(device, &x);
}

static void run(nnc_device *device, double scalar, int64_t step) {
  double scalars[1] = {scalar};
  nnc_device_run(device, &model.train, &(nnc_run){scalars, 1, step, 0, NULL});
  scalars[0] = -100; /* it has been read */
}

/* What `body` prints, when it runs in a process of its own; its exit status goes to *status. */
static char *output_of(void (*body)(void), int *status) {
  static char text[4096];
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    body();
    fflush(stderr);
    _exit(NNC_EXIT_OK);
  }
  close(ends[1]);
  size_t length = 0;
  for (ssize_t got; (got = read(ends[0], text + length, sizeof text - 1 - length)) > 0;)
    length += (size_t)got;
  text[length] = 0;
  close(ends[0]);
  assert_int_equal(waitpid(child, status, 0), child);
  assert_true(WIFEXITED(*status));
  *status = WEXITSTATUS(*status);
  return text;
}

static void expect_text(const char *text, const char *part) {
  if (!strstr(text, part)) fail_msg("no '%s' in '%s'", part, text);
}

/* Opening fails, and says `part`, and `advice` too. */
static void open_and_fail(void) {
  nnc_device *device = nnc_device_open(&model, 3, 2);
  _exit(device ? 77 : NNC_EXIT_FAILURE);
}
static void open_first_and_fail(void) {
  nnc_device *device = nnc_device_open(&model, 3, -1);
  _exit(device ? 77 : NNC_EXIT_FAILURE);
}
static void expect_refusal(const char *variable, const char *value, const char *part,
                           const char *advice) {
  int status;
  char *before = getenv(variable) ? strdup(getenv(variable)) : NULL;
  setenv(variable, value, 1);
  const char *text = output_of(open_first_and_fail, &status);
  if (before) setenv(variable, before, 1);
  else unsetenv(variable);
  free(before);
  assert_int_equal(status, NNC_EXIT_FAILURE);
  expect_text(text, part);
  expect_text(text, advice);
}

/* --- Tests ---------------------------------------------------------------------------------- */

static void test_memory(void **state) {
  (void)state;
  nnc_device *device = open_device();
  float *values = malloc(sizeof(float) * BIG), *found = malloc(sizeof(float) * BIG);
  for (int i = 0; i < BIG; i++) values[i] = (float)i;
  nnc_device_read(device, &big, 0, BIG, found);
  for (int i = 0; i < BIG; i++) assert_true(found[i] == 0);
  nnc_device_write(device, &big, 0, BIG, values);
  memset(values, 0, sizeof(float) * BIG); /* they have been read */
  nnc_device_write(device, &big, 7, 1, (const float[]){-1});
  nnc_device_read(device, &big, 0, BIG, found);
  for (int i = 0; i < BIG; i++) assert_true(found[i] == (i == 7 ? -1 : (float)i));
  nnc_device_read(device, &big, 5, 3, found);
  assert_true(found[0] == 5 && found[2] == -1);
  assert_true(nnc_device_number(device, &big) == 0);
  assert_int_equal(nnc_device_workers(device), 1);
  nnc_device_close(device);
  free(values);
  free(found);
}

static void test_graph_is_recorded_once(void **state) {
  (void)state;
  nnc_device *device = open_device();
  int recorded = entries_run, launched = calls("cuLaunchKernel");
  int graphs = calls("cuGraphLaunch"), taken = calls("cuMemAlloc_v2");
  int pinned = calls("cuMemHostAlloc"), made = calls("cuGraphInstantiateWithFlags");
  for (int step = 1; step <= 20; step++) {
    feed(device, (float)step);
    run(device, 3, step);
    assert_int_equal(nnc_device_under_way(device), step);
    assert_true(nnc_device_left(device, step, &accumulators[0].tensor) == 4.0 * step);
  }
  assert_int_equal(entries_run - recorded, 1);
  assert_int_equal(calls("cuLaunchKernel") - launched, 1); /* that of no blocks is left out */
  assert_int_equal(calls("cuGraphLaunch") - graphs, 20);
  assert_int_equal(calls("cuGraphInstantiateWithFlags") - made, 1);
  assert_int_equal(calls("cuMemAlloc_v2"), taken);
  assert_int_equal(calls("cuMemHostAlloc"), pinned);
  nnc_device_close(device);
  assert_int_equal(calls("cuMemAlloc_v2"), calls("cuMemFree_v2"));
  assert_int_equal(calls("cuMemHostAlloc"), calls("cuMemFreeHost"));
  assert_int_equal(calls("cuEventCreate"), calls("cuEventDestroy_v2"));
  assert_int_equal(calls("cuGraphInstantiateWithFlags"), calls("cuGraphExecDestroy"));
}

/* Many runs are put into the stream before the host reads anything: each must see its own scalars, step
 * and inputs, though the stand-in runs nothing until it is waited for. */
static void test_runs_ahead(void **state) {
  (void)state;
  nnc_device *device = open_device();
  float after[4];
  for (int step = 1; step <= 50; step++) {
    feed(device, (float)(step * step));
    run(device, 2 + step % 3, step);
    if (step % 7) continue;
    nnc_device_read(device, &y, 0, 4, after);
    for (int i = 0; i < 4; i++)
      assert_true(after[i] == (float)(step * step * (2 + step % 3) + step));
  }
  /* An accumulator is as its run left it, whatever has been written and run since. */
  int64_t first = nnc_device_under_way(device) + 1;
  for (int i = 0; i < NNC_DEVICE_KEEPS; i++) {
    feed(device, (float)i);
    run(device, 1, 10);
  }
  nnc_device_write(device, &y, 0, 4, (const float[]){1, 2, 3, 4});
  for (int i = 0; i < NNC_DEVICE_KEEPS; i++)
    assert_true(nnc_device_left(device, first + i, &accumulators[0].tensor) == 10 + i);
  assert_true(nnc_device_number(device, &accumulators[0].tensor) == 1);
  nnc_device_close(device);
}

/* Inputs that are filled while the run before has not ended do not reach it; two that are filled between
 * two runs both arrive; one that is filled twice has the later values. */
static void test_inputs_take_turns(void **state) {
  (void)state;
  nnc_device *device = open_device();
  float found[4];
  feed(device, 1);
  run(device, 10, 1);
  feed(device, 2);
  run(device, 10, 2);
  float *early = nnc_device_begin_write(device, &x);
  assert_ptr_equal(early, nnc_device_begin_write(device, &x));
  early[0] = early[1] = early[2] = early[3] = 77;
  nnc_device_read(device, &y, 0, 4, found);
  assert_true(found[0] == 22);
  nnc_device_end_write(device, &x);
  feed(device, 3);
  run(device, 10, 3);
  nnc_device_read(device, &y, 0, 4, found);
  assert_true(found[0] == 33);
  nnc_device_close(device);
}

static void test_extremes(void **state) {
  setenv("COUNTING_EAGER", "1", 1);
  test_runs_ahead(state);
  test_inputs_take_turns(state);
  test_memory(state);
  unsetenv("COUNTING_EAGER");
}

static void test_marks(void **state) {
  (void)state;
  nnc_device *device = open_device();
  int64_t marks[8] = {0};
  int graphs = calls("cuGraphLaunch");
  nnc_device_mark(device, marks, 8);
  for (int step = 1; step <= 2; step++) {
    feed(device, 1);
    int64_t begin = nnc_nanoseconds_now();
    run(device, 1, step);
    assert_true(marks[0] >= begin);
    assert_true(marks[1] - marks[0] == 3000); /* a microsecond an operation: a kernel, two events */
    assert_true(marks[2] - marks[1] == 6000); /* three rounds of a copy and an event */
    assert_true(marks[3] - marks[2] == 6000);
    assert_true(nnc_device_number(device, &accumulators[0].tensor) == 1 + step);
  }
  assert_int_equal(calls("cuGraphLaunch"), graphs);
  nnc_device_mark(device, NULL, 0);
  run(device, 1, 3);
  assert_int_equal(calls("cuGraphLaunch"), graphs + 1);
  nnc_worker alone = {.marks = marks};
  nnc_mark_now(&alone, 0);
  assert_true(marks[0] > 0);
  nnc_device_close(device);
}

static void test_speed(void **state) {
  (void)state;
  nnc_device *device = open_device();
  nnc_speed speed;
  assert_true(nnc_speed_measure(device, &model, 3, &speed));
  assert_true(speed.flops[NNC_UNIT_PLAIN] ==
              2.0 * 128 * 100 * 1e9); /* 100 multiprocessors, 1 GHz */
  assert_true(speed.flops[NNC_UNIT_HALF] == 2.0 * 2048 * 100 * 1e9); /* of 9.0 */
  assert_true(speed.flops[NNC_UNIT_TF32] == 2.0 * 1024 * 100 * 1e9);
  assert_true(speed.bandwidth > 0 && speed.read_bytes > 0);
  expect_text(speed.flops_of, "100 multiprocessors of 128 cores at 1000 MHz");
  expect_text(speed.bandwidth_of, "copying");
  nnc_device_close(device);
}

static void describe_with(const char *capability, int count, const nnc_cuda_image *images,
                          const char *part) {
  char text[NNC_MESSAGE];
  setenv("COUNTING_CAPABILITY", capability, 1);
  use(count, images);
  assert_true(nnc_device_describe(&model, -1, text));
  expect_text(text, part);
  use(3, plain_images);
  unsetenv("COUNTING_CAPABILITY");
}

static void test_architectures(void **state) {
  (void)state;
  describe_with("90", 3, plain_images, "device 0 (Counting 0): compute capability 9.0");
  describe_with("90", 3, plain_images, "code for sm_90a");
  describe_with("80", 3, plain_images, "code for sm_80");
  describe_with("89", 3, plain_images, "code for sm_80");
  describe_with("89", 2, ptx_images, "code for sm_80");
  describe_with("90", 2, ptx_images, "code for compute_80");
  describe_with("120", 2, ptx_images, "code for compute_80");
  describe_with("120", 3, plain_images, "compiled for sm_80, sm_90 and sm_90a, but device 0");
  describe_with("120", 3, plain_images,
                "'nnc --target=cuda --arch=sm_80,sm_90,sm_90a,sm_120 toy.net'");
  describe_with("75", 2, ptx_images, "sm_75: nnc makes programs for sm_80 and newer");
  describe_with("100", 1, special_images, "compiled for sm_90a, but");
}

static void find_outside(void) {
  static const double scalars[1];
  nnc_device *device = nnc_device_open(&model, 3, -1);
  if (!device) _exit(77);
  nnc_device_run(device, &model.eval, &(nnc_run){scalars, 1, 4, 0, NULL});
  _exit(nnc_index_check_failed(&model, 4, 0) ? NNC_EXIT_FAILURE : 77);
}

static void test_indices(void **state) {
  (void)state;
  int status;
  model.index_place_count = 2;
  model.index_places = places;
  const char *text = output_of(find_outside, &status);
  model.index_place_count = 0;
  assert_int_equal(status, NNC_EXIT_FAILURE);
  expect_text(text,
              "toy.net:3:4: index -3 at [5] is outside of axis 0 of extent 4, in pick of 'h2', "
              "in step 4");
}

static void test_wrong_environments(void **state) {
  (void)state;
  int status;
  expect_refusal("COUNTING_DEVICES", "0", "cannot find an NVIDIA GPU", "CUDA_VISIBLE_DEVICES");
  expect_refusal("COUNTING_VERSION", "11040", "is for CUDA 11.4", "CUDA 12.0 or newer");
  expect_refusal("COUNTING_CAPABILITY", "75", "device 0 (Counting 0) is sm_75", "sm_80 and newer");
  expect_refusal("COUNTING_MEMORY", "5000000", "for the model's arena", "5.00 MB free of 8.00 GB");
  expect_refusal("COUNTING_MEMORY", "5000000", "needs 12.6 MB in all", "--memory-limit");
  expect_refusal("COUNTING_FAIL", "cuInit:1:803", "cannot start the NVIDIA driver",
                 "restart the machine");
  expect_refusal("COUNTING_FAIL", "cuDevicePrimaryCtxRetain:1:46", "cannot open device 0",
                 "Another program has the device");
  expect_refusal("COUNTING_FAIL", "cuModuleLoadDataEx:1:222", "(sm_90a, unit 0)",
                 "the driver says: line 1 is wrong");
  expect_refusal("COUNTING_FAIL", "cuModuleGetFunction:2:500", "find the kernel 'outside'",
                 "CUDA_ERROR_OF_A_KIND: a reason");
  expect_refusal("COUNTING_FAIL", "cuMemHostAlloc:1:2", "cannot take", "of the host's memory for");
  expect_refusal("NNC_LIBCUDA", "/nowhere/libcuda.so.1", "no NVIDIA driver was found",
                 "NNC_LIBCUDA names this file");
  expect_refusal("NNC_LIBCUDA", "libm.so.6", "driver is too old", "has no cuInit");
  const char *text = output_of(open_and_fail, &status);
  assert_int_equal(status, NNC_EXIT_FAILURE);
  expect_text(text, "--device=2: this machine has one NVIDIA GPU, number 0");
}

static void run_until_failure(void) {
  nnc_device *device = nnc_device_open(&model, 3, -1);
  if (!device) _exit(78);
  for (int step = 1; step <= 5; step++) {
    feed(device, 1);
    run(device, 1, step);
    (void)nnc_device_left(device, nnc_device_under_way(device), &accumulators[0].tensor);
  }
  _exit(77);
}

static void expect_failure(const char *fail, const char *part, const char *advice) {
  int status;
  setenv("COUNTING_FAIL", fail, 1);
  const char *text = output_of(run_until_failure, &status);
  unsetenv("COUNTING_FAIL");
  assert_int_equal(status, NNC_EXIT_FAILURE);
  expect_text(text, part);
  expect_text(text, advice);
  expect_text(text, "What was saved before stays as it is");
}

/* The calls are counted from the start of the child, which has opened nothing yet. */
static void test_failures_of_runs(void **state) {
  (void)state;
  expect_failure("cuGraphLaunch:3:700",
                 "step 3, entry 'train' or the run before it: cannot launch a graph: "
                 "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered.",
                 "compute-sanitizer");
  expect_failure("cuLaunchKernel:1:701", "cannot launch the kernel 'scale'", "fault of nnc");
  expect_failure("cuStreamEndCapture:1:901", "cannot record an entry's kernels", "nvidia-smi");
  expect_failure("cuGraphLaunch:2:214", "step 2", "memory is faulty");
  expect_failure("cuGraphLaunch:2:719", "step 2", "fault of nnc");
  expect_failure("cuGraphLaunch:2:999", "step 2", "The device may be lost");
}

int main(void) {
  setenv("NNC_LIBCUDA", COUNTING_DRIVER, 1);
  nnc_message_program("test");
  /* The first come in processes of their own, before the driver is open in this one. */
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wrong_environments),
      cmocka_unit_test(test_failures_of_runs),
      cmocka_unit_test(test_indices),
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_graph_is_recorded_once),
      cmocka_unit_test(test_runs_ahead),
      cmocka_unit_test(test_inputs_take_turns),
      cmocka_unit_test(test_extremes),
      cmocka_unit_test(test_marks),
      cmocka_unit_test(test_speed),
      cmocka_unit_test(test_architectures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
