/* Mistakes in kernels (kernels/seeded.cu) and in what a program asks of the driver. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

/* x holds 256 numbers, y so many of which one is compared with what a right kernel gives. */
static void run(const char *kernel, int blocks, int threads) {
  Address x = device_copy(numbers, 1024), y = device(1024);
  LAUNCH(kernel, blocks, threads, &y, &x);
  CHECK(cuStreamSynchronize(stream));
}

#define KERNEL_CASE(name, blocks, threads)                                                         \
  static void case_##name(void) { run(#name, blocks, threads); }
KERNEL_CASE(divergent_barrier, 1, 64)
KERNEL_CASE(different_barriers, 1, 64)
KERNEL_CASE(early_return, 1, 64)
KERNEL_CASE(half_a_warp, 1, 64)
KERNEL_CASE(different_shuffles, 1, 64)
KERNEL_CASE(shuffle_and_barrier, 1, 64)
KERNEL_CASE(same_place, 1, 64)

static void case_missing_barrier(void) {
  Address x = device_copy(numbers, 1024), y = device(1024);
  LAUNCH("missing_barrier", 1, 256, &y, &x);
  const float *result = fetch(y, 1024);
  for (int i = 0; i < 256; i++) SAME(result[i], numbers[255 - i]);
}

static void case_missing_second_barrier(void) {
  Address x = device_copy(numbers, 1024), y = device(1024);
  LAUNCH("missing_second_barrier", 1, 64, &y, &x);
  const float *result = fetch(y, 1024);
  for (int i = 0; i < 256; i++) SAME(result[i], numbers[i / 64 * 64 + 63 - i % 64]);
}

static void case_missing_warp_barrier(void) {
  Address x = device_copy(numbers, 1024), y = device(1024);
  LAUNCH("missing_warp_barrier", 1, 64, &y, &x);
  const float *result = fetch(y, 256);
  for (int i = 0; i < 64; i++) SAME(result[i], numbers[i ^ 1]);
}

static void case_between_blocks(void) {
  Address x = device_copy(numbers, 1024), y = device(1024);
  LAUNCH("between_blocks", 2, 32, &y, &x);
  const float *result = fetch(y, 384);
  for (int i = 0; i < 32; i++) SAME(result[64 + i], numbers[i]);
}

/* ---- places ---- */

static void store(size_t bytes, int64_t place) {
  Address y = device(bytes);
  LAUNCH("store_at", 1, 64, &y, &place);
  CHECK(cuStreamSynchronize(stream));
}

static void case_store_past_end(void) { store(1024, 193); }
static void case_store_in_edge(void) { store(1000, 190); }
static void case_store_before(void) { store(1024, -70); }
static void case_store_far_before(void) { store(4096, -70); }

static void case_load_past_end(void) {
  Address x = device(1024), y = device(1024);
  int64_t place = 256;
  LAUNCH("load_at", 1, 32, &y, &x, &place);
  CHECK(cuStreamSynchronize(stream));
}

static void tile(const char *kernel, int64_t place) {
  Address y = device(256);
  LAUNCH(kernel, 1, 64, &y, &place);
  CHECK(cuStreamSynchronize(stream));
}

static void case_past_the_tile(void) { tile("past_the_tile", 1); }
static void case_past_the_pointer(void) { tile("past_the_pointer", 100); }

static void case_not_stored(void) {
  Address y = device(256);
  LAUNCH("not_stored", 1, 64, &y);
  const float *result = fetch(y, 256);
  for (int i = 0; i < 64; i++) SAME(result[i], 1);
}

static void case_misaligned(void) {
  Address x = device_copy(numbers, 1024), y = device(1024);
  int64_t place = 1;
  LAUNCH("misaligned", 1, 32, &y, &x, &place);
  CHECK(cuStreamSynchronize(stream));
}

static void case_never_opens(void) {
  uint64_t closed = 1;
  Address lock = device_copy(&closed, 8);
  LAUNCH("never_opens", 1, 32, &lock);
  CHECK(cuStreamSynchronize(stream));
}

static void case_divide(void) {
  Address y = device(128);
  int by = 0;
  LAUNCH("divide", 1, 32, &y, &by);
  CHECK(cuStreamSynchronize(stream));
}

static void case_freed(void) {
  Address y = device(1024);
  int64_t place = 0;
  CHECK(cuMemFree_v2(y));
  LAUNCH("store_at", 1, 64, &y, &place);
  CHECK(cuStreamSynchronize(stream));
}

static void case_host_address(void) {
  float *y = calloc(64, sizeof *y);
  int64_t place = 0;
  LAUNCH("store_at", 1, 64, &y, &place);
  CHECK(cuStreamSynchronize(stream));
}

static void case_host_touches_device(void) {
  volatile int *y = (volatile int *)device(4);
  *y = 1;
}

static void case_part_of_a_warp(void) {
  Address y = device(1024);
  int64_t place = 0;
  LAUNCH("store_at", 1, 48, &y, &place);
}

/* ---- what comes too early ---- */

static Address counter(int value) {
  Address y = device(4);
  CHECK(cuMemcpyHtoD_v2(y, &value, 4));
  return y;
}

