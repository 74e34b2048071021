/* Random tensors: counter-based, so a pure function of seed, step and the node's identity.
 *
 * What element e of a node is, is defined in ops/philox.h. Attributes: `key`, the node's identity
 * (its path), and `stream`, which keeps initialization, training and evaluation apart. The type is
 * the one the node was added with. They have no gradient; CSE never merges them. */
#include "ops/lower.h"
#include "ops/op.h"
#include "ops/philox.h"
#include "support/hash.h"

static bool random_infer(Inference *in) {
  in->type = in->node->type;
  if (!infer_attribute(in, ATTR_KEY)) return false;
  const Attribute *stream = infer_attribute(in, ATTR_STREAM);
  if (!stream) return false;
  if (stream->integer < 0 || stream->integer > UINT32_MAX)
    return infer_fail(in, "stream %lld does not fit 32 bits", (long long)stream->integer);
  return true;
}

static bool float_infer(Inference *in) {
  if (!random_infer(in)) return false;
  if (dtype_is_float(in->type.dtype)) return true;
  return infer_fail(in, "random numbers of type %s do not exist", dtype_name(in->type.dtype));
}

static bool bits_infer(Inference *in) {
  if (!random_infer(in)) return false;
  if (in->type.dtype == DTYPE_I64) return true;
  return infer_fail(in, "random bits are i64, not %s", dtype_name(in->type.dtype));
}

static double draw_uniform(PhiloxBlock block, uint64_t element) {
  return philox_uniform(block.word[element % 4]);
}

static double draw_bits(PhiloxBlock block, uint64_t element) { return block.word[element % 4]; }

static void draw_elements(const Node *node, Tensor *result, const EvaluateContext *context) {
  uint64_t key = philox_key(context->seed, hash_text(node_string(node, ATTR_KEY)));
  uint32_t stream = (uint32_t)node_int(node, ATTR_STREAM);
  Shape shape = result->type.shape;
  int64_t count = shape_elements(shape);
  if (count == 0) return;
  int64_t per_example = shape.rank > 0 ? count / shape.dim[0] : 1;
  uint64_t first = context->example_offset * (uint64_t)per_example;
  for (int64_t i = 0; i < count; i++) {
    uint64_t element = first + (uint64_t)i;
    PhiloxBlock block = philox_block(key, element, (uint32_t)context->step, stream);
    result->data[i] = op_info(node->op)->class->draw(block, element);
  }
}

void node_evaluate(const Node *node, const Tensor *const *operands, Tensor *result,
                   const EvaluateContext *context) {
  const OpClass *class = op_info(node->op)->class;
  if (class->draw) draw_elements(node, result, context);
  else class->evaluate(node, operands, result);
}

#define RANDOM(name, infer_rule, draw_rule)                                                        \
  const OpClass op_class_random_##name = {.family = FAMILY_RANDOM,                                 \
                                          .infer = infer_rule,                                     \
                                          .draw = draw_rule,                                       \
                                          .lower = lower_random,                                   \
                                          .is_costly = true};

RANDOM(uniform, float_infer, draw_uniform)
RANDOM(normal, float_infer, philox_normal)
RANDOM(bits, bits_infer, draw_bits)
