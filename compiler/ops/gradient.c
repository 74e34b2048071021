/* gradient(loss, leaf): d loss / d leaf, of the leaf's type.
 *
 * It stands for the backward pass until the differentiate pass writes that out; nothing evaluates
 * or lowers it. */
#include "ops/op.h"

/* loss: float[]  leaf: float[...] */
static bool gradient_infer(Inference *in) {
  in->type = in->node->operands[1]->type;
  if (in->node->operands[0]->type.shape.rank != 0)
    return infer_fail(in, "the loss has shape %s where a scalar is needed",
                      shape_text(in->arena, in->node->operands[0]->type.shape));
  return infer_dtype(in, 0, DTYPES_FLOAT) && infer_dtype(in, 1, DTYPES_FLOAT);
}

const OpClass op_class_gradient = {
    .family = FAMILY_SPECIAL,
    .infer = gradient_infer,
};
