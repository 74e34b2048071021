/* NVIDIA's driver API, found when the program starts: the executable is linked with nothing of CUDA.
 *
 * Types, numbers and functions are those of the CUDA Driver API Reference Manual, under names of our
 * own; a function is called as nnc_cuda.NAME(...). Where the library has versions of a function, the
 * one that is asked for is that of the declaration here. */
#ifndef NNC_CUDA_DRIVER_H
#define NNC_CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int CuResult; /* 0: it worked */
typedef int CuDevice;
typedef uint64_t CuAddress; /* of the device */
typedef struct CuContextState *CuContext;
typedef struct CuModuleState *CuModule;
typedef struct CuFunctionState *CuFunction;
typedef struct CuStreamState *CuStream;
typedef struct CuEventState *CuEvent;
typedef struct CuGraphState *CuGraph;
typedef struct CuGraphExecState *CuGraphExec;

enum nnc_cuda_result {
  CU_OUT_OF_MEMORY = 2,
  CU_DEVICE_UNAVAILABLE = 46,
  CU_NO_DEVICE = 100,
  CU_INVALID_DEVICE = 101,
  CU_INVALID_IMAGE = 200,
  CU_NO_BINARY_FOR_GPU = 209,
  CU_ECC_UNCORRECTABLE = 214,
  CU_INVALID_PTX = 218,
  CU_UNSUPPORTED_PTX_VERSION = 222,
  CU_ILLEGAL_ADDRESS = 700,
  CU_LAUNCH_OUT_OF_RESOURCES = 701,
  CU_LAUNCH_TIMEOUT = 702,
  CU_HARDWARE_STACK_ERROR = 714,
  CU_ILLEGAL_INSTRUCTION = 715,
  CU_MISALIGNED_ADDRESS = 716,
  CU_INVALID_ADDRESS_SPACE = 717,
  CU_INVALID_PC = 718,
  CU_LAUNCH_FAILED = 719,
  CU_SYSTEM_NOT_READY = 802,
  CU_SYSTEM_DRIVER_MISMATCH = 803,
  CU_COMPAT_NOT_SUPPORTED = 804,
  CU_UNKNOWN = 999
};

enum nnc_cuda_attribute {
  CU_CLOCK_RATE = 13, /* kHz */
  CU_MULTIPROCESSORS = 16,
  CU_CAPABILITY_MAJOR = 75,
  CU_CAPABILITY_MINOR = 76
};

enum nnc_cuda_flag {
  CU_STREAM_NON_BLOCKING = 1,
  CU_EVENT_TIMED = 0,
  CU_EVENT_NOT_TIMED = 2,
  CU_CAPTURE_THREAD_LOCAL = 1,
  CU_CAPTURE_RELAXED = 2,    /* other calls of the driver may be made meanwhile */
  CU_MOST_DYNAMIC_SHARED = 8 /* attribute of a function */
};

/* Of a tensor map. */
enum nnc_cuda_map_option {
  CU_MAP_NOT_INTERLEAVED = 0,
  CU_MAP_SWIZZLE_128 = 3,
  CU_MAP_PROMOTE_256 = 3, /* to so many bytes on the way through the L2 cache */
  CU_MAP_ZEROS_OUTSIDE = 0
};
typedef struct CuTensorMap {
  _Alignas(64) uint64_t words[16];
} CuTensorMap;

/* Options of module_load. */
enum nnc_cuda_jit {
  CU_JIT_INFO_LOG = 3,
  CU_JIT_INFO_LOG_BYTES,
  CU_JIT_ERROR_LOG,
  CU_JIT_ERROR_LOG_BYTES
};

