/* Leaves: tensors from outside the graph, constants, and the index along an axis.
 *
 * A leaf's type cannot be inferred; it is the one it was added with (graph_add_typed), and `infer`
 * checks what there is to check. Inputs, parameters, states and host scalars are given by the code
 * that evaluates the graph. */
#include <math.h>

#include "ops/infer.h"
#include "ops/lower.h"
#include "ops/op.h"
#include "support/integers.h"

static Cost no_cost(const Node *node) {
  (void)node;
  return (Cost){0};
}

static bool named_infer(Arena *arena, const Node *node, Type *type, const char **reason) {
  *type = node->type;
  return infer_attribute(arena, node, ATTR_NAME, reason) != NULL;
}

static bool scalar_infer(Arena *arena, const Node *node, Type *type, const char **reason) {
  *type = type_scalar(DTYPE_F64);
  return infer_attribute(arena, node, ATTR_NAME, reason) != NULL;
}

const OpClass op_class_input = {
    .family = FAMILY_LEAF,
    .leaf = LEAF_INPUT,
    .infer = named_infer,
    .cost = no_cost,
};

const OpClass op_class_param = {
    .family = FAMILY_LEAF,
    .leaf = LEAF_PARAM,
    .infer = named_infer,
    .cost = no_cost,
};

const OpClass op_class_state = {
    .family = FAMILY_LEAF,
    .leaf = LEAF_STATE,
    .infer = named_infer,
    .cost = no_cost,
};

const OpClass op_class_scalar = {
    .family = FAMILY_LEAF,
    .leaf = LEAF_SCALAR,
    .infer = scalar_infer,
    .cost = no_cost,
    .lower = lower_scalar,
};

/* ---- constant: `value` in every element; integers and bool hold a value of their type ---- */

static bool constant_infer(Arena *arena, const Node *node, Type *type, const char **reason) {
  *type = node->type;
  const Attribute *value = infer_attribute(arena, node, ATTR_VALUE, reason);
  if (!value) return false;
  if (dtype_is_float(type->dtype)) return true;
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
  if (real >= range[type->dtype].least && real < range[type->dtype].beyond && real == floor(real))
    return true;
  return infer_fail(arena, reason, "%s cannot hold the constant %g", dtype_name(type->dtype), real);
}

static void constant_evaluate(const Node *node, const Tensor *const *operands, Tensor *result,
                              const EvaluateContext *context) {
  (void)operands, (void)context;
  double value = node_float(node, ATTR_VALUE);
  int64_t count = shape_elements(result->type.shape);
  for (int64_t i = 0; i < count; i++) result->data[i] = value;
}

const OpClass op_class_constant = {
    .family = FAMILY_LEAF,
    .leaf = LEAF_CONSTANT,
    .infer = constant_infer,
    .evaluate = constant_evaluate,
    .cost = no_cost,
    .lower = lower_constant,
};

/* ---- iota: the index along `axis`, as i32, i64 or a float ---- */

static bool iota_infer(Arena *arena, const Node *node, Type *type, const char **reason) {
  *type = node->type;
  int axis;
  if (!infer_axis(arena, node, type->shape.rank, &axis, reason)) return false;
  if (dtype_is_float(type->dtype) || type->dtype == DTYPE_I64 || type->dtype == DTYPE_I32)
    return true;
  return infer_fail(arena, reason, "an index cannot be of type %s", dtype_name(type->dtype));
}

static void iota_evaluate(const Node *node, const Tensor *const *operands, Tensor *result,
                          const EvaluateContext *context) {
  (void)operands, (void)context;
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
    .cost = no_cost,
    .lower = lower_iota,
};
