/* Scaling pictures: against the Pillow library; a part against the whole; and how many pixels it
 * may compute. */
#include "data/call.h"
#include "data/class.h"
#include "data/picture.h"
#include "data/picture_scale.h"
#include "data/picture_stages.h"
#include "data/rows.h"
#include "data/visit.h"
#include "support.h"

/* --- one stage after the other, on all pixels ------------------------------------------------- */

static Picture noise(int64_t height, int64_t width, int channels) {
  Picture picture = {height, width, channels, malloc((size_t)(height * width * channels))};
  assert_non_null(picture.bytes);
  uint32_t bits = (uint32_t)(height * 31 + width);
  for (int64_t i = 0; i < height * width * channels; i++)
    picture.bytes[i] = (unsigned char)((bits = bits * 1664525 + 1013904223) >> 24);
  return picture;
}

static void scale_whole(Picture *picture, int64_t height, int64_t width) {
  if (height == picture->height && width == picture->width) return;
  PicturePart whole = {0, 0, height, width};
  assert_int_equal(data_picture_scale(picture, height, width, whole), 0);
}

/* Mirrored when `step` is -1. */
static void copy_part(Picture *picture, PicturePart part, int step) {
  Picture copy = {part.height, part.width, picture->channels,
                  malloc((size_t)(part.height * part.width * picture->channels))};
  assert_non_null(copy.bytes);
  for (int64_t y = 0; y < part.height; y++)
    for (int64_t x = 0; x < part.width; x++)
      for (int c = 0; c < copy.channels; c++) {
        int64_t from = part.left + (step < 0 ? part.width - 1 - x : x);
        copy.bytes[(y * part.width + x) * copy.channels + c] =
            picture->bytes[((part.top + y) * picture->width + from) * copy.channels + c];
      }
  free(picture->bytes);
  *picture = copy;
}

static void crop_whole(Picture *picture, const PictureStage *stage, uint64_t stream,
                       const DataVisit *visit) {
  double tall = (double)stage->height / (double)picture->height;
  double wide = (double)stage->width / (double)picture->width, factor = tall > wide ? tall : wide;
  if (factor > 1)
    scale_whole(picture, (int64_t)(factor * (double)picture->height + 0.5),
                (int64_t)(factor * (double)picture->width + 0.5));
  int64_t down = picture->height - stage->height, across = picture->width - stage->width;
  PicturePart part = {down / 2, across / 2, stage->height, stage->width};
  if (stage->kind == PICTURE_RANDOM_CROP) {
    part.top = data_random_below(visit, stream, 0, down + 1);
    part.left = data_random_below(visit, stream, 1, across + 1);
  }
  copy_part(picture, part, 1);
}

static void apply_whole(const PictureStages *stages, const DataVisit *visit, Picture *picture) {
  for (int i = 0; i < stages->count; i++) {
    const PictureStage *stage = &stages->stages[i];
    int64_t height = picture->height, width = picture->width, size = stage->height;
    if (stage->kind == PICTURE_RANDOM_FLIP) {
      if ((double)(data_random_bits(visit, (uint64_t)i, 0) >> 11) * 0x1p-53 < stage->probability)
        copy_part(picture, (PicturePart){0, 0, height, width}, -1);
    } else if (stage->kind != PICTURE_RESIZE) {
      crop_whole(picture, stage, (uint64_t)i, visit);
    } else if (stage->width) {
      scale_whole(picture, size, stage->width);
    } else {
      scale_whole(picture, height <= width ? size : (height * size + width / 2) / width,
                  height <= width ? (width * size + height / 2) / height : size);
    }
  }
}

/* --- tests ------------------------------------------------------------------------------------ */

/* What Image.resize((width, height), Image.BILINEAR) of Pillow 9.4 gives; it rounds twice. */
static void test_scaling_as_pillow_does(void **state) {
  (void)state;
  static const struct {
    int height, width, values[99];
  } cases[] = {
      {4, 3, {64, 102, 117, 122, 124, 135, 137, 122, 116, 115, 102, 128}},
      {11, 9, {0,   7,   16,  24,  33,  42,  50,  59,  66,  27,  48,  73,  98,  123, 148, 173, 136,
               33,  98,  135, 116, 82,  125, 169, 212, 170, 37,  122, 175, 123, 43,  105, 167, 177,
               143, 87,  78,  146, 113, 51,  131, 175, 129, 101, 139, 80,  165, 150, 106, 205, 105,
               147, 160, 74,  143, 104, 130, 176, 130, 48,  109, 140, 70,  90,  144, 176, 165, 102,
               38,  117, 167, 113, 38,  170, 210, 165, 120, 75,  108, 125, 87,  33,  134, 169, 143,
               117, 90,  103, 107, 84,  64,  55,  45,  35,  25,  15,  147, 251, 242}},
      {9, 3, {9,   33,  57,  71,  157, 151, 152, 114, 155, 106, 115, 124, 134, 145,
              130, 126, 113, 100, 156, 110, 144, 150, 151, 61,  53,  40,  198}}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Picture picture = {9, 7, 1, malloc(63)};
    assert_non_null(picture.bytes);
    for (int y = 0; y < 9; y++)
      for (int x = 0; x < 7; x++)
        picture.bytes[y * 7 + x] = (unsigned char)(37 * y * y + 11 * x + 29 * x * y);
    PicturePart whole = {0, 0, cases[i].height, cases[i].width};
    assert_int_equal(data_picture_scale(&picture, whole.height, whole.width, whole), 0);
    for (int k = 0; k < cases[i].height * cases[i].width; k++)
      assert_true(abs(picture.bytes[k] - cases[i].values[k]) <= 1);
    free(picture.bytes);
  }
}

