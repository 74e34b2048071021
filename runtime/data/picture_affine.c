/* Affine maps of pixels, as torchvision's RandomAffine makes them: each pixel looks back to where it comes
 * from, and takes the mean of the four around that place by their distance. */
#include "data/picture_affine.h"

#include <math.h>
#include <string.h>

PictureMap data_affine_map(double angle, double shear, double scale, double right, double down) {
  /* there: scale * turn * (x + y tan(shear), y), moved; the inverse of it */
  double s = sin(angle), c = cos(angle), t = tan(shear);
  PictureMap map = {
      .a = (c + s * t) / scale, .b = (s - c * t) / scale, .c = -s / scale, .d = c / scale};
  map.tx = -(map.a * right + map.b * down);
  map.ty = -(map.c * right + map.d * down);
  return map;
}

/* A pixel, or the filling outside of the picture. */
static void look(const Picture *picture, int64_t y, int64_t x, unsigned char fill,
                 unsigned char *pixel) {
  bool is_inside = y >= 0 && y < picture->height && x >= 0 && x < picture->width;
  if (is_inside)
    memcpy(pixel, picture->bytes + (y * picture->width + x) * picture->pixel,
           (size_t)picture->pixel);
  else memset(pixel, fill, (size_t)picture->pixel);
}

static void mix(const Picture *picture, double y, double x, unsigned char fill,
                unsigned char *pixel) {
  unsigned char corner[4][4];
  int64_t top = (int64_t)floor(y), left = (int64_t)floor(x);
  double down = y - floor(y), right = x - floor(x);
  for (int i = 0; i < 4; i++) look(picture, top + i / 2, left + i % 2, fill, corner[i]);
  for (int k = 0; k < picture->pixel; k++) {
    double above = corner[0][k] + (corner[1][k] - corner[0][k]) * right;
    double below = corner[2][k] + (corner[3][k] - corner[2][k]) * right;
    pixel[k] = (unsigned char)floor(above + (below - above) * down + 0.5);
  }
}

void data_affine_pixels(const Picture *picture, const PictureMap *map, bool is_nearest,
                        unsigned char fill, unsigned char *bytes) {
  double middle_x = (double)(picture->width - 1) / 2, middle_y = (double)(picture->height - 1) / 2;
  double most = (double)(picture->width + picture->height) + 2; /* beyond is outside anyway */
  for (int64_t row = 0; row < picture->height; row++)
    for (int64_t column = 0; column < picture->width; column++) {
      double x = (double)column - middle_x, y = (double)row - middle_y;
      double from_x = fmax(-most, fmin(most, map->a * x + map->b * y + map->tx + middle_x));
      double from_y = fmax(-most, fmin(most, map->c * x + map->d * y + map->ty + middle_y));
      unsigned char *pixel = bytes + (row * picture->width + column) * picture->pixel;
      if (is_nearest)
        look(picture, (int64_t)floor(from_y + 0.5), (int64_t)floor(from_x + 0.5), fill, pixel);
      else mix(picture, from_y, from_x, fill, pixel);
    }
}
