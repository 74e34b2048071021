/* Elementwise builtins: the same names for tensors and for compile-time numbers. */
#include <math.h>
#include <stdlib.h>
#include "elaborate/builtins/builtins.h"
#include "elaborate/core/emit.h"
#include "elaborate/core/report.h"
#include "elaborate/eval/call.h"
#include "elaborate/eval/convert.h"
#include "elaborate/eval/operate.h"
#include "ops/op.h"

/* ---- one operand -------------------------------------------------------------------------- */

/* Operators of floats only; the others keep integers. */
static bool takes_integers(Op op) {
  return op == OP_ABS || op == OP_SIGN || op == OP_FLOOR || op == OP_CEIL || op == OP_ROUND;
}

static Value constant_unary(Elaborator *e, const Bound *bound, Value x) {
  Op op = (Op)bound->builtin->data;
  if (x.kind == VALUE_INT && op == OP_ABS && x.integer != INT64_MIN)
    return value_int(llabs(x.integer));
  if (x.kind == VALUE_INT && op == OP_SIGN) return value_int((x.integer > 0) - (x.integer < 0));
  double operand = value_number(x);
  double result = op_info(op)->class->scalar(&operand, DTYPE_F64);
  bool rounds = op == OP_FLOOR || op == OP_CEIL || op == OP_ROUND;
  if (rounds && fabs(result) < 1e15) return value_int((int64_t)result);
  if (!isnan(result)) return value_float(result);
  return report_error_value(e, bound->call, "%s of %g is not a number", bound->builtin->name,
                            operand);
}

static Node *require_number(Elaborator *e, const Bound *bound, Node *x, bool integers) {
  if (!x || dtype_is_float(x->type.dtype)) return x;
  bool is_wide = x->type.dtype == DTYPE_I32 || x->type.dtype == DTYPE_I64;
  return integers && is_wide ? x : builtins_refuse_type(e, bound, 0, x);
}

static Value apply_unary(Elaborator *e, const Bound *bound) {
  Value x = bound->values[0];
  if (value_is_number(x)) return constant_unary(e, bound, x);
  Op op = (Op)bound->builtin->data;
  Node *node =
      require_number(e, bound, convert_any_tensor(e, x, bound->spans[0]), takes_integers(op));
  bool is_whole = node && !dtype_is_float(node->type.dtype) && op != OP_ABS && op != OP_SIGN;
  return value_tensor(e, is_whole || !node ? node : emit_unary(e, op, node));
}

static Value apply_stop_gradient(Elaborator *e, const Bound *bound) {
  return value_tensor(e, emit_unary(e, OP_STOP_GRADIENT, builtins_tensor(e, bound, 0)));
}

/* ---- two operands ------------------------------------------------------------------------- */

static Value constant_extreme(const Bound *bound) {
  Value x = bound->values[0], y = bound->values[1];
  bool greater = value_number(x) > value_number(y);
  Value chosen = greater == (bound->builtin->data == OP_MAX) ? x : y;
  bool mixed = x.kind != y.kind;
  return mixed ? value_float(value_number(chosen)) : chosen;
}

static Value apply_extreme(Elaborator *e, const Bound *bound) {
  if (value_is_number(bound->values[0]) && value_is_number(bound->values[1]))
    return constant_extreme(bound);
  Node *x, *y;
  if (!builtins_unify(e, bound, 0, &x, &y) || !require_number(e, bound, x, true))
    return value_error();
  return value_tensor(e, emit_binary(e, (Op)bound->builtin->data, x, y));
}

static Value apply_operator(Elaborator *e, const Bound *bound) {
  return operate_binary(e, (AstOperator)bound->builtin->data, bound->values[0], bound->values[1],
                        bound->spans[0], bound->spans[1]);
}

/* where(x < low, low, x), not a maximum: at a limit all of the gradient is x's. */
static Value limit(Elaborator *e, const Bound *bound, Op beyond) {
  Node *x, *y;
  if (!builtins_unify(e, bound, 0, &x, &y) || !require_number(e, bound, x, true))
    return value_error();
  Node *operands[] = {emit_binary(e, beyond, x, y), y, x};
  return value_tensor(e, emit_node(e, OP_WHERE, 3, operands, 0, NULL));
}

static Value apply_clip(Elaborator *e, const Bound *bound) {
  Bound part = *bound;
  static const Builtin above = {.name = "clip", .data = OP_MAX};
  static const Builtin below = {.name = "clip", .data = OP_MIN};
  for (int i = 1; i <= 2; i++) {
    if (bound->values[i].kind == VALUE_NONE) continue;
    part.builtin = i == 1 ? &above : &below;
    part.values[1] = bound->values[i];
    part.spans[1] = bound->spans[i];
    bool numbers = value_is_number(part.values[0]) && value_is_number(part.values[1]);
    part.values[0] = numbers ? constant_extreme(&part) : limit(e, &part, i == 1 ? OP_LT : OP_GT);
    if (value_is_error(part.values[0])) break;
  }
  return part.values[0];
}

/* ---- where -------------------------------------------------------------------------------- */

