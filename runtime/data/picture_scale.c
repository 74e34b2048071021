/* Scaling pictures, one axis after the other, down first.
 *
 * A row of the result is the weighted sum of rows of the source; its pixels are weighted sums of the
 * pixels of that row.  Between the two nothing is rounded.  All loops are over floats side by side
 * (bytes of a row, then the channels of a pixel), so that they become vector instructions; for
 * processors that have them, there is a second copy with 8 floats at a time.  Both give the same
 * bits: each sum has one order, and no product is fused into a sum (-ffp-contract=off). */
#include "data/picture_scale.h"

#include <math.h>
#include <string.h>

#include "os/assert.h"

/* --- filters ---------------------------------------------------------------------------------- */

/* The weights of the neighbours of `centre` from place `first` on: they sum to 1. */
static void set_weights(float *weights, int64_t taps, int64_t first, double centre,
                        double support) {
  double sum = 0;
  for (int64_t k = 0; k < taps; k++) {
    double distance = fabs(((double)(first + k) + 0.5 - centre) / support);
    weights[k] = distance < 1 ? (float)(1 - distance) : 0;
    sum += weights[k];
  }
  for (int64_t k = 0; k < taps; k++) weights[k] = (float)(weights[k] / sum);
}

/* Places that the axis may read: those that its source covers, if only in part. */
static int64_t lowest_place(const PictureAxis *axis) {
  int64_t lowest = (int64_t)floor(axis->start);
  return lowest > 0 ? lowest : 0;
}

static int64_t end_place(const PictureAxis *axis) {
  int64_t end = (int64_t)ceil(axis->start + axis->length);
  return end < axis->from ? end : axis->from;
}

/* So many places are nearer than `support` to a centre, at most. */
static int64_t count_taps(const PictureAxis *axis, double support, bool is_nearest) {
  int64_t taps = (int64_t)ceil(2 * support), places = end_place(axis) - lowest_place(axis);
  if (is_nearest) return 1;
  return taps < places ? taps : places;
}

int data_picture_filter(const PictureAxis *axis, bool is_nearest, DataScratch *scratch,
                        enum DataBuffer buffer, PictureFilter *filter) {
  double scale = axis->length / (double)axis->to, support = scale > 1 ? scale : 1;
  int64_t lowest = lowest_place(axis), end = end_place(axis), count = axis->count;
  int64_t taps = count_taps(axis, support, is_nearest);
  NNC_ASSERT(count > 0 && taps > 0 && axis->first >= 0 && axis->first + count <= axis->to);
  int64_t *firsts = data_scratch_take(
      scratch, buffer, (size_t)count * (sizeof *firsts + (size_t)taps * sizeof(float)));
  if (!firsts) return -1;
  float *weights = (float *)(firsts + count);
  for (int64_t i = 0; i < count; i++) {
    double centre = axis->start + ((double)(axis->first + i) + 0.5) * scale;
    int64_t first = (int64_t)floor(is_nearest ? centre : centre - support + 0.5);
    if (first + taps > end) first = end - taps;
    firsts[i] = first < lowest ? lowest : first;
    if (is_nearest) weights[i] = 1;
    else set_weights(weights + i * taps, taps, firsts[i], centre, support);
  }
  *filter = (PictureFilter){.count = count,
                            .taps = taps,
                            .begin = firsts[0],
                            .end = firsts[count - 1] + taps,
                            .first = firsts,
                            .weights = weights};
  return 0;
}

/* --- sums ------------------------------------------------------------------------------------- */

enum { LANES = 8, BLOCK = 4 * LANES, PIXEL = 4 };

typedef float Floats __attribute__((vector_size(LANES * sizeof(float))));
typedef int32_t Whole __attribute__((vector_size(LANES * sizeof(int32_t))));
typedef unsigned char Bytes __attribute__((vector_size(LANES)));
typedef float PixelFloats __attribute__((vector_size(PIXEL * sizeof(float))));
typedef int32_t PixelWhole __attribute__((vector_size(PIXEL * sizeof(int32_t))));
typedef unsigned char PixelBytes __attribute__((vector_size(PIXEL)));

#define INLINE static inline __attribute__((always_inline))

