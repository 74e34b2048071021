/* Reductions over `axes`, which vanish from the shape, and argmax / argmin along one axis.
 *
 * x: [...]  y: x's shape without the axes.  No axes: the identity. Over no elements a sum is 0 and
 * a product 1; a mean or an extremum of nothing is refused. NaN is the largest for max and argmax
 * and the smallest for min and argmin, so it always shows; at a tie argmax and argmin take the
 * first.
 *
 * Evaluation packs the operand as [kept, reduced], so that each result element is a loop over
 * neighbours, in row-major order of the reduced axes. */
#include "ops/elementwise.h"
#include "ops/lower.h"
#include "support/panic.h"

/* The axes that stay, then the reduced ones, as lists. */
typedef struct Split {
  int kept_count, reduced_count;
  int64_t order[MAX_RANK]; /* kept axes, then reduced axes, each increasing */
  int64_t kept_elements, reduced_elements;
} Split;

static Split split_axes(Shape shape, int count, const int64_t *axes) {
  Split split = {.kept_elements = 1, .reduced_elements = 1};
  bool is_reduced[MAX_RANK] = {false};
  for (int i = 0; i < count; i++) is_reduced[axes[i]] = true;
  for (int i = 0; i < shape.rank; i++) {
    if (is_reduced[i]) continue;
    split.order[split.kept_count++] = i;
    split.kept_elements *= shape.dim[i];
  }
  for (int i = 0; i < shape.rank; i++) {
    if (!is_reduced[i]) continue;
    split.order[split.kept_count + split.reduced_count++] = i;
    split.reduced_elements *= shape.dim[i];
  }
  return split;
}

static Shape kept_shape(Shape shape, const Split *split) {
  Shape result = {.rank = split->kept_count};
  for (int i = 0; i < split->kept_count; i++) result.dim[i] = shape.dim[split->order[i]];
  return result;
}

/* ---- type rules ---- */

static bool reduce_infer(Inference *in, int dtypes, bool needs_some) {
  Shape x = in->node->operands[0]->type.shape;
  if (!infer_dtype(in, 0, dtypes)) return false;
  const Attribute *axes = infer_axes(in, ATTR_AXES, x.rank, true);
  if (!axes) return false;
  Split split = split_axes(x, axes->count, axes->ints);
  in->type = type_make(in->node->operands[0]->type.dtype, kept_shape(x, &split));
  if (!needs_some || split.reduced_elements > 0 || split.kept_elements == 0) return true;
  return infer_fail(in, "%s of %s is over no elements", op_info(in->node->op)->name,
                    shape_text(in->arena, x));
}

static bool total_infer(Inference *in) { return reduce_infer(in, DTYPES_NUMBER, false); }

static bool mean_infer(Inference *in) { return reduce_infer(in, DTYPES_FLOAT, true); }

static Split node_split(const Node *node) {
  const Attribute *axes = node_attribute(node, ATTR_AXES), *axis = node_attribute(node, ATTR_AXIS);
  Shape x = node->operands[0]->type.shape;
  return axes ? split_axes(x, axes->count, axes->ints) : split_axes(x, 1, &axis->integer);
}

/* The gradient goes to the first extremum, which argmax or argmin finds: its index is an i32. */
static bool extremum_infer(Inference *in) {
  if (!reduce_infer(in, DTYPES_NUMBER, true)) return false;
  if (node_split(in->node).reduced_elements <= INT32_MAX) return true;
  return infer_fail(in, "%s has more than 2147483647 elements for each result",
                    shape_text(in->arena, in->node->operands[0]->type.shape));
}

static bool arg_infer(Inference *in) {
  Shape x = in->node->operands[0]->type.shape;
  int axis;
  if (!infer_dtype(in, 0, DTYPES_NUMBER) || !infer_axis(in, x.rank, &axis)) return false;
  Split split = split_axes(x, 1, (int64_t[]){axis});
  in->type = type_make(DTYPE_I32, kept_shape(x, &split));
  if (x.dim[axis] > INT32_MAX)
    return infer_fail(in, "an index along axis %d of %s does not fit i32", axis,
                      shape_text(in->arena, x));
  if (x.dim[axis] > 0 || split.kept_elements == 0) return true;
  return infer_fail(in, "%s of %s is over no elements", op_info(in->node->op)->name,
                    shape_text(in->arena, x));
}

/* ---- evaluation ---- */

static double sum_row(const double *x, int64_t count, DType dtype) {
  double sum = 0;
  if (number_is_integer(dtype)) {
    uint64_t bits = 0;
    for (int64_t i = 0; i < count; i++) bits += (uint64_t)number_truncate(x[i]);
    return number_wrap(bits, dtype);
  }
  for (int64_t i = 0; i < count; i++) sum += x[i];
  return sum;
}

