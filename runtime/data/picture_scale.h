/* Scaling of pictures. */
#ifndef NNC_DATA_PICTURE_SCALE_H
#define NNC_DATA_PICTURE_SCALE_H

#include <stdbool.h>

#include "data/pixels.h"
#include "data/scratch.h"

/* Scaling along one axis: the places from `start` to `start + length` of the source's `from` become
 * `to` places, of which those from `first` on are computed. */
typedef struct PictureAxis {
  int64_t from;
  double start, length;
  int64_t to, first, count;
} PictureAxis;

/* Along one axis: result i is the sum of `taps` of the source's places from first[i] on, weighed by
 * weights[i * taps] and the following.  Memory is the scratch's. */
typedef struct PictureFilter {
  int64_t count, taps;
  int64_t begin, end; /* the places that are read */
  const int64_t *first;
  const float *weights;
} PictureFilter;

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

/* A picture whose pixel (0, 0) is the place (top, left) of the source, and its filters. */
typedef struct PictureScaling {
  const Picture *picture;
  int64_t top, left;
  PictureFilter down, across;
} PictureScaling;

/* Bytes of a pixel of what is scaled, when it is no planes. */
static inline int data_scaled_pixel(int channels) { return channels == 1 ? 1 : 4; }
/* -1 when there is no memory. */
int data_picture_scale(const PictureScaling *scaling, DataScratch *scratch,
                       const PictureTarget *target);

/* The part as it is; a pixel keeps its bytes. */
void data_picture_store(const Picture *picture, const PicturePart *part,
                        const PictureTarget *target);

#endif
