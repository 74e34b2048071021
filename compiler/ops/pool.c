/* Pooling: the greatest element or the sum of each window over [n, c, spatial...], and the
 * adjoints.
 *
 *   x [n, c, in...]   y [n, c, out...]   windows as in conv.c, `kernel` their extents
 *
 * Padding (never negative) counts as -inf for the maximum and 0 for the sum; a maximum all of
 * whose window is padding is refused. The first maximum in row-major order of the window counts;
 * NaN is greater than all. An average is a sum divided by what the program says.
 *
 * max_pool_grad(x, dy) sends dy to the first maximum, max_pool_pick(x, v) reads v there; they are
 * adjoint to each other in their second operand and locally constant in x.
 *
 * max_place(x) says which element of the window that is, counted in row-major order; with it
 * max_unpool(place, dy) is max_pool_grad(x, dy). Both are made after differentiation (passes/remember.c):
 * so the gradient reads a byte a window, and what was pooled need not stay for it. */
#include "ops/elementwise.h"
#include "ops/lower.h"
#include "ops/window.h"
#include "support/panic.h"

/* ---- type rules ---- */

static bool pool_shape(Inference *in, Shape x, bool is_max, Shape *y) {
  const Attribute *kernel = infer_attribute(in, ATTR_KERNEL);
  if (!kernel) return false;
  if (kernel->count < 1 || x.rank != kernel->count + 2)
    return infer_fail(in, "x has shape %s where [n, c] and %d spatial axes are needed",
                      shape_text(in->arena, x), kernel->count);
  Window window;
  if (!window_infer(in, (Sliding){kernel->count, x.dim + 2, kernel->ints, 0}, &window))
    return false;
  int axis;
  int64_t position;
  if (is_max && !window_touches_input(&window, &axis, &position))
    return infer_fail(in, "window %lld along spatial axis %d lies in the padding",
                      (long long)position, axis);
  *y = (Shape){.rank = x.rank, .dim = {x.dim[0], x.dim[1]}};
  for (int i = 0; i < window.rank; i++) y->dim[2 + i] = window.out[i];
  if (shape_is_representable(*y)) return true;
  return infer_fail(in, "the result has too many elements");
}

static bool pool_infer(Inference *in, bool is_max) {
  in->type.dtype = in->node->operands[0]->type.dtype;
  return infer_dtype(in, 0, DTYPES_FLOAT) &&
         pool_shape(in, in->node->operands[0]->type.shape, is_max, &in->type.shape);
}

static bool max_pool_infer(Inference *in) { return pool_infer(in, true); }

static bool sum_pool_infer(Inference *in) { return pool_infer(in, false); }

/* `given` must be what pooling x gives. */
static bool pooled_fits(Inference *in, Shape x, Shape given, bool is_max) {
  Shape y;
  if (!pool_shape(in, x, is_max, &y)) return false;
  if (shape_equal(y, given)) return true;
  return infer_fail(in, "dy has shape %s but pooling %s gives %s", shape_text(in->arena, given),
                    shape_text(in->arena, x), shape_text(in->arena, y));
}

static bool max_pool_grad_infer(Inference *in) {
  in->type = in->node->operands[0]->type;
  return infer_same(in, false) && infer_dtype(in, 0, DTYPES_FLOAT) &&
         pooled_fits(in, in->type.shape, in->node->operands[1]->type.shape, true);
}

static bool max_pool_pick_infer(Inference *in) {
  if (!infer_same(in, true)) return false;
  return pool_infer(in, true);
}

int64_t window_tap_count(const Node *node) {
  const Attribute *kernel = node_ints(node, ATTR_KERNEL);
  double taps = 1;
  for (int i = 0; i < kernel->count; i++) taps *= (double)kernel->ints[i];
  return taps > MAX_ELEMENTS ? MAX_ELEMENTS : (int64_t)taps;
}

static bool max_place_infer(Inference *in) {
  if (!pool_infer(in, true)) return false;
  in->type.dtype = DTYPE_U8;
  int64_t taps = window_tap_count(in->node);
  return taps <= MOST_PLACES || infer_fail(in, "a window has %lld elements where %d is the most",
                                           (long long)taps, MOST_PLACES);
}

static bool max_unpool_infer(Inference *in) {
  in->type.dtype = in->node->operands[1]->type.dtype;
  Shape places = in->node->operands[0]->type.shape, dy = in->node->operands[1]->type.shape;
  if (!infer_dtype(in, 0, 1 << DTYPE_U8) || !infer_dtype(in, 1, DTYPES_FLOAT)) return false;
  if (!shape_equal(places, dy))
    return infer_fail(in, "places have shape %s and dy %s", shape_text(in->arena, places),
                      shape_text(in->arena, dy));
  return infer_shape(in, &in->type.shape) && pooled_fits(in, in->type.shape, dy, true);
}

