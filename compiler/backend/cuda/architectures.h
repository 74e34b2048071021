/* Which GPUs an executable is for: --arch of the CUDA target.
 *
 *   sm_80     machine code for GPUs of compute capability 8.0 and later ones of 8
 *   sm_90a    the same with all that 9.0 alone has; it runs on no other
 *   sm_100f   with what the family of 10.0 has
 *   compute_90   text (PTX) that drivers compile for GPUs of 9.0 and all later ones
 *
 * Text is added where the list names none: of the latest architecture in it, so that the executable
 * runs on all GPUs that come after it. */
#ifndef NNC_BACKEND_CUDA_ARCHITECTURES_H
#define NNC_BACKEND_CUDA_ARCHITECTURES_H

#include <stdbool.h>
#include "backend/cuda/nvrtc.h"

enum { OLDEST_ARCHITECTURE = 80, MOST_ARCHITECTURES = 16 };

typedef struct Architecture {
  const char *name;
  int number;   /* 80 */
  char feature; /* 'a', 'f', or 0 */
  bool is_text;
} Architecture;

typedef struct Architectures {
  int count;
  Architecture items[MOST_ARCHITECTURES]; /* machine code first, by number, each once */
} Architectures;

extern const char default_architectures[];

/* Reads the list; NULL, or what is wrong with it. */
const char *architectures_parse(Arena *arena, Architectures *architectures, const char *list);
/* Whether NVRTC compiles for all of them; false after a message. */
bool architectures_check(Arena *arena, const Architectures *architectures, const Nvrtc *nvrtc);

#endif
