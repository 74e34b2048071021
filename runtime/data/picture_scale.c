/* Scaling pictures by the triangle filter, whose support grows with the reduction.
 *
 * Only the part that is kept is computed.  Each row of the source that the part needs is filtered
 * across once, and then added with its weights to the rows of the result that it contributes to:
 * memory and time follow the part and the source, not the size of the whole scaled picture.  A
 * pixel is the same sum, in the same order, whatever part it is computed with. */
#include "data/picture_scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/picture.h"
#include "os/assert.h"

/* Along one axis: result i is a weighted sum of the source's places from first[i] to end[i] - 1.
 * Neither first nor end ever decreases. */
typedef struct Filter {
  int64_t count; /* results */
  int64_t taps;  /* weights stored for each */
  int64_t *first, *end;
  float *weights; /* [count][taps], from first[i] on */
} Filter;

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

/* The results from `start` to `start + count - 1` of `to`. */
static int make_filter(Filter *filter, int64_t from, int64_t to, int64_t start, int64_t count) {
  double scale = (double)from / (double)to, support = scale > 1 ? scale : 1;
  int64_t taps = (int64_t)ceil(support) * 2 + 1;
  if (taps > from) taps = from;
  filter->count = count;
  filter->taps = taps;
  filter->first = malloc((size_t)count * sizeof *filter->first);
  filter->end = malloc((size_t)count * sizeof *filter->end);
  filter->weights = malloc((size_t)(count * taps) * sizeof *filter->weights);
  if (!filter->first || !filter->end || !filter->weights) return -1;
  for (int64_t i = 0; i < count; i++) {
    double centre = ((double)(start + i) + 0.5) * scale;
    int64_t first = (int64_t)floor(centre - support + 0.5);
    if (first < 0) first = 0;
    if (first + taps > from) first = from - taps;
    NNC_ASSERT(first >= 0 && first + taps <= from);
    float *weights = filter->weights + i * taps;
    set_weights(weights, taps, first, centre, support);
    int64_t skipped = 0, used = taps;
    while (skipped < used - 1 && weights[skipped] == 0) skipped++;
    while (used - 1 > skipped && weights[used - 1] == 0) used--;
    memmove(weights, weights + skipped, (size_t)(used - skipped) * sizeof *weights);
    filter->first[i] = first + skipped;
    filter->end[i] = first + used;
  }
  return 0;
}

static void free_filter(Filter *filter) {
  free(filter->first);
  free(filter->end);
  free(filter->weights);
}

/* Pixels of three channels are worked on as four values, which is as fast as one. */
static int padded(int channels) { return channels == 3 ? 4 : 1; }

static void widen(const unsigned char *bytes, int64_t pixels, int channels, float *values) {
  if (channels == 1)
    for (int64_t i = 0; i < pixels; i++) values[i] = bytes[i];
  else
    for (int64_t i = 0; i < pixels; i++)
      for (int c = 0; c < 4; c++) values[4 * i + c] = c < 3 ? bytes[3 * i + c] : 0;
}

/* `row` begins with the place filter->first[0]. */
static void filter_across(const Filter *filter, int channels, const float *row, float *line) {
  for (int64_t i = 0; i < filter->count; i++) {
    const float *weights = filter->weights + i * filter->taps;
    int64_t first = filter->first[i] - filter->first[0], taps = filter->end[i] - filter->first[i];
    float sum[4] = {0};
    if (channels == 1) {
      for (int64_t k = 0; k < taps; k++) sum[0] += weights[k] * row[first + k];
      line[i] = sum[0];
      continue;
    }
    const float *pixel = row + 4 * first;
    for (int64_t k = 0; k < taps; k++, pixel += 4)
      for (int c = 0; c < 4; c++) sum[c] += weights[k] * pixel[c];
    for (int c = 0; c < 4; c++) line[4 * i + c] = sum[c];
  }
}

static void add_weighted(float *restrict target, float weight, const float *restrict line,
                         int64_t count) {
  for (int64_t j = 0; j < count; j++) target[j] += weight * line[j];
}

static unsigned char to_byte(float value) {
  value += 0.5f;
  return value <= 0 ? 0 : value >= 255 ? 255 : (unsigned char)value;
}

static void narrow(const float *values, int64_t pixels, int channels, unsigned char *bytes) {
  if (channels == 1)
    for (int64_t i = 0; i < pixels; i++) bytes[i] = to_byte(values[i]);
  else
    for (int64_t i = 0; i < pixels; i++)
      for (int c = 0; c < 3; c++) bytes[3 * i + c] = to_byte(values[4 * i + c]);
}

/* row: a row of the source, line: one filtered across, target: the part, zeros. */
static void filter_rows(const Picture *picture, const Filter *across, const Filter *down,
                        float *row, float *line, float *target) {
  int64_t left = across->first[0], pixels = across->end[across->count - 1] - left;
  int64_t width = across->count * padded(picture->channels), begin = 0;
  for (int64_t y = down->first[0]; y < down->end[down->count - 1]; y++) {
    widen(picture->bytes + (y * picture->width + left) * picture->channels, pixels,
          picture->channels, row);
    filter_across(across, picture->channels, row, line);
    while (down->end[begin] <= y) begin++;
    NNC_ASSERT(begin < down->count);
    for (int64_t i = begin; i < down->count && down->first[i] <= y; i++)
      add_weighted(target + i * width, down->weights[i * down->taps + y - down->first[i]], line,
                   width);
  }
}

int data_picture_scale(Picture *picture, int64_t height, int64_t width, PicturePart part) {
  if (part.height > PICTURE_PIXELS / part.width) return PICTURE_TOO_LARGE;
  NNC_ASSERT(part.top + part.height <= height && part.left + part.width <= width);
  size_t channels = (size_t)picture->channels, values = (size_t)padded(picture->channels);
  size_t pixels = (size_t)(part.height * part.width);
  Filter across = {0}, down = {0};
  float *row = malloc((size_t)picture->width * values * sizeof *row);
  float *line = malloc((size_t)part.width * values * sizeof *line);
  float *target = calloc(pixels * values, sizeof *target);
  unsigned char *bytes = malloc(pixels * channels);
  int result = row && line && target && bytes ? 0 : -1;
  if (result == 0) result = make_filter(&across, picture->width, width, part.left, part.width);
  if (result == 0) result = make_filter(&down, picture->height, height, part.top, part.height);
  if (result == 0) {
    filter_rows(picture, &across, &down, row, line, target);
    narrow(target, (int64_t)pixels, picture->channels, bytes);
    free(picture->bytes);
    *picture = (Picture){part.height, part.width, picture->channels, bytes};
    bytes = NULL;
  }
  free_filter(&across);
  free_filter(&down);
  free(row);
  free(line);
  free(target);
  free(bytes);
  return result;
}
