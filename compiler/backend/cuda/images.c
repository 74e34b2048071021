/* Images of kernels by NVRTC: see images.h. */
#include "backend/cuda/images.h"

#include <stdio.h>
#include <string.h>
#include "backend/common/command.h"
#include "backend/common/externs.h"
#include "backend/common/images.h"
#include "backend/cuda/architectures.h"
#include "support/embedded.h"
#include "support/files.h"
#include "support/panic.h"

typedef struct CudaImages {
  ImageCompiler compiler; /* first: options->images is this */
  Nvrtc nvrtc;
  const char *program; /* nnc */
  Architectures architectures;
} CudaImages;

static const CudaImages *cuda_images(const CompileOptions *options) {
  return (const CudaImages *)options->images;
}

/* ---- NVRTC ---- */

/* Where a name is not used, or a branch not reached, it is by the program's extents. */
static const char quiet[] = "--diag-suppress=177,550,128,111";

static void add_options(Arena *arena, Arguments *arguments, const CompileOptions *options) {
  process_add(arena, arguments, "--std=c++17", "--fmad=true", quiet, NULL);
  if (options->debug) vec_push(arena, arguments, "--generate-line-info");
}

/* The user's files may include what lies beside them. */
static void add_folder(Arena *arena, Arguments *arguments, const char *folder) {
  vec_push(arena, arguments, arena_printf(arena, "-I%s", folder));
}

static void add_folders(Arena *arena, Arguments *arguments, const CompileOptions *options) {
  const char *last = NULL;
  for (int i = 0; i < options->device_file_count; i++) {
    const char *folder = externs_folder(arena, options->device_files[i].name);
    if (last == NULL || strcmp(folder, last) != 0) add_folder(arena, arguments, folder);
    last = folder;
  }
}

static void add_command(Arena *arena, Arguments *arguments, const CompileOptions *options,
                        const ImageRequest *request) {
  const CudaImages *images = cuda_images(options);
  process_add(arena, arguments, images->program, nvrtc_worker_word, images->nvrtc.path,
              request->file, request->is_whole ? options->source : "kernels.cu",
              arena_printf(arena, "--gpu-architecture=%s", request->architecture), NULL);
  add_options(arena, arguments, options);
  if (request->is_whole) vec_push(arena, arguments, "--define-macro=NNC_KERNELS");
  if (request->is_whole) add_folders(arena, arguments, options);
  if (request->beside != NULL) add_folder(arena, arguments, request->beside);
  if (strncmp(request->architecture, "sm_", 3) == 0)
    vec_push(arena, arguments, "--ptxas-options=-v");
}

static void add_identity(Arena *arena, Sha256 *hash, const CompileOptions *options) {
  const Nvrtc *nvrtc = &cuda_images(options)->nvrtc;
  const int version[] = {nvrtc->major, nvrtc->minor};
  Arguments flags = {0};
  sha256_add(hash, version, sizeof version);
  toolchain_add_file(hash, nvrtc->path);
  toolchain_add_file(hash, nvrtc->builtins);
  add_options(arena, &flags, options);
  for (int i = 0; i < flags.count; i++) sha256_add_string(hash, flags.items[i]);
  for (int i = 0; i < embedded_file_count; i++) {
    if (strncmp(embedded_files[i].name, "cuda_abi/", 9) != 0) continue;
    sha256_add_string(hash, embedded_files[i].name);
    sha256_add_string(hash, embedded_files[i].text);
  }
}

/* ---- nvcc, by hand ---- */

static const char *commands(Arena *arena, const CompileOptions *options) {
  const ImageCompiler *compiler = options->images;
  const char *line = "";
  for (int i = 0; i < compiler->architecture_count; i++) {
    const char *architecture = compiler->architectures[i];
    bool is_text = strncmp(architecture, "compute_", 8) == 0;
    Arguments words = {0};
    process_add(arena, &words, "nvcc", is_text ? "-ptx" : "-cubin", NULL);
    vec_push(arena, &words, arena_printf(arena, "-arch=%s", architecture));
    add_options(arena, &words, options);
    vec_push(arena, &words, "-DNNC_KERNELS");
    add_folders(arena, &words, options);
    process_add(arena, &words, "-I", arena_printf(arena, "%s/include/nnc/cuda", options->prefix),
                "-x", "cu", options->source, "-o",
                arena_printf(arena, "%s.%s", options->output, architecture), NULL);
    line = arena_printf(arena, "%s%s && ", line, process_command_line(arena, &words));
  }
  return line;
}

/* ---- the options ---- */

