/* Parameters and states: declaration, initial values, stores.
 *
 * The training trace creates them, in the module and as stores of the init entry; every other trace
 * finds them by path and type. Within a trace a Slot holds what a reader sees: the value at the
 * start of the step until `<-` gives a new one. */
#include <stdio.h>
#include <string.h>
#include "elaborate/core/emit.h"
#include "elaborate/core/path.h"
#include "elaborate/core/report.h"
#include "elaborate/core/slot.h"
#include "elaborate/eval/call.h"
#include "elaborate/eval/convert.h"
#include "elaborate/eval/evaluate.h"
#include "elaborate/variables/average.h"
#include "elaborate/variables/follow.h"
#include "elaborate/variables/variable.h"
#include "support/names.h"
#include "support/panic.h"

/* ---- initial values ----------------------------------------------------------------------- */

/* fan_in and fan_out: [in, out]; [k, c/groups, spatial...] of a convolution; [n]. */
static void shape_fans(Shape shape, double *fan_in, double *fan_out) {
  *fan_in = *fan_out = shape.rank == 1 ? (double)shape.dim[0] : 1;
  if (shape.rank < 2) return;
  if (shape.rank == 2) {
    *fan_in = (double)shape.dim[0];
    *fan_out = (double)shape.dim[1];
    return;
  }
  double window = 1;
  for (int i = 2; i < shape.rank; i++) window *= (double)shape.dim[i];
  *fan_in = (double)shape.dim[1] * window;
  *fan_out = (double)shape.dim[0] * window;
}

static Value fan_value(double fan) {
  return fan < 1e15 ? value_int((int64_t)fan) : value_float(fan);
}

static Value run_initializer(Elaborator *e, const Deferred *deferred, Type type, const char *path) {
  double fan_in, fan_out;
  shape_fans(type.shape, &fan_in, &fan_out);
  Symbol ambient[] = {
      {.name = name_intern("shape"),
       .kind = SYMBOL_AMBIENT,
       .value = value_shape(e->arena, type.shape)},
      {.name = name_intern("fan_in"), .kind = SYMBOL_AMBIENT, .value = fan_value(fan_in)},
      {.name = name_intern("fan_out"), .kind = SYMBOL_AMBIENT, .value = fan_value(fan_out)},
  };
  Frame *frame = call_definer(e, deferred, 3, ambient, path);
  if (!frame) return value_error();
  int errors = e->errors;
  evaluate_block(e, frame->stmts);
  Value result = value_error();
  if (frame->returned.count == 1) result = frame->returned.items[0];
  else if (e->errors == errors)
    report_error(e, deferred->function->stmt->function.name.span,
                 "the initializer '%s' must return one value", deferred->function->name);
  call_leave(e, frame);
  return result;
}

/* `zeros` and `ones` are tensors with a shape and initializers without. */
static Value initial_value(Elaborator *e, Value value, Type type, const char *path, Span at) {
  if (value.kind == VALUE_BUILTIN && !strcmp(value.builtin->name, "zeros")) return value_int(0);
  if (value.kind == VALUE_BUILTIN && !strcmp(value.builtin->name, "ones")) return value_int(1);
  Deferred *deferred;
  if (call_is_definer(e, value, AST_INIT, at, &deferred))
    return deferred ? run_initializer(e, deferred, type, path) : value_error();
  if (value.kind != VALUE_DEFERRED) return value;
  return report_kind(e, at, "an initial value", "an initializer, a number or a tensor", value);
}

/* Numbers that stand for those of a file until it is read: what `--check-gradients` and the
 * interpreter compute with. */
static Value take_file(Elaborator *e, Value file, Type type, const char *path, Span at) {
  Variable *variable = slot_find_variable(e, path);
  CHECK(variable != NULL);
  if (variable->kind == VARIABLE_STREAM) {
    Diagnostic *d =
        report_error(e, at, "a stream begins anew at each pass, but load() is read once");
    diag_help(d, "load the values into a state, and begin with that");
    return value_error();
  }
  bool is_npy = strcmp(file.file.name + strlen(file.file.name) - 4, ".npy") == 0;
  variable->file = file.file.name;
  variable->entry = is_npy ? NULL : file.file.entry ? file.file.entry : path;
  if (type.dtype == DTYPE_BOOL) return value_bool(false);
  if (!dtype_is_float(type.dtype)) return value_int(0);
  Value normal = scope_find_own(e->root, name_intern("lecun_normal"))->value;
  return initial_value(e, normal, type, path, at);
}

