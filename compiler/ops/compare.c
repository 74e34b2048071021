/* Elementwise comparison, logic, selection and conversion.
 *
 * Comparisons give bool and follow IEEE: any with NaN is false, but `ne`, which is true. Order is
 * defined on numbers (u8 included), equality also on bool. None of it has a gradient but `where`,
 * to the chosen side, and `cast`, between floats. */
#include "ops/elementwise.h"
#include "ops/lower.h"

static bool order_infer(Inference *in) {
  if (!elementwise_infer(in, DTYPES_ORDERED)) return false;
  in->type.dtype = DTYPE_BOOL;
  return true;
}

static bool equality_infer(Inference *in) {
  if (!elementwise_infer(in, DTYPES_ANY)) return false;
  in->type.dtype = DTYPE_BOOL;
  return true;
}

#define COMPARISON(name, symbol, infer_rule, ...)                                                  \
  SCALAR(name, 2, x[0] symbol x[1])                                                                \
  ELEMENTWISE(name, infer_rule, NULL, __VA_ARGS__)

COMPARISON(eq, ==, equality_infer, .commutes = true)
COMPARISON(ne, !=, equality_infer, .commutes = true)
COMPARISON(lt, <, order_infer, .commutes = false)
COMPARISON(le, <=, order_infer, .commutes = false)
COMPARISON(gt, >, order_infer, .commutes = false)
COMPARISON(ge, >=, order_infer, .commutes = false)

/* ---- logic: bool only ---- */

static bool logic_infer(Inference *in) { return elementwise_infer(in, DTYPES_BOOL); }

SCALAR(not, 1, x[0] == 0)
ELEMENTWISE(not, logic_infer, NULL)

SCALAR(and, 2, x[0] != 0 && x[1] != 0)
ELEMENTWISE(and, logic_infer, NULL, .commutes = true)

SCALAR(or, 2, x[0] != 0 || x[1] != 0)
ELEMENTWISE(or, logic_infer, NULL, .commutes = true)

/* ---- where: condition ? a : b; the side not chosen may hold NaN or infinity without harm ---- */

/* condition: bool  a, b: any one dtype; all of one shape */
static bool where_infer(Inference *in) {
  Type condition = in->node->operands[0]->type, a = in->node->operands[1]->type;
  Type b = in->node->operands[2]->type;
  in->type = a;
  if (!infer_dtype(in, 0, DTYPES_BOOL)) return false;
  if (!type_equal(a, b))
    return infer_fail(in, "the two sides are %s and %s", type_text(in->arena, a),
                      type_text(in->arena, b));
  if (shape_equal(condition.shape, a.shape)) return true;
  return infer_fail(in, "the condition has shape %s and the sides %s",
                    shape_text(in->arena, condition.shape), shape_text(in->arena, a.shape));
}

static Node *where_adjoint(const Maker *m, Node *condition, Node *dy, int operand) {
  if (operand == 0) return NULL;
  Node *zero = filled_like(m, dy, 0);
  return make_where(m, condition, operand == 1 ? dy : zero, operand == 1 ? zero : dy);
}
GRADIENT(where, where_adjoint(m, x, dy, operand))

SCALAR(where, 3, x[0] != 0 ? x[1] : x[2])
ELEMENTWISE(where, where_infer, where_gradient, .mix = MIX_FOLLOW)

/* ---- cast: to the type `dtype`; how each pair converts is number_convert() ---- */

static bool cast_infer(Inference *in) {
  const Attribute *dtype = infer_attribute(in, ATTR_DTYPE);
  if (!dtype) return false;
  if (dtype->integer < 0 || dtype->integer >= DTYPE_COUNT)
    return infer_fail(in, "there is no type number %lld", (long long)dtype->integer);
  in->type = type_make((DType)dtype->integer, in->node->operands[0]->type.shape);
  return true;
}

GRADIENT(cast, dtype_is_float(x->type.dtype) ? make_cast(m, dy, x->type.dtype) : NULL)

static void cast_evaluate(const Node *node, const Tensor *const *operands, Tensor *result) {
  DType from = operands[0]->type.dtype, to = node->type.dtype;
  int64_t count = shape_elements(result->type.shape);
  for (int64_t i = 0; i < count; i++)
    result->data[i] = number_convert(operands[0]->data[i], from, to);
}

const OpClass op_class_cast = {
    .family = FAMILY_ELEMENTWISE,
    .infer = cast_infer,
    .gradient = cast_gradient,
    .evaluate = cast_evaluate,
    .lower = lower_elementwise,
    .cut = elementwise_cut,
    .moves_values = true,
};

/* ---- stop_gradient: the identity, constant to differentiation ---- */

static bool identity_infer(Inference *in) {
  in->type = in->node->operands[0]->type;
  return true;
}

SCALAR(stop_gradient, 1, x[0])
ELEMENTWISE(stop_gradient, identity_infer, NULL, .is_constant = true, .moves_values = true,
            .mix = MIX_FOLLOW)
