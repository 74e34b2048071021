/* Statements, executed in order. A mistake in one binds an error value, and the next is executed. */
#include "elaborate/core/elaborator.h"
#include "elaborate/core/emit.h"
#include "elaborate/core/observer.h"
#include "elaborate/core/path.h"
#include "elaborate/core/report.h"
#include "elaborate/eval/convert.h"
#include "elaborate/eval/evaluate.h"
#include "elaborate/eval/option.h"
#include "support/names.h"
#include "syntax/parse.h"

static void evaluate_statement(Elaborator *e, const AstStmt *stmt);

static bool at_top_level(const Elaborator *e) { return e->frame->parent == NULL; }

/* ---- binding names ------------------------------------------------------------------------ */

static void report_redefinition(Elaborator *e, AstName name, const Symbol *symbol) {
  Diagnostic *d = report_error(e, name.span, "'%s' is %s and cannot be bound again", name.text,
                               scope_kind_text(symbol->kind));
  diag_note(d, symbol->span, "it is defined here");
  if (symbol->kind == SYMBOL_STATE)
    diag_help(d, "a state takes a new value by %s <- ...", name.text);
  else diag_help(d, "choose another name for the new value");
}

/* Inside a scan, a name of the frame around it. */
static Symbol *find_around(const Scope *scope, const char *name) {
  while (scope->is_scan) {
    scope = scope->parent;
    Symbol *symbol = scope_find_own(scope, name);
    if (symbol) return symbol;
  }
  return NULL;
}

/* A step may bind a value's name anew: it is another value, which ends with the step. After the step has read the
 * value from around the scan, `=` would look like a change of that. A loop counts anew in any case. */
static bool may_shadow(Elaborator *e, AstName name, SymbolKind kind, const Symbol *around) {
  bool is_value = around->kind == SYMBOL_LOCAL || around->kind == SYMBOL_FORMAL;
  bool is_read = table_find(&e->frame->scope->outer, name.text) >= 0;
  if ((is_value || around->kind == SYMBOL_LOOP) && (kind == SYMBOL_LOOP || !is_read)) return true;
  Diagnostic *d =
      report_error(e, name.span, "'%s' is %s around this scan, which a step %s", name.text,
                   scope_kind_text(around->kind),
                   is_read && is_value ? "has read and cannot bind again" : "cannot bind again");
  diag_note(d, around->span, "it is defined here");
  if (is_value) diag_help(d, "carry it from step to step: with %s = %s", name.text, name.text);
  else diag_help(d, "choose another name for the new value");
  return false;
}

/* A name that `=` or a loop, which is the kind, may bind here. */
static bool may_bind(Elaborator *e, AstName name, SymbolKind kind) {
  Symbol *symbol = scope_find_own(e->frame->scope, name.text);
  if (!symbol) {
    symbol = find_around(e->frame->scope, name.text);
    return !symbol || may_shadow(e, name, kind, symbol);
  }
  if (symbol->kind == SYMBOL_LOCAL || symbol->kind == SYMBOL_LOOP || symbol->kind == SYMBOL_FORMAL)
    return true;
  report_redefinition(e, name, symbol);
  return false;
}

static void bind_name(Elaborator *e, const AstName *name, SymbolKind kind, Value value) {
  if (name->text == name_intern("_") || !may_bind(e, *name, kind)) return;
  Symbol *symbol = scope_bind(e->arena, e->frame->scope, kind, name->text, value, name->span);
  if (kind == SYMBOL_LOCAL && !name->span.file->is_prelude)
    symbol->usage = scope_usage(e, name, "value");
}

static void bind_names(Elaborator *e, const AstNames *names, SymbolKind kind, Value value,
                       Span at) {
  if (names->count == 1) {
    bind_name(e, &names->items[0], kind, value);
    return;
  }
  bool fits = value_is_sequence(value) && value_sequence_length(value) == names->count;
  if (!fits && !value_is_error(value)) {
    if (value_is_sequence(value))
      report_error(e, at, "%d names for %lld values", names->count,
                   (long long)value_sequence_length(value));
    else
      report_error(e, at, "%d names for one value: %s", names->count,
                   value_describe(e->arena, value));
  }
  for (int i = 0; i < names->count; i++)
    bind_name(e, &names->items[i], kind, fits ? value_sequence_item(value, i) : value_error());
}

