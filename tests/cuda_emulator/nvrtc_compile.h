/* Compiles a unit of kernels with a C++ compiler of the host. */
#ifndef NVRTC_COMPILE_H
#define NVRTC_COMPILE_H

#include <stdbool.h>
#include <stddef.h>

enum { MOST_WORDS = 64, WORD_LENGTH = 512 };

typedef struct Sources {
  char *text, *name;
  int header_count;
  char **headers, **header_names;
} Sources;

typedef struct Request {
  const Sources *sources;
  const char *architecture;
  char words[MOST_WORDS][WORD_LENGTH]; /* for the compiler: -D and -I of the caller */
  int word_count;
} Request;

typedef struct Compiled {
  char *log;   /* what the compiler said */
  char *image; /* the shared object */
  size_t size;
} Compiled;

/* Whether it compiled; the log is there in both cases. The caller frees both. */
bool compile_unit(const Request *request, Compiled *to);

/* A number of the compiler, its flags and our headers: equal where the results are equal. */
int compiler_variant(void);

#endif
