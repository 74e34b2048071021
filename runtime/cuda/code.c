/* Which images run on which device, and loading them: code.h.
 *
 * A cubin runs on devices of its own major compute capability and a minor one that is not below its
 * own; one whose name ends in 'a' on that very capability alone. PTX is compiled by the driver for any
 * device that is not below its own (CUDA C++ Programming Guide, "Application Compatibility"). */
#include "cuda/code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/failure.h"
#include "os/message.h"

enum { LOG_BYTES = 4096, PLAIN_SHARED = 48 << 10 };

/* --- The choice ----------------------------------------------------------------------------- */

typedef struct Architecture {
  int capability; /* 10 * major + minor */
  char feature;   /* 'a', 'f', or 0 */
  bool is_ptx;
} Architecture;

static bool read_name(const char *name, Architecture *architecture) {
  int capability, end = 0;
  *architecture = (Architecture){.is_ptx = strncmp(name, "compute_", 8) == 0};
  if (!architecture->is_ptx && strncmp(name, "sm_", 3) != 0) return false;
  if (sscanf(strchr(name, '_') + 1, "%d%n", &capability, &end) != 1) return false;
  architecture->capability = capability;
  architecture->feature = strchr(name, '_')[1 + end];
  return true;
}

/* How well it suits the device: 0 not at all; machine code for this very chip best, PTX worst. */
static int rank_of(const char *name, int capability) {
  enum { PTX = 1, CODE = 1000, EXACT = 2000 };
  Architecture own;
  if (!read_name(name, &own) || own.capability > capability) return 0;
  if (own.feature == 'a' && own.capability != capability) return 0;
  if (own.is_ptx && own.feature != 'f') return PTX + own.capability;
  if (own.capability / 10 != capability / 10) return 0;
  if (own.is_ptx) return PTX + own.capability;
  return (own.feature ? EXACT : CODE) + own.capability;
}

/* The names of unit 0's images, which are those of all: "sm_80 and sm_90a". */
static void list_names(char *text, size_t size, const nnc_cuda_program *program,
                       const char *between, const char *last) {
  const char *names[64];
  int count = 0;
  for (int i = 0; i < program->image_count && count < 64; i++)
    if (program->images[i].unit == 0) names[count++] = program->images[i].name;
  *text = 0;
  for (int i = 0; i < count; i++) {
    size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%s",
             i == 0           ? ""
             : i + 1 == count ? last
                              : between,
             names[i]);
  }
}

enum { OLDEST_CAPABILITY = 80 }; /* as OLDEST_ARCHITECTURE of the compiler */

const char *nnc_code_choose(const nnc_cuda_program *program, const nnc_gpu *gpu, const char *file,
                            char *message) {
  int capability = 10 * gpu->major + gpu->minor, best_rank = 0;
  const char *best = NULL;
  char text[NNC_GPU_TEXT], has[256], arch[256];
  for (int i = 0; i < program->image_count; i++) {
    int rank = rank_of(program->images[i].name, capability);
    if (rank > best_rank) best = program->images[i].name;
    if (rank > best_rank) best_rank = rank;
  }
  if (best) return best;
  list_names(has, sizeof has, program, ", ", " and ");
  list_names(arch, sizeof arch, program, ",", ",");
  if (capability < OLDEST_CAPABILITY)
    snprintf(
        message, NNC_MESSAGE,
        "this program was compiled for %s, but %s is sm_%d: nnc makes programs for sm_%d and newer "
        "GPUs; without --target=cuda the model is compiled for the processor",
        has, nnc_gpu_text(text, gpu), capability, OLDEST_CAPABILITY);
  else
    snprintf(message, NNC_MESSAGE,
             "this program was compiled for %s, but %s is sm_%d: compile it for this one, too, by "
             "'nnc --target=cuda --arch=%s,sm_%d %s'",
             has, nnc_gpu_text(text, gpu), capability, arch, capability, file);
  return NULL;
}

/* --- Loading -------------------------------------------------------------------------------- */

