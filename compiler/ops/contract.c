/* contract: sums of products over paired axes; matrix products and most of einsum.
 *
 *   left  [batch..., free..., sum...]  in any order of axes
 *   right [batch..., free..., sum...]
 *   result[b, m, n] = sum over k of left[b, m, k] * right[b, k, n]
 *
 * batch_left[i] is paired with batch_right[i], sum_left[i] with sum_right[i]; an axis in no list
 * is free. Result axes: the pairs of the batch in the order of their lists, the free axes of the
 * left in their order, those of the right. An empty sum gives 0. The gradients are contractions
 * again. Integers wrap, as their products and sums do. */
#include "ops/elementwise.h"
#include "ops/lower.h"
#include "support/panic.h"

/* One side's axes: batch as listed, sum as listed, the free ones increasing. */
typedef struct Side {
  const Attribute *batch, *sum;
  int free_count;
  int64_t free[MAX_RANK];
} Side;

static Side side_of(Shape shape, const Attribute *batch, const Attribute *sum) {
  Side side = {.batch = batch, .sum = sum};
  bool taken[MAX_RANK] = {false};
  for (int i = 0; i < batch->count; i++) taken[batch->ints[i]] = true;
  for (int i = 0; i < sum->count; i++) taken[sum->ints[i]] = true;
  for (int i = 0; i < shape.rank; i++)
    if (!taken[i]) side.free[side.free_count++] = i;
  return side;
}

static Side left_side(const Node *node) {
  return side_of(node->operands[0]->type.shape, node_ints(node, ATTR_BATCH_LEFT),
                 node_ints(node, ATTR_SUM_LEFT));
}

static Side right_side(const Node *node) {
  return side_of(node->operands[1]->type.shape, node_ints(node, ATTR_BATCH_RIGHT),
                 node_ints(node, ATTR_SUM_RIGHT));
}

/* ---- type rule ---- */

static bool pairs_fit(Inference *in, AttributeKey left_key, AttributeKey right_key) {
  Shape left = in->node->operands[0]->type.shape, right = in->node->operands[1]->type.shape;
  const Attribute *l = infer_axes(in, left_key, left.rank, false);
  const Attribute *r = l ? infer_axes(in, right_key, right.rank, false) : NULL;
  if (!r) return false;
  if (l->count != r->count)
    return infer_fail(in, "'%s' has %d axes but '%s' has %d", attribute_name(left_key), l->count,
                      attribute_name(right_key), r->count);
  for (int i = 0; i < l->count; i++)
    if (left.dim[l->ints[i]] != right.dim[r->ints[i]])
      return infer_fail(in, "axis %lld of %s does not match axis %lld of %s", (long long)l->ints[i],
                        shape_text(in->arena, left), (long long)r->ints[i],
                        shape_text(in->arena, right));
  return true;
}

/* No axis is in both lists of a side. */
static bool lists_are_disjoint(Inference *in, AttributeKey batch, AttributeKey sum) {
  const Attribute *b = node_ints(in->node, batch), *s = node_ints(in->node, sum);
  for (int i = 0; i < b->count; i++)
    for (int k = 0; k < s->count; k++)
      if (b->ints[i] == s->ints[k])
        return infer_fail(in, "axis %lld is in both '%s' and '%s'", (long long)b->ints[i],
                          attribute_name(batch), attribute_name(sum));
  return true;
}

static bool contract_infer(Inference *in) {
  if (!infer_same(in, false) || !infer_dtype(in, 0, DTYPES_NUMBER) ||
      !pairs_fit(in, ATTR_BATCH_LEFT, ATTR_BATCH_RIGHT) ||
      !pairs_fit(in, ATTR_SUM_LEFT, ATTR_SUM_RIGHT) ||
      !lists_are_disjoint(in, ATTR_BATCH_LEFT, ATTR_SUM_LEFT) ||
      !lists_are_disjoint(in, ATTR_BATCH_RIGHT, ATTR_SUM_RIGHT))
    return false;
  Side left = left_side(in->node), right = right_side(in->node);
  int rank = left.batch->count + left.free_count + right.free_count;
  if (rank > MAX_RANK)
    return infer_fail(in, "the result would have %d axes; the limit is %d", rank, MAX_RANK);
  const Type *l = &in->node->operands[0]->type, *r = &in->node->operands[1]->type;
  Shape shape = {.rank = 0};
  for (int i = 0; i < left.batch->count; i++)
    shape.dim[shape.rank++] = l->shape.dim[left.batch->ints[i]];
  for (int i = 0; i < left.free_count; i++) shape.dim[shape.rank++] = l->shape.dim[left.free[i]];
  for (int i = 0; i < right.free_count; i++) shape.dim[shape.rank++] = r->shape.dim[right.free[i]];
  in->type = type_make(l->dtype, shape);
  if (!infer_wide_sum(in)) return false;
  if (shape_is_representable(shape)) return true;
  return infer_fail(in, "the result has too many elements");
}

