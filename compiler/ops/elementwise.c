/* Elementwise arithmetic and functions.  Comparison, selection and conversion are in compare.c.
 *
 * Broadcasting and conversion are nodes of their own, so all operands have one shape and dtype.
 * The functions of analysis are for floats only; arithmetic is also for i64 and i32, wrapping in
 * two's complement (u8 has none). Gradient rules write the derivative with the result y where that
 * saves work or cancellation: exp, tanh, sigmoid, sqrt. */
#include "ops/elementwise.h"

#include <math.h>

bool elementwise_infer(Inference *in, int dtypes) {
  in->type = in->node->operands[0]->type;
  return infer_same(in, true) && infer_dtype(in, 0, dtypes);
}

bool elementwise_infer_float(Inference *in) { return elementwise_infer(in, DTYPES_FLOAT); }

bool elementwise_infer_number(Inference *in) { return elementwise_infer(in, DTYPES_NUMBER); }

int elementwise_cut(const Node *node, int axis, int operand) {
  return axis < node->type.shape.rank ? axis : AXIS_UNCUT;
}

Cost elementwise_cost(const Node *node) {
  return (Cost){.flops = (double)shape_elements(node->type.shape), .bytes = node_bytes(node)};
}

#define COSTLY(name)                                                                               \
  ELEMENTWISE(name, elementwise_infer_float, name##_gradient, .cost = elementwise_cost,            \
              .is_costly = true)
#define ARITHMETIC(name, ...)                                                                      \
  ELEMENTWISE(name, elementwise_infer_number, name##_gradient, .cost = elementwise_cost,           \
              __VA_ARGS__)

/* Two's complement arithmetic on the values of integers. */
static inline uint64_t bits(double x) { return (uint64_t)number_truncate(x); }

/* ---- unary arithmetic; the least integer stays itself under neg and abs ---- */

SCALAR(neg, 1, number_is_integer(dtype) ? number_wrap(-bits(x[0]), dtype) : -x[0])
GRADIENT(neg, neg(m, dy))
ARITHMETIC(neg, .commutes = false, .mix = MIX_FOLLOW)

SCALAR(abs, 1, number_is_integer(dtype) && x[0] < 0 ? number_wrap(-bits(x[0]), dtype) : fabs(x[0]))
GRADIENT(abs, mul(m, dy, make_unary(m, OP_SIGN, x))) /* 0 at 0 */
ARITHMETIC(abs, .commutes = false, .mix = MIX_FOLLOW)

/* -1, 0 or 1; NaN stays NaN. */
SCALAR(sign, 1, x[0] > 0 ? 1 : x[0] < 0 ? -1 : x[0])
ELEMENTWISE(sign, elementwise_infer_number, NULL, .cost = elementwise_cost)

/* ---- exponentials and logarithms ---- */

SCALAR(exp, 1, exp(x[0]))
GRADIENT(exp, mul(m, dy, y))
COSTLY(exp)

SCALAR(expm1, 1, expm1(x[0]))
GRADIENT(expm1, mul(m, dy, make_unary(m, OP_EXP, x))) /* y + 1 would cancel where x << 0 */
COSTLY(expm1)

SCALAR(log, 1, log(x[0]))
GRADIENT(log, quotient(m, dy, x))
COSTLY(log)

SCALAR(log1p, 1, log1p(x[0]))
GRADIENT(log1p, quotient(m, dy, make_binary_value(m, OP_ADD, x, 1)))
COSTLY(log1p)

/* ---- roots ---- */

/* dy / 2y.  At 0, where the slope is infinite, the adjoint is 0: a norm of zeros has the
 * subgradient 0 instead of NaN. */
SCALAR(sqrt, 1, sqrt(x[0]))
static Node *sqrt_adjoint(const Maker *m, Node *y, Node *dy) {
  Node *zero = filled_like(m, y, 0);
  Node *at_zero = make_binary(m, OP_EQ, y, zero);
  /* The inner selection keeps infinities out of second derivatives as well. */
  Node *safe = make_where(m, at_zero, filled_like(m, y, 1), y);
  return make_where(m, at_zero, zero, quotient(m, times(m, dy, 0.5), safe));
}
GRADIENT(sqrt, sqrt_adjoint(m, y, dy))
COSTLY(sqrt)

SCALAR(rsqrt, 1, 1 / sqrt(x[0]))
static Node *rsqrt_adjoint(const Maker *m, Node *y, Node *dy) {
  /* From the left: y^3 may overflow where the product does not. */
  return mul(m, mul(m, mul(m, times(m, dy, -0.5), y), y), y);
}
GRADIENT(rsqrt, rsqrt_adjoint(m, y, dy))
COSTLY(rsqrt)

