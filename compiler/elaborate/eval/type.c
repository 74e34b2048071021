/* Types as they are written: of variables, inputs and externs, and of the formals of defs. */
#include "elaborate/core/elaborator.h"
#include "elaborate/core/emit.h"
#include "elaborate/core/report.h"
#include "elaborate/eval/convert.h"
#include "elaborate/eval/evaluate.h"

/* The name of a type, or one that is bound to a type: kind = x.dtype; param w : kind[3, 4]. */
static bool evaluate_element(Elaborator *e, AstName element, DType *dtype) {
  *dtype = e->default_float;
  if (!element.text || dtype_parse(element.text, dtype)) return true;
  Symbol *symbol = scope_find(e->frame->scope, element.text, NULL);
  if (symbol && symbol->usage) symbol->usage->used = true;
  if (symbol && value_is_error(symbol->value)) return false;
  if (symbol && symbol->value.kind == VALUE_DTYPE) {
    *dtype = symbol->value.dtype;
    return true;
  }
  Diagnostic *d = symbol ? report_error(e, element.span, "'%s' is %s, not a type", element.text,
                                        value_describe(e->arena, symbol->value))
                         : report_error(e, element.span, "unknown type '%s'", element.text);
  const char *names[DTYPE_COUNT];
  for (int i = 0; i < DTYPE_COUNT; i++) names[i] = dtype_name((DType)i);
  if (!symbol) report_suggest(d, element.text, names, DTYPE_COUNT);
  return diag_help(d, "the types are f64 f32 f16 bf16 i64 i32 u8 bool, and names bound to one: "
                      "kind = x.dtype");
}

bool evaluate_type(Elaborator *e, const AstType *ast, Type *type) {
  *type = type_scalar(e->default_float);
  if (!evaluate_element(e, ast->element, &type->dtype)) return false;
  if (ast->any_shape)
    return report_failure(e, ast->span,
                          "[...] stands for any shape, which only an argument may have");
  for (int i = 0; i < ast->dims.count; i++) {
    const AstExpr *expr = ast->dims.items[i];
    Value value = evaluate_expr(e, expr);
    Shape part;
    if (value_is_error(value) || !convert_shape(e, value, expr->span, "an extent", false, &part))
      return false;
    if (type->shape.rank + part.rank > MAX_RANK)
      return report_failure(e, ast->span, "a tensor has at most %d axes", MAX_RANK);
    for (int k = 0; k < part.rank; k++) type->shape.dim[type->shape.rank++] = part.dim[k];
  }
  return emit_check_shape(e, ast->span, type->shape);
}

/* One extent of a formal's type; a name without a meaning takes the argument's extent. */
static bool check_formal_extent(Elaborator *e, const AstExpr *expr, int64_t extent, Span at,
                                const char *formal) {
  if (expr->kind == AST_NAME && !scope_find(e->frame->scope, expr->name, NULL)) {
    scope_bind(e->arena, e->frame->scope, SYMBOL_FORMAL, expr->name, value_int(extent), expr->span);
    return true;
  }
  int64_t wanted;
  if (!convert_int(e, evaluate_expr(e, expr), expr->span, "an extent", &wanted)) return false;
  if (wanted == extent) return true;
  return diag_note(report_error(e, at, "the argument '%s' has extent %lld where %lld is declared",
                                formal, (long long)extent, (long long)wanted),
                   expr->span, "declared here");
}

bool evaluate_formal_type(Elaborator *e, const AstFormal *formal, Value value, Span at) {
  const AstType *ast = formal->type;
  DType dtype;
  if (!evaluate_element(e, ast->element, &dtype)) return false;
  bool is_number = value_is_number(value) || value.kind == VALUE_DEFERRED ||
                   value.kind == VALUE_QUANTITY || value.kind == VALUE_BOOL;
  if (is_number && ast->dims.count == 0) return true;
  if (!value_is_tensor(value))
    return report_wrong_kind(e, at, arena_printf(e->arena, "the argument '%s'", formal->name.text),
                             "a tensor", value);
  Type found = value.tensor.node->type;
  bool fits = found.dtype == dtype && (ast->any_shape || found.shape.rank == ast->dims.count);
  if (!fits)
    return diag_note(report_error(e, at,
                                  "the argument '%s' is %s, which is not of its declared type",
                                  formal->name.text, type_text(e->arena, found)),
                     ast->span, "declared here");
  for (int i = 0; i < ast->dims.count; i++)
    if (!check_formal_extent(e, ast->dims.items[i], found.shape.dim[i], at, formal->name.text))
      return false;
  return true;
}
