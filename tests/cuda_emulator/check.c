/* Compiles kernels by the stand-in for NVRTC, launches them by the stand-in for the driver, and compares what
 * they give with what they should. It reaches both as nnc and its programs do, by dlopen.
 *
 *   check FILE CASE     with NNC_NVRTC and NNC_LIBCUDA in the environment
 *
 * Cases of right kernels print nothing and end with status 0. Those of seeded mistakes are ended by the
 * emulator, or end with status 1 because values are wrong. */
#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long Address;

#define FOR_EACH_FUNCTION(X)                                                                       \
  X(nvrtcCreateProgram,                                                                            \
    (void **, const char *, const char *, int, const char *const *, const char *const *))          \
  X(nvrtcCompileProgram, (void *, int, const char *const *))                                       \
  X(nvrtcDestroyProgram, (void **))                                                                \
  X(nvrtcGetProgramLogSize, (void *, size_t *))                                                    \
  X(nvrtcGetProgramLog, (void *, char *))                                                          \
  X(nvrtcGetCUBINSize, (void *, size_t *))                                                         \
  X(nvrtcGetCUBIN, (void *, char *))                                                               \
  X(nvrtcGetPTXSize, (void *, size_t *))                                                           \
  X(nvrtcGetPTX, (void *, char *))                                                                 \
  X(cuInit, (unsigned))                                                                            \
  X(cuDevicePrimaryCtxRetain, (void **, int))                                                      \
  X(cuCtxSetCurrent, (void *))                                                                     \
  X(cuCtxSynchronize, (void))                                                                      \
  X(cuModuleLoadDataEx, (void **, const void *, unsigned, int *, void **))                         \
  X(cuModuleUnload, (void *))                                                                      \
  X(cuModuleGetFunction, (void **, void *, const char *))                                          \
  X(cuFuncGetAttribute, (int *, int, void *))                                                      \
  X(cuMemAlloc_v2, (Address *, size_t))                                                            \
  X(cuMemFree_v2, (Address))                                                                       \
  X(cuMemHostAlloc, (void **, size_t, unsigned))                                                   \
  X(cuMemcpyHtoDAsync_v2, (Address, const void *, size_t, void *))                                 \
  X(cuMemcpyDtoHAsync_v2, (void *, Address, size_t, void *))                                       \
  X(cuMemcpyDtoDAsync_v2, (Address, Address, size_t, void *))                                      \
  X(cuMemcpyHtoD_v2, (Address, const void *, size_t))                                              \
  X(cuMemcpyDtoH_v2, (void *, Address, size_t))                                                    \
  X(cuMemsetD32Async, (Address, unsigned, size_t, void *))                                         \
  X(cuStreamCreate, (void **, unsigned))                                                           \
  X(cuStreamDestroy_v2, (void *))                                                                  \
  X(cuStreamSynchronize, (void *))                                                                 \
  X(cuStreamQuery, (void *))                                                                       \
  X(cuStreamWaitEvent, (void *, void *, unsigned))                                                 \
  X(cuEventCreate, (void **, unsigned))                                                            \
  X(cuEventRecord, (void *, void *))                                                               \
  X(cuEventSynchronize, (void *))                                                                  \
  X(cuEventQuery, (void *))                                                                        \
  X(cuEventElapsedTime, (float *, void *, void *))                                                 \
  X(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
                     void *, void **, void **))                                                    \
  X(cuStreamBeginCapture_v2, (void *, int))                                                        \
  X(cuStreamEndCapture, (void *, void **))                                                         \
  X(cuStreamIsCapturing, (void *, int *))                                                          \
  X(cuGraphInstantiateWithFlags, (void **, void *, unsigned long long))                            \
  X(cuGraphLaunch, (void *, void *))                                                               \
  X(cuGraphExecDestroy, (void *))                                                                  \
  X(cuGraphDestroy, (void *))

#define DECLARE(name, types) static int(*name) types;
FOR_EACH_FUNCTION(DECLARE)

#define CHECK(call) expect(call, 0, #call, __LINE__)
#define EXPECT(call, error) expect(call, error, #call, __LINE__)

