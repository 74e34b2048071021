/* A decoded picture: interleaved bytes, rows from the top, [height][width][channels], 1 channel
 * (grey) or 3 (red, green, blue). */
#ifndef NNC_DATA_PICTURE_H
#define NNC_DATA_PICTURE_H

#include <stddef.h>
#include <stdint.h>

#include "data/call.h"

typedef struct Picture {
  int64_t height, width;
  int channels;
  unsigned char *bytes; /* allocated */
} Picture;

/* Pixels of a picture, as decoded and as computed by scaling, at most. */
enum { PICTURE_PIXELS = 1 << 27, PICTURE_TOO_LARGE = -2 };

/* Decodes a file in memory to `channels` channels: JPEG, or PNG (over black where it is
 * transparent).  0, or -1 with a message; then there is nothing to free. */
int data_picture_decode(const DataContext *context, const char *name, const unsigned char *file,
                        size_t size, int channels, Picture *picture);

#endif