/* Reads what a copy brings before it waits for it. */
static void case_reads_too_early(void) {
  Address y = counter(1);
  int *result = pinned(4);
  *result = 0;
  CHECK(cuMemcpyDtoHAsync_v2(result, y, 4, stream));
  SAME(*result, 1);
}

/* Fills the buffer of a copy again before the copy is done. */
static void case_writes_too_early(void) {
  Address y = counter(0);
  int *source = pinned(4);
  *source = 1;
  CHECK(cuMemcpyHtoDAsync_v2(y, source, 4, stream));
  *source = 2;
  SAME(fetch_int(y), 1);
}

/* The kernel's stream does not wait for the copy's. */
static void case_forgets_event(void) {
  void *copies;
  Address y = counter(0);
  int *source = pinned(4), one = 1;
  *source = 10;
  CHECK(cuStreamCreate(&copies, 1));
  CHECK(cuMemcpyHtoDAsync_v2(y, source, 4, copies));
  LAUNCH("add", 1, 32, &y, &one);
  SAME(fetch_int(y), 11);
}

/* The next copy does not wait for the kernel that reads what the last one brought. */
static void case_overtakes_kernel(void) {
  void *copies, *is_copied;
  Address y = counter(0);
  int *source = pinned(8), one = 1;
  source[0] = 10, source[1] = 20;
  CHECK(cuStreamCreate(&copies, 1));
  CHECK(cuEventCreate(&is_copied, 2));
  CHECK(cuMemcpyHtoDAsync_v2(y, source, 4, copies));
  CHECK(cuEventRecord(is_copied, copies));
  CHECK(cuStreamWaitEvent(stream, is_copied, 0));
  LAUNCH("add", 1, 32, &y, &one);
  CHECK(cuMemcpyHtoDAsync_v2(y, source + 1, 4, copies));
  CHECK(cuStreamSynchronize(copies));
  SAME(fetch_int(y), 20);
}

/* ---- graphs ---- */

/* Adds *value to *y twice by a graph; the value is an argument. */
static void replay(Address y, int *value, int then) {
  void *graph, *run;
  CHECK(cuStreamBeginCapture_v2(stream, 0));
  LAUNCH("add", 1, 32, &y, value);
  CHECK(cuStreamEndCapture(stream, &graph));
  CHECK(cuGraphInstantiateWithFlags(&run, graph, 0));
  CHECK(cuGraphLaunch(run, stream));
  *value = then;
  CHECK(cuGraphLaunch(run, stream));
}

static void case_stale_scalar(void) {
  Address y = counter(0);
  int value = 1;
  replay(y, &value, 10);
  SAME(fetch_int(y), 11);
}

static void case_argument_after_capture(void) {
  void *graph, *run;
  Address y = counter(0), z = counter(0), at = y;
  int one = 1;
  CHECK(cuStreamBeginCapture_v2(stream, 0));
  LAUNCH("add", 1, 32, &at, &one);
  at = z;
  CHECK(cuStreamEndCapture(stream, &graph));
  CHECK(cuGraphInstantiateWithFlags(&run, graph, 0));
  CHECK(cuGraphLaunch(run, stream));
  SAME(fetch_int(z), 1);
}

/* Two branches of a graph use the same memory. */
static void case_forgets_branch(void) {
  void *graph, *run, *other, *fork, *join;
  Address y = counter(1), z = counter(0);
  int ten = 10;
  CHECK(cuStreamCreate(&other, 1));
  CHECK(cuEventCreate(&fork, 2));
  CHECK(cuEventCreate(&join, 2));
  CHECK(cuStreamBeginCapture_v2(stream, 0));
  CHECK(cuEventRecord(fork, stream));
  CHECK(cuStreamWaitEvent(other, fork, 0));
  LAUNCH("add", 1, 32, &y, &ten);
  CHECK(cuMemcpyDtoDAsync_v2(z, y, 4, other));
  CHECK(cuEventRecord(join, other));
  CHECK(cuStreamWaitEvent(stream, join, 0));
  CHECK(cuStreamEndCapture(stream, &graph));
  CHECK(cuGraphInstantiateWithFlags(&run, graph, 0));
  CHECK(cuGraphLaunch(run, stream));
  SAME(fetch_int(z), 11);
}

const Case seeded_cases[] = {CASE(missing_barrier),
                             CASE(missing_second_barrier),
                             CASE(missing_warp_barrier),
                             CASE(between_blocks),
                             CASE(same_place),
                             CASE(divergent_barrier),
                             CASE(different_barriers),
                             CASE(early_return),
                             CASE(half_a_warp),
                             CASE(different_shuffles),
                             CASE(shuffle_and_barrier),
                             CASE(store_past_end),
                             CASE(store_in_edge),
                             CASE(store_before),
                             CASE(store_far_before),
                             CASE(load_past_end),
                             CASE(past_the_tile),
                             CASE(past_the_pointer),
                             CASE(not_stored),
                             CASE(misaligned),
                             CASE(never_opens),
                             CASE(divide),
                             CASE(freed),
                             CASE(host_address),
                             CASE(host_touches_device),
                             CASE(part_of_a_warp),
                             CASE(reads_too_early),
                             CASE(writes_too_early),
                             CASE(forgets_event),
                             CASE(overtakes_kernel),
                             CASE(stale_scalar),
                             CASE(argument_after_capture),
                             CASE(forgets_branch),
                             {NULL, NULL}};
