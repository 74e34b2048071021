/* Movement: the same elements elsewhere.  No arithmetic, any dtype; each gradient is the movement
 * back. */
#include "ops/elementwise.h"
#include "ops/lower.h"
#include "support/panic.h"

void evaluate_copy(const Node *node, const Tensor *const *operands, Tensor *result) {
  tensor_copy(result->data, operands[0]);
}

/* ---- reshape: to `shape`, of as many elements; row-major order is kept ---- */

static bool reshape_infer(Inference *in) {
  Type x = in->node->operands[0]->type;
  in->type.dtype = x.dtype;
  if (!infer_shape(in, &in->type.shape)) return false;
  if (shape_elements(x.shape) == shape_elements(in->type.shape)) return true;
  return infer_fail(in, "%s has %lld elements but %s has %lld", shape_text(in->arena, x.shape),
                    (long long)shape_elements(x.shape), shape_text(in->arena, in->type.shape),
                    (long long)shape_elements(in->type.shape));
}

#define reshape_evaluate evaluate_copy
/* Pieces of the result are pieces of the operand where as many elements lie before both axes. */
static int reshape_cut(const Node *node, int axis, int operand) {
  Shape x = node->operands[operand]->type.shape, y = node->type.shape;
  int64_t before = 1, outer = 1;
  if (axis >= y.rank || shape_elements(y) == 0) return AXIS_UNCUT;
  for (int i = 0; i < axis; i++) before *= y.dim[i];
  for (int i = 0; i < x.rank; outer *= x.dim[i++])
    if (outer == before && (x.dim[i] > 1 || y.dim[axis] == 1)) return i;
  return AXIS_UNCUT;
}

GRADIENT(reshape, make_reshape(m, dy, x->type.shape))
OP_CLASS(reshape, FAMILY_MOVEMENT, .mix = MIX_FOLLOW, .moves_values = true, .keeps_order = true)

/* ---- transpose: result axis i is operand axis permutation[i] ---- */

static bool transpose_infer(Inference *in) {
  Shape x = in->node->operands[0]->type.shape;
  const Attribute *axes = infer_axes(in, ATTR_PERMUTATION, x.rank, false);
  if (!axes) return false;
  if (axes->count != x.rank)
    return infer_fail(in, "a permutation of %d axes is applied to %s", axes->count,
                      shape_text(in->arena, x));
  in->type = in->node->operands[0]->type;
  for (int i = 0; i < x.rank; i++) in->type.shape.dim[i] = x.dim[axes->ints[i]];
  return true;
}

static void transpose_evaluate(const Node *node, const Tensor *const *operands, Tensor *result) {
  const Attribute *axes = node_ints(node, ATTR_PERMUTATION);
  strided_pack(result->data, operands[0]->data, operands[0]->type.shape, axes->count, axes->ints);
}

static Node *transpose_back(const Maker *m, const Node *node, Node *dy) {
  const Attribute *axes = node_ints(node, ATTR_PERMUTATION);
  int64_t inverse[MAX_RANK];
  for (int i = 0; i < axes->count; i++) inverse[axes->ints[i]] = i;
  return make_transpose(m, dy, inverse);
}

GRADIENT(transpose, transpose_back(m, y, dy))

static int transpose_cut(const Node *node, int axis, int operand) {
  return axis < node->type.shape.rank ? (int)node_ints(node, ATTR_PERMUTATION)->ints[axis]
                                      : AXIS_UNCUT;
}

OP_CLASS(transpose, FAMILY_MOVEMENT, .mix = MIX_FOLLOW, .moves_values = true)

/* ---- broadcast: operand axis i becomes result axis axes[i]; the others repeat.  Extents of the
 * operand are never stretched: an axis of extent 1 that NumPy would repeat is reshaped first.
 * ---- */

