/* Colours of a picture in memory. */
#ifndef NNC_DATA_PICTURE_COLOR_H
#define NNC_DATA_PICTURE_COLOR_H

#include "data/pixels.h"

/* In this order they are the arguments of color_jitter. */
enum DataColor {
  DATA_COLOR_BRIGHTNESS, /* times the factor */
  DATA_COLOR_CONTRAST,   /* away from the mean grey of the picture, by the factor */
  DATA_COLOR_SATURATION, /* away from the pixel's grey, by the factor */
  DATA_COLOR_HUE,        /* turned by this part of the circle of colours */
  DATA_COLORS
};

/* Changes the pixels in place; what comes out is rounded, and cut to 0 and 255.  A grey picture has
 * no saturation and no hue. */
void data_color_change(Picture *picture, unsigned char *bytes, enum DataColor color, double factor);

#endif
