/* Files of pictures: which format one has, and whether its numbers may be classes. It is apart from picture.c, because
 * pictures in arrays have no format. */
#include <string.h>

#include "data/call.h"
#include "data/picture.h"
#include "data/picture_turn.h"

/* What another file is: "", where that is unknown. */
static const char *kind_of(const unsigned char *bytes, size_t size) {
  static const struct {
    size_t at, length;
    const char *bytes, *text;
  } kinds[] = {
      {0, 4, "GIF8", ", but a GIF file"},
      {8, 4, "WEBP", ", but a WebP file"},
      {0, 6, "\x93NUMPY", ", but an array (.npy); pictures are expected here"},
      {0, 4, "PK\3\4", ", but a zip archive; pictures are expected here"},
      {0, 2, "\x1f\x8b", ", but a file that gzip packed; pictures are expected here"},
  };
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (size >= kinds[i].at + kinds[i].length &&
        memcmp(bytes + kinds[i].at, kinds[i].bytes, kinds[i].length) == 0)
      return kinds[i].text;
  bool is_idx = size >= 8 && bytes[0] == 0 && bytes[1] == 0 && bytes[2] >= 8 && bytes[2] <= 14 &&
                bytes[3] >= 1 && bytes[3] <= 8;
  return is_idx ? ", but an IDX file of arrays; pictures are expected here" : "";
}

int data_picture_look(const DataContext *context, const char *name, const unsigned char *bytes,
                      size_t size, PictureFile *file) {
  *file = (PictureFile){
      .context = context, .name = name, .bytes = bytes, .size = size, .orientation = 1};
  if (size >= 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0) file->format = &data_picture_jpeg;
  if (size >= 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0) file->format = &data_picture_png;
  if (!file->format)
    return data_fail(context, "%s: neither a JPEG nor a PNG file%s", name, kind_of(bytes, size));
  if (file->format->read_head(file) < 0) return -1;
  if (!data_turn_swaps(file->orientation)) return 0;
  int64_t stored_height = file->height;
  file->height = file->width;
  file->width = stored_height;
  return 0;
}

int data_picture_take_indices(PictureFile *file) {
  if (file->unindexed)
    return data_fail(
        file->context,
        "%s is %s: palette = \"index\" reads PNG files with a palette, or of greys of up "
        "to 8 bits",
        file->name, file->unindexed);
  file->takes_indices = true;
  return 0;
}
