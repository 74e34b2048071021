/* Masks that go with the pictures of another line of their set: `mask = image_folder("masks") | with(image, value = 0)`.
 *
 * In the place of the stage come copies of the stages of that line which move pixels, so they act alike and draw the
 * same; `value` is what these put where there is nothing of the mask. The stage itself stays before them: it tells the
 * runtime that values are not mixed, and whose size each mask has (runtime/data/with.c). */
#include <string.h>
#include "elaborate/core/report.h"
#include "elaborate/sections/data.h"
#include "support/names.h"

static bool is_called(const DataCall *call, const char *name) {
  return strcmp(call->function, name) == 0;
}

static bool is_with(const DataCall *call) { return is_called(call, "with"); }

static const DataCall *find_with(const DataPipeline *pipeline) {
  for (int c = 1; c < pipeline->call_count; c++)
    if (is_with(&pipeline->calls[c])) return &pipeline->calls[c];
  return NULL;
}

static const char *field_of(const DataCall *with) {
  return data_find_argument(with, "field")->value.string;
}

static bool changes_pictures(const DataCall *call) {
  return data_acts_on(call->function) == GIVES_PICTURES;
}

/* Not its colours, and what is erased of a picture is still to be found. */
static bool moves_pixels(const DataCall *call) {
  return changes_pictures(call) && !is_with(call) && !is_called(call, "color_jitter") &&
         !is_called(call, "random_erase");
}

/* ---- what is refused ---- */

static bool gives_pictures(const DataPipeline *line) {
  return line->call_count > 0 && (data_gives(line->calls[0].function) & GIVES_PICTURES) != 0;
}

static bool report_unknown(Elaborator *e, const DataSet *set, const DataPipeline *pipeline,
                           const DataCall *with) {
  VEC(const char *) names = {0};
  for (int p = 0; p < set->pipeline_count; p++)
    if (!data_has_field(pipeline, set->pipelines[p].fields[0]) &&
        gives_pictures(&set->pipelines[p]))
      vec_push(e->arena, &names, set->pipelines[p].fields[0]);
  Diagnostic *d =
      report_error(e, with->span, "no line of 'data %s' gives '%s'", set->name, field_of(with));
  report_suggest(d, field_of(with), names.items, names.count);
  diag_help(d, "'with' names the pictures of another line: image = image_folder(\"pictures\") | "
               "random_flip; mask = image_folder(\"masks\") | with(image)");
  return false;
}

/* The line that the stage names is one of pictures with stages of its own. */
static bool check_named(Elaborator *e, const DataPipeline *pipeline, const DataCall *with,
                        const DataPipeline *other) {
  const char *field = field_of(with), *first = other->fields[0];
  Diagnostic *d;
  if (data_has_field(pipeline, field)) {
    d = report_error(e, with->span,
                     "'%s' is a field of this line; 'with' names the pictures of another", field);
    return false;
  }
  if (find_with(other)) {
    d = report_error(e, with->span,
                     "'%s' itself goes with '%s', so '%s' cannot take its stages from it", field,
                     field_of(find_with(other)), pipeline->fields[0]);
    diag_note(d, find_with(other)->span, "the stage of that line");
    diag_help(d, "one of the lines has the stages, and the others go with that one");
    return false;
  }
  if (field == first && gives_pictures(other)) return true;
  d = report_error(e, with->span, "'%s' is no field of pictures", field);
  diag_note(d, other->span, "its line");
  if (gives_pictures(other)) diag_help(d, "the pictures of that line are '%s'", first);
  else diag_help(d, "'%s' gives no pictures", other->calls[0].function);
  return false;
}

/* All that moves the mask is said in the line of its picture. */
static bool check_own(Elaborator *e, const DataPipeline *pipeline, const DataCall *with) {
  for (int c = 1; c < pipeline->call_count; c++) {
    const DataCall *call = &pipeline->calls[c];
    if (call == with || !changes_pictures(call)) continue;
    Diagnostic *d =
        is_with(call)
            ? report_error(e, call->span, "a second 'with': '%s' goes with '%s' already",
                           pipeline->fields[0], field_of(with))
            : report_error(e, call->span,
                           "'%s' goes through the stages of '%s', so '%s' cannot change it again",
                           pipeline->fields[0], field_of(with), call->function);
    diag_note(d, with->span, "here it takes them");
    if (moves_pixels(call))
      diag_help(d, "stages that move pixels stand in the line of '%s'", field_of(with));
    else if (!is_with(call)) diag_help(d, "the values of a mask are no colours: leave it out");
    return false;
  }
  return true;
}

