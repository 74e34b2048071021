/* unstandardize(x, field): standard scores of a field back in its units.
 *
 * What `standardize` learns is known when the program runs. So it is a variable that the runtime fills in
 * (runtime/core/scores.c), "FIELD:standardize" [2, a row's columns]: the means, then the deviations. Where nothing has
 * been learnt, as in the interpreter, they are 0 and 1, and scores stay as they are. That `data train` standardizes the
 * field is checked when its nameless stages have their names (sections/data_units.c). */
#include <string.h>
#include "elaborate/builtins/builtins.h"
#include "elaborate/core/emit.h"
#include "elaborate/core/report.h"
#include "elaborate/core/slot.h"
#include "elaborate/eval/convert.h"
#include "elaborate/eval/operate.h"
#include "elaborate/variables/variable.h"
#include "support/names.h"
#include "syntax/visit.h"

/* ---- the field ---------------------------------------------------------------------------- */

static bool has_window(const AstEntry *entry) {
  for (int i = 0; i < entry->stages.count; i++)
    if (visit_finds_name(entry->stages.items[i], name_intern("window"))) return true;
  return false;
}

/* Whether an example of the field is a window of rows in `data train`, which may stand further down. */
static bool is_windowed(const Elaborator *e, const char *field) {
  for (int s = 0; s < e->program->stmts.count; s++) {
    const AstStmt *stmt = e->program->stmts.items[s];
    if (stmt->kind != AST_DATA || strcmp(stmt->section.name.text, "train") != 0) continue;
    for (int i = 0; i < stmt->section.entries.count; i++) {
      const AstEntry *entry = &stmt->section.entries.items[i];
      for (int n = 0; n < entry->names.count; n++)
        if (entry->names.items[n].text == field && has_window(entry)) return true;
    }
  }
  return false;
}

/* The axes of a row's columns: without those of examples and of a window's rows. */
static Shape columns_of(const Elaborator *e, const InputInfo *input) {
  Shape columns = {0};
  for (int i = is_windowed(e, input->name) ? 2 : 1; i < input->type.shape.rank; i++)
    columns.dim[columns.rank++] = input->type.shape.dim[i];
  return columns;
}

static const InputInfo *find_input(Elaborator *e, const Bound *bound) {
  Value field = bound->values[1];
  const Node *node = value_is_tensor(field) ? field.tensor.node : NULL;
  const InputInfo *input = node && node->op == OP_INPUT
                               ? module_find_input(e->module, node_string(node, ATTR_NAME))
                               : NULL;
  if (input && !input->is_batched) return NULL; /* which was told */
  if (input && dtype_is_float(input->type.dtype)) return input;
  Diagnostic *d =
      report_error(e, bound->spans[1],
                   "the second argument of 'unstandardize' is the field whose units are meant, an "
                   "input of floats, found %s",
                   value_describe(e->arena, field));
  if (input) diag_note(d, input->span, "the input");
  else if (node) report_note_tensor(e, d, "the tensor", node);
  diag_help(d, "unstandardize(prediction, y), where data train has standardize(y)");
  return NULL;
}

/* ---- the scores --------------------------------------------------------------------------- */

static Node *find_scores(Elaborator *e, const Bound *bound, DType dtype) {
  Value value = bound->values[0];
  bool is_plain = value_is_number(value) || value_is_sequence(value);
  Node *x =
      is_plain ? convert_tensor(e, value, dtype, bound->spans[0]) : builtins_tensor(e, bound, 0);
  if (!x) return NULL;
  if (!dtype_is_float(x->type.dtype)) return builtins_refuse_type(e, bound, 0, x);
  return emit_cast(e, x, type_widened(x->type).dtype);
}

/* Each column has a mean and a deviation of its own, so scores have the columns last, as the field has. */
static bool check_columns(Elaborator *e, const Bound *bound, const Node *x, const InputInfo *input,
                          Shape columns) {
  Shape shape = x->type.shape;
  int before = shape.rank - columns.rank;
  if (before >= 0 &&
      !memcmp(shape.dim + before, columns.dim, (size_t)columns.rank * sizeof *columns.dim))
    return true;
  Diagnostic *d = report_error(e, bound->spans[0],
                               "a row of '%s' has columns %s, each with units of its own: the "
                               "scores must end with these axes",
                               input->name, shape_text(e->arena, columns));
  report_note_tensor(e, d, "x", x);
  diag_note(d, input->span, "the input");
  return false;
}

