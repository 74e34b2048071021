/* Opening cuBLASLt: cublaslt.h. */
#include "cuda/cublaslt.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/message.h"

nnc_blas_functions nnc_blas;

/* dlsym gives a pointer to an object, which POSIX lets one take for that of a function. */
static bool find(void *library, void *to, const char *symbol, char *message) {
  void *found = dlsym(library, symbol);
  memcpy(to, &found, sizeof found);
  if (!found) snprintf(message, NNC_MESSAGE, "cuBLASLt has no %s: it is older than 12.0", symbol);
  return found != NULL;
}

static bool find_all(void *library, char *message) {
  return
#define X(name, symbol, ...) find(library, &nnc_blas.name, symbol, message) &&
      NNC_BLAS_FUNCTIONS(X)
#undef X
          find(library, &nnc_blas.text, "cublasLtGetStatusString", message);
}

static const char *file = "";

const char *nnc_blas_file(void) { return file; }

/* A library of a newer CUDA than the driver's cannot start. */
static void *open_first(char *message) {
  static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12"};
  const char *named = getenv("NNC_CUBLASLT");
  int version = 0;
  if (named && *named) {
    void *library = dlopen(file = named, RTLD_NOW | RTLD_LOCAL);
    if (!library) snprintf(message, NNC_MESSAGE, "NNC_CUBLASLT names %s: %.512s", named, dlerror());
    return library;
  }
  (void)nnc_cuda.version(&version);
  for (int i = version >= 13000 ? 0 : 1; i < 2; i++) {
    void *library = dlopen(file = names[i], RTLD_NOW | RTLD_LOCAL);
    if (library) return library;
  }
  snprintf(message, NNC_MESSAGE,
           "%slibcublasLt.so.12 was not found (NVIDIA's package libcublas has it; the loader looks "
           "in LD_LIBRARY_PATH, too, and NNC_CUBLASLT may name it)",
           version >= 13000 ? "neither libcublasLt.so.13 nor " : "");
  return NULL;
}

bool nnc_blas_open(char *message) {
  static bool is_open;
  if (is_open) return true;
  void *library = open_first(message);
  is_open = library && find_all(library, message);
  return is_open;
}
