/* Fuzzing target: tables that name pictures, and boxes in them.  The names lead to this process's own files: 100 is a picture, 101 is
 * none, and the others are what the process has open. */
#include "fuzz_data.h"

#include <png.h>

enum { PICTURE = 100, DAMAGED };

static void make_pictures(void) {
  static bool is_made;
  static unsigned char pixels[4 * 3 * 3], bytes[4096];
  png_alloc_size_t size = sizeof bytes;
  png_image image = {
      .version = PNG_IMAGE_VERSION, .width = 3, .height = 4, .format = PNG_FORMAT_RGB};
  char path[64];
  if (is_made) return;
  if (!png_image_write_to_memory(&image, bytes, &size, 0, pixels, 0, NULL)) abort();
  if (dup2(fuzz_file(bytes, size, path), PICTURE) < 0) abort();
  if (dup2(fuzz_file(bytes, size / 2, path), DAMAGED) < 0) abort();
  is_made = true;
}

/* The boxes of the table's pictures, a number in the file each, after stages that turn and cut these; `calls` has room
 * behind the first `count`. */
static void open_boxes(const char *const *fields, nnc_call *calls, int count) {
  static nnc_argument sizes[] = {{"height", {.kind = NNC_NUMBER, .number = 2}},
                                 {"width", {.kind = NNC_NUMBER, .number = 3}}};
  static nnc_argument degrees[] = {{"degrees", {.kind = NNC_NUMBER, .number = 90}}};
  static nnc_argument box[] = {{"field", {.kind = NNC_FIELD, .string = "y"}},
                               {"least", {.kind = NNC_NUMBER, .number = 0.1}}};
  const nnc_call stages[] = {
      {.function = "random_affine",
       .stage = &nnc_stage_random_affine,
       .argument_count = 1,
       .arguments = degrees},
      {.function = "random_flip", .stage = &nnc_stage_random_flip},
      {.function = "random_resized_crop",
       .stage = &nnc_stage_random_resized_crop,
       .argument_count = 2,
       .arguments = sizes},
      {.function = "boxes", .stage = &nnc_stage_boxes, .argument_count = 2, .arguments = box}};
  const int added = sizeof stages / sizeof *stages;
  const nnc_tensor picture = {.name = "x", .dtype = NNC_U8, .rank = 4, .dim = {4, 3, 2, 3}};
  const nnc_tensor boxes = {.name = "y", .dtype = NNC_F64, .rank = 2, .dim = {4, 4}};
  memcpy(calls + count, stages, sizeof stages);
  fuzz_open_looked_at(&(nnc_pipeline){2, fields, count + added, calls}, &boxes, &picture);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size < 1) return 0;
  make_pictures();
  char path[64];
  int file = fuzz_file(bytes + 1, size - 1, path), choice = bytes[0];
  nnc_argument arguments[] = {
      {"file", {.kind = NNC_STRING, .string = path}},
      {"folder", {.kind = NNC_STRING, .string = choice & 1 ? "/proc/self/fd" : ""}},
      {"workers", {.kind = NNC_NUMBER, .number = 1}},
      {"on_error", {.kind = NNC_STRING, .string = choice & 2 ? "skip" : "stop"}},
      {"separator", {.kind = NNC_STRING, .string = choice & 4 ? ";" : ","}},
      {"header", {.kind = NNC_BOOLEAN, .number = choice & 8}}};
  nnc_argument halves[] = {{"from", {.kind = NNC_NUMBER, .number = 0.5}},
                           {"to", {.kind = NNC_NUMBER, .number = 1}}};
  nnc_call calls[8] = {
      {.function = "image_list",
       .source = &nnc_source_image_list,
       .argument_count = choice & 16 ? 6 : 5,
       .arguments = arguments},
      {.function = "split", .stage = &nnc_stage_split, .argument_count = 2, .arguments = halves}};
  const char *const fields[] = {"x", "y"};
  nnc_tensor input = {.name = "x", .dtype = NNC_U8, .rank = 4, .dim = {4, 3, 4, 3}};
  if (choice & 64) open_boxes(fields, calls, choice & 32 ? 2 : 1);
  else fuzz_open(&(nnc_pipeline){1, fields, choice & 32 ? 2 : 1, calls}, &input);
  close(file);
  return 0;
}
