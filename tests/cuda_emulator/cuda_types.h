/* What the driver's interface has of numbers. */
#ifndef CUDA_TYPES_H
#define CUDA_TYPES_H

#define FOR_EACH_ERROR(X)                                                                          \
  X(SUCCESS, 0, "no error")                                                                        \
  X(ERROR_INVALID_VALUE, 1, "invalid argument")                                                    \
  X(ERROR_OUT_OF_MEMORY, 2, "out of memory")                                                       \
  X(ERROR_NOT_INITIALIZED, 3, "initialization error")                                              \
  X(ERROR_DEINITIALIZED, 4, "driver shutting down")                                                \
  X(ERROR_DEVICE_UNAVAILABLE, 46, "CUDA-capable device(s) is/are busy or unavailable")             \
  X(ERROR_NO_DEVICE, 100, "no CUDA-capable device is detected")                                    \
  X(ERROR_INVALID_DEVICE, 101, "invalid device ordinal")                                           \
  X(ERROR_INVALID_IMAGE, 200, "device kernel image is invalid")                                    \
  X(ERROR_INVALID_CONTEXT, 201, "invalid device context")                                          \
  X(ERROR_NO_BINARY_FOR_GPU, 209, "no kernel image is available for execution on the device")      \
  X(ERROR_ECC_UNCORRECTABLE, 214, "uncorrectable ECC error encountered")                           \
  X(ERROR_INVALID_PTX, 218, "a PTX JIT compilation failed")                                        \
  X(ERROR_UNSUPPORTED_PTX_VERSION, 222,                                                            \
    "the provided PTX was compiled with an unsupported toolchain.")                                \
  X(ERROR_FILE_NOT_FOUND, 301, "file not found")                                                   \
  X(ERROR_INVALID_HANDLE, 400, "invalid resource handle")                                          \
  X(ERROR_NOT_FOUND, 500, "named symbol not found")                                                \
  X(ERROR_NOT_READY, 600, "device not ready")                                                      \
  X(ERROR_ILLEGAL_ADDRESS, 700, "an illegal memory access was encountered")                        \
  X(ERROR_LAUNCH_OUT_OF_RESOURCES, 701, "too many resources requested for launch")                 \
  X(ERROR_LAUNCH_TIMEOUT, 702, "the launch timed out and was terminated")                          \
  X(ERROR_MISALIGNED_ADDRESS, 716, "misaligned address")                                           \
  X(ERROR_LAUNCH_FAILED, 719, "unspecified launch failure")                                        \
  X(ERROR_NOT_PERMITTED, 800, "operation not permitted")                                           \
  X(ERROR_NOT_SUPPORTED, 801, "operation not supported")                                           \
  X(ERROR_STREAM_CAPTURE_UNSUPPORTED, 900, "operation not permitted when stream is capturing")     \
  X(ERROR_STREAM_CAPTURE_INVALIDATED, 901,                                                         \
    "operation failed due to a previous error during capture")                                     \
  X(ERROR_STREAM_CAPTURE_MERGE, 902,                                                               \
    "operation would result in a merge of separate capture sequences")                             \
  X(ERROR_STREAM_CAPTURE_UNMATCHED, 903, "capture was not ended in the same stream as it began")   \
  X(ERROR_STREAM_CAPTURE_UNJOINED, 904, "capturing stream has unjoined work")                      \
  X(ERROR_STREAM_CAPTURE_ISOLATION, 905,                                                           \
    "dependency created on uncaptured work in another stream")                                     \
  X(ERROR_STREAM_CAPTURE_IMPLICIT, 906,                                                            \
    "operation would make the legacy stream depend on a capturing blocking stream")                \
  X(ERROR_CAPTURED_EVENT, 907,                                                                     \
    "operation not permitted on an event last recorded in a capturing stream")                     \
  X(ERROR_STREAM_CAPTURE_WRONG_THREAD, 908,                                                        \
    "attempt to terminate a thread-local capture sequence from another thread")                    \
  X(ERROR_UNKNOWN, 999, "unknown error")

enum {
#define NNC_ERROR(name, number, text) CUDA_##name = number,
  FOR_EACH_ERROR(NNC_ERROR)
#undef NNC_ERROR
};

enum { STREAM_NON_BLOCKING = 1, EVENT_DISABLE_TIMING = 2 };
enum { CAPTURE_GLOBAL = 0, CAPTURE_THREAD_LOCAL = 1, CAPTURE_RELAXED = 2 };

#endif
