/* Identities of elementwise operators. rules.h says what may change. */
#include <math.h>
#include <stdlib.h>
#include "passes/rules/rules.h"

static Node *first(const Node *node) { return node->operands[0]; }

static Node *second(const Node *node) { return node->operands[1]; }

/* ---- sums and differences ----------------------------------------------------------------- */

Node *rule_add_zero(const Rewrite *rewrite, Node *node) {
  return match_value(second(node), 0) ? first(node) : NULL;
}

Node *rule_add_negated(const Rewrite *rewrite, Node *node) {
  if (second(node)->op == OP_NEG)
    return make_binary(&rewrite->maker, OP_SUB, first(node), first(second(node)));
  if (first(node)->op == OP_NEG)
    return make_binary(&rewrite->maker, OP_SUB, second(node), first(first(node)));
  return NULL;
}

Node *rule_sub_zero(const Rewrite *rewrite, Node *node) {
  if (match_value(second(node), 0)) return first(node);
  if (match_value(first(node), 0)) return make_unary(&rewrite->maker, OP_NEG, second(node));
  return NULL;
}

Node *rule_sub_negated(const Rewrite *rewrite, Node *node) {
  if (second(node)->op != OP_NEG) return NULL;
  return make_binary(&rewrite->maker, OP_ADD, first(node), first(second(node)));
}

/* ---- products and quotients --------------------------------------------------------------- */

Node *rule_unit(const Rewrite *rewrite, Node *node) {
  if (match_value(second(node), 1)) return first(node);
  if (match_value(second(node), -1)) return make_unary(&rewrite->maker, OP_NEG, first(node));
  return NULL;
}

Node *rule_mul_zero(const Rewrite *rewrite, Node *node) {
  if (!dtype_is_int(node->type.dtype) || !match_value(second(node), 0)) return NULL;
  return make_constant(&rewrite->maker, node->type, 0);
}

/* Signs of the operands of a product or quotient cancel, or go into a constant. */
Node *rule_signs(const Rewrite *rewrite, Node *node) {
  double value;
  if (first(node)->op != OP_NEG) return NULL;
  if (second(node)->op == OP_NEG)
    return make_binary(&rewrite->maker, node->op, first(first(node)), first(second(node)));
  if (!match_constant(second(node), &value)) return NULL;
  return make_binary_value(&rewrite->maker, node->op, first(first(node)), -value);
}

Node *rule_mul_negated(const Rewrite *rewrite, Node *node) {
  double value;
  /* -(-2^31) would not be an i32. */
  if (dtype_is_int(node->type.dtype) && match_constant(second(node), &value) && !(value > -0x1p31))
    return NULL;
  return rule_signs(rewrite, node);
}

/* Both x / 2^k and x * 2^-k are the exact quotient rounded once, if 2^-k is a normal number. */
Node *rule_div_power_of_two(const Rewrite *rewrite, Node *node) {
  static const int largest_exponent[DTYPE_COUNT] = {
      [DTYPE_F64] = 1022, [DTYPE_F32] = 126, [DTYPE_BF16] = 126, [DTYPE_F16] = 14};
  double value;
  int exponent;
  if (!match_constant(second(node), &value) || !isfinite(value)) return NULL;
  if (fabs(frexp(value, &exponent)) != 0.5) return NULL;
  if (abs(exponent - 1) > largest_exponent[node->type.dtype]) return NULL;
  return make_binary_value(&rewrite->maker, OP_MUL, first(node), 1 / value);
}

/* ---- one operand -------------------------------------------------------------------------- */

Node *rule_neg_neg(const Rewrite *rewrite, Node *node) {
  return first(node)->op == OP_NEG ? first(first(node)) : NULL;
}

/* Integers wrap, but a constant must stay one of its type: those are left. */
Node *rule_neg_inside(const Rewrite *rewrite, Node *node) {
  Node *x = first(node);
  double value;
  if (x->op == OP_SUB) return make_binary(&rewrite->maker, OP_SUB, second(x), first(x));
  if (!dtype_is_float(x->type.dtype) || (x->op != OP_MUL && x->op != OP_DIV)) return NULL;
  if (!match_constant(second(x), &value)) return NULL;
  return make_binary_value(&rewrite->maker, x->op, first(x), -value);
}

Node *rule_not_not(const Rewrite *rewrite, Node *node) {
  Node *x = first(node);
  if (x->op == OP_NOT) return first(x);
  if (x->op == OP_EQ) return make_binary(&rewrite->maker, OP_NE, first(x), second(x));
  if (x->op == OP_NE) return make_binary(&rewrite->maker, OP_EQ, first(x), second(x));
  return NULL;
}

/* Of floats x == x asks whether x is a number. */
Node *rule_self_compare(const Rewrite *rewrite, Node *node) {
  if (first(node) != second(node) || dtype_is_float(first(node)->type.dtype)) return NULL;
  bool holds = node->op == OP_EQ || node->op == OP_LE || node->op == OP_GE;
  return make_constant(&rewrite->maker, node->type, holds);
}

Node *rule_abs_neg(const Rewrite *rewrite, Node *node) {
  if (first(node)->op != OP_NEG) return NULL;
  return make_unary(&rewrite->maker, OP_ABS, first(first(node)));
}

Node *rule_idempotent(const Rewrite *rewrite, Node *node) {
  return first(node)->op == node->op ? first(node) : NULL;
}

