/* Indexing by integer tensors: rows of a table, one element along an axis, and their adjoints.
 *
 * Indices are i64, i32 or u8. The runtime checks those that come with the data (index_bound). Where
 * one is outside its axis after all, gather and pick read the nearest element, scatter_add and
 * unpick write nothing, in the interpreter as in generated code, so memory is safe. Each pair is
 * adjoint: gather with scatter_add, pick with unpick. */
#include "ops/elementwise.h"
#include "ops/lower.h"
#include "support/integers.h"
#include "support/panic.h"

#include <string.h>

static bool infer_index(Inference *in, Shape table, int axis) {
  Type index = in->node->operands[1]->type;
  if (!infer_dtype(in, 1, DTYPES_INT)) return false;
  if (table.dim[axis] > 0 || shape_elements(index.shape) == 0) return true;
  return infer_fail(in, "axis %d of %s has no elements to index", axis,
                    shape_text(in->arena, table));
}

/* Only what is chosen is read. */
static Cost chosen_cost(const Node *node) {
  return (Cost){.bytes = 2 * (double)type_bytes(node->type) +
                         (double)type_bytes(node->operands[1]->type)};
}

/* ---- gather: table [v, rest...], index [i...] -> [i..., rest...] ---- */

static bool gather_infer(Inference *in) {
  Shape table = in->node->operands[0]->type.shape, index = in->node->operands[1]->type.shape;
  if (table.rank < 1) return infer_fail(in, "the table is a scalar");
  if (!infer_index(in, table, 0)) return false;
  if (index.rank + table.rank - 1 > MAX_RANK)
    return infer_fail(in, "the result would have %d axes; the limit is %d",
                      index.rank + table.rank - 1, MAX_RANK);
  Shape shape = index;
  for (int i = 1; i < table.rank; i++) shape.dim[shape.rank++] = table.dim[i];
  in->type = type_make(in->node->operands[0]->type.dtype, shape);
  if (shape_is_representable(shape)) return true;
  return infer_fail(in, "the result has too many elements");
}

static int64_t row_elements(Shape table) { return extent_product(table.dim + 1, table.rank - 1); }

static void gather_evaluate(const Node *node, const Tensor *const *operands, Tensor *result) {
  Shape table = operands[0]->type.shape;
  int64_t row = row_elements(table), count = shape_elements(operands[1]->type.shape);
  if (row == 0) return;
  for (int64_t i = 0; i < count; i++) {
    int64_t from = number_clamp_index(operands[1]->data[i], table.dim[0]);
    memcpy(result->data + i * row, operands[0]->data + from * row, sizeof(double) * (size_t)row);
  }
}

static int64_t gather_index_bound(const Node *node, int operand) {
  return operand == 1 ? node->operands[0]->type.shape.dim[0] : 0;
}

static int gather_cut(const Node *node, int axis, int operand) {
  int index_rank = node->operands[1]->type.shape.rank;
  if (axis < index_rank) return operand == 0 ? AXIS_WHOLE : axis;
  if (axis >= node->type.shape.rank) return AXIS_UNCUT;
  return operand == 0 ? axis - index_rank + 1 : AXIS_WHOLE;
}

GRADIENT(gather, operand == 0 ? make_scatter_add(m, dy, b, a->type.shape) : NULL)
OP_CLASS(gather, FAMILY_INDEXING, .index_bound = gather_index_bound, .cost = chosen_cost,
         .mix = MIX_FOLLOW)

/* ---- scatter_add: values [i..., rest...], index [i...] -> `shape` [v, rest...]: each row of the
 * values is added to the row that its index names; rows not named are 0 ---- */

static bool scatter_add_infer(Inference *in) {
  Shape values = in->node->operands[0]->type.shape, index = in->node->operands[1]->type.shape;
  in->type.dtype = in->node->operands[0]->type.dtype;
  if (!infer_dtype(in, 0, DTYPES_NUMBER) || !infer_shape(in, &in->type.shape)) return false;
  if (in->type.shape.rank < 1) return infer_fail(in, "the result is a scalar");
  if (!infer_index(in, in->type.shape, 0)) return false;
  bool fits = values.rank == index.rank + in->type.shape.rank - 1;
  for (int i = 0; fits && i < values.rank; i++)
    fits =
        values.dim[i] == (i < index.rank ? index.dim[i] : in->type.shape.dim[i - index.rank + 1]);
  if (fits) return true;
  return infer_fail(in, "values %s are not one row of %s for each index of %s",
                    shape_text(in->arena, values), shape_text(in->arena, in->type.shape),
                    shape_text(in->arena, index));
}

static void scatter_add_evaluate(const Node *node, const Tensor *const *operands, Tensor *result) {
  Shape table = result->type.shape;
  int64_t row = row_elements(table), count = shape_elements(operands[1]->type.shape);
  tensor_fill(result, 0);
  for (int64_t i = 0; i < count; i++) {
    double at = operands[1]->data[i];
    if (at < 0 || at >= (double)table.dim[0]) continue;
    double *to = result->data + (int64_t)at * row;
    const double *from = operands[0]->data + i * row;
    for (int64_t k = 0; k < row; k++) to[k] += from[k];
  }
  if (!number_is_integer(node->type.dtype)) return;
  for (int64_t i = 0; i < shape_elements(table); i++)
    result->data[i] = number_wrap((uint64_t)number_truncate(result->data[i]), node->type.dtype);
}

static int64_t scatter_add_index_bound(const Node *node, int operand) {
  return operand == 1 ? node->type.shape.dim[0] : 0;
}

