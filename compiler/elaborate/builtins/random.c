/* Random tensors.  The key is the path of the call, so every call has numbers of its own, the same
 * in every run with the same seed; initialization, training and evaluation have streams of their
 * own. */
#include "elaborate/builtins/builtins.h"
#include "elaborate/core/path.h"
#include "elaborate/core/report.h"
#include "elaborate/eval/convert.h"
#include "elaborate/eval/evaluate.h"

static Value apply_random(Elaborator *e, const Bound *bound) {
  Op op = (Op)bound->builtin->data;
  Type type = type_scalar(op == OP_RANDOM_BITS ? DTYPE_I64 : e->default_float);
  if (e->region->is_host_only)
    return report_error_value(e, bound->call, "a schedule cannot draw random numbers");
  if (!convert_shape(e, bound->values[0], bound->spans[0], "the shape", false, &type.shape))
    return value_error();
  if (op != OP_RANDOM_BITS && bound->values[1].kind == VALUE_DTYPE)
    type.dtype = bound->values[1].dtype;
  if (op != OP_RANDOM_BITS && !dtype_is_float(type.dtype))
    return report_error_value(e, bound->spans[1], "random numbers of type %s",
                              dtype_name(type.dtype));
  Attribute attributes[] = {attr_make_int(ATTR_STREAM, e->region->stream),
                            attr_make_string(ATTR_KEY, path_unique_key(e))};
  return value_tensor(e, evaluate_random(e, op, type, 2, attributes));
}

const Builtin builtins_random[] = {
    BUILTIN("random", apply_random, OP_RANDOM_UNIFORM, "rand", "shape: shape, type: type = none",
            "Uniform random numbers of [0, 1), fresh each step."
            " Example: y = x + rand(x.shape)"),
    BUILTIN("random", apply_random, OP_RANDOM_NORMAL, "randn", "shape: shape, type: type = none",
            "Normal random numbers of mean 0 and variance 1, fresh each step."
            " Example: y = x + 0.1 * randn(x.shape)"),
    BUILTIN("random", apply_random, OP_RANDOM_BITS, "random_bits", "shape: shape",
            "Random integers of [0, 2^32) as i64."
            " Example: keep = random_bits(x.shape) % 2 == 0"),
    {0},
};
