/* A stand-in for libcuda.so.1: errors, the device, contexts. It runs the images of nvrtc.c on this
 * machine.
 *
 * NNC_EMULATOR_SM      the compute capability, 90 for 9.0 (the default)
 * NNC_EMULATOR_MEMORY  bytes of device memory, 4 GiB by default
 * NNC_EMULATOR_ORDER, NNC_EMULATOR_SEED   execute.c
 * NNC_EMULATOR_ASYNC   stream.c
 * NNC_EMULATOR_COPIES  copies.c
 * NNC_EMULATOR_FAIL    failures.h
 * NNC_EMULATOR_TRACE   1: the name of each call on stderr
 * NNC_EMULATOR_STATISTICS  1: what was done, on stderr at the end
 *
 * Mistakes of kernels, and accesses that the driver would not notice, end the process (fault.h). */
#include "driver.h"

#include "failures.h"
#include "fault.h"
#include "memory.h"
#include "work.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool is_initialized;
static int retained;
static int lasting_error;
static _Thread_local void *context;
static char the_context; /* its address */

static bool is_set(const char *name) {
  const char *value = getenv(name);
  return value && *value && strcmp(value, "0");
}

void driver_lock(void) { pthread_mutex_lock(&mutex); }
void driver_unlock(const int *unused) { pthread_mutex_unlock(&mutex); }

void driver_keep_error(int error) {
  if (failure_is_lasting(error) && !lasting_error) lasting_error = error;
}

int driver_refuse(const char *name, int needs) {
  static int is_traced = -1;
  if (is_traced < 0) is_traced = is_set("NNC_EMULATOR_TRACE");
  if (is_traced) fprintf(stderr, "nnc emulator: %s\n", name);
  int error = failure_of(name);
  driver_keep_error(error);
  if (error) return error;
  if (needs >= NEEDS_DRIVER && !is_initialized) return CUDA_ERROR_NOT_INITIALIZED;
  if (needs >= NEEDS_CONTEXT) fault_catch_signals();
  if (needs >= NEEDS_CONTEXT && !context) return CUDA_ERROR_INVALID_CONTEXT;
  return needs >= NEEDS_CONTEXT ? lasting_error : CUDA_SUCCESS;
}

int driver_device(void) {
  const char *text = getenv("NNC_EMULATOR_SM");
  return text && atoi(text) > 0 ? atoi(text) : 90;
}

/* The most shared memory of a block, when it is asked for. */
int driver_shared_of_block(void) {
  static const int of[][2] = {{75, 64}, {80, 163}, {86, 99},  {87, 163},
                              {89, 99}, {90, 227}, {100, 227}};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    if (of[i][0] == driver_device()) return of[i][1] * 1024;
  }
  return 99 * 1024;
}

/* ---- errors ---- */

EXPORT int cuGetErrorName(int error, const char **to) {
  switch (error) {
#define NNC_ERROR(name, number, text)                                                              \
  case number: *to = "CUDA_" #name; return CUDA_SUCCESS;
    FOR_EACH_ERROR(NNC_ERROR)
#undef NNC_ERROR
  }
  *to = NULL;
  return CUDA_ERROR_INVALID_VALUE;
}

EXPORT int cuGetErrorString(int error, const char **to) {
  switch (error) {
#define NNC_ERROR(name, number, text)                                                              \
  case number: *to = text; return CUDA_SUCCESS;
    FOR_EACH_ERROR(NNC_ERROR)
#undef NNC_ERROR
  }
  *to = NULL;
  return CUDA_ERROR_INVALID_VALUE;
}

/* ---- the device ---- */

static void print_counts(void) {
  fprintf(stderr,
          "nnc emulator: %llu launches, %llu copies, %llu fills, %llu graph launches, "
          "%llu allocations, at most %zu bytes\n",
          (unsigned long long)work_counts.launches, (unsigned long long)work_counts.copies,
          (unsigned long long)work_counts.fills, (unsigned long long)work_counts.graphs,
          (unsigned long long)work_counts.allocations, work_counts.most_memory);
}

EXPORT int cuInit(unsigned flags) {
  ENTER(NEEDS_NOTHING);
  REQUIRE(!flags, ERROR_INVALID_VALUE);
  if (!is_initialized && is_set("NNC_EMULATOR_STATISTICS")) atexit(print_counts);
  is_initialized = true;
  return CUDA_SUCCESS;
}

