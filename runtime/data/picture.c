/* Files of pictures: which format it is, and decoding to the way in which the picture is to be seen. */
#include "data/picture.h"

#include <string.h>

#include "data/call.h"
#include "data/picture_turn.h"
#include "os/assert.h"

int data_picture_fail(const PictureFile *file, const char *reason) {
  return data_fail(file->context, "%s: cannot decode the %s: %s", file->name, file->format->name,
                   reason);
}

/* A small file can claim gigabytes of pixels. */
int data_picture_check_size(const PictureFile *file, int64_t height, int64_t width) {
  if (height <= PICTURE_PIXELS / width) return 0;
  return data_fail(file->context,
                   "%s: %lld x %lld pixels are more than %d, the most that are decoded", file->name,
                   (long long)height, (long long)width, PICTURE_PIXELS);
}

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

static int64_t divide_up(int64_t extent, int divisor) { return (extent + divisor - 1) / divisor; }

int data_picture_decode(const PictureFile *file, int divisor, DataScratch *scratch,
                        Picture *picture, PicturePart *part) {
  int64_t height = divide_up(file->height, divisor), width = divide_up(file->width, divisor);
  NNC_ASSERT(part->top >= 0 && part->height > 0 && part->top + part->height <= height);
  NNC_ASSERT(part->left >= 0 && part->width > 0 && part->left + part->width <= width);
  PicturePart stored, wanted = data_turn_back(file->orientation, height, width, part);
  if (file->format->decode(file, divisor, &wanted, scratch, picture, &stored) < 0) return -1;
  if (file->orientation == 1) {
    *part = stored;
    return 0;
  }
  bool swaps = data_turn_swaps(file->orientation);
  *part =
      data_turn_forth(file->orientation, swaps ? width : height, swaps ? height : width, &stored);
  size_t size = (size_t)(part->height * part->width * picture->pixel);
  unsigned char *turned = data_scratch_take(scratch, DATA_BUFFER_TURNED, size);
  if (!turned) return data_fail_memory(file->context, file->name, (int64_t)size);
  data_turn_pixels(file->orientation, picture, turned);
  return 0;
}