/* line[j] = the sum over k of weights[k] * rows[k][j]. */
INLINE void mix_rows(const unsigned char *rows, int64_t row_bytes, const float *weights,
                     int64_t taps, int64_t count, float *restrict line) {
  int64_t j = 0;
  for (; j + BLOCK <= count; j += BLOCK) {
    Floats sum[BLOCK / LANES] = {{0}};
    for (int64_t k = 0; k < taps; k++)
      for (int b = 0; b < BLOCK / LANES; b++) {
        Bytes bytes;
        memcpy(&bytes, rows + k * row_bytes + j + b * LANES, sizeof bytes);
        Whole whole = __builtin_convertvector(bytes, Whole);
        sum[b] += weights[k] * __builtin_convertvector(whole, Floats);
      }
    memcpy(line + j, sum, sizeof sum);
  }
  for (; j < count; j++) {
    float sum = 0;
    for (int64_t k = 0; k < taps; k++) sum += weights[k] * (float)rows[k * row_bytes + j];
    line[j] = sum;
  }
}

/* Pixel i of `bytes` is rounded from the sum over k of weights[i][k] * pixel first[i] - left + k. */
INLINE void mix_pixels(const PictureFilter *filter, int64_t left, int pixel, int64_t taps,
                       const float *restrict line, unsigned char *restrict bytes) {
  for (int64_t i = 0; i < filter->count; i++) {
    const float *weights = filter->weights + i * taps;
    const float *from = line + (filter->first[i] - left) * pixel;
    PixelFloats sum = {0};
    for (int64_t k = 0; k < taps; k++, from += pixel) {
      PixelFloats values;
      memcpy(&values, from, sizeof values);
      sum += weights[k] * values;
    }
    PixelWhole whole = __builtin_convertvector(sum + 0.5f, PixelWhole);
    PixelWhole is_more = whole > 255; /* by rounding, in a sum of very many */
    whole = (whole & ~is_more) | (is_more & 255);
    PixelBytes rounded = __builtin_convertvector(whole, PixelBytes);
    memcpy(bytes + PIXEL * i, &rounded, sizeof rounded);
  }
}

INLINE void mix_greys(const PictureFilter *filter, int64_t left, int64_t taps,
                      const float *restrict line, unsigned char *restrict bytes) {
  for (int64_t i = 0; i < filter->count; i++) {
    const float *weights = filter->weights + i * taps, *from = line + filter->first[i] - left;
    float sum = 0;
    for (int64_t k = 0; k < taps; k++) sum += weights[k] * from[k];
    int whole = (int)(sum + 0.5f);
    bytes[i] = (unsigned char)(whole > 255 ? 255 : whole);
  }
}

/* The usual numbers of taps are constants of copies of their own. */
INLINE void mix_across(const PictureFilter *filter, int64_t left, int pixel, const float *line,
                       unsigned char *bytes) {
  int64_t taps = filter->taps;
  if (pixel == 1) mix_greys(filter, left, taps, line, bytes);
  else if (pixel == 3) mix_pixels(filter, left, 3, taps, line, bytes);
  else if (taps == 3) mix_pixels(filter, left, 4, 3, line, bytes);
  else if (taps == 5) mix_pixels(filter, left, 4, 5, line, bytes);
  else mix_pixels(filter, left, 4, taps, line, bytes);
}

/* Row y of what is scaled: one row of pixels of 1 or 4 bytes. */
INLINE void scale_row(const PictureScaling *scaling, int64_t y, float *line, unsigned char *bytes) {
  const Picture *picture = scaling->picture;
  const PictureFilter *down = &scaling->down, *across = &scaling->across;
  int64_t row = picture->width * picture->pixel, skipped = across->begin - scaling->left;
  const unsigned char *rows =
      picture->bytes + (down->first[y] - scaling->top) * row + skipped * picture->pixel;
  mix_rows(rows, row, down->weights + y * down->taps, down->taps,
           (across->end - across->begin) * picture->pixel, line);
  mix_across(across, across->begin, picture->pixel, line, bytes);
}

/* A row of each plane. */
typedef struct PlaneRows {
  unsigned char *first;
  int64_t plane; /* bytes from one to the next */
  bool is_mirrored;
} PlaneRows;

INLINE void split_pixels(const unsigned char *restrict pixels, int pixel, int channels,
                         int64_t count, const PlaneRows *rows) {
  for (int c = 0; c < channels; c++) {
    unsigned char *restrict row = rows->first + c * rows->plane;
    if (rows->is_mirrored)
      for (int64_t x = 0; x < count; x++) row[count - 1 - x] = pixels[x * pixel + c];
    else
      for (int64_t x = 0; x < count; x++) row[x] = pixels[x * pixel + c];
  }
}