/* ---- evaluation: both sides packed, then a matrix product for each element of the batch ---- */

static int64_t extent(Shape shape, int count, const int64_t *axes) {
  int64_t elements = 1;
  for (int i = 0; i < count; i++) elements *= shape.dim[axes[i]];
  return elements;
}

static int join(int64_t *order, int at, int count, const int64_t *axes) {
  for (int i = 0; i < count; i++) order[at++] = axes[i];
  return at;
}

/* Of a product of matrices. */
typedef struct Extents {
  int64_t rows, columns, depth;
} Extents;

/* y[m,n] += sum_k a[m,k] b[k,n], four k at a time to spare loads and stores of y. */
static void multiply(Extents extents, const double *restrict a, const double *restrict b,
                     double *restrict y) {
  const int64_t rows = extents.rows, columns = extents.columns, depth = extents.depth;
  for (int64_t i = 0; i < rows; i++) {
    double *restrict row = y + i * columns;
    const double *factor = a + i * depth;
    int64_t k = 0;
    for (; k + 4 <= depth; k += 4) {
      const double *b0 = b + k * columns, *b1 = b0 + columns, *b2 = b1 + columns;
      const double *b3 = b2 + columns;
      double a0 = factor[k], a1 = factor[k + 1], a2 = factor[k + 2], a3 = factor[k + 3];
      for (int64_t j = 0; j < columns; j++)
        row[j] += a0 * b0[j] + a1 * b1[j] + a2 * b2[j] + a3 * b3[j];
    }
    for (; k < depth; k++)
      for (int64_t j = 0; j < columns; j++) row[j] += factor[k] * b[k * columns + j];
  }
}

/* The same of integers, in two's complement. */
static void multiply_integers(Extents extents, const double *a, const double *b, double *y,
                              DType dtype) {
  const int64_t rows = extents.rows, columns = extents.columns, depth = extents.depth;
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) {
      uint64_t bits = 0;
      for (int64_t k = 0; k < depth; k++)
        bits += (uint64_t)number_truncate(a[i * depth + k]) *
                (uint64_t)number_truncate(b[k * columns + j]);
      y[i * columns + j] = number_wrap(bits, dtype);
    }
}

static void contract_evaluate(const Node *node, const Tensor *const *operands, Tensor *result) {
  Side left = left_side(node), right = right_side(node);
  Shape l = operands[0]->type.shape, r = operands[1]->type.shape;
  int64_t batch = extent(l, left.batch->count, left.batch->ints);
  int64_t rows = extent(l, left.free_count, left.free);
  int64_t columns = extent(r, right.free_count, right.free);
  int64_t depth = extent(l, left.sum->count, left.sum->ints), order[MAX_RANK];
  Arena *scratch = arena_create();
  double *a = ARENA_ARRAY(scratch, double, batch *rows *depth);
  double *b = ARENA_ARRAY(scratch, double, batch *depth *columns);
  int at = join(order, 0, left.batch->count, left.batch->ints);
  at = join(order, at, left.free_count, left.free);
  at = join(order, at, left.sum->count, left.sum->ints);
  strided_pack(a, operands[0]->data, l, at, order);
  at = join(order, 0, right.batch->count, right.batch->ints);
  at = join(order, at, right.sum->count, right.sum->ints);
  at = join(order, at, right.free_count, right.free);
  strided_pack(b, operands[1]->data, r, at, order);
  for (int64_t i = 0; i < batch * rows * columns; i++) result->data[i] = 0;
  for (int64_t i = 0; i < batch; i++) {
    const double *l_matrix = a + i * rows * depth, *r_matrix = b + i * depth * columns;
    double *y = result->data + i * rows * columns;
    if (number_is_integer(node->type.dtype))
      multiply_integers((Extents){rows, columns, depth}, l_matrix, r_matrix, y, node->type.dtype);
    else multiply((Extents){rows, columns, depth}, l_matrix, r_matrix, y);
  }
  arena_destroy(scratch);
}

