/* A stand-in for libcuda.so.1 that counts calls and does what they ask on memory of this process, for
 * test_cuda_device.c and tests/runtime. It proves how the host uses the driver: a kernel is a function of
 * its name which the program exports and which is given the arguments, or one of a few here.
 *
 * What is put into a stream runs as late as the driver may run it: when the host waits for it. Memory
 * that the host writes again too early is then seen changed. With COUNTING_EAGER=1 it runs at once: the
 * other extreme. COUNTING_FAIL="cuGraphLaunch:3:700" lets the third call of that function fail with error
 * 700. COUNTING_DEVICES, COUNTING_CAPABILITY (as "90") and COUNTING_VERSION (as "12040") tell what there
 * is, COUNTING_MEMORY how many bytes. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/driver.h"
#include "nnc_cuda_program.h"

enum { MOST_OPS = 1 << 16, MOST_NAMES = 64, MOST_ARGUMENTS = 4, ILLEGAL_IN_CAPTURE = 900 };

#define EXPORT __attribute__((visibility("default")))

/* --- Counting ------------------------------------------------------------------------------- */

static struct {
  const char *name;
  int calls;
} counts[MOST_NAMES];

EXPORT int counting_calls(const char *name);
EXPORT void counting_reset(void);

static int *count_of(const char *name) {
  int i = 0;
  while (counts[i].name && strcmp(counts[i].name, name) != 0) i++;
  counts[i].name = name;
  return &counts[i].calls;
}

int counting_calls(const char *name) { return *count_of(name); }
void counting_reset(void) { memset(counts, 0, sizeof counts); }

static int number_of(const char *variable, int otherwise) {
  const char *text = getenv(variable);
  return text ? atoi(text) : otherwise;
}

/* Counts a call; the error that it is to fail with, or 0. */
static CuResult enter(const char *name) {
  const char *fail = getenv("COUNTING_FAIL");
  size_t length = strlen(name);
  int call = ++*count_of(name), at, result;
  if (!fail || strncmp(fail, name, length) != 0) return 0;
  return sscanf(fail + length, ":%d:%d", &at, &result) == 2 && at == call ? result : 0;
}

#define ENTER(name)                                                                                \
  do {                                                                                             \
    CuResult injected = enter(name);                                                               \
    if (injected) return injected;                                                                 \
  } while (0)

/* --- Streams -------------------------------------------------------------------------------- */

enum Kind { OP_COPY, OP_FILL, OP_KERNEL, OP_RECORD, OP_AFTER };

typedef struct Op {
  enum Kind kind;
  void *to;
  const void *from;
  size_t bytes;
  unsigned char value;
  CuFunction function;
  uint64_t arguments[MOST_ARGUMENTS];
  CuEvent event;
  CuStream stream; /* OP_AFTER: up to `position` of it */
  int position;
} Op;

struct CuStreamState {
  Op *ops;
  int count, done;
  CuGraph captures;
};
struct CuEventState {
  CuStream stream; /* NULL: never recorded */
  int position;
  int64_t time;
};
struct CuFunctionState {
  char name[32];
  void (*run)(const uint64_t *arguments); /* of the program itself; NULL: one of ours */
  CuFunction next;
};
struct CuGraphState {
  Op *ops;
  int count;
};
static int64_t now;          /* operations that have run */
static CuFunction functions; /* all that were asked for; they stay */

/* What the kernels of the tests do; the arguments of all are addresses: x, y, scalars, state. */
static void run_kernel(const Op *op) {
  const char *name = op->function->name;
  if (op->function->run) {
    op->function->run(op->arguments);
    return;
  }
  float *x = (float *)op->arguments[0], *y = (float *)op->arguments[1];
  const double *scalars = (const double *)op->arguments[2];
  nnc_cuda_state *state = (nnc_cuda_state *)op->arguments[3];
  if (strcmp(name, "scale") == 0) /* y = x * scalar + step */
    for (int i = 0; i < 4; i++) y[i] = x[i] * (float)scalars[0] + (float)state->step;
  if (strcmp(name, "outside") == 0) {
    state->outside = (uint64_t)1 << 40 | 5;
    state->outside_index = -3;
  }
}