static void expect(int error, int wanted, const char *what, int line) {
  if (error == wanted) return;
  printf("check.c:%d: %s gives %d, not %d\n", line, what, error, wanted);
  exit(1);
}

#define SAME(value, wanted) same((double)(value), (double)(wanted), #value, __LINE__)

static void same(double value, double wanted, const char *what, int line) {
  if (value == wanted) return;
  printf("check.c:%d: wrong value: %s is %g, not %g\n", line, what, value, wanted);
  exit(1);
}

static void open_libraries(void) {
  const char *paths[] = {getenv("NNC_NVRTC"), getenv("NNC_LIBCUDA")};
  void *libraries[2];
  for (int i = 0; i < 2; i++) {
    libraries[i] = paths[i] ? dlopen(paths[i], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!libraries[i]) printf("no %s: %s\n", i ? "NNC_LIBCUDA" : "NNC_NVRTC", dlerror()), exit(1);
  }
#define FIND(name, types)                                                                          \
  *(void **)&name = dlsym(libraries[#name[0] == 'c'], #name);                                      \
  if (!name) printf("no %s\n", #name), exit(1);
  FOR_EACH_FUNCTION(FIND)
}

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) perror(path), exit(1);
  char *text = calloc(1, 1 << 20);
  size_t size = fread(text, 1, (1 << 20) - 1, file);
  fclose(file);
  text[size] = 0;
  return text;
}

static void *module, *stream;

static char *compile(const char *path, const char *option, bool is_ptx) {
  const char *header_names[] = {"nnc_cuda_machine.h"};
  const char *headers[] = {read_file("runtime/cuda_abi/nnc_cuda_machine.h")};
  const char *options[] = {option, "--std=c++17", "--fmad=false"};
  const char *name = strrchr(path, '/');
  void *program;
  size_t size;
  CHECK(nvrtcCreateProgram(&program, read_file(path), name ? name + 1 : path, 1, headers,
                           header_names));
  int error = nvrtcCompileProgram(program, 3, options);
  CHECK(nvrtcGetProgramLogSize(program, &size));
  char *log = malloc(size);
  CHECK(nvrtcGetProgramLog(program, log));
  if (size > 1) fputs(log, stdout);
  CHECK(error);
  CHECK((is_ptx ? nvrtcGetPTXSize : nvrtcGetCUBINSize)(program, &size));
  char *image = malloc(size);
  CHECK((is_ptx ? nvrtcGetPTX : nvrtcGetCUBIN)(program, image));
  CHECK(nvrtcDestroyProgram(&program));
  return image;
}

/* ---- what cases do ---- */

static Address device(size_t bytes) {
  Address at;
  CHECK(cuMemAlloc_v2(&at, bytes));
  return at;
}

static Address device_copy(const void *from, size_t bytes) {
  Address at = device(bytes);
  CHECK(cuMemcpyHtoDAsync_v2(at, from, bytes, stream));
  return at;
}

static void *pinned(size_t bytes) {
  void *at;
  CHECK(cuMemHostAlloc(&at, bytes, 0));
  return at;
}

static void launch_on(void *on, const char *name, int blocks, int threads, void **arguments) {
  void *function;
  CHECK(cuModuleGetFunction(&function, module, name));
  CHECK(cuLaunchKernel(function, (unsigned)blocks, 1, 1, (unsigned)threads, 1, 1, 0, on, arguments,
                       NULL));
}

#define LAUNCH(name, blocks, threads, ...)                                                         \
  launch_on(stream, name, blocks, threads, (void *[]){__VA_ARGS__, NULL})

/* What is at the address, after everything before. */
static void *fetch(Address from, size_t bytes) {
  void *to = pinned(bytes);
  CHECK(cuMemcpyDtoHAsync_v2(to, from, bytes, stream));
  CHECK(cuStreamSynchronize(stream));
  return to;
}

/* ---- right kernels ---- */

static float numbers[1024];

static void case_scale(void) {
  float factor = 3;
  int64_t count = 1000;
  Address x = device_copy(numbers, sizeof numbers), y = device(4000);
  LAUNCH("scale", 8, 128, &y, &x, &factor, &count);
  const float *result = fetch(y, 4000);
  for (int i = 0; i < 1000; i++) SAME(result[i], fmaf(numbers[i], 3, sqrtf(fabsf(numbers[i]))));
}

static void sums(const char *kernel) {
  Address x = device_copy(numbers, sizeof numbers), y = device(16);
  LAUNCH(kernel, 4, 256, &y, &x);
  const float *result = fetch(y, 16);
  for (int row = 0; row < 4; row++) {
    float sum = 0; /* of small integers: exact in any order */
    for (int i = 0; i < 256; i++) sum += numbers[row * 256 + i];
    SAME(result[row], sum);
  }
}

static void case_row_sums(void) { sums("row_sums"); }
static void case_row_sums_tree(void) { sums("row_sums_tree"); }

static void case_turn_rows(void) {
  int64_t values[3 * 256], rows = 3;
  for (int i = 0; i < 3 * 256; i++) values[i] = i * 7;
  Address x = device_copy(values, sizeof values), y = device(sizeof values);
  LAUNCH("turn_rows", 2, 256, &y, &x, &rows);
  const int64_t *result = fetch(y, sizeof values);
  for (int i = 0; i < 3 * 256; i++) SAME(result[i], values[i / 256 * 256 + 255 - i % 256]);
}

static void case_places(void) {
  double values[128];
  for (int i = 0; i < 128; i++) values[i] = numbers[i];
  Address x = device_copy(values, sizeof values), y = device(512);
  LAUNCH("places", 2, 64, &y, &x);
  const int *result = fetch(y, 512);
  for (int i = 0, place = 0; i < 128; i++) {
    if (i % 32 == 0) place = 0;
    SAME(result[i], values[i] > 0 ? place : -1);
    place += values[i] > 0;
  }
}

static void case_least(void) {
  uint64_t values[100], none = UINT64_MAX, open = 0;
  int64_t count = 100;
  for (int i = 0; i < 100; i++) values[i] = 1000 + (uint64_t)(i * 37 % 100);
  Address x = device_copy(values, sizeof values), y = device_copy(&none, 8);
  Address lock = device_copy(&open, 8);
  LAUNCH("least", 2, 64, &y, &lock, &x, &count);
  SAME(*(const uint64_t *)fetch(y, 8), 1000);
}

static void case_neighbours(void) {
  double values[64];
  for (int i = 0; i < 64; i++) values[i] = i * i;
  Address x = device_copy(values, sizeof values), y = device(sizeof values);
  LAUNCH("neighbours", 1, 64, &y, &x);
  const double *result = fetch(y, sizeof values);
  for (int i = 0; i < 64; i++) SAME(result[i], values[i ^ 1] + values[i / 32 * 32 + 5]);
}

typedef struct Case {
  const char *name;
  void (*run)(void);
} Case;

static const Case cases[] = {
#define CASE(name)                                                                                 \
  { #name, case_##name }
    CASE(scale),  CASE(row_sums), CASE(row_sums_tree), CASE(turn_rows),
    CASE(places), CASE(least),    CASE(neighbours),
};

int main(int count, char **words) {
  if (count < 3) return printf("check FILE CASE\n"), 1;
  open_libraries();
  void *context;
  CHECK(cuInit(0));
  CHECK(cuDevicePrimaryCtxRetain(&context, 0));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuStreamCreate(&stream, 1));
  CHECK(cuModuleLoadDataEx(&module, compile(words[1], "--gpu-architecture=sm_90", false), 0, NULL,
                           NULL));
  for (int i = 0; i < 1024; i++) numbers[i] = (float)(i * 73 % 101 - 50);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (strcmp(words[2], cases[i].name) && strcmp(words[2], "all")) continue;
    cases[i].run();
    if (strcmp(words[2], "all")) return 0;
  }
  return strcmp(words[2], "all") ? printf("no case %s\n", words[2]), 1 : 0;
}
