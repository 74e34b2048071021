/* What the stages of pictures make of one. */
#include "data/picture_stages.h"

#include <math.h>
#include <stdlib.h>

#include "data/call.h"
#include "data/class.h"
#include "data/picture_view.h"
#include "data/rows.h"
#include "data/table.h"
#include "data/visit.h"
#include "data/words.h"

/* --- sizes ------------------------------------------------------------------------------------ */

/* The shorter side becomes `size`; the other keeps the proportion. */
static int scale_shorter(PictureView *view, int64_t size) {
  int64_t height = view->part.height, width = view->part.width;
  if (height <= width) return data_view_scale(view, size, (width * size + height / 2) / height);
  return data_view_scale(view, (height * size + width / 2) / width, size);
}

/* What is smaller than the part to be cut is enlarged first, no more than needed. */
static int enlarge(PictureView *view, int64_t height, int64_t width) {
  const PicturePart *seen = &view->part;
  if (seen->height >= height && seen->width >= width) return 0;
  double factor = fmax((double)height / (double)seen->height, (double)width / (double)seen->width);
  int64_t new_height = (int64_t)floor(factor * (double)seen->height + 0.5);
  int64_t new_width = (int64_t)floor(factor * (double)seen->width + 0.5);
  return data_view_scale(view, new_height > height ? new_height : height,
                         new_width > width ? new_width : width);
}

/* --- draws ------------------------------------------------------------------------------------ */

/* What one stage draws for one picture: numbers by their index. */
typedef struct Draws {
  const DataVisit *visit;
  uint64_t stream;
} Draws;

/* From 0 to 1. */
static double draw(const Draws *draws, uint64_t index) {
  return (double)(data_random_bits(draws->visit, draws->stream, index) >> 11) * 0x1p-53;
}

static double draw_between(const Draws *draws, uint64_t index, const double range[2]) {
  return range[0] + draw(draws, index) * (range[1] - range[0]);
}

/* Where a part begins of which `spare` pixels are left out. */
static int64_t draw_start(const Draws *draws, uint64_t index, int64_t spare) {
  return data_random_below(draws->visit, draws->stream, index, spare + 1);
}

/* --- stages ----------------------------------------------------------------------------------- */

static PicturePart middle(const PictureView *view, int64_t height, int64_t width) {
  return (PicturePart){(view->part.height - height) / 2, (view->part.width - width) / 2, height,
                       width};
}

static int apply_crop(const PictureStage *stage, const Draws *draws, PictureView *view) {
  int64_t height = stage->height, width = stage->width;
  int result = enlarge(view, height, width);
  if (result < 0) return result;
  PicturePart part = middle(view, height, width);
  if (stage->kind == PICTURE_RANDOM_CROP && draws->visit->draws) {
    part.top = draw_start(draws, 0, view->part.height - height);
    part.left = draw_start(draws, 1, view->part.width - width);
  }
  data_view_crop(view, part);
  return 0;
}

/* The largest part in the middle whose width is `least` to `most` times its height. */
static PicturePart largest_middle(const PictureView *view, double least, double most) {
  int64_t height = view->part.height, width = view->part.width;
  double ratio = (double)width / (double)height;
  if (ratio < least) height = (int64_t)floor((double)width / least + 0.5);
  else if (ratio > most) width = (int64_t)floor((double)height * most + 0.5);
  if (height < 1) height = 1;
  if (width < 1) width = 1;
  return middle(view, height, width);
}

/* As torchvision's RandomResizedCrop and RandomErasing: ten tries for a part of that area and ratio that
 * lies within the picture (Szegedy et al. 2015); false: none did. */
static bool draw_part(const PictureStage *stage, const Draws *draws, const PictureView *view,
                      PicturePart *part) {
  enum { TRIES = 10 };
  double logarithms[2] = {log(stage->ratio[0]), log(stage->ratio[1])};
  double area = (double)view->part.height * (double)view->part.width;
  for (uint64_t at = 0; at < 4 * TRIES; at += 4) {
    double share = area * draw_between(draws, at, stage->scale);
    double ratio = exp(draw_between(draws, at + 1, logarithms));
    double height = floor(sqrt(share / ratio) + 0.5), width = floor(sqrt(share * ratio) + 0.5);
    if (height < 1 || height > (double)view->part.height || width < 1 ||
        width > (double)view->part.width)
      continue;
    *part = (PicturePart){0, 0, (int64_t)height, (int64_t)width};
    part->top = draw_start(draws, at + 2, view->part.height - part->height);
    part->left = draw_start(draws, at + 3, view->part.width - part->width);
    return true;
  }
  return false;
}

