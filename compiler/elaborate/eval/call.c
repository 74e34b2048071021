/* Calls: of defs, builtins, layers and types; layers (calls with `_`); definers.
 *
 * Arguments are evaluated in the caller's frame, in order. A def's body then runs in a frame of its
 * own. Optimizers, initializers and schedules are not run when called: their application is a value
 * (Deferred) that runs where it is used, with the names its kind of definer is given. */
#include "elaborate/core/emit.h"
#include "elaborate/core/observer.h"
#include "elaborate/core/path.h"
#include "elaborate/core/report.h"
#include "elaborate/eval/call.h"
#include "elaborate/eval/convert.h"
#include "elaborate/eval/evaluate.h"
#include "support/names.h"
#include "support/panic.h"

/* ---- frames ------------------------------------------------------------------------------- */

static Frame *frame_enter(Elaborator *e, Function *function, Span call, const char *path) {
  if (e->frame->depth + 1 > MAX_CALL_DEPTH) {
    report_error(e, call, "calls are nested more than %d deep: does '%s' call itself without end?",
                 MAX_CALL_DEPTH, function->name);
    e->trace->exhausted = true;
    return NULL;
  }
  Scope *outer = function->is_prelude || !e->trace ? e->root : e->trace->globals;
  Frame *frame = ARENA_NEW(e->arena, Frame);
  frame->parent = e->frame;
  frame->function = function->name;
  frame->call = call;
  frame->user_call = call.file && call.file->is_prelude ? e->frame->user_call : call;
  frame->path = path;
  frame->label = path;
  frame->layer = e->frame->layer;
  frame->follower = e->frame->follower;
  frame->is_evaluated = e->frame->is_evaluated;
  frame->scope = scope_create(e->arena, outer, true);
  frame->body = function->stmt->function.body;
  frame->stmts = frame->body ? &frame->body->stmts : NULL;
  frame->depth = e->frame->depth + 1;
  e->frame = frame;
  return frame;
}

void call_leave(Elaborator *e, Frame *frame) {
  CHECK(e->frame == frame);
  e->frame = frame->parent;
}

/* ---- binding arguments to the formals of a def -------------------------------------------- */

/* What could have been written, and where it is defined if that is the user's file. */
static void note_definition(Diagnostic *d, const Function *function) {
  const AstFormals *formals = &function->stmt->function.formals;
  Text list = {0};
  for (int i = 0; i < formals->count; i++)
    text_printf(&list, "%s%s", i > 0 ? ", " : "", formals->items[i].name.text);
  if (formals->count > 0) diag_help(d, "its arguments are %s", list.data);
  text_free(&list);
  if (!function->is_prelude) diag_note(d, function->stmt->function.name.span, "defined here");
}

static void report_unknown_argument(Elaborator *e, const Function *function, AstName name) {
  const AstFormals *formals = &function->stmt->function.formals;
  const char **names = ARENA_ARRAY(e->arena, const char *, formals->count + 1);
  for (int i = 0; i < formals->count; i++) names[i] = formals->items[i].name.text;
  Diagnostic *d =
      report_error(e, name.span, "'%s' has no argument '%s'", function->name, name.text);
  report_suggest(d, name.text, names, formals->count);
  note_definition(d, function);
}

/* What a call gives to each formal. */
typedef struct Matched {
  bool given[MAX_FORMALS]; /* else the default comes later, in the frame */
  Value values[MAX_FORMALS];
  Span spans[MAX_FORMALS];
  Span places[MAX_FORMALS]; /* in the user's call */
} Matched;

static bool match_arguments(Elaborator *e, const Function *function, const Arguments *arguments,
                            Matched *matched) {
  const AstFormals *formals = &function->stmt->function.formals;
  bool fits = true;
  for (int i = 0; i < arguments->count; i++) {
    const Argument *argument = &arguments->items[i];
    int at = argument->name.text ? function_find_formal(function, argument->name.text) : i;
    if (argument->name.text && at < 0) {
      if (argument->name.text == name_intern("name")) continue; /* the path: path_of_call */
      report_unknown_argument(e, function, argument->name);
      fits = false;
    } else if (at >= formals->count) {
      Diagnostic *d =
          report_error(e, argument->span, "'%s' takes %d argument%s, %d given", function->name,
                       formals->count, formals->count == 1 ? "" : "s", arguments->count);
      note_definition(d, function);
      return false;
    } else if (matched->given[at]) {
      report_error(e, argument->span, "the argument '%s' of '%s' is given twice",
                   formals->items[at].name.text, function->name);
      fits = false;
    } else {
      matched->given[at] = true;
      matched->values[at] = argument->value;
      matched->spans[at] = argument->span;
      matched->places[at] = argument->given;
      fits = fits && !value_is_error(argument->value);
    }
  }
  for (int i = 0; i < formals->count; i++) {
    if (matched->given[i] || formals->items[i].default_value) continue;
    Diagnostic *d = report_error(e, arguments->call, "'%s' needs the argument '%s'", function->name,
                                 formals->items[i].name.text);
    note_definition(d, function);
    fits = false;
  }
  return fits;
}

