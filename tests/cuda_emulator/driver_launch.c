/* The stand-in for the driver: modules, functions, launches. */
#include "capture.h"
#include "driver.h"
#include "fault.h"
#include "memory.h"
#include "module.h"
#include "stream.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static Function **functions; /* that were given out */
static int function_count;
static Module *known[1024];
static int known_count;

static bool is_module(const Module *module) {
  for (int i = 0; i < known_count; i++) {
    if (known[i] == module) return true;
  }
  return false;
}

static bool is_function(const Function *function) {
  for (int i = 0; i < function_count; i++) {
    if (functions[i] == function) return true;
  }
  return false;
}

EXPORT int cuModuleLoadDataEx(Module **to, const void *image, unsigned count, int *options,
                              void **values) {
  ENTER(NEEDS_CONTEXT);
  REQUIRE(to && image, ERROR_INVALID_VALUE);
  REQUIRE(known_count < 1024, ERROR_OUT_OF_MEMORY);
  int error = capture_forbid(NULL);
  if (!error) error = module_load(to, image, driver_device());
  if (!error) known[known_count++] = *to;
  return error;
}

EXPORT int cuModuleLoadData(Module **to, const void *image) {
  return cuModuleLoadDataEx(to, image, 0, NULL, NULL);
}

EXPORT int cuModuleUnload(Module *module) {
  ENTER(NEEDS_CONTEXT);
  REQUIRE(is_module(module), ERROR_INVALID_HANDLE);
  int error = stream_finish_all();
  for (int i = function_count - 1; i >= 0; i--) {
    if (functions[i]->module == module) functions[i] = functions[--function_count];
  }
  for (int i = 0; i < known_count; i++) {
    if (known[i] == module) known[i] = known[--known_count];
  }
  module_unload(module);
  return error;
}

EXPORT int cuModuleGetFunction(Function **to, Module *module, const char *name) {
  ENTER(NEEDS_CONTEXT);
  REQUIRE(is_module(module), ERROR_INVALID_HANDLE);
  REQUIRE(to && name, ERROR_INVALID_VALUE);
  Function *function = module_function(module, name);
  REQUIRE(function, ERROR_NOT_FOUND);
  if (!is_function(function)) {
    functions = realloc(functions, (size_t)(function_count + 1) * sizeof *functions);
    REQUIRE(functions, ERROR_OUT_OF_MEMORY);
    functions[function_count++] = function;
  }
  *to = function;
  return CUDA_SUCCESS;
}

EXPORT int cuModuleGetGlobal_v2(unsigned long long *to, size_t *size, Module *module,
                                const char *name) {
  ENTER(NEEDS_CONTEXT);
  REQUIRE(is_module(module), ERROR_INVALID_HANDLE);
  void *at = module_variable(module, name);
  REQUIRE(at, ERROR_NOT_FOUND);
  if (to) *to = (unsigned long long)at;
  if (size) *size = 0;
  return CUDA_SUCCESS;
}

/* ---- attributes ---- */

enum {
  MAX_THREADS_PER_BLOCK = 0,
  SHARED_SIZE_BYTES = 1,
  NUM_REGS = 4,
  PTX_VERSION = 5,
  BINARY_VERSION = 6,
  MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  ATTRIBUTE_COUNT = 16
};

EXPORT int cuFuncGetAttribute(int *to, int attribute, Function *function) {
  ENTER(NEEDS_CONTEXT);
  REQUIRE(is_function(function), ERROR_INVALID_HANDLE);
  REQUIRE(attribute >= 0 && attribute < ATTRIBUTE_COUNT, ERROR_INVALID_VALUE);
  *to = attribute == MAX_THREADS_PER_BLOCK                        ? function->kernel->threads
        : attribute == SHARED_SIZE_BYTES                          ? (int)function->fixed_shared
        : attribute == MAX_DYNAMIC_SHARED_SIZE_BYTES              ? function->most_shared
        : attribute == NUM_REGS                                   ? 32
        : attribute == PTX_VERSION || attribute == BINARY_VERSION ? driver_device()
                                                                  : 0;
  return CUDA_SUCCESS;
}

