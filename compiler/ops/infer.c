/* Clauses of the operators' type rules: see infer.h. */
#include "ops/infer.h"

#include "ops/op.h"

bool infer_fail(Arena *arena, const char **reason, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  *reason = arena_vprintf(arena, format, arguments);
  va_end(arguments);
  return false;
}

const Attribute *infer_attribute(Arena *arena, const Node *node, AttributeKey key,
                                 const char **reason) {
  const Attribute *attribute = node_attribute(node, key);
  if (!attribute) infer_fail(arena, reason, "the attribute '%s' is missing", attribute_name(key));
  return attribute;
}

const Attribute *infer_ints(Arena *arena, const Node *node, AttributeKey key, int count,
                            int64_t least, const char **reason) {
  const Attribute *ints = infer_attribute(arena, node, key, reason);
  if (!ints) return NULL;
  if (ints->count != count) {
    infer_fail(arena, reason, "'%s' has %d entries where %d are needed", attribute_name(key),
               ints->count, count);
    return NULL;
  }
  for (int i = 0; i < count; i++) {
    if (ints->ints[i] >= least) continue;
    infer_fail(arena, reason, "entry %d of '%s' is %lld but must be at least %lld", i,
               attribute_name(key), (long long)ints->ints[i], (long long)least);
    return NULL;
  }
  return ints;
}

bool infer_axis(Arena *arena, const Node *node, int rank, int *axis, const char **reason) {
  const Attribute *attribute = infer_attribute(arena, node, ATTR_AXIS, reason);
  if (!attribute) return false;
  if (attribute->integer < 0 || attribute->integer >= rank)
    return infer_fail(arena, reason, "axis %lld is outside a tensor with %d axes",
                      (long long)attribute->integer, rank);
  *axis = (int)attribute->integer;
  return true;
}

const Attribute *infer_axes(Arena *arena, const Node *node, AttributeKey key, int rank,
                            bool increasing, const char **reason) {
  const Attribute *axes = infer_attribute(arena, node, key, reason);
  if (!axes) return NULL;
  unsigned seen = 0;
  for (int i = 0; i < axes->count; i++) {
    int64_t axis = axes->ints[i];
    if (axis < 0 || axis >= rank) {
      infer_fail(arena, reason, "'%s' names axis %lld of a tensor with %d axes",
                 attribute_name(key), (long long)axis, rank);
      return NULL;
    }
    bool wrong_order = increasing && i > 0 && axes->ints[i - 1] >= axis;
    if (wrong_order || (seen & 1u << axis)) {
      infer_fail(arena, reason, "the axes of '%s' are not %s", attribute_name(key),
                 increasing ? "increasing" : "distinct");
      return NULL;
    }
    seen |= 1u << axis;
  }
  return axes;
}

bool infer_shape(Arena *arena, const Node *node, Shape *shape, const char **reason) {
  const Attribute *attribute = infer_attribute(arena, node, ATTR_SHAPE, reason);
  if (!attribute) return false;
  if (attribute->count > MAX_RANK)
    return infer_fail(arena, reason, "a shape of %d axes exceeds the limit of %d", attribute->count,
                      MAX_RANK);
  for (int i = 0; i < attribute->count; i++)
    if (attribute->ints[i] < 0)
      return infer_fail(arena, reason, "extent %d of the shape is %lld", i,
                        (long long)attribute->ints[i]);
  *shape = shape_make(attribute->count, attribute->ints);
  if (!shape_is_representable(*shape))
    return infer_fail(arena, reason, "shape %s has too many elements", shape_text(arena, *shape));
  return true;
}

bool infer_same(Arena *arena, const Node *node, bool shapes, const char **reason) {
  Type first = node->operands[0]->type;
  for (int i = 1; i < node->operand_count; i++) {
    Type other = node->operands[i]->type;
    if (other.dtype != first.dtype)
      return infer_fail(arena, reason, "operands have types %s and %s", dtype_name(first.dtype),
                        dtype_name(other.dtype));
    if (shapes && !shape_equal(other.shape, first.shape))
      return infer_fail(arena, reason, "operands have shapes %s and %s",
                        shape_text(arena, first.shape), shape_text(arena, other.shape));
  }
  return true;
}

/* "a float", ... for the sets that occur. */
static const char *dtypes_text(int dtypes) {
  switch (dtypes) {
  case DTYPES_FLOAT: return "a float";
  case DTYPES_NUMBER: return "a float, i64 or i32";
  case DTYPES_INT: return "an integer";
  case DTYPES_ORDERED: return "a number";
  case DTYPES_BOOL: return "bool";
  default: return "any type";
  }
}

bool infer_dtype(Arena *arena, const Node *node, int i, int dtypes, const char **reason) {
  DType dtype = node->operands[i]->type.dtype;
  if (dtypes & 1 << dtype) return true;
  return infer_fail(arena, reason, "operand %d has type %s but %s takes %s", i + 1,
                    dtype_name(dtype), op_info(node->op)->name, dtypes_text(dtypes));
}