/* In the frame: formals become names; a default sees those before it. */
static bool bind_formals(Elaborator *e, const Function *function, Matched *matched) {
  const AstFormals *formals = &function->stmt->function.formals;
  bool fits = true;
  for (int i = 0; i < formals->count; i++) {
    const AstFormal *formal = &formals->items[i];
    if (!matched->given[i]) matched->values[i] = evaluate_expr(e, formal->default_value);
    Span at = matched->given[i] ? matched->spans[i] : formal->name.span;
    if (formal->type && !value_is_error(matched->values[i]) &&
        matched->values[i].kind != VALUE_NONE &&
        !evaluate_formal_type(e, formal, matched->values[i], at))
      fits = false;
    Symbol *symbol = scope_bind(e->arena, e->frame->scope, SYMBOL_FORMAL, formal->name.text,
                                matched->values[i], formal->name.span);
    if (matched->given[i]) symbol->given = matched->places[i];
    fits = fits && !value_is_error(matched->values[i]);
  }
  return fits;
}

/* ---- calls of defs ------------------------------------------------------------------------ */

static Value frame_result(Elaborator *e, const Frame *frame, const Function *function) {
  if (frame->has_returned)
    return frame->returned.count == 1
               ? frame->returned.items[0]
               : value_tuple(e->arena, frame->returned.count, frame->returned.items);
  if (!e->trace->exhausted) {
    Diagnostic *d = report_error(e, frame->call, "'%s' ended without `return`", function->name);
    diag_note(d, function->stmt->function.name.span, "defined here");
  }
  return value_error();
}

static Value run_def(Elaborator *e, const Frame *frame, const Function *function) {
  int errors = e->errors;
  evaluate_block(e, frame->stmts);
  return frame->has_returned || e->errors == errors ? frame_result(e, frame, function)
                                                    : value_error();
}

/* Paths are printed in tables and messages, and name tensors in files. */
static bool is_path_name(Elaborator *e, const char *text, Span at) {
  bool has_control = false;
  for (const char *c = text; *c; c++)
    has_control = has_control || (unsigned char)*c < 0x20 || *c == 0x7f;
  if (text[0] && !has_control) return true;
  return diag_help(
      report_error(e, at, "%s",
                   text[0] ? "a name cannot hold control characters" : "a name cannot be empty"),
      "it is the call's part of its parameters' paths: name = \"first\" gives first.w");
}

static const char *argument_name(Elaborator *e, const Function *function,
                                 const Arguments *arguments) {
  const char *name = name_intern("name");
  if (function_find_formal(function, name) >= 0) return NULL;
  for (int i = 0; i < arguments->count; i++) {
    const Argument *argument = &arguments->items[i];
    if (argument->name.text != name) continue;
    if (argument->value.kind == VALUE_STRING)
      return is_path_name(e, argument->value.string, argument->span) ? argument->value.string
                                                                     : NULL;
    report_kind(e, argument->span, "name", "a string", argument->value);
  }
  return NULL;
}

static Value call_def(Elaborator *e, Function *function, const Arguments *arguments,
                      const Layer *layer) {
  Matched matched = {0};
  const AstFormals *formals = &function->stmt->function.formals;
  if (formals->count > MAX_FORMALS)
    return report_error_value(e, function->stmt->function.name.span,
                              "'%s' has more than %d arguments", function->name, MAX_FORMALS);
  if (!match_arguments(e, function, arguments, &matched)) return value_error();
  const char *path =
      layer ? layer->path : path_of_call(e, function, argument_name(e, function, arguments));
  Frame *frame = frame_enter(e, function, arguments->call, path);
  if (!frame) return value_error();
  if (layer) frame->layer = layer->path;
  if (layer && layer->followed) frame->follower = layer;
  if (layer && layer->is_evaluated) frame->is_evaluated = true;
  Value result = value_error();
  if (bind_formals(e, function, &matched)) {
    result = function->stmt->kind == AST_EXTERN
                 ? evaluate_extern(e, function, arguments->call, matched.values)
                 : run_def(e, frame, function);
    if (function->stmt->function.gradient)
      result = evaluate_own_gradient(e, function, arguments->call, matched.values, result);
  }
  call_leave(e, frame);
  return result;
}

