/* What programs ask of the driver: copies, streams, events, graphs, and the errors that mistakes
 * give. */
#include "check.h"
#include "cuda_types.h"

#include <stdlib.h>
#include <string.h>

static Address counter(int value) {
  Address y = device(4);
  CHECK(cuMemcpyHtoD_v2(y, &value, 4));
  return y;
}

static void *graph_of_capture(void) {
  void *graph, *run;
  CHECK(cuStreamEndCapture(stream, &graph));
  CHECK(cuGraphInstantiateWithFlags(&run, graph, 0));
  CHECK(cuGraphDestroy(graph));
  return run;
}

static void case_copies(void) {
  int values[64], *result;
  for (int i = 0; i < 64; i++) values[i] = i * i;
  Address x = device_copy(values, sizeof values), y = device(sizeof values);
  values[3] = 7; /* pageable memory has been read */
  CHECK(cuMemcpyDtoDAsync_v2(y, x, sizeof values, stream));
  CHECK(cuMemsetD32Async(y + 4, 5, 2, stream));
  result = fetch(y, sizeof values);
  SAME(result[0], 0);
  SAME(result[1] + result[2], 10);
  for (int i = 3; i < 64; i++) SAME(result[i], i * i);
  int one;
  CHECK(
      cuMemcpyDtoHAsync_v2(&one, x + 16, 4, stream)); /* to pageable memory: done when it returns */
  SAME(one, 16);
}

static void case_new_memory_is_nan(void) {
  const float *result = fetch(device(64), 64);
  for (int i = 0; i < 16; i++) SAME(result[i] != result[i], true);
}

/* A pipeline of two streams with events in both directions. */
static void case_events(void) {
  void *copies, *is_copied, *is_used;
  Address x = counter(0), sum = counter(0);
  int *source = pinned(40);
  CHECK(cuStreamCreate(&copies, 1));
  CHECK(cuEventCreate(&is_copied, 0));
  CHECK(cuEventCreate(&is_used, 0));
  for (int i = 0; i < 10; i++) {
    source[i] = i;
    CHECK(cuStreamWaitEvent(copies, is_used, 0));
    CHECK(cuMemcpyHtoDAsync_v2(x, source + i, 4, copies));
    CHECK(cuEventRecord(is_copied, copies));
    CHECK(cuStreamWaitEvent(stream, is_copied, 0));
    LAUNCH("add_to", 1, 32, &sum, &x);
    CHECK(cuEventRecord(is_used, stream));
  }
  CHECK(cuEventSynchronize(is_used));
  SAME(fetch_int(sum), 45);
  float milliseconds;
  CHECK(cuEventElapsedTime(&milliseconds, is_copied, is_used));
  SAME(milliseconds >= 0 && milliseconds < 60000, true);
  while (cuStreamQuery(copies)) continue;
}

static void case_queries_end(void) {
  void *event;
  Address y = counter(0);
  int asked = 0;
  CHECK(cuEventCreate(&event, 2));
  for (int i = 0; i < 20; i++) LAUNCH("add_one", 1, 32, &y);
  CHECK(cuEventRecord(event, stream));
  while (cuEventQuery(event) == CUDA_ERROR_NOT_READY && asked < 1000) asked++;
  SAME(asked < 1000, true);
  SAME(fetch_int(y), 20);
}

/* The null stream and a blocking one are in order by themselves. */
static void case_null_stream(void) {
  void *blocking;
  Address y = counter(0);
  int *source = pinned(4), two = 2;
  *source = 40;
  CHECK(cuStreamCreate(&blocking, 0));
  CHECK(cuMemcpyHtoDAsync_v2(y, source, 4, NULL));
  launch_on(blocking, "add_one", 1, 32, (void *[]){&y});
  CHECK(cuMemcpyHtoD_v2(device(4), &two, 4));
  launch_on(NULL, "add_one", 1, 32, (void *[]){&y});
  SAME((cuStreamSynchronize(NULL), fetch_int(y)), 42);
}

static void case_graph(void) {
  Address x = counter(0), y = counter(0);
  int *source = pinned(4), *result = pinned(4);
  CHECK(cuStreamBeginCapture_v2(stream, 0));
  int is_capturing;
  CHECK(cuStreamIsCapturing(stream, &is_capturing));
  SAME(is_capturing, 1);
  CHECK(cuMemcpyHtoDAsync_v2(x, source, 4, stream));
  LAUNCH("add_to", 1, 32, &y, &x);
  CHECK(cuMemcpyDtoHAsync_v2(result, y, 4, stream));
  void *run = graph_of_capture();
  for (int i = 1; i <= 3; i++) {
    *source = i;
    CHECK(cuGraphLaunch(run, stream));
    CHECK(cuStreamSynchronize(stream));
    SAME(*result, i * (i + 1) / 2);
  }
  CHECK(cuGraphExecDestroy(run));
}