static const nnc_cuda_image *find_image(const nnc_cuda_program *program, int unit,
                                        const char *name) {
  for (int i = 0; i < program->image_count; i++)
    if (program->images[i].unit == unit && strcmp(program->images[i].name, name) == 0)
      return &program->images[i];
  return NULL;
}

/* PTX ends with a zero, which the image need not have. malloc'ed; NULL after a message. */
static void *copy_image(const nnc_cuda_image *image) {
  size_t bytes = (size_t)(image->end - image->begin);
  char *copy = malloc(bytes + 1);
  if (!copy) {
    nnc_error("cannot allocate %zu bytes for the program's machine code", bytes);
    return NULL;
  }
  memcpy(copy, image->begin, bytes);
  copy[bytes] = 0;
  return copy;
}

static bool load_image(CuModule *module, const nnc_cuda_image *image) {
  char log[LOG_BYTES] = "", doing[96];
  int options[] = {CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BYTES};
  void *values[] = {log, (void *)(uintptr_t)sizeof log}; /* a number, in place of a pointer */
  void *copy = copy_image(image);
  if (!copy) return false;
  snprintf(doing, sizeof doing, "load the program's machine code (%s, unit %d)", image->name,
           image->unit);
  bool good = nnc_cuda_worked(nnc_cuda.module_load(module, copy, 2, options, values), doing);
  log[sizeof log - 1] = 0;
  if (!good && *log) nnc_note("the driver says: %s", log);
  free(copy);
  return good;
}

const nnc_cuda_form *nnc_code_form(const nnc_code *code, int kernel) {
  return strcmp(code->name, "sm_90a") == 0 ? code->program->kernels[kernel].form : NULL;
}

static bool find_function(const nnc_code *code, int number) {
  const nnc_cuda_kernel *kernel = &code->program->kernels[number];
  const nnc_cuda_form *form = nnc_code_form(code, number);
  CuFunction *function = &code->functions[number];
  int shared = form ? form->shared : kernel->shared;
  char doing[160];
  if (!kernel->name) return true;
  snprintf(doing, sizeof doing, "find the kernel '%s'", kernel->name);
  CuResult result = nnc_cuda.module_function(function, code->modules[kernel->unit], kernel->name);
  if (!nnc_cuda_worked(result, doing)) return false;
  if (shared <= PLAIN_SHARED) return true;
  snprintf(doing, sizeof doing, "get %d bytes of shared memory for the kernel '%s'", shared,
           kernel->name);
  return nnc_cuda_worked(nnc_cuda.function_set(*function, CU_MOST_DYNAMIC_SHARED, shared), doing);
}

static bool load_all(nnc_code *code) {
  for (int i = 0; i < code->program->unit_count; i++) {
    const nnc_cuda_image *image = find_image(code->program, i, code->name);
    if (!image) {
      nnc_error("the compiled program is inconsistent: unit %d has no machine code for %s", i,
                code->name);
      return false;
    }
    if (!load_image(&code->modules[i], image)) return false;
  }
  for (int i = 0; i < code->program->kernel_count; i++)
    if (!find_function(code, i)) return false;
  return true;
}

bool nnc_code_load(nnc_code *code, const nnc_cuda_program *program, const char *name) {
  *code = (nnc_code){.program = program, .name = name};
  code->modules = calloc((size_t)program->unit_count + 1, sizeof *code->modules);
  code->functions = calloc((size_t)program->kernel_count + 1, sizeof *code->functions);
  if (!code->modules || !code->functions)
    nnc_error("cannot allocate the table of %d kernels", program->kernel_count);
  else if (load_all(code)) return true;
  nnc_code_unload(code);
  return false;
}

void nnc_code_unload(nnc_code *code) {
  for (int i = 0; code->modules && i < code->program->unit_count; i++)
    if (code->modules[i]) (void)nnc_cuda.module_unload(code->modules[i]);
  free(code->modules);
  free(code->functions);
  *code = (nnc_code){0};
}
