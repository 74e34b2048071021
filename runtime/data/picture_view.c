/* Views of pictures: see picture_view.h. */
#include "data/picture_view.h"

#include <string.h>

#include "data/picture_scale.h"
#include "os/assert.h"

static void see_whole(PictureView *view, int64_t height, int64_t width) {
  view->base = view->part = view->window = (PicturePart){0, 0, height, width};
  view->height = height;
  view->width = width;
}

PictureView data_view_file(const PictureFile *file, int channels, DataScratch *scratch) {
  int pixel = channels == 1 ? 1 : file->format->color_pixel;
  PictureView view = {.file = file,
                      .picture = {.channels = channels, .pixel = pixel},
                      .buffer = DATA_BUFFER_DECODED,
                      .place = {.a = 1, .d = 1},
                      .scratch = scratch};
  see_whole(&view, file->height, file->width);
  return view;
}

static bool is_scaled(const PictureView *view) {
  return view->height != view->base.height || view->width != view->base.width;
}

/* The part that lies in the window; its extents may be 0. */
static PicturePart inside(const PictureView *view) {
  const PicturePart *part = &view->part, *window = &view->window;
  int64_t top = part->top > window->top ? part->top : window->top;
  int64_t left = part->left > window->left ? part->left : window->left;
  int64_t bottom = part->top + part->height, right = part->left + part->width;
  if (bottom > window->top + window->height) bottom = window->top + window->height;
  if (right > window->left + window->width) right = window->left + window->width;
  return (PicturePart){top, left, bottom > top ? bottom - top : 0, right > left ? right - left : 0};
}

static bool is_padded(const PictureView *view) {
  PicturePart inner = inside(view);
  return inner.height != view->part.height || inner.width != view->part.width;
}

/* --- computing -------------------------------------------------------------------------------- */

/* Reduced decoding stands in for a part of the scaling where at least a factor of 2.5 is left for it: of
 * photographs 999 values in 1000 are then within 4 of those of all pixels, in the mean of all .4. */
static int choose_divisor(const PictureView *view) {
  int divisor = 1;
  int most = view->has_pixels || view->is_index ? 1 : view->file->format->most_divisor;
  while (2 * divisor <= most && view->base.height >= 5 * divisor * view->height &&
         view->base.width >= 5 * divisor * view->width)
    divisor *= 2;
  return divisor;
}

/* At least this part, of the picture reduced by `divisor`; *part: what there is. */
static int need_pixels(const PictureView *view, int divisor, PicturePart *part, Picture *picture) {
  *picture = view->picture;
  if (view->has_pixels) {
    *part = (PicturePart){0, 0, picture->height, picture->width};
    return 0;
  }
  int result = data_picture_decode(view->file, divisor, view->scratch, picture, part);
  data_scratch_mark(view->scratch, NNC_DATA_DECODING);
  return result;
}

static int fail_memory(const PictureView *view) {
  return data_fail_memory(view->file->context, view->file->name,
                          view->part.height * view->part.width);
}

static int compute_scaled(const PictureView *view, const PicturePart *inner,
                          const PictureTarget *target) {
  int divisor = choose_divisor(view);
  int64_t height = view->has_pixels ? view->picture.height : view->file->height;
  int64_t width = view->has_pixels ? view->picture.width : view->file->width;
  PictureAxis down = {(height + divisor - 1) / divisor,
                      (double)view->base.top / divisor,
                      (double)view->base.height / divisor,
                      view->height,
                      inner->top,
                      inner->height};
  PictureAxis across = {(width + divisor - 1) / divisor,
                        (double)view->base.left / divisor,
                        (double)view->base.width / divisor,
                        view->width,
                        inner->left,
                        inner->width};
  PictureScaling scaling;
  Picture picture;
  if (data_picture_filter(&down, view->is_index, view->scratch, DATA_BUFFER_DOWN, &scaling.down) <
          0 ||
      data_picture_filter(&across, view->is_index, view->scratch, DATA_BUFFER_ACROSS,
                          &scaling.across) < 0)
    return fail_memory(view);
  PicturePart part = {scaling.down.begin, scaling.across.begin,
                      scaling.down.end - scaling.down.begin,
                      scaling.across.end - scaling.across.begin};
  if (need_pixels(view, divisor, &part, &picture) < 0) return -1;
  scaling.picture = &picture;
  scaling.top = part.top;
  scaling.left = part.left;
  return data_picture_scale(&scaling, view->scratch, target) < 0 ? fail_memory(view) : 0;
}

