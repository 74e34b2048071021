/* The calls of the stages of pictures: resize, pad, center_crop, random_crop, random_resized_crop, color_jitter,
 * random_flip, random_affine, random_erase. */
#include "data/call.h"
#include "data/class.h"
#include "data/picture_array.h"
#include "data/picture_stages.h"
#include "data/words.h"
#include "nnc_data.h"

/* One more stage of the table's first field. */
static int add_stage(const DataContext *context, DataTable *table, PictureStage stage) {
  if (data_picture_open(context, table) < 0) return -1;
  PictureStages *stages = &table->pictures->stages;
  if (stages->count == DATA_PICTURE_STAGES)
    return data_fail_call(context, "more than %d stages for one picture", DATA_PICTURE_STAGES);
  stages->stages[stages->count++] = stage;
  return 0;
}

static const char *const size_formals[] = {"height", "width", NULL};
static const char *const part_formals[] = {"height", "width", "scale", "ratio", NULL};
static const char *const pad_formals[] = {"height", "width", "value", NULL};
static const char *const color_formals[] = {"brightness", "contrast", "saturation", "hue", NULL};
static const char *const flip_formals[] = {"probability", NULL};
static const char *const affine_formals[] = {"degrees", "translate", "scale",
                                             "shear",   "value",     NULL};
static const char *const erase_formals[] = {"probability", "scale", "ratio", "value", NULL};

static int add_sized(const DataContext *context, DataTable *table, PictureStage stage) {
  bool is_pad = stage.kind == PICTURE_PAD;
  double height = 0, width = 0, least = is_pad ? 0 : 1;
  if (data_argument_number(context, size_formals, "height", least, 1 << 15, &height) < 0 ||
      data_argument_number(context, size_formals, "width", least, 1 << 15, &width) < 0)
    return -1;
  if (!data_argument(context->call, size_formals, "height"))
    return data_fail_call(context, "%s needs a size", context->call->function);
  bool has_width = data_argument(context->call, size_formals, "width") != NULL;
  stage.height = (int64_t)height;
  stage.width = has_width || stage.kind == PICTURE_RESIZE ? (int64_t)width : stage.height;
  return add_stage(context, table, stage);
}

/* The list of the least and the most; what is there stays when the argument is absent. */
static int read_pair(const DataContext *context, const char *name, double most, double pair[2]) {
  const nnc_value *value = data_argument(context->call, context->call->stage->formals, name);
  if (!value) return 0;
  bool fits = value->kind == NNC_LIST && value->count == 2 && value->items[0].kind == NNC_NUMBER &&
              value->items[1].kind == NNC_NUMBER && value->items[0].number > 0 &&
              value->items[0].number <= value->items[1].number && value->items[1].number <= most;
  if (!fits)
    return data_fail_call(context,
                          "'%s' is a list of two numbers, the least and the most, above 0 and up "
                          "to %g",
                          name, most);
  for (int i = 0; i < 2; i++) pair[i] = value->items[i].number;
  return 0;
}

static int resize(const DataContext *context, DataTable *table) {
  return add_sized(context, table, (PictureStage){.kind = PICTURE_RESIZE});
}

static int center_crop(const DataContext *context, DataTable *table) {
  return add_sized(context, table, (PictureStage){.kind = PICTURE_CENTER_CROP});
}

static int random_crop(const DataContext *context, DataTable *table) {
  return add_sized(context, table, (PictureStage){.kind = PICTURE_RANDOM_CROP});
}

static int random_resized_crop(const DataContext *context, DataTable *table) {
  PictureStage stage = {
      .kind = PICTURE_RANDOM_RESIZED_CROP, .scale = {0.08, 1}, .ratio = {3.0 / 4.0, 4.0 / 3.0}};
  if (read_pair(context, "scale", 1, stage.scale) < 0 ||
      read_pair(context, "ratio", DATA_MOST_RATIO, stage.ratio) < 0)
    return -1;
  return add_sized(context, table, stage);
}

static int pad(const DataContext *context, DataTable *table) {
  PictureStage stage = {.kind = PICTURE_PAD};
  if (data_argument_number(context, pad_formals, "value", 0, 255, &stage.value) < 0) return -1;
  return add_sized(context, table, stage);
}

static int color_jitter(const DataContext *context, DataTable *table) {
  PictureStage stage = {.kind = PICTURE_COLOR_JITTER};
  for (int c = 0; c < DATA_COLORS; c++)
    if (data_argument_number(context, color_formals, color_formals[c], 0,
                             c == DATA_COLOR_HUE ? 0.5 : 10, &stage.color[c]) < 0)
      return -1;
  return add_stage(context, table, stage);
}

static int random_flip(const DataContext *context, DataTable *table) {
  PictureStage stage = {.kind = PICTURE_RANDOM_FLIP, .probability = 0.5};
  if (data_argument_number(context, flip_formals, "probability", 0, 1, &stage.probability) < 0)
    return -1;
  return add_stage(context, table, stage);
}

static int random_affine(const DataContext *context, DataTable *table) {
  PictureStage stage = {.kind = PICTURE_RANDOM_AFFINE, .scale = {1, 1}};
  if (data_argument_number(context, affine_formals, "degrees", 0, 180, &stage.degrees) < 0 ||
      data_argument_number(context, affine_formals, "translate", 0, 1, &stage.translate) < 0 ||
      data_argument_number(context, affine_formals, "shear", 0, 89, &stage.shear) < 0 ||
      data_argument_number(context, affine_formals, "value", 0, 255, &stage.value) < 0 ||
      read_pair(context, "scale", DATA_MOST_FACTOR, stage.scale) < 0)
    return -1;
  return add_stage(context, table, stage);
}

static int random_erase(const DataContext *context, DataTable *table) {
  PictureStage stage = {
      .kind = PICTURE_RANDOM_ERASE, .probability = 0.5, .scale = {0.02, 0.33}, .ratio = {0.3, 3.3}};
  if (data_argument_number(context, erase_formals, "probability", 0, 1, &stage.probability) < 0 ||
      data_argument_number(context, erase_formals, "value", 0, 255, &stage.value) < 0 ||
      read_pair(context, "scale", 1, stage.scale) < 0 ||
      read_pair(context, "ratio", DATA_MOST_RATIO, stage.ratio) < 0)
    return -1;
  return add_stage(context, table, stage);
}

#define PICTURE_STAGE(word, its_formals)                                                           \
  const struct nnc_stage_class nnc_stage_##word = {.name = #word,                                  \
                                                   .acts_on = DATA_ACTS_ON_##word,                 \
                                                   .formals = its_formals,                         \
                                                   .picture = word,                                \
                                                   .expect = data_picture_expect,                  \
                                                   .finish = data_picture_finish}
PICTURE_STAGE(resize, size_formals);
PICTURE_STAGE(center_crop, size_formals);
PICTURE_STAGE(random_crop, size_formals);
PICTURE_STAGE(random_resized_crop, part_formals);
PICTURE_STAGE(pad, pad_formals);
PICTURE_STAGE(color_jitter, color_formals);
PICTURE_STAGE(random_flip, flip_formals);
PICTURE_STAGE(random_affine, affine_formals);
PICTURE_STAGE(random_erase, erase_formals);
