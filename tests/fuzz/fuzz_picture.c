/* Fuzzing target: pictures (JPEG, PNG, Exif) through the stages, as predict reads them. The first byte chooses channels,
 * type, stages and whether the indices of a palette are read, the second is the seed of what the stages draw. A picture
 * must be the same when it is read again after another one: what was not decoded would be what the other one left. */
#include "fuzz_data.h"

#include <png.h>

#include "data/picture.h"

enum { HEIGHT = 8, WIDTH = 10, MOST_PIXELS = 1 << 20, MOST_STAGES = 3 };

#define NUMBER(x)                                                                                  \
  { .kind = NNC_NUMBER, .number = (x) }
#define SIZED(name, h, w)                                                                          \
  {                                                                                                \
    .function = #name, .stage = &nnc_stage_##name, .argument_count = 2,                            \
    .arguments = (const nnc_argument[]) {                                                          \
      {"height", NUMBER(h)}, { "width", NUMBER(w) }                                                \
    }                                                                                              \
  }
#define PLAIN(name)                                                                                \
  { .function = #name, .stage = &nnc_stage_##name }
#define ONE(name, argument, x)                                                                     \
  {                                                                                                \
    .function = #name, .stage = &nnc_stage_##name, .argument_count = 1,                            \
    .arguments = (const nnc_argument[]) {                                                          \
      { argument, NUMBER(x) }                                                                      \
    }                                                                                              \
  }

enum { CHANGES_COLORS = 5 }; /* the chain that refuses indices */
static const nnc_call chains[][MOST_STAGES] = {
    {SIZED(resize, HEIGHT, WIDTH)},
    {SIZED(center_crop, HEIGHT, WIDTH)},
    {SIZED(random_crop, HEIGHT, WIDTH), PLAIN(random_flip)},
    {SIZED(random_resized_crop, HEIGHT, WIDTH)},
    {SIZED(pad, 2, 3), SIZED(random_crop, HEIGHT, WIDTH)},
    {SIZED(resize, HEIGHT, WIDTH), ONE(color_jitter, "brightness", 0.5)},
    {ONE(random_affine, "degrees", 90), SIZED(resize, HEIGHT, WIDTH)},
    {ONE(resize, "height", 12), SIZED(random_crop, HEIGHT, WIDTH), PLAIN(random_erase)},
};

/* A white picture, in a file that stays; for those that read indices one whose palette has it as number 1. */
static const char *white(bool is_palette) {
  static char paths[2][64];
  static unsigned char pixels[40 * 40 * 3], bytes[1 << 14];
  static const unsigned char colors[] = {9, 9, 9, 255, 255, 255};
  char *path = paths[is_palette];
  png_alloc_size_t size = sizeof bytes;
  png_image image = {.version = PNG_IMAGE_VERSION,
                     .width = 40,
                     .height = 40,
                     .format = is_palette ? PNG_FORMAT_RGB_COLORMAP : PNG_FORMAT_RGB,
                     .colormap_entries = 2};
  if (*path) return path;
  memset(pixels, is_palette ? 1 : 255, sizeof pixels);
  if (!png_image_write_to_memory(&image, bytes, &size, 0, pixels, 0, colors)) abort();
  fuzz_file(bytes, size, path);
  return path;
}

/* What claims very many pixels only takes time. */
static bool is_large(const uint8_t *bytes, size_t size) {
  char message[NNC_MESSAGE];
  DataContext context = {.message = message};
  PictureFile file;
  return data_picture_look(&context, "x", bytes, size, &file) == 0 &&
         file.height > MOST_PIXELS / file.width;
}

static void read_twice(const nnc_data *data, size_t size) {
  char message[NNC_MESSAGE] = "", again[NNC_MESSAGE] = "";
  void *first = calloc(1, size), *second = calloc(1, size);
  if (!first || !second) abort();
  int result = nnc_data_read(data, 0, 1, &first, message);
  if (nnc_data_read(data, 1, 1, &second, again) < 0) abort();
  if (nnc_data_read(data, 0, 1, &second, again) != result) abort();
  if (result < 0 ? !*message || strchr(message, '\n') || strcmp(message, again) != 0
                 : memcmp(first, second, size) != 0)
    abort();
  free(first);
  free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size < 2 || is_large(bytes + 2, size - 2)) return 0;
  char path[64], message[NNC_MESSAGE] = "";
  int file = fuzz_file(bytes + 2, size - 2, path);
  int chain = bytes[0] >> 2 & 7;
  bool takes_indices = bytes[0] & 2 && bytes[0] & 32 && chain != CHANGES_COLORS;
  nnc_argument arguments[] = {{"workers", NUMBER(1)},
                              {"palette", {.kind = NNC_STRING, .string = "index"}}};
  nnc_call calls[1 + MOST_STAGES] = {{.function = "files",
                                      .source = &nnc_source_files,
                                      .argument_count = takes_indices ? 2 : 1,
                                      .arguments = arguments}};
  int count = 1;
  for (const nnc_call *stages = chains[chain]; count <= MOST_STAGES; count++) {
    if (!stages[count - 1].stage) break;
    calls[count] = stages[count - 1];
  }
  nnc_tensor input = {.name = "x",
                      .dtype = bytes[0] & 1 ? NNC_F32 : NNC_U8,
                      .rank = 4,
                      .dim = {1, bytes[0] & 2 ? 1 : 3, HEIGHT, WIDTH}};
  nnc_pipeline pipeline = {1, (const char *const[]){"x"}, count, calls};
  nnc_data_set set = {.name = "predict", .pipeline_count = 1, .pipelines = &pipeline};
  nnc_model model = {
      .file = "fuzz.net", .batch = 1, .seed = bytes[1], .data_set_count = 1, .data_sets = &set};
  nnc_entry entry = {.batch = 1,
                     .input_count = 1,
                     .inputs = &input,
                     .input_is_batched = (const unsigned char *)"\1"};
  nnc_data_files files = {".", 2, (const char *const[]){path, white(takes_indices)}, NULL};
  nnc_fitted fitted = {0};
  nnc_data *data = nnc_data_open_predict(&model, &entry, &files, &fitted, message);
  if (!data) abort();
  read_twice(data, (size_t)(input.dim[1] * HEIGHT * WIDTH) * sizeof(float));
  nnc_data_close(data);
  nnc_fitted_free(&fitted);
  close(file);
  return 0;
}