/* What begins as a parameter that a file holds begins with the same file. */
static void follow_file(Elaborator *e, const char *path, Value value) {
  if (!value_is_tensor(value) || value.tensor.node->op != OP_PARAM) return;
  const char *from = node_string(value.tensor.node, ATTR_NAME);
  const Variable *parameter = slot_find_variable(e, from);
  Variable *variable = slot_find_variable(e, path);
  if (!parameter || !parameter->file || variable->kind == VARIABLE_STREAM ||
      !shape_equal(parameter->type.shape, variable->type.shape))
    return;
  variable->file = parameter->file;
  variable->entry = parameter->entry;
}

void variable_initialize(Elaborator *e, const char *path, Type type, const AstExpr *expr,
                         Value given, Span at) {
  Context outer = region_enter(e, &e->init);
  e->init.key = path;
  e->frame->label = path;
  /* Initial values of 16 bits are computed in f32 and rounded once. */
  if (dtype_is_float(type.dtype)) e->default_float = type_widened(type).dtype;
  int count = e->frame->elements.count; /* an initializer's paths are its own */
  Value value = expr ? evaluate_expr(e, expr) : given;
  if (expr) at = expr->span;
  e->at = at;
  value = initial_value(e, value, type, path, at);
  if (value.kind == VALUE_FILE) value = take_file(e, value, type, path, at);
  follow_file(e, path, value);
  e->frame->elements.count = count;
  Node *node = NULL;
  if (!value_is_error(value)) {
    if (value_is_tensor(value) && value.tensor.node->type.dtype != type.dtype &&
        dtype_is_float(value.tensor.node->type.dtype) && dtype_is_float(type.dtype) &&
        value.tensor.graph == e->init.graph)
      value = value_tensor(e, emit_cast(e, value.tensor.node, type.dtype));
    node = convert_to_type(e, value, type, at, arena_printf(e->arena, "'%s'", path));
  }
  if (node) emit_output(e, OUTPUT_STORE, path, node, report_user_span(e, at));
  e->init.key = NULL;
  outer.at = at; /* what is made of the variable next stands there, too */
  region_leave(e, outer);
}

/* The module's variable of this path: created by training, found by the others. */
static bool settle_variable(Elaborator *e, VariableKind kind, const char *path, Type type,
                            Span span) {
  Variable *variable = slot_find_variable(e, path);
  if (e->trace->entry == ENTRY_TRAIN) {
    CHECK(variable == NULL);
    Value number = value_int(e->module->variables.count);
    scope_bind(e->arena, e->variable_names, SYMBOL_LOCAL, path, number, span);
    Variable created = {.kind = kind, .path = path, .type = type, .span = span};
    vec_push(e->arena, &e->module->variables, created);
    return true;
  }
  if (!variable)
    return diag_help(report_error(e, span, "'%s' exists in evaluation but not in training", path),
                     "parameters and states are created by training; evaluation may use fewer");
  if (type_equal(variable->type, type) && variable->kind == kind) return true;
  return diag_help(report_error(e, span, "'%s' is %s in training but %s here", path,
                                type_text(e->arena, variable->type), type_text(e->arena, type)),
                   "the shape of a parameter must not depend on the batch or on `training`");
}

/* The trace's slot of a leaf; NULL without one. */
static Slot *add_slot(Elaborator *e, Slot slot) {
  if (!slot.leaf) return NULL;
  slot.current = slot.leaf;
  slot.owner_layer = e->frame->layer;
  Slot *added = arena_copy(e->arena, &slot, sizeof slot);
  vec_push(e->arena, &e->trace->slots, added);
  Scope *names = e->trace->slot_names;
  scope_bind(e->arena, names, SYMBOL_LOCAL, slot.path, value_none(), slot.span)->slot = added;
  return added;
}

Slot *variable_create(Elaborator *e, VariableKind kind, const char *path, Type type, Span span) {
  path = name_intern(path);
  if (!settle_variable(e, kind, path, type, report_user_span(e, span))) return NULL;
  Slot slot = {.path = path, .kind = kind, .type = type, .span = span};
  Attribute attribute = attr_make_string(ATTR_NAME, path);
  Context outer = region_enter(e, &e->trace->region); /* also from the body of a scan */
  e->frame->label = path;
  slot.leaf = kind == VARIABLE_PARAM ? average_leaf(e, path, type) : NULL;
  if (!slot.leaf)
    slot.leaf = emit_leaf(e, kind == VARIABLE_PARAM ? OP_PARAM : OP_STATE, type, 1, &attribute);
  region_leave(e, outer);
  return add_slot(e, slot);
}

/* ---- declarations ------------------------------------------------------------------------- */

static bool declaration_allowed(Elaborator *e, const AstStmt *stmt) {
  const Frame *frame = e->frame;
  const char *word = ast_stmt_kind_text(stmt->kind);
  if (e->region != &e->trace->region && !e->region->outer)
    return report_failure(e, stmt->keyword, "%s belongs in a def or at the top level", word);
  if (region_in_rule(e->region))
    return diag_help(report_error(e, stmt->keyword, "a gradient has no %s of its own", word),
                     "it is computed from its argument and from what the def has bound");
  if (frame->state_prefix && stmt->kind == AST_PARAM)
    return diag_help(report_error(e, stmt->keyword, "an optimizer has states, not parameters"),
                     "state %s = zeros", stmt->variable.name.text);
  return true;
}

