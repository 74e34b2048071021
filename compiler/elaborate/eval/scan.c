/* scan: the loop of the running program.
 *
 * The body is elaborated once, into a graph of its own, in a Room whose `outer` is the room around
 * it. A tensor from outside that the body uses becomes an argument (an invariant); parameters are
 * made outside and come the same way. Random numbers are drawn outside, for all steps at once, and
 * walked over like a sequence. When the body has ended, the scan node takes it, and its results are
 * transposed so that the steps lie along the axis that was walked. */
#include "elaborate/core/elaborator.h"
#include "ops/op.h"
#include "ops/scan.h"
#include "support/names.h"
#include "support/panic.h"

/* ---- arguments of bodies ------------------------------------------------------------------ */

static Node *add_argument(Elaborator *e, Room *room, ArgumentKind kind, Node *outer, Type type) {
  Room *current = e->room;
  e->room = room;
  Attribute index = attr_make_int(ATTR_INDEX, 0); /* settled at the end */
  const char *label = e->frame->label;
  e->frame->label = outer->path;
  Node *argument = emit_leaf(e, OP_ARGUMENT, type, 1, &index);
  e->frame->label = label;
  e->room = current;
  if (!argument) return NULL;
  bool outer_is_host =
      outer->id < room->outer->is_host.count && room->outer->is_host.items[outer->id];
  room->is_host.items[argument->id] = kind == ARGUMENT_INVARIANT && outer_is_host;
  vec_push(e->arena, &room->arguments, ((RoomArgument){kind, outer, argument}));
  return argument;
}

static Node *capture_in(Elaborator *e, Room *room, Node *node, const Graph *graph) {
  if (room->graph == graph) return node;
  if (!room->outer) return NULL;
  Node *outer = capture_in(e, room->outer, node, graph);
  if (!outer) return NULL;
  for (int i = 0; i < room->arguments.count; i++) {
    const RoomArgument *argument = &room->arguments.items[i];
    if (argument->kind == ARGUMENT_INVARIANT && argument->outer == outer) return argument->leaf;
  }
  return add_argument(e, room, ARGUMENT_INVARIANT, outer, outer->type);
}

Node *scan_capture(Elaborator *e, Node *node, const Graph *graph) {
  return capture_in(e, e->room, node, graph);
}

/* [a, rest...] to [rest..., a at `axis`]: axis 0 goes to `axis`; or back. */
Node *move_axis(Elaborator *e, Node *x, int from, int to) {
  int permutation[MAX_RANK], rank = x ? x->type.shape.rank : 0, at = 0;
  for (int i = 0; i < rank; i++) {
    if (i == to) permutation[i] = from;
    else {
      if (at == from) at++;
      permutation[i] = at++;
    }
  }
  return emit_transpose(e, x, permutation);
}

Node *scan_random(Elaborator *e, Op op, Type type, int attribute_count,
                  const Attribute *attributes) {
  Room *room = e->room;
  if (!room->outer) return emit_leaf(e, op, type, attribute_count, attributes);
  if (room->is_rule) {
    e->room = room->outer;
    Node *outside = scan_random(e, op, type, attribute_count, attributes);
    const Graph *graph = room->outer->graph;
    e->room = room;
    return outside ? scan_capture(e, outside, graph) : NULL;
  }
  if (type.shape.rank == MAX_RANK) {
    report_error(e, e->at, "random numbers with %d axes inside a scan, which adds one", MAX_RANK);
    return NULL;
  }
  /* Axis 0 stays the first: numbers are counted by example. */
  Type all = type;
  int axis = type.shape.rank > 0;
  all.shape.rank++;
  for (int i = all.shape.rank - 1; i > axis; i--) all.shape.dim[i] = type.shape.dim[i - 1];
  all.shape.dim[axis] = room->length;
  e->room = room->outer;
  Node *drawn = scan_random(e, op, all, attribute_count, attributes);
  drawn = move_axis(e, drawn, axis, 0);
  e->room = room;
  return drawn ? add_argument(e, room, ARGUMENT_SEQUENCE, drawn, type) : NULL;
}

/* ---- sequences ---------------------------------------------------------------------------- */

typedef struct Walked {
  int count;
  Node *nodes[MAX_FORMALS]; /* [length, ...] */
  int64_t length;
  int axis; /* that the steps lie along in what is yielded */
} Walked;

static Node *walk_range(Elaborator *e, Value range, Span at) {
  int64_t from = range.range.from, length = value_sequence_length(range);
  if (!convert_fits(e, value_int(range.range.from), DTYPE_I32, at) ||
      !convert_fits(e, value_int(range.range.to), DTYPE_I32, at))
    return NULL;
  Type type = type_make(DTYPE_I32, shape_make(1, &length));
  Attribute axis = attr_make_int(ATTR_AXIS, 0);
  Node *counts = emit_leaf(e, OP_IOTA, type, 1, &axis);
  if (!counts || from == 0) return counts;
  Node *start = emit_constant(e, (double)from, type);
  return start ? emit_binary(e, OP_ADD, counts, start) : NULL;
}