static void run_until(CuStream stream, int position) {
  while (stream->done < position) {
    const Op *op = &stream->ops[stream->done];
    if (op->kind == OP_AFTER) run_until(op->stream, op->position);
    if (op->kind == OP_COPY) memcpy(op->to, op->from, op->bytes);
    if (op->kind == OP_FILL) memset(op->to, op->value, op->bytes);
    if (op->kind == OP_KERNEL) run_kernel(op);
    if (op->kind == OP_RECORD) op->event->time = now;
    now++;
    stream->done++;
  }
}

static CuResult put(CuStream stream, Op op) {
  Op **ops = stream->captures ? &stream->captures->ops : &stream->ops;
  int *count = stream->captures ? &stream->captures->count : &stream->count;
  if (*count == MOST_OPS) return CU_OUT_OF_MEMORY;
  if (!*ops) *ops = calloc(MOST_OPS, sizeof **ops);
  (*ops)[(*count)++] = op;
  if (!stream->captures && number_of("COUNTING_EAGER", 0)) run_until(stream, stream->count);
  return 0;
}

/* --- The device ----------------------------------------------------------------------------- */

EXPORT CuResult cuInit(unsigned flags);
EXPORT CuResult cuDriverGetVersion(int *version);
EXPORT CuResult cuGetErrorName(CuResult result, const char **text);
EXPORT CuResult cuGetErrorString(CuResult result, const char **text);
EXPORT CuResult cuDeviceGetCount(int *count);
EXPORT CuResult cuDeviceGet(CuDevice *device, int number);
EXPORT CuResult cuDeviceGetName(char *name, int bytes, CuDevice device);
EXPORT CuResult cuDeviceGetAttribute(int *value, int attribute, CuDevice device);
EXPORT CuResult cuDeviceTotalMem_v2(size_t *bytes, CuDevice device);
EXPORT CuResult cuDevicePrimaryCtxRetain(CuContext *context, CuDevice device);
EXPORT CuResult cuDevicePrimaryCtxRelease_v2(CuDevice device);
EXPORT CuResult cuCtxSetCurrent(CuContext context);

CuResult cuInit(unsigned flags) {
  ENTER("cuInit");
  return flags == 0 ? 0 : 1;
}

CuResult cuDriverGetVersion(int *version) {
  ENTER("cuDriverGetVersion");
  *version = number_of("COUNTING_VERSION", 13000);
  return 0;
}

CuResult cuGetErrorName(CuResult result, const char **text) {
  *text = result == CU_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OF_A_KIND";
  return 0;
}

CuResult cuGetErrorString(CuResult result, const char **text) {
  *text = result == CU_ILLEGAL_ADDRESS ? "an illegal memory access was encountered" : "a reason";
  return 0;
}

CuResult cuDeviceGetCount(int *count) {
  ENTER("cuDeviceGetCount");
  *count = number_of("COUNTING_DEVICES", 1);
  return 0;
}

CuResult cuDeviceGet(CuDevice *device, int number) {
  ENTER("cuDeviceGet");
  *device = number;
  return 0;
}

CuResult cuDeviceGetName(char *name, int bytes, CuDevice device) {
  ENTER("cuDeviceGetName");
  snprintf(name, (size_t)bytes, "Counting %d", device);
  return 0;
}

CuResult cuDeviceGetAttribute(int *value, int attribute, CuDevice device) {
  int capability = number_of("COUNTING_CAPABILITY", 90);
  ENTER("cuDeviceGetAttribute");
  (void)device;
  *value = attribute == CU_CAPABILITY_MAJOR   ? capability / 10
           : attribute == CU_CAPABILITY_MINOR ? capability % 10
           : attribute == CU_MULTIPROCESSORS  ? 100
                                              : 1000000;
  return 0;
}

CuResult cuDeviceTotalMem_v2(size_t *bytes, CuDevice device) {
  ENTER("cuDeviceTotalMem_v2");
  (void)device;
  *bytes = 8000000000;
  return 0;
}

CuResult cuDevicePrimaryCtxRetain(CuContext *context, CuDevice device) {
  ENTER("cuDevicePrimaryCtxRetain");
  (void)device;
  *context = (CuContext)counts;
  return 0;
}

CuResult cuDevicePrimaryCtxRelease_v2(CuDevice device) {
  ENTER("cuDevicePrimaryCtxRelease_v2");
  (void)device;
  return 0;
}

CuResult cuCtxSetCurrent(CuContext context) {
  ENTER("cuCtxSetCurrent");
  return context == (CuContext)counts ? 0 : 1;
}

/* --- Code ----------------------------------------------------------------------------------- */