/* The type of a declaration without one: that of an optimizer's parameter, or of a number. */
static bool default_type(Elaborator *e, const AstStmt *stmt, Type *type) {
  const AstExpr *expr = stmt->variable.value;
  if (e->frame->state_type) {
    *type = *e->frame->state_type;
    return true;
  }
  *type = type_scalar(e->default_float);
  if (expr && (expr->kind == AST_INTEGER || expr->kind == AST_FLOAT || expr->kind == AST_UNARY))
    return true;
  return diag_help(report_error(e, stmt->variable.name.span, "the %s '%s' needs a shape",
                                ast_stmt_kind_text(stmt->kind), stmt->variable.name.text),
                   "%s %s : f32[...] = ... with its extents in the brackets",
                   ast_stmt_kind_text(stmt->kind), stmt->variable.name.text);
}

static bool declared_type(Elaborator *e, const AstStmt *stmt, Type *type) {
  if (!stmt->variable.type) return default_type(e, stmt, type);
  if (!evaluate_type(e, stmt->variable.type, type)) return false;
  for (int i = 0; i < type->shape.rank; i++) {
    if (type->shape.dim[i] > 0) continue;
    return report_failure(e, stmt->variable.type->span, "axis %d of '%s' has extent 0", i,
                          stmt->variable.name.text);
  }
  if (stmt->kind != AST_PARAM || dtype_is_float(type->dtype)) return true;
  return diag_help(report_error(e, stmt->variable.type->span,
                                "a parameter is trained and must be of a float type, not %s",
                                dtype_name(type->dtype)),
                   "state %s : %s[...] is not trained", stmt->variable.name.text,
                   dtype_name(type->dtype));
}

/* Where the user sees that a slot was made. */
static Span slot_place(const Slot *slot) {
  return slot->span.file->is_prelude ? slot->leaf->span : slot->span;
}

/* The slot of a path that the trace has met before: shared by the uses of one layer. */
static Slot *shared_slot(Elaborator *e, Slot *slot, const AstStmt *stmt) {
  bool shared = slot->owner_layer && slot->owner_layer == e->frame->layer;
  if (shared) return slot;
  Diagnostic *d =
      report_error(e, stmt->variable.name.span, "two variables have the path '%s'", slot->path);
  diag_note(d, slot_place(slot), "the first");
  if (e->frame->loops > 0)
    diag_help(d, "each call of a def makes its own: declare it in a def that the loop calls");
  else diag_help(d, "give one of the calls another name: name = \"...\"");
  return NULL;
}

/* A stream with an axis for the batch, seen by a trace of single examples: it has no row of its own
 * among the minibatch's. */
static bool is_of_one_example(const Elaborator *e, const char *path, Type type) {
  const Variable *variable = slot_find_variable(e, path);
  return e->trace->single && variable && variable->kind == VARIABLE_STREAM &&
         !type_equal(variable->type, type) && variable->type.dtype == type.dtype;
}

/* Such an example begins with the initial value and stores nothing. */
static Slot *fresh_stream(Elaborator *e, const AstStmt *stmt, const char *path, Type type) {
  Context outer = region_enter(e, &e->trace->region);
  const AstExpr *expr = stmt->variable.value;
  Value value = initial_value(e, evaluate_expr(e, expr), type, path, expr->span);
  Node *node = value_is_error(value) ? NULL
                                     : convert_to_type(e, value, type, expr->span,
                                                       arena_printf(e->arena, "'%s'", path));
  region_leave(e, outer);
  return add_slot(e, (Slot){.path = path,
                            .kind = VARIABLE_STREAM,
                            .type = type,
                            .leaf = node,
                            .is_fresh = true,
                            .span = stmt->variable.name.span});
}