static void evaluate_assign(Elaborator *e, const AstStmt *stmt) {
  path_begin_statement(e, &stmt->assignment.names, stmt->assignment.value);
  const AstExpr *expr = stmt->assignment.value;
  Value value = expr->kind == AST_SCAN ? evaluate_scan_for(e, expr, stmt->assignment.names.count)
                                       : evaluate_expr(e, expr);
  if (value.kind == VALUE_DEFERRED && !value.deferred->scalar && stmt->assignment.names.count == 1)
    value.deferred->scalar = stmt->assignment.names.items[0].text;
  bind_names(e, &stmt->assignment.names, SYMBOL_LOCAL, value, stmt->assignment.value->span);
  path_begin_statement(e, NULL, NULL);
}

/* ---- constants ---------------------------------------------------------------------------- */

/* A definition from the command line must be of the kind that the file gives. */
Value evaluate_definition(Elaborator *e, AstName name, const char *what, Value value) {
  const AstExpr *expr = elaborator_definition(e, name.text);
  if (!expr || value_is_error(value)) return value;
  Value given = evaluate_expr(e, expr);
  if (given.kind == VALUE_INT && value.kind == VALUE_FLOAT)
    return value_float((double)given.integer);
  if (given.kind == value.kind || value_is_error(given)) return given;
  Diagnostic *d = report_error(e, expr->span, "the %s '%s' is %s, but -D gives %s", what, name.text,
                               value_describe(e->arena, value), value_describe(e->arena, given));
  diag_note(d, name.span, "it is defined here");
  return value_error();
}

static void evaluate_const(Elaborator *e, const AstStmt *stmt) {
  for (int i = 0; i < stmt->constants.count; i++) {
    const AstBinding *binding = &stmt->constants.items[i];
    Symbol *symbol = scope_find_own(e->frame->scope, binding->name.text);
    if (symbol) {
      report_redefinition(e, binding->name, symbol);
      continue;
    }
    Value value = evaluate_expr(e, binding->value);
    if (value_is_tensor(value)) {
      Diagnostic *d = report_error(e, binding->value->span,
                                   "a constant must be known at compile time, found %s",
                                   value_describe(e->arena, value));
      if (!report_option(e, d, value))
        diag_help(d, "write %s = ... for a value of the step", binding->name.text);
      value = value_error();
    }
    value = evaluate_definition(e, binding->name, "constant", value);
    if (e->trace->single && binding->name.text == e->batch_name) value = value_int(1);
    if (value.kind == VALUE_DEFERRED && !value.deferred->scalar)
      value.deferred->scalar = binding->name.text;
    Symbol *constant = scope_bind(e->arena, e->frame->scope, SYMBOL_CONST, binding->name.text,
                                  value, binding->name.span);
    constant->usage = scope_usage(e, &binding->name, "constant");
  }
}

/* ---- inputs ------------------------------------------------------------------------------- */

/* The constant that the first axis of an input is named by. */
static const char *input_batch(Elaborator *e, const AstStmt *stmt) {
  const AstType *type = stmt->variable.type;
  if (type->any_shape || type->dims.count == 0) return NULL;
  const AstExpr *first = type->dims.items[0];
  if (first->kind != AST_NAME) return NULL;
  Symbol *symbol = scope_find(e->trace->globals, first->name, NULL);
  return symbol && symbol->kind == SYMBOL_CONST ? first->name : NULL;
}

static void note_batch(Elaborator *e, const AstStmt *stmt) {
  const char *name = stmt->variable.name.text, *batch = input_batch(e, stmt);
  if (!batch) {
    Diagnostic *d = report_error(e, stmt->variable.type->span,
                                 "the first axis of the input '%s' must be a constant's name, "
                                 "the batch",
                                 name);
    diag_help(d,
              "const batch = 100, then input %s : ...[batch, ...]: evaluation of single "
              "examples gives it the value 1. A table that all examples share is a state: "
              "state %s : ... = load(\"%s.npy\")",
              name, name, name);
    return;
  }
  if (!e->batch_name || batch == e->batch_name) {
    e->batch_name = batch;
    return;
  }
  Diagnostic *d = report_error(e, stmt->variable.type->dims.items[0]->span,
                               "the first axis of '%s' is '%s', but other inputs begin with '%s'",
                               name, batch, e->batch_name);
  diag_help(d, "a table that all examples share is a state: state %s : ... = load(\"%s.npy\")",
            name, name);
}

