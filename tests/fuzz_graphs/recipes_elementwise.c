/* Elementwise operators: tables of operators with the ranges that their operands are moved into. */
#include <math.h>

#include "generate.h"

typedef struct RangeRule {
  Op op;
  double least, most; /* of the operand that matters */
} RangeRule;

static const RangeRule unary_rules[] = {
    {OP_NEG, -INFINITY, INFINITY},
    {OP_ABS, -INFINITY, INFINITY},
    {OP_SIGN, -INFINITY, INFINITY},
    {OP_EXP, -4, 3},
    {OP_EXPM1, -4, 3},
    {OP_LOG, 0.1, INFINITY},
    {OP_LOG1P, -0.8, INFINITY},
    {OP_SQRT, 0.1, INFINITY},
    {OP_RSQRT, 0.1, INFINITY},
    {OP_SIN, -20, 20},
    {OP_COS, -20, 20},
    {OP_TAN, -1.2, 1.2},
    {OP_TANH, -INFINITY, INFINITY},
    {OP_SIGMOID, -INFINITY, INFINITY},
    {OP_ERF, -INFINITY, INFINITY},
    {OP_FLOOR, -INFINITY, INFINITY},
    {OP_CEIL, -INFINITY, INFINITY},
    {OP_ROUND, -INFINITY, INFINITY},
    {OP_STOP_GRADIENT, -INFINITY, INFINITY},
};

Node *grow_unary(Generator *g) {
  RangeRule rule = unary_rules[draw_below(g, sizeof unary_rules / sizeof *unary_rules)];
  Node *x = draw_node(g, KIND_FLOAT);
  if (draw_chance(g, 10)) { /* of integers where the operator takes them */
    Node *whole = draw_node(g, KIND_INT);
    if (whole) return try_unary(g, rule.op, whole);
  }
  if (!x) return NULL;
  if (isfinite(rule.least) || isfinite(rule.most)) x = fit_range(g, x, rule.least, rule.most);
  return try_unary(g, rule.op, x);
}

/* Ranges of the second operand; of the first for pow, whose second is a small number. */
static const RangeRule binary_rules[] = {
    {OP_ADD, -INFINITY, INFINITY},
    {OP_SUB, -INFINITY, INFINITY},
    {OP_MUL, -INFINITY, INFINITY},
    {OP_DIV, 0.25, 20},
    {OP_FLOORDIV, 0.3, 20},
    {OP_MOD, 0.3, 20},
    {OP_POW, 0.2, 4},
    {OP_MIN, -INFINITY, INFINITY},
    {OP_MAX, -INFINITY, INFINITY},
};

static Node *power(Generator *g, Node *x) {
  static const double exponents[] = {0, 1, 2, 3, 4, -1, -2, 0.5, -0.5, 1.5, 2.5, -1.25, 5};
  Node *base = fit_range(g, x, 0.2, 4);
  if (draw_chance(g, 70)) {
    double exponent = exponents[draw_below(g, sizeof exponents / sizeof *exponents)];
    if (exponent == floor(exponent) && draw_chance(g, 50)) base = x;
    return make_binary_value(&g->maker, OP_POW, base, exponent);
  }
  return try_binary(g, OP_POW, base, fit_range(g, draw_like(g, x->type), -2, 2));
}

Node *grow_binary(Generator *g) {
  RangeRule rule = binary_rules[draw_below(g, sizeof binary_rules / sizeof *binary_rules)];
  Node *a = draw_node(g, draw_chance(g, 85) ? KIND_FLOAT : KIND_INT);
  if (!a) return NULL;
  bool is_float = dtype_is_float(a->type.dtype);
  if (rule.op == OP_POW) return is_float ? power(g, a) : NULL;
  /* Constants that simplify away, or nearly. */
  static const double values[] = {0, 1, -1, 2, 0.5, -3, 0.75};
  static const double far_values[] = {1e30, -1e-30, 1e10, 1e-10, INFINITY, -INFINITY, NAN};
  if (draw_chance(g, 20)) {
    double value = values[draw_below(g, is_float ? 7 : 4)];
    if (g->far && is_float && draw_chance(g, 50))
      value = far_values[draw_below(g, g->has_specials ? 7 : 4)];
    Node *constant = constant_of(g, a->type, value == 0 && rule.op == OP_DIV ? 2 : value);
    return draw_chance(g, 70) ? try_binary(g, rule.op, a, constant)
                              : try_binary(g, rule.op, constant, a);
  }
  Node *b = draw_chance(g, 5) ? a : draw_like(g, a->type);
  if (is_float && isfinite(rule.least)) {
    b = fit_range(g, b, rule.least, rule.most);
    if (draw_chance(g, 30)) b = make_unary(&g->maker, OP_NEG, b);
  }
  return try_binary(g, rule.op, a, b);
}

Node *grow_compare(Generator *g) {
  static const Op ops[] = {OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE};
  Node *a = draw_node(g, KIND_ANY);
  if (!a) return NULL;
  Op op = ops[draw_below(g, a->type.dtype == DTYPE_BOOL ? 2 : 6)];
  if (dtype_is_float(a->type.dtype) && draw_chance(g, 50))
    return try_binary(g, op, a, constant_of(g, a->type, draw_real(g, -1, 1)));
  return try_binary(g, op, a, draw_like(g, a->type));
}

static Node *draw_condition(Generator *g, Shape shape) {
  Node *found = draw_like(g, type_make(DTYPE_BOOL, shape));
  if (found->op != OP_CONSTANT || draw_chance(g, 10)) return found;
  Node *x = draw_like(g, type_make(g->real, shape));
  return make_binary(&g->maker, OP_LT, x, constant_of(g, x->type, draw_real(g, -1, 1)));
}

Node *grow_logic(Generator *g) {
  Node *a = draw_node(g, KIND_BOOL);
  if (!a) return NULL;
  switch (draw_below(g, 3)) {
  case 0: return try_unary(g, OP_NOT, a);
  case 1: return try_binary(g, OP_AND, a, draw_condition(g, a->type.shape));
  default: return try_binary(g, OP_OR, a, draw_condition(g, a->type.shape));
  }
}

Node *grow_where(Generator *g) {
  Node *a = draw_node(g, KIND_ANY);
  if (!a) return NULL;
  Node *b = draw_like(g, a->type), *condition = draw_condition(g, a->type.shape);
  return try_add(g, OP_WHERE, 3, (Node *[]){condition, a, b}, 0, NULL);
}

Node *grow_cast(Generator *g) {
  static const DType dtypes[] = {DTYPE_F32, DTYPE_F64, DTYPE_I64, DTYPE_I32, DTYPE_U8, DTYPE_BOOL};
  if (draw_chance(g, 15)) return make_cast(&g->maker, leaf_host(g), g->real);
  Node *x = draw_node(g, KIND_ANY);
  DType to = dtypes[draw_below(g, sizeof dtypes / sizeof *dtypes)];
  if (!x) return NULL;
  /* Whole numbers become floats of a sane size. */
  bool is_wide = x->type.dtype == DTYPE_I32 || x->type.dtype == DTYPE_I64;
  if (is_wide && dtype_is_float(to))
    x = make_binary(&g->maker, OP_MOD, x, constant_of(g, x->type, 13));
  Node *result = make_cast(&g->maker, x, to);
  if (x->type.dtype == DTYPE_U8 && dtype_is_float(to))
    result = make_binary_value(&g->maker, OP_DIV, result, 64);
  return result;
}