static int compute_unscaled(const PictureView *view, const PicturePart *inner,
                            const PictureTarget *target) {
  PicturePart seen = *inner, found;
  Picture picture;
  seen.top += view->base.top;
  seen.left += view->base.left;
  found = seen;
  if (need_pixels(view, 1, &found, &picture) < 0) return -1;
  seen.top -= found.top;
  seen.left -= found.left;
  data_picture_store(&picture, &seen, target);
  return 0;
}

/* The target is the size of the part. */
static int compute(const PictureView *view, PictureTarget target, int pixel) {
  PicturePart inner = inside(view);
  if (is_padded(view))
    memset(target.bytes, view->fill, (size_t)(target.height * target.width * pixel));
  if (inner.height == 0 || inner.width == 0) return 0;
  target.top = inner.top - view->part.top;
  target.left = inner.left - view->part.left;
  int result = is_scaled(view) ? compute_scaled(view, &inner, &target)
                               : compute_unscaled(view, &inner, &target);
  data_scratch_mark(view->scratch, NNC_DATA_SCALING);
  return result;
}

/* Afterwards what is seen is the whole of its own pixels. */
static int settle(PictureView *view) {
  int64_t height = view->part.height, width = view->part.width;
  if (height > PICTURE_PIXELS / width) return PICTURE_TOO_LARGE;
  enum DataBuffer next =
      view->buffer == DATA_BUFFER_SCALED ? DATA_BUFFER_SCALED_AGAIN : DATA_BUFFER_SCALED;
  int channels = view->picture.channels;
  int pixel = is_scaled(view) ? data_scaled_pixel(channels) : view->picture.pixel;
  unsigned char *bytes = NULL;
  if (!view->is_sizes) {
    bytes = data_scratch_take(view->scratch, next, (size_t)(height * width * pixel));
    if (!bytes) return fail_memory(view);
    if (compute(view, (PictureTarget){.bytes = bytes, .height = height, .width = width}, pixel) < 0)
      return -1;
  }
  view->picture = (Picture){height, width, channels, pixel, bytes};
  view->has_pixels = true;
  view->buffer = next;
  see_whole(view, height, width);
  return 0;
}

int data_view_finish(PictureView *view, unsigned char *planes) {
  if (view->part.height > PICTURE_PIXELS / view->part.width) return PICTURE_TOO_LARGE;
  PictureTarget target = {.bytes = planes,
                          .height = view->part.height,
                          .width = view->part.width,
                          .is_planes = true,
                          .is_mirrored = view->is_mirrored};
  return compute(view, target, view->picture.channels);
}

/* --- noting ----------------------------------------------------------------------------------- */

/* Points that were seen at (x, y) are seen elsewhere. */
static void place_map(PictureView *view, const PicturePlace *map) {
  PicturePlace *place = &view->place, was = *place;
  place->a = map->a * was.a + map->b * was.c;
  place->b = map->a * was.b + map->b * was.d;
  place->x = map->a * was.x + map->b * was.y + map->x;
  place->c = map->c * was.a + map->d * was.c;
  place->d = map->c * was.b + map->d * was.d;
  place->y = map->c * was.x + map->d * was.y + map->y;
}

static void place_move(PictureView *view, int64_t down, int64_t right) {
  view->place.x += (double)right;
  view->place.y += (double)down;
}

/* A part of the unscaled base becomes the base; anything else is computed before it is scaled. */
int data_view_scale(PictureView *view, int64_t height, int64_t width) {
  if (view->part.height == height && view->part.width == width) return 0;
  place_map(view, &(PicturePlace){.a = (double)width / (double)view->part.width,
                                  .d = (double)height / (double)view->part.height});
  if (is_scaled(view) || is_padded(view)) {
    int result = settle(view);
    if (result < 0) return result;
  }
  view->base.top += view->part.top;
  view->base.left += view->part.left;
  view->base.height = view->part.height;
  view->base.width = view->part.width;
  view->height = height;
  view->width = width;
  view->part = view->window = (PicturePart){0, 0, height, width};
  return 0;
}

void data_view_crop(PictureView *view, PicturePart part) {
  PicturePart *seen = &view->part;
  NNC_ASSERT(part.top >= 0 && part.top + part.height <= seen->height);
  NNC_ASSERT(part.left >= 0 && part.left + part.width <= seen->width);
  place_move(view, -part.top, -part.left);
  seen->top += part.top;
  seen->left += view->is_mirrored ? seen->width - part.left - part.width : part.left;
  seen->height = part.height;
  seen->width = part.width;
}