static Cost contract_cost(const Node *node) {
  Shape left = node->operands[0]->type.shape;
  const Attribute *sum = node_ints(node, ATTR_SUM_LEFT);
  double depth = (double)extent(left, sum->count, sum->ints);
  return (Cost){.flops = 2 * depth * (double)shape_elements(node->type.shape),
                .bytes = node_bytes(node)};
}

/* ---- gradients ----
 *
 * d left = dy . right over the right's free axes; d right = left . dy over the left's.  Each
 * leaves the batch first, then free and sum axes in some order, which a transposition puts in
 * place. */

/* The position of sum axis `axis` of the other side among that side's sum axes, increasing. */
static int rank_among(const Attribute *axes, int64_t axis) {
  int before = 0;
  for (int i = 0; i < axes->count; i++) before += axes->ints[i] < axis;
  return before;
}

static void iota_axes(int64_t *axes, int64_t from, int count) {
  for (int i = 0; i < count; i++) axes[i] = from + i;
}

/* Whether an operand's own axes come before those it sums over: as in a left matrix, or in a right one that is
 * transposed. */
static bool has_own_first(const Side *side, bool is_left) {
  if (side->free_count == 0 || side->sum->count == 0) return is_left;
  for (int i = 0; i < side->sum->count; i++)
    if (side->sum->ints[i] < side->free[0]) return false;
  return true;
}

/* contract(dy, other) is [batch, own free, sum], contract(other, dy) [batch, sum, own free], the sum axes in
 * the order of the other side. That of the two is taken whose axes are more in the operand's order. */
static Node *side_gradient(const Maker *m, const Node *node, Node *dy, bool is_left) {
  Side left = left_side(node), right = right_side(node);
  const Side *own = is_left ? &left : &right, *other = is_left ? &right : &left;
  int batches = own->batch->count;
  bool dy_first = has_own_first(own, is_left);
  int first_free = batches + (dy_first ? 0 : own->sum->count);
  int first_sum = batches + (dy_first ? own->free_count : 0);
  int met_by_dy = batches + (is_left ? own->free_count : 0); /* the other's free axes, in dy */
  ContractAxes axes = {.batch_count = batches, .sum_count = other->free_count};
  iota_axes(dy_first ? axes.batch_left : axes.batch_right, 0, batches);
  iota_axes(dy_first ? axes.sum_left : axes.sum_right, met_by_dy, other->free_count);
  join(dy_first ? axes.batch_right : axes.batch_left, 0, batches, other->batch->ints);
  join(dy_first ? axes.sum_right : axes.sum_left, 0, other->free_count, other->free);
  Node *partner = node->operands[is_left ? 1 : 0];
  Node *product =
      dy_first ? make_contract(m, dy, partner, &axes) : make_contract(m, partner, dy, &axes);
  int64_t place[MAX_RANK]; /* for each axis of the operand, its axis in the product */
  for (int i = 0; i < batches; i++) place[own->batch->ints[i]] = i;
  for (int i = 0; i < own->free_count; i++) place[own->free[i]] = first_free + i;
  for (int i = 0; i < own->sum->count; i++)
    place[own->sum->ints[i]] = first_sum + rank_among(other->sum, other->sum->ints[i]);
  return make_transpose(m, product, place);
}

GRADIENT(contract, side_gradient(m, y, dy, operand == 0))

static int contract_cut(const Node *node, int axis, int operand) {
  Side left = left_side(node), right = right_side(node);
  const Side *own = operand == 0 ? &left : &right;
  int batches = own->batch->count;
  if (axis < batches) return (int)own->batch->ints[axis];
  axis -= batches;
  if (axis < left.free_count) return operand == 0 ? (int)left.free[axis] : AXIS_WHOLE;
  axis -= left.free_count;
  if (axis < right.free_count) return operand == 1 ? (int)right.free[axis] : AXIS_WHOLE;
  axis -= right.free_count;
  return axis < own->sum->count ? (int)own->sum->ints[axis] : AXIS_UNCUT;
}

OP_CLASS(contract, FAMILY_CONTRACTION, .cost = contract_cost, .join = OP_ADD, .mix = MIX_NARROW)