/* ---- trigonometry ---- */

SCALAR(sin, 1, sin(x[0]))
GRADIENT(sin, mul(m, dy, make_unary(m, OP_COS, x)))
COSTLY(sin)

SCALAR(cos, 1, cos(x[0]))
GRADIENT(cos, neg(m, mul(m, dy, make_unary(m, OP_SIN, x))))
COSTLY(cos)

SCALAR(tan, 1, tan(x[0]))
GRADIENT(tan, mul(m, dy, make_binary_value(m, OP_ADD, mul(m, y, y), 1)))
COSTLY(tan)

/* ---- sigmoids ---- */

SCALAR(tanh, 1, tanh(x[0]))
static Node *tanh_adjoint(const Maker *m, Node *y, Node *dy) {
  Node *square = mul(m, y, y);
  return mul(m, dy, sub(m, filled_like(m, y, 1), square));
}
GRADIENT(tanh, tanh_adjoint(m, y, dy))
COSTLY(tanh)

/* Never overflows: e^-|x| is at most 1. */
static inline double sigmoid(double x) {
  double e = exp(-fabs(x));
  return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}
SCALAR(sigmoid, 1, sigmoid(x[0]))
GRADIENT(sigmoid, mul(m, dy, mul(m, y, sub(m, filled_like(m, y, 1), y))))
COSTLY(sigmoid)

SCALAR(erf, 1, erf(x[0]))
GRADIENT(erf, mul(m, dy,
                  times(m, make_unary(m, OP_EXP, neg(m, mul(m, x, x))),
                        1.1283791670955126))) /* 2 / sqrt(pi) */
COSTLY(erf)

/* ---- rounding; the gradient is 0 everywhere ---- */

SCALAR(floor, 1, floor(x[0]))
ELEMENTWISE(floor, elementwise_infer_float, NULL, .cost = elementwise_cost)

SCALAR(ceil, 1, ceil(x[0]))
ELEMENTWISE(ceil, elementwise_infer_float, NULL, .cost = elementwise_cost)

SCALAR(round, 1, nearbyint(x[0]))
ELEMENTWISE(round, elementwise_infer_float, NULL, .cost = elementwise_cost)

/* ---- binary arithmetic ---- */

SCALAR(add, 2, number_is_integer(dtype) ? number_wrap(bits(x[0]) + bits(x[1]), dtype) : x[0] + x[1])
GRADIENT(add, dy)
ARITHMETIC(add, .commutes = true, .mix = MIX_FOLLOW)

SCALAR(sub, 2, number_is_integer(dtype) ? number_wrap(bits(x[0]) - bits(x[1]), dtype) : x[0] - x[1])
GRADIENT(sub, operand == 0 ? dy : neg(m, dy))
ARITHMETIC(sub, .commutes = false, .mix = MIX_FOLLOW)

SCALAR(mul, 2, number_is_integer(dtype) ? number_wrap(bits(x[0]) * bits(x[1]), dtype) : x[0] * x[1])
GRADIENT(mul, mul(m, dy, operand == 0 ? b : a))
ARITHMETIC(mul, .commutes = true, .mix = MIX_SCALE)

SCALAR(div, 2, x[0] / x[1])
GRADIENT(div, operand == 0 ? quotient(m, dy, b) : neg(m, mul(m, quotient(m, dy, b), y)))
ELEMENTWISE(div, elementwise_infer_float, div_gradient, .cost = elementwise_cost, .is_costly = true,
            .mix = MIX_SCALE)

/* Rounds toward -infinity, as in Python. Integers by 0 give 0; the least integer by -1 wraps. */
static inline double int_floordiv(double a, double b, DType dtype) {
  int64_t n = number_truncate(a), d = number_truncate(b);
  if (d == 0) return 0;
  if (d == -1) return number_wrap(-(uint64_t)n, dtype);
  return number_wrap((uint64_t)(n / d - (n % d != 0 && (n < 0) != (d < 0))), dtype);
}
SCALAR(floordiv, 2,
       number_is_integer(dtype) ? int_floordiv(x[0], x[1], dtype) : number_floordiv(x[0], x[1]))
ELEMENTWISE(floordiv, elementwise_infer_number, NULL, .cost = elementwise_cost)

