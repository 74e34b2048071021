/* Leaves: tensors from outside the graph, constants, and the index along an axis.
 *
 * A leaf's type cannot be inferred; it is the one it was added with (graph_add_typed), and `infer`
 * checks what there is to check. Inputs, parameters, states and host scalars are given by the code
 * that evaluates the graph. */
#include <math.h>

#include "ops/lower.h"
#include "ops/op.h"
#include "support/integers.h"

static bool named_infer(Inference *in) {
  in->type = in->node->type;
  return infer_attribute(in, ATTR_NAME) != NULL;
}

static bool scalar_infer(Inference *in) {
  in->type = type_scalar(DTYPE_F64);
  return infer_attribute(in, ATTR_NAME) != NULL;
}

#define NAMED_LEAF(name, leaf_kind, infer_rule, ...)                                               \
  const OpClass op_class_##name = {.family = FAMILY_LEAF,                                          \
                                   .leaf = leaf_kind,                                              \
                                   .infer = infer_rule,                                            \
                                   .cost = cost_nothing,                                           \
                                   __VA_ARGS__};

NAMED_LEAF(input, LEAF_INPUT, named_infer)
NAMED_LEAF(param, LEAF_PARAM, named_infer)
NAMED_LEAF(state, LEAF_STATE, named_infer)
NAMED_LEAF(scalar, LEAF_SCALAR, scalar_infer, .lower = lower_scalar)

/* ---- constant: `value` in every element; integers and bool hold a value of their type ---- */

static bool constant_infer(Inference *in) {
  in->type = in->node->type;
  const Attribute *value = infer_attribute(in, ATTR_VALUE);
  if (!value) return false;
  if (dtype_is_float(in->type.dtype)) return true;
  /* The ends are powers of two or exact, so the comparison in double is exact. */
  static const struct {
    double least, beyond;
  } range[DTYPE_COUNT] = {
      [DTYPE_I64] = {-0x1p63, 0x1p63},
      [DTYPE_I32] = {-0x1p31, 0x1p31},
      [DTYPE_U8] = {0, 256},
      [DTYPE_BOOL] = {0, 2},
  };
  double real = value->real;
  if (real >= range[in->type.dtype].least && real < range[in->type.dtype].beyond &&
      real == floor(real))
    return true;
  return infer_fail(in, "%s cannot hold the constant %g", dtype_name(in->type.dtype), real);
}

static void constant_evaluate(const Node *node, const Tensor *const *operands, Tensor *result) {
  tensor_fill(result, node_float(node, ATTR_VALUE));
}

const OpClass op_class_constant = {
    .family = FAMILY_LEAF,
    .leaf = LEAF_CONSTANT,
    .infer = constant_infer,
    .evaluate = constant_evaluate,
    .cost = cost_nothing,
    .lower = lower_constant,
};

/* ---- iota: the index along `axis`, as i32, i64 or a float ---- */

static bool iota_infer(Inference *in) {
  in->type = in->node->type;
  int axis;
  if (!infer_axis(in, in->type.shape.rank, &axis)) return false;
  if (dtype_is_float(in->type.dtype) || in->type.dtype == DTYPE_I64 || in->type.dtype == DTYPE_I32)
    return true;
  return infer_fail(in, "an index cannot be of type %s", dtype_name(in->type.dtype));
}

static void iota_evaluate(const Node *node, const Tensor *const *operands, Tensor *result) {
  Shape shape = result->type.shape;
  int axis = (int)node_int(node, ATTR_AXIS);
  int64_t outer = extent_product(shape.dim, axis), at = 0;
  int64_t inner = extent_product(shape.dim + axis + 1, shape.rank - axis - 1);
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < shape.dim[axis]; i++)
      for (int64_t k = 0; k < inner; k++) result->data[at++] = (double)i;
}

const OpClass op_class_iota = {
    .family = FAMILY_LEAF,
    .infer = iota_infer,
    .evaluate = iota_evaluate,
    .cost = cost_nothing,
    .lower = lower_iota,
};
