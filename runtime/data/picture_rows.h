/* Rows of pictures that are scaled, by the processor's vector instructions. */
#ifndef NNC_DATA_PICTURE_ROWS_H
#define NNC_DATA_PICTURE_ROWS_H

#include <stdbool.h>

#include "data/picture_filter.h"

/* A row of each plane. */
typedef struct PicturePlaneRows {
  unsigned char *first;
  int64_t plane; /* bytes from one to the next */
  bool is_mirrored;
} PicturePlaneRows;

typedef struct PictureRowWork {
  /* Row y of what is scaled: one row of pixels of data_scaled_pixel() bytes.  `line` is memory for a
   * row of the source's floats and one more, which is 0. */
  void (*scale)(const PictureScaling *scaling, int64_t y, float *line, unsigned char *bytes);
  /* Pixels of so many bytes become rows of planes: 3 of 4 bytes' channels, else all. */
  void (*split)(const unsigned char *pixels, int pixel, int64_t count,
                const PicturePlaneRows *rows);
} PictureRowWork;

/* The fastest that this processor runs; all give the same bits. */
const PictureRowWork *data_picture_row_work(void);
/* For processors with AVX2; on x86-64 alone. */
const PictureRowWork *data_picture_row_work_avx2(void);

#endif