/* ---- copies ---- */

static DataCall copy_call(Elaborator *e, const DataCall *call, const DataCall *with) {
  const DataArgument *value = data_find_argument(with, "value");
  bool fills = is_called(call, "pad") || is_called(call, "random_affine");
  DataCall copy = {.function = call->function, .span = with->span};
  copy.arguments = ARENA_ARRAY(e->arena, DataArgument, call->argument_count + 1);
  for (int i = 0; i < call->argument_count; i++)
    if (!fills || strcmp(call->arguments[i].name, "value") != 0)
      copy.arguments[copy.argument_count++] = call->arguments[i];
  if (fills && value) copy.arguments[copy.argument_count++] = *value;
  return copy;
}

/* The calls of the line with those of the other after `with`. */
static void expand(Elaborator *e, DataPipeline *pipeline, const DataPipeline *other) {
  DataCall *calls = ARENA_ARRAY(e->arena, DataCall, pipeline->call_count + other->call_count + 1);
  int count = 0;
  for (int c = 0; c < pipeline->call_count; c++) {
    const DataCall *call = &pipeline->calls[c];
    calls[count++] = *call;
    for (int k = 1; c > 0 && is_with(call) && k < other->call_count; k++)
      if (moves_pixels(&other->calls[k])) calls[count++] = copy_call(e, &other->calls[k], call);
  }
  pipeline->calls = calls;
  pipeline->call_count = count;
}

/* A line whose stage is refused has it no more. */
static void drop(DataPipeline *pipeline) {
  int count = 0;
  for (int c = 0; c < pipeline->call_count; c++)
    if (c == 0 || !is_with(&pipeline->calls[c])) pipeline->calls[count++] = pipeline->calls[c];
  pipeline->call_count = count;
  pipeline->is_wrong = true;
}

static bool check(Elaborator *e, const DataSet *set, const DataPipeline *pipeline,
                  const DataCall *with, const DataPipeline *other) {
  if (!other) return report_unknown(e, set, pipeline, with);
  if (other->is_wrong) return false; /* which was told */
  return check_named(e, pipeline, with, other) && check_own(e, pipeline, with);
}

void data_expand_with(Elaborator *e, DataSet *set) {
  bool *fits = ARENA_ARRAY(e->arena, bool, set->pipeline_count + 1);
  for (int p = 0; p < set->pipeline_count; p++) {
    const DataPipeline *pipeline = &set->pipelines[p];
    const DataCall *with = find_with(pipeline);
    bool is_first = !data_follows_part(set, p); /* all sources of a line have its stages */
    if (with && is_first)
      fits[p] = check(e, set, pipeline, with, data_find_pipeline(set, field_of(with)));
    else fits[p] = !is_first && fits[p - 1];
  }
  for (int p = 0; p < set->pipeline_count; p++) {
    DataPipeline *pipeline = &set->pipelines[p];
    const DataCall *with = find_with(pipeline);
    if (with && fits[p]) expand(e, pipeline, data_find_pipeline(set, field_of(with)));
    else if (with) drop(pipeline);
  }
}

/* ---- inputs ---- */

static bool is_picture(const InputInfo *input) {
  const Shape *shape = &input->type.shape;
  return input->is_batched && (shape->rank == 3 || shape->rank == 4);
}

void data_check_with(Elaborator *e, const DataSet *set, const DataPipeline *pipeline) {
  const DataCall *with = find_with(pipeline);
  if (!with) return;
  const InputInfo *mask = module_find_input(e->module, pipeline->fields[0]);
  const InputInfo *picture = module_find_input(e->module, field_of(with));
  if (!mask || !picture || !is_picture(mask)) return;
  const int64_t *its = mask->type.shape.dim + mask->type.shape.rank - 2;
  const int64_t *other = picture->type.shape.dim + picture->type.shape.rank - 2;
  bool fits = is_picture(picture) && its[0] == other[0] && its[1] == other[1];
  if (fits) return;
  Diagnostic *d = report_error(
      e, with->span,
      "a mask has the height and width of its picture; the input '%s' is %s, '%s' %s", mask->name,
      type_text(e->arena, mask->type), picture->name, type_text(e->arena, picture->type));
  diag_note(d, mask->span, "the mask");
  diag_note(d, picture->span, "the picture");
}
