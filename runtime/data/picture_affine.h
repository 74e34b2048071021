/* Affine maps of pixels, and filling a part of them. */
#ifndef NNC_DATA_PICTURE_AFFINE_H
#define NNC_DATA_PICTURE_AFFINE_H

#include <stdbool.h>

#include "data/pixels.h"

/* Where each pixel comes from: with x to the right and y down from the middle of the picture,
 * (x, y) is seen at (a x + b y + tx, c x + d y + ty) of what was there. */
typedef struct PictureMap {
  double a, b, tx, c, d, ty;
} PictureMap;

/* Turned by `angle` (radians, clockwise as it is seen), sheared, scaled, then moved. */
PictureMap data_affine_map(double angle, double shear, double scale, double right, double down);

/* Writes picture->height * width pixels of the same form; between pixels is interpolated, or `is_nearest`
 * takes the nearest; what comes from outside is `fill`. */
void data_affine_pixels(const Picture *picture, const PictureMap *map, bool is_nearest,
                        unsigned char fill, unsigned char *bytes);

#endif
