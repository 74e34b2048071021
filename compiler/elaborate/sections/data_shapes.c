/* The inputs that a line feeds, where the shape or the type of what its source makes can be told
 * from the program: pictures, windows, drawn tasks, columns of a table. */
#include <string.h>
#include <strings.h>
#include "elaborate/core/report.h"
#include "elaborate/sections/data.h"
#include "data/words.h"
#include "support/integers.h"

/* A source makes `makes`, but the input is another. */
static bool report_shape(Elaborator *e, const DataCall *call, const InputInfo *input,
                         const char *makes) {
  return diag_note(report_error(e, call->span, "%s; the input '%s' is %s", makes, input->name,
                                type_text(e->arena, input->type)),
                   input->span, "the input");
}

static bool is_source(const DataPipeline *pipeline, const char *name) {
  return !strcmp(pipeline->calls[0].function, name);
}

/* A table whose first field names files. */
static bool is_list(const DataPipeline *pipeline) {
  return is_source(pipeline, "image_list") || is_source(pipeline, "wav_list");
}

const DataCall *data_picture_stage(const DataPipeline *pipeline) {
  for (int c = 1; c < pipeline->call_count; c++)
    if (data_acts_on(pipeline->calls[c].function) == GIVES_PICTURES) return &pipeline->calls[c];
  return NULL;
}

static bool decodes_pictures(const DataPipeline *pipeline) {
  return pipeline->call_count > 0 && data_decodes_pictures(data_gives(pipeline->calls[0].function));
}

bool data_first_is_picture(const DataPipeline *pipeline) {
  return pipeline->call_count > 0 && (decodes_pictures(pipeline) || data_picture_stage(pipeline));
}

/* ---- pictures ------------------------------------------------------------------------------- */

/* What the stages make must be the input, where its size can be told. */
static void check_size(Elaborator *e, const DataPipeline *pipeline, const InputInfo *input) {
  const int64_t *side = input->type.shape.dim + input->type.shape.rank - 2;
  double height = 0, width = 0; /* 0: each picture shows it */
  const DataCall *last = &pipeline->calls[0];
  if (is_source(pipeline, "cifar")) height = width = 32;
  if (is_source(pipeline, "raw")) height = (double)side[0], width = (double)side[1];
  for (int c = 1; c < pipeline->call_count; c++) {
    const DataCall *stage = &pipeline->calls[c];
    bool is_picture = data_acts_on(stage->function) == GIVES_PICTURES;
    if (!is_picture || !data_find_argument(stage, "height")) continue;
    double rows = data_argument_number(stage, "height", 0);
    double columns = data_argument_number(stage, "width", rows);
    bool has_width = data_find_argument(stage, "width") != NULL;
    bool is_pad = !strcmp(stage->function, "pad");
    if (is_pad && height == 0) continue;
    bool is_shown = has_width || strcmp(stage->function, "resize") != 0;
    height = is_pad ? height + 2 * rows : is_shown ? rows : 0;
    width = is_pad ? width + 2 * columns : is_shown ? columns : 0;
    last = stage;
  }
  if (height == 0 || (height == (double)side[0] && width == (double)side[1])) return;
  report_shape(e, last, input,
               arena_printf(e->arena, "the stages make pictures of %.0f x %.0f", height, width));
}

/* Stages of pictures after a line that has none. */
static void check_no_picture(Elaborator *e, const DataPipeline *pipeline, const char *first) {
  for (int c = 1; c < pipeline->call_count; c++) {
    const DataCall *stage = &pipeline->calls[c];
    if (data_acts_on(stage->function) != GIVES_PICTURES) continue;
    report_error(e, stage->span,
                 "'%s' acts on pictures, but the first member of the shards is '%s'",
                 stage->function, first);
    return;
  }
}

static bool takes_indices(const DataCall *source) {
  const DataArgument *palette = data_find_argument(source, "palette");
  return palette && !strcmp(palette->value.string, "index");
}

