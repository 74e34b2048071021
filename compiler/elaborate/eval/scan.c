/* scan: the loop of the running program.
 *
 * The body is elaborated once, into a graph of its own, in a Region whose `outer` is the region
 * around it. A tensor from outside that the body uses becomes an argument (an invariant); parameters
 * are made outside and come the same way. Random numbers are drawn outside, for all steps at once,
 * and become a sequence. At the end of the body the scan node takes it, and its results are
 * transposed so that the steps lie along the axis that the sequences had them along. */
#include "elaborate/core/elaborator.h"
#include "elaborate/core/emit.h"
#include "elaborate/core/path.h"
#include "elaborate/core/report.h"
#include "elaborate/eval/convert.h"
#include "elaborate/eval/evaluate.h"
#include "ops/op.h"
#include "ops/scan.h"
#include "support/names.h"
#include "support/panic.h"

Node *evaluate_random(Elaborator *e, Op op, Type type, int attribute_count,
                      const Attribute *attributes) {
  Region *region = e->region;
  if (!region->outer) return emit_leaf(e, op, type, attribute_count, attributes);
  if (region->is_rule) {
    Context rule = region_enter(e, region->outer);
    Node *outside = evaluate_random(e, op, type, attribute_count, attributes);
    region_leave(e, rule);
    return outside ? region_capture(e, outside, region->outer->graph) : NULL;
  }
  if (type.shape.rank == MAX_RANK)
    return report_failure(e, e->at, "random numbers with %d axes inside a scan, which adds one",
                          MAX_RANK);
  /* Axis 0 stays the first: numbers are counted by example. */
  Type all = type;
  int axis = type.shape.rank > 0;
  all.shape.rank++;
  for (int i = all.shape.rank - 1; i > axis; i--) all.shape.dim[i] = type.shape.dim[i - 1];
  all.shape.dim[axis] = region->length;
  Context body = region_enter(e, region->outer);
  Node *drawn = evaluate_random(e, op, all, attribute_count, attributes);
  drawn = emit_move_axis(e, drawn, axis, 0);
  region_leave(e, body);
  return drawn ? region_add_argument(e, region, ARGUMENT_SEQUENCE, drawn, type) : NULL;
}

/* ---- sequences ---------------------------------------------------------------------------- */

typedef struct Sequences {
  int count;
  Node *nodes[MAX_FORMALS]; /* [length, ...] */
  int64_t length;
  int axis; /* that the steps lie along in what is yielded */
} Sequences;

static Node *read_range(Elaborator *e, Value range, Span at) {
  int64_t from = range.range.from, length = value_sequence_length(range);
  if (!convert_fits(e, value_int(range.range.from), DTYPE_I32, at) ||
      !convert_fits(e, value_int(range.range.to), DTYPE_I32, at))
    return NULL;
  Type type = type_make(DTYPE_I32, shape_make(1, &length));
  Node *counts = emit_iota(e, type, 0);
  if (!counts || from == 0) return counts;
  return emit_binary(e, OP_ADD, counts, emit_constant(e, (double)from, type));
}

/* What an axis of `along` is to a sequence of that rank; axis 0 where nothing is said. */
static bool read_along(Elaborator *e, const AstScan *scan, int rank, int *axis) {
  *axis = 0;
  if (!scan->along) return true;
  Value along = evaluate_expr(e, scan->along);
  return !value_is_error(along) && convert_axis(e, along, scan->along->span, rank, axis);
}

/* A range has no axes: `along` says where the steps lie in what is yielded, whose rank is not known yet. */
static Node *read_sequence(Elaborator *e, const AstScan *scan, const AstExpr *source, int *axis) {
  Value value = convert_plain(e, evaluate_expr(e, source), source->span);
  *axis = 0;
  e->at = source->span;
  if (value_is_error(value)) return NULL;
  if (value.kind == VALUE_RANGE) {
    bool is_alone = scan->sources.count == 1;
    if (is_alone && !read_along(e, scan, MAX_RANK, axis)) return NULL;
    return read_range(e, value, source->span);
  }
  if (!value_is_tensor(value) && !value_is_sequence(value))
    return report_wrong_kind(e, source->span, "what a scan walks over", "a tensor or a range",
                             value);
  Node *node = convert_any_tensor(e, value, source->span);
  if (!node) return NULL;
  if (!scan->along && node->type.shape.rank == 0)
    return report_failure(e, source->span, "a scan walks along an axis, and this tensor has none");
  if (!read_along(e, scan, node->type.shape.rank, axis)) return NULL;
  return emit_move_axis(e, node, *axis, 0);
}

