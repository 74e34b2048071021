/* The stand-in for the driver: memory and copies. */
#include "capture.h"
#include "driver.h"
#include "memory.h"
#include "stream.h"

#include <stdlib.h>
#include <string.h>

typedef unsigned long long Address;

EXPORT int cuMemAlloc_v2(Address *to, size_t bytes) {
  ENTER(NEEDS_CONTEXT);
  REQUIRE(to && bytes, ERROR_INVALID_VALUE);
  int error = capture_forbid(NULL);
  if (error) return error;
  void *memory = memory_allocate(bytes, MEMORY_DEVICE);
  REQUIRE(memory, ERROR_OUT_OF_MEMORY);
  work_counts.allocations++;
  if (memory_used() > work_counts.most_memory) work_counts.most_memory = memory_used();
  *to = (Address)memory;
  return CUDA_SUCCESS;
}

EXPORT int cuMemFree_v2(Address at) {
  ENTER(NEEDS_CONTEXT);
  if (!at) return CUDA_SUCCESS;
  int error = capture_forbid(NULL);
  if (!error) error = stream_finish_all();
  if (error) return error;
  return memory_free((void *)at, MEMORY_DEVICE) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

EXPORT int cuMemGetInfo_v2(size_t *left, size_t *total) {
  ENTER(NEEDS_CONTEXT);
  *total = memory_total(), *left = memory_total() - memory_used();
  return CUDA_SUCCESS;
}

EXPORT int cuMemHostAlloc(void **to, size_t bytes, unsigned flags) {
  ENTER(NEEDS_CONTEXT);
  REQUIRE(to && bytes, ERROR_INVALID_VALUE);
  int error = capture_forbid(NULL);
  if (error) return error;
  *to = memory_allocate(bytes, MEMORY_PINNED);
  return *to ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

EXPORT int cuMemAllocHost_v2(void **to, size_t bytes) { return cuMemHostAlloc(to, bytes, 0); }

EXPORT int cuMemFreeHost(void *at) {
  ENTER(NEEDS_CONTEXT);
  int error = capture_forbid(NULL);
  if (!error) error = stream_finish_all();
  if (error) return error;
  return memory_free(at, MEMORY_PINNED) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- copies ---- */

static bool is_device(const void *at, size_t bytes) { return memory_has(at, bytes, MEMORY_DEVICE); }

/* Device memory is no host memory. */
static bool is_host(const void *at) { return at && !memory_is_device(at); }

/* Pageable memory is read before the call returns, and written before it returns. */
static int copy(void *to, const void *from, size_t bytes, void *handle) {
  Stream *stream = stream_of(handle);
  REQUIRE(stream, ERROR_INVALID_HANDLE);
  if (!bytes) return CUDA_SUCCESS;
  Work work = {.kind = WORK_COPY, .to = to, .from = from, .bytes = bytes};
  if (stream->capture) return capture_add(stream, work);
  if (is_host(from) && !memory_has(from, bytes, MEMORY_PINNED)) {
    work.kept = malloc(bytes);
    REQUIRE(work.kept, ERROR_OUT_OF_MEMORY);
    work.from = memcpy(work.kept, from, bytes);
  }
  int error = stream_issue(stream, work);
  if (!error && is_host(to) && !memory_has(to, bytes, MEMORY_PINNED)) {
    error = stream_finish(stream, stream->issued);
  }
  return error;
}

EXPORT int cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes, void *stream) {
  ENTER(NEEDS_CONTEXT);
  REQUIRE(!bytes || (is_device((void *)to, bytes) && is_host(from)), ERROR_INVALID_VALUE);
  return copy((void *)to, from, bytes, stream);
}

EXPORT int cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes, void *stream) {
  ENTER(NEEDS_CONTEXT);
  REQUIRE(!bytes || (is_device((void *)from, bytes) && is_host(to)), ERROR_INVALID_VALUE);
  return copy(to, (const void *)from, bytes, stream);
}

EXPORT int cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, void *stream) {
  ENTER(NEEDS_CONTEXT);
  REQUIRE(!bytes || (is_device((void *)to, bytes) && is_device((void *)from, bytes)),
          ERROR_INVALID_VALUE);
  return copy((void *)to, (const void *)from, bytes, stream);
}

/* On the null stream; not while a stream is captured, but in relaxed mode. */
static int copy_at_once(void *to, const void *from, size_t bytes) {
  int error = capture_forbid(NULL);
  if (!error) error = copy(to, from, bytes, NULL);
  return error ? error : stream_finish(stream_of(NULL), stream_of(NULL)->issued);
}

EXPORT int cuMemcpyHtoD_v2(Address to, const void *from, size_t bytes) {
  ENTER(NEEDS_CONTEXT);
  REQUIRE(!bytes || (is_device((void *)to, bytes) && is_host(from)), ERROR_INVALID_VALUE);
  return copy_at_once((void *)to, from, bytes);
}

EXPORT int cuMemcpyDtoH_v2(void *to, Address from, size_t bytes) {
  ENTER(NEEDS_CONTEXT);
  REQUIRE(!bytes || (is_device((void *)from, bytes) && is_host(to)), ERROR_INVALID_VALUE);
  return copy_at_once(to, (const void *)from, bytes);
}

EXPORT int cuMemcpyDtoD_v2(Address to, Address from, size_t bytes) {
  ENTER(NEEDS_CONTEXT);
  REQUIRE(!bytes || (is_device((void *)to, bytes) && is_device((void *)from, bytes)),
          ERROR_INVALID_VALUE);
  return copy_at_once((void *)to, (const void *)from, bytes);
}

/* ---- fills ---- */

static int fill(Address to, uint32_t value, int width, size_t count, void *handle) {
  Stream *stream = stream_of(handle);
  REQUIRE(stream, ERROR_INVALID_HANDLE);
  REQUIRE(!count || is_device((void *)to, count * (size_t)width), ERROR_INVALID_VALUE);
  REQUIRE(to % (unsigned)width == 0, ERROR_INVALID_VALUE);
  if (!count) return CUDA_SUCCESS;
  Work work = {.kind = WORK_FILL,
               .to = (char *)to,
               .bytes = count * (size_t)width,
               .value = value,
               .width = width};
  return stream->capture ? capture_add(stream, work) : stream_issue(stream, work);
}

EXPORT int cuMemsetD8Async(Address to, unsigned char value, size_t count, void *stream) {
  ENTER(NEEDS_CONTEXT);
  return fill(to, value, 1, count, stream);
}

EXPORT int cuMemsetD16Async(Address to, unsigned short value, size_t count, void *stream) {
  ENTER(NEEDS_CONTEXT);
  return fill(to, value, 2, count, stream);
}

EXPORT int cuMemsetD32Async(Address to, unsigned value, size_t count, void *stream) {
  ENTER(NEEDS_CONTEXT);
  return fill(to, value, 4, count, stream);
}

EXPORT int cuMemsetD8_v2(Address to, unsigned char value, size_t count) {
  ENTER(NEEDS_CONTEXT);
  int error = capture_forbid(NULL);
  return error ? error : fill(to, value, 1, count, NULL);
}

EXPORT int cuMemsetD32_v2(Address to, unsigned value, size_t count) {
  ENTER(NEEDS_CONTEXT);
  int error = capture_forbid(NULL);
  return error ? error : fill(to, value, 4, count, NULL);
}