/* Indices are one number a pixel, and no colours. */
static void check_palette(Elaborator *e, const DataPipeline *pipeline, const InputInfo *input) {
  const DataCall *source = &pipeline->calls[0];
  if (!takes_indices(source)) return;
  if (input->type.shape.rank == 4 && input->type.shape.dim[1] != 1) {
    report_shape(e, source, input,
                 "the indices of a palette are one number a pixel, [batch, height, width] or "
                 "[batch, 1, height, width]");
    return;
  }
  for (int c = 1; c < pipeline->call_count; c++) {
    const DataCall *stage = &pipeline->calls[c];
    if (strcmp(stage->function, "color_jitter") != 0) continue;
    Diagnostic *d = report_error(e, stage->span,
                                 "'color_jitter' changes colours, but '%s' is indices of a palette",
                                 pipeline->fields[0]);
    diag_note(d, source->span, "palette = \"index\"");
    diag_help(d, "leave the stage out, or palette = \"index\" where the colours are meant");
  }
}

static void compare_palettes(Elaborator *e, const DataPipeline *its, const DataPipeline *trained) {
  if (!decodes_pictures(its) || !decodes_pictures(trained)) return;
  if (data_joint_call(its) || data_joint_call(trained)) return; /* each source says its own */
  const DataCall *source = &its->calls[0], *first = &trained->calls[0];
  if (takes_indices(source) == takes_indices(first)) return;
  Diagnostic *d = report_error(
      e, source->span,
      takes_indices(source)
          ? "'%s' is indices of palettes here, but colours in data train: its numbers would "
            "mean something else"
          : "'%s' is colours of palettes here, but indices in data train: its numbers would "
            "mean something else",
      its->fields[0]);
  diag_note(d, first->span, "data train reads it here");
  diag_help(d, "palette = \"index\" stands in both, or in neither");
}

void data_check_palettes(Elaborator *e, const DataSet *train) {
  data_compare_to_train(e, train, compare_palettes);
}

/* The line's first field is pictures. */
static void check_picture(Elaborator *e, const DataPipeline *pipeline) {
  int stages = 0;
  for (int c = 1; c < pipeline->call_count; c++) {
    stages += data_acts_on(pipeline->calls[c].function) == GIVES_PICTURES &&
              strcmp(pipeline->calls[c].function, "with") != 0;
    if (stages <= DATA_PICTURE_STAGES) continue;
    report_error(e, pipeline->calls[c].span, "more than %d stages for one picture",
                 DATA_PICTURE_STAGES);
    break;
  }
  const DataCall *source = &pipeline->calls[0];
  const InputInfo *input = module_find_input(e->module, pipeline->fields[0]);
  if (input) {
    const Shape *shape = &input->type.shape;
    bool is_picture =
        input->is_batched &&
        (shape->rank == 3 || (shape->rank == 4 && (shape->dim[1] == 1 || shape->dim[1] == 3)));
    if (!is_picture)
      report_shape(
          e, source, input,
          "pictures are [batch, height, width], or [batch, channels, height, width] with 1 "
          "or 3 channels");
    else if (input->type.dtype == DTYPE_BOOL)
      report_shape(e, source, input, "pictures have values from 0 to 255");
    else {
      check_size(e, pipeline, input);
      check_palette(e, pipeline, input);
    }
  }
}

/* Stages that learn take neither pictures nor sounds. */
static void check_no_numbers(Elaborator *e, const DataPipeline *pipeline, const char *what) {
  const DataCall *picture = data_picture_stage(pipeline);
  for (int c = 1; c < pipeline->call_count; c++) {
    const DataCall *stage = &pipeline->calls[c];
    bool is_window = !strcmp(stage->function, "window");
    if (!is_window && !data_call_names_field(stage, pipeline->fields[0])) continue;
    if (!is_window && data_acts_on(stage->function) == GIVES_ROWS) continue;
    if (data_acts_on(stage->function) == GIVES_BOXES) continue; /* data_boxes.c */
    Diagnostic *d = report_error(e, stage->span, "'%s' does not act on %s, as '%s' is",
                                 stage->function, what, pipeline->fields[0]);
    if (picture) diag_note(d, picture->span, "this stage changes pictures");
  }
}

/* Pictures are bytes, as far as the program says. */
static void check_bytes(Elaborator *e, const DataPipeline *pipeline) {
  const DataCall *source = &pipeline->calls[0], *picture = data_picture_stage(pipeline);
  check_no_numbers(e, pipeline, "pictures");
  const DataArgument *type = data_find_argument(source, "type");
  const InputInfo *input = module_find_input(e->module, pipeline->fields[0]);
  bool is_other =
      type ? strcmp(type->value.string, "u8") != 0 : input && input->type.dtype != DTYPE_U8;
  if (!is_source(pipeline, "raw") || !is_other) return;
  Diagnostic *d = report_error(e, source->span, "pictures are bytes; 'raw' gives %s here",
                               type ? type->value.string : dtype_name(input->type.dtype));
  diag_note(d, picture->span, "this stage changes pictures");
  diag_help(d, "raw(\"file\", type = \"u8\"), if they are bytes");
}

