/* NVRTC, NVIDIA's compiler of CUDA C as a library: it is opened when a program runs and is nothing
 * that nnc needs to be built. */
#ifndef NNC_BACKEND_CUDA_NVRTC_H
#define NNC_BACKEND_CUDA_NVRTC_H

#include <stdbool.h>
#include <stddef.h>
#include "support/arena.h"

enum { NVRTC_OLDEST = 12 }; /* the major version */

typedef struct nvrtcProgram_ *NvrtcProgram;

/* The library's functions, as its documentation has them; they return 0 or the number of an
 * error. */
typedef struct NvrtcCalls {
  const char *(*error_string)(int result);
  int (*version)(int *major, int *minor);
  int (*architecture_count)(int *count);
  int (*architectures)(int *list);
  int (*create)(NvrtcProgram *program, const char *text, const char *name, int header_count,
                const char *const *headers, const char *const *header_names);
  int (*compile)(NvrtcProgram program, int count, const char *const *options);
  int (*log_size)(NvrtcProgram program, size_t *size);
  int (*log)(NvrtcProgram program, char *log);
  int (*cubin_size)(NvrtcProgram program, size_t *size);
  int (*cubin)(NvrtcProgram program, char *cubin);
  int (*ptx_size)(NvrtcProgram program, size_t *size);
  int (*ptx)(NvrtcProgram program, char *ptx);
  int (*destroy)(NvrtcProgram *program);
} NvrtcCalls;

enum { NVRTC_OUT_OF_MEMORY = 1, NVRTC_COMPILATION = 6 }; /* errors */

typedef struct Nvrtc {
  NvrtcCalls calls;
  const char *path;     /* of the library */
  const char *builtins; /* of the one beside it that it opens itself; need not be there */
  int major, minor;
  int architecture_count;
  const int *architectures; /* that it compiles for: 80, 90 */
} Nvrtc;

/* The version that is used: of $NNC_NVRTC, or else the first of a toolkit's folders, of the loader's
 * path and of Python's packages. False after a message on standard error that says where it
 * looked. */
bool nvrtc_find(Arena *arena, Nvrtc *nvrtc);
/* The same where /usr lies below a folder: for tests. */
bool nvrtc_find_below(Arena *arena, Nvrtc *nvrtc, const char *root);
/* The library of that path. NULL, or why it cannot be used. */
const char *nvrtc_open(Arena *arena, Nvrtc *nvrtc, const char *path);

/* The main program of a process that compiles one text: standard input to an image. Arguments:
 *
 *   LIBRARY IMAGE NAME OPTION...    NAME stands for the text in messages
 *
 * The exit status is one of images.h. */
int nvrtc_worker(int count, char **arguments);
extern const char nvrtc_worker_word[]; /* nnc's first argument for that */

#endif
