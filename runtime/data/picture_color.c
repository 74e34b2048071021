/* Colours of pictures, by the formulas of Pillow's ImageEnhance, which torchvision's ColorJitter uses too:
 * a grey is .299 red + .587 green + .114 blue (ITU-R BT.601), and a change mixes the picture with black,
 * with its mean grey or with the pixel's grey.  The hue is that of the hexagonal cone (Smith 1978). */
#include "data/picture_color.h"

#include <math.h>

#include "data/picture.h"

static unsigned char to_byte(double value) {
  return value <= 0 ? 0 : value >= 255 ? 255 : (unsigned char)(value + 0.5);
}

/* Every channel by a table: factor * value + rest. */
static void change_values(const Picture *picture, unsigned char *bytes, double factor,
                          double rest) {
  unsigned char table[256];
  for (int v = 0; v < 256; v++) table[v] = to_byte(factor * v + rest);
  int64_t pixels = picture->height * picture->width;
  for (int64_t i = 0; i < pixels; i++, bytes += picture->pixel)
    for (int c = 0; c < picture->channels; c++) bytes[c] = table[bytes[c]];
}

static double mean_grey(const Picture *picture, const unsigned char *bytes) {
  int64_t pixels = picture->height * picture->width, sum = 0;
  for (int64_t i = 0; i < pixels; i++, bytes += picture->pixel)
    sum += picture->channels == 1 ? 65536 * (int64_t)bytes[0] : data_picture_grey(bytes);
  return (double)sum / 65536 / (double)pixels;
}

static void saturate(unsigned char *pixel, double factor) {
  double grey = (double)data_picture_grey(pixel) / 65536;
  for (int c = 0; c < 3; c++) pixel[c] = to_byte(factor * pixel[c] + (1 - factor) * grey);
}

/* The hue counts sixths of the circle from red; between the least and the most of the three channels
 * one rises or falls along each sixth. */
static void turn_hue(unsigned char *pixel, double part) {
  double red = pixel[0], green = pixel[1], blue = pixel[2];
  double most = fmax(red, fmax(green, blue)), least = fmin(red, fmin(green, blue));
  double range = most - least;
  if (range == 0) return;
  double hue = most == red     ? (green - blue) / range
               : most == green ? 2 + (blue - red) / range
                               : 4 + (red - green) / range;
  for (int c = 0; c < 3; c++) {
    double place = hue + 6 * part +
                   (c == 0   ? 2
                    : c == 1 ? 0
                             : 4); /* 1 to 3: this is the greatest */
    place -= 6 * floor(place / 6);
    double share = fmin(place, fmin(1, fmax(0, 4 - place)));
    pixel[c] = to_byte(least + range * share);
  }
}

void data_color_change(Picture *picture, unsigned char *bytes, enum DataColor color,
                       double factor) {
  int64_t pixels = picture->height * picture->width;
  if (color == DATA_COLOR_BRIGHTNESS) {
    change_values(picture, bytes, factor, 0);
  } else if (color == DATA_COLOR_CONTRAST) {
    change_values(picture, bytes, factor, (1 - factor) * mean_grey(picture, bytes));
  } else if (picture->channels == 3) {
    for (int64_t i = 0; i < pixels; i++, bytes += picture->pixel)
      if (color == DATA_COLOR_SATURATION) saturate(bytes, factor);
      else turn_hue(bytes, factor);
  }
}
