/* What the elementwise operators share: operands and result have one shape, each element is a
 * function of the operands' elements at the same place.
 *
 *   SCALAR(name, operands, expression)    the function of x[0], x[1], ... and its evaluation loop;
 *                                         `dtype` is the result's
 *   GRADIENT(name, expression)            the adjoint of operand number `operand`; x, a, b are the
 *                                         operands, y the node, dy its adjoint
 *   ELEMENTWISE(name, infer, gradient, ...) the record; what follows are more of its fields */
#ifndef NNC_OPS_ELEMENTWISE_H
#define NNC_OPS_ELEMENTWISE_H

#include "ops/lower.h"
#include "ops/make.h"
#include "ops/number.h"
#include "ops/op.h"

#define SCALAR(name, operand_number, expression)                                                   \
  static inline double name##_scalar(const double *x, DType dtype) { return expression; }          \
  static void name##_evaluate(const Node *node, const Tensor *const *operands, Tensor *result) {   \
    int64_t count = shape_elements(result->type.shape);                                            \
    for (int64_t i = 0; i < count; i++) {                                                          \
      double x[operand_number];                                                                    \
      for (int k = 0; k < operand_number; k++) x[k] = operands[k]->data[i];                        \
      result->data[i] = name##_scalar(x, node->type.dtype);                                        \
    }                                                                                              \
  }

#define GRADIENT(name, expression)                                                                 \
  static Node *name##_gradient(const GradientContext *context, int operand) {                      \
    const Maker *m = &context->maker;                                                              \
    Node *x = context->node->operands[0], *y = context->node, *dy = context->adjoint;              \
    Node *a = x, *b = y->operand_count > 1 ? y->operands[1] : NULL;                                \
    (void)m, (void)a, (void)b, (void)dy;                                                           \
    return expression;                                                                             \
  }

#define ELEMENTWISE(name, infer_rule, gradient_rule, ...)                                          \
  const OpClass op_class_##name = {.family = FAMILY_ELEMENTWISE,                                   \
                                   .infer = infer_rule,                                            \
                                   .gradient = gradient_rule,                                      \
                                   .evaluate = name##_evaluate,                                    \
                                   .scalar = name##_scalar,                                        \
                                   .lower = lower_elementwise,                                     \
                                   .cut = elementwise_cut,                                         \
                                   __VA_ARGS__};

/* Result of the operands' common type, which is in the set. */
bool elementwise_infer(Inference *in, int dtypes);
bool elementwise_infer_float(Inference *in);
bool elementwise_infer_number(Inference *in);
/* OpClass.cut where operands and result have one shape. */
int elementwise_cut(const Node *node, int axis, int operand);
/* Bytes of operands and result, one flop an element. */
Cost elementwise_cost(const Node *node);

static inline Node *add(const Maker *m, Node *a, Node *b) { return make_binary(m, OP_ADD, a, b); }
static inline Node *sub(const Maker *m, Node *a, Node *b) { return make_binary(m, OP_SUB, a, b); }
static inline Node *mul(const Maker *m, Node *a, Node *b) { return make_binary(m, OP_MUL, a, b); }
static inline Node *quotient(const Maker *m, Node *a, Node *b) {
  return make_binary(m, OP_DIV, a, b);
}
static inline Node *neg(const Maker *m, Node *a) { return make_unary(m, OP_NEG, a); }
static inline Node *times(const Maker *m, Node *a, double factor) {
  return make_binary_value(m, OP_MUL, a, factor);
}
static inline Node *filled_like(const Maker *m, Node *a, double value) {
  return make_constant(m, a->type, value);
}

#endif