static void evaluate_input(Elaborator *e, const AstStmt *stmt) {
  AstName name = stmt->variable.name;
  Symbol *symbol = scope_find_own(e->frame->scope, name.text);
  if (symbol) {
    report_redefinition(e, name, symbol);
    return;
  }
  if (e->trace->entry == ENTRY_TRAIN) note_batch(e, stmt);
  Type type;
  Value value = value_error();
  e->frame->label = name.text;
  if (evaluate_type(e, stmt->variable.type, &type)) {
    for (int i = 0; i < type.shape.rank; i++)
      if (type.shape.dim[i] == 0) {
        report_error(e, stmt->variable.type->span, "axis %d of the input '%s' has extent 0", i,
                     name.text);
        type.shape.dim[i] = 1;
      }
    Attribute attribute = attr_make_string(ATTR_NAME, name.text);
    e->at = stmt->span;
    value = value_tensor(e, emit_leaf(e, OP_INPUT, type, 1, &attribute));
    if (e->trace->entry == ENTRY_TRAIN) {
      InputInfo info = {name.text, type, true, name.span};
      vec_push(e->arena, &e->module->inputs, info);
    }
  }
  symbol = scope_bind(e->arena, e->frame->scope, SYMBOL_INPUT, name.text, value, name.span);
  symbol->usage = scope_usage(e, &stmt->variable.name, "input");
}

/* ---- control ------------------------------------------------------------------------------ */

/* Counts a statement or a round of a loop; false when there was too much. */
static bool allow_statement(Elaborator *e, Span at) {
  if (++e->trace->statements > MAX_STATEMENTS && !e->trace->exhausted) {
    report_error(e, at, "the program runs more than %lld statements at compile time",
                 (long long)MAX_STATEMENTS);
    e->trace->exhausted = true;
  }
  return !e->trace->exhausted;
}

/* The names of a loop that is over, where nothing has bound them since. */
static void end_names(Elaborator *e, const AstNames *names) {
  for (int i = 0; i < names->count; i++) {
    Symbol *symbol = scope_find_own(e->frame->scope, names->items[i].text);
    if (symbol && symbol->kind == SYMBOL_LOOP) symbol->is_over = true;
  }
}

static void evaluate_for(Elaborator *e, const AstStmt *stmt) {
  path_begin_statement(e, NULL, NULL);
  const AstExpr *expr = stmt->loop.sequence;
  Value sequence = evaluate_expr(e, expr);
  if (value_is_error(sequence)) {
    return;
  }
  if (!value_is_sequence(sequence)) {
    Diagnostic *d = report_error(e, expr->span, "for needs a range or a list, found %s",
                                 value_describe(e->arena, sequence));
    if (sequence.kind == VALUE_INT) diag_help(d, "count with 0..%lld", (long long)sequence.integer);
    if (value_is_tensor(sequence))
      diag_help(d, "for runs at compile time; scan walks along an axis of a tensor");
    return;
  }
  int64_t length = value_sequence_length(sequence);
  int errors = e->errors;
  e->frame->loops++;
  for (int64_t i = 0; i < length && !e->frame->has_returned; i++) {
    if (!allow_statement(e, stmt->keyword)) break;
    bind_names(e, &stmt->loop.pattern, SYMBOL_LOOP, value_sequence_item(sequence, i), expr->span);
    evaluate_block(e, &stmt->loop.body->stmts);
    if (e->errors > errors) break; /* further rounds would say the same */
  }
  e->frame->loops--;
  end_names(e, &stmt->loop.pattern);
}