static double mean_row(const double *x, int64_t count, DType dtype) {
  return sum_row(x, count, dtype) / (double)count;
}

static double prod_row(const double *x, int64_t count, DType dtype) {
  double product = 1;
  if (number_is_integer(dtype)) {
    uint64_t bits = 1;
    for (int64_t i = 0; i < count; i++) bits *= (uint64_t)number_truncate(x[i]);
    return number_wrap(bits, dtype);
  }
  for (int64_t i = 0; i < count; i++) product *= x[i];
  return product;
}

/* The place of the first NaN, or else of the first extremum: of x, or for a sign of -1 of -x. */
static int64_t first_place(const double *x, int64_t count, double sign) {
  int64_t best = 0;
  for (int64_t i = 0; i < count && x[best] == x[best]; i++)
    if (sign * x[i] > sign * x[best] || x[i] != x[i]) best = i;
  return best;
}

static double argmax_row(const double *x, int64_t count, DType dtype) {
  return (double)first_place(x, count, 1);
}

static double argmin_row(const double *x, int64_t count, DType dtype) {
  return (double)first_place(x, count, -1);
}

static double max_row(const double *x, int64_t count, DType dtype) {
  return x[first_place(x, count, 1)];
}

static double min_row(const double *x, int64_t count, DType dtype) {
  return x[first_place(x, count, -1)];
}

static void reduce_evaluate(const Node *node, const Tensor *const *operands, Tensor *result) {
  static double (*const rules[OP_COUNT])(const double *x, int64_t count, DType dtype) = {
      [OP_REDUCE_SUM] = sum_row, [OP_REDUCE_MEAN] = mean_row, [OP_REDUCE_PROD] = prod_row,
      [OP_REDUCE_MAX] = max_row, [OP_REDUCE_MIN] = min_row,   [OP_ARGMAX] = argmax_row,
      [OP_ARGMIN] = argmin_row,
  };
  Type x = operands[0]->type;
  Split split = node_split(node);
  Arena *scratch = arena_create();
  double *rows = ARENA_ARRAY(scratch, double, split.kept_elements *split.reduced_elements);
  strided_pack(rows, operands[0]->data, x.shape, x.shape.rank, split.order);
  for (int64_t i = 0; i < split.kept_elements; i++)
    result->data[i] =
        rules[node->op](rows + i * split.reduced_elements, split.reduced_elements, x.dtype);
  arena_destroy(scratch);
}

/* One flop an element of the operand. */
static Cost reduce_cost(const Node *node) {
  return (Cost){.flops = (double)shape_elements(node->operands[0]->type.shape),
                .bytes = node_bytes(node)};
}

/* ---- gradients ---- */

/* dy repeated along the reduced axes. */
static Node *spread(const Maker *m, const Node *node, Node *dy) {
  Split split = node_split(node);
  return make_broadcast(m, dy, node->operands[0]->type.shape, split.order);
}

GRADIENT(sum, spread(m, y, dy))

static Node *mean_adjoint(const Maker *m, const Node *node, Node *dy) {
  double count = (double)node_split(node).reduced_elements;
  /* A mean over no elements exists only where there are no results either. */
  return spread(m, node, count > 0 ? times(m, dy, 1 / count) : dy);
}

GRADIENT(mean, mean_adjoint(m, y, dy))

/* x as [kept..., n]: the reduced axes last and joined. */
static Node *join_reduced(const Maker *m, const Node *node, Node *x) {
  Split split = node_split(node);
  Node *last = make_transpose(m, x, split.order);
  Shape joined = kept_shape(x->type.shape, &split);
  joined.dim[joined.rank++] = split.reduced_elements;
  return make_reshape(m, last, joined);
}

/* The inverse, to the operand's shape. */
static Node *part_reduced(const Maker *m, const Node *node, Node *joined) {
  Split split = node_split(node);
  Shape x = node->operands[0]->type.shape, ordered = {.rank = x.rank};
  int64_t inverse[MAX_RANK];
  for (int i = 0; i < x.rank; i++) {
    ordered.dim[i] = x.dim[split.order[i]];
    inverse[split.order[i]] = i;
  }
  return make_transpose(m, make_reshape(m, joined, ordered), inverse);
}

