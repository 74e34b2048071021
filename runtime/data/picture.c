/* Decoding of pictures to the way in which they are to be seen. */
#include "data/picture.h"

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