int data_view_pad(PictureView *view, int64_t height, int64_t width, unsigned char value) {
  if (is_padded(view) && view->fill != value) {
    int result = settle(view);
    if (result < 0) return result;
  }
  place_move(view, height, width);
  view->window = inside(view);
  view->part.top -= height;
  view->part.left -= width;
  view->part.height += 2 * height;
  view->part.width += 2 * width;
  view->fill = value;
  return 0;
}

void data_view_mirror(PictureView *view) {
  place_map(view, &(PicturePlace){.a = -1, .x = (double)view->part.width, .d = 1});
  view->is_mirrored = !view->is_mirrored;
}

/* --- colours ---------------------------------------------------------------------------------- */

static bool is_settled(const PictureView *view) {
  return view->has_pixels && !is_scaled(view) && !is_padded(view) && view->part.top == 0 &&
         view->part.left == 0 && view->part.height == view->picture.height &&
         view->part.width == view->picture.width;
}

int data_view_settle(PictureView *view) { return is_settled(view) ? 0 : settle(view); }

bool data_view_is_part(const PictureView *view, PicturePart *part) {
  *part = inside(view);
  return !view->has_pixels && !is_scaled(view);
}

int data_view_color(PictureView *view, enum DataColor color, double factor) {
  if (view->is_index)
    return data_fail(view->file->context,
                     "%s: color_jitter changes colours, but the values of this picture are classes",
                     view->file->name);
  int result = data_view_settle(view);
  if (result < 0) return result;
  data_color_change(&view->picture, view->scratch->buffers[view->buffer].bytes, color, factor);
  data_scratch_mark(view->scratch, NNC_DATA_SCALING);
  return 0;
}

/* --- maps and fillings ------------------------------------------------------------------------ */

/* The map says where pixels come from, about the middle; places go the other way. */
static void place_back(PictureView *view, const PictureMap *map) {
  double determinant = map->a * map->d - map->b * map->c;
  double middle_x = (double)view->part.width / 2, middle_y = (double)view->part.height / 2;
  PicturePlace back = {.a = map->d / determinant,
                       .b = -map->b / determinant,
                       .c = -map->c / determinant,
                       .d = map->a / determinant};
  double from_x = middle_x + map->tx, from_y = middle_y + map->ty;
  back.x = middle_x - back.a * from_x - back.b * from_y;
  back.y = middle_y - back.c * from_x - back.d * from_y;
  place_map(view, &back);
}

int data_view_map(PictureView *view, PictureMap map, unsigned char fill) {
  int result = data_view_settle(view);
  if (result < 0) return result;
  place_back(view, &map);
  if (view->is_sizes) return 0;
  if (view->is_mirrored) { /* pixels lie the other way */
    map.b = -map.b;
    map.c = -map.c;
    map.tx = -map.tx;
  }
  enum DataBuffer next =
      view->buffer == DATA_BUFFER_SCALED ? DATA_BUFFER_SCALED_AGAIN : DATA_BUFFER_SCALED;
  Picture *picture = &view->picture;
  size_t size = (size_t)(picture->height * picture->width * picture->pixel);
  unsigned char *bytes = data_scratch_take(view->scratch, next, size);
  if (!bytes) return fail_memory(view);
  data_affine_pixels(picture, &map, view->is_index, fill, bytes);
  picture->bytes = bytes;
  view->buffer = next;
  data_scratch_mark(view->scratch, NNC_DATA_SCALING);
  return 0;
}

int data_view_fill(PictureView *view, PicturePart part, unsigned char value) {
  int result = data_view_settle(view);
  if (result < 0) return result;
  const Picture *picture = &view->picture;
  NNC_ASSERT(part.top >= 0 && part.top + part.height <= picture->height);
  NNC_ASSERT(part.left >= 0 && part.left + part.width <= picture->width);
  int64_t left = view->is_mirrored ? picture->width - part.left - part.width : part.left;
  unsigned char *bytes = view->scratch->buffers[view->buffer].bytes;
  for (int64_t row = part.top; row < part.top + part.height; row++)
    memset(bytes + (row * picture->width + left) * picture->pixel, value,
           (size_t)(part.width * picture->pixel));
  return 0;
}
