/* Pictures in memory. */
#ifndef NNC_DATA_PIXELS_H
#define NNC_DATA_PIXELS_H

#include <stdint.h>

/* Bytes: rows from the top, the channels of a pixel side by side: 1 (grey) or 3 (red,
 * green, blue), whose pixel may have a fourth byte that means nothing. */
typedef struct Picture {
  int64_t height, width;
  int channels;
  int pixel;                  /* bytes from one pixel to the next: 1, 3 or 4 */
  const unsigned char *bytes; /* [height][width][pixel], in a buffer of the thread's */
} Picture;

typedef struct PicturePart {
  int64_t top, left, height, width;
} PicturePart;

/* Pixels of a picture, as decoded and as computed by scaling, at most. */
enum { PICTURE_PIXELS = 1 << 27, PICTURE_TOO_LARGE = -2 };

#endif
