/* Expressions: one function a kind, chosen by table. */
#include <string.h>
#include "elaborate/core/emit.h"
#include "elaborate/core/observer.h"
#include "elaborate/core/path.h"
#include "elaborate/core/report.h"
#include "elaborate/core/slot.h"
#include "elaborate/eval/convert.h"
#include "elaborate/eval/evaluate.h"
#include "elaborate/eval/operate.h"
#include "support/names.h"
#include "support/panic.h"

/* ---- names -------------------------------------------------------------------------------- */

typedef VEC(const char *) NameList;

static bool is_offered(const Value *value) {
  if (value->kind == VALUE_DEF) return !function_is_internal(value->function);
  return value->kind != VALUE_BUILTIN || !function_doc_is_internal(value->builtin->doc);
}

/* What a user may have meant: parts of the library are not for him. */
static void visible_names(Elaborator *e, NameList *names) {
  for (const Scope *scope = e->frame->scope; scope; scope = scope->parent)
    for (int i = 0; i < scope->symbols.count; i++)
      if (is_offered(&scope->symbols.items[i]->value))
        vec_push(e->arena, names, scope->symbols.items[i]->name);
  for (int i = 0; i < e->functions.count; i++)
    if (!function_is_internal(e->functions.items[i]))
      vec_push(e->arena, names, e->functions.items[i]->name);
}

/* Words of other frameworks for a tensor that is written down. */
static void help_literal(Diagnostic *d, const char *name) {
  if (strcmp(name, "tensor") == 0 || strcmp(name, "array") == 0)
    diag_help(d, "a list of numbers stands for a tensor, x * [1, 2]; f32([1, 2]) is one by itself");
}

/* A later statement of the program that binds the name. */
static const AstStmt *find_later(const Elaborator *e, const char *name) {
  const AstStmts *stmts = &e->program->stmts;
  for (int i = 0; i < stmts->count; i++) {
    const AstStmt *stmt = stmts->items[i];
    bool found = false;
    if (stmt->kind == AST_CONST)
      for (int k = 0; k < stmt->constants.count; k++)
        found = found || stmt->constants.items[k].name.text == name;
    if (stmt->kind == AST_OPTION) found = stmt->option.name.text == name;
    if (stmt->kind == AST_INPUT || stmt->kind == AST_PARAM || stmt->kind == AST_STATE ||
        stmt->kind == AST_STREAM)
      found = stmt->variable.name.text == name;
    if (stmt->kind == AST_ASSIGN)
      for (int k = 0; k < stmt->assignment.names.count; k++)
        found = found || stmt->assignment.names.items[k].text == name;
    if (found) return stmt;
  }
  return NULL;
}

/* Where the def that runs binds `name` in its gradient alone; a span without a line if it does not. */
static Span name_of_gradient(const Elaborator *e, const char *name) {
  for (int i = 0; i < e->functions.count && e->frame->body; i++) {
    const AstStmt *stmt = e->functions.items[i]->stmt;
    const AstGradient *gradient = stmt->function.gradient;
    if (!gradient || stmt->function.body != e->frame->body) continue;
    for (int k = 0; k < gradient->formals.count; k++)
      if (gradient->formals.items[k].name.text == name) return gradient->formals.items[k].span;
  }
  return (Span){0};
}

static Value unknown_name(Elaborator *e, const char *name, Span at, const Symbol *hidden) {
  if (hidden) {
    Diagnostic *d =
        report_error(e, at, "'%s' is a value of the program, which a def cannot see", name);
    diag_note(d, hidden->span, "it is bound here");
    diag_help(d, "a def sees constants, defs, parameters and inputs; pass '%s' as an argument",
              name);
    return value_error();
  }
  const AstStmt *later = at.file == e->program->file ? find_later(e, name) : NULL;
  if (later) {
    Diagnostic *d = report_error(e, at, "'%s' is used before its definition", name);
    diag_note(d, later->span, "it is defined here");
    return value_error();
  }
  Span in_gradient = name_of_gradient(e, name);
  if (in_gradient.line) {
    Diagnostic *d =
        report_error(e, at, "'%s' is known in the gradient alone, not in the def", name);
    diag_note(d, in_gradient, "it is named here");
    return value_error();
  }
  Diagnostic *d = report_error(e, at, "unknown name '%s'", name);
  NameList names = {0};
  visible_names(e, &names);
  report_suggest(d, name, names.items, names.count);
  help_literal(d, name);
  return value_error();
}

