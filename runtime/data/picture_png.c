/* PNG files, by libpng: always decoded whole, because each row is coded by the one above. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <png.h>

#include "data/picture.h"
#include "data/picture_turn.h"

/* --- what the file says ----------------------------------------------------------------------- */

/* A chunk is its length, four letters, the data, a checksum.  The data of the first whole one of that name, or NULL. */
static const unsigned char *find_chunk(const PictureFile *file, const char *name, size_t *size) {
  enum { SIGNATURE = 8, HEAD = 8, CHECKSUM = 4 };
  size_t at = SIGNATURE;
  while (at + HEAD + CHECKSUM <= file->size) {
    const unsigned char *chunk = file->bytes + at;
    *size = (size_t)chunk[0] << 24 | (size_t)chunk[1] << 16 | (size_t)chunk[2] << 8 | chunk[3];
    if (*size > file->size - at - HEAD - CHECKSUM) return NULL;
    if (memcmp(chunk + 4, name, 4) == 0) return chunk + HEAD;
    at += HEAD + *size + CHECKSUM;
  }
  return NULL;
}

static int find_orientation(const PictureFile *file) {
  size_t size;
  const unsigned char *note = find_chunk(file, "eXIf", &size);
  return note ? data_turn_read(note, size) : 1;
}

/* Of the first chunk, which libpng has checked. */
static int bits_of(const PictureFile *file) { return file->bytes[24]; }
static int color_type_of(const PictureFile *file) { return file->bytes[25]; }

/* A palette whose colours are 0 0 0, 1 1 1, 2 2 2 ... changes nothing. */
static bool has_palette(const PictureFile *file) {
  size_t size;
  const unsigned char *palette = find_chunk(file, "PLTE", &size);
  if (!palette || color_type_of(file) != PNG_COLOR_TYPE_PALETTE) return false;
  for (size_t i = 0; i < size; i++)
    if (palette[i] != i / 3) return true;
  return false;
}

static const char *find_unindexed(const PictureFile *file) {
  int type = color_type_of(file);
  if (type & PNG_COLOR_MASK_ALPHA) return "a PNG file with transparency";
  if (type == PNG_COLOR_TYPE_RGB) return "a PNG file of colours";
  return bits_of(file) > 8 ? "a PNG file of 16 bits" : NULL;
}

/* libpng reads to the end of the pixels.  In a file that is cut off after them the camera's note on how it was held may
 * be lost. */
static bool has_end(const PictureFile *file) {
  size_t size;
  return find_chunk(file, "IEND", &size) != NULL;
}

static int read_head(PictureFile *file) {
  png_image image = {.version = PNG_IMAGE_VERSION};
  if (!png_image_begin_read_from_memory(&image, file->bytes, file->size))
    return data_picture_fail(file, image.message);
  file->height = image.height;
  file->width = image.width;
  png_image_free(&image);
  file->orientation = find_orientation(file);
  file->has_palette = has_palette(file);
  file->unindexed = find_unindexed(file);
  return data_picture_check_size(file, file->height, file->width);
}

/* --- pixels ----------------------------------------------------------------------------------- */

/* Grey as a JPEG file and color_jitter have it (ITU-R BT.601), in place; libpng would weigh light instead of values, so that
 * a picture had other greys as PNG than as JPEG. */
static void make_grey(unsigned char *bytes, int64_t pixels) {
  for (int64_t i = 0; i < pixels; i++) {
    bytes[i] = (unsigned char)((data_picture_grey(bytes + 3 * i) + 32768) >> 16);
  }
}

static int decode(const PictureFile *file, int divisor, const PicturePart *wanted,
                  DataScratch *scratch, Picture *picture, PicturePart *part) {
  (void)divisor, (void)wanted;
  png_image image = {.version = PNG_IMAGE_VERSION};
  png_color black = {0, 0, 0};
  if (!png_image_begin_read_from_memory(&image, file->bytes, file->size))
    return data_picture_fail(file, image.message);
  image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB; /* 16 bits are finer steps, not other light */
  bool are_indices = file->takes_indices && color_type_of(file) == PNG_COLOR_TYPE_PALETTE;
  bool becomes_grey =
      picture->channels == 1 && !are_indices && (image.format & PNG_FORMAT_FLAG_COLOR) != 0;
  image.format = picture->channels == 1 && !becomes_grey ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  if (are_indices) image.format = PNG_FORMAT_RGB_COLORMAP; /* a palette keeps its indices then */
  unsigned char colors[256 * 3];
  unsigned char *bytes = data_scratch_take(scratch, DATA_BUFFER_DECODED, PNG_IMAGE_SIZE(image));
  if (!bytes) {
    png_image_free(&image);
    return data_fail_memory(file->context, file->name, (int64_t)image.height * image.width * 3);
  }
  if (!png_image_finish_read(&image, &black, bytes, 0, are_indices ? colors : NULL))
    return data_picture_fail(file, image.message);
  if (!has_end(file)) return data_picture_fail(file, "its end is missing");
  if (becomes_grey) make_grey(bytes, (int64_t)image.height * image.width);
  picture->pixel = picture->channels;
  picture->height = image.height;
  picture->width = image.width;
  picture->bytes = bytes;
  *part = (PicturePart){0, 0, picture->height, picture->width};
  return 0;
}

const PictureFormat data_picture_png = {"PNG", read_head, decode, 3, 1};
