/* Sources that are no files on disk: which sets may have them, and whether the values of `counter`
 * and `constant` fit the inputs that they feed. What a file holds is known when it is read; these
 * values are known now. */
#include <math.h>
#include <string.h>
#include "elaborate/core/report.h"
#include "elaborate/sections/data.h"

static bool is_source(const DataPipeline *pipeline, const char *name) {
  return pipeline->call_count > 0 && !strcmp(pipeline->calls[0].function, name);
}

/* ---- sets --------------------------------------------------------------------------------- */

static void check_files(Elaborator *e, const DataSet *set) {
  const DataPipeline *first = NULL;
  for (int i = 0; i < set->pipeline_count; i++) {
    const DataPipeline *pipeline = &set->pipelines[i];
    if (!is_source(pipeline, "files")) continue;
    Span at = pipeline->calls[0].span;
    if (strcmp(set->name, "predict") != 0) {
      Diagnostic *d = report_error(e, at,
                                   "'files' stands in 'data predict' alone: its pictures are named "
                                   "on the command line of predict");
      diag_help(d, "image_folder(\"%s\") reads a folder of pictures for each class", set->name);
    } else if (first) {
      Diagnostic *d = report_error(e, at,
                                   "a second 'files': one line takes all files that are "
                                   "named on the command line");
      diag_note(d, first->calls[0].span, "the first");
    } else {
      first = pipeline;
    }
  }
}

void data_check_sources(Elaborator *e, const DataSet *set) {
  check_files(e, set);
  const DataPipeline *follower = NULL;
  for (int i = 0; i < set->pipeline_count; i++) {
    const DataPipeline *pipeline = &set->pipelines[i];
    if (pipeline->call_count == 0 || !data_follows_rows(&pipeline->calls[0])) return;
    follower = pipeline;
  }
  if (!follower || !strcmp(set->name, "predict")) return;
  report_error(e, follower->calls[0].span,
               "how many rows 'data %s' has is not said: '%s' has those of other lines", set->name,
               follower->calls[0].function);
}

/* ---- values ------------------------------------------------------------------------------- */

/* The extents of nested lists; false when lists of one depth differ, or nest too deep. */
static bool lists_agree(const DataValue *value, int depth, Shape *shape) {
  if (value->kind != DATA_LIST) return depth == shape->rank;
  if (depth == shape->rank) return false;
  for (int i = 0; i < value->count; i++)
    if (!lists_agree(&value->items[i], depth + 1, shape)) return false;
  return value->count == shape->dim[depth];
}

static bool list_shape(const DataValue *value, Shape *shape) {
  *shape = shape_scalar();
  for (const DataValue *at = value; at->kind == DATA_LIST; at = &at->items[0]) {
    if (shape->rank == MAX_RANK || at->count == 0) return false;
    shape->dim[shape->rank++] = at->count;
  }
  return lists_agree(value, 0, shape);
}

/* An integer's first value and the first after its last. */
static bool fits_integer(DType dtype, double number) {
  double from = dtype == DTYPE_I64 ? -0x1p53 : dtype == DTYPE_I32 ? -0x1p31 : 0;
  double to = dtype == DTYPE_I64   ? 0x1p53
              : dtype == DTYPE_I32 ? 0x1p31
              : dtype == DTYPE_U8  ? 256
                                   : 2;
  return number >= from && number < to && number == floor(number);
}

static bool fits_float(DType dtype, double number) {
  double most = dtype == DTYPE_F16 ? 65504 : dtype == DTYPE_F64 ? INFINITY : 0x1.fffffep127;
  return fabs(number) <= most;
}

static const DataValue *find_misfit(const DataValue *value, DType dtype) {
  for (int i = 0; value->kind == DATA_LIST && i < value->count; i++) {
    const DataValue *found = find_misfit(&value->items[i], dtype);
    if (found) return found;
  }
  if (value->kind == DATA_LIST) return NULL;
  if (value->kind != DATA_NUMBER && value->kind != DATA_BOOL) return value;
  bool fits =
      dtype_is_float(dtype) ? fits_float(dtype, value->number) : fits_integer(dtype, value->number);
  return fits ? NULL : value;
}

/* What one row is: the input's type without its first axis. */
static Shape row_shape(const InputInfo *input) {
  Shape shape = input->type.shape;
  bool has_rows = input->is_batched && shape.rank > 0; /* without axes it has been refused */
  return has_rows ? shape_make(shape.rank - 1, shape.dim + 1) : shape;
}

