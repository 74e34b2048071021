/* Pictures and the filters that scale them. */
#ifndef NNC_DATA_PICTURE_FILTER_H
#define NNC_DATA_PICTURE_FILTER_H

#include <stdint.h>

#include "data/pixels.h"

/* Along one axis: result i is the sum of `taps` of the source's places from first[i] on, weighed by
 * weights[i * taps] and the following.  Memory is the scratch's. */
typedef struct PictureFilter {
  int64_t count, taps;
  int64_t begin, end; /* the places that are read */
  const int64_t *first;
  const float *weights;
} PictureFilter;

/* A picture whose pixel (0, 0) is the place (top, left) of the source, and its filters. */
typedef struct PictureScaling {
  const Picture *picture;
  int64_t top, left;
  PictureFilter down, across;
} PictureScaling;

/* Bytes of a pixel of what is scaled, when it is no planes. */
static inline int data_scaled_pixel(int channels) { return channels == 1 ? 1 : 4; }

#endif