static bool read_sequences(Elaborator *e, const AstScan *scan, Sequences *sequences) {
  int count = scan->sources.count;
  *sequences = (Sequences){.count = count};
  if (count != scan->pattern.count || count > MAX_FORMALS)
    return report_failure(e, scan->keyword, "%d name%s for %d sequence%s", scan->pattern.count,
                          scan->pattern.count == 1 ? "" : "s", count, count == 1 ? "" : "s");
  bool fine = true;
  for (int i = 0; i < count; i++) {
    const AstExpr *source = scan->sources.items[i];
    int axis;
    Node *node = sequences->nodes[i] = read_sequence(e, scan, source, &axis);
    if (!node) {
      fine = false;
      continue;
    }
    if (axis > sequences->axis) sequences->axis = axis;
    int64_t length = node->type.shape.dim[0];
    if (i == 0 || !sequences->nodes[0]) {
      sequences->length = length;
    } else if (length != sequences->length) {
      Diagnostic *d = report_error(e, source->span, "this sequence has %lld steps, the first %lld",
                                   (long long)length, (long long)sequences->length);
      diag_note(d, scan->sources.items[0]->span, "the first");
      fine = false;
    }
  }
  return fine;
}

/* ---- carries ------------------------------------------------------------------------------ */

/* Of a number that the host knows the step takes a copy in the program's float type. */
static Node *take_tensor(Elaborator *e, const AstExpr *expr) {
  Value value = evaluate_expr(e, expr);
  e->at = expr->span;
  Node *node = value_is_error(value) ? NULL : convert_any_tensor(e, value, expr->span);
  return node && region_is_host(e, node) ? emit_cast(e, node, e->default_float) : node;
}

static bool begin_carries(Elaborator *e, const AstScan *scan, Node **initial) {
  bool fine = true;
  for (int i = 0; i < scan->carries.count; i++) {
    const AstBinding *carry = &scan->carries.items[i];
    for (int k = 0; k < i; k++) {
      if (scan->carries.items[k].name.text != carry->name.text) continue;
      report_error(e, carry->name.span, "the carry '%s' is given twice", carry->name.text);
      fine = false;
    }
    initial[i] = take_tensor(e, carry->value);
    fine = fine && initial[i];
  }
  return fine;
}

/* A carry's value at the end of a step, of the type it began with. */
static Node *end_carry(Elaborator *e, const AstBinding *carry, Type type) {
  const Symbol *symbol = scope_find_own(e->frame->scope, carry->name.text);
  if (symbol->usage) symbol->usage->used = true; /* by the next step */
  if (value_is_error(symbol->value)) return NULL;
  Span at = symbol->span;
  e->at = at;
  Value value = convert_plain(e, symbol->value, at);
  if (value_is_error(value)) return NULL;
  bool is_weak = value_is_number(value) || value.kind == VALUE_BOOL ||
                 (value_is_tensor(value) && value.tensor.is_host);
  if (is_weak)
    return convert_to_type(e, value, type, at,
                           arena_printf(e->arena, "the carry '%s'", carry->name.text));
  Node *node = convert_any_tensor(e, value, at);
  if (!node || type_equal(node->type, type)) return node;
  Diagnostic *d =
      report_error(e, at, "the carry '%s' begins as %s, but a step leaves it as %s",
                   carry->name.text, type_text(e->arena, type), type_text(e->arena, node->type));
  diag_note(d, carry->value->span, "its value before the first step");
  return diag_help(d, "a carry has one type from step to step");
}

/* ---- the body ----------------------------------------------------------------------------- */