/* All of dy to the first extremum in row-major order. */
static Node *extremum_gradient(const Maker *m, Op arg, const Node *node, Node *dy) {
  if (node_ints(node, ATTR_AXES)->count == 0) return dy;
  Node *joined = join_reduced(m, node, node->operands[0]);
  int axis = joined->type.shape.rank - 1;
  if (shape_elements(joined->type.shape) == 0) return make_constant(m, node->operands[0]->type, 0);
  Node *index = make_arg(m, arg, joined, axis);
  return part_reduced(m, node, make_unpick(m, dy, index, axis, joined->type.shape));
}

GRADIENT(max, extremum_gradient(m, OP_ARGMAX, y, dy))
GRADIENT(min, extremum_gradient(m, OP_ARGMIN, y, dy))

/* x moved by `by` places along its last axis, toward the end or (`back`) the beginning; ones
 * enter. */
static Node *shift_ones(const Maker *m, Node *x, int64_t by, bool back) {
  Shape shape = x->type.shape;
  int axis = shape.rank - 1;
  int64_t low[MAX_RANK] = {0}, high[MAX_RANK] = {0}, step[MAX_RANK];
  for (int i = 0; i < shape.rank; i++) step[i] = 1;
  *(back ? &high[axis] : &low[axis]) = by;
  int64_t start = back ? by : 0, stop = shape.dim[axis] - (back ? 0 : by);
  return make_pad(m, make_range(m, x, axis, start, stop), low, high, step, 1);
}

/* For each element the product of all before it (or after it, `back`) along the last axis, by
 * doubling: log2 n multiplications of shifted copies. */
static Node *products_beside(const Maker *m, Node *x, bool back) {
  int64_t n = x->type.shape.dim[x->type.shape.rank - 1];
  Node *product = shift_ones(m, x, 1, back);
  for (int64_t covered = 1; covered < n - 1; covered *= 2)
    product = mul(m, product, shift_ones(m, product, covered, back));
  return product;
}

/* dy times the product of all other elements.  Without division, so it holds where elements are 0,
 * and so do its own derivatives. */
static Node *prod_adjoint(const Maker *m, const Node *node, Node *adjoint) {
  Node *dy = spread(m, node, adjoint);
  if (node_split(node).reduced_elements <= 1) return dy;
  Node *joined = join_reduced(m, node, node->operands[0]);
  Node *after = products_beside(m, joined, true);
  Node *others = mul(m, products_beside(m, joined, false), after);
  return mul(m, dy, part_reduced(m, node, others));
}

GRADIENT(prod, prod_adjoint(m, y, dy))

/* ---- pieces: axes of the result are those that stay; the others follow in their order ---- */

static int reduce_cut(const Node *node, int axis, int operand) {
  Split split = node_split(node);
  bool is_axis = axis < split.kept_count + split.reduced_count;
  bool joins = axis < split.kept_count || op_info(node->op)->class->join != OP_INPUT;
  return is_axis && joins ? (int)split.order[axis] : AXIS_UNCUT;
}

/* Nothing would tell which of the pieces has the extremum. */
static int arg_cut(const Node *node, int axis, int operand) {
  if (axis >= node->type.shape.rank) return AXIS_UNCUT;
  return axis + (axis >= (int)node_int(node, ATTR_AXIS));
}

/* ---- records ---- */

#define REDUCTION(name, short_name, infer_rule, lower_rule, join_op)                               \
  const OpClass op_class_##name = {.family = FAMILY_REDUCTION,                                     \
                                   .infer = infer_rule,                                            \
                                   .gradient = short_name##_gradient,                              \
                                   .evaluate = reduce_evaluate,                                    \
                                   .cost = reduce_cost,                                            \
                                   .lower = lower_rule,                                            \
                                   .cut = reduce_cut,                                              \
                                   .join = join_op};

REDUCTION(reduce_sum, sum, total_infer, lower_reduce, OP_ADD)
REDUCTION(reduce_mean, mean, mean_infer, lower_reduce_mean, OP_INPUT)
REDUCTION(reduce_max, max, extremum_infer, lower_reduce, OP_MAX)
REDUCTION(reduce_min, min, extremum_infer, lower_reduce, OP_MIN)
REDUCTION(reduce_prod, prod, total_infer, lower_reduce, OP_MUL)

#define ARG_REDUCTION(name)                                                                        \
  const OpClass op_class_##name = {.family = FAMILY_REDUCTION,                                     \
                                   .infer = arg_infer,                                             \
                                   .evaluate = reduce_evaluate,                                    \
                                   .cost = reduce_cost,                                            \
                                   .lower = lower_arg_reduce,                                      \
                                   .cut = arg_cut};

ARG_REDUCTION(argmax)
ARG_REDUCTION(argmin)
