/* The program's machine code on the device. */
#ifndef NNC_CUDA_CODE_H
#define NNC_CUDA_CODE_H

#include <stdbool.h>

#include "cuda/gpu.h"
#include "nnc_cuda_program.h"

typedef struct nnc_code {
  const nnc_cuda_program *program;
  const char *name;      /* of the images that are used: "sm_90a" */
  CuModule *modules;     /* of the units */
  CuFunction *functions; /* of the kernels */
} nnc_code;

/* The name of the program's images that suit the device best; NULL where none does: then a message
 * of NNC_MESSAGE bytes says what it has and how to compile `file` for this device. */
const char *nnc_code_choose(const nnc_cuda_program *program, const nnc_gpu *gpu, const char *file,
                            char *message);

/* What the kernel is in the images that are used, if that is another form; else NULL. */
const nnc_cuda_form *nnc_code_form(const nnc_code *code, int kernel);

/* Loads these images; false after a message. */
bool nnc_code_load(nnc_code *code, const nnc_cuda_program *program, const char *name);
void nnc_code_unload(nnc_code *code);

#endif