static bool broadcast_infer(Inference *in) {
  Type x = in->node->operands[0]->type;
  in->type.dtype = x.dtype;
  if (!infer_shape(in, &in->type.shape)) return false;
  const Attribute *axes = infer_axes(in, ATTR_AXES, in->type.shape.rank, true);
  if (!axes) return false;
  if (axes->count != x.shape.rank)
    return infer_fail(in, "'axes' has %d entries for the operand's shape %s", axes->count,
                      shape_text(in->arena, x.shape));
  for (int i = 0; i < axes->count; i++)
    if (in->type.shape.dim[axes->ints[i]] != x.shape.dim[i])
      return infer_fail(in, "axis %d of %s does not match axis %lld of %s", i,
                        shape_text(in->arena, x.shape), (long long)axes->ints[i],
                        shape_text(in->arena, in->type.shape));
  return true;
}

static void broadcast_evaluate(const Node *node, const Tensor *const *operands, Tensor *result) {
  const Attribute *axes = node_ints(node, ATTR_AXES);
  int64_t plain[MAX_RANK], from[MAX_RANK] = {0}, to[MAX_RANK];
  shape_strides(operands[0]->type.shape, plain);
  shape_strides(result->type.shape, to);
  for (int i = 0; i < axes->count; i++) from[axes->ints[i]] = plain[i];
  strided_copy(result->type.shape.rank, result->type.shape.dim, result->data, to, operands[0]->data,
               from);
}

/* The sum over the axes that were added. */
static Node *broadcast_back(const Maker *m, const Node *node, Node *dy) {
  const Attribute *axes = node_ints(node, ATTR_AXES);
  int64_t added[MAX_RANK];
  int count = 0, next = 0;
  for (int i = 0; i < node->type.shape.rank; i++) {
    if (next < axes->count && axes->ints[next] == i) next++;
    else added[count++] = i;
  }
  return make_reduce(m, OP_REDUCE_SUM, dy, count, added);
}

GRADIENT(broadcast, broadcast_back(m, y, dy))

static int broadcast_cut(const Node *node, int axis, int operand) {
  const Attribute *axes = node_ints(node, ATTR_AXES);
  for (int i = 0; i < axes->count; i++)
    if (axes->ints[i] == axis) return i;
  return axis < node->type.shape.rank ? AXIS_WHOLE : AXIS_UNCUT;
}

OP_CLASS(broadcast, FAMILY_MOVEMENT, .mix = MIX_FOLLOW, .moves_values = true)

/* ---- slice: along each axis start, start + step, ... before stop; a negative step runs down, and
 * a stop of -1 is past the beginning ---- */

static int64_t slice_extent(int64_t start, int64_t stop, int64_t step) {
  if (step > 0) return stop <= start ? 0 : (stop - start + step - 1) / step;
  return stop >= start ? 0 : (start - stop - step - 1) / -step;
}

static bool slice_infer(Inference *in) {
  in->type = in->node->operands[0]->type;
  int rank = in->type.shape.rank;
  const Attribute *start = infer_ints(in, ATTR_START, rank, -1);
  const Attribute *stop = start ? infer_ints(in, ATTR_STOP, rank, -1) : NULL;
  const Attribute *step = stop ? infer_ints(in, ATTR_STEP, rank, INT64_MIN) : NULL;
  if (!step) return false;
  for (int i = 0; i < rank; i++) {
    int64_t extent = in->type.shape.dim[i], from = start->ints[i], to = stop->ints[i];
    int64_t by = step->ints[i];
    if (by == 0) return infer_fail(in, "the step along axis %d is 0", i);
    if (by < -MAX_ELEMENTS || by > MAX_ELEMENTS)
      return infer_fail(in, "the step %lld along axis %d is too large", (long long)by, i);
    bool inside = by > 0 ? from >= 0 && to >= from && to <= extent : from < extent && to <= from;
    if (!inside)
      return infer_fail(in, "%lld:%lld:%lld is outside axis %d of %s", (long long)from,
                        (long long)to, (long long)by, i,
                        shape_text(in->arena, in->node->operands[0]->type.shape));
    in->type.shape.dim[i] = slice_extent(from, to, by);
  }
  return true;
}