/* ---- definers ----------------------------------------------------------------------------- */

/* What has a number as its default takes no text: lr = "fast". */
static bool check_numbers(Elaborator *e, const Function *function, const Matched *matched) {
  const AstFormals *formals = &function->stmt->function.formals;
  for (int i = 0; i < formals->count; i++) {
    const AstFormal *formal = &formals->items[i];
    const AstExpr *start = formal->default_value;
    bool is_number = start && (start->kind == AST_INTEGER || start->kind == AST_FLOAT);
    if (!is_number || !matched->given[i] || matched->values[i].kind != VALUE_STRING) continue;
    report_kind(e, matched->spans[i],
                arena_printf(e->arena, "'%s' of '%s'", formal->name.text, function->name),
                "a number", matched->values[i]);
    return false;
  }
  return true;
}

static Value defer(Elaborator *e, Function *function, const Arguments *arguments,
                   const AstExpr *expr) {
  int count = function->stmt->function.formals.count;
  Deferred *deferred = ARENA_NEW(e->arena, Deferred);
  Matched matched = {0};
  deferred->function = function;
  deferred->arguments = ARENA_ARRAY(e->arena, Value, count + 1);
  deferred->given = ARENA_ARRAY(e->arena, Span, count + 1);
  deferred->span = arguments->call;
  deferred->expr = expr;
  deferred->path = e->frame->path;
  if (count > MAX_FORMALS)
    return report_error_value(e, arguments->call, "'%s' has more than %d arguments", function->name,
                              MAX_FORMALS);
  if (!match_arguments(e, function, arguments, &matched) || !check_numbers(e, function, &matched))
    return value_error();
  for (int i = 0; i < count; i++) {
    deferred->arguments[i] = matched.values[i];
    deferred->given[i] = matched.places[i];
    if (!matched.given[i]) deferred->arguments[i].kind = VALUE_KIND_COUNT; /* in the frame */
  }
  Value value = {.kind = VALUE_DEFERRED};
  value.deferred = deferred;
  return value;
}

bool call_is_definer(Elaborator *e, Value value, AstStmtKind kind, Span at, Deferred **deferred) {
  bool is_bare = value.kind == VALUE_DEF && value.function->stmt->kind == kind;
  if (is_bare) value = defer(e, value.function, &(Arguments){.call = at, .callee = at}, NULL);
  bool is_applied = value.kind == VALUE_DEFERRED && value.deferred->function->stmt->kind == kind;
  *deferred = is_applied ? value.deferred : NULL;
  return is_bare || is_applied;
}

Frame *call_definer(Elaborator *e, const Deferred *deferred, int ambient_count,
                    const Symbol *ambient, const char *path) {
  Function *function = deferred->function;
  int count = function->stmt->function.formals.count;
  Frame *frame = frame_enter(e, function, deferred->span, path);
  if (!frame) return NULL;
  /* Names given to the definer lie outside its formals: a default may use them. */
  Scope *given_names = scope_create(e->arena, frame->scope->parent, true);
  for (int i = 0; i < ambient_count; i++) {
    Symbol *symbol = scope_bind(e->arena, given_names, ambient[i].kind, ambient[i].name,
                                ambient[i].value, function->stmt->function.name.span);
    symbol->slot = ambient[i].slot;
  }
  frame->scope->parent = given_names;
  Matched matched = {0};
  for (int i = 0; i < count; i++) {
    matched.values[i] = deferred->arguments[i];
    matched.given[i] = matched.values[i].kind != VALUE_KIND_COUNT;
    matched.spans[i] = deferred->span;
    matched.places[i] = deferred->given[i];
  }
  if (!bind_formals(e, function, &matched)) {
    call_leave(e, frame);
    return NULL;
  }
  return frame;
}