static void bind_argument(Elaborator *e, AstName name, Node *argument) {
  if (name.text == name_intern("_")) return;
  Value value = argument ? value_tensor(e, argument) : value_error();
  scope_bind(e->arena, e->frame->scope, SYMBOL_LOCAL, name.text, value, name.span);
}

static void bind_arguments(Elaborator *e, const AstScan *scan, const Sequences *sequences,
                           Node *const *initial) {
  Region *region = e->region;
  ScanShape shape = {.carries = scan->carries.count, .sequences = sequences->count};
  for (int i = 0; i < scan->carries.count; i++)
    bind_argument(e, scan->carries.items[i].name,
                  region_add_argument(e, region, ARGUMENT_CARRY, initial[i], initial[i]->type));
  for (int i = 0; i < sequences->count; i++) {
    Type type = scan_argument_type(&shape, sequences->nodes[i], shape.carries + i);
    bind_argument(e, scan->pattern.items[i],
                  region_add_argument(e, region, ARGUMENT_SEQUENCE, sequences->nodes[i], type));
  }
}

void evaluate_yield(Elaborator *e, const AstStmt *stmt) {
  ScanFrame *scan = e->frame->scan;
  if (!scan) {
    report_error(e, stmt->keyword, "yield belongs inside a scan");
    return;
  }
  path_begin_statement(e, NULL, NULL);
  for (int i = 0; i < stmt->values.count; i++) {
    const AstExpr *expr = stmt->values.items[i];
    Node *node = take_tensor(e, expr);
    scan->failed = scan->failed || !node;
    if (node && node->type.shape.rank == MAX_RANK) {
      report_error(e, expr->span, "a tensor has at most %d axes, and a scan adds one", MAX_RANK);
      scan->failed = true;
    }
    if (!scan->failed) vec_push(e->arena, &scan->yields, node);
  }
  scan->has_yielded = true;
}

/* The step's results; false after a mistake. */
static bool run_body(Elaborator *e, const AstScan *scan, ScanFrame *frame, Node *const *initial) {
  int errors = e->errors;
  evaluate_block(e, &scan->body->stmts);
  bool fine = !frame->failed && e->errors == errors && !e->trace->exhausted;
  if (fine && !frame->has_yielded && scan->carries.count == 0)
    return report_failure(e, scan->keyword, "a scan without carries must yield something");
  for (int i = 0; i < scan->carries.count && fine; i++) {
    const AstBinding *carry = &scan->carries.items[i];
    Node *next = end_carry(e, carry, initial[i]->type);
    if (!next) return false;
    emit_output(e, OUTPUT_RESULT, carry->name.text, next, carry->name.span);
  }
  for (int i = 0; i < frame->yields.count && fine; i++)
    emit_output(e, OUTPUT_RESULT, name_intern("yield"), frame->yields.items[i], (Span){0});
  return fine;
}

/* The body in a region, a scope and a frame of its own. */
static bool elaborate_body(Elaborator *e, const AstScan *scan, const Sequences *sequences,
                           Node *const *initial, Region *region) {
  ScanFrame inside = {.scan = scan};
  *region = region_within(e, "body");
  region->length = sequences->length;
  Context outer = region_enter(e, region);
  Frame frame = *e->frame;
  frame.scope = scope_create(e->arena, frame.scope, false);
  frame.scope->is_scan = true;
  frame.scan = &inside;
  e->frame = &frame;
  bind_arguments(e, scan, sequences, initial);
  bool fine = run_body(e, scan, &inside, initial);
  region_leave_frame(e, outer);
  return fine;
}

/* ---- the node ----------------------------------------------------------------------------- */

/* The same tensor in all steps. */
static bool is_from_outside(const Region *region, const Node *node) {
  for (int i = 0; i < region->arguments.count; i++)
    if (region->arguments.items[i].leaf == node)
      return region->arguments.items[i].kind == ARGUMENT_INVARIANT;
  return false;
}

