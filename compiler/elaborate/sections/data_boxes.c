/* Boxes that move with the pictures of their line: `boxes(field, classes = field, least = 0)`. */
#include <string.h>
#include "elaborate/core/report.h"
#include "elaborate/sections/data.h"

static bool is_call(const DataCall *call, const char *name) {
  return strcmp(call->function, name) == 0;
}

static const char *field_of(const DataCall *call, const char *name) {
  const DataArgument *argument = data_find_argument(call, name);
  return argument ? argument->value.string : NULL;
}

static void report_input(Elaborator *e, const DataCall *call, const InputInfo *input,
                         const char *wanted) {
  Diagnostic *d = report_error(e, call->span, "%s; the input '%s' is %s", wanted, input->name,
                               type_text(e->arena, input->type));
  diag_note(d, input->span, "the input");
}

/* The stage `boxes` of the line that names the field; NULL. */
static const DataCall *find_boxes(const DataPipeline *pipeline, const char *field) {
  for (int c = 1; pipeline && c < pipeline->call_count; c++)
    if (is_call(&pipeline->calls[c], "boxes") && data_call_names_field(&pipeline->calls[c], field))
      return &pipeline->calls[c];
  return NULL;
}

/* [batch, 4] or [batch, boxes, 4], and [batch] or [batch, boxes]. */
static bool check_inputs(Elaborator *e, const DataCall *call, const InputInfo *boxes,
                         const InputInfo *classes) {
  const Shape *shape = boxes ? &boxes->type.shape : NULL;
  bool are_boxes =
      !boxes || (boxes->is_batched && (shape->rank == 2 || shape->rank == 3) &&
                 shape->dim[shape->rank - 1] == 4 && dtype_is_float(boxes->type.dtype));
  if (!are_boxes) {
    report_input(e, call, boxes, "boxes are floats, [batch, 4] or [batch, boxes, 4]");
    return false;
  }
  if (!boxes || !classes) return true;
  const Shape *its = &classes->type.shape;
  bool fits = classes->is_batched && its->rank == shape->rank - 1 &&
              (its->rank == 1 || its->dim[1] == shape->dim[1]);
  if (!fits) report_input(e, call, classes, "each box has one class");
  else if (classes->type.dtype == DTYPE_U8 || classes->type.dtype == DTYPE_BOOL)
    report_input(e, call, classes, "the class of a box that is not seen is -1");
  return fits;
}

/* What changes the numbers of the same field. */
static void check_others(Elaborator *e, const DataPipeline *pipeline, const DataCall *call,
                         const char *field) {
  static const char *const changes[] = {"standardize", "one_hot", "window",
                                        "mixup",       "cutmix",  "boxes"};
  for (int c = 1; c < pipeline->call_count; c++)
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
      const DataCall *other = &pipeline->calls[c];
      bool is_of_line = i >= 2 && i <= 4; /* acts on all fields */
      if (other == call || !is_call(other, changes[i])) continue;
      if (!is_of_line && !data_call_names_field(other, field)) continue;
      bool is_boxes = is_call(other, "boxes");
      if (is_boxes && other > call) continue; /* it is told of that one */
      Diagnostic *d = is_boxes ? report_error(e, call->span, "a second stage moves '%s'", field)
                               : report_error(e, call->span,
                                              "'%s' is moved with its picture, so '%s' cannot "
                                              "change it",
                                              field, other->function);
      diag_note(d, other->span, "the other stage");
      return;
    }
}

static void check_call(Elaborator *e, const DataPipeline *pipeline, const DataCall *call) {
  const char *field = field_of(call, "field"), *classes = field_of(call, "classes");
  const char *first = pipeline->fields[0];
  if (!data_picture_stage(pipeline)) {
    Diagnostic *d = report_error(e, call->span,
                                 "no stage of this line changes pictures: the boxes '%s' have "
                                 "nothing to follow",
                                 field);
    diag_help(d, "boxes follow the first field of their line: ... | resize(224, 224) | boxes(%s)",
              field);
  } else if (field == first || classes == first) {
    report_error(e, call->span, "'%s' is the pictures of this line, not its boxes", first);
  } else if (field == classes) {
    report_error(e, call->span, "'%s' cannot be the boxes and their classes", field);
  } else if (check_inputs(e, call, module_find_input(e->module, field),
                          classes ? module_find_input(e->module, classes) : NULL)) {
    check_others(e, pipeline, call, field);
    if (classes) check_others(e, pipeline, call, classes);
  }
}

/* Boxes of training move: those of another set, whose pictures change too, would be left where they were. */
static void check_undeclared(Elaborator *e, const DataSet *train, const DataPipeline *pipeline) {
  const DataCall *picture = data_picture_stage(pipeline);
  for (int f = 1; f < pipeline->field_count && picture; f++) {
    const char *field = pipeline->fields[f];
    const DataCall *trained = find_boxes(data_find_pipeline(train, field), field);
    bool is_theirs = trained && field_of(trained, "field") == field;
    if (!is_theirs || find_boxes(pipeline, field)) continue;
    Diagnostic *d = report_error(e, picture->span,
                                 "'%s' changes pictures, but the boxes '%s' stay where they are",
                                 picture->function, field);
    diag_note(d, trained->span, "in 'data train' they are moved");
    diag_help(d, "... | boxes(%s)", field);
  }
}

void data_check_boxes(Elaborator *e, const DataSet *train, const DataSet *set,
                      const DataPipeline *pipeline) {
  for (int c = 1; c < pipeline->call_count; c++)
    if (is_call(&pipeline->calls[c], "boxes")) check_call(e, pipeline, &pipeline->calls[c]);
  if (set != train && !pipeline->is_wrong) check_undeclared(e, train, pipeline);
}
