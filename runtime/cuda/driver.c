/* Opening the driver: see driver.h. The library stays open until the program ends. */
#include "cuda/driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/message.h"

nnc_cuda_functions nnc_cuda;

typedef struct Symbol {
  const char *name;
  size_t offset; /* of its pointer in nnc_cuda_functions */
} Symbol;

static const Symbol symbols[] = {
#define X(name, symbol, ...) {symbol, offsetof(nnc_cuda_functions, name)},
    NNC_CUDA_FUNCTIONS(X)
#undef X
};

static bool find_symbols(void *library, const char *path, char *message) {
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    void *address = dlsym(library, symbols[i].name);
    memcpy((char *)&nnc_cuda + symbols[i].offset, &address, sizeof address);
    if (address) continue;
    snprintf(
        message, NNC_MESSAGE,
        "the NVIDIA driver is too old: %s has no %s; this program needs a driver for CUDA 12.0 "
        "or newer (525.60 or newer; nvidia-smi shows what is installed)",
        path, symbols[i].name);
    return false;
  }
  return true;
}

bool nnc_cuda_driver_open(char *message) {
  static bool is_open;
  const char *path = getenv("NNC_LIBCUDA");
  bool is_given = path && *path;
  if (is_open) return true;
  if (!is_given) path = "libcuda.so.1";
  void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    const char *reason = dlerror();
    snprintf(message, NNC_MESSAGE, "no NVIDIA driver was found: %s. %s", reason ? reason : path,
             is_given
                 ? "NNC_LIBCUDA names this file; without it libcuda.so.1 is looked for"
                 : "This program computes on an NVIDIA GPU: install its driver (in a container, "
                   "start it with the GPUs, as by 'docker run --gpus all'), or compile the "
                   "model without --target=cuda for the processor");
    return false;
  }
  return is_open = find_symbols(library, path, message);
}