/* Two branches and what comes after both. */
static void case_graph_branches(void) {
  void *other, *fork, *join;
  Address x = counter(1), y = counter(2);
  CHECK(cuStreamCreate(&other, 1));
  CHECK(cuEventCreate(&fork, 2));
  CHECK(cuEventCreate(&join, 2));
  CHECK(cuStreamBeginCapture_v2(stream, 2));
  CHECK(cuEventRecord(fork, stream));
  CHECK(cuStreamWaitEvent(other, fork, 0));
  launch_on(other, "add_one", 1, 32, (void *[]){&x});
  launch_on(other, "add_one", 1, 32, (void *[]){&x});
  LAUNCH("add_one", 1, 32, &y);
  CHECK(cuEventRecord(join, other));
  CHECK(cuStreamWaitEvent(stream, join, 0));
  LAUNCH("add_to", 1, 32, &y, &x);
  void *run = graph_of_capture();
  CHECK(cuGraphLaunch(run, stream));
  CHECK(cuGraphLaunch(run, stream));
  SAME(fetch_int(x), 5);
  SAME(fetch_int(y), 3 + 3 + 1 + 5);
}

/* ---- errors ---- */

static void case_capture_errors(void) {
  void *graph, *other, *event;
  Address y = counter(0);
  CHECK(cuStreamCreate(&other, 1));
  CHECK(cuEventCreate(&event, 2));
  EXPECT(cuStreamEndCapture(stream, &graph), CUDA_ERROR_INVALID_VALUE);
  CHECK(cuStreamBeginCapture_v2(stream, 0));
  EXPECT(cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CHECK(cuStreamBeginCapture_v2(stream, 0));
  EXPECT(cuMemAlloc_v2(&y, 4), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CHECK(cuEventRecord(event, other));
  CHECK(cuStreamBeginCapture_v2(stream, 0));
  EXPECT(cuStreamWaitEvent(stream, event, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  EXPECT(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CHECK(cuStreamBeginCapture_v2(stream, 0));
  CHECK(cuEventRecord(event, stream));
  EXPECT(cuEventSynchronize(event), CUDA_ERROR_CAPTURED_EVENT);
  CHECK(cuStreamWaitEvent(other, event, 0));
  launch_on(other, "add_one", 1, 32, (void *[]){&y});
  EXPECT(cuStreamEndCapture(other, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  EXPECT(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  EXPECT(cuStreamBeginCapture_v2(NULL, 0), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  SAME(fetch_int(y), 0);
}

static int try_launch(const char *name, unsigned blocks, unsigned threads, unsigned shared) {
  Address y = counter(0);
  return cuLaunchKernel(function_of(name), blocks, 1, 1, threads, 1, 1, shared, stream,
                        (void *[]){&y}, NULL);
}

static void case_launch_errors(void) {
  void *function;
  int value;
  EXPECT(cuModuleGetFunction(&function, module, "nothing"), CUDA_ERROR_NOT_FOUND);
  EXPECT(try_launch("add_one", 1, 64, 0), CUDA_ERROR_INVALID_VALUE); /* more than its 32 threads */
  EXPECT(try_launch("add_one", 0, 32, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT(try_launch("add_one", 1, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT(try_launch("add_one", 1, 32, 50000), CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuFuncSetAttribute(function_of("add_one"), 8, 1 << 20), CUDA_ERROR_INVALID_VALUE);
  CHECK(cuFuncSetAttribute(function_of("add_one"), 8, 100000));
  CHECK(try_launch("add_one", 1, 32, 50000));
  CHECK(cuFuncGetAttribute(&value, 1, function_of("row_sums_tree")));
  SAME(value, 1024);
  CHECK(cuFuncGetAttribute(&value, 0, function_of("row_sums_tree")));
  SAME(value, 256);
}

static void case_memory_errors(void) {
  size_t before, left, total;
  CHECK(cuMemGetInfo_v2(&before, &total));
  Address y = device(1024), z;
  CHECK(cuMemGetInfo_v2(&left, &total));
  SAME(before - left, 1024);
  EXPECT(cuMemAlloc_v2(&z, total), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT(cuMemAlloc_v2(&z, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuMemcpyHtoDAsync_v2(y + 4, numbers, 1024, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuMemFree_v2(y + 256), CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemFree_v2(y));
  EXPECT(cuMemFree_v2(y), CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuMemsetD32Async(y, 0, 1, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuStreamSynchronize((void *)&left), CUDA_ERROR_INVALID_HANDLE);
}

static void case_images(void) {
  static const char file[] = "tests/cuda_emulator/kernels/right.cu";
  void *other;
  CHECK(cuModuleLoadDataEx(&other, compile(file, "compute_80"), 0, NULL, NULL)); /* PTX for less */
  CHECK(cuModuleUnload(other));
  EXPECT(cuModuleLoadDataEx(&other, compile(file, "sm_80"), 0, NULL, NULL),
         CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT(cuModuleLoadDataEx(&other, compile(file, "sm_100a"), 0, NULL, NULL),
         CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT(cuModuleLoadDataEx(&other, compile(file, "compute_100"), 0, NULL, NULL),
         CUDA_ERROR_INVALID_PTX);
  EXPECT(cuModuleLoadDataEx(&other, ".version 8.0", 0, NULL, NULL), CUDA_ERROR_INVALID_IMAGE);
}

static void case_compile_errors(void) {
  static const char *const wrong[] = {"--gpu-architecture=sm_12", "--nothing", "-arch=sm_80a"};
  void *program;
  for (int i = 0; i < 3; i++) {
    CHECK(nvrtcCreateProgram(&program, "\n", NULL, 0, NULL, NULL));
    EXPECT(nvrtcCompileProgram(program, 1, wrong + i), 5);
    CHECK(nvrtcDestroyProgram(&program));
  }
  size_t size;
  char log[4000];
  CHECK(nvrtcCreateProgram(&program, "NNC_KERNEL(32) f(int *x) { *x = y; }\n", "f.cu", 0, NULL,
                           NULL));
  EXPECT(nvrtcCompileProgram(program, 0, NULL), 6);
  CHECK(nvrtcGetProgramLogSize(program, &size));
  SAME(size < sizeof log, true);
  CHECK(nvrtcGetProgramLog(program, log));
  SAME(strstr(log, "f.cu:1") != NULL, true);
  CHECK(nvrtcDestroyProgram(&program));
}

/* ---- failures that the environment asks for (run.sh) ---- */

/* A kernel fails: the wait tells, and everything after it. */
static void case_fails(void) {
  Address y = counter(0);
  int error = 0;
  for (int i = 0; i < 5 && !error; i++) {
    error =
        cuLaunchKernel(function_of("add_one"), 1, 1, 1, 32, 1, 1, 0, stream, (void *[]){&y}, NULL);
    if (!error) error = cuStreamSynchronize(stream);
  }
  SAME(error, CUDA_ERROR_LAUNCH_FAILED);
  EXPECT(cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT(cuMemAlloc_v2(&y, 4), CUDA_ERROR_LAUNCH_FAILED);
}

static void case_has_no_memory(void) {
  Address y;
  CHECK(cuMemAlloc_v2(&y, 4));
  EXPECT(cuMemAlloc_v2(&y, 4), CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(cuMemAlloc_v2(&y, 4));
}

/* A map of a tensor of bf16 with rows of 1008 bytes, of which one number is another. */
typedef struct MapArguments {
  int type, rank;
  uint64_t address, extents[3], strides[2];
  uint32_t box[3], steps[3];
  int swizzle, outside;
} MapArguments;

static int encode(const MapArguments *map) {
  _Alignas(64) char to[128];
  return cuTensorMapEncodeTiled(to, map->type, (uint32_t)map->rank, map->address, map->extents,
                                map->strides, map->box, map->steps, 0, map->swizzle, 3,
                                map->outside);
}

static void case_map_errors(void) {
  enum { BF16 = 9, U16 = 1 };
  const MapArguments right = {
      BF16, 3, device(1 << 20), {500, 40, 3}, {1008, 1008 * 40}, {64, 128, 1}, {1, 1, 1}, 3, 0};
  CHECK(encode(&right));
#define WRONG(member, value)                                                                       \
  do {                                                                                             \
    MapArguments wrong = right;                                                                    \
    wrong.member = value;                                                                          \
    EXPECT(encode(&wrong), CUDA_ERROR_INVALID_VALUE);                                              \
  } while (0)
  WRONG(type, 13);
  WRONG(rank, 6);
  WRONG(address, right.address + 8);
  WRONG(address, 0);
  WRONG(extents[1], 0);
  WRONG(extents[2], ((uint64_t)1 << 32) + 1);
  WRONG(strides[0], 1000);      /* no multiple of 16 */
  WRONG(strides[0], 992);       /* a row is longer */
  WRONG(strides[1], 1008 * 39); /* a plane is larger */
  WRONG(strides[1], 1008 * 40 + 16);
  WRONG(strides[1], (uint64_t)1 << 40);
  WRONG(box[1], 257);
  WRONG(box[0], 0);
  WRONG(box[0], 60);  /* no multiple of 16 bytes */
  WRONG(box[0], 128); /* more than the swizzle's 128 bytes */
  WRONG(steps[0], 9);
  WRONG(swizzle, 4);
  WRONG(outside, 2);
}

/* Without the last two. */
static void case_most(void) {
  case_copies(), case_new_memory_is_nan(), case_events(), case_queries_end(), case_null_stream();
  case_graph(), case_graph_branches(), case_capture_errors(), case_launch_errors();
  case_memory_errors(), case_map_errors();
}

const Case host_cases[] = {CASE(most),  CASE(images),        CASE(compile_errors),
                           CASE(fails), CASE(has_no_memory), {NULL, NULL}};