/* The second field of a folder of classes. */
static void check_class(Elaborator *e, const DataPipeline *pipeline, const char *what) {
  const DataCall *source = &pipeline->calls[0];
  const InputInfo *input =
      pipeline->field_count > 1 ? module_find_input(e->module, pipeline->fields[1]) : NULL;
  if (!input || (input->is_batched && data_stored_shape(pipeline, input).rank == 1)) return;
  Diagnostic *d =
      report_error(e, source->span, "the classes of %s are [batch]; the input '%s' is %s", what,
                   input->name, type_text(e->arena, input->type));
  diag_note(d, input->span, "the input");
  if (input->is_batched && input->type.shape.rank == 2)
    diag_help(d, "... | one_hot(%s) makes [batch, classes] of them", input->name);
}

static void check_pictures(Elaborator *e, const DataPipeline *pipeline) {
  check_picture(e, pipeline);
  check_class(e, pipeline, "pictures");
}

/* The line's first field is sounds. */
static void check_sound(Elaborator *e, const DataPipeline *pipeline) {
  const InputInfo *input = module_find_input(e->module, pipeline->fields[0]);
  if (!input) return;
  const Shape *shape = &input->type.shape;
  bool is_sound =
      input->is_batched && (shape->rank == 2 || (shape->rank == 3 && shape->dim[1] == 1));
  if (!is_sound || !dtype_is_float(input->type.dtype))
    report_shape(e, &pipeline->calls[0], input,
                 "sounds are floats, [batch, samples] or [batch, 1, samples]");
}

static void check_sounds(Elaborator *e, const DataPipeline *pipeline) {
  check_sound(e, pipeline);
  check_class(e, pipeline, "sounds");
}

/* Every field has a member, and each is known; the first alone may be a picture. */
static void check_member(Elaborator *e, const DataPipeline *pipeline, int field,
                         const char *names) {
  const DataCall *source = &pipeline->calls[0];
  enum ShardKind kind = shard_kind(names);
  const InputInfo *input = module_find_input(e->module, pipeline->fields[field]);
  if (kind == SHARD_NONE || (shard_is_first(kind) && field > 0)) {
    Diagnostic *d = report_error(e, source->span, "no member '%s' is read for the field '%s'",
                                 names, pipeline->fields[field]);
    diag_help(d, SHARD_RULE);
  } else if (kind == SHARD_CLASS && input &&
             (!input->is_batched || data_stored_shape(pipeline, input).rank != 1)) {
    report_shape(e, source, input, "a member cls is one whole number, [batch]");
  } else if (kind == SHARD_PICTURE) {
    check_picture(e, pipeline);
  } else if (field == 0) {
    check_no_picture(e, pipeline, names);
    if (kind == SHARD_SOUND) check_sound(e, pipeline);
  }
}

static bool names_png(const char *names) {
  for (const char *at = names; *at; at += strspn(at, ";")) {
    size_t length = strcspn(at, ";");
    if (length == 3 && !strncasecmp(at, "png", 3)) return true;
    at += length;
  }
  return false;
}

/* What is said of palettes is said where files may have one. */
static void check_palette_argument(Elaborator *e, const DataCall *source, const char *first) {
  if (!data_find_argument(source, "palette")) return;
  if (shard_kind(first) != SHARD_PICTURE)
    report_error(e, source->span,
                 "'palette' is said of pictures, but the first member of the shards is '%s'",
                 first);
  else if (!names_png(first))
    report_error(e, source->span,
                 "'palette' is said of PNG files, but the first member of the shards is '%s'",
                 first);
}

/* What is said of sounds is said where there are some. */
static void check_sound_arguments(Elaborator *e, const DataCall *source, const char *first) {
  bool is_sound = shard_kind(first) == SHARD_SOUND;
  const DataArgument *rate = data_find_argument(source, "rate");
  if (is_sound && !rate)
    report_error(e, source->span, "sounds in shards need the argument 'rate', samples a second");
  if (!is_sound && (rate || data_find_argument(source, "fit")))
    report_error(e, source->span,
                 "'%s' is said of sounds, but the first member of the shards is '%s'",
                 rate ? "rate" : "fit", first);
}

