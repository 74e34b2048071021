/* What the stages make of a picture: noted first, and computed when all is known.
 *
 * A view says what is to be seen of a picture: a part of it (the base), scaled to a size, a part of
 * that, which may reach beyond it, mirrored or not.  So a resize that is followed by a crop computes,
 * and decodes, no more than the crop keeps.  What cannot be noted on top, as a second scaling,
 * computes the pixels first. */
#ifndef NNC_DATA_PICTURE_VIEW_H
#define NNC_DATA_PICTURE_VIEW_H

#include <stdbool.h>

#include "data/picture.h"
#include "data/picture_affine.h"
#include "data/picture_color.h"

/* Where a point of the file's picture is seen: (x, y) at (a x + b y + x, c x + d y + y); edges, not middles of pixels,
 * are whole numbers. */
typedef struct PicturePlace {
  double a, b, x, c, d, y;
} PicturePlace;

typedef struct PictureView {
  const PictureFile *file;
  bool has_pixels;        /* these are no longer the file's, but computed: */
  Picture picture;        /* before that, no more than its channels and their bytes */
  enum DataBuffer buffer; /* that has them */
  PicturePart base;       /* what is scaled, of the one or the other */
  int64_t height, width;  /* that the base is scaled to */
  PicturePart part;       /* of this; what is seen */
  PicturePart window;     /* of the same: what lies beyond was cut off before the part was padded */
  unsigned char fill;     /* and has this value */
  bool is_mirrored;       /* left and right of the part change places */
  bool is_index;          /* values are not mixed: scaling takes the nearest */
  bool is_sizes;          /* only sizes are asked for: nothing is computed, no pixels are there */
  PicturePlace place;
  DataScratch *scratch;
} PictureView;

PictureView data_view_file(const PictureFile *file, int channels, DataScratch *scratch);

/* Each returns 0, -1 after a message, or PICTURE_TOO_LARGE.  `crop` takes a part of what is seen, `pad` adds
 * pixels of the value around it. */
int data_view_scale(PictureView *view, int64_t height, int64_t width);
void data_view_crop(PictureView *view, PicturePart part);
int data_view_pad(PictureView *view, int64_t height, int64_t width, unsigned char value);

void data_view_mirror(PictureView *view);

/* Computes what is seen, and changes its colours; values that are classes have none: an error. */
int data_view_color(PictureView *view, enum DataColor color, double factor);

/* Computes what is seen, and maps its pixels (picture_affine.h), or fills a part of it with the value. */
int data_view_map(PictureView *view, PictureMap map, unsigned char fill);
int data_view_fill(PictureView *view, PicturePart part, unsigned char value);

/* What is kept of a picture to go on from here.  Whether that is pixels of its file, which are not scaled, and
 * which part of it is seen; else what is seen is computed, and is the whole of view->picture. */
bool data_view_is_part(const PictureView *view, PicturePart *part);
int data_view_settle(PictureView *view);

/* Computes what is seen: planes [channels][height][width]. */
int data_view_finish(PictureView *view, unsigned char *planes);

#endif
