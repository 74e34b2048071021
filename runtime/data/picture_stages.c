/* The stages of pictures: resize, center_crop, random_crop and random_flip.
 *
 * A stage only notes what is to be seen of the picture: scaled to which size, which part of that,
 * mirrored or not.  The pixels are computed when all stages have had their say, so a resize that
 * is followed by a crop computes no more than the crop keeps; what cannot be noted on top, as a
 * second scaling, computes the pixels first. */
#include "data/picture_stages.h"

#include <math.h>
#include <string.h>

#include "data/call.h"
#include "data/class.h"
#include "data/picture.h"
#include "data/picture_scale.h"
#include "data/rows.h"
#include "data/table.h"
#include "data/visit.h"
#include "data/words.h"
#include "os/assert.h"
#include "nnc_data.h"

/* --- what is to be seen ----------------------------------------------------------------------- */

/* A picture, and what the stages so far make of it. */
typedef struct View {
  Picture *picture;
  int64_t height, width; /* that the whole picture is scaled to */
  PicturePart part;      /* of this; what is seen */
  bool is_mirrored;      /* the part's left and right change places */
} View;

static View whole_view(Picture *picture) {
  int64_t height = picture->height, width = picture->width;
  return (View){picture, height, width, {0, 0, height, width}, false};
}

/* In place: the part from (top, left) on. */
static void cut(Picture *picture, PicturePart part) {
  NNC_ASSERT(part.top >= 0 && part.top + part.height <= picture->height);
  NNC_ASSERT(part.left >= 0 && part.left + part.width <= picture->width);
  int64_t channels = picture->channels;
  if (part.height == picture->height && part.width == picture->width) return;
  for (int64_t y = 0; y < part.height; y++)
    memmove(picture->bytes + y * part.width * channels,
            picture->bytes + ((part.top + y) * picture->width + part.left) * channels,
            (size_t)(part.width * channels));
  picture->height = part.height;
  picture->width = part.width;
}

/* Left and right change places. */
static void mirror(Picture *picture) {
  int64_t channels = picture->channels, width = picture->width;
  for (int64_t y = 0; y < picture->height; y++)
    for (int64_t x = 0; x < width / 2; x++)
      for (int64_t c = 0; c < channels; c++) {
        unsigned char *row = picture->bytes + y * width * channels;
        unsigned char *left = row + x * channels + c;
        unsigned char *right = row + (width - 1 - x) * channels + c, swapped = *left;
        *left = *right;
        *right = swapped;
      }
}

/* Computes the pixels: afterwards the view is the whole picture. */
static int compute(View *view) {
  Picture *picture = view->picture;
  bool is_scaled = view->height != picture->height || view->width != picture->width;
  int result = is_scaled ? data_picture_scale(picture, view->height, view->width, view->part) : 0;
  if (result < 0) return result;
  if (!is_scaled) cut(picture, view->part);
  if (view->is_mirrored) mirror(picture);
  *view = whole_view(picture);
  return 0;
}

/* To the size that what is seen shall have. */
static int scale(View *view, int64_t height, int64_t width) {
  if (view->part.height == height && view->part.width == width) return 0;
  int result = compute(view);
  if (result < 0) return result;
  view->height = view->part.height = height;
  view->width = view->part.width = width;
  return 0;
}

/* The part of what is seen from (top, left) on. */
static void crop(View *view, PicturePart part) {
  NNC_ASSERT(part.top >= 0 && part.top + part.height <= view->part.height);
  NNC_ASSERT(part.left >= 0 && part.left + part.width <= view->part.width);
  PicturePart *seen = &view->part;
  seen->top += part.top;
  seen->left += view->is_mirrored ? seen->width - part.left - part.width : part.left;
  seen->height = part.height;
  seen->width = part.width;
}

/* --- stages ----------------------------------------------------------------------------------- */

/* The shorter side becomes `size`; the other keeps the proportion. */
static int scale_shorter(View *view, int64_t size) {
  int64_t height = view->part.height, width = view->part.width;
  if (height <= width) return scale(view, size, (width * size + height / 2) / height);
  return scale(view, (height * size + width / 2) / width, size);
}

/* What is smaller than the part to be cut is enlarged first, no more than needed. */
static int enlarge(View *view, int64_t height, int64_t width) {
  const PicturePart *seen = &view->part;
  if (seen->height >= height && seen->width >= width) return 0;
  double factor = fmax((double)height / (double)seen->height, (double)width / (double)seen->width);
  int64_t new_height = (int64_t)floor(factor * (double)seen->height + 0.5);
  int64_t new_width = (int64_t)floor(factor * (double)seen->width + 0.5);
  return scale(view, new_height > height ? new_height : height,
               new_width > width ? new_width : width);
}

/* Where a part begins of which `spare` pixels are left out: anywhere, or in the middle. */
static int64_t choose_start(const DataVisit *visit, uint64_t stream, uint64_t index,
                            int64_t spare) {
  return visit->draws ? data_random_below(visit, stream, index, spare + 1) : spare / 2;
}

