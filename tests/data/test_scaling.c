/* Scaling pictures: against the Pillow library; a part against the whole; and how many pixels it
 * may compute. */
#include <math.h>

#include "data/call.h"
#include "data/class.h"
#include "data/picture.h"
#include "data/picture_stages.h"
#include "data/picture_view.h"
#include "data/rows.h"
#include "data/visit.h"
#include "support.h"

/* --- pictures without files ------------------------------------------------------------------- */

typedef struct Image {
  int64_t height, width;
  int channels;
  unsigned char *bytes; /* [height][width][channels] */
} Image;

static Image new_image(int64_t height, int64_t width, int channels) {
  Image image = {height, width, channels, malloc((size_t)(height * width * channels))};
  assert_non_null(image.bytes);
  return image;
}

static Image noise(int64_t height, int64_t width, int channels) {
  Image image = new_image(height, width, channels);
  uint32_t bits = (uint32_t)(height * 31 + width);
  for (int64_t i = 0; i < height * width * channels; i++)
    image.bytes[i] = (unsigned char)((bits = bits * 1664525 + 1013904223) >> 24);
  return image;
}

/* A format whose files are the pixels: it gives just the part that is wanted. */
static int decode_image(const PictureFile *file, int divisor, const PicturePart *wanted,
                        DataScratch *scratch, Picture *picture, PicturePart *part) {
  assert_int_equal(divisor, 1);
  int64_t channels = picture->channels, row = wanted->width * channels;
  unsigned char *bytes =
      data_scratch_take(scratch, DATA_BUFFER_DECODED, (size_t)(wanted->height * row));
  for (int64_t y = 0; y < wanted->height; y++)
    memcpy(bytes + y * row,
           file->bytes + ((wanted->top + y) * file->width + wanted->left) * channels, (size_t)row);
  *part = *wanted;
  *picture = (Picture){wanted->height, wanted->width, (int)channels, (int)channels, bytes};
  return 0;
}

static const PictureFormat images = {"image", NULL, decode_image, 3, 1};
static DataScratch scratch;

static PictureFile file_of(const Image *image) {
  return (PictureFile){.name = "a.png",
                       .bytes = image->bytes,
                       .format = &images,
                       .height = image->height,
                       .width = image->width,
                       .orientation = 1};
}

/* The image becomes what the view shows. */
static void finish(PictureView *view, Image *image) {
  Image result = new_image(view->part.height, view->part.width, image->channels);
  int64_t pixels = result.height * result.width;
  unsigned char *planes = malloc((size_t)(pixels * image->channels));
  assert_int_equal(data_view_finish(view, planes), 0);
  for (int64_t i = 0; i < pixels; i++)
    for (int c = 0; c < image->channels; c++)
      result.bytes[i * image->channels + c] = planes[c * pixels + i];
  free(planes);
  free(image->bytes);
  *image = result;
}

/* --- one stage after the other, on all pixels ------------------------------------------------- */

static void scale_whole(Image *image, int64_t height, int64_t width) {
  PictureFile file = file_of(image);
  PictureView view = data_view_file(&file, image->channels, &scratch);
  assert_int_equal(data_view_scale(&view, height, width), 0);
  finish(&view, image);
}

/* What lies beyond the image is `value`; mirrored when `step` is -1. */
static void copy_part(Image *image, PicturePart part, int step, unsigned char value) {
  Image copy = new_image(part.height, part.width, image->channels);
  for (int64_t y = 0; y < part.height; y++)
    for (int64_t x = 0; x < part.width; x++)
      for (int c = 0; c < copy.channels; c++) {
        int64_t from = part.left + (step < 0 ? part.width - 1 - x : x), row = part.top + y;
        bool is_inside = row >= 0 && row < image->height && from >= 0 && from < image->width;
        copy.bytes[(y * part.width + x) * copy.channels + c] =
            is_inside ? image->bytes[(row * image->width + from) * copy.channels + c] : value;
      }
  free(image->bytes);
  *image = copy;
}

static void crop_whole(Image *image, const PictureStage *stage, uint64_t stream,
                       const DataVisit *visit) {
  double tall = (double)stage->height / (double)image->height;
  double wide = (double)stage->width / (double)image->width, factor = tall > wide ? tall : wide;
  if (factor > 1)
    scale_whole(image, (int64_t)(factor * (double)image->height + 0.5),
                (int64_t)(factor * (double)image->width + 0.5));
  int64_t down = image->height - stage->height, across = image->width - stage->width;
  PicturePart part = {down / 2, across / 2, stage->height, stage->width};
  if (stage->kind == PICTURE_RANDOM_CROP) {
    part.top = data_random_below(visit, stream, 0, down + 1);
    part.left = data_random_below(visit, stream, 1, across + 1);
  }
  copy_part(image, part, 1, 0);
}

