/* Pictures in files. */
#ifndef NNC_DATA_PICTURE_H
#define NNC_DATA_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/call.h"
#include "data/pixels.h"
#include "data/scratch.h"

/* A file whose beginning was read: what it says of the picture. */
typedef struct PictureFile {
  const DataContext *context; /* of messages */
  const char *name;
  const unsigned char *bytes;
  size_t size;
  const struct PictureFormat *format;
  int64_t height, width; /* as it is to be seen */
  /* How the stored picture lies, 1 to 8 as Exif counts: 1 as it is to be seen; see picture_turn.h. */
  int orientation;
  bool has_palette; /* whose indices are not its greys */
  const char
      *unindexed; /* "a JPEG file": whose numbers are no classes; NULL: indices or whole greys */
  bool takes_indices; /* decoding gives a palette's indices */
} PictureFile;

/* One kind of files.  All return 0, or -1 with a message. */
typedef struct PictureFormat {
  const char *name;
  int (*read_head)(PictureFile *file);
  /* Decodes what is stored, reduced by `divisor`, at least the part `wanted` of that; *part: what the
   * picture is of it. */
  int (*decode)(const PictureFile *file, int divisor, const PicturePart *wanted,
                DataScratch *scratch, Picture *picture, PicturePart *part);
  int color_pixel;  /* bytes of a pixel of three channels */
  int most_divisor; /* 1, or also 2, 4, ... up to this */
} PictureFormat;

extern const PictureFormat data_picture_jpeg, data_picture_png;

/* Finds the format and what the file says: JPEG, or PNG (over black where it is transparent). */
int data_picture_look(const DataContext *context, const char *name, const unsigned char *bytes,
                      size_t size, PictureFile *file);

/* Decoding gives the indices of the file's palette, or the greys of one that has none; 0, or -1 with a message. */
int data_picture_take_indices(PictureFile *file);

/* Decodes at least the part `part` of the picture as it is to be seen, reduced by `divisor`, to
 * `picture->channels` channels; *part becomes what the picture has. */
int data_picture_decode(const PictureFile *file, int divisor, DataScratch *scratch,
                        Picture *picture, PicturePart *part);

/* The grey of red, green and blue in 65536ths (ITU-R BT.601), in whole numbers: a sum of them is the same in any order. */
static inline int64_t data_picture_grey(const unsigned char *pixel) {
  return 19595 * pixel[0] + 38470 * pixel[1] + 7471 * pixel[2];
}

/* Messages, for the formats. */
int data_picture_fail(const PictureFile *file, const char *reason);
int data_picture_check_size(const PictureFile *file, int64_t height, int64_t width);

#endif
