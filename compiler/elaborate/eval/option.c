/* Options: see option.h.
 *
 * The default is a number, or a number of epochs or steps; a whole number, written as such, makes an
 * option that takes whole numbers alone. A reader sees a host scalar in double, as it sees t. */
#include <math.h>
#include <string.h>
#include "core/flags.h"
#include "elaborate/core/emit.h"
#include "elaborate/core/report.h"
#include "elaborate/eval/convert.h"
#include "elaborate/eval/evaluate.h"
#include "elaborate/eval/option.h"
#include "support/names.h"

#define MOST_WHOLE 0x1p53 /* whole numbers that a double holds */

static RunOption *find_option(const Elaborator *e, const char *name) {
  return module_find_option(e->module, name);
}

RunOption *option_of(const Elaborator *e, Value value) {
  if (!value_is_tensor(value) || value.tensor.node->op != OP_SCALAR) return NULL;
  const char *name = module_option_name(node_string(value.tensor.node, ATTR_NAME));
  return name ? find_option(e, name_intern(name)) : NULL;
}

static Value option_read(Elaborator *e, const Symbol *symbol) {
  const RunOption *option = find_option(e, symbol->name);
  if (!option) return value_error(); /* its mistake was told */
  Node *scalar = emit_scalar(e, name_printf("%s%s", MODULE_OPTION, option->name));
  if (option->unit == UNIT_EPOCHS && scalar)
    scalar = emit_binary(e, OP_MUL, scalar, emit_scalar(e, "steps_per_epoch"));
  return value_tensor(e, scalar);
}

/* ---- names ---------------------------------------------------------------------------------- */

/* "weight_decay" is --weight-decay. */
static bool is_flag(const char *name, const char *flag) {
  for (; *name && *flag; name++, flag++)
    if ((*name == '_' ? '-' : *name) != *flag) return false;
  return *name == *flag;
}

static bool has_generate(const Elaborator *e) {
  for (int i = 0; i < e->program->stmts.count; i++)
    if (e->program->stmts.items[i]->kind == AST_GENERATE) return true;
  return false;
}

/* A flag of a command that the program's executable does not have. */
static bool is_unused(const Elaborator *e, const char *flag) {
  static const char *const flags[] = {NNC_GENERATE_FLAG_NAMES};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
    if (strcmp(flags[i], flag) == 0) return !has_generate(e);
  return false;
}

static bool check_name(Elaborator *e, AstName name) {
  static const char *const flags[] = {NNC_FLAG_NAMES};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
    if (!is_flag(name.text, flags[i]) || is_unused(e, flags[i])) continue;
    return diag_help(
        report_error(e, name.span, "the executable has a flag --%s of its own", flags[i]),
        "choose another name for the option");
  }
  return true;
}

static bool check_declaration(Elaborator *e, AstName name) {
  Symbol *symbol = scope_find_own(e->frame->scope, name.text);
  if (symbol) {
    Diagnostic *d = report_error(e, name.span, "'%s' is %s and cannot be bound again", name.text,
                                 scope_kind_text(symbol->kind));
    diag_note(d, symbol->span, "it is defined here");
    return false;
  }
  if (!check_name(e, name)) return false;
  if (find_option(e, name.text) || e->module->options.count < NNC_MAX_OPTIONS) return true;
  return report_failure(e, name.span, "a program has at most %d options", NNC_MAX_OPTIONS);
}

/* ---- values --------------------------------------------------------------------------------- */

static bool read_default(Elaborator *e, const AstStmt *stmt, RunOption *option) {
  const AstExpr *expr = stmt->option.value;
  Value value = evaluate_definition(e, stmt->option.name, "option", evaluate_expr(e, expr));
  if (value_is_error(value)) return false;
  if (value.kind == VALUE_QUANTITY) {
    option->unit = value.quantity.is_epochs ? UNIT_EPOCHS : UNIT_STEPS;
    option->start = value.quantity.number;
    option->is_whole = option->start == floor(option->start);
  } else if (value_is_number(value)) {
    option->start = value_number(value);
    option->is_whole = value.kind == VALUE_INT;
  } else {
    Diagnostic *d =
        report_error(e, expr->span, "the default of an option must be a number, found %s",
                     value_describe(e->arena, value));
    report_option(e, d, value);
    return false;
  }
  if (isfinite(option->start) && (!option->is_whole || fabs(option->start) <= MOST_WHOLE))
    return true;
  return report_failure(e, expr->span, "the default of an option must be a finite number%s",
                        option->is_whole ? " of at most 2^53" : "");
}

static bool read_limit(Elaborator *e, const AstExpr *expr, double *limit) {
  return convert_number(e, evaluate_expr(e, expr), expr->span, "a limit of an option", limit);
}

/* a..b: from a, and less than b. */
static bool read_limits(Elaborator *e, const AstStmt *stmt, RunOption *option) {
  const AstExpr *expr = stmt->option.limits;
  option->least = -INFINITY;
  option->limit = INFINITY;
  if (!expr) return true;
  if (expr->kind != AST_RANGE) {
    Diagnostic *d = report_error(e, expr->span, "the limits of an option are a range");
    diag_help(d, "option %s = 0.1 in 0..1: from 0, and less than 1; 0..inf has no upper limit",
              option->name);
    return false;
  }
  if (!read_limit(e, expr->range.from, &option->least) ||
      !read_limit(e, expr->range.to, &option->limit))
    return false;
  if (option->start >= option->least && option->start < option->limit) return true;
  Diagnostic *d = report_error(e, stmt->option.value->span,
                               "the default of '%s' lies outside of its limits", option->name);
  diag_note(d, expr->span, "a range goes from its first number to less than its last");
  return false;
}

void option_declare(Elaborator *e, const AstStmt *stmt) {
  AstName name = stmt->option.name;
  if (!check_declaration(e, name)) return;
  RunOption option = {.name = name.text, .span = name.span};
  bool good = read_default(e, stmt, &option) && read_limits(e, stmt, &option);
  if (good && !find_option(e, name.text)) vec_push(e->arena, &e->module->options, option);
  Symbol *symbol =
      scope_bind(e->arena, e->frame->scope, SYMBOL_OPTION, name.text, value_error(), name.span);
  symbol->read = option_read;
  symbol->usage = scope_usage(e, &stmt->option.name, "option");
}
