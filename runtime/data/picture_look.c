/* Files of pictures: which format one has, and whether its numbers may be classes. It is apart from picture.c, because
 * pictures in arrays have no format. */
#include <string.h>

#include "data/call.h"
#include "data/picture.h"
#include "data/picture_turn.h"

int data_picture_look(const DataContext *context, const char *name, const unsigned char *bytes,
                      size_t size, PictureFile *file) {
  *file = (PictureFile){
      .context = context, .name = name, .bytes = bytes, .size = size, .orientation = 1};
  if (size >= 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0) file->format = &data_picture_jpeg;
  if (size >= 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0) file->format = &data_picture_png;
  if (!file->format) return data_fail(context, "%s: neither a JPEG nor a PNG file", name);
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