static void slice_evaluate(const Node *node, const Tensor *const *operands, Tensor *result) {
  const Attribute *start = node_ints(node, ATTR_START), *step = node_ints(node, ATTR_STEP);
  Shape shape = result->type.shape;
  if (shape_elements(shape) == 0) return;
  int64_t from[MAX_RANK], to[MAX_RANK], first = 0;
  shape_strides(operands[0]->type.shape, from);
  shape_strides(shape, to);
  for (int i = 0; i < shape.rank; i++) {
    first += start->ints[i] * from[i];
    from[i] *= step->ints[i];
  }
  strided_copy(shape.rank, shape.dim, result->data, to, operands[0]->data + first, from);
}

/* Zeros but where the elements came from; axes that ran down are reversed first. */
static Node *slice_back(const Maker *m, const Node *node, Node *dy) {
  Shape x = node->operands[0]->type.shape, y = node->type.shape;
  const Attribute *start = node_ints(node, ATTR_START), *step = node_ints(node, ATTR_STEP);
  int64_t from[MAX_RANK], stop[MAX_RANK], turn[MAX_RANK];
  int64_t low[MAX_RANK], high[MAX_RANK], spread[MAX_RANK];
  for (int i = 0; i < x.rank; i++) {
    bool down = step->ints[i] < 0;
    int64_t count = y.dim[i], last = start->ints[i] + (count - 1) * step->ints[i];
    from[i] = down ? count - 1 : 0;
    stop[i] = down ? -1 : count;
    turn[i] = down ? -1 : 1;
    low[i] = count == 0 ? 0 : down ? last : start->ints[i];
    high[i] = count == 0 ? x.dim[i] : x.dim[i] - 1 - (down ? start->ints[i] : last);
    spread[i] = down ? -step->ints[i] : step->ints[i];
  }
  return make_pad(m, make_slice(m, dy, from, stop, turn), low, high, spread, 0);
}

GRADIENT(slice, slice_back(m, y, dy))

/* Along an axis that it leaves alone. */
static int slice_cut(const Node *node, int axis, int operand) {
  Shape x = node->operands[operand]->type.shape;
  bool is_all = axis < x.rank && node_ints(node, ATTR_START)->ints[axis] == 0 &&
                node_ints(node, ATTR_STEP)->ints[axis] == 1 &&
                node_ints(node, ATTR_STOP)->ints[axis] == x.dim[axis];
  return is_all ? axis : AXIS_UNCUT;
}

OP_CLASS(slice, FAMILY_MOVEMENT, .mix = MIX_FOLLOW, .moves_values = true)

/* ---- pad: `low` and `high` elements around and step - 1 between; all new ones are `value` ---- */

static bool pad_infer(Inference *in) {
  in->type = in->node->operands[0]->type;
  int rank = in->type.shape.rank;
  const Attribute *low = infer_ints(in, ATTR_LOW, rank, 0);
  const Attribute *high = low ? infer_ints(in, ATTR_HIGH, rank, 0) : NULL;
  const Attribute *step = high ? infer_ints(in, ATTR_STEP, rank, 1) : NULL;
  if (!step || !infer_attribute(in, ATTR_VALUE)) return false;
  for (int i = 0; i < rank; i++) {
    int64_t extent = in->type.shape.dim[i], inner = 0;
    if (low->ints[i] > MAX_ELEMENTS || high->ints[i] > MAX_ELEMENTS ||
        step->ints[i] > MAX_ELEMENTS ||
        (extent > 1 && __builtin_mul_overflow(extent - 1, step->ints[i], &inner)))
      return infer_fail(in, "the padding along axis %d is too large", i);
    in->type.shape.dim[i] = low->ints[i] + high->ints[i] + (extent > 0 ? inner + 1 : 0);
  }
  if (shape_is_representable(in->type.shape)) return true;
  return infer_fail(in, "the padded tensor has too many elements");
}

static void pad_evaluate(const Node *node, const Tensor *const *operands, Tensor *result) {
  const Attribute *low = node_ints(node, ATTR_LOW), *step = node_ints(node, ATTR_STEP);
  int64_t from[MAX_RANK], to[MAX_RANK], first = 0;
  tensor_fill(result, node_float(node, ATTR_VALUE));
  Shape shape = operands[0]->type.shape;
  if (shape_elements(shape) == 0) return;
  shape_strides(shape, from);
  shape_strides(result->type.shape, to);
  for (int i = 0; i < shape.rank; i++) {
    first += low->ints[i] * to[i];
    to[i] *= step->ints[i];
  }
  strided_copy(shape.rank, shape.dim, result->data + first, to, operands[0]->data, from);
}