static bool sum_pool_grad_infer(Inference *in) {
  in->type.dtype = in->node->operands[0]->type.dtype;
  if (!infer_dtype(in, 0, DTYPES_FLOAT) || !infer_shape(in, &in->type.shape)) return false;
  return pooled_fits(in, in->type.shape, in->node->operands[0]->type.shape, false);
}

/* ---- evaluation: a loop over planes (image and channel), then taps, then runs ---- */

static WindowTaps pool_taps(Arena *scratch, const Node *node, Shape x) {
  Window window = window_read(node, x.rank - 2, x.dim + 2, node_ints(node, ATTR_KERNEL)->ints);
  return window_taps(scratch, &window);
}

/* For each output of a plane, the flat position of its first maximum; and its tap, if asked for. */
static void find_maxima(const WindowTaps *taps, const double *x, int64_t *where, double *tap) {
  for (int64_t o = 0; o < taps->out_size; o++) where[o] = -1;
  for (int64_t t = 0; t < taps->count; t++)
    for (int r = 0; r < taps->taps[t].run_count; r++) {
      WindowRun run = taps->taps[t].runs[r];
      for (int64_t i = 0; i < run.length; i++) {
        int64_t *best = where + run.out + i, at = run.in + i * taps->step;
        bool wins = *best < 0 || x[at] > x[*best] || (x[at] != x[at] && x[*best] == x[*best]);
        if (wins) *best = at;
        if (wins && tap) tap[run.out + i] = (double)t;
      }
    }
}

/* One plane of x with the places of its maxima. */
typedef void (*MaximaRule)(int64_t count, const int64_t *where, const double *other,
                           double *result);

/* `other` is taken from operand `operand`, which has the shape of x or of y, as `result` has. */
static void for_maxima(const Node *node, const Tensor *x, const Tensor *other, Tensor *result,
                       MaximaRule rule) {
  Arena *scratch = arena_create();
  Shape shape = x->type.shape;
  WindowTaps taps = pool_taps(scratch, node, shape);
  int64_t *where = ARENA_ARRAY(scratch, int64_t, taps.out_size);
  int64_t planes = shape.dim[0] * shape.dim[1];
  int64_t other_size = planes ? shape_elements(other->type.shape) / planes : 0;
  int64_t result_size = planes ? shape_elements(result->type.shape) / planes : 0;
  for (int64_t p = 0; p < planes; p++) {
    find_maxima(&taps, x->data + p * taps.in_size, where, NULL);
    rule(taps.out_size, where, other->data + p * other_size, result->data + p * result_size);
  }
  arena_destroy(scratch);
}

static void pick_maxima(int64_t count, const int64_t *where, const double *v, double *result) {
  for (int64_t o = 0; o < count; o++) result[o] = v[where[o]];
}

static void add_to_maxima(int64_t count, const int64_t *where, const double *dy, double *result) {
  for (int64_t o = 0; o < count; o++) result[where[o]] += dy[o];
}

/* max_pool picks x itself. */
static void max_pool_pick_evaluate(const Node *node, const Tensor *const *operands,
                                   Tensor *result) {
  for_maxima(node, operands[0], operands[node->operand_count - 1], result, pick_maxima);
}

#define max_pool_evaluate max_pool_pick_evaluate

static void max_pool_grad_evaluate(const Node *node, const Tensor *const *operands,
                                   Tensor *result) {
  tensor_fill(result, 0);
  for_maxima(node, operands[0], operands[1], result, add_to_maxima);
}

static void max_place_evaluate(const Node *node, const Tensor *const *operands, Tensor *result) {
  Arena *scratch = arena_create();
  Shape shape = operands[0]->type.shape;
  WindowTaps taps = pool_taps(scratch, node, shape);
  int64_t *where = ARENA_ARRAY(scratch, int64_t, taps.out_size);
  for (int64_t p = 0; p < shape.dim[0] * shape.dim[1]; p++)
    find_maxima(&taps, operands[0]->data + p * taps.in_size, where,
                result->data + p * taps.out_size);
  arena_destroy(scratch);
}

