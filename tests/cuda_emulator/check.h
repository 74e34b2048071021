/* What the cases of check.c share: the functions of both stand-ins, and short words for what cases
 * do. */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
  X(cuTensorMapEncodeTiled, (void *, int, uint32_t, Address, const uint64_t *, const uint64_t *,   \
                             const uint32_t *, const uint32_t *, int, int, int, int))              \
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
  X(cuGraphDestroy, (void *))                                                                      \
  X(cuMemFreeHost, (void *))                                                                       \
  X(cuMemGetInfo_v2, (size_t *, size_t *))                                                         \
  X(nvrtcVersion, (int *, int *))                                                                  \
  X(cuFuncSetAttribute, (void *, int, int))

#define DECLARE(name, types) extern int(*name) types;
FOR_EACH_FUNCTION(DECLARE)
#undef DECLARE

#define CHECK(call) expect(call, 0, #call, __FILE__, __LINE__)
#define EXPECT(call, error) expect(call, error, #call, __FILE__, __LINE__)
#define SAME(value, wanted) same((double)(value), (double)(wanted), #value, __FILE__, __LINE__)

void expect(int error, int wanted, const char *what, const char *file, int line);
void same(double value, double wanted, const char *what, const char *file, int line);

extern void *module, *stream;
extern float numbers[1024]; /* small integers */

/* A cubin, or PTX where the architecture is a compute_XX. */
char *compile(const char *path, const char *architecture);

Address device(size_t bytes);
Address device_copy(const void *from, size_t bytes);
void *pinned(size_t bytes);
void *function_of(const char *name);
void launch_on(void *on, const char *name, int blocks, int threads, void **arguments);
#define LAUNCH(name, blocks, threads, ...)                                                         \
  launch_on(stream, name, blocks, threads, (void *[]){__VA_ARGS__, NULL})
/* What is at the address, after everything before. */
void *fetch(Address from, size_t bytes);
int fetch_int(Address from);

typedef struct Case {
  const char *name;
  void (*run)(void);
} Case;
#define CASE(name)                                                                                 \
  { #name, case_##name }

extern const Case right_cases[], host_cases[], seeded_cases[]; /* to one without a name */

#endif