static Value apply_where(Elaborator *e, const Bound *bound) {
  Value condition = bound->values[0];
  if (condition.kind == VALUE_BOOL) return bound->values[condition.boolean ? 1 : 2];
  Node *c = convert_any_tensor(e, condition, bound->spans[0]);
  if (!c) return value_error();
  if (c->type.dtype != DTYPE_BOOL) {
    Diagnostic *d =
        report_error(e, bound->spans[0], "the condition of 'where' must be of bool, found %s",
                     type_text(e->arena, c->type));
    diag_help(d, "compare: x > 0");
    return value_error();
  }
  Node *x, *y;
  if (!builtins_unify(e, bound, 1, &x, &y)) return value_error();
  Shape shape;
  if (!shape_broadcast(c->type.shape, x->type.shape, &shape)) {
    Diagnostic *d = report_error(
        e, bound->call, "'where' of a condition %s and values %s, which do not broadcast",
        shape_text(e->arena, c->type.shape), shape_text(e->arena, x->type.shape));
    report_note_tensor(e, d, "the condition", c);
    return value_error();
  }
  Node *operands[] = {emit_broadcast(e, c, shape), emit_broadcast(e, x, shape),
                      emit_broadcast(e, y, shape)};
  return value_tensor(e, emit_node(e, OP_WHERE, 3, operands, 0, NULL));
}

/* ---- conversions -------------------------------------------------------------------------- */

static Value apply_cast(Elaborator *e, const Bound *bound) {
  if (bound->values[1].kind != VALUE_DTYPE)
    return report_kind(e, bound->spans[1], "the type of 'cast'", "a type such as f32",
                       bound->values[1]);
  Argument argument = {.value = bound->values[0], .span = bound->spans[0]};
  Arguments arguments = {
      .count = 1, .items = &argument, .call = bound->call, .callee = bound->call};
  return call_value(e, bound->values[1], &arguments);
}

/* int(x): a compile-time number, toward zero. */
static Value apply_int(Elaborator *e, const Bound *bound) {
  Value x = bound->values[0];
  if (x.kind == VALUE_INT) return x;
  if (x.kind == VALUE_BOOL) return value_int(x.boolean);
  if (value_is_tensor(x)) {
    Diagnostic *d =
        report_error(e, bound->spans[0], "int(...) is for numbers known at compile time");
    diag_help(d, "i32(x) converts a tensor");
    return value_error();
  }
  if (x.kind != VALUE_FLOAT) return report_kind(e, bound->spans[0], "x", "a number", x);
  if (fabs(x.real) < 9e15) return value_int((int64_t)x.real);
  return report_error_value(e, bound->spans[0], "%g is too large for an integer", x.real);
}

static Value apply_float(Elaborator *e, const Bound *bound) {
  (void)e;
  return value_float(value_number(bound->values[0]));
}

const Builtin builtins_math[] = {
#define OP(...)
#define FUNCTION(identifier, name, table, doc)                                                     \
  {name,        name "(x: tensor)", doc " Example: y = " name "(x)",                               \
   apply_unary, OP_##identifier,    "elementwise"},
#include "ops/ops.def"
#undef OP
    BUILTIN("elementwise", apply_extreme, OP_MIN, "minimum", "x: tensor, y: tensor",
            "The lesser, elementwise, with broadcasting."
            " Example: y = minimum(x, 1)"),
    BUILTIN("elementwise", apply_extreme, OP_MAX, "maximum", "x: tensor, y: tensor",
            "The greater, elementwise, with broadcasting."
            " Example: y = maximum(x, 2 * x)"),
    BUILTIN("elementwise", apply_operator, AST_POW, "pow", "x: tensor, y: tensor",
            "x ^ y, elementwise."
            " Example: y = pow(abs(x), 1.5)"),
    BUILTIN("elementwise", apply_clip, 0, "clip",
            "x: tensor, low: tensor = none, high: tensor = none",
            "x limited to [low, high], elementwise; none is no limit."
            " Example: y = clip(x, -1, 1)"),
    BUILTIN("elementwise", apply_where, 0, "where", "condition: tensor, x: tensor, y: tensor",
            "x where the condition holds, else y; elementwise with broadcasting."
            " Example: y = where(x > 0, x, 0.1 * x)"),
    BUILTIN("elementwise", apply_cast, 0, "cast", "x: tensor, type: type",
            "x converted: cast(x, f32) is f32(x). Floats become integers toward zero."
            " Example: y = cast(label, f32)"),
    BUILTIN("elementwise", apply_stop_gradient, 0, "stop_gradient", "x: tensor",
            "x, through which no gradient flows."
            " Example: y = x - stop_gradient(x)"),
    BUILTIN("compile time", apply_int, 0, "int", "x: any",
            "A compile-time number as an integer, toward zero."
            " Example: _ = assert(int(3.9) == 3, \"int\")"),
    BUILTIN("compile time", apply_float, 0, "float", "x: number",
            "A compile-time number with a fraction."
            " Example: _ = assert(float(3) / 2 == 1.5, \"float\")"),
    {0},
};
