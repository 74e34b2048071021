/* Cutting and scaling pictures: the stages resize, center_crop, random_crop and random_flip. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data_picture.h"

/* --- scaling ---------------------------------------------------------------------------------- */

/* Along one axis: each result is a weighted sum of `taps` neighbours from first[i] on. */
typedef struct Filter {
  int64_t taps;
  int64_t *first;
  float *weights; /* [results][taps] */
} Filter;

static int make_filter(Filter *filter, int64_t from, int64_t to) {
  double scale = (double)from / (double)to, support = scale > 1 ? scale : 1;
  filter->taps = (int64_t)ceil(support) * 2 + 1;
  if (filter->taps > from) filter->taps = from;
  filter->first = malloc((size_t)to * sizeof *filter->first);
  filter->weights = calloc((size_t)(to * filter->taps), sizeof *filter->weights);
  if (!filter->first || !filter->weights) return -1;
  for (int64_t i = 0; i < to; i++) {
    double centre = ((double)i + 0.5) * scale, sum = 0;
    int64_t first = (int64_t)floor(centre - support + 0.5);
    if (first < 0) first = 0;
    if (first + filter->taps > from) first = from - filter->taps;
    float *weights = filter->weights + i * filter->taps;
    for (int64_t k = 0; k < filter->taps; k++) {
      double distance = fabs(((double)(first + k) + 0.5 - centre) / support);
      weights[k] = distance < 1 ? (float)(1 - distance) : 0;
      sum += weights[k];
    }
    for (int64_t k = 0; k < filter->taps; k++) weights[k] = (float)(weights[k] / sum);
    filter->first[i] = first;
  }
  return 0;
}

static void free_filter(Filter *filter) {
  free(filter->first);
  free(filter->weights);
}

/* `inner` values lie together for each place along the axis: channels, or a row. */
static void filter_axis(const Filter *filter, int64_t outer, int64_t from, int64_t to,
                        int64_t inner, const float *source, float *target) {
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < to; i++) {
      float *result = target + (o * to + i) * inner;
      memset(result, 0, (size_t)inner * sizeof *result);
      for (int64_t k = 0; k < filter->taps; k++) {
        float weight = filter->weights[i * filter->taps + k];
        const float *values = source + (o * from + filter->first[i] + k) * inner;
        for (int64_t c = 0; c < inner; c++) result[c] += weight * values[c];
      }
    }
}

static void to_bytes(const float *values, int64_t count, unsigned char *bytes) {
  for (int64_t i = 0; i < count; i++) {
    float value = values[i] + 0.5f;
    bytes[i] = value <= 0 ? 0 : value >= 255 ? 255 : (unsigned char)value;
  }
}

int data_picture_resize(Picture *picture, int64_t height, int64_t width) {
  if (picture->height == height && picture->width == width) return 0;
  if (height > PICTURE_PIXELS / width) return PICTURE_TOO_LARGE;
  int64_t channels = picture->channels, old = picture->height * picture->width * channels;
  Filter across = {0}, down = {0};
  float *source = malloc((size_t)old * sizeof *source);
  float *middle = malloc((size_t)(picture->height * width * channels) * sizeof *middle);
  float *target = malloc((size_t)(height * width * channels) * sizeof *target);
  unsigned char *bytes = malloc((size_t)(height * width * channels));
  int result = source && middle && target && bytes ? 0 : -1;
  if (result == 0) result = make_filter(&across, picture->width, width);
  if (result == 0) result = make_filter(&down, picture->height, height);
  if (result == 0) {
    for (int64_t i = 0; i < old; i++) source[i] = picture->bytes[i];
    filter_axis(&across, picture->height, picture->width, width, channels, source, middle);
    filter_axis(&down, 1, picture->height, height, width * channels, middle, target);
    to_bytes(target, height * width * channels, bytes);
    free(picture->bytes);
    picture->bytes = bytes;
    picture->height = height;
    picture->width = width;
    bytes = NULL;
  }
  free_filter(&across);
  free_filter(&down);
  free(source);
  free(middle);
  free(target);
  free(bytes);
  return result;
}

/* --- cutting ---------------------------------------------------------------------------------- */

void data_picture_crop(Picture *picture, int64_t top, int64_t left, int64_t height,
                       int64_t width) {
  int64_t channels = picture->channels;
  for (int64_t y = 0; y < height; y++)
    memmove(picture->bytes + y * width * channels,
            picture->bytes + ((top + y) * picture->width + left) * channels,
            (size_t)(width * channels));
  picture->height = height;
  picture->width = width;
}

void data_picture_mirror(Picture *picture) {
  int64_t channels = picture->channels, width = picture->width;
  for (int64_t y = 0; y < picture->height; y++)
    for (int64_t x = 0; x < width / 2; x++)
      for (int64_t c = 0; c < channels; c++) {
        unsigned char *row = picture->bytes + y * width * channels;
        unsigned char *left = row + x * channels + c;
        unsigned char *right = row + (width - 1 - x) * channels + c, swapped = *left;
        *left = *right;
        *right = swapped;
      }
}

/* --- stages ----------------------------------------------------------------------------------- */