/* ---- the variable ------------------------------------------------------------------------- */

/* In the step itself, not in initial values or schedules; a gradient of one's own reads what its def has bound. */
static bool is_in_step(Elaborator *e, const Bound *bound) {
  const Region *region = e->region;
  while (region->outer) region = region->outer;
  if (region == &e->trace->region) return true;
  Diagnostic *d =
      report_error(e, bound->call, "the units of data are not known before a run has begun");
  diag_help(d, "use 'unstandardize' on tensors of the step");
  return false;
}

/* The variable's value, made where a trace meets it first. */
static Slot *find_slot(Elaborator *e, const InputInfo *input, Shape columns, Span at) {
  const char *path = name_printf("%s:standardize", input->name), *label = e->frame->label;
  Slot *slot = slot_find(e->trace, path);
  if (slot) return slot;
  Type type = type_widened(input->type);
  type.shape = (Shape){.rank = 1, .dim = {2}};
  for (int i = 0; i < columns.rank; i++) type.shape.dim[type.shape.rank++] = columns.dim[i];
  slot = variable_create(e, VARIABLE_FITTED, path, type, at);
  if (slot && e->trace->entry == ENTRY_TRAIN) {
    Context outer = region_enter(e, &e->init);
    Value initial = value_tensor(e, emit_iota(e, type, 0));
    region_leave(e, outer);
    variable_initialize(e, path, type, NULL, initial, at);
  }
  e->frame->label = label;
  return slot;
}

/* Row 0 or 1 of the variable, in the type of what it is computed with. */
static Value take_row(Elaborator *e, Node *scores, int row, DType dtype) {
  Shape shape = scores->type.shape;
  int64_t start[MAX_RANK] = {row}, stop[MAX_RANK] = {row + 1}, step[MAX_RANK];
  for (int i = 0; i < shape.rank; i++) step[i] = 1;
  for (int i = 1; i < shape.rank; i++) stop[i] = shape.dim[i];
  Node *part = emit_slice(e, scores, start, stop, step);
  Shape columns = {.rank = shape.rank - 1};
  memcpy(columns.dim, shape.dim + 1, (size_t)columns.rank * sizeof *columns.dim);
  part = part ? emit_reshape(e, part, columns) : NULL;
  part = part ? emit_cast(e, part, dtype) : NULL;
  return part ? value_tensor(e, part) : value_error();
}

static Value apply_unstandardize(Elaborator *e, const Bound *bound) {
  Span at = bound->call;
  const InputInfo *input = find_input(e, bound);
  if (!input) return value_error();
  Shape columns = columns_of(e, input);
  Node *x = find_scores(e, bound, type_widened(input->type).dtype);
  if (!x || !check_columns(e, bound, x, input, columns) || !is_in_step(e, bound))
    return value_error();
  Slot *slot = find_slot(e, input, columns, at);
  Value value = slot ? slot_value(e, slot) : value_error();
  Node *scores = value_is_error(value) ? NULL : convert_any_tensor(e, value, at);
  if (!scores) return value_error();
  Value mean = take_row(e, scores, 0, x->type.dtype);
  Value deviation = take_row(e, scores, 1, x->type.dtype);
  if (value_is_error(mean) || value_is_error(deviation)) return value_error();
  Value scaled = operate_binary(e, AST_MUL, value_tensor(e, x), deviation, at, at);
  return value_is_error(scaled) ? scaled : operate_binary(e, AST_ADD, scaled, mean, at, at);
}

const Builtin builtins_units[] = {
    BUILTIN("units of data", apply_unstandardize, 0, "unstandardize", "x: tensor, field: tensor",
            "Standard scores in the units of the field: x times the deviation of the field's "
            "columns, plus their mean, as standardize(field) of data train has learnt them. For "
            "predictions and metrics of a target that is trained in standard scores. The last "
            "axes of x are the field's columns; a constant column becomes its constant. It is for "
            "scores, not for their differences, to which the mean would be added: both sides "
            "first, then the difference."
            " Example: price_guess = unstandardize(linear(x, 1)[:, 0], price)"),
    {0},
};