Node *rule_integral(const Rewrite *rewrite, Node *node) {
  const Node *x = first(node);
  bool is_whole = x->op == OP_FLOOR || x->op == OP_CEIL || x->op == OP_ROUND ||
                  (x->op == OP_CAST && !dtype_is_float(first(x)->type.dtype));
  return is_whole ? first(node) : NULL;
}

/* ---- powers ------------------------------------------------------------------------------- */

static Node *power_integer(const Maker *maker, Node *x, int exponent) {
  if (exponent == 0) return make_constant(maker, x->type, 1);
  if (exponent == 1) return x;
  Node *square = make_binary(maker, OP_MUL, x, x);
  if (exponent == 2) return square;
  return make_binary(maker, OP_MUL, square, exponent == 3 ? x : square);
}

static Node *power_float(const Maker *maker, Node *x, double exponent) {
  if (exponent == 0.5) return make_unary(maker, OP_SQRT, x);
  if (exponent == -0.5) return make_unary(maker, OP_RSQRT, x);
  if (exponent == 1.5) return make_binary(maker, OP_MUL, x, make_unary(maker, OP_SQRT, x));
  if (exponent != -1 && exponent != -2) return NULL;
  /* (1 / x)^2, for x^2 may overflow where that does not. */
  Node *inverse = make_binary(maker, OP_DIV, make_constant(maker, x->type, 1), x);
  return power_integer(maker, inverse, (int)-exponent);
}

Node *rule_pow_constant(const Rewrite *rewrite, Node *node) {
  double exponent;
  if (!match_constant(second(node), &exponent)) return NULL;
  /* Two operators in 16 bits would round twice. */
  if (dtype_is_half(node->type.dtype) && exponent != 0 && exponent != 1 && exponent != 2 &&
      fabs(exponent) != 0.5)
    return NULL;
  if (exponent == 0 || exponent == 1 || exponent == 2 || exponent == 3 || exponent == 4)
    return power_integer(&rewrite->maker, first(node), (int)exponent);
  if (!dtype_is_float(node->type.dtype)) return NULL;
  /* The gradient of x * sqrt(x) is NaN at infinity. */
  if (exponent == 1.5 && rewrite->keeps_stops) return NULL;
  return power_float(&rewrite->maker, first(node), exponent);
}

/* ---- selection and logic ------------------------------------------------------------------ */

/* An extremum of a NaN has no gradient, the NaN itself has one: until gradients are made it stays. */
Node *rule_same_operands(const Rewrite *rewrite, Node *node) {
  bool is_kept = rewrite->keeps_stops && dtype_is_float(node->type.dtype);
  return first(node) == second(node) && !is_kept ? first(node) : NULL;
}

/* The constant stands on the right: true is 1. */
Node *rule_logic_constant(const Rewrite *rewrite, Node *node) {
  double value;
  if (!match_constant(second(node), &value)) return NULL;
  bool is_unit = (value != 0) == (node->op == OP_AND);
  return is_unit ? first(node) : second(node);
}

Node *rule_where_constant(const Rewrite *rewrite, Node *node) {
  double condition;
  if (node->operands[1] == node->operands[2]) return node->operands[1];
  if (!match_constant(node->operands[0], &condition)) return NULL;
  return condition != 0 ? node->operands[1] : node->operands[2];
}

Node *rule_where_not(const Rewrite *rewrite, Node *node) {
  if (first(node)->op != OP_NOT) return NULL;
  return make_where(&rewrite->maker, first(first(node)), node->operands[2], node->operands[1]);
}

/* ---- casts -------------------------------------------------------------------------------- */

Node *rule_cast_same(const Rewrite *rewrite, Node *node) {
  return first(node)->type.dtype == node->type.dtype ? first(node) : NULL;
}

#define DTYPE_BIT(dtype) (1u << (dtype))

/* Whether every value of `from` is one of `to`. */
static bool holds_all(DType from, DType to) {
  enum {
    BOOL = DTYPE_BIT(DTYPE_BOOL),
    BYTES = BOOL | DTYPE_BIT(DTYPE_U8),
    HALVES = BYTES | DTYPE_BIT(DTYPE_BF16) | DTYPE_BIT(DTYPE_F16),
  };
  static const unsigned held[DTYPE_COUNT] = {
      [DTYPE_F64] = HALVES | DTYPE_BIT(DTYPE_F32) | DTYPE_BIT(DTYPE_I32),
      [DTYPE_F32] = HALVES,
      [DTYPE_BF16] = BYTES,
      [DTYPE_F16] = BYTES,
      [DTYPE_I64] = BYTES | DTYPE_BIT(DTYPE_I32),
      [DTYPE_I32] = BYTES,
      [DTYPE_U8] = BOOL,
  };
  return from == to || (held[to] & DTYPE_BIT(from)) != 0;
}

/* An integer to an integer wraps, but saturates on the way over a float: those two stay. */
Node *rule_cast_cast(const Rewrite *rewrite, Node *node) {
  Node *inner = first(node);
  if (inner->op != OP_CAST) return NULL;
  Node *x = first(inner);
  DType from = x->type.dtype, over = inner->type.dtype, to = node->type.dtype;
  if (!holds_all(from, over)) return NULL;
  if (dtype_is_float(over) && dtype_is_int(from) && dtype_is_int(to) && from != to) return NULL;
  return make_cast(&rewrite->maker, x, to);
}

Node *rule_stop_gradient(const Rewrite *rewrite, Node *node) {
  return rewrite->keeps_stops ? NULL : first(node);
}