EXPORT int cuDriverGetVersion(int *to) {
  ENTER(NEEDS_NOTHING);
  *to = 13000;
  return CUDA_SUCCESS;
}

EXPORT int cuDeviceGetCount(int *to) {
  ENTER(NEEDS_DRIVER);
  *to = 1;
  return CUDA_SUCCESS;
}

EXPORT int cuDeviceGet(int *to, int number) {
  ENTER(NEEDS_DRIVER);
  REQUIRE(number == 0, ERROR_INVALID_DEVICE);
  *to = 0;
  return CUDA_SUCCESS;
}

EXPORT int cuDeviceGetName(char *to, int size, int device) {
  ENTER(NEEDS_DRIVER);
  REQUIRE(device == 0, ERROR_INVALID_DEVICE);
  snprintf(to, (size_t)size, "nnc CUDA emulator");
  return CUDA_SUCCESS;
}

EXPORT int cuDeviceTotalMem_v2(size_t *to, int device) {
  ENTER(NEEDS_DRIVER);
  REQUIRE(device == 0, ERROR_INVALID_DEVICE);
  *to = memory_total();
  return CUDA_SUCCESS;
}

EXPORT int cuDeviceGetAttribute(int *to, int attribute, int device) {
  static const int values[][2] = {
      {1, 1024},                                  /* threads of a block */
      {2, 1024},                                  /* its extents */
      {3, 1024},     {4, 64},    {5, 0x7fffffff}, /* extents of a grid */
      {6, 65535},    {7, 65535}, {8, 49152},      /* shared memory of a block */
      {9, 65536},                                 /* constants */
      {10, 32},                                   /* a warp */
      {12, 65536},                                /* registers of a block */
      {13, 1000000},                              /* kHz */
      {15, 1},                                    /* copies beside kernels */
      {16, 2},                                    /* multiprocessors */
      {19, 1},                                    /* host memory can be mapped */
      {31, 1},                                    /* kernels beside each other */
      {36, 1000000},                              /* kHz of the memory */
      {37, 64},                                   /* bits of its bus */
      {38, 4 << 20},                              /* L2 */
      {39, 2048},                                 /* threads of a multiprocessor */
      {40, 2},                                    /* engines that copy */
      {41, 1},                                    /* one address space */
      {78, 1},                                    /* priorities of streams */
      {82, 65536},                                /* registers of a multiprocessor */
      {83, 1},                                    /* managed memory */
      {95, 1},                                    /* cooperative launches */
      {106, 32}};                                 /* blocks of a multiprocessor */
  ENTER(NEEDS_DRIVER);
  REQUIRE(device == 0, ERROR_INVALID_DEVICE);
  REQUIRE(to && attribute > 0 && attribute < 200, ERROR_INVALID_VALUE);
  *to = 0;
  if (attribute == 75) *to = driver_device() / 10;
  if (attribute == 76) *to = driver_device() % 10;
  if (attribute == 81) *to = driver_shared_of_block() + 1024; /* of a multiprocessor */
  if (attribute == 97) *to = driver_shared_of_block();
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    if (values[i][0] == attribute) *to = values[i][1];
  }
  return CUDA_SUCCESS;
}

EXPORT int cuDeviceGetUuid_v2(char *to, int device) {
  ENTER(NEEDS_DRIVER);
  REQUIRE(device == 0, ERROR_INVALID_DEVICE);
  memcpy(to, "nnc CUDA emulat\0", 16);
  return CUDA_SUCCESS;
}

/* ---- contexts: the device's one ---- */

EXPORT int cuDevicePrimaryCtxRetain(void **to, int device) {
  ENTER(NEEDS_DRIVER);
  REQUIRE(device == 0, ERROR_INVALID_DEVICE);
  retained++;
  *to = &the_context;
  return CUDA_SUCCESS;
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int device) {
  ENTER(NEEDS_DRIVER);
  REQUIRE(device == 0, ERROR_INVALID_DEVICE);
  REQUIRE(retained > 0, ERROR_INVALID_CONTEXT);
  retained--;
  return CUDA_SUCCESS;
}

EXPORT int cuCtxSetCurrent(void *wanted) {
  ENTER(NEEDS_DRIVER);
  REQUIRE(!wanted || (wanted == &the_context && retained), ERROR_INVALID_CONTEXT);
  context = wanted;
  return CUDA_SUCCESS;
}

EXPORT int cuCtxGetCurrent(void **to) {
  ENTER(NEEDS_DRIVER);
  *to = context;
  return CUDA_SUCCESS;
}