/* Inside of an evaluated() layer what a training call has stored before is a constant, as in evaluation. */
static Value read_slot(Elaborator *e, const Slot *slot) {
  Value value = slot_value(e, slot);
  bool is_constant = e->frame->is_evaluated && slot->kind != VARIABLE_PARAM &&
                     value.kind == VALUE_TENSOR && dtype_is_float(slot->type.dtype);
  if (!is_constant || slot->current == slot->leaf) return value;
  Context outer = region_enter(e, &e->trace->region);
  value.tensor.node = emit_unary(e, OP_STOP_GRADIENT, slot->current);
  region_leave(e, outer);
  return value.tensor.node ? value : value_error();
}

/* Names of loops do not end with them; who reads one there may have meant another. */
static void warn_of_loop(Elaborator *e, const Symbol *symbol, Span at) {
  if (at.file->is_prelude) return;
  Diagnostic *d =
      diag_warning(e->diagnostics, at,
                   "'%s' is read after its loop, where it has the value of the last round, %s",
                   symbol->name, value_describe(e->arena, symbol->value));
  diag_note(d, symbol->span, "the loop is here");
  diag_help(d, "give the value a name of its own in the loop: last_%s = %s", symbol->name,
            symbol->name);
}

static Value read_name(Elaborator *e, const AstExpr *expr) {
  Symbol *hidden = NULL;
  Symbol *symbol = scope_find(e->frame->scope, expr->name, &hidden);
  if (!symbol) return unknown_name(e, expr->name, expr->span, hidden);
  if (symbol->usage) symbol->usage->used = true;
  scope_note_outer(e->arena, e->frame->scope, expr->name);
  if (symbol->is_over) warn_of_loop(e, symbol, expr->span);
  if (symbol->read) return symbol->read(e, symbol);
  if (symbol->slot && (e->region == &e->trace->region || e->region->outer))
    return read_slot(e, symbol->slot);
  return symbol->value;
}

static Value evaluate_name(Elaborator *e, const AstExpr *expr) {
  Value value = read_name(e, expr);
  const Observer *observer = e->options->observer;
  if (observer && expr->span.file == e->program->file)
    observer->name(observer->context, e, expr, value);
  return value;
}

/* ---- literals, sequences ------------------------------------------------------------------ */

static Value evaluate_literal(Elaborator *e, const AstExpr *expr) {
  (void)e;
  switch (expr->kind) {
  case AST_INTEGER: return value_int(expr->number.integer);
  case AST_FLOAT: return value_float(expr->number.floating);
  case AST_STRING: return value_string(name_intern(expr->string.bytes));
  default: return value_bool(expr->boolean);
  }
}

static Value evaluate_quantity(Elaborator *e, const AstExpr *expr) {
  static const char *const units[] = {"epochs", "epoch", "steps", "step"};
  Value number = evaluate_expr(e, expr->quantity.number);
  const char *unit = expr->quantity.unit.text;
  for (int i = 0; i < 4; i++) {
    if (unit != name_intern(units[i])) continue;
    Value value = {.kind = VALUE_QUANTITY};
    value.quantity.number = value_number(number);
    value.quantity.is_epochs = i < 2;
    return value;
  }
  static const char *const clauses[] = {"recompute"}; /* of a scan: what else follows a number */
  Diagnostic *d = report_error(e, expr->quantity.unit.span, "unknown unit '%s'", unit);
  const char *clause = name_nearest(unit, clauses, 1);
  if (clause) diag_help(d, "did you mean '%s', of a scan?", clause);
  else diag_help(d, "the units are epochs and steps");
  return value_error();
}

static Value evaluate_placeholder(Elaborator *e, const AstExpr *expr) {
  Diagnostic *d = report_error(e, expr->span, "'_' stands for an argument and is not a value");
  diag_help(d, "a call with _ makes a shared layer: enc = linear(_, 100)");
  return value_error();
}

static Value evaluate_sequence(Elaborator *e, const AstExpr *expr) {
  Value *items = ARENA_ARRAY(e->arena, Value, expr->items.count);
  bool failed = false;
  for (int i = 0; i < expr->items.count; i++) {
    items[i] = evaluate_expr(e, expr->items.items[i]);
    failed = failed || value_is_error(items[i]);
  }
  if (failed) return value_error();
  return expr->kind == AST_LIST ? value_list(e->arena, expr->items.count, items)
                                : value_tuple(e->arena, expr->items.count, items);
}

static Value evaluate_range(Elaborator *e, const AstExpr *expr) {
  Value from = evaluate_expr(e, expr->range.from), to = evaluate_expr(e, expr->range.to);
  Value range = {.kind = VALUE_RANGE};
  if (!convert_int(e, from, expr->range.from->span, "the start of a range", &range.range.from) ||
      !convert_int(e, to, expr->range.to->span, "the end of a range", &range.range.to))
    return value_error();
  int64_t length;
  if (__builtin_sub_overflow(range.range.to, range.range.from, &length) || length > MAX_ITERATIONS)
    return report_error_value(e, expr->span, "a range of more than %d numbers", MAX_ITERATIONS);
  return range;
}

