/* Labels as numbers for each class, and mixtures of examples: one_hot, mixup and cutmix. */
#include <string.h>
#include "elaborate/core/report.h"
#include "elaborate/sections/data.h"

static bool is_call(const DataCall *call, const char *name) {
  return strcmp(call->function, name) == 0;
}

static const DataCall *find_one_hot(const DataPipeline *pipeline, const char *field) {
  for (int c = 1; c < pipeline->call_count; c++)
    if (is_call(&pipeline->calls[c], "one_hot") &&
        data_call_names_field(&pipeline->calls[c], field))
      return &pipeline->calls[c];
  return NULL;
}

Shape data_stored_shape(const DataPipeline *pipeline, const InputInfo *input) {
  Shape shape = input->type.shape;
  if (shape.rank > 1 && find_one_hot(pipeline, input->name)) shape.rank--;
  return shape;
}

static void report_mistake(Elaborator *e, const DataCall *call, const InputInfo *input,
                           const char *message) {
  Diagnostic *d = report_error(e, call->span, "%s; the input '%s' is %s", message, input->name,
                               type_text(e->arena, input->type));
  diag_note(d, input->span, "the input");
}

static void check_one_hot(Elaborator *e, const DataPipeline *pipeline, const DataCall *call) {
  for (int f = 0; f < pipeline->field_count; f++) {
    const char *field = pipeline->fields[f];
    if (!data_call_names_field(call, field)) continue;
    const InputInfo *input = module_find_input(e->module, field);
    if (f == 0 && data_first_is_picture(pipeline))
      report_error(e, call->span, "'one_hot' does not act on pictures, as '%s' is", field);
    else if (find_one_hot(pipeline, field) != call)
      report_error(e, call->span, "one_hot(%s) stands here twice", field);
    else if (data_window_rows(pipeline, f) > 0)
      report_error(e, call->span, "'one_hot' does not act on windows of rows, as '%s' has", field);
    else if (input && (!input->is_batched || input->type.shape.rank < 2))
      report_mistake(e, call, input, "one_hot gives a number for each class, [batch, classes]");
  }
}

/* Class numbers have no numbers between them. */
static bool can_be_mixed(const InputInfo *input) {
  DType dtype = input->type.dtype;
  return dtype_is_float(dtype) || (dtype == DTYPE_U8 && input->type.shape.rank >= 3);
}

static void check_mixed_field(Elaborator *e, const DataPipeline *pipeline, const DataCall *call,
                              const InputInfo *input) {
  const InputInfo *first = module_find_input(e->module, pipeline->fields[0]);
  const Shape *shape = &input->type.shape;
  bool cuts = is_call(call, "cutmix");
  if (!cuts || shape->rank < 3) {
    if (can_be_mixed(input)) return;
    Diagnostic *d = report_error(e, call->span,
                                 "'%s' makes numbers between those of two examples, but '%s' has "
                                 "class numbers: it is %s",
                                 call->function, input->name, type_text(e->arena, input->type));
    diag_note(d, input->span, "the input");
    diag_help(d, "... | one_hot(%s) | ..., and input %s : f32[batch, classes]", input->name,
              input->name);
  } else if (first &&
             memcmp(shape->dim + shape->rank - 2,
                    first->type.shape.dim + first->type.shape.rank - 2, 2 * sizeof *shape->dim)) {
    report_mistake(e, call, input, "'cutmix' cuts pictures of one height and width");
  }
}

static void check_mixing(Elaborator *e, const DataSet *set, const DataPipeline *pipeline,
                         const DataCall *call) {
  bool cuts = is_call(call, "cutmix");
  const InputInfo *first = module_find_input(e->module, pipeline->fields[0]);
  if (strcmp(set->name, "train") != 0) {
    report_error(e, call->span, "'%s' mixes what training reads; it stands in 'data train' alone",
                 call->function);
  } else if (data_argument_number(call, "alpha", 1) == 0) {
    report_error(e, call->span, "'alpha' must be above 0: with 0 there are no mixtures");
  } else if (e->module->run.batch == 1) {
    report_error(e, call->span, "'%s' mixes the examples of a minibatch, which has one here",
                 call->function);
  } else if (cuts && first && first->type.shape.rank < 3) {
    report_mistake(e, call, first, "'cutmix' cuts the pictures of the line's first field");
  } else {
    for (int f = 0; f < pipeline->field_count; f++) {
      const InputInfo *input = module_find_input(e->module, pipeline->fields[f]);
      if (input && input->is_batched) check_mixed_field(e, pipeline, call, input);
    }
  }
}

void data_check_mixtures(Elaborator *e, const DataSet *set, const DataPipeline *pipeline) {
  const DataCall *mixed[2] = {NULL, NULL};
  for (int c = 1; c < pipeline->call_count; c++) {
    const DataCall *call = &pipeline->calls[c];
    bool cuts = is_call(call, "cutmix");
    if (is_call(call, "one_hot")) check_one_hot(e, pipeline, call);
    if (!cuts && !is_call(call, "mixup")) continue;
    if (mixed[cuts]) {
      Diagnostic *d = report_error(e, call->span, "'%s' stands in this line twice", call->function);
      diag_note(d, mixed[cuts]->span, "the first");
    } else {
      check_mixing(e, set, pipeline, call);
    }
    mixed[cuts] = call;
  }
}
