/* check_index (--check-indices, -O0): an index as it is. In an executable one outside of [0, length)
 * stops the run with a message: runtime/core/index_check.c. Operand 1 is each element's row-major number in
 * the tensor of the attribute `extents`, for the message; micro-batches slice it along. `index` is the
 * place's number in the table of the emitted model, `name` what takes the index. */
#include "ops/elementwise.h"
#include "ops/lower.h"

static bool check_index_infer(Inference *in) {
  in->type = in->node->operands[0]->type;
  Type number = in->node->operands[1]->type;
  if (!infer_dtype(in, 0, DTYPES_INT)) return false;
  if (number.dtype != DTYPE_I64 || !shape_equal(number.shape, in->type.shape))
    return infer_fail(in, "the elements' numbers are %s of %s", dtype_name(number.dtype),
                      shape_text(in->arena, number.shape));
  return infer_attribute(in, ATTR_NAME) && infer_attribute(in, ATTR_AXIS) &&
         infer_attribute(in, ATTR_LENGTH) && infer_attribute(in, ATTR_INDEX) &&
         infer_attribute(in, ATTR_EXTENTS);
}

SCALAR(check_index, 1, x[0])

static void check_index_lower(KernelBuilder *builder, const Node *node) {
  Index *at[MAX_RANK];
  lower_point(builder, node, at);
  Expr *args[4] = {builder_operand(builder, 0, at), builder_operand(builder, 1, at),
                   builder_const(builder, DTYPE_I64, (double)node_int(node, ATTR_LENGTH)),
                   builder_const(builder, DTYPE_I64, (double)node_int(node, ATTR_INDEX))};
  builder_return(builder, builder_op(builder, node->op, node->type.dtype, 4, args));
}

/* Data that goes straight into it is held against the length before training. */
static int64_t check_index_bound(const Node *node, int operand) {
  return operand == 0 ? node_int(node, ATTR_LENGTH) : 0;
}

const OpClass op_class_check_index = {
    .family = FAMILY_INDEXING,
    .infer = check_index_infer,
    .evaluate = check_index_evaluate,
    .scalar = check_index_scalar,
    .lower = check_index_lower,
    .index_bound = check_index_bound,
    .cut = elementwise_cut,
    .stands_alone = true,
    .is_alias = true,
};