static void check_shards(Elaborator *e, const DataPipeline *pipeline) {
  const DataCall *source = &pipeline->calls[0];
  const DataArgument *members = data_find_argument(source, "members");
  const DataValue *files = &data_find_argument(source, "files")->value;
  int count = pipeline->field_count;
  for (int i = 0; files->kind == DATA_LIST && i < files->count; i++)
    if (files->items[i].kind != DATA_STRING) {
      report_error(e, source->span, "'files' of shards is a name in quotes or a list of names");
      return;
    }
  if (members ? members->value.count != count : count > 2) {
    Diagnostic *d = report_error(e, source->span,
                                 "'members' of shards has a name for each of the "
                                 "%d field%s",
                                 count, count == 1 ? "" : "s");
    diag_help(d, SHARD_RULE);
    return;
  }
  for (int f = 0; f < count; f++) {
    const DataValue *item = members ? &members->value.items[f] : NULL;
    const char *stated = item && item->kind == DATA_STRING ? item->string : "";
    check_member(e, pipeline, f, item ? stated : shard_default(f));
    if (f > 0) continue;
    check_sound_arguments(e, source, item ? stated : shard_default(f));
    check_palette_argument(e, source, item ? stated : shard_default(f));
  }
}

/* ---- windows and drawn tasks ---------------------------------------------------------------- */

static void check_windows(Elaborator *e, const DataPipeline *pipeline) {
  const DataCall *source = &pipeline->calls[0];
  double length = data_argument_number(source, "length", 0);
  bool is_tokens = !strcmp(source->function, "token_stream");
  for (int f = 0; f < pipeline->field_count; f++) {
    const InputInfo *input = module_find_input(e->module, pipeline->fields[f]);
    if (!input) continue;
    const Shape *shape = &input->type.shape;
    DType dtype = input->type.dtype;
    if (!input->is_batched || shape->rank != 2 || (double)shape->dim[1] != length)
      report_shape(e, source, input, arena_printf(e->arena, "windows are [batch, %.0f]", length));
    else if (dtype == DTYPE_BOOL || dtype_is_half(dtype) || (is_tokens && dtype == DTYPE_U8))
      report_shape(e, source, input,
                   is_tokens ? "the ids of tokens need an input of i32, i64, f32 or f64"
                             : "the numbers of a text need an input of u8, i32, i64, f32 or f64");
  }
}

static void check_task(Elaborator *e, const DataPipeline *pipeline) {
  const DataCall *source = &pipeline->calls[0];
  double words = data_argument_number(source, "words", 0);
  double bits = data_argument_number(source, "bits", 0);
  double least = data_argument_number(source, "least", 1);
  if (least > words)
    report_error(e, source->span, "copy_task: at least %.0f words of at most %.0f", least, words);
  for (int f = 0; f < pipeline->field_count; f++) {
    const InputInfo *input = module_find_input(e->module, pipeline->fields[f]);
    if (!input) continue;
    double channels = f == 0 ? bits + 2 : f == 1 ? bits : 1;
    const Shape *shape = &input->type.shape;
    if (input->is_batched && shape->rank == 3 && (double)shape->dim[1] == 2 * words + 2 &&
        (double)shape->dim[2] == channels)
      continue;
    report_shape(e, source, input,
                 arena_printf(e->arena, "this copy_task gives [batch, %.0f, %.0f]", 2 * words + 2,
                              channels));
  }
}

/* ---- columns of a table ---------------------------------------------------------------------- */

static bool check_separator(Elaborator *e, const DataCall *source) {
  const DataArgument *separator = data_find_argument(source, "separator");
  const char *word = separator ? separator->value.string : ",";
  if (strlen(word) == 1 && !strchr("\"\r\n", word[0])) return true;
  return report_failure(e, source->span,
                        "the separator must be one character, not a quote or the end of a line");
}

static bool check_missing(Elaborator *e, const DataCall *source) {
  const DataArgument *missing = data_find_argument(source, "missing");
  for (int i = 0; missing && i < missing->value.count; i++) {
    if (missing->value.items[i].kind == DATA_STRING) continue;
    return report_failure(e, source->span, "'missing' is a list of texts in quotes");
  }
  return true;
}