static Node *walk_source(Elaborator *e, const AstScan *scan, const AstExpr *source, int *axis) {
  Value value = convert_plain(e, evaluate(e, source), source->span);
  *axis = 0;
  e->at = source->span;
  if (value_is_error(value)) return NULL;
  if (value.kind == VALUE_RANGE) return walk_range(e, value, source->span);
  if (!value_is_tensor(value) && !value_is_sequence(value)) {
    report_kind(e, source->span, "what a scan walks over", "a tensor or a range", value);
    return NULL;
  }
  Node *node = convert_any_tensor(e, value, source->span);
  if (!node) return NULL;
  if (scan->along) {
    Value along = evaluate(e, scan->along);
    if (value_is_error(along) ||
        !convert_axis(e, along, scan->along->span, node->type.shape.rank, axis))
      return NULL;
  } else if (node->type.shape.rank == 0) {
    report_error(e, source->span, "a scan walks along an axis, and this tensor has none");
    return NULL;
  }
  return move_axis(e, node, *axis, 0);
}

static bool walk_sources(Elaborator *e, const AstScan *scan, Walked *walked) {
  int count = scan->sources.count;
  *walked = (Walked){.count = count};
  if (count != scan->pattern.count || count > MAX_FORMALS) {
    report_error(e, scan->keyword, "%d name%s for %d sequence%s", scan->pattern.count,
                 scan->pattern.count == 1 ? "" : "s", count, count == 1 ? "" : "s");
    return false;
  }
  bool fine = true;
  for (int i = 0; i < count; i++) {
    const AstExpr *source = scan->sources.items[i];
    int axis;
    Node *node = walked->nodes[i] = walk_source(e, scan, source, &axis);
    if (!node) {
      fine = false;
      continue;
    }
    if (axis > walked->axis) walked->axis = axis;
    int64_t length = node->type.shape.dim[0];
    if (i == 0 || !walked->nodes[0]) {
      walked->length = length;
    } else if (length != walked->length) {
      Diagnostic *d = report_error(e, source->span, "this sequence has %lld steps, the first %lld",
                                   (long long)length, (long long)walked->length);
      diag_note(d, scan->sources.items[0]->span, "the first");
      fine = false;
    }
  }
  return fine;
}

/* ---- carries ------------------------------------------------------------------------------ */