static Node *pad_back(const Maker *m, const Node *node, Node *dy) {
  Shape x = node->operands[0]->type.shape;
  const Attribute *low = node_ints(node, ATTR_LOW), *step = node_ints(node, ATTR_STEP);
  int64_t stop[MAX_RANK];
  for (int i = 0; i < x.rank; i++)
    stop[i] = low->ints[i] + (x.dim[i] > 0 ? (x.dim[i] - 1) * step->ints[i] + 1 : 0);
  return make_slice(m, dy, low->ints, stop, step->ints);
}

GRADIENT(pad, pad_back(m, y, dy))

static int pad_cut(const Node *node, int axis, int operand) {
  bool is_all = axis < node->type.shape.rank && node_ints(node, ATTR_LOW)->ints[axis] == 0 &&
                node_ints(node, ATTR_HIGH)->ints[axis] == 0 &&
                node_ints(node, ATTR_STEP)->ints[axis] == 1;
  return is_all ? axis : AXIS_UNCUT;
}

OP_CLASS(pad, FAMILY_MOVEMENT, .mix = MIX_FOLLOW)

/* ---- concat: operands one after the other along `axis`; all other extents agree ---- */

static bool concat_infer(Inference *in) {
  in->type = in->node->operands[0]->type;
  int axis;
  if (!infer_axis(in, in->type.shape.rank, &axis)) return false;
  if (!infer_same(in, false)) return false;
  for (int k = 1; k < in->node->operand_count; k++) {
    Shape other = in->node->operands[k]->type.shape;
    bool fits = other.rank == in->type.shape.rank;
    for (int i = 0; fits && i < other.rank; i++)
      fits = i == axis || other.dim[i] == in->type.shape.dim[i];
    if (!fits)
      return infer_fail(in, "shapes %s and %s differ in more than axis %d",
                        shape_text(in->arena, in->node->operands[0]->type.shape),
                        shape_text(in->arena, other), axis);
    in->type.shape.dim[axis] += other.dim[axis];
  }
  if (shape_is_representable(in->type.shape)) return true;
  return infer_fail(in, "the result has too many elements");
}

static void concat_evaluate(const Node *node, const Tensor *const *operands, Tensor *result) {
  int axis = (int)node_int(node, ATTR_AXIS);
  int64_t to[MAX_RANK], from[MAX_RANK], first = 0;
  shape_strides(result->type.shape, to);
  for (int k = 0; k < node->operand_count; k++) {
    Shape part = operands[k]->type.shape;
    shape_strides(part, from);
    strided_copy(part.rank, part.dim, result->data + first * to[axis], to, operands[k]->data, from);
    first += part.dim[axis];
  }
}

static Node *concat_back(const Maker *m, const Node *node, Node *dy, int operand) {
  int axis = (int)node_int(node, ATTR_AXIS);
  int64_t start = 0;
  for (int k = 0; k < operand; k++) start += node->operands[k]->type.shape.dim[axis];
  return make_range(m, dy, axis, start, start + node->operands[operand]->type.shape.dim[axis]);
}

GRADIENT(concat, concat_back(m, y, dy, operand))

static int concat_cut(const Node *node, int axis, int operand) {
  bool is_other = axis < node->type.shape.rank && axis != (int)node_int(node, ATTR_AXIS);
  return is_other ? axis : AXIS_UNCUT;
}

OP_CLASS(concat, FAMILY_MOVEMENT, .mix = MIX_FOLLOW)

bool node_ends_with_channels(const Node *node) {
  if (node->op != OP_TRANSPOSE || node->type.shape.rank < 3) return false;
  const Attribute *permutation = node_ints(node, ATTR_PERMUTATION);
  int last = permutation->count - 1;
  for (int i = 0; i < last; i++)
    if (permutation->ints[i] != i + (i > 0)) return false;
  return permutation->ints[last] == 1;
}