/* ---- operators ---------------------------------------------------------------------------- */

static Value evaluate_unary(Elaborator *e, const AstExpr *expr) {
  Value operand = evaluate_expr(e, expr->unary.operand);
  e->at = expr->span;
  return operate_unary(e, expr->unary.op, operand, expr->unary.operand->span);
}

/* && and || of compile-time truths look at the right side only where it matters. */
static bool is_decided(const AstExpr *expr, Value left) {
  return left.kind == VALUE_BOOL && ((expr->binary.op == AST_AND && !left.boolean) ||
                                     (expr->binary.op == AST_OR && left.boolean));
}

static Value evaluate_binary(Elaborator *e, const AstExpr *expr) {
  Value left = evaluate_expr(e, expr->binary.left);
  if (is_decided(expr, left)) return left;
  Value right = evaluate_expr(e, expr->binary.right);
  e->at = expr->span;
  return operate_binary(e, expr->binary.op, left, right, expr->binary.left->span,
                        expr->binary.right->span);
}

static Value evaluate_ternary(Elaborator *e, const AstExpr *expr) {
  Value condition = convert_plain(e, evaluate_expr(e, expr->ternary.condition), expr->span);
  if (condition.kind == VALUE_BOOL)
    return evaluate_expr(e, condition.boolean ? expr->ternary.then : expr->ternary.otherwise);
  if (value_is_error(condition)) return condition;
  Span at = expr->ternary.condition->span;
  Diagnostic *d =
      report_error(e, at, "the condition of '?' must be known at compile time, found %s",
                   value_describe(e->arena, condition));
  if (value_is_tensor(condition))
    diag_help(d, "where(condition, then, otherwise) chooses by element");
  report_option(e, d, condition);
  return value_error();
}

/* ---- members ------------------------------------------------------------------------------ */

Value evaluate_property(Elaborator *e, Type type, const char *name) {
  if (!strcmp(name, "shape")) return value_shape(e->arena, type.shape);
  if (!strcmp(name, "rank")) return value_int(type.shape.rank);
  if (!strcmp(name, "size")) return value_int(shape_elements(type.shape));
  CHECK(!strcmp(name, "dtype"));
  return value_dtype(type.dtype);
}

/* All axes reversed. */
static Value transpose(Elaborator *e, Value object) {
  Node *node = convert_any_tensor(e, object, e->at);
  if (!node) return value_error();
  int permutation[MAX_RANK];
  int rank = node->type.shape.rank;
  for (int i = 0; i < rank; i++) permutation[i] = rank - 1 - i;
  return value_tensor(e, emit_transpose(e, node, permutation));
}

static const char *const members[] = {"shape", "T", "rank", "size", "dtype"};
enum { MEMBER_COUNT = sizeof members / sizeof members[0] };

/* What other frameworks put in front of a name: nn.Linear, torch.nn.functional.relu. */
static bool refuse_module(Elaborator *e, const AstExpr *expr) {
  static const char *const modules[] = {"nn", "F", "torch", "np", "jnp", "tf", "keras"};
  const AstExpr *first = expr->member.object;
  while (first->kind == AST_MEMBER) first = first->member.object;
  bool is_module = false;
  Symbol *hidden = NULL;
  for (size_t i = 0; first->kind == AST_NAME && i < sizeof modules / sizeof *modules; i++)
    is_module = is_module || !strcmp(first->name, modules[i]);
  if (!is_module || scope_find(e->frame->scope, first->name, &hidden) || hidden) return false;
  Diagnostic *d = report_error(e, first->span, "unknown name '%s'", first->name);
  NameList names = {0};
  visible_names(e, &names);
  const char *meant = report_meant(expr->member.name.text, names.items, names.count);
  diag_help(d, "names have no module in front here%s%s%s", meant ? ": write '" : "",
            meant ? meant : "", meant ? "'" : "");
  help_literal(d, expr->member.name.text);
  return true;
}

/* x.view(...) and x.mean(): what a tensor has in other frameworks is a function here. */
static Value refuse_member(Elaborator *e, AstName name) {
  Diagnostic *d = report_error(e, name.span, "a tensor has no member '%s'", name.text);
  NameList names = {0};
  visible_names(e, &names);
  const char *function = report_synonym(name.text, names.items, names.count);
  for (int i = 0; i < names.count && !function; i++)
    if (!strcmp(names.items[i], name.text)) function = names.items[i];
  if (function) diag_help(d, "a function takes the tensor: %s(x, ...)", function);
  else report_suggest(d, name.text, members, MEMBER_COUNT);
  diag_help(d, "the members are shape, T, rank, size and dtype");
  return value_error();
}

/* The path that `enc.w` or `h1.w` is of: a shared layer has its own, and a name is the element that it gives to the
 * call that it is bound to. NULL: it cannot be one. */