void call_optimizer(Elaborator *e, const Deferred *definer, Slot *w, Node *g, const char *what,
                    const char *example) {
  Symbol ambient[6];
  evaluate_ambient(e, ambient);
  ambient[4] = (Symbol){
      .name = name_intern("w"), .kind = SYMBOL_PARAM, .slot = w, .value = value_tensor(e, w->leaf)};
  ambient[5] =
      (Symbol){.name = name_intern("g"), .kind = SYMBOL_AMBIENT, .value = value_tensor(e, g)};
  Frame *frame = call_definer(e, definer, 6, ambient, w->path);
  if (!frame) return;
  frame->state_prefix = name_printf("%s:", w->path);
  frame->state_type = &w->type;
  int errors = e->errors;
  evaluate_block(e, frame->stmts);
  if (!w->stored && e->errors == errors && !e->trace->exhausted)
    report_error(e, definer->function->stmt->function.name.span,
                 "the %s '%s' never stores into w: %s", what, definer->function->name, example);
  call_leave(e, frame);
}

/* ---- layers ------------------------------------------------------------------------------- */

static bool has_hole(const AstExpr *expr) {
  for (int i = 0; i < expr->call.arguments.count; i++)
    if (expr->call.arguments.items[i].value->kind == AST_PLACEHOLDER) return true;
  return false;
}

static Value make_layer(Elaborator *e, Value callee, const AstExpr *expr) {
  const AstArguments *written = &expr->call.arguments;
  Layer *layer = ARENA_NEW(e->arena, Layer);
  layer->callee = callee;
  layer->count = written->count;
  layer->arguments = ARENA_ARRAY(e->arena, Argument, written->count);
  layer->is_hole = ARENA_ARRAY(e->arena, bool, written->count);
  layer->span = expr->span;
  const char *name = NULL;
  for (int i = 0; i < written->count; i++) {
    const AstArgument *argument = &written->items[i];
    layer->arguments[i] = (Argument){
        .name = argument->name, .span = argument->value->span, .given = argument->value->span};
    layer->is_hole[i] = argument->value->kind == AST_PLACEHOLDER;
    if (layer->is_hole[i]) continue;
    Value value = layer->arguments[i].value = evaluate_expr(e, argument->value);
    if (value_is_error(value)) return value;
    if (argument->name.text != name_intern("name") || value.kind != VALUE_STRING) continue;
    name = value.string;
    if (!is_path_name(e, name, argument->value->span)) return value_error();
  }
  bool is_def = callee.kind == VALUE_DEF && callee.function->stmt->kind == AST_DEF;
  if (!is_def && callee.kind != VALUE_BUILTIN)
    return report_kind(e, expr->call.callee->span, "what is called with '_'", "a def", callee);
  layer->path = path_of_layer(e, callee, name);
  Value value = {.kind = VALUE_LAYER};
  value.layer = layer;
  return value;
}

static Value call_layer(Elaborator *e, Layer *layer, const Arguments *arguments) {
  int holes = 0;
  for (int i = 0; i < layer->count; i++) holes += layer->is_hole[i];
  if (arguments->count != holes) {
    Diagnostic *d = report_error(e, arguments->call, "this layer takes %d argument%s, %d given",
                                 holes, holes == 1 ? "" : "s", arguments->count);
    diag_note(d, layer->span, "the layer");
    if (arguments->count > holes)
      diag_help(d, "a call gives what was left out: a '_' for each, f(_, _)");
    return value_error();
  }
  Arguments all = {.count = layer->count, .call = arguments->call, .callee = arguments->callee};
  all.items = arena_copy(e->arena, layer->arguments, sizeof *all.items * (size_t)layer->count);
  for (int i = 0, next = 0; i < layer->count; i++) {
    if (!layer->is_hole[i]) continue;
    const Argument *filled = &arguments->items[next++];
    if (filled->name.text)
      return report_error_value(e, filled->name.span, "a layer's arguments are positional");
    all.items[i].value = filled->value;
    all.items[i].span = filled->span;
    all.items[i].given = filled->given;
  }
  if (layer->callee.kind == VALUE_BUILTIN) return call_value(e, layer->callee, &all);
  return call_def(e, layer->callee.function, &all, layer);
}

/* ---- types as functions: f32(x) ----------------------------------------------------------- */