/* The host's part only calls: it is for every machine of its kind. */
#ifdef __x86_64__
static const char host_arch[] = "x86-64";
#else
static const char host_arch[] = "native";
#endif

static bool find_compiler(Arena *arena, CudaImages *images) {
  images->program = path_of_program(arena);
  if (images->program == NULL) {
    fprintf(stderr, "nnc: error: cannot tell where nnc lies: there is no /proc/self/exe\n");
    return false;
  }
  if (!nvrtc_find(arena, &images->nvrtc)) return false;
  images->compiler.name = arena_printf(arena, "NVRTC %d.%d (%s)", images->nvrtc.major,
                                       images->nvrtc.minor, images->nvrtc.path);
  return architectures_check(arena, &images->architectures, &images->nvrtc);
}

const char *cuda_usage_mistake(Arena *arena, const CompileOptions *options) {
  Architectures named;
  if (options->is_static)
    return "--static: an executable for CUDA opens the driver's library when it starts, which a "
           "static one cannot";
  if (options->arch == NULL) return NULL;
  if (strcmp(options->arch, "native") == 0)
    return "--arch=native: GPUs are named, as by --arch=sm_90a; 'nvidia-smi "
           "--query-gpu=name,compute_cap --format=csv' tells which this machine has (9.0 is "
           "sm_90a, 8.6 is sm_86)";
  return architectures_parse(arena, &named, options->arch);
}

bool cuda_prepare_images(Arena *arena, CompileOptions *options, bool compiles) {
  CudaImages *images = ARENA_NEW(arena, CudaImages);
  const char *list = options->arch == NULL ? default_architectures : options->arch;
  const char *mistake = architectures_parse(arena, &images->architectures, list);
  if (mistake) panic("%s", mistake); /* cuda_usage_mistake has looked for one */
  int count = images->architectures.count;
  const char **names = ARENA_ARRAY(arena, const char *, count);
  for (int i = 0; i < count; i++) names[i] = images->architectures.items[i].name;
  images->compiler = (ImageCompiler){.name = "NVRTC",
                                     .library = "libnnccuda.a",
                                     .architecture_count = count,
                                     .architectures = names,
                                     .add_identity = add_identity,
                                     .add_command = add_command,
                                     .commands = commands};
  options->images = &images->compiler;
  options->arch = host_arch;
  return !compiles || find_compiler(arena, images);
}

bool cuda_has_architecture(const CompileOptions *options, const char *name) {
  const ImageCompiler *compiler = options->images;
  for (int i = 0; compiler && i < compiler->architecture_count; i++)
    if (strcmp(compiler->architectures[i], name) == 0) return true;
  return false;
}

/* ---- the table ---- */

static void write_declarations(Text *text, const ImageCompiler *compiler, int first, int last) {
  for (int unit = first; unit < last; unit++)
    for (int i = 0; i < compiler->architecture_count; i++)
      text_printf(text, "NNC_IMAGE(nnc_image_%d_%s);\n", unit, compiler->architectures[i]);
}

static void write_rows(Text *text, const ImageCompiler *compiler, int first, int last) {
  for (int unit = first; unit < last; unit++)
    for (int i = 0; i < compiler->architecture_count; i++) {
      const char *name = compiler->architectures[i];
      text_printf(text, "  {\"%s\", %d, nnc_image_%d_%s, nnc_image_%d_%s_end},\n", name, unit, unit,
                  name, unit, name);
    }
}

void cuda_write_images(Text *text, const CompileOptions *options, int unit_count) {
  const ImageCompiler *compiler = options->images;
  text_add(text, "\n/* Machine code of the kernels. */\n"
                 "#ifdef NNC_IMAGES /* of this whole file: one unit, in files of that name */\n"
                 "#define NNC_UNIT(unit) 0\n");
  for (int i = 0; i < compiler->architecture_count; i++)
    text_printf(text, "NNC_EMBED(nnc_image_0_%s, NNC_IMAGES \".%s\");\n",
                compiler->architectures[i], compiler->architectures[i]);
  text_add(text, "#else\n#define NNC_UNIT(unit) unit\n");
  write_declarations(text, compiler, 0, unit_count);
  text_add(text, "#endif\nstatic const nnc_cuda_image images[] = {\n");
  write_rows(text, compiler, 0, 1);
  if (unit_count > 1) {
    text_add(text, "#ifndef NNC_IMAGES\n");
    write_rows(text, compiler, 1, unit_count);
    text_add(text, "#endif\n");
  }
  text_add(text, "};\nenum { IMAGE_COUNT = sizeof images / sizeof *images };\n");
}
