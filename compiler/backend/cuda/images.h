/* The kernels' compiler of the CUDA back end: NVRTC in worker processes of nnc. */
#ifndef NNC_BACKEND_CUDA_IMAGES_H
#define NNC_BACKEND_CUDA_IMAGES_H

#include "backend/common/compile.h"

/* NULL, or what of these options CUDA cannot take. */
const char *cuda_usage_mistake(Arena *arena, const CompileOptions *options);

/* Before compile_prepare: reads options->arch, which is of the GPUs (NULL: the default),
 * fills options->images, and sets options->arch to what the host's part is compiled for. With
 * `compiles` NVRTC is found and asked what it knows; without, compile_c must not be called. False
 * after a message. */
bool cuda_prepare_images(Arena *arena, CompileOptions *options, bool compiles);

/* Whether the executable gets machine code, or text, of that name: "sm_90a". */
bool cuda_has_architecture(const CompileOptions *options, const char *name);

/* Writes the table of the images for that many units, as
 *
 *   static const nnc_cuda_image images[];    and the number of its elements, IMAGE_COUNT
 *
 * It stands in C that includes nnc_cuda_program.h. Where NNC_IMAGES is defined, which is where the
 * whole file is compiled by hand, one unit holds all kernels: NNC_UNIT(u) is the number of the unit
 * that is u here. */
void cuda_write_images(Text *text, const CompileOptions *options, int unit_count);

#endif