INLINE void split_row(const unsigned char *pixels, int pixel, int64_t count,
                      const PlaneRows *rows) {
  if (pixel == 1) split_pixels(pixels, 1, 1, count, rows);
  else if (pixel == 3) split_pixels(pixels, 3, 3, count, rows);
  else split_pixels(pixels, 4, 3, count, rows);
}

/* --- for processors --------------------------------------------------------------------------- */

typedef struct RowWork {
  void (*scale)(const PictureScaling *scaling, int64_t y, float *line, unsigned char *bytes);
  void (*split)(const unsigned char *pixels, int pixel, int64_t count, const PlaneRows *rows);
} RowWork;

#define DEFINE_ROW_WORK(suffix, attributes)                                                        \
  attributes static void scale_row_##suffix(const PictureScaling *scaling, int64_t y, float *line, \
                                            unsigned char *bytes) {                                \
    scale_row(scaling, y, line, bytes);                                                            \
  }                                                                                                \
  attributes static void split_row_##suffix(const unsigned char *pixels, int pixel, int64_t count, \
                                            const PlaneRows *rows) {                               \
    split_row(pixels, pixel, count, rows);                                                         \
  }                                                                                                \
  static const RowWork row_work_##suffix = {scale_row_##suffix, split_row_##suffix};

DEFINE_ROW_WORK(any, )
#if defined __x86_64__ && !defined DATA_PLAIN_ROWS /* which tests define */
DEFINE_ROW_WORK(avx2, __attribute__((target("avx2"))))
static const RowWork *find_row_work(void) {
  return __builtin_cpu_supports("avx2") ? &row_work_avx2 : &row_work_any;
}
#else
static const RowWork *find_row_work(void) { return &row_work_any; }
#endif

/* --- pictures --------------------------------------------------------------------------------- */

/* Where row y of the part belongs, of `count` pixels of so many bytes. */
static unsigned char *target_row(const PictureTarget *target, int64_t y, int64_t count, int pixel) {
  int64_t left = target->is_mirrored ? target->width - target->left - count : target->left;
  NNC_ASSERT(left >= 0 && left + count <= target->width && target->top + y < target->height);
  return target->bytes + ((target->top + y) * target->width + left) * pixel;
}

static void split_to(const RowWork *work, const unsigned char *pixels, int pixel, int64_t count,
                     int64_t y, const PictureTarget *target) {
  PlaneRows rows = {target_row(target, y, count, 1), target->height * target->width,
                    target->is_mirrored};
  work->split(pixels, pixel, count, &rows);
}

int data_picture_scale(const PictureScaling *scaling, DataScratch *scratch,
                       const PictureTarget *target) {
  const RowWork *work = find_row_work();
  int64_t height = scaling->down.count, width = scaling->across.count;
  int64_t values = (scaling->across.end - scaling->across.begin) * scaling->picture->pixel;
  int pixel = data_scaled_pixel(scaling->picture->channels);
  float *line = data_scratch_take(scratch, DATA_BUFFER_LINE,
                                  (size_t)(values + 1) * sizeof *line + (size_t)(width * pixel));
  if (!line) return -1;
  line[values] = 0; /* is read with the last pixel of three channels */
  unsigned char *pixels = (unsigned char *)(line + values + 1);
  for (int64_t y = 0; y < height; y++) {
    if (!target->is_planes) {
      work->scale(scaling, y, line, target_row(target, y, width, pixel));
      continue;
    }
    work->scale(scaling, y, line, pixels);
    split_to(work, pixels, pixel, width, y, target);
  }
  return 0;
}

void data_picture_store(const Picture *picture, const PicturePart *part,
                        const PictureTarget *target) {
  const RowWork *work = find_row_work();
  int pixel = picture->pixel;
  NNC_ASSERT(part->top >= 0 && part->top + part->height <= picture->height);
  NNC_ASSERT(part->left >= 0 && part->left + part->width <= picture->width);
  for (int64_t y = 0; y < part->height; y++) {
    const unsigned char *row =
        picture->bytes + ((part->top + y) * picture->width + part->left) * pixel;
    if (target->is_planes) split_to(work, row, pixel, part->width, y, target);
    else memcpy(target_row(target, y, part->width, pixel), row, (size_t)(part->width * pixel));
  }
}