EXPORT CuResult cuModuleLoadDataEx(CuModule *module, const void *image, unsigned count,
                                   int *options, void **values);
EXPORT CuResult cuModuleUnload(CuModule module);
EXPORT CuResult cuModuleGetFunction(CuFunction *function, CuModule module, const char *name);
EXPORT CuResult cuFuncSetAttribute(CuFunction function, int attribute, int value);
EXPORT CuResult cuLaunchKernel(CuFunction function, unsigned blocks, unsigned blocks_y,
                               unsigned blocks_z, unsigned threads, unsigned threads_y,
                               unsigned threads_z, unsigned shared, CuStream stream,
                               void **arguments, void **extra);

CuResult cuModuleLoadDataEx(CuModule *module, const void *image, unsigned count, int *options,
                            void **values) {
  CuResult injected = enter("cuModuleLoadDataEx");
  if (injected && count > 0 && options[0] == CU_JIT_ERROR_LOG)
    snprintf(values[0], (size_t)(uintptr_t)values[1], "line 1 is wrong");
  *module = (CuModule)counts;
  return injected ? injected : *(const char *)image ? 0 : CU_INVALID_IMAGE;
}

CuResult cuModuleUnload(CuModule module) {
  ENTER("cuModuleUnload");
  (void)module;
  return 0;
}

CuResult cuModuleGetFunction(CuFunction *function, CuModule module, const char *name) {
  ENTER("cuModuleGetFunction");
  (void)module;
  CuFunction found = calloc(1, sizeof *found);
  if (!found) return CU_OUT_OF_MEMORY;
  void *address = dlsym(RTLD_DEFAULT, name);
  snprintf(found->name, sizeof found->name, "%s", name);
  memcpy(&found->run, &address, sizeof address);
  found->next = functions;
  *function = functions = found;
  return 0;
}

CuResult cuFuncSetAttribute(CuFunction function, int attribute, int value) {
  ENTER("cuFuncSetAttribute");
  (void)function;
  return attribute == CU_MOST_DYNAMIC_SHARED && value > 48 << 10 ? 0 : 1;
}

EXPORT CuResult cuTensorMapEncodeTiled(CuTensorMap *map, int type, uint32_t rank, void *address,
                                       const uint64_t *extents, const uint64_t *strides,
                                       const uint32_t *box, const uint32_t *steps, int interleave,
                                       int swizzle, int promotion, int outside);
CuResult cuTensorMapEncodeTiled(CuTensorMap *map, int type, uint32_t rank, void *address,
                                const uint64_t *extents, const uint64_t *strides,
                                const uint32_t *box, const uint32_t *steps, int interleave,
                                int swizzle, int promotion, int outside) {
  ENTER("cuTensorMapEncodeTiled");
  (void)extents, (void)strides, (void)box, (void)steps;
  (void)interleave, (void)swizzle, (void)promotion, (void)outside;
  *map = (CuTensorMap){{(uintptr_t)address, (uint64_t)type, rank}};
  return 0;
}

CuResult cuLaunchKernel(CuFunction function, unsigned blocks, unsigned blocks_y, unsigned blocks_z,
                        unsigned threads, unsigned threads_y, unsigned threads_z, unsigned shared,
                        CuStream stream, void **arguments, void **extra) {
  Op op = {.kind = OP_KERNEL, .function = function};
  ENTER("cuLaunchKernel");
  (void)shared;
  if (!blocks || blocks_y != 1 || blocks_z != 1 || threads % 32 || threads_y != 1 ||
      threads_z != 1 || extra)
    return 1;
  for (int i = 0; i < MOST_ARGUMENTS; i++) memcpy(&op.arguments[i], arguments[i], 8);
  return put(stream, op);
}

/* --- Memory --------------------------------------------------------------------------------- */

EXPORT CuResult cuMemAlloc_v2(CuAddress *address, size_t bytes);
EXPORT CuResult cuMemFree_v2(CuAddress address);
EXPORT CuResult cuMemGetInfo_v2(size_t *free, size_t *total);
EXPORT CuResult cuMemHostAlloc(void **memory, size_t bytes, unsigned flags);
EXPORT CuResult cuMemFreeHost(void *memory);
EXPORT CuResult cuMemcpyHtoDAsync_v2(CuAddress to, const void *from, size_t bytes, CuStream stream);
EXPORT CuResult cuMemcpyDtoHAsync_v2(void *to, CuAddress from, size_t bytes, CuStream stream);
EXPORT CuResult cuMemcpyDtoDAsync_v2(CuAddress to, CuAddress from, size_t bytes, CuStream stream);
EXPORT CuResult cuMemsetD8Async(CuAddress to, unsigned char value, size_t bytes, CuStream stream);

