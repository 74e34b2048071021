/* Compiles kernels by the stand-in for NVRTC, launches them by the stand-in for the driver, and
 * compares what they give with what they should. It reaches both as nnc and its programs do, by
 * dlopen.
 *
 *   check right|host|seeded CASE|all     with NNC_NVRTC and NNC_LIBCUDA in the environment
 *
 * Cases that are right print nothing and end with status 0. Those of seeded mistakes are ended
 * by the emulator, or end with status 1 because values are wrong. */
#include "check.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFINE(name, types) int(*name) types;
FOR_EACH_FUNCTION(DEFINE)

void *module, *stream;
float numbers[1024];

void expect(int error, int wanted, const char *what, const char *file, int line) {
  if (error == wanted) return;
  printf("%s:%d: %s gives %d, not %d\n", file, line, what, error, wanted);
  exit(1);
}

void same(double value, double wanted, const char *what, const char *file, int line) {
  if (value == wanted) return;
  printf("%s:%d: wrong value: %s is %g, not %g\n", file, line, what, value, wanted);
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

char *compile(const char *path, const char *architecture) {
  char option[64];
  bool is_ptx = architecture[0] == 'c';
  snprintf(option, sizeof option, "--gpu-architecture=%s", architecture);
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

Address device(size_t bytes) {
  Address at;
  CHECK(cuMemAlloc_v2(&at, bytes));
  return at;
}

Address device_copy(const void *from, size_t bytes) {
  Address at = device(bytes);
  CHECK(cuMemcpyHtoDAsync_v2(at, from, bytes, stream));
  return at;
}

void *pinned(size_t bytes) {
  void *at;
  CHECK(cuMemHostAlloc(&at, bytes, 0));
  return at;
}

void *function_of(const char *name) {
  void *function;
  CHECK(cuModuleGetFunction(&function, module, name));
  return function;
}

void launch_on(void *on, const char *name, int blocks, int threads, void **arguments) {
  CHECK(cuLaunchKernel(function_of(name), (unsigned)blocks, 1, 1, (unsigned)threads, 1, 1, 0, on,
                       arguments, NULL));
}

void *fetch(Address from, size_t bytes) {
  void *to = pinned(bytes);
  CHECK(cuMemcpyDtoHAsync_v2(to, from, bytes, stream));
  CHECK(cuStreamSynchronize(stream));
  return to;
}

int fetch_int(Address from) { return *(const int *)fetch(from, sizeof(int)); }

/* Runs the case of that name, or all. */
static bool run_cases(const Case *cases, const char *name) {
  bool is_found = false;
  for (; cases->name; cases++) {
    if (strcmp(name, cases->name) && strcmp(name, "all")) continue;
    cases->run();
    is_found = true;
  }
  return is_found;
}

int main(int count, char **words) {
  static const Case *const lists[] = {right_cases, host_cases, seeded_cases};
  static const char *const names[] = {"right", "host", "seeded"};
  void *context;
  if (count < 3) return printf("check LIST CASE\n"), 1;
  open_libraries();
  CHECK(cuInit(0));
  CHECK(cuDevicePrimaryCtxRetain(&context, 0));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuStreamCreate(&stream, 1));
  for (int i = 0; i < 1024; i++) numbers[i] = (float)(i * 73 % 101 - 50);
  for (int i = 0; i < 3; i++) {
    if (strcmp(words[1], names[i])) continue;
    const char *file =
        i == 2 ? "tests/cuda_emulator/kernels/seeded.cu" : "tests/cuda_emulator/kernels/right.cu";
    CHECK(cuModuleLoadDataEx(&module, compile(file, "sm_90"), 0, NULL, NULL));
    if (run_cases(lists[i], words[2])) return 0;
  }
  return printf("no case %s %s\n", words[1], words[2]), 1;
}