/* How many columns an entry names; -1 after an error. */
static int64_t count_columns(Elaborator *e, const DataCall *source, const DataValue *value,
                             bool has_header) {
  int64_t count = 0;
  for (int i = 0; value->kind == DATA_LIST && i < value->count; i++) {
    int64_t part = count_columns(e, source, &value->items[i], has_header);
    if (part < 0) return -1;
    count += part;
  }
  if (value->kind == DATA_LIST) return count;
  bool is_number = value->kind == DATA_NUMBER && value->number >= -1e15 && value->number <= 1e15 &&
                   value->number == (double)(int64_t)value->number;
  if (is_number || (value->kind == DATA_STRING && has_header)) return 1;
  if (value->kind == DATA_STRING)
    report_error(e, source->span, "column \"%s\": names of columns need header = true",
                 value->string);
  else
    report_error(e, source->span,
                 "a column is a name in quotes, a whole number or a list of these");
  return -1;
}

static void check_columns(Elaborator *e, const DataPipeline *pipeline, const DataArgument *columns,
                          bool has_header) {
  const DataCall *source = &pipeline->calls[0];
  if (columns->value.count != pipeline->field_count) {
    report_error(
        e, source->span, "'columns' has %d entries for %d field%s; each field has an entry",
        columns->value.count, pipeline->field_count, pipeline->field_count == 1 ? "" : "s");
    return;
  }
  for (int f = 0; f < pipeline->field_count; f++) {
    const InputInfo *input = module_find_input(e->module, pipeline->fields[f]);
    int64_t count = count_columns(e, source, &columns->value.items[f], has_header);
    if (count < 0) return;
    if (!input || !input->is_batched) continue;
    bool is_name = f == 0 && is_list(pipeline);
    Shape shape = data_stored_shape(pipeline, input);
    int skipped = data_window_rows(pipeline, f) > 0 && shape.rank > 1 ? 2 : 1;
    int64_t width = is_name ? 1 : extent_product(shape.dim + skipped, shape.rank - skipped);
    if (count == width) continue;
    report_shape(e, source, input,
                 arena_printf(e->arena, "'%s' has %lld column%s, but an example %lld value%s",
                              pipeline->fields[f], (long long)count, count == 1 ? "" : "s",
                              (long long)width, width == 1 ? "" : "s"));
  }
}

static void check_table(Elaborator *e, const DataPipeline *pipeline) {
  const DataCall *source = &pipeline->calls[0];
  const DataArgument *columns = data_find_argument(source, "columns");
  bool has_header = data_argument_number(source, "header", 1) != 0;
  if (!check_separator(e, source) || !check_missing(e, source)) return;
  for (int f = 0; f < pipeline->field_count; f++) {
    const InputInfo *input = module_find_input(e->module, pipeline->fields[f]);
    if (input && !input->is_batched)
      report_shape(e, source, input, "a table gives examples, one a line");
  }
  if (columns) check_columns(e, pipeline, columns, has_header);
}

/* A table whose first field names pictures: no stage that learns takes these. */
static void check_list(Elaborator *e, const DataPipeline *pipeline) {
  check_table(e, pipeline);
  check_picture(e, pipeline);
  check_bytes(e, pipeline);
}

static void check_sound_list(Elaborator *e, const DataPipeline *pipeline) {
  check_table(e, pipeline);
  check_sound(e, pipeline);
  check_no_numbers(e, pipeline, "sounds");
}

/* ---- the line ------------------------------------------------------------------------------- */

void data_check_shapes(Elaborator *e, const DataPipeline *pipeline) {
  static const struct {
    const char *source;
    void (*check)(Elaborator *e, const DataPipeline *pipeline);
  } checks[] = {{"image_folder", check_pictures}, {"files", check_picture},
                {"shards", check_shards},         {"image_list", check_list},
                {"text", check_windows},          {"token_stream", check_windows},
                {"copy_task", check_task},        {"csv", check_table},
                {"wav_folder", check_sounds},     {"wav_list", check_sound_list}};
  for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
    if (is_source(pipeline, checks[i].source)) checks[i].check(e, pipeline);
  bool decodes = data_decodes_pictures(data_gives(pipeline->calls[0].function));
  if (decodes || !data_picture_stage(pipeline)) return;
  check_picture(e, pipeline);
  check_bytes(e, pipeline);
}