CuResult cuMemAlloc_v2(CuAddress *address, size_t bytes) {
  ENTER("cuMemAlloc_v2");
  if (bytes > (size_t)number_of("COUNTING_MEMORY", 1 << 30)) return CU_OUT_OF_MEMORY;
  void *memory = malloc(bytes);
  if (!memory) return CU_OUT_OF_MEMORY;
  memset(memory, 0xff, bytes); /* NaN */
  *address = (CuAddress)(uintptr_t)memory;
  return 0;
}

CuResult cuMemFree_v2(CuAddress address) {
  ENTER("cuMemFree_v2");
  free((void *)(uintptr_t)address);
  return 0;
}

CuResult cuMemGetInfo_v2(size_t *free, size_t *total) {
  ENTER("cuMemGetInfo_v2");
  *free = (size_t)number_of("COUNTING_MEMORY", 1 << 30);
  *total = 8000000000;
  return 0;
}

CuResult cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  ENTER("cuMemHostAlloc");
  *memory = flags == 0 ? malloc(bytes) : NULL;
  return *memory ? 0 : CU_OUT_OF_MEMORY;
}

CuResult cuMemFreeHost(void *memory) {
  ENTER("cuMemFreeHost");
  free(memory);
  return 0;
}

static CuResult put_copy(CuStream stream, uintptr_t to, uintptr_t from, size_t bytes) {
  return put(stream,
             (Op){.kind = OP_COPY, .to = (void *)to, .from = (const void *)from, .bytes = bytes});
}

CuResult cuMemcpyHtoDAsync_v2(CuAddress to, const void *from, size_t bytes, CuStream stream) {
  ENTER("cuMemcpyHtoDAsync_v2");
  return put_copy(stream, (uintptr_t)to, (uintptr_t)from, bytes);
}

CuResult cuMemcpyDtoHAsync_v2(void *to, CuAddress from, size_t bytes, CuStream stream) {
  ENTER("cuMemcpyDtoHAsync_v2");
  return put_copy(stream, (uintptr_t)to, (uintptr_t)from, bytes);
}

CuResult cuMemcpyDtoDAsync_v2(CuAddress to, CuAddress from, size_t bytes, CuStream stream) {
  ENTER("cuMemcpyDtoDAsync_v2");
  return put_copy(stream, (uintptr_t)to, (uintptr_t)from, bytes);
}

CuResult cuMemsetD8Async(CuAddress to, unsigned char value, size_t bytes, CuStream stream) {
  ENTER("cuMemsetD8Async");
  return put(stream,
             (Op){.kind = OP_FILL, .to = (void *)(uintptr_t)to, .value = value, .bytes = bytes});
}

/* --- Streams, events, graphs ---------------------------------------------------------------- */

EXPORT CuResult cuStreamCreate(CuStream *stream, unsigned flags);
EXPORT CuResult cuStreamDestroy_v2(CuStream stream);
EXPORT CuResult cuStreamSynchronize(CuStream stream);
EXPORT CuResult cuStreamWaitEvent(CuStream stream, CuEvent event, unsigned flags);
EXPORT CuResult cuStreamBeginCapture_v2(CuStream stream, int mode);
EXPORT CuResult cuStreamEndCapture(CuStream stream, CuGraph *graph);
EXPORT CuResult cuEventCreate(CuEvent *event, unsigned flags);
EXPORT CuResult cuEventDestroy_v2(CuEvent event);
EXPORT CuResult cuEventRecord(CuEvent event, CuStream stream);
EXPORT CuResult cuEventSynchronize(CuEvent event);
EXPORT CuResult cuEventElapsedTime(float *milliseconds, CuEvent from, CuEvent to);
EXPORT CuResult cuGraphInstantiateWithFlags(CuGraphExec *exec, CuGraph graph,
                                            unsigned long long flags);
EXPORT CuResult cuGraphDestroy(CuGraph graph);
EXPORT CuResult cuGraphUpload(CuGraphExec exec, CuStream stream);
EXPORT CuResult cuGraphLaunch(CuGraphExec exec, CuStream stream);
EXPORT CuResult cuGraphExecDestroy(CuGraphExec exec);

