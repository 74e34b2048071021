/* Scaling pictures, one axis after the other, down first.
 *
 * A row of the result is the weighted sum of rows of the source; its pixels are weighted sums of the
 * pixels of that row (picture_rows.h).  Between the two nothing is rounded. */
#include "data/picture_scale.h"

#include <math.h>
#include <string.h>

#include "data/picture_rows.h"
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

/* --- pictures --------------------------------------------------------------------------------- */

/* Where row y of the part belongs, of `count` pixels of so many bytes. */
static unsigned char *target_row(const PictureTarget *target, int64_t y, int64_t count, int pixel) {
  int64_t left = target->is_mirrored ? target->width - target->left - count : target->left;
  NNC_ASSERT(left >= 0 && left + count <= target->width && target->top + y < target->height);
  return target->bytes + ((target->top + y) * target->width + left) * pixel;
}

static void split_to(const PictureRowWork *work, const unsigned char *pixels, int pixel,
                     int64_t count, int64_t y, const PictureTarget *target) {
  PicturePlaneRows rows = {target_row(target, y, count, 1), target->height * target->width,
                           target->is_mirrored};
  work->split(pixels, pixel, count, &rows);
}

int data_picture_scale(const PictureScaling *scaling, DataScratch *scratch,
                       const PictureTarget *target) {
  const PictureRowWork *work = data_picture_row_work();
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
  const PictureRowWork *work = data_picture_row_work();
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