EXPORT int cuFuncSetAttribute(Function *function, int attribute, int value) {
  ENTER(NEEDS_CONTEXT);
  REQUIRE(is_function(function), ERROR_INVALID_HANDLE);
  if (attribute == MAX_DYNAMIC_SHARED_SIZE_BYTES) {
    int most = driver_shared_of_block() - (int)function->fixed_shared;
    REQUIRE(value >= 0 && value <= most, ERROR_INVALID_VALUE);
    function->most_shared = value;
  }
  return CUDA_SUCCESS;
}

EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *to, Function *function, int threads,
                                                       size_t shared) {
  ENTER(NEEDS_CONTEXT);
  REQUIRE(is_function(function), ERROR_INVALID_HANDLE);
  REQUIRE(threads > 0, ERROR_INVALID_VALUE);
  int count = 2048 / threads;
  size_t each = shared + function->fixed_shared + 1024;
  int fitting = (int)((size_t)(driver_shared_of_block() + 1024) / each);
  *to = count < fitting ? count : fitting;
  if (threads > function->kernel->threads) *to = 0;
  return CUDA_SUCCESS;
}

/* ---- launches ---- */

/* Whether something of the host is mapped there, beside what the device may reach. Small numbers,
 * which are extents and the like, are no addresses. */
static bool is_address_of_host(const void *at) {
  unsigned char resident;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  if ((uintptr_t)at >> 32 == 0 || memory_is_device(at) || memory_has(at, 1, MEMORY_PINNED))
    return false;
  return (uintptr_t)at >> 47 == 0 &&
         mincore((void *)((uintptr_t)at & ~(page - 1)), page, &resident) == 0;
}

static void check_arguments(const Function *function, void **arguments) {
  for (int i = 0; i < function->kernel->parameter_count; i++) {
    void *value;
    if (function->kernel->parameter_sizes[i] != sizeof value) continue;
    memcpy(&value, arguments[i], sizeof value);
    if (!is_address_of_host(value)) continue;
    fault("argument %d of kernel %s is an address of the host: %p", i, function->kernel->name,
          value);
  }
}

EXPORT int cuLaunchKernel(Function *function, unsigned blocks, unsigned blocks_y, unsigned blocks_z,
                          unsigned threads, unsigned threads_y, unsigned threads_z, unsigned shared,
                          void *handle, void **arguments, void **extra) {
  ENTER(NEEDS_CONTEXT);
  Stream *stream = stream_of(handle);
  REQUIRE(stream && is_function(function), ERROR_INVALID_HANDLE);
  REQUIRE(blocks && blocks_y && blocks_z && threads && threads_y && threads_z, ERROR_INVALID_VALUE);
  REQUIRE(blocks <= 0x7fffffff && threads <= 1024, ERROR_INVALID_VALUE);
  REQUIRE((int)threads <= function->kernel->threads, ERROR_INVALID_VALUE);
  REQUIRE((int)shared <= function->most_shared, ERROR_INVALID_VALUE);
  REQUIRE(!extra && (arguments || !function->kernel->parameter_count), ERROR_INVALID_VALUE);
  if (blocks_y != 1 || blocks_z != 1 || threads_y != 1 || threads_z != 1) {
    fault("kernel %s: grids and blocks of ours have one axis", function->kernel->name);
  }
  if (threads % 32)
    fault("kernel %s: %u threads are no whole warps", function->kernel->name, threads);
  check_arguments(function, arguments);
  Work work = {.kind = WORK_LAUNCH,
               .function = function,
               .blocks = blocks,
               .threads = (int)threads,
               .shared = (int)shared,
               .arguments = work_copy_arguments(function, arguments)};
  return stream->capture ? capture_add(stream, work) : stream_issue(stream, work);
}