static void apply_whole(const PictureStages *stages, const DataVisit *visit, Image *image) {
  uint64_t of_kind[8] = {0};
  for (int i = 0; i < stages->count; i++) {
    const PictureStage *stage = &stages->stages[i];
    int64_t height = image->height, width = image->width, size = stage->height;
    uint64_t stream = (uint64_t)stage->kind + PICTURE_STAGE_KINDS * of_kind[stage->kind]++;
    if (stage->kind == PICTURE_RANDOM_FLIP) {
      if ((double)(data_random_bits(visit, stream, 0) >> 11) * 0x1p-53 < stage->probability)
        copy_part(image, (PicturePart){0, 0, height, width}, -1, 0);
    } else if (stage->kind == PICTURE_PAD) {
      copy_part(image,
                (PicturePart){-size, -stage->width, height + 2 * size, width + 2 * stage->width}, 1,
                (unsigned char)stage->value);
    } else if (stage->kind != PICTURE_RESIZE) {
      crop_whole(image, stage, stream, visit);
    } else if (stage->width) {
      scale_whole(image, size, stage->width);
    } else {
      scale_whole(image, height <= width ? size : (height * size + width / 2) / width,
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
    Image picture = new_image(9, 7, 1);
    for (int y = 0; y < 9; y++)
      for (int x = 0; x < 7; x++)
        picture.bytes[y * 7 + x] = (unsigned char)(37 * y * y + 11 * x + 29 * x * y);
    scale_whole(&picture, cases[i].height, cases[i].width);
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
#define PAD(h, w, v)                                                                               \
  { .kind = PICTURE_PAD, .height = (h), .width = (w), .value = (v) }
  static const PictureStages lists[] = {
      {.count = 2, .stages = {SHORTER(16), RANDOM(14, 9)}},
      {.count = 2, .stages = {SHORTER(57), CENTER(24, 31)}},
      {.count = 3, .stages = {SHORTER(20), FLIP(0.5), RANDOM(5, 11)}},
      {.count = 4, .stages = {FLIP(0.5), EXACT(33, 18), FLIP(1), RANDOM(32, 3)}},
      {.count = 5, .stages = {SHORTER(25), RANDOM(22, 20), FLIP(0.5), RANDOM(9, 12), CENTER(3, 7)}},
      {.count = 4, .stages = {RANDOM(12, 15), SHORTER(30), CENTER(29, 28), EXACT(7, 9)}},
      {.count = 3, .stages = {SHORTER(10), RANDOM(23, 17), FLIP(0.5)}},
      {.count = 3, .stages = {EXACT(20, 30), CENTER(20, 30), FLIP(0.5)}},
      {.count = 2, .stages = {FLIP(1), RANDOM(6, 5)}},
      {.count = 3, .stages = {PAD(4, 3, 9), RANDOM(16, 15), FLIP(0.5)}},
      {.count = 5,
       .stages = {SHORTER(12), PAD(3, 7, 255), CENTER(11, 19), PAD(1, 2, 255), FLIP(0.5)}},
      {.count = 4, .stages = {PAD(2, 0, 7), PAD(1, 3, 8), EXACT(19, 21), FLIP(0.5)}},
      {.count = 4, .stages = {SHORTER(9), PAD(0, 5, 70), SHORTER(30), RANDOM(25, 26)}},
      {.count = 3, .stages = {PAD(60, 60, 3), RANDOM(7, 9), FLIP(1)}},
  };
  static const int64_t shapes[][2] = {{20, 30}, {31, 17}, {1, 40}, {50, 2}, {97, 128}, {16, 16}};
  DataContext context = {0};
  for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
      for (int64_t row = 0; row < 6; row++) {
        DataVisit visit = {.seed = 7, .epoch = 1, .draws = true, .row = row, .number = row};
        int channels = row % 2 ? 1 : 3;
        Image part = noise(shapes[s][0], shapes[s][1], channels);
        Image whole = noise(shapes[s][0], shapes[s][1], channels);
        PictureFile file = file_of(&part);
        PictureView view = data_view_file(&file, channels, &scratch);
        assert_int_equal(data_picture_apply(&context, &lists[l], &visit, &view), 0);
        finish(&view, &part);
        apply_whole(&lists[l], &visit, &whole);
        assert_int_equal(part.height, whole.height);
        assert_int_equal(part.width, whole.width);
        /* What is mirrored before it is scaled is scaled first: the same sum in another order. */
        bool is_mirrored_first = lists[l].stages[0].kind == PICTURE_RANDOM_FLIP;
        for (int64_t i = 0; i < part.height * part.width * channels; i++)
          assert_true(abs(part.bytes[i] - whole.bytes[i]) <= is_mirrored_first);
        free(part.bytes);
        free(whole.bytes);
      }
}

/* With every instruction set the same bits: this program is run with both copies of the loops. */
static void test_bits(void **state) {
  (void)state;
  uint64_t hash = 14695981039346656037u;
  for (int channels = 1; channels <= 3; channels += 2)
    for (int64_t to = 1; to < 200; to += 7) {
      Image image = noise(97, 128, channels);
      scale_whole(&image, to, 211 - to);
      for (int64_t i = 0; i < to * (211 - to) * channels; i++)
        hash = (hash ^ image.bytes[i]) * 1099511628211u;
      free(image.bytes);
    }
  assert_int_equal(hash, 0x11c9c1d57523f1cb);
}

/* Torchvision's rule: the part's share of the area and its ratio are within their ranges, as far as
 * whole numbers allow, and all of them occur; else it is the middle. */
static void test_random_resized_crops(void **state) {
  (void)state;
  PictureStages stages = {.count = 1,
                          .stages = {{.kind = PICTURE_RANDOM_RESIZED_CROP,
                                      .height = 9,
                                      .width = 12,
                                      .scale = {0.25, 0.5},
                                      .ratio = {0.5, 2}}}};
  DataContext context = {0};
  Image image = noise(300, 400, 1);
  PictureFile file = file_of(&image);
  double least_share = 1, most_share = 0, least_ratio = 9, most_ratio = 0;
  int64_t least_top = 300, most_bottom = 0, least_left = 400, most_right = 0;
  for (int64_t row = 0; row < 2000; row++) {
    DataVisit visit = {.seed = 3, .draws = true, .row = row, .number = row};
    PictureView view = data_view_file(&file, 1, &scratch);
    assert_int_equal(data_picture_apply(&context, &stages, &visit, &view), 0);
    assert_true(view.height == 9 && view.width == 12);
    assert_true(view.part.height == 9 && view.part.width == 12);
    PicturePart base = view.base;
    double share = (double)(base.height * base.width) / 120000;
    double ratio = (double)base.width / (double)base.height;
    least_share = fmin(least_share, share), most_share = fmax(most_share, share);
    least_ratio = fmin(least_ratio, ratio), most_ratio = fmax(most_ratio, ratio);
    if (base.top < least_top) least_top = base.top;
    if (base.left < least_left) least_left = base.left;
    if (base.top + base.height > most_bottom) most_bottom = base.top + base.height;
    if (base.left + base.width > most_right) most_right = base.left + base.width;
  }
  assert_true(least_share > 0.247 && least_share < 0.255);
  assert_true(most_share < 0.503 && most_share > 0.495);
  assert_true(least_ratio > 0.495 && least_ratio < 0.51 && most_ratio < 2.01 && most_ratio > 1.95);
  assert_true(least_top == 0 && least_left == 0 && most_bottom == 300 && most_right == 400);
  free(image.bytes);
  static const struct {
    int64_t height, width;
    bool draws;
    PicturePart part;
  } middles[] = {{10, 1000, true, {0, 490, 10, 20}},   /* ratio 2 */
                 {1000, 10, true, {490, 0, 20, 10}},   /* ratio 1/2 */
                 {300, 300, false, {38, 0, 225, 300}}, /* 12 : 9 */
                 {90, 1200, false, {0, 540, 90, 120}}};
  for (int i = 0; i < 4; i++) {
    image = noise(middles[i].height, middles[i].width, 1);
    file = file_of(&image);
    DataVisit visit = {.seed = 3, .draws = middles[i].draws};
    PictureView view = data_view_file(&file, 1, &scratch);
    assert_int_equal(data_picture_apply(&context, &stages, &visit, &view), 0);
    PicturePart wanted = middles[i].part;
    wanted.top = (middles[i].height - wanted.height) / 2;
    assert_true(view.base.top == wanted.top && view.base.left == wanted.left);
    assert_true(view.base.height == wanted.height && view.base.width == wanted.width);
    free(image.bytes);
  }
}

/* What torchvision 0.29 gives in floats, rounded, for these six pixels as a picture. */
static void test_colors_as_torchvision_does(void **state) {
  (void)state;
  static const struct {
    enum DataColor color;
    double factor;
    int values[18];
  } cases[] = {
      {DATA_COLOR_BRIGHTNESS,
       1.3,
       {13, 255, 117, 255, 0, 4, 166, 166, 166, 100, 17, 255, 255, 255, 4}},
      {DATA_COLOR_BRIGHTNESS, 0.45, {4, 90, 40, 115, 0, 1, 58, 58, 58, 35, 6, 108, 112, 113, 1}},
      {DATA_COLOR_CONTRAST,
       0.6,
       {47, 161, 95, 194, 41, 43, 118, 118, 118, 87, 49, 185, 191, 192, 43, 41, 41, 41}},
      {DATA_COLOR_CONTRAST, 1.7, {0, 255, 81, 255, 0, 0, 146, 146, 146, 59, 0, 255, 255, 255, 0}},
      {DATA_COLOR_SATURATION,
       0.25,
       {100, 148, 120, 121, 57, 58, 128, 128, 128, 63, 47, 104, 229, 230, 168}},
      {DATA_COLOR_SATURATION, 1.8, {0, 255, 57, 255, 0, 0, 128, 128, 128, 92, 0, 255, 255, 255, 0}},
      {DATA_COLOR_HUE, 0.2, {10, 82, 200, 207, 255, 0, 128, 128, 128, 240, 13, 131, 3, 251, 54}},
      {DATA_COLOR_HUE, -0.35, {200, 71, 10, 0, 28, 255, 128, 128, 128, 13, 240, 54, 227, 3, 251}}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    unsigned char pixels[18] = {10, 200, 90, 255, 0, 3, 128, 128, 128, 77, 13, 240, 250, 251, 3};
    Picture picture = {2, 3, 3, 3, pixels};
    data_color_change(&picture, pixels, cases[i].color, cases[i].factor);
    for (int k = 0; k < 18; k++) assert_true(abs(pixels[k] - cases[i].values[k]) <= 1);
    unsigned char wide[24] = {0}; /* a pixel of four bytes: the same */
    static const unsigned char given[18] = {10,  200, 90, 255, 0,   3,   128, 128,
                                            128, 77,  13, 240, 250, 251, 3};
    for (int k = 0; k < 18; k++) wide[k / 3 * 4 + k % 3] = given[k];
    Picture padded = {2, 3, 3, 4, wide};
    data_color_change(&padded, wide, cases[i].color, cases[i].factor);
    for (int k = 0; k < 18; k++) assert_int_equal(wide[k / 3 * 4 + k % 3], pixels[k]);
  }
  unsigned char greys[4] = {10, 20, 30, 100};
  Picture grey = {2, 2, 1, 1, greys};
  data_color_change(&grey, greys, DATA_COLOR_HUE, 0.3);
  data_color_change(&grey, greys, DATA_COLOR_SATURATION, 0);
  assert_memory_equal(greys, ((unsigned char[]){10, 20, 30, 100}), 4);
  data_color_change(&grey, greys, DATA_COLOR_CONTRAST, 0.5); /* the mean is 40 */
  assert_memory_equal(greys, ((unsigned char[]){25, 30, 35, 70}), 4);
}

/* Factors fill their range; the same for the same row; nothing outside of training; classes
 * have no colours. */
static void test_color_jitter(void **state) {
  (void)state;
  PictureStages stages = {.count = 3,
                          .stages = {SHORTER(9),
                                     {.kind = PICTURE_COLOR_JITTER, .color = {0.5, 0, 0, 0}},
                                     CENTER(5, 6)}};
  char message[NNC_MESSAGE] = "";
  DataContext context = {.message = message};
  Image image = new_image(9, 9, 1);
  memset(image.bytes, 100, 81);
  PictureFile file = file_of(&image);
  file.context = &context;
  int least = 255, most = 0;
  unsigned char found[30], again[30];
  for (int64_t row = 0; row < 300; row++) {
    DataVisit visit = {.seed = 3, .draws = true, .row = row, .number = row};
    for (int k = 0; k < 2; k++) {
      PictureView view = data_view_file(&file, 1, &scratch);
      assert_int_equal(data_picture_apply(&context, &stages, &visit, &view), 0);
      assert_int_equal(data_view_finish(&view, k ? again : found), 0);
    }
    assert_memory_equal(found, again, sizeof found);
    if (found[0] < least) least = found[0];
    if (found[0] > most) most = found[0];
  }
  assert_true(least >= 50 && least < 53 && most <= 150 && most > 147);
  DataVisit still = {.seed = 3};
  PictureView view = data_view_file(&file, 1, &scratch);
  assert_int_equal(data_picture_apply(&context, &stages, &still, &view), 0);
  assert_int_equal(data_view_finish(&view, found), 0);
  assert_int_equal(found[0], 100);
  DataVisit visit = {.seed = 3, .draws = true};
  view = data_view_file(&file, 1, &scratch);
  view.is_index = true;
  assert_int_equal(data_picture_apply(&context, &stages, &visit, &view), -1);
  assert_string_equal(message,
                      "a.png: color_jitter changes colours, but the values of this picture "
                      "are classes");
  free(image.bytes);
}

/* Values that are classes: the pixel that lies nearest, as Pillow's NEAREST; and lines with the same
 * stages that draw see the same part. */
static void test_masks(void **state) {
  (void)state;
  PictureStages with_size = {.count = 3, .stages = {SHORTER(40), RANDOM(20, 20), FLIP(0.5)}};
  PictureStages of_part = {.count = 4,
                           .stages = {SHORTER(40), PAD(0, 0, 0), RANDOM(20, 20), FLIP(0.5)}};
  DataContext context = {0};
  Image image = noise(97, 64, 1);
  PictureFile file = file_of(&image);
  for (int64_t row = 0; row < 8; row++) {
    DataVisit visit = {.seed = 5, .draws = true, .row = row, .number = row};
    PictureView seen = data_view_file(&file, 1, &scratch), mask = seen;
    mask.is_index = true;
    assert_int_equal(data_picture_apply(&context, &with_size, &visit, &seen), 0);
    assert_int_equal(data_picture_apply(&context, &of_part, &visit, &mask), 0);
    assert_memory_equal(&seen.part, &mask.part, sizeof seen.part);
    assert_int_equal(seen.is_mirrored, mask.is_mirrored);
    unsigned char found[20 * 20];
    PicturePart part = mask.part;
    assert_int_equal(data_view_finish(&mask, found), 0);
    for (int64_t y = 0; y < 20; y++)
      for (int64_t x = 0; x < 20; x++) {
        int64_t from_y = (int64_t)(((double)(part.top + y) + 0.5) * 97 / 61);
        int64_t from_x = (int64_t)(((double)(part.left + x) + 0.5) * 64 / 40);
        assert_int_equal(found[y * 20 + (mask.is_mirrored ? 19 - x : x)],
                         image.bytes[from_y * 64 + from_x]);
      }
  }
  free(image.bytes);
}

static void test_too_many_pixels(void **state) {
  (void)state;
  PictureStages stages = {.count = 1, .stages = {SHORTER(1024)}};
  DataVisit visit = {0};
  char message[NNC_MESSAGE] = "";
  DataContext context = {.message = message};
  Image picture = noise(1, 1000, 1);
  PictureFile file = file_of(&picture);
  PictureView view = data_view_file(&file, 1, &scratch);
  assert_int_equal(data_picture_apply(&context, &stages, &visit, &view), 0);
  assert_int_equal(data_picture_result(&context, &view, data_view_finish(&view, NULL)), -1);
  assert_string_equal(message, "a.png: 1 x 1000 pixels would become 1024 x 1024000: more "
                               "than 134217728, the most that are computed of a picture");
  free(picture.bytes);
}

/* A crop of it is computed alone: here pixels 5 and 6 of 10,000, which are 65,536 wide. */
static void test_part_of_too_many_pixels(void **state) {
  (void)state;
  PictureStages stages = {.count = 2, .stages = {SHORTER(32768), CENTER(3, 65536)}};
  DataVisit visit = {0};
  DataContext context = {0};
  Image picture = noise(1, 12, 1);
  picture.bytes[5] = 40;
  picture.bytes[6] = 200;
  PictureFile file = file_of(&picture);
  PictureView view = data_view_file(&file, 1, &scratch);
  assert_int_equal(data_picture_apply(&context, &stages, &visit, &view), 0);
  finish(&view, &picture);
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

static int release(void **state) {
  (void)state;
  data_scratch_free(&scratch);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scaling_as_pillow_does),
      cmocka_unit_test(test_parts_of_scaled_pictures),
      cmocka_unit_test(test_bits),
      cmocka_unit_test(test_random_resized_crops),
      cmocka_unit_test(test_colors_as_torchvision_does),
      cmocka_unit_test(test_color_jitter),
      cmocka_unit_test(test_masks),
      cmocka_unit_test(test_too_many_pixels),
      cmocka_unit_test(test_part_of_too_many_pixels),
  };
  return cmocka_run_group_tests(tests, NULL, release);
}