/* X(name, symbol of the library, parameters...) */
#define NNC_CUDA_FUNCTIONS(X)                                                                      \
  X(init, "cuInit", unsigned flags)                                                                \
  X(version, "cuDriverGetVersion", int *version)                                                   \
  X(error_name, "cuGetErrorName", CuResult result, const char **text)                              \
  X(error_text, "cuGetErrorString", CuResult result, const char **text)                            \
  X(device_count, "cuDeviceGetCount", int *count)                                                  \
  X(device_get, "cuDeviceGet", CuDevice *device, int number)                                       \
  X(device_name, "cuDeviceGetName", char *name, int bytes, CuDevice device)                        \
  X(device_attribute, "cuDeviceGetAttribute", int *value, int attribute, CuDevice device)          \
  X(device_memory, "cuDeviceTotalMem_v2", size_t *bytes, CuDevice device)                          \
  X(context_retain, "cuDevicePrimaryCtxRetain", CuContext *context, CuDevice device)               \
  X(context_release, "cuDevicePrimaryCtxRelease_v2", CuDevice device)                              \
  X(context_use, "cuCtxSetCurrent", CuContext context)                                             \
  X(module_load, "cuModuleLoadDataEx", CuModule *module, const void *image, unsigned count,        \
    int *options, void **values)                                                                   \
  X(module_unload, "cuModuleUnload", CuModule module)                                              \
  X(module_function, "cuModuleGetFunction", CuFunction *function, CuModule module,                 \
    const char *name)                                                                              \
  X(function_set, "cuFuncSetAttribute", CuFunction function, int attribute, int value)             \
  X(map_encode, "cuTensorMapEncodeTiled", CuTensorMap *map, int type, uint32_t rank,               \
    void *address, const uint64_t *extents, const uint64_t *strides, const uint32_t *box,          \
    const uint32_t *steps, int interleave, int swizzle, int promotion, int outside)                \
  X(memory_take, "cuMemAlloc_v2", CuAddress *address, size_t bytes)                                \
  X(memory_free, "cuMemFree_v2", CuAddress address)                                                \
  X(memory_info, "cuMemGetInfo_v2", size_t *free, size_t *total)                                   \
  X(host_take, "cuMemHostAlloc", void **memory, size_t bytes, unsigned flags)                      \
  X(host_free, "cuMemFreeHost", void *memory)                                                      \
  X(copy_in, "cuMemcpyHtoDAsync_v2", CuAddress to, const void *from, size_t bytes,                 \
    CuStream stream)                                                                               \
  X(copy_out, "cuMemcpyDtoHAsync_v2", void *to, CuAddress from, size_t bytes, CuStream stream)     \
  X(copy_within, "cuMemcpyDtoDAsync_v2", CuAddress to, CuAddress from, size_t bytes,               \
    CuStream stream)                                                                               \
  X(fill, "cuMemsetD8Async", CuAddress to, unsigned char value, size_t bytes, CuStream stream)     \
  X(stream_create, "cuStreamCreate", CuStream *stream, unsigned flags)                             \
  X(stream_destroy, "cuStreamDestroy_v2", CuStream stream)                                         \
  X(stream_wait, "cuStreamSynchronize", CuStream stream)                                           \
  X(stream_after, "cuStreamWaitEvent", CuStream stream, CuEvent event, unsigned flags)             \
  X(capture_begin, "cuStreamBeginCapture_v2", CuStream stream, int mode)                           \
  X(capture_end, "cuStreamEndCapture", CuStream stream, CuGraph *graph)                            \
  X(event_create, "cuEventCreate", CuEvent *event, unsigned flags)                                 \
  X(event_destroy, "cuEventDestroy_v2", CuEvent event)                                             \
  X(event_record, "cuEventRecord", CuEvent event, CuStream stream)                                 \
  X(event_wait, "cuEventSynchronize", CuEvent event)                                               \
  X(event_elapsed, "cuEventElapsedTime", float *milliseconds, CuEvent from, CuEvent to)            \
  X(launch, "cuLaunchKernel", CuFunction function, unsigned blocks, unsigned blocks_y,             \
    unsigned blocks_z, unsigned threads, unsigned threads_y, unsigned threads_z, unsigned shared,  \
    CuStream stream, void **arguments, void **extra)                                               \
  X(graph_instantiate, "cuGraphInstantiateWithFlags", CuGraphExec *exec, CuGraph graph,            \
    unsigned long long flags)                                                                      \
  X(graph_destroy, "cuGraphDestroy", CuGraph graph)                                                \
  X(graph_upload, "cuGraphUpload", CuGraphExec exec, CuStream stream)                              \
  X(graph_launch, "cuGraphLaunch", CuGraphExec exec, CuStream stream)                              \
  X(exec_destroy, "cuGraphExecDestroy", CuGraphExec exec)

typedef struct nnc_cuda_functions {
#define X(name, symbol, ...) CuResult (*name)(__VA_ARGS__);
  NNC_CUDA_FUNCTIONS(X)
#undef X
} nnc_cuda_functions;

extern nnc_cuda_functions nnc_cuda;

enum { NNC_CUDA_LEAST_DRIVER = 12000 }; /* as cuDriverGetVersion has it: 12.0 */

/* Opens libcuda.so.1, or the file that the environment variable NNC_LIBCUDA names; nothing is called
 * yet. False with a message of NNC_MESSAGE bytes (os/message.h) that says what to do. */
bool nnc_cuda_driver_open(char *message);

#endif
