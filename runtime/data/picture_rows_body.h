/* Rows of pictures that are scaled: the loops, for one instruction set.
 *
 * A file that includes this includes picture_rows.h before and defines PICTURE_ROW_WORK, the name of
 * the work that is made here; it may define PICTURE_ROWS_AVX2.  All loops are over floats side by side
 * (bytes of a row, then the channels of a pixel), so that they become vector instructions.  Every set
 * gives the same bits: each sum has one order, and no product is fused into a sum
 * (-ffp-contract=off). */
#include <stdint.h>
#include <string.h>

#ifdef PICTURE_ROWS_AVX2
#include <immintrin.h>
#endif

enum { LANES = 8, BLOCK = 4 * LANES, PIXEL = 4 };

typedef float Floats __attribute__((vector_size(LANES * sizeof(float))));
typedef int32_t Whole __attribute__((vector_size(LANES * sizeof(int32_t))));
typedef uint16_t Halves __attribute__((vector_size(LANES * sizeof(uint16_t))));
typedef unsigned char Bytes __attribute__((vector_size(LANES)));
typedef float PixelFloats __attribute__((vector_size(PIXEL * sizeof(float))));
typedef int32_t PixelWhole __attribute__((vector_size(PIXEL * sizeof(int32_t))));
typedef uint16_t PixelHalves __attribute__((vector_size(PIXEL * sizeof(uint16_t))));
typedef unsigned char PixelBytes __attribute__((vector_size(PIXEL)));

#define INLINE static inline __attribute__((always_inline))

/* --- bytes and floats ------------------------------------------------------------------------- */

/* *sums += weight * the bytes from `from` on. */
INLINE void add_weighted(Floats *sums, float weight, const unsigned char *from) {
#ifdef PICTURE_ROWS_AVX2 /* since gcc 12 makes several instructions of a conversion */
  Floats values = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)from)));
#else
  Bytes bytes;
  memcpy(&bytes, from, sizeof bytes);
  /* In two steps, since gcc 12 makes a step from bytes to 32 bits of each byte by itself. */
  Whole whole = __builtin_convertvector(__builtin_convertvector(bytes, Halves), Whole);
  Floats values = __builtin_convertvector(whole, Floats);
#endif
  *sums += weight * values;
}

/* Rounded; what is above 255 by rounding, in a sum of very many, becomes 255. */
INLINE void store_pixel(PixelFloats sum, unsigned char *bytes) {
  PixelWhole whole = __builtin_convertvector(sum + 0.5f, PixelWhole);
#ifdef PICTURE_ROWS_AVX2
  __m128i narrow = _mm_packs_epi32((__m128i)whole, (__m128i)whole);
  int rounded = _mm_cvtsi128_si32(_mm_packus_epi16(narrow, narrow));
#else
  PixelWhole is_more = whole > 255;
  whole = (whole & ~is_more) | (is_more & 255);
  PixelBytes rounded =
      __builtin_convertvector(__builtin_convertvector(whole, PixelHalves), PixelBytes);
#endif
  memcpy(bytes, &rounded, PIXEL);
}

/* --- sums ------------------------------------------------------------------------------------- */

/* line[j] = the sum over k of weights[k] * rows[k][j]. */
INLINE void mix_rows(const unsigned char *rows, int64_t row_bytes, const float *weights,
                     int64_t taps, int64_t count, float *restrict line) {
  int64_t j = 0;
  for (; j + BLOCK <= count; j += BLOCK) {
    Floats a = {0}, b = {0}, c = {0}, d = {0};
    const unsigned char *from = rows + j;
    for (int64_t k = 0; k < taps; k++, from += row_bytes) {
      add_weighted(&a, weights[k], from);
      add_weighted(&b, weights[k], from + LANES);
      add_weighted(&c, weights[k], from + 2 * LANES);
      add_weighted(&d, weights[k], from + 3 * LANES);
    }
    memcpy(line + j, &a, sizeof a);
    memcpy(line + j + LANES, &b, sizeof b);
    memcpy(line + j + 2 * LANES, &c, sizeof c);
    memcpy(line + j + 3 * LANES, &d, sizeof d);
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
    store_pixel(sum, bytes + PIXEL * i);
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
static void scale_row(const PictureScaling *scaling, int64_t y, float *line, unsigned char *bytes) {
  const Picture *picture = scaling->picture;
  const PictureFilter *down = &scaling->down, *across = &scaling->across;
  int64_t row = picture->width * picture->pixel, skipped = across->begin - scaling->left;
  const unsigned char *rows =
      picture->bytes + (down->first[y] - scaling->top) * row + skipped * picture->pixel;
  mix_rows(rows, row, down->weights + y * down->taps, down->taps,
           (across->end - across->begin) * picture->pixel, line);
  mix_across(across, across->begin, picture->pixel, line, bytes);
}

INLINE void split_pixels(const unsigned char *restrict pixels, int pixel, int channels,
                         int64_t count, const PicturePlaneRows *rows) {
  for (int c = 0; c < channels; c++) {
    unsigned char *restrict row = rows->first + c * rows->plane;
    if (rows->is_mirrored)
      for (int64_t x = 0; x < count; x++) row[count - 1 - x] = pixels[x * pixel + c];
    else
      for (int64_t x = 0; x < count; x++) row[x] = pixels[x * pixel + c];
  }
}

static void split_row(const unsigned char *pixels, int pixel, int64_t count,
                      const PicturePlaneRows *rows) {
  if (pixel == 1) split_pixels(pixels, 1, 1, count, rows);
  else if (pixel == 3) split_pixels(pixels, 3, 3, count, rows);
  else split_pixels(pixels, 4, 3, count, rows);
}

static const PictureRowWork PICTURE_ROW_WORK = {scale_row, split_row};