/* Scaling computes only what is cut afterwards: with the bits that it has in the whole picture. */
static void test_parts_of_scaled_pictures(void **state) {
  (void)state;
#define SHORTER(n)                                                                                 \
  { .kind = PICTURE_RESIZE, .height = (n) }
#define EXACT(h, w)                                                                                \
  { .kind = PICTURE_RESIZE, .height = (h), .width = (w) }
#define CENTER(h, w)                                                                               \
  { .kind = PICTURE_CENTER_CROP, .height = (h), .width = (w) }
#define RANDOM(h, w)                                                                               \
  { .kind = PICTURE_RANDOM_CROP, .height = (h), .width = (w) }
#define FLIP(p)                                                                                    \
  { .kind = PICTURE_RANDOM_FLIP, .probability = (p) }
  static const PictureStages lists[] = {
      {2, {SHORTER(16), RANDOM(14, 9)}},
      {2, {SHORTER(57), CENTER(24, 31)}},
      {3, {SHORTER(20), FLIP(0.5), RANDOM(5, 11)}},
      {4, {FLIP(0.5), EXACT(33, 18), FLIP(1), RANDOM(32, 3)}},
      {5, {SHORTER(25), RANDOM(22, 20), FLIP(0.5), RANDOM(9, 12), CENTER(3, 7)}},
      {4, {RANDOM(12, 15), SHORTER(30), CENTER(29, 28), EXACT(7, 9)}},
      {3, {SHORTER(10), RANDOM(23, 17), FLIP(0.5)}},
      {3, {EXACT(20, 30), CENTER(20, 30), FLIP(0.5)}},
      {2, {FLIP(1), RANDOM(6, 5)}},
  };
  static const int64_t shapes[][2] = {{20, 30}, {31, 17}, {1, 40}, {50, 2}, {97, 128}, {16, 16}};
  DataContext context = {0};
  for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
      for (int64_t row = 0; row < 6; row++) {
        DataVisit visit = {.seed = 7, .epoch = 1, .draws = true, .row = row};
        int channels = row % 2 ? 1 : 3;
        Picture part = noise(shapes[s][0], shapes[s][1], channels);
        Picture whole = noise(shapes[s][0], shapes[s][1], channels);
        assert_int_equal(data_picture_apply(&context, "a.png", &lists[l], &visit, &part), 0);
        apply_whole(&lists[l], &visit, &whole);
        assert_int_equal(part.height, whole.height);
        assert_int_equal(part.width, whole.width);
        assert_memory_equal(part.bytes, whole.bytes, part.height * part.width * channels);
        free(part.bytes);
        free(whole.bytes);
      }
}

static void test_too_many_pixels(void **state) {
  (void)state;
  PictureStages stages = {1, {SHORTER(1024)}};
  DataVisit visit = {0};
  char message[NNC_MESSAGE] = "";
  DataContext context = {.message = message};
  Picture picture = noise(1, 1000, 1);
  assert_int_equal(data_picture_apply(&context, "a.png", &stages, &visit, &picture), -1);
  assert_string_equal(message, "a.png: 1 x 1000 pixels would be scaled to 1024 x 1024000: more "
                               "than 134217728, the most that are computed of a picture");
  free(picture.bytes);
}

/* A crop of it is computed alone: here pixels 5 and 6 of 10,000, which are 65,536 wide. */
static void test_part_of_too_many_pixels(void **state) {
  (void)state;
  PictureStages stages = {2, {SHORTER(32768), CENTER(3, 65536)}};
  DataVisit visit = {0};
  DataContext context = {0};
  Picture picture = noise(1, 12, 1);
  picture.bytes[5] = 40;
  picture.bytes[6] = 200;
  assert_int_equal(data_picture_apply(&context, "a.png", &stages, &visit, &picture), 0);
  assert_int_equal(picture.height, 3);
  assert_int_equal(picture.width, 65536);
  for (int64_t x = 16384; x < 49152; x++) { /* from one's centre to the other's */
    double wanted = 40 + 160 * ((double)(x - 16384) + 0.5) / 32768;
    for (int64_t y = 0; y < 3; y++) {
      double found = picture.bytes[y * 65536 + x];
      assert_true(found > wanted - 0.51 && found < wanted + 0.51);
    }
  }
  free(picture.bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scaling_as_pillow_does),
      cmocka_unit_test(test_parts_of_scaled_pictures),
      cmocka_unit_test(test_too_many_pixels),
      cmocka_unit_test(test_part_of_too_many_pixels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
