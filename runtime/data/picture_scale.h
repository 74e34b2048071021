/* Scaling of pictures. */
#ifndef NNC_DATA_PICTURE_SCALE_H
#define NNC_DATA_PICTURE_SCALE_H

#include <stdbool.h>

#include "data/picture_filter.h"
#include "data/scratch.h"

/* Scaling along one axis: the places from `start` to `start + length` of the source's `from` become
 * `to` places, of which those from `first` on are computed. */
typedef struct PictureAxis {
  int64_t from;
  double start, length;
  int64_t to, first, count;
} PictureAxis;

/* The triangle filter whose support grows with the reduction, so that what gets smaller is averaged,
 * not skipped: what others call antialiased bilinear interpolation.  Pixel centres lie at halves.
 * With `is_nearest` the place that a result's centre falls on.  A result is the same whatever others
 * are computed with it.  -1 when there is no memory. */
int data_picture_filter(const PictureAxis *axis, bool is_nearest, DataScratch *scratch,
                        enum DataBuffer buffer, PictureFilter *filter);

/* Where results go: [height][width] pixels side by side, or planes of them, one a channel, of which the
 * picture becomes the part from (top, left) on.  Planes may be mirrored: the first column of all
 * is the rightmost. */
typedef struct PictureTarget {
  unsigned char *bytes;
  int64_t height, width;
  int64_t top, left;
  bool is_planes, is_mirrored;
} PictureTarget;

/* -1 when there is no memory. */
int data_picture_scale(const PictureScaling *scaling, DataScratch *scratch,
                       const PictureTarget *target);

/* The part as it is; a pixel keeps its bytes. */
void data_picture_store(const Picture *picture, const PicturePart *part,
                        const PictureTarget *target);

#endif