static void evaluate_if(Elaborator *e, const AstStmt *stmt) {
  path_begin_statement(e, NULL, NULL);
  const AstExpr *expr = stmt->branch.condition;
  Value condition = convert_plain(e, evaluate_expr(e, expr), expr->span);
  if (condition.kind == VALUE_BOOL) {
    const AstBlock *block = condition.boolean ? stmt->branch.then : stmt->branch.otherwise;
    if (block) evaluate_block(e, &block->stmts);
    return;
  }
  if (value_is_error(condition)) return;
  Diagnostic *d =
      report_error(e, expr->span, "the condition of `if` must be true or false, found %s",
                   value_describe(e->arena, condition));
  if (value_is_tensor(condition))
    diag_help(d, "if chooses at compile time; where(condition, then, otherwise) chooses by "
                 "element");
  report_option(e, d, condition);
}

static void evaluate_return(Elaborator *e, const AstStmt *stmt) {
  Frame *frame = e->frame;
  if (at_top_level(e)) {
    report_error(e, stmt->keyword, "return belongs inside a def");
    return;
  }
  if (frame->scan) {
    report_error(e, stmt->keyword, "a scan cannot be left by return; each step ends with yield");
    return;
  }
  path_begin_statement(e, NULL, NULL);
  for (int i = 0; i < stmt->values.count; i++) {
    Value value = evaluate_expr(e, stmt->values.items[i]);
    vec_push(e->arena, &frame->returned, value);
  }
  frame->has_returned = true;
  frame->return_stmt = stmt;
}

/* ---- definitions -------------------------------------------------------------------------- */

/* Defs are bound before the first statement; here only a repetition and a wrong place are noticed. */
static void evaluate_function(Elaborator *e, const AstStmt *stmt) {
  Symbol *symbol = scope_find_own(e->frame->scope, stmt->function.name.text);
  bool is_this = symbol && symbol->value.kind == VALUE_DEF && symbol->value.function->stmt == stmt;
  if (symbol && !is_this) report_redefinition(e, stmt->function.name, symbol);
}

/* Those that are not here are of variables and sections: e->statements has them. */
static StatementFunction *const own_statements[AST_STMT_KINDS] = {
    [AST_CONST] = evaluate_const,
    [AST_INPUT] = evaluate_input,
    [AST_OPTION] = option_declare,
    [AST_DEF] = evaluate_function,
    [AST_OPTIMIZER] = evaluate_function,
    [AST_INIT] = evaluate_function,
    [AST_SCHEDULE] = evaluate_function,
    [AST_EXTERN] = evaluate_function,
    [AST_ASSIGN] = evaluate_assign,
    [AST_FOR] = evaluate_for,
    [AST_IF] = evaluate_if,
    [AST_RETURN] = evaluate_return,
    [AST_YIELD] = evaluate_yield,
};

static bool belongs_inside(AstStmtKind kind) {
  return kind >= AST_ASSIGN || kind == AST_PARAM || kind == AST_STATE || kind == AST_STREAM;
}

static void evaluate_statement(Elaborator *e, const AstStmt *stmt) {
  if (!allow_statement(e, stmt->span)) return;
  bool is_inside = !at_top_level(e) || e->frame->loops > 0 || e->frame->scan;
  if (is_inside && !belongs_inside(stmt->kind)) {
    report_error(e, stmt->keyword, "%s belongs at the top level of the program",
                 ast_stmt_kind_text(stmt->kind));
    return;
  }
  if (e->frame->scan && e->frame->scan->has_yielded) {
    report_error(e, stmt->span, "a step of a scan ends with its yield");
    e->frame->scan->failed = true;
    return;
  }
  e->at = stmt->span;
  const Observer *observer = e->options->observer;
  int slots = e->trace->slots.count;
  StatementFunction *own = own_statements[stmt->kind];
  (own ? own : e->statements[stmt->kind])(e, stmt);
  if (observer && stmt->span.file == e->program->file)
    observer->statement(observer->context, e, stmt, slots);
}

void evaluate_block(Elaborator *e, const AstStmts *stmts) {
  for (int i = 0; i < stmts->count && !e->frame->has_returned && !e->trace->exhausted; i++)
    evaluate_statement(e, stmts->items[i]);
}
