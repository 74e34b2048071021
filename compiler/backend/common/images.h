/* Units of a device's kernels, which have a compiler of their own: it makes images of them, machine
 * code that the executable holds as data.
 *
 * Every unit becomes an image for each architecture. Images are objects of a build as others are:
 * they have keys in the cache and are made side by side, the heaviest first. One file of assembly
 * includes them all (.incbin) and gives them the names that the tables know:
 *
 *   nnc_image_3_sm_80, nnc_image_3_sm_80_end    the fourth unit of the device, for sm_80
 */
#ifndef NNC_BACKEND_COMMON_IMAGES_H
#define NNC_BACKEND_COMMON_IMAGES_H

#include "backend/common/keys.h"
#include "backend/common/process.h"

/* What a program that makes an image ends with, besides 0. */
enum {
  IMAGE_REFUSED = 1,  /* the text has mistakes */
  IMAGE_POOR = 2,     /* the machine code is not what was meant */
  IMAGE_UNUSABLE = 3, /* the compiler cannot be used, as it has said */
};

/* One image to make. */
typedef struct ImageRequest {
  const char *architecture;
  const char *file; /* the image */
  bool is_whole;    /* the text is the whole emitted file, with the host's part */
  /* the folder of the user's file in it, whose headers it may include, or NULL */
  const char *beside;
} ImageRequest;

typedef struct ImageCompiler {
  const char *name;    /* "NVRTC 13.0", for messages */
  const char *library; /* of PREFIX/lib/nnc: the device's part of the runtime, "libnnccuda.a" */
  int architecture_count;
  const char *const *architectures; /* "sm_80", "sm_90a", "compute_90" */
  /* Adds all that decides an image, besides text and architecture. */
  void (*add_identity)(Arena *arena, Sha256 *hash, const CompileOptions *options);
  /* The program that reads the text from standard input. What it says of good images goes to
   * standard output, all else to standard error. */
  void (*add_command)(Arena *arena, Arguments *arguments, const CompileOptions *options,
                      const ImageRequest *request);
  /* For the header of the one file: commands that make its images, OUTPUT.sm_80 and so on, with
   * " && " after each. */
  const char *(*commands)(Arena *arena, const CompileOptions *options);
} ImageCompiler;

/* The job that makes an image of the text in a file. */
void images_add_command(const Build *build, Job *job, const Object *object);
/* The key of an image. */
CacheKey images_key(const Build *build, const Object *object);
/* Prints what was said of images, for --verbose. */
void images_print_notes(const Build *build, int count, const Job *jobs, Object *const *made);
/* Fills the text of the file of assembly. */
void images_write_assembly(Text *text, const Build *build);
/* Why an image was not made; false when all were. `whole`: the emitted file, which is kept. */
bool images_explain(const Build *build, int count, const Job *jobs, Object *const *made);

#endif