/* What the host computes is in f64, so that f32 rounds nothing there. */
static bool host_dtype(Elaborator *e, DType *dtype, Span at) {
  if (!e->region->is_host_only || *dtype == DTYPE_BOOL) return true;
  bool is_wide = *dtype == DTYPE_F32 || *dtype == DTYPE_F64;
  bool is_whole = dtype_is_int(*dtype);
  const char *name = dtype_name(*dtype);
  *dtype = DTYPE_F64;
  if (is_wide) return true;
  Diagnostic *d = report_error(e, at, "a schedule computes in f64 and has no numbers of %s", name);
  if (is_whole) diag_help(d, "floor(x) and round(x) give whole numbers");
  return false;
}

static Value call_dtype(Elaborator *e, DType dtype, const Arguments *arguments) {
  if (arguments->count != 1 || arguments->items[0].name.text)
    return report_error_value(e, arguments->call, "%s(x) converts one tensor", dtype_name(dtype));
  Value value = convert_plain(e, arguments->items[0].value, arguments->items[0].span);
  if (value_is_error(value)) return value;
  if (!host_dtype(e, &dtype, arguments->call)) return value_error();
  if (value.kind == VALUE_BOOL && dtype != DTYPE_BOOL) value = value_int(value.boolean);
  bool is_exact = dtype == DTYPE_F64 && convert_is_weak_list(value);
  Node *node = is_exact || value_is_number(value) || value.kind == VALUE_BOOL
                   ? convert_tensor(e, value, dtype, arguments->items[0].span)
                   : convert_any_tensor(e, value, arguments->items[0].span);
  return value_tensor(e, emit_cast(e, node, dtype));
}

/* ---- dispatch ----------------------------------------------------------------------------- */

static Value call_builtin(Elaborator *e, const Builtin *builtin, const Arguments *arguments) {
  Bound bound;
  if (!call_bind(e, builtin, arguments, &bound)) return value_error();
  return builtin->call(e, &bound);
}

static Value call_with(Elaborator *e, Value callee, const Arguments *arguments,
                       const AstExpr *expr) {
  switch (callee.kind) {
  case VALUE_ERROR: return callee;
  case VALUE_DEF:
    if (callee.function->stmt->kind == AST_DEF || callee.function->stmt->kind == AST_EXTERN)
      return call_def(e, callee.function, arguments, NULL);
    return defer(e, callee.function, arguments, expr);
  case VALUE_BUILTIN: return call_builtin(e, callee.builtin, arguments);
  case VALUE_LAYER: return call_layer(e, callee.layer, arguments);
  case VALUE_DTYPE: return call_dtype(e, callee.dtype, arguments);
  default:
    report_error(e, arguments->callee, "%s cannot be called", value_describe(e->arena, callee));
    return value_error();
  }
}

Value call_value(Elaborator *e, Value callee, const Arguments *arguments) {
  return call_with(e, callee, arguments, NULL);
}

/* Where the user wrote the value: a formal of the library's that is handed on was written elsewhere. */
static Span place_of_user(const Elaborator *e, const AstExpr *expr) {
  if (expr->kind != AST_NAME || !expr->span.file || !expr->span.file->is_prelude) return expr->span;
  const Symbol *symbol = scope_find_own(e->frame->scope, expr->name);
  return symbol && symbol->kind == SYMBOL_FORMAL ? symbol->given : expr->span;
}

static Value evaluate_written_call(Elaborator *e, const AstExpr *expr) {
  Value callee = evaluate_expr(e, expr->call.callee);
  const AstArguments *written = &expr->call.arguments;
  if (has_hole(expr)) return value_is_error(callee) ? callee : make_layer(e, callee, expr);
  Arguments arguments = {
      .count = written->count, .call = expr->span, .callee = expr->call.callee->span, .expr = expr};
  arguments.items = ARENA_ARRAY(e->arena, Argument, written->count);
  bool failed = value_is_error(callee);
  for (int i = 0; i < written->count; i++) {
    const AstArgument *argument = &written->items[i];
    Value value = evaluate_expr(e, argument->value);
    failed = failed || value_is_error(value);
    arguments.items[i] = (Argument){.name = argument->name,
                                    .value = value,
                                    .span = argument->value->span,
                                    .given = place_of_user(e, argument->value)};
  }
  if (failed || e->trace->exhausted) return value_error();
  e->at = expr->span;
  return call_with(e, callee, &arguments, expr);
}

Value evaluate_call(Elaborator *e, const AstExpr *expr) {
  const Observer *observer = e->options->observer;
  int slots = e->trace ? e->trace->slots.count : 0;
  Value value = evaluate_written_call(e, expr);
  if (observer && expr->span.file == e->program->file)
    observer->call(observer->context, e, expr, value, slots);
  return value;
}