static Cost scatter_add_cost(const Node *node) {
  return (Cost){.flops = (double)shape_elements(node->operands[0]->type.shape),
                .bytes = node_bytes(node)};
}

/* Rows of the table cannot be cut: an index may name any. After the result's axes come the index's. */
static int scatter_add_cut(const Node *node, int axis, int operand) {
  int rank = node->type.shape.rank, index_rank = node->operands[1]->type.shape.rank;
  if (axis == 0 || axis >= rank + index_rank) return AXIS_UNCUT;
  if (axis >= rank) return axis - rank;
  return operand == 0 ? axis - 1 + index_rank : AXIS_WHOLE;
}

GRADIENT(scatter_add, operand == 0 ? make_gather(m, dy, b) : NULL)
OP_CLASS(scatter_add, FAMILY_INDEXING, .index_bound = scatter_add_index_bound, .join = OP_ADD,
         .cost = scatter_add_cost)

/* ---- pick: x, index of x's shape without `axis` -> that shape: x at the index ---- */

static Shape without_axis(Shape shape, int axis) {
  Shape result = {.rank = 0};
  for (int i = 0; i < shape.rank; i++)
    if (i != axis) result.dim[result.rank++] = shape.dim[i];
  return result;
}

static bool index_fits(Inference *in, Shape x, int axis) {
  Shape index = in->node->operands[1]->type.shape;
  if (!infer_index(in, x, axis)) return false;
  if (shape_equal(index, without_axis(x, axis))) return true;
  return infer_fail(in, "the index has shape %s where %s without axis %d is needed",
                    shape_text(in->arena, index), shape_text(in->arena, x), axis);
}

static bool pick_infer(Inference *in) {
  Type x = in->node->operands[0]->type;
  int axis;
  if (!infer_axis(in, x.shape.rank, &axis)) return false;
  in->type = type_make(x.dtype, without_axis(x.shape, axis));
  return index_fits(in, x.shape, axis);
}

/* x as [outer, extent, inner], the axis in the middle; the index is [outer, inner]. */
typedef struct Places {
  int64_t outer, extent, inner;
} Places;

static Places places_of(Shape x, int axis) {
  Places places = {.outer = extent_product(x.dim, axis),
                   .extent = x.dim[axis],
                   .inner = extent_product(x.dim + axis + 1, x.rank - axis - 1)};
  return places;
}

static void pick_evaluate(const Node *node, const Tensor *const *operands, Tensor *result) {
  Places places = places_of(operands[0]->type.shape, (int)node_int(node, ATTR_AXIS));
  for (int64_t o = 0; o < places.outer; o++)
    for (int64_t i = 0; i < places.inner; i++) {
      int64_t y = o * places.inner + i;
      int64_t at = number_clamp_index(operands[1]->data[y], places.extent);
      result->data[y] = operands[0]->data[(o * places.extent + at) * places.inner + i];
    }
}

static int64_t pick_index_bound(const Node *node, int operand) {
  return operand == 1 ? node->operands[0]->type.shape.dim[node_int(node, ATTR_AXIS)] : 0;
}

static int pick_cut(const Node *node, int axis, int operand) {
  if (axis >= node->type.shape.rank) return AXIS_UNCUT;
  return operand == 1 ? axis : axis + (axis >= (int)node_int(node, ATTR_AXIS));
}

GRADIENT(pick,
         operand == 1 ? NULL : make_unpick(m, dy, b, (int)node_int(y, ATTR_AXIS), a->type.shape))
OP_CLASS(pick, FAMILY_INDEXING, .index_bound = pick_index_bound, .cost = chosen_cost)

/* ---- unpick: y, index -> `shape`: y at the index along `axis`, 0 elsewhere ---- */

static bool unpick_infer(Inference *in) {
  Type y = in->node->operands[0]->type;
  int axis;
  in->type.dtype = y.dtype;
  if (!infer_shape(in, &in->type.shape) || !infer_axis(in, in->type.shape.rank, &axis) ||
      !index_fits(in, in->type.shape, axis))
    return false;
  if (shape_equal(y.shape, in->node->operands[1]->type.shape)) return true;
  return infer_fail(in, "values and index have shapes %s and %s", shape_text(in->arena, y.shape),
                    shape_text(in->arena, in->node->operands[1]->type.shape));
}

static void unpick_evaluate(const Node *node, const Tensor *const *operands, Tensor *result) {
  Places places = places_of(result->type.shape, (int)node_int(node, ATTR_AXIS));
  tensor_fill(result, 0);
  for (int64_t o = 0; o < places.outer; o++)
    for (int64_t i = 0; i < places.inner; i++) {
      int64_t y = o * places.inner + i;
      double at = operands[1]->data[y];
      if (at < 0 || at >= (double)places.extent) continue;
      result->data[(o * places.extent + (int64_t)at) * places.inner + i] = operands[0]->data[y];
    }
}

static int64_t unpick_index_bound(const Node *node, int operand) {
  return operand == 1 ? node->type.shape.dim[node_int(node, ATTR_AXIS)] : 0;
}

static int unpick_cut(const Node *node, int axis, int operand) {
  int picked = (int)node_int(node, ATTR_AXIS);
  if (axis >= node->type.shape.rank || axis == picked) return AXIS_UNCUT;
  return axis - (axis > picked);
}

GRADIENT(unpick, operand == 1 ? NULL : make_pick(m, dy, b, (int)node_int(y, ATTR_AXIS)))
OP_CLASS(unpick, FAMILY_INDEXING, .index_bound = unpick_index_bound)