/* The gradient may keep any value of the body for all steps: what they have together is a tensor. */
static bool check_steps(Elaborator *e, const AstScan *scan, const Region *region) {
  for (int i = 0; i < region->graph->nodes.count; i++) {
    const Node *node = region->graph->nodes.items[i];
    int64_t elements = shape_elements(node->type.shape);
    if (!dtype_is_float(node->type.dtype) || elements == 0 || is_from_outside(region, node))
      continue;
    if (region->length > MAX_ELEMENTS / elements)
      return report_failure(e, scan->keyword,
                            "%lld steps with tensors of shape %s are too many: all steps of one "
                            "have at most 2^40 elements",
                            (long long)region->length, shape_text(e->arena, node->type.shape));
  }
  return true;
}

static Node *add_scan(Elaborator *e, const AstScan *scan, const Region *region) {
  ScanShape shape = {
      .carries = scan->carries.count, .length = region->length, .recomputes = scan->recomputes};
  Node **operands = ARENA_ARRAY(e->arena, Node *, region->arguments.count);
  int count = 0;
  for (int kind = 0; kind < ARGUMENT_KINDS; kind++)
    for (int i = 0; i < region->arguments.count; i++) {
      const RegionArgument *argument = &region->arguments.items[i];
      if ((int)argument->kind != kind) continue;
      shape.sequences += kind == ARGUMENT_SEQUENCE;
      argument->leaf->attributes[0].integer = count;
      operands[count++] = argument->outer;
    }
  for (int i = shape.carries; i < region->graph->outputs.count; i++)
    if (!emit_check_shape(e, scan->keyword, scan_result_type(&shape, region->graph, i).shape))
      return NULL;
  if (!check_steps(e, scan, region)) return NULL;
  Maker maker = {e->region->graph, report_user_span(e, e->at), e->frame->label};
  Node *node = make_scan(&maker, region->graph, shape, count, operands);
  region_sync(e);
  return node;
}

static Value result_value(Elaborator *e, Node *node, int index, int carries, int axis) {
  Maker maker = {e->region->graph, node->span, e->frame->label};
  Node *result = make_scan_result(&maker, node, index);
  region_sync(e);
  if (index < carries) return value_tensor(e, result);
  int last = result->type.shape.rank - 1;
  return value_tensor(e, emit_move_axis(e, result, 0, axis < last ? axis : last));
}

/* What was yielded; with the final carries after it where as many names are bound. */
static Value scan_values(Elaborator *e, const AstScan *scan, Node *node, int axis, int wanted) {
  int carries = scan->carries.count, results = scan_result_count(node);
  int yields = results - carries, count = 0;
  Value *values = ARENA_ARRAY(e->arena, Value, results + 1);
  for (int i = carries; i < results; i++) values[count++] = result_value(e, node, i, carries, axis);
  if (yields == 0 || wanted == results)
    for (int i = 0; i < carries; i++) values[count++] = result_value(e, node, i, carries, axis);
  if (wanted == count || wanted == 1)
    return count == 1 ? values[0] : value_tuple(e->arena, count, values);
  Diagnostic *d =
      report_error(e, scan->keyword, "%d names for a scan that yields %d value%s and has %d carr%s",
                   wanted, yields, yields == 1 ? "" : "s", carries, carries == 1 ? "y" : "ies");
  diag_help(d, "bind what is yielded, and after it all final carries or none");
  return value_error();
}

Value evaluate_scan_for(Elaborator *e, const AstExpr *expr, int wanted) {
  const AstScan *scan = expr->scan;
  if (e->region != &e->trace->region && !e->region->outer)
    return report_error_value(e, scan->keyword,
                              "scan belongs to the step, not to an initial value or a schedule");
  Sequences sequences;
  Region region;
  Node **initial = ARENA_ARRAY(e->arena, Node *, scan->carries.count);
  bool fine = read_sequences(e, scan, &sequences);
  fine = begin_carries(e, scan, initial) && fine;
  if (!fine || !elaborate_body(e, scan, &sequences, initial, &region)) return value_error();
  e->at = expr->span;
  Node *node = add_scan(e, scan, &region);
  return node ? scan_values(e, scan, node, sequences.axis, wanted) : value_error();
}

Value evaluate_scan(Elaborator *e, const AstExpr *expr) { return evaluate_scan_for(e, expr, 1); }