/* What floor(a / b) leaves, of the divisor's sign.  Integers by 0 give 0. */
static inline double int_mod(double a, double b, DType dtype) {
  int64_t n = number_truncate(a), d = number_truncate(b);
  if (d == 0 || d == -1) return 0;
  int64_t rest = n % d;
  return number_wrap((uint64_t)(rest != 0 && (rest < 0) != (d < 0) ? rest + d : rest), dtype);
}
SCALAR(mod, 2, number_is_integer(dtype) ? int_mod(x[0], x[1], dtype) : number_mod(x[0], x[1]))
GRADIENT(mod, operand == 0 ? dy : neg(m, mul(m, dy, make_binary(m, OP_FLOORDIV, a, b))))
ARITHMETIC(mod, .commutes = false)

/* ---- pow ---- */

/* The value of a node whose elements are one constant known now. */
static bool is_uniform(const Node *node, double *value) {
  while (node->op == OP_BROADCAST || node->op == OP_RESHAPE ||
         (node->op == OP_CAST && dtype_is_float(node->operands[0]->type.dtype)))
    node = node->operands[0];
  if (node->op != OP_CONSTANT) return false;
  *value = node_float(node, ATTR_VALUE);
  return true;
}

/* d/da: b a^(b-1).  With a constant exponent nothing else is computed; a general one of 0 gives 0
 * and not 0 * inf at a = 0. */
static Node *pow_gradient_base(const Maker *m, Node *a, Node *b, Node *dy) {
  double exponent;
  if (is_uniform(b, &exponent)) {
    if (exponent == 0) return NULL;
    if (exponent == 1) return dy;
    if (exponent == 2) return mul(m, dy, times(m, a, 2));
    Node *power = make_binary_value(m, OP_POW, a, exponent - 1);
    return mul(m, dy, times(m, power, exponent));
  }
  Node *zero = filled_like(m, b, 0), *is_zero = make_binary(m, OP_EQ, b, zero);
  Node *below = make_binary_value(m, OP_SUB, b, 1);
  Node *less = make_where(m, is_zero, filled_like(m, b, 1), below);
  return make_where(m, is_zero, zero, mul(m, dy, mul(m, b, make_binary(m, OP_POW, a, less))));
}

/* d/db: a^b log a, which is 0 at a = 0 (for b >= 0), not 0 * -inf. */
static Node *pow_gradient_exponent(const Maker *m, Node *a, Node *b, Node *y, Node *dy) {
  Node *zero = filled_like(m, a, 0);
  Node *is_power = make_binary(m, OP_GE, b, zero);
  Node *vanishes = make_binary(m, OP_AND, make_binary(m, OP_EQ, a, zero), is_power);
  Node *safe = make_where(m, vanishes, filled_like(m, a, 1), a);
  return mul(m, dy, mul(m, y, make_unary(m, OP_LOG, safe)));
}

/* As C's pow: 0^0 is 1, NaN for a < 0 and b not whole.  Of integers: wraps; to a negative power what
 * the quotient rounds to toward zero, and 0 of 0. */
static inline double int_pow(double a, double b, DType dtype) {
  int64_t base = number_truncate(a), exponent = number_truncate(b);
  if (exponent < 0) return base == 1 || (base == -1 && exponent % 2 == 0) ? 1 : base == -1 ? -1 : 0;
  uint64_t power = 1, square = (uint64_t)base;
  for (; exponent > 0; exponent >>= 1, square *= square)
    if (exponent & 1) power *= square;
  return number_wrap(power, dtype);
}
SCALAR(pow, 2, number_is_integer(dtype) ? int_pow(x[0], x[1], dtype) : pow(x[0], x[1]))
GRADIENT(pow, operand == 0 ? pow_gradient_base(m, a, b, dy) : pow_gradient_exponent(m, a, b, y, dy))
ARITHMETIC(pow, .is_costly = true)

/* ---- minimum and maximum; NaN wins; at a tie half of the adjoint goes to each ---- */

static Node *extremum_gradient(const Maker *m, Op wins, Node *mine, Node *other, Node *dy) {
  Node *zero = filled_like(m, dy, 0), *half = times(m, dy, 0.5);
  Node *tied = make_where(m, make_binary(m, OP_EQ, mine, other), half, zero);
  return make_where(m, make_binary(m, wins, mine, other), dy, tied);
}

SCALAR(min, 2, x[0] < x[1] || x[0] != x[0] ? x[0] : x[1])
GRADIENT(min, extremum_gradient(m, OP_LT, operand ? b : a, operand ? a : b, dy))
ARITHMETIC(min, .commutes = true, .mix = MIX_FOLLOW)

SCALAR(max, 2, x[0] > x[1] || x[0] != x[0] ? x[0] : x[1])
GRADIENT(max, extremum_gradient(m, OP_GT, operand ? b : a, operand ? a : b, dy))
ARITHMETIC(max, .commutes = true, .mix = MIX_FOLLOW)