/* In the order in which max_pool_grad adds up. A place that no window has gets nothing. */
static void max_unpool_evaluate(const Node *node, const Tensor *const *operands, Tensor *result) {
  Arena *scratch = arena_create();
  Shape shape = node->type.shape;
  WindowTaps taps = pool_taps(scratch, node, shape);
  int64_t *where = ARENA_ARRAY(scratch, int64_t, taps.out_size);
  tensor_fill(result, 0);
  for (int64_t p = 0; p < shape.dim[0] * shape.dim[1]; p++) {
    const double *place = operands[0]->data + p * taps.out_size;
    const double *dy = operands[1]->data + p * taps.out_size;
    for (int64_t o = 0; o < taps.out_size; o++) where[o] = -1;
    for (int64_t t = 0; t < taps.count; t++)
      for (int r = 0; r < taps.taps[t].run_count; r++)
        for (int64_t i = 0; i < taps.taps[t].runs[r].length; i++) {
          WindowRun run = taps.taps[t].runs[r];
          if (place[run.out + i] == (double)t) where[run.out + i] = run.in + i * taps.step;
        }
    for (int64_t o = 0; o < taps.out_size; o++)
      if (where[o] >= 0) result->data[p * taps.in_size + where[o]] += dy[o];
  }
  arena_destroy(scratch);
}

/* y += x over the windows, or (`back`) x += y. */
static void sum_windows(const Node *node, Shape shape, double *x, double *y, bool back) {
  Arena *scratch = arena_create();
  WindowTaps taps = pool_taps(scratch, node, shape);
  for (int64_t p = 0; p < shape.dim[0] * shape.dim[1]; p++, x += taps.in_size, y += taps.out_size)
    for (int64_t t = 0; t < taps.count; t++)
      for (int r = 0; r < taps.taps[t].run_count; r++) {
        WindowRun run = taps.taps[t].runs[r];
        for (int64_t i = 0; i < run.length; i++) {
          if (back) x[run.in + i * taps.step] += y[run.out + i];
          else y[run.out + i] += x[run.in + i * taps.step];
        }
      }
  arena_destroy(scratch);
}

static void sum_pool_evaluate(const Node *node, const Tensor *const *operands, Tensor *result) {
  tensor_fill(result, 0);
  sum_windows(node, operands[0]->type.shape, operands[0]->data, result->data, false);
}

static void sum_pool_grad_evaluate(const Node *node, const Tensor *const *operands,
                                   Tensor *result) {
  tensor_fill(result, 0);
  sum_windows(node, result->type.shape, result->data, operands[0]->data, true);
}

/* One flop an element of each window. */
static Cost pool_cost(const Node *node) {
  double taps = (double)window_tap_count(node);
  const Node *last = node->operands[node->operand_count - 1];
  bool is_adjoint =
      node->op == OP_MAX_POOL_GRAD || node->op == OP_SUM_POOL_GRAD || node->op == OP_MAX_UNPOOL;
  return (Cost){.flops = taps * (double)shape_elements((is_adjoint ? last : node)->type.shape),
                .bytes = node_bytes(node)};
}

/* ---- gradients ---- */

GRADIENT(max_pool, make_like(m, OP_MAX_POOL_GRAD, x, dy, y, NULL))
GRADIENT(max_pool_grad, operand == 0 ? NULL : make_like(m, OP_MAX_POOL_PICK, x, dy, y, NULL))
GRADIENT(max_pool_pick, operand == 0 ? NULL : make_like(m, OP_MAX_POOL_GRAD, x, dy, y, NULL))
GRADIENT(sum_pool, make_like(m, OP_SUM_POOL_GRAD, dy, NULL, y, &x->type.shape))
GRADIENT(sum_pool_grad, make_like(m, OP_SUM_POOL, dy, NULL, y, NULL))

/* Pieces along the examples or the channels. */
static int pool_cut(const Node *node, int axis, int operand) {
  return axis < 2 ? axis : AXIS_UNCUT;
}

#define POOLING(name, mix_rule)                                                                    \
  const OpClass op_class_##name = {.family = FAMILY_POOLING,                                       \
                                   .infer = name##_infer,                                          \
                                   .gradient = name##_gradient,                                    \
                                   .evaluate = name##_evaluate,                                    \
                                   .cost = pool_cost,                                              \
                                   .lower = lower_##name,                                          \
                                   .cut = pool_cut,                                                \
                                   .mix = mix_rule};

POOLING(max_pool, MIX_FOLLOW)
POOLING(max_pool_grad, MIX_FOLLOW)
POOLING(max_pool_pick, MIX_FOLLOW)
POOLING(sum_pool, MIX_WIDE)
POOLING(sum_pool_grad, MIX_WIDE)

const OpClass op_class_max_place = {.family = FAMILY_POOLING,
                                    .infer = max_place_infer,
                                    .evaluate = max_place_evaluate,
                                    .cost = pool_cost,
                                    .lower = lower_max_place,
                                    .cut = pool_cut,
                                    .is_note = true,
                                    .reads_twice = true};
const OpClass op_class_max_unpool = {.family = FAMILY_POOLING,
                                     .infer = max_unpool_infer,
                                     .evaluate = max_unpool_evaluate,
                                     .cost = pool_cost,
                                     .lower = lower_max_unpool,
                                     .cut = pool_cut};
