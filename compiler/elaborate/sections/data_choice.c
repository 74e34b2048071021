/* Stages that look at the values of a field: split and fold with `by` or `group`, balance and weigh. The field must be
 * there to be looked at; how often examples are read is said for training alone, and once. */
#include <math.h>
#include <string.h>
#include "elaborate/core/report.h"
#include "elaborate/sections/data.h"

static bool is_call(const DataCall *call, const char *name) {
  return strcmp(call->function, name) == 0;
}

static bool samples(const DataCall *call) {
  return is_call(call, "balance") || is_call(call, "weigh");
}

/* The option takes the numbers of the folds alone. */
static void limit_option(Elaborator *e, const DataCall *call, const char *name, double of) {
  RunOption *option = module_find_option(e->module, name);
  option->sets_rows = true;
  option->least = fmax(option->least, 0);
  option->limit = fmin(option->limit, of);
  if (option->is_whole && option->unit == UNIT_NONE) return;
  Diagnostic *d =
      report_error(e, call->span, "the number of a fold is a whole one, but the option '%s' is %s",
                   name, option->unit ? "a length in epochs or steps" : "not");
  diag_note(d, option->span, "a default without a fraction, such as 0, makes it one");
}

/* A fold's number is below their count. */
static void check_fold(Elaborator *e, const DataCall *call) {
  const DataArgument *argument = data_find_argument(call, "number");
  double number = data_argument_number(call, "number", 0), of = data_argument_number(call, "of", 5);
  if (!argument) return;
  const char *option = argument->value.kind == DATA_OPTION ? argument->value.string : NULL;
  if (option) limit_option(e, call, option, of);
  if (number >= 0 && number < of) return;
  Diagnostic *d = report_error(
      e, call->span, "folds are numbered from 0: of %.0f there is none of number %g", of, number);
  if (option)
    diag_note(d, module_find_option(e->module, option)->span, "the default of the option");
}

/* One value a row, which an input takes: else it is not loaded. */
static void check_field(Elaborator *e, const DataPipeline *pipeline, const DataCall *call,
                        const char *field) {
  const InputInfo *input = module_find_input(e->module, field);
  if (!input) {
    Diagnostic *d = report_error(e, call->span, "'%s' looks at '%s', which feeds no input",
                                 call->function, field);
    diag_help(d, "what no input takes is not loaded: input %s : i32[batch]", field);
    return;
  }
  scope_mark_input(e, field);
  bool is_picture = field == pipeline->fields[0] && data_first_is_picture(pipeline);
  bool is_single = input->is_batched && data_stored_shape(pipeline, input).rank == 1;
  for (int c = 1; c < pipeline->call_count; c++)
    if (is_call(&pipeline->calls[c], "on_disk")) {
      Diagnostic *d = report_error(
          e, call->span,
          "'%s' looks at '%s' before training begins, but 'on_disk' leaves it in its file",
          call->function, field);
      diag_note(d, pipeline->calls[c].span, "on_disk");
      return;
    }
  if (is_call(&pipeline->calls[0], "shards")) {
    Diagnostic *d = report_error(
        e, call->span,
        "'%s' looks at '%s' before training begins, but 'shards' leaves it in its archives",
        call->function, field);
    diag_note(d, pipeline->calls[0].span, "the source");
    return;
  }
  if (is_single && !is_picture) return;
  Diagnostic *d = report_error(e, call->span, "'%s' takes a field of one value a row; '%s' is %s",
                               call->function, field, type_text(e->arena, input->type));
  diag_note(d, input->span, "the input");
}

static void check_sampling(Elaborator *e, const DataSet *set, const DataCall *call,
                           const DataCall **first) {
  static const char *const orders[DATA_ORDER_COUNT] = {"", "file", "streams", "within"};
  if (strcmp(set->name, "train") != 0) {
    report_error(e, call->span,
                 "'%s' says how often training reads an example; it stands in 'data train' alone",
                 call->function);
  } else if (set->order) {
    report_error(e, call->span, "'%s' draws from the whole set, which order = %s does not",
                 call->function, orders[set->order]);
  } else if (*first) {
    Diagnostic *d =
        report_error(e, call->span, "a second stage that says how often an example is read");
    diag_note(d, (*first)->span, "the first");
  }
  *first = call;
}

/* ---- windows of rows ---- */

int64_t data_window_rows(const DataPipeline *pipeline, int field) {
  for (int c = 1; c < pipeline->call_count; c++) {
    const DataCall *call = &pipeline->calls[c];
    if (!is_call(call, "window")) continue;
    double future = data_argument_number(call, "future", 0);
    bool is_future = future > 0 && field == pipeline->field_count - 1;
    return (int64_t)(is_future ? future : data_argument_number(call, "past", 0));
  }
  return 0;
}

static void check_window(Elaborator *e, const DataSet *set, const DataPipeline *pipeline,
                         const DataCall *call) {
  static const char *const others[] = {"split", "fold",    "shuffle", "balance",
                                       "weigh", "on_disk", "window"};
  for (int c = 1; c < pipeline->call_count; c++)
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
      const DataCall *other = &pipeline->calls[c];
      if (other == call || !is_call(other, others[i])) continue;
      Diagnostic *d = report_error(e, call->span,
                                   "'window' takes rows as they follow each other in memory, so "
                                   "'%s' cannot stand beside it",
                                   other->function);
      diag_note(d, other->span, "the other stage");
      diag_help(d, "window(..., from = 0, to = 0.8) takes the first part of the rows");
      return;
    }
  if (set->order == DATA_ORDER_STREAMS)
    report_error(e, call->span, "order = streams cuts the rows themselves, not windows of them");
  for (int f = 0; f < pipeline->field_count; f++) {
    const InputInfo *input = module_find_input(e->module, pipeline->fields[f]);
    int64_t count = data_window_rows(pipeline, f);
    const Shape *shape = input ? &input->type.shape : NULL;
    if (!input || (input->is_batched && shape->rank > 1 && shape->dim[1] == count)) continue;
    Diagnostic *d =
        report_error(e, call->span, "this window gives '%s' as [batch, %lld, ...]; the input is %s",
                     input->name, (long long)count, type_text(e->arena, input->type));
    diag_note(d, input->span, "the input");
  }
}

void data_check_choices(Elaborator *e, const DataSet *set) {
  const DataCall *first = NULL;
  int errors = 0; /* before the line, whose mistakes are told once */
  for (int p = 0; p < set->pipeline_count; p++) {
    const DataPipeline *pipeline = &set->pipelines[p];
    bool is_first = !data_follows_part(set, p); /* all sources of a line have its stages */
    if (is_first) errors = e->errors;
    if (is_first) data_check_mixtures(e, set, pipeline);
    for (int c = 1; c < pipeline->call_count && (is_first || e->errors == errors); c++) {
      const DataCall *call = &pipeline->calls[c];
      const DataArgument *by = data_find_argument(call, samples(call) ? "field" : "by");
      if (is_call(call, "fold")) check_fold(e, call);
      if (is_call(call, "window")) check_window(e, set, pipeline, call);
      if (samples(call) && is_first) check_sampling(e, set, call, &first);
      const DataArgument *group = data_find_argument(call, "group");
      if (by) check_field(e, pipeline, call, by->value.string);
      if (group) check_field(e, pipeline, call, group->value.string);
      if (by && group)
        report_error(e, call->span,
                     "'%s' takes 'by' or 'group': rows of one group stay together, whatever else "
                     "they have",
                     call->function);
    }
  }
}
