/* Random tensors: counter-based, so a pure function of seed, step and the node's identity.
 *
 * What element e of a node is, is defined in ops/philox.h. Attributes: `key`, the node's identity
 * (its path), and `stream`, which keeps initialization, training and evaluation apart. The type is
 * the one the node was added with. They have no gradient; CSE never merges them. */
#include "ops/infer.h"
#include "ops/lower.h"
#include "ops/op.h"
#include "ops/philox.h"
#include "support/hash.h"

static bool random_infer(Arena *arena, const Node *node, Type *type, const char **reason) {
  *type = node->type;
  if (!infer_attribute(arena, node, ATTR_KEY, reason)) return false;
  const Attribute *stream = infer_attribute(arena, node, ATTR_STREAM, reason);
  if (!stream) return false;
  if (stream->integer < 0 || stream->integer > UINT32_MAX)
    return infer_fail(arena, reason, "stream %lld does not fit 32 bits",
                      (long long)stream->integer);
  return true;
}

static bool float_infer(Arena *arena, const Node *node, Type *type, const char **reason) {
  if (!random_infer(arena, node, type, reason)) return false;
  if (dtype_is_float(type->dtype)) return true;
  return infer_fail(arena, reason, "random numbers of type %s do not exist",
                    dtype_name(type->dtype));
}

static bool bits_infer(Arena *arena, const Node *node, Type *type, const char **reason) {
  if (!random_infer(arena, node, type, reason)) return false;
  if (type->dtype == DTYPE_I64) return true;
  return infer_fail(arena, reason, "random bits are i64, not %s", dtype_name(type->dtype));
}

typedef double (*WordRule)(PhiloxBlock block, uint64_t element);

static void fill(const Node *node, Tensor *result, const EvaluateContext *context, WordRule rule) {
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
    result->data[i] = rule(block, element);
  }
}

static double uniform_rule(PhiloxBlock block, uint64_t element) {
  return philox_uniform(block.word[element % 4]);
}

static double bits_rule(PhiloxBlock block, uint64_t element) { return block.word[element % 4]; }

static void uniform_evaluate(const Node *node, const Tensor *const *operands, Tensor *result,
                             const EvaluateContext *context) {
  (void)operands;
  fill(node, result, context, uniform_rule);
}

static void normal_evaluate(const Node *node, const Tensor *const *operands, Tensor *result,
                            const EvaluateContext *context) {
  (void)operands;
  fill(node, result, context, philox_normal);
}

static void bits_evaluate(const Node *node, const Tensor *const *operands, Tensor *result,
                          const EvaluateContext *context) {
  (void)operands;
  fill(node, result, context, bits_rule);
}

const OpClass op_class_random_uniform = {
    .family = FAMILY_RANDOM,
    .infer = float_infer,
    .evaluate = uniform_evaluate,
    .lower = lower_random,
    .is_random = true,
    .is_costly = true,
};

const OpClass op_class_random_normal = {
    .family = FAMILY_RANDOM,
    .infer = float_infer,
    .evaluate = normal_evaluate,
    .lower = lower_random,
    .is_random = true,
    .is_costly = true,
};

const OpClass op_class_random_bits = {
    .family = FAMILY_RANDOM,
    .infer = bits_infer,
    .evaluate = bits_evaluate,
    .lower = lower_random,
    .is_random = true,
    .is_costly = true,
};