static Slot *declare_slot(Elaborator *e, const AstStmt *stmt) {
  AstName name = stmt->variable.name;
  const char *path = e->frame->state_prefix ? name_printf("%s%s", e->frame->state_prefix, name.text)
                                            : path_join(e->frame->path, name.text);
  VariableKind kind = e->frame->state_prefix     ? VARIABLE_OPTIMIZER
                      : stmt->kind == AST_PARAM  ? VARIABLE_PARAM
                      : stmt->kind == AST_STREAM ? VARIABLE_STREAM
                                                 : VARIABLE_STATE;
  Type type;
  if (!declared_type(e, stmt, &type)) return NULL;
  Slot *slot = slot_find(e->trace, path);
  if (slot) {
    slot = shared_slot(e, slot, stmt);
    if (slot && !type_equal(slot->type, type))
      return diag_note(
          report_error(e, name.span,
                       "'%s' is shared, but is %s in one use of the layer and %s in another", path,
                       type_text(e->arena, slot->type), type_text(e->arena, type)),
          slot_place(slot), "the first use");
    return slot;
  }
  if (kind == VARIABLE_PARAM && follow_is_average(e, path))
    return follow_slot(e, path, type, name.span);
  if (!stmt->variable.value)
    return diag_help(report_error(e, name.span, "the %s '%s' needs an initial value",
                                  ast_stmt_kind_text(stmt->kind), name.text),
                     "%s %s : ... = zeros, or = he_normal, normal(0, 0.02), ...",
                     ast_stmt_kind_text(stmt->kind), name.text);
  if (kind == VARIABLE_STREAM && is_of_one_example(e, path, type))
    return fresh_stream(e, stmt, path, type);
  slot = variable_create(e, kind, path, type, name.span);
  if (slot && e->trace->entry == ENTRY_TRAIN)
    variable_initialize(e, path, type, stmt->variable.value, value_none(), name.span);
  return slot;
}

void variable_declare(Elaborator *e, const AstStmt *stmt) {
  AstName name = stmt->variable.name;
  path_begin_statement(e, NULL, NULL);
  if (!declaration_allowed(e, stmt)) {
    scope_bind(e->arena, e->frame->scope, SYMBOL_LOCAL, name.text, value_error(), name.span);
    return;
  }
  Symbol *symbol = scope_find_own(e->frame->scope, name.text);
  if (symbol && e->frame->loops == 0) {
    Diagnostic *d = report_error(e, name.span, "'%s' is already defined", name.text);
    diag_note(d, symbol->span, "it is defined here");
    return;
  }
  Slot *slot = declare_slot(e, stmt);
  SymbolKind kind = stmt->kind == AST_PARAM ? SYMBOL_PARAM : SYMBOL_STATE;
  symbol = scope_bind(e->arena, e->frame->scope, slot ? kind : SYMBOL_LOCAL, name.text,
                      slot ? slot_value(e, slot) : value_error(), name.span);
  symbol->slot = slot;
}

/* ---- s <- value --------------------------------------------------------------------------- */

static void report_not_stored(Elaborator *e, AstName name, const Symbol *symbol) {
  Diagnostic *d = report_error(e, name.span, "'%s' is %s; only a state takes a value by <-",
                               name.text, scope_kind_text(symbol->kind));
  diag_note(d, symbol->span, "it is defined here");
  if (symbol->kind == SYMBOL_LOCAL || symbol->kind == SYMBOL_FORMAL)
    diag_help(d, "write %s = ... for a new value of this step", name.text);
}

void variable_store(Elaborator *e, const AstStmt *stmt) {
  AstName name = stmt->assignment.names.items[0];
  path_begin_statement(e, &stmt->assignment.names, stmt->assignment.value);
  e->frame->binding = NULL;
  Value value = evaluate_expr(e, stmt->assignment.value);
  Symbol *hidden = NULL;
  Symbol *symbol = scope_find(e->frame->scope, name.text, &hidden);
  if (stmt->assignment.names.count != 1) {
    report_error(e, name.span, "<- stores into one state");
    return;
  }
  if (!symbol) {
    Diagnostic *d = report_error(e, name.span, "there is no state '%s'", name.text);
    diag_help(d, "declare it: state %s : f32[...] = zeros", name.text);
    return;
  }
  if (symbol->kind == SYMBOL_STATE && region_in_rule(e->region)) {
    report_error(e, name.span, "the state '%s' cannot be stored inside a gradient", name.text);
    return;
  }
  if (symbol->kind == SYMBOL_STATE && e->region->outer) {
    Diagnostic *d =
        report_error(e, name.span, "the state '%s' cannot be stored inside a scan", name.text);
    diag_help(d, "carry it from step to step, and store it once after the scan");
    return;
  }
  if (symbol->kind == SYMBOL_STATE && e->frame->is_evaluated) {
    Diagnostic *d = report_error(
        e, name.span, "the state '%s' is stored in a layer that is evaluated()", name.text);
    diag_help(d, "store it in training alone, as batch_norm does: if training { %s <- ... }",
              name.text);
    return;
  }
  bool is_weight = e->frame->state_prefix && symbol->kind == SYMBOL_PARAM;
  if (symbol->kind != SYMBOL_STATE && !is_weight) {
    if (!value_is_error(symbol->value)) report_not_stored(e, name, symbol);
    return;
  }
  if (value_is_error(value) || !symbol->slot) return;
  e->at = stmt->span;
  Node *node = convert_to_type(e, value, symbol->slot->type, stmt->assignment.value->span,
                               arena_printf(e->arena, "'%s'", name.text));
  if (node) slot_store(symbol->slot, node);
}
