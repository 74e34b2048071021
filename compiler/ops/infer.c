/* Clauses of the operators' type rules: see infer.h. */
#include "ops/infer.h"

#include "ops/op.h"

bool infer_fail(Inference *in, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  in->reason = arena_vprintf(in->arena, format, arguments);
  va_end(arguments);
  return false;
}

const Attribute *infer_attribute(Inference *in, AttributeKey key) {
  const Attribute *attribute = node_attribute(in->node, key);
  if (!attribute) infer_fail(in, "the attribute '%s' is missing", attribute_name(key));
  return attribute;
}

const Attribute *infer_ints(Inference *in, AttributeKey key, int count, int64_t least) {
  const Attribute *ints = infer_attribute(in, key);
  if (!ints) return NULL;
  if (ints->count != count) {
    infer_fail(in, "'%s' has %d entries where %d are needed", attribute_name(key), ints->count,
               count);
    return NULL;
  }
  for (int i = 0; i < count; i++) {
    if (ints->ints[i] >= least) continue;
    infer_fail(in, "entry %d of '%s' is %lld but must be at least %lld", i, attribute_name(key),
               (long long)ints->ints[i], (long long)least);
    return NULL;
  }
  return ints;
}

bool infer_axis(Inference *in, int rank, int *axis) {
  const Attribute *attribute = infer_attribute(in, ATTR_AXIS);
  if (!attribute) return false;
  if (attribute->integer < 0 || attribute->integer >= rank)
    return infer_fail(in, "axis %lld is outside a tensor with %d axes",
                      (long long)attribute->integer, rank);
  *axis = (int)attribute->integer;
  return true;
}

const Attribute *infer_axes(Inference *in, AttributeKey key, int rank, bool increasing) {
  const Attribute *axes = infer_attribute(in, key);
  if (!axes) return NULL;
  unsigned seen = 0;
  for (int i = 0; i < axes->count; i++) {
    int64_t axis = axes->ints[i];
    if (axis < 0 || axis >= rank) {
      infer_fail(in, "'%s' names axis %lld of a tensor with %d axes", attribute_name(key),
                 (long long)axis, rank);
      return NULL;
    }
    bool wrong_order = increasing && i > 0 && axes->ints[i - 1] >= axis;
    if (wrong_order || (seen & 1u << axis)) {
      infer_fail(in, "the axes of '%s' are not %s", attribute_name(key),
                 increasing ? "increasing" : "distinct");
      return NULL;
    }
    seen |= 1u << axis;
  }
  return axes;
}

bool infer_shape(Inference *in, Shape *shape) {
  const Attribute *attribute = infer_attribute(in, ATTR_SHAPE);
  if (!attribute) return false;
  if (attribute->count > MAX_RANK)
    return infer_fail(in, "a shape of %d axes exceeds the limit of %d", attribute->count, MAX_RANK);
  for (int i = 0; i < attribute->count; i++)
    if (attribute->ints[i] < 0)
      return infer_fail(in, "extent %d of the shape is %lld", i, (long long)attribute->ints[i]);
  *shape = shape_make(attribute->count, attribute->ints);
  if (!shape_is_representable(*shape))
    return infer_fail(in, "shape %s has too many elements", shape_text(in->arena, *shape));
  return true;
}

bool infer_same(Inference *in, bool shapes) {
  Type first = in->node->operands[0]->type;
  for (int i = 1; i < in->node->operand_count; i++) {
    Type other = in->node->operands[i]->type;
    if (other.dtype != first.dtype)
      return infer_fail(in, "operands have types %s and %s", dtype_name(first.dtype),
                        dtype_name(other.dtype));
    if (shapes && !shape_equal(other.shape, first.shape))
      return infer_fail(in, "operands have shapes %s and %s", shape_text(in->arena, first.shape),
                        shape_text(in->arena, other.shape));
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
  case DTYPES_FLOAT | DTYPES_BOOL: return "a float or bool";
  default: return "any type";
  }
}

bool infer_dtype(Inference *in, int i, int dtypes) {
  DType dtype = in->node->operands[i]->type.dtype;
  if (dtypes & 1 << dtype) return true;
  return infer_fail(in, "operand %d has type %s but %s takes %s", i + 1, dtype_name(dtype),
                    op_info(in->node->op)->name, dtypes_text(dtypes));
}

bool infer_wide_sum(Inference *in) {
  const Attribute *wide = node_attribute(in->node, ATTR_DTYPE);
  if (wide == NULL) return true;
  DType dtype = (DType)wide->integer;
  if (!dtype_is_half(in->type.dtype) || dtype != DTYPE_F32)
    return infer_fail(in, "sums of %s cannot be %s", dtype_name(in->type.dtype),
                      dtype == DTYPE_F32 ? "f32" : "of another type");
  in->type.dtype = dtype;
  return true;
}