static int apply_crop(const PictureStage *stage, uint64_t stream, const DataVisit *visit,
                      View *view) {
  int64_t height = stage->height, width = stage->width;
  int result = enlarge(view, height, width);
  if (result < 0) return result;
  int64_t down = view->part.height - height, across = view->part.width - width;
  bool is_random = stage->kind == PICTURE_RANDOM_CROP;
  crop(view, (PicturePart){.top = is_random ? choose_start(visit, stream, 0, down) : down / 2,
                           .left = is_random ? choose_start(visit, stream, 1, across) : across / 2,
                           .height = height,
                           .width = width});
  return 0;
}

static int apply_stage(const PictureStage *stage, uint64_t stream, const DataVisit *visit,
                       View *view) {
  switch (stage->kind) {
  case PICTURE_RESIZE:
    return stage->width ? scale(view, stage->height, stage->width)
                        : scale_shorter(view, stage->height);
  case PICTURE_CENTER_CROP:
  case PICTURE_RANDOM_CROP: return apply_crop(stage, stream, visit, view);
  case PICTURE_RANDOM_FLIP:
    if (visit->draws &&
        (double)(data_random_bits(visit, stream, 0) >> 11) * 0x1p-53 < stage->probability)
      view->is_mirrored = !view->is_mirrored;
    return 0;
  }
  return 0;
}

int data_picture_apply(const DataContext *context, const char *name, const PictureStages *stages,
                       const DataVisit *visit, Picture *picture) {
  View view = whole_view(picture);
  int result = 0;
  for (int i = 0; i < stages->count && result == 0; i++)
    result = apply_stage(&stages->stages[i], (uint64_t)i, visit, &view);
  if (result == 0) result = compute(&view);
  if (result == PICTURE_TOO_LARGE)
    return data_fail(context,
                     "%s: %lld x %lld pixels would be scaled to %lld x %lld: more than %d, the "
                     "most that are computed of a picture",
                     name, (long long)picture->height, (long long)picture->width,
                     (long long)view.part.height, (long long)view.part.width, PICTURE_PIXELS);
  return result < 0 ? data_fail_memory(context, name, view.part.height * view.part.width) : 0;
}

/* --- their calls ------------------------------------------------------------------------------ */

int data_picture_add_stage(const DataContext *context, DataTable *table, PictureStage stage) {
  PictureStages *stages = table->state;
  if (stages->count == DATA_PICTURE_STAGES)
    return data_fail_call(context, "more than %d stages for one picture", DATA_PICTURE_STAGES);
  stages->stages[stages->count++] = stage;
  return 0;
}

static const char *const size_formals[] = {"height", "width", NULL};
static const char *const flip_formals[] = {"probability", NULL};

static int add_sized(const DataContext *context, DataTable *table, PictureStageKind kind) {
  double height = 0, width = 0;
  if (data_argument_number(context, size_formals, "height", 1, 1 << 15, &height) < 0 ||
      data_argument_number(context, size_formals, "width", 1, 1 << 15, &width) < 0)
    return -1;
  if (height == 0) return data_fail_call(context, "%s needs a size", context->call->function);
  if (width == 0 && kind != PICTURE_RESIZE) width = height;
  return data_picture_add_stage(
      context, table,
      (PictureStage){.kind = kind, .height = (int64_t)height, .width = (int64_t)width});
}

static int resize(const DataContext *context, DataTable *table) {
  return add_sized(context, table, PICTURE_RESIZE);
}

static int center_crop(const DataContext *context, DataTable *table) {
  return add_sized(context, table, PICTURE_CENTER_CROP);
}

static int random_crop(const DataContext *context, DataTable *table) {
  return add_sized(context, table, PICTURE_RANDOM_CROP);
}

static int random_flip(const DataContext *context, DataTable *table) {
  PictureStage stage = {.kind = PICTURE_RANDOM_FLIP, .probability = 0.5};
  if (data_argument_number(context, flip_formals, "probability", 0, 1, &stage.probability) < 0)
    return -1;
  return data_picture_add_stage(context, table, stage);
}

const struct nnc_stage_class nnc_stage_resize = {
    .name = "resize", .acts_on = DATA_ACTS_ON_resize, .formals = size_formals, .picture = resize};
const struct nnc_stage_class nnc_stage_center_crop = {.name = "center_crop",
                                                      .acts_on = DATA_ACTS_ON_center_crop,
                                                      .formals = size_formals,
                                                      .picture = center_crop};
const struct nnc_stage_class nnc_stage_random_crop = {.name = "random_crop",
                                                      .acts_on = DATA_ACTS_ON_random_crop,
                                                      .formals = size_formals,
                                                      .picture = random_crop};
const struct nnc_stage_class nnc_stage_random_flip = {.name = "random_flip",
                                                      .acts_on = DATA_ACTS_ON_random_flip,
                                                      .formals = flip_formals,
                                                      .picture = random_flip};