static int apply_resized_crop(const PictureStage *stage, const Draws *draws, PictureView *view) {
  double ratio = (double)stage->width / (double)stage->height;
  PicturePart part = largest_middle(view, ratio, ratio);
  if (draws->visit->draws && !draw_part(stage, draws, view, &part))
    part = largest_middle(view, stage->ratio[0], stage->ratio[1]);
  data_view_crop(view, part);
  return data_view_scale(view, stage->height, stage->width);
}

static int apply_affine(const PictureStage *stage, const Draws *draws, PictureView *view) {
  const double both[2] = {-1, 1}, radian = 0.017453292519943295;
  if (!draws->visit->draws) return 0;
  double angle = stage->degrees * radian * draw_between(draws, 0, both);
  double shear = stage->shear * radian * draw_between(draws, 1, both);
  double right = stage->translate * (double)view->part.width * draw_between(draws, 2, both);
  double down = stage->translate * (double)view->part.height * draw_between(draws, 3, both);
  double scale = draw_between(draws, 4, stage->scale);
  PictureMap map = data_affine_map(angle, shear, scale, floor(right + 0.5), floor(down + 0.5));
  return data_view_map(view, map, (unsigned char)stage->value);
}

/* Where values are classes nothing is erased: what is behind is still to be found. */
static int apply_erase(const PictureStage *stage, const Draws *draws, PictureView *view) {
  enum { CHANCE = 100 }; /* behind the draws of the part */
  PicturePart part;
  bool erases = draws->visit->draws && !view->is_index && draw(draws, CHANCE) < stage->probability;
  if (!erases || !draw_part(stage, draws, view, &part)) return 0;
  return data_view_fill(view, part, (unsigned char)stage->value);
}

/* Factors, and the order, as torchvision's ColorJitter draws them. */
static int apply_color_jitter(const PictureStage *stage, const Draws *draws, PictureView *view) {
  enum DataColor order[DATA_COLORS];
  if (!draws->visit->draws) return 0;
  for (int c = 0; c < DATA_COLORS; c++) {
    int64_t at = data_random_below(draws->visit, draws->stream, (uint64_t)c, c + 1);
    order[c] = order[at];
    order[at] = (enum DataColor)c;
  }
  for (int i = 0; i < DATA_COLORS; i++) {
    enum DataColor color = order[i];
    double far = stage->color[color], middle = color == DATA_COLOR_HUE ? 0 : 1;
    double least = color == DATA_COLOR_HUE ? -far : fmax(0, 1 - far);
    if (far == 0) continue;
    const double range[2] = {least, middle + far};
    double factor = draw_between(draws, (uint64_t)(DATA_COLORS + color), range);
    int result = data_view_color(view, color, factor);
    if (result < 0) return result;
  }
  return 0;
}

static int apply_stage(const PictureStage *stage, const Draws *draws, PictureView *view) {
  switch (stage->kind) {
  case PICTURE_RESIZE:
    return stage->width ? data_view_scale(view, stage->height, stage->width)
                        : scale_shorter(view, stage->height);
  case PICTURE_CENTER_CROP:
  case PICTURE_RANDOM_CROP: return apply_crop(stage, draws, view);
  case PICTURE_RANDOM_RESIZED_CROP: return apply_resized_crop(stage, draws, view);
  case PICTURE_PAD:
    return data_view_pad(view, stage->height, stage->width, (unsigned char)stage->value);
  case PICTURE_COLOR_JITTER: return apply_color_jitter(stage, draws, view);
  case PICTURE_RANDOM_AFFINE: return apply_affine(stage, draws, view);
  case PICTURE_RANDOM_ERASE: return apply_erase(stage, draws, view);
  case PICTURE_STAGE_KINDS: break;
  case PICTURE_RANDOM_FLIP:
    if (draws->visit->draws && draw(draws, 0) < stage->probability) data_view_mirror(view);
    return 0;
  }
  return 0;
}

int data_picture_result(const DataContext *context, const PictureView *view, int result) {
  if (result != PICTURE_TOO_LARGE) return result;
  return data_fail(context,
                   "%s: %lld x %lld pixels would become %lld x %lld: more than %d, the most that "
                   "are computed of a picture",
                   view->file->name, (long long)view->base.height, (long long)view->base.width,
                   (long long)view->part.height, (long long)view->part.width, PICTURE_PIXELS);
}

/* A stage draws by its kind and by how many of that kind stand before it: lines of one set that have
 * the same stages that draw, as a picture's and its mask's, draw the same. */
