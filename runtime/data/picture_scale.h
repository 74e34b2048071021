/* Scaling of pictures. */
#ifndef NNC_DATA_PICTURE_SCALE_H
#define NNC_DATA_PICTURE_SCALE_H

#include "data/picture.h"

/* Of a picture, or of what it is to be scaled to. */
typedef struct PicturePart {
  int64_t top, left, height, width;
} PicturePart;

/* Makes it the part of what it is when scaled to height x width by the triangle filter whose
 * support grows with the reduction, so that what gets smaller is averaged, not skipped: what
 * others call antialiased bilinear interpolation.  Pixel centres lie at halves.  The part has the
 * bits that it has in the whole.  -1 when there is no memory, PICTURE_TOO_LARGE when the part has
 * too many pixels. */
int data_picture_scale(Picture *picture, int64_t height, int64_t width, PicturePart part);

#endif