/* The shorter side becomes `size`; the other keeps the proportion. */
static int resize_shorter(Picture *picture, int64_t size) {
  int64_t height = picture->height, width = picture->width;
  if (height <= width)
    return data_picture_resize(picture, size, (width * size + height / 2) / height);
  return data_picture_resize(picture, (height * size + width / 2) / width, size);
}

/* A picture that is smaller than the part to be cut is enlarged first, no more than needed. */
static int enlarge(Picture *picture, int64_t height, int64_t width) {
  if (picture->height >= height && picture->width >= width) return 0;
  double scale = fmax((double)height / (double)picture->height,
                      (double)width / (double)picture->width);
  int64_t new_height = (int64_t)floor(scale * (double)picture->height + 0.5);
  int64_t new_width = (int64_t)floor(scale * (double)picture->width + 0.5);
  return data_picture_resize(picture, new_height > height ? new_height : height,
                             new_width > width ? new_width : width);
}

/* Where a part begins of which `spare` pixels are left out: anywhere, or in the middle. */
static int64_t choose_start(const DataVisit *visit, uint64_t stream, uint64_t index,
                            int64_t spare) {
  return visit->draws ? data_random_below(visit, stream, index, spare + 1) : spare / 2;
}

static int apply_stage(const PictureStage *stage, int index, const DataVisit *visit,
                       Picture *picture) {
  uint64_t stream = (uint64_t)index;
  int64_t height = stage->height, width = stage->width;
  int result;
  switch (stage->kind) {
    case PICTURE_RESIZE:
      return width ? data_picture_resize(picture, height, width) : resize_shorter(picture, height);
    case PICTURE_CENTER_CROP:
      if ((result = enlarge(picture, height, width)) < 0) return result;
      data_picture_crop(picture, (picture->height - height) / 2, (picture->width - width) / 2,
                        height, width);
      return 0;
    case PICTURE_RANDOM_CROP:
      if ((result = enlarge(picture, height, width)) < 0) return result;
      data_picture_crop(picture, choose_start(visit, stream, 0, picture->height - height),
                        choose_start(visit, stream, 1, picture->width - width), height, width);
      return 0;
    case PICTURE_RANDOM_FLIP:
      if (!visit->draws) return 0;
      if ((double)(data_random_bits(visit, stream, 0) >> 11) * 0x1p-53 < stage->probability)
        data_picture_mirror(picture);
      return 0;
  }
  return 0;
}

int data_picture_apply(const PictureStages *stages, const DataVisit *visit, Picture *picture) {
  int result = 0;
  for (int i = 0; i < stages->count && result == 0; i++)
    result = apply_stage(&stages->stages[i], i, visit, picture);
  return result;
}

/* --- their calls ------------------------------------------------------------------------------ */

int data_picture_add_stage(const DataContext *context, DataTable *table, PictureStage stage) {
  PictureStages *stages = &((PictureFiles *)table->state)->stages;
  if (stages->count == DATA_PICTURE_STAGES)
    return data_fail_call(context, "more than %d stages for one picture", DATA_PICTURE_STAGES);
  stages->stages[stages->count++] = stage;
  return 0;
}

static const char *const size_formals[] = {"height", "width", NULL};
static const char *const flip_formals[] = {"probability", NULL};

static int add_sized(const DataContext *context, DataTable *table, PictureStageKind kind) {
  double height = 0, width = 0;
  if (data_argument_number(context, size_formals, "height", 1, 1 << 15, &height) < 0 ||
      data_argument_number(context, size_formals, "width", 1, 1 << 15, &width) < 0)
    return -1;
  if (height == 0) return data_fail_call(context, "%s needs a size", context->call->function);
  if (width == 0 && kind != PICTURE_RESIZE) width = height;
  return data_picture_add_stage(
      context, table,
      (PictureStage){.kind = kind, .height = (int64_t)height, .width = (int64_t)width});
}

static int resize(const DataContext *context, DataTable *table) {
  return add_sized(context, table, PICTURE_RESIZE);
}

static int center_crop(const DataContext *context, DataTable *table) {
  return add_sized(context, table, PICTURE_CENTER_CROP);
}

static int random_crop(const DataContext *context, DataTable *table) {
  return add_sized(context, table, PICTURE_RANDOM_CROP);
}

static int random_flip(const DataContext *context, DataTable *table) {
  PictureStage stage = {.kind = PICTURE_RANDOM_FLIP, .probability = 0.5};
  if (data_argument_number(context, flip_formals, "probability", 0, 1, &stage.probability) < 0)
    return -1;
  return data_picture_add_stage(context, table, stage);
}

const struct nnc_stage_class nnc_stage_resize = {
    .name = "resize", .acts_on = DATA_ACTS_ON_resize, .formals = size_formals, .picture = resize};
const struct nnc_stage_class nnc_stage_center_crop = {
    .name = "center_crop", .acts_on = DATA_ACTS_ON_center_crop, .formals = size_formals,
    .picture = center_crop};
const struct nnc_stage_class nnc_stage_random_crop = {
    .name = "random_crop", .acts_on = DATA_ACTS_ON_random_crop, .formals = size_formals,
    .picture = random_crop};
const struct nnc_stage_class nnc_stage_random_flip = {
    .name = "random_flip", .acts_on = DATA_ACTS_ON_random_flip, .formals = flip_formals,
    .picture = random_flip};