int data_picture_apply(const DataContext *context, const PictureStages *stages,
                       const DataVisit *visit, PictureView *view) {
  uint64_t before[PICTURE_STAGE_KINDS] = {0};
  for (int i = 0; i < stages->count; i++) {
    const PictureStage *stage = &stages->stages[i];
    Draws draws = {visit, (uint64_t)stage->kind + PICTURE_STAGE_KINDS * before[stage->kind]++};
    if (i < stages->first) continue;
    int result = data_picture_result(context, view, apply_stage(stage, &draws, view));
    if (result < 0) return result;
  }
  return 0;
}

PictureStages data_picture_places(const PictureStages *stages) {
  PictureStages places = {0};
  for (int i = 0; i < stages->count; i++) {
    PictureStageKind kind = stages->stages[i].kind;
    if (kind != PICTURE_COLOR_JITTER && kind != PICTURE_RANDOM_ERASE)
      places.stages[places.count++] = stages->stages[i];
  }
  return places;
}

int data_picture_open(const DataContext *context, DataTable *table) {
  if (!table->pictures) table->pictures = calloc(1, sizeof *table->pictures);
  if (table->pictures) return 0;
  return data_fail_memory(context, context->call->function, sizeof *table->pictures);
}

/* The size that the stages make of every picture; false: each picture shows it. */
static bool find_size(const PictureRows *rows, int64_t *height, int64_t *width) {
  const PictureStages *stages = &rows->stages;
  *height = rows->height;
  *width = rows->width;
  for (int i = 0; i < stages->count; i++) {
    const PictureStage *stage = &stages->stages[i];
    bool keeps_size = stage->kind == PICTURE_RANDOM_FLIP || stage->kind == PICTURE_COLOR_JITTER ||
                      stage->kind == PICTURE_RANDOM_AFFINE || stage->kind == PICTURE_RANDOM_ERASE;
    if (keeps_size) continue;
    if (stage->kind == PICTURE_PAD) {
      *height += *height ? 2 * stage->height : 0;
      *width += *width ? 2 * stage->width : 0;
      continue;
    }
    *width = stage->width;
    *height = stage->width ? stage->height : 0;
  }
  return *height > 0;
}

int data_picture_ready(const DataContext *context, DataTable *table) {
  const DataField *field = &table->fields[0];
  int64_t height, width;
  if (!field->input || !table->pictures || !find_size(table->pictures, &height, &width)) return 0;
  const int64_t *side = data_picture_sides(field);
  if (height == side[0] && width == side[1]) return 0;
  return data_fail_call(context,
                        "the stages make pictures of %lld x %lld, but the input %s is "
                        "%lld x %lld",
                        (long long)height, (long long)width, field->name, (long long)side[0],
                        (long long)side[1]);
}

static int check_size(const DataContext *context, const char *name, const PictureView *view,
                      const DataField *field) {
  const int64_t *side = data_picture_sides(field);
  if (view->part.height == side[0] && view->part.width == side[1]) return 0;
  return data_fail(
      context,
      "%s is %lld x %lld after its stages, but the input %s is %lld x %lld; resize, pad, "
      "center_crop, random_crop and random_resized_crop change sizes",
      name, (long long)view->part.height, (long long)view->part.width, field->name,
      (long long)side[0], (long long)side[1]);
}

int data_picture_same(const PictureStages *stages, const DataVisit *visit) {
  int count = 0;
  while (count < stages->count) {
    PictureStageKind kind = stages->stages[count].kind;
    bool draws = kind != PICTURE_RESIZE && kind != PICTURE_CENTER_CROP && kind != PICTURE_PAD;
    if (draws && visit->draws) break;
    count++;
  }
  return count;
}

const PictureStages *data_picture_stages(const DataTable *table) {
  static const PictureStages none;
  return table->pictures ? &table->pictures->stages : &none;
}

PictureView data_picture_view(const PictureFile *picture, const DataField *field,
                              const DataVisit *visit) {
  int channels = field->input->rank == 4 ? (int)field->input->dim[1] : 1;
  PictureView view = data_view_file(picture, channels, visit->scratch);
  view.is_index = visit->is_index;
  return view;
}

int data_picture_show(const PictureStages *stages, const PictureFile *picture,
                      const DataField *field, const DataVisit *visit, unsigned char *row) {
  const DataContext *context = picture->context;
  PictureView view = data_picture_view(picture, field, visit);
  if (data_picture_apply(context, stages, visit, &view) < 0 ||
      check_size(context, picture->name, &view, field) < 0)
    return -1;
  return data_picture_result(context, &view, data_view_finish(&view, row));
}