static void check_constant(Elaborator *e, const DataCall *call, const InputInfo *input) {
  const DataValue *value = &call->arguments[0].value;
  const char *type = type_text(e->arena, input->type);
  Shape shape, joined, row = row_shape(input);
  if (!list_shape(value, &shape)) {
    report_error(e, call->span, "the lists of a constant must be of one length, and not empty");
    return;
  }
  if (!shape_broadcast(shape, row, &joined) || !shape_equal(joined, row)) {
    Text text = {0};
    text_add_shape(&text, shape);
    Diagnostic *d = report_error(e, call->span,
                                 "a constant of shape %s does not fit the rows of the input '%s', "
                                 "which is %s",
                                 text.data, input->name, type);
    text_free(&text);
    diag_note(d, input->span, "the input");
    return;
  }
  const DataValue *misfit = find_misfit(value, input->type.dtype);
  if (!misfit) return;
  Diagnostic *d =
      misfit->kind == DATA_STRING
          ? report_error(e, call->span, "a constant has numbers, not the string \"%s\"",
                         misfit->string)
          : report_error(e, call->span,
                         "the constant %.17g is no value of the input '%s', which is %s",
                         misfit->number, input->name, type);
  diag_note(d, input->span, "the input");
}

static void check_counter(Elaborator *e, const DataCall *call, const InputInfo *input) {
  DType dtype = input->type.dtype;
  bool is_index = dtype == DTYPE_I32 || dtype == DTYPE_I64;
  if (is_index && input->is_batched && input->type.shape.rank == 1) return;
  Diagnostic *d = report_error(e, call->span,
                               "'counter' gives a number a row, i32[batch] or i64[batch]; the "
                               "input '%s' is %s",
                               input->name, type_text(e->arena, input->type));
  diag_note(d, input->span, "the input");
}

void data_check_values(Elaborator *e, const DataSet *set) {
  for (int i = 0; i < set->pipeline_count; i++) {
    const DataPipeline *pipeline = &set->pipelines[i];
    const InputInfo *input =
        pipeline->field_count > 0 ? module_find_input(e->module, pipeline->fields[0]) : NULL;
    if (!input) continue;
    if (is_source(pipeline, "counter")) check_counter(e, &pipeline->calls[0], input);
    if (is_source(pipeline, "constant")) check_constant(e, &pipeline->calls[0], input);
  }
}

/* ---- sets beside data train ----------------------------------------------------------------- */

void data_compare_to_train(Elaborator *e, const DataSet *train, DataCompare *compare) {
  const Module *module = e->module;
  for (int i = 0; train && i < module->data_sets.count; i++) {
    const DataSet *set = &module->data_sets.items[i];
    for (int p = 0; p < set->pipeline_count; p++) {
      const DataPipeline *its = &set->pipelines[p];
      const DataPipeline *trained = data_find_pipeline(train, its->fields[0]);
      if (trained) compare(e, its, trained);
    }
  }
}

/* ---- vocabularies ------------------------------------------------------------------------- */

static bool same_files(const DataArgument *a, const DataArgument *b) {
  if (!a || !b) return a == b;
  if (a->value.kind != b->value.kind || a->value.count != b->value.count) return false;
  if (a->value.kind == DATA_STRING) return !strcmp(a->value.string, b->value.string);
  for (int i = 0; i < a->value.count; i++)
    if (strcmp(a->value.items[i].string, b->value.items[i].string) != 0) return false;
  return true;
}

static bool is_text(const DataPipeline *pipeline) {
  return pipeline->call_count > 0 && !pipeline->is_wrong &&
         !strcmp(pipeline->calls[0].function, "text");
}

static void check_vocabulary(Elaborator *e, const DataPipeline *its, const DataPipeline *trained) {
  if (!is_text(its) || !is_text(trained)) return;
  const DataCall *source = &its->calls[0], *first = &trained->calls[0];
  if (same_files(data_find_argument(source, "vocabulary"), data_find_argument(first, "vocabulary")))
    return;
  Diagnostic *d = report_error(
      e, source->span,
      "the vocabulary of '%s' is not that of data train: its numbers would mean other tokens",
      its->fields[0]);
  diag_note(d, first->span, "data train reads it here");
}

void data_check_vocabularies(Elaborator *e, const DataSet *train) {
  data_compare_to_train(e, train, check_vocabulary);
}