static const char *path_of_members(Elaborator *e, const AstExpr *expr) {
  Symbol *hidden = NULL;
  if (expr->kind == AST_MEMBER) {
    const char *path = path_of_members(e, expr->member.object);
    return path ? path_join(path, expr->member.name.text) : NULL;
  }
  const Symbol *symbol =
      expr->kind == AST_NAME ? scope_find(e->frame->scope, expr->name, &hidden) : NULL;
  if (!symbol) return NULL;
  if (symbol->value.kind == VALUE_LAYER) return symbol->value.layer->path;
  return value_is_tensor(symbol->value) ? path_join(e->frame->path, expr->name) : NULL;
}

/* A parameter or state of a layer, by its path; NULL: there is none. */
static const Slot *find_parameter(Elaborator *e, const AstExpr *expr) {
  for (int i = 0; i < MEMBER_COUNT; i++)
    if (!strcmp(expr->member.name.text, members[i])) return NULL;
  const char *path = path_of_members(e, expr);
  return path ? slot_find(e->trace, path) : NULL;
}

static Value refuse_parameter(Elaborator *e, const Layer *layer, AstName name) {
  Text text = {0};
  size_t length = strlen(layer->path);
  int count = 0;
  for (int i = 0; i < e->trace->slots.count; i++) {
    const char *path = e->trace->slots.items[i]->path;
    if (strncmp(path, layer->path, length) == 0 && path[length] == '.')
      text_printf(&text, "%s%s", count++ ? ", " : "", path);
  }
  if (count == 0 && e->errors > 0) return value_error(); /* its call may have failed for those */
  Diagnostic *d =
      report_error(e, name.span, "the layer '%s' has no parameter '%s'", layer->path, name.text);
  diag_note(d, layer->span, "the layer");
  if (count > 0) diag_help(d, "it has %s", text.data);
  else diag_help(d, "its first call makes its parameters: call it before");
  text_free(&text);
  return value_error();
}

static Value evaluate_member(Elaborator *e, const AstExpr *expr) {
  if (refuse_module(e, expr)) return value_error();
  const Slot *parameter = find_parameter(e, expr);
  if (parameter) return slot_value(e, parameter);
  Value object = convert_plain(e, evaluate_expr(e, expr->member.object), expr->span);
  if (value_is_error(object)) return object;
  const char *name = expr->member.name.text;
  if (value_is_number(object) || value_is_sequence(object))
    object = value_tensor(e, convert_any_tensor(e, object, expr->member.object->span));
  if (object.kind == VALUE_LAYER) return refuse_parameter(e, object.layer, expr->member.name);
  if (!value_is_tensor(object)) {
    if (!value_is_error(object))
      report_error(e, expr->member.name.span, "%s has no member '%s'",
                   value_describe(e->arena, object), name);
    return value_error();
  }
  e->at = expr->span;
  for (int i = 0; i < MEMBER_COUNT; i++)
    if (!strcmp(name, members[i]))
      return !strcmp(name, "T") ? transpose(e, object)
                                : evaluate_property(e, object.tensor.node->type, name);
  return refuse_member(e, expr->member.name);
}

/* ---- all kinds ---------------------------------------------------------------------------- */

static Value (*const evaluators[AST_EXPR_KINDS])(Elaborator *e, const AstExpr *expr) = {
    [AST_NAME] = evaluate_name,
    [AST_INTEGER] = evaluate_literal,
    [AST_FLOAT] = evaluate_literal,
    [AST_STRING] = evaluate_literal,
    [AST_BOOL] = evaluate_literal,
    [AST_QUANTITY] = evaluate_quantity,
    [AST_PLACEHOLDER] = evaluate_placeholder,
    [AST_TUPLE] = evaluate_sequence,
    [AST_LIST] = evaluate_sequence,
    [AST_UNARY] = evaluate_unary,
    [AST_BINARY] = evaluate_binary,
    [AST_TERNARY] = evaluate_ternary,
    [AST_RANGE] = evaluate_range,
    [AST_MEMBER] = evaluate_member,
    [AST_CALL] = evaluate_call,
    [AST_INDEX] = evaluate_index,
    [AST_SCAN] = evaluate_scan,
};

Value evaluate_expr(Elaborator *e, const AstExpr *expr) {
  if (e->depth >= MAX_EVALUATION_DEPTH) {
    if (!e->trace->exhausted)
      report_error(e, expr->span, "expressions are nested too deeply through calls");
    e->trace->exhausted = true;
    return value_error();
  }
  Span outer = e->at;
  e->at = expr->span;
  e->depth++;
  Value value = evaluators[expr->kind](e, expr);
  e->depth--;
  e->at = outer;
  return value;
}