CuResult cuStreamCreate(CuStream *stream, unsigned flags) {
  ENTER("cuStreamCreate");
  *stream = calloc(1, sizeof **stream);
  return flags == CU_STREAM_NON_BLOCKING && *stream ? 0 : 1;
}

CuResult cuStreamDestroy_v2(CuStream stream) {
  ENTER("cuStreamDestroy_v2");
  free(stream->ops);
  free(stream);
  return 0;
}

CuResult cuStreamSynchronize(CuStream stream) {
  ENTER("cuStreamSynchronize");
  if (stream->captures) return ILLEGAL_IN_CAPTURE;
  run_until(stream, stream->count);
  return 0;
}

CuResult cuStreamWaitEvent(CuStream stream, CuEvent event, unsigned flags) {
  ENTER("cuStreamWaitEvent");
  if (!event->stream) return 0;
  return flags ? 1
               : put(stream,
                     (Op){.kind = OP_AFTER, .stream = event->stream, .position = event->position});
}

CuResult cuStreamBeginCapture_v2(CuStream stream, int mode) {
  ENTER("cuStreamBeginCapture_v2");
  if (stream->captures || mode != CU_CAPTURE_THREAD_LOCAL) return 1;
  stream->captures = calloc(1, sizeof *stream->captures);
  return stream->captures ? 0 : CU_OUT_OF_MEMORY;
}

CuResult cuStreamEndCapture(CuStream stream, CuGraph *graph) {
  ENTER("cuStreamEndCapture");
  *graph = stream->captures;
  stream->captures = NULL;
  return *graph ? 0 : 1;
}

CuResult cuEventCreate(CuEvent *event, unsigned flags) {
  ENTER("cuEventCreate");
  (void)flags;
  *event = calloc(1, sizeof **event);
  return *event ? 0 : CU_OUT_OF_MEMORY;
}

CuResult cuEventDestroy_v2(CuEvent event) {
  ENTER("cuEventDestroy_v2");
  free(event);
  return 0;
}

CuResult cuEventRecord(CuEvent event, CuStream stream) {
  ENTER("cuEventRecord");
  if (stream->captures) return ILLEGAL_IN_CAPTURE;
  event->stream = stream;
  event->position = stream->count + 1;
  return put(stream, (Op){.kind = OP_RECORD, .event = event});
}

CuResult cuEventSynchronize(CuEvent event) {
  ENTER("cuEventSynchronize");
  if (event->stream) run_until(event->stream, event->position);
  return 0;
}

CuResult cuEventElapsedTime(float *milliseconds, CuEvent from, CuEvent to) {
  ENTER("cuEventElapsedTime");
  *milliseconds = (float)(to->time - from->time) * 1e-3f; /* a microsecond each */
  return 0;
}

static CuGraph copy_graph(CuGraph graph) {
  CuGraph copy = calloc(1, sizeof *copy);
  if (!copy || !graph->ops) return copy;
  copy->ops = calloc(MOST_OPS, sizeof *copy->ops);
  if (!copy->ops) return NULL;
  memcpy(copy->ops, graph->ops, (size_t)graph->count * sizeof *copy->ops);
  copy->count = graph->count;
  return copy;
}

CuResult cuGraphInstantiateWithFlags(CuGraphExec *exec, CuGraph graph, unsigned long long flags) {
  ENTER("cuGraphInstantiateWithFlags");
  *exec = (CuGraphExec)copy_graph(graph);
  return flags == 0 && *exec ? 0 : 1;
}

CuResult cuGraphDestroy(CuGraph graph) {
  ENTER("cuGraphDestroy");
  free(graph->ops);
  free(graph);
  return 0;
}

CuResult cuGraphUpload(CuGraphExec exec, CuStream stream) {
  ENTER("cuGraphUpload");
  return exec && stream ? 0 : 1;
}

CuResult cuGraphLaunch(CuGraphExec exec, CuStream stream) {
  CuGraph graph = (CuGraph)exec;
  ENTER("cuGraphLaunch");
  for (int i = 0; i < graph->count; i++)
    if (put(stream, graph->ops[i]) != 0) return CU_OUT_OF_MEMORY;
  return 0;
}

CuResult cuGraphExecDestroy(CuGraphExec exec) {
  ENTER("cuGraphExecDestroy");
  return cuGraphDestroy((CuGraph)exec);
}
