/* gradient(loss, leaf): d loss / d leaf, of the leaf's type.
 *
 * It stands for the backward pass until the differentiate pass writes that out; nothing evaluates
 * or lowers it. */
#include "ops/infer.h"
#include "ops/op.h"

/* loss: float[]  leaf: float[...] */
static bool gradient_infer(Arena *arena, const Node *node, Type *type, const char **reason) {
  *type = node->operands[1]->type;
  if (node->operands[0]->type.shape.rank != 0)
    return infer_fail(arena, reason, "the loss has shape %s where a scalar is needed",
                      shape_text(arena, node->operands[0]->type.shape));
  return infer_dtype(arena, node, 0, DTYPES_FLOAT, reason) &&
         infer_dtype(arena, node, 1, DTYPES_FLOAT, reason);
}

const OpClass op_class_gradient = {
    .family = FAMILY_SPECIAL,
    .infer = gradient_infer,
};
