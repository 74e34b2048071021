/* Constants: what is computed from them alone is computed now, in double.
 *
 * A constant is one value in every element, so a fold gives one value as well, or the rule does
 * not apply. Integers fold while they are exact in a double. */
#include <math.h>
#include "passes/rules/rules.h"

#define LARGEST_EXACT 0x1p53

/* Elementwise operators have at most three operands. */
enum { MOST_OPERANDS = 3 };

Node *rule_fold_elementwise(const Rewrite *rewrite, Node *node) {
  double values[MOST_OPERANDS];
  if (!op_is_elementwise(node->op) || node->operand_count > MOST_OPERANDS) return NULL;
  for (int i = 0; i < node->operand_count; i++)
    if (!match_constant(node->operands[i], &values[i])) return NULL;
  double result = node_scalar(node, values);
  if (!dtype_is_float(node->type.dtype) && !(fabs(result) <= LARGEST_EXACT)) return NULL;
  return make_constant(&rewrite->maker, node->type, result);
}

Node *rule_constant_right(const Rewrite *rewrite, Node *node) {
  double value;
  if (node->operand_count != 2 || !op_info(node->op)->class->commutes) return NULL;
  if (!match_constant(node->operands[0], &value) || match_constant(node->operands[1], &value))
    return NULL;
  return make_binary(&rewrite->maker, node->op, node->operands[1], node->operands[0]);
}

Node *rule_fold_moved(const Rewrite *rewrite, Node *node) {
  double value;
  if (!op_info(node->op)->class->moves_values || op_is_elementwise(node->op)) return NULL;
  if (node->type.dtype != node->operands[0]->type.dtype) return NULL;
  if (!match_constant(node->operands[0], &value)) return NULL;
  return make_constant(&rewrite->maker, node->type, value);
}

Node *rule_fold_pad(const Rewrite *rewrite, Node *node) {
  double value = node_float(node, ATTR_VALUE);
  if (!match_value(node->operands[0], value)) return NULL;
  return make_constant(&rewrite->maker, node->type, value);
}

Node *rule_fold_concat(const Rewrite *rewrite, Node *node) {
  double value;
  if (!match_constant(node->operands[0], &value)) return NULL;
  for (int i = 1; i < node->operand_count; i++)
    if (!match_value(node->operands[i], value)) return NULL;
  return make_constant(&rewrite->maker, node->type, value);
}

Node *rule_fold_extremum(const Rewrite *rewrite, Node *node) {
  double value;
  if (!match_constant(node->operands[0], &value)) return NULL;
  return make_constant(&rewrite->maker, node->type, value);
}

/* Bits of the significand, the hidden one included; for integers the bits that cannot wrap. */
static int exact_bits(DType dtype) {
  static const int bits[DTYPE_COUNT] = {
      [DTYPE_F64] = 53, [DTYPE_F32] = 24, [DTYPE_BF16] = 8,
      [DTYPE_F16] = 11, [DTYPE_I64] = 53, [DTYPE_I32] = 30,
  };
  return bits[dtype];
}

/* c is m * 2^e with m odd: sums of up to n of it are exact while n * |m| fits the significand. */
Node *rule_fold_sum(const Rewrite *rewrite, Node *node) {
  double value;
  Type from = node->operands[0]->type;
  if (!match_constant(node->operands[0], &value) || !isfinite(value)) return NULL;
  int64_t kept = shape_elements(node->type.shape), count = shape_elements(from.shape);
  count = kept > 0 ? count / kept : 0;
  int exponent = 0;
  double odd = fabs(frexp(value, &exponent));
  while (odd != floor(odd)) odd *= 2;
  if (!dtype_is_float(from.dtype)) odd = fabs(value);
  if (odd * (double)count > ldexp(1, exact_bits(from.dtype))) return NULL;
  double sum = value * (double)count;
  /* f16 alone can overflow at counts that are met in practice. */
  if (from.dtype == DTYPE_F16 && fabs(sum) > 65504) return NULL;
  return make_constant(&rewrite->maker, node->type, sum);
}
