/* Turning pictures to the way in which they are to be seen. */
#include "data/picture_turn.h"

#include <string.h>

/* --- the note --------------------------------------------------------------------------------- */

static unsigned read_bytes(const unsigned char *at, int count, bool is_big) {
  unsigned value = 0;
  for (int i = 0; i < count; i++) value = value << 8 | at[is_big ? i : count - 1 - i];
  return value;
}

/* The first directory's entry 0x112, a number of 16 bits.  Anything else is no note: what is seen of
 * the picture does not depend on it. */
int data_turn_read(const unsigned char *exif, size_t size) {
  enum { ORIENTATION = 0x112, SHORT = 3, ENTRY = 12 };
  if (size < 8 || (memcmp(exif, "II*\0", 4) != 0 && memcmp(exif, "MM\0*", 4) != 0)) return 1;
  bool is_big = exif[0] == 'M';
  size_t at = read_bytes(exif + 4, 4, is_big);
  if (at > size - 2) return 1;
  size_t count = read_bytes(exif + at, 2, is_big);
  for (at += 2; count > 0 && at + ENTRY <= size; count--, at += ENTRY) {
    if (read_bytes(exif + at, 2, is_big) != ORIENTATION) continue;
    unsigned value = read_bytes(exif + at + 8, 2, is_big);
    return read_bytes(exif + at + 2, 2, is_big) == SHORT && value >= 1 && value <= 8 ? (int)value
                                                                                     : 1;
  }
  return 1;
}

/* --- places ----------------------------------------------------------------------------------- */

/* What is seen is the stored picture transposed (or not) and then mirrored along its axes. */
static bool mirrors_down(int orientation) {
  return orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
}

static bool mirrors_across(int orientation) {
  return orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
}

static PicturePart transpose(PicturePart part) {
  return (PicturePart){part.left, part.top, part.width, part.height};
}

static PicturePart mirror(int orientation, int64_t height, int64_t width, PicturePart part) {
  if (mirrors_down(orientation)) part.top = height - part.top - part.height;
  if (mirrors_across(orientation)) part.left = width - part.left - part.width;
  return part;
}

PicturePart data_turn_back(int orientation, int64_t height, int64_t width,
                           const PicturePart *part) {
  PicturePart back = mirror(orientation, height, width, *part);
  return data_turn_swaps(orientation) ? transpose(back) : back;
}

PicturePart data_turn_forth(int orientation, int64_t height, int64_t width,
                            const PicturePart *part) {
  if (!data_turn_swaps(orientation)) return mirror(orientation, height, width, *part);
  return mirror(orientation, width, height, transpose(*part));
}

/* --- pixels ----------------------------------------------------------------------------------- */

void data_turn_pixels(int orientation, Picture *picture, unsigned char *turned) {
  bool swaps = data_turn_swaps(orientation);
  int64_t height = swaps ? picture->width : picture->height;
  int64_t width = swaps ? picture->height : picture->width, pixel = picture->pixel;
  int64_t row = picture->width * pixel;
  int64_t down = swaps ? pixel : row, across = swaps ? row : pixel; /* in the stored one */
  const unsigned char *first = picture->bytes;
  if (mirrors_down(orientation)) first += (height - 1) * down, down = -down;
  if (mirrors_across(orientation)) first += (width - 1) * across, across = -across;
  for (int64_t y = 0; y < height; y++) {
    const unsigned char *from = first + y * down;
    for (int64_t x = 0; x < width; x++, from += across, turned += pixel)
      for (int64_t c = 0; c < pixel; c++) turned[c] = from[c];
  }
  picture->bytes = turned - height * width * pixel;
  picture->height = height;
  picture->width = width;
}