static bool begin_carries(Elaborator *e, const AstScan *scan, Node **initial) {
  bool fine = true;
  for (int i = 0; i < scan->carries.count; i++) {
    const AstBinding *carry = &scan->carries.items[i];
    for (int k = 0; k < i; k++) {
      if (scan->carries.items[k].name.text != carry->name.text) continue;
      report_error(e, carry->name.span, "the carry '%s' is given twice", carry->name.text);
      fine = false;
    }
    Value value = evaluate(e, carry->value);
    e->at = carry->value->span;
    initial[i] = value_is_error(value) ? NULL : convert_any_tensor(e, value, carry->value->span);
    if (initial[i] && node_is_host(e, initial[i]))
      initial[i] = emit_cast(e, initial[i], e->default_float);
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
  diag_help(d, "a carry has one type from step to step");
  return NULL;
}

/* ---- the body ----------------------------------------------------------------------------- */

static void bind_argument(Elaborator *e, AstName name, Node *argument) {
  if (name.text == name_intern("_")) return;
  Value value = argument ? value_tensor(e, argument) : value_error();
  scope_bind(e->arena, e->frame->scope, SYMBOL_LOCAL, name.text, value, name.span);
}

static void bind_arguments(Elaborator *e, const AstScan *scan, const Walked *walked,
                           Node *const *initial) {
  Room *room = e->room;
  ScanShape shape = {.carries = scan->carries.count, .sequences = walked->count};
  for (int i = 0; i < scan->carries.count; i++)
    bind_argument(e, scan->carries.items[i].name,
                  add_argument(e, room, ARGUMENT_CARRY, initial[i], initial[i]->type));
  for (int i = 0; i < walked->count; i++) {
    Type type = scan_argument_type(&shape, walked->nodes[i], shape.carries + i);
    bind_argument(e, scan->pattern.items[i],
                  add_argument(e, room, ARGUMENT_SEQUENCE, walked->nodes[i], type));
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
    Value value = evaluate(e, expr);
    e->at = expr->span;
    Node *node = value_is_error(value) ? NULL : convert_any_tensor(e, value, expr->span);
    if (node && node_is_host(e, node)) node = emit_cast(e, node, e->default_float);
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
  bool fine = !frame->failed && e->errors == errors && !e->walk->exhausted;
  if (fine && !frame->has_yielded && scan->carries.count == 0) {
    report_error(e, scan->keyword, "a scan without carries must yield something");
    return false;
  }
  for (int i = 0; i < scan->carries.count && fine; i++) {
    const AstBinding *carry = &scan->carries.items[i];
    Node *next = end_carry(e, carry, initial[i]->type);
    if (!next) return false;
    graph_add_output(e->room->graph, (Output){.kind = OUTPUT_RESULT,
                                              .name = carry->name.text,
                                              .node = next,
                                              .span = carry->name.span});
  }
  for (int i = 0; i < frame->yields.count && fine; i++)
    graph_add_output(e->room->graph, (Output){.kind = OUTPUT_RESULT,
                                              .name = name_intern("yield"),
                                              .node = frame->yields.items[i]});
  return fine;
}

/* The body in a room and a scope of its own. */
static bool elaborate_body(Elaborator *e, const AstScan *scan, const Walked *walked,
                           Node *const *initial, Room *room) {
  Frame *frame = e->frame;
  Frame outer = *frame;
  ScanFrame inside = {.scan = scan};
  *room = room_create(e->arena, "body", e->room->stream);
  room->outer = e->room;
  room->length = walked->length;
  room->bytes = e->room->bytes;
  e->room = room;
  frame->scope = scope_create(e->arena, outer.scope, false);
  frame->scope->is_scan = true;
  frame->scan = &inside;
  bind_arguments(e, scan, walked, initial);
  bool fine = run_body(e, scan, &inside, initial);
  frame->scope = outer.scope;
  frame->scan = outer.scan;
  frame->binding = outer.binding;
  frame->owners = outer.owners;
  frame->label = outer.label;
  e->room = room->outer;
  return fine;
}

/* ---- the node ----------------------------------------------------------------------------- */

static Node *add_scan(Elaborator *e, const AstScan *scan, const Room *room) {
  ScanShape shape = {
      .carries = scan->carries.count, .length = room->length, .recomputes = scan->recomputes};
  Node **operands = ARENA_ARRAY(e->arena, Node *, room->arguments.count);
  int count = 0;
  for (int kind = 0; kind < ARGUMENT_KINDS; kind++)
    for (int i = 0; i < room->arguments.count; i++) {
      const RoomArgument *argument = &room->arguments.items[i];
      if ((int)argument->kind != kind) continue;
      shape.sequences += kind == ARGUMENT_SEQUENCE;
      argument->leaf->attributes[0].integer = count;
      operands[count++] = argument->outer;
    }
  for (int i = shape.carries; i < room->graph->outputs.count; i++)
    if (!check_shape(e, scan->keyword, scan_result_type(&shape, room->graph, i).shape)) return NULL;
  Maker maker = {e->room->graph, report_user_span(e, e->at), e->frame->label};
  Node *node = make_scan(&maker, room->graph, shape, count, operands);
  room_sync(e);
  return node;
}

static Value result_value(Elaborator *e, Node *node, int index, int carries, int axis) {
  Maker maker = {e->room->graph, node->span, e->frame->label};
  Node *result = make_scan_result(&maker, node, index);
  room_sync(e);
  if (index < carries) return value_tensor(e, result);
  int last = result->type.shape.rank - 1;
  return value_tensor(e, move_axis(e, result, 0, axis < last ? axis : last));
}

/* What was yielded; with the final carries behind it where as many names are bound. */
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
      report_error(e, scan->keyword,
                   "%d names for a scan that yields %d value%s and "
                   "has %d carr%s",
                   wanted, yields, yields == 1 ? "" : "s", carries, carries == 1 ? "y" : "ies");
  diag_help(d, "bind what is yielded, and behind it all final carries or none");
  return value_error();
}

Value evaluate_scan_for(Elaborator *e, const AstExpr *expr, int wanted) {
  const AstScan *scan = expr->scan;
  if (e->room != &e->walk->room && !e->room->outer) {
    report_error(e, scan->keyword,
                 "scan belongs to the step, not to an initial value or a "
                 "schedule");
    return value_error();
  }
  Walked walked;
  Room room;
  Node **initial = ARENA_ARRAY(e->arena, Node *, scan->carries.count);
  bool fine = walk_sources(e, scan, &walked);
  fine = begin_carries(e, scan, initial) && fine;
  if (!fine || !elaborate_body(e, scan, &walked, initial, &room)) return value_error();
  e->at = expr->span;
  Node *node = add_scan(e, scan, &room);
  return node ? scan_values(e, scan, node, walked.axis, wanted) : value_error();
}

Value evaluate_scan(Elaborator *e, const AstExpr *expr) { return evaluate_scan_for(e, expr, 1); }
