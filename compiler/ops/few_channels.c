/* Convolutions to few channels, and their gradients.
 *
 * A vector, or the columns of a register tile, would hold the few channels of one place. But what a place of x gives to all
 * taps and channels is a row of 9 x 3 numbers, for 3 x 3 taps and three colours: one product of matrices, from which each
 * place of the result gathers its own ("col2im"),
 *
 *     p[k, t, n, i] = sum over c of w[k, c, t] x[n, c, i]          y[n, k, o] = sum over t of p[k, t, n, o + d t - low]
 *
 * The gradients multiply what the taps see of dy, which is copied for each ("im2col", Chellapilla et al., "High performance
 * convolutional neural networks for document processing", 2006),
 *
 *     q[t, k, n, i] = dy[n, k, i - d t + low]     dx[n, c, i] = sum over t, k of q[t, k, n, i] w[k, c, t]
 *                                                 dw[k, c, t] = sum over n, i of q[t, k, n, i] x[n, c, i]
 *
 * The adjoint in the input of a convolution that reads few channels, which a transposed convolution is, goes as y. With a
 * stride s its places have s remainders along each axis, each of which gathers taps of its own. */
#include "ops/few_channels.h"

#include <string.h>

#include "ops/op.h"
#include "ops/window.h"
#include "support/integers.h"

enum {
  MOST_SPATIAL = 2,
  MOST_STRIDE = 4,
  PLACES = 2 /* the first axis of places of x and y, after examples and channels */
};

typedef struct Few {
  int spatial;
  bool is_input;
  int64_t few;    /* channels */
  int64_t images; /* and axes: */
  int64_t taps[MOST_SPATIAL], stride[MOST_SPATIAL], dilation[MOST_SPATIAL], low[MOST_SPATIAL];
  int64_t seen[MOST_SPATIAL],
      results[MOST_SPATIAL]; /* places of what is read in shifts, and of what comes of it */
} Few;

static bool is_few(const Target *target, const Few *few, int64_t others) {
  return target->are_few_channels(few->few, others, extent_product(few->taps, few->spatial));
}

static bool are_alike(const Node *node) {
  DType dtype = node->type.dtype;
  bool is_wide = dtype == DTYPE_F32 || dtype == DTYPE_F64;
  for (int i = 0; i < 2; i++)
    is_wide = is_wide && node->operands[i]->type.dtype == dtype &&
              shape_elements(node->operands[i]->type.shape) > 0;
  return is_wide && shape_elements(node->type.shape) > 0;
}

/* Axes of a convolution whose weights have this shape; false: it has groups, or more axes. */
static bool find_axes(const Node *node, Shape w, Few *few) {
  if (node_int(node, ATTR_GROUPS) != 1 || w.rank - PLACES > MOST_SPATIAL || !are_alike(node) ||
      node_attribute(node, ATTR_PIECES))
    return false;
  few->spatial = w.rank - PLACES;
  for (int i = 0; i < few->spatial; i++) {
    few->taps[i] = w.dim[PLACES + i];
    few->stride[i] = node_ints(node, ATTR_STRIDE)->ints[i];
    few->dilation[i] = node_ints(node, ATTR_DILATION)->ints[i];
    few->low[i] = node_ints(node, ATTR_LOW)->ints[i];
  }
  return true;
}

static void find_places(Few *few, Shape seen, Shape results) {
  for (int i = 0; i < few->spatial; i++) {
    few->seen[i] = seen.dim[PLACES + i];
    few->results[i] = results.dim[PLACES + i];
  }
}

static bool is_strided(const Few *few) {
  for (int i = 0; i < few->spatial; i++)
    if (few->stride[i] > 1) return true;
  return false;
}

/* The result has few channels; false: it has more, or would not gain. */
static bool find_few(const Target *target, const Node *node, Few *few) {
  ConvShapes of;
  few->is_input = node->op == OP_CONV_INPUT;
  if (!conv_shapes(node, &of) || node->op == OP_CONV_WEIGHT || !find_axes(node, of.w, few))
    return false;
  Shape seen = few->is_input ? of.y : of.x, result = node->type.shape;
  few->few = result.dim[1];
  few->images = result.dim[0];
  find_places(few, seen, result);
  for (int i = 0; i < few->spatial; i++)
    if (few->stride[i] > 1 &&
        (!few->is_input || few->dilation[i] > 1 || few->stride[i] > MOST_STRIDE))
      return false;
  return is_few(target, few, seen.dim[1]);
}

/* [few, taps..., images, places...] */
static Node *make_parts(const Maker *maker, const Few *few, Node *const *operands) {
  ContractAxes axes = {.sum_count = 1, .sum_left = {few->is_input ? 0 : 1}, .sum_right = {1}};
  return make_contract(maker, operands[1], operands[0], &axes);
}

/* From place o of the results of a remainder to the place of the parts under a tap; false: it meets none. */
static bool find_shift(const Few *few, int axis, int64_t remainder, int64_t tap, int64_t *shift) {
  int64_t reach = tap * few->dilation[axis] - few->low[axis], s = few->stride[axis];
  if (!few->is_input) {
    *shift = reach;
    return true;
  }
  int64_t from = remainder - reach;
  if ((from % s + s) % s != 0) return false;
  *shift = from >= 0 ? from / s : -(-from / s);
  return true;
}

/* Elements from `start` to `stop` along each axis. */
typedef struct Cut {
  int64_t start[MAX_RANK], stop[MAX_RANK];
} Cut;

static Cut whole_of(const Node *node) {
  Cut cut = {{0}, {0}};
  for (int i = 0; i < node->type.shape.rank; i++) cut.stop[i] = node->type.shape.dim[i];
  return cut;
}

/* What `count` places see of an array's last axes, zeros where there is nothing; NULL: they see nothing at all. Of the axes
 * before them the cut is given. */
static Node *make_shifted(const Maker *maker, const Few *few, Node *array, Cut cut,
                          const int64_t *shift, const int64_t *count) {
  int64_t step[MAX_RANK], before[MAX_RANK] = {0}, after[MAX_RANK] = {0};
  int rank = array->type.shape.rank, first = rank - few->spatial;
  for (int i = 0; i < rank; i++) step[i] = 1;
  for (int i = 0; i < few->spatial; i++) {
    int64_t end = shift[i] + count[i];
    cut.start[first + i] = greatest(shift[i], 0);
    cut.stop[first + i] = least(end, few->seen[i]);
    if (cut.start[first + i] >= cut.stop[first + i]) return NULL;
    before[first + i] = greatest(-shift[i], 0);
    after[first + i] = greatest(end - few->seen[i], 0);
  }
  Node *seen = make_slice(maker, array, cut.start, cut.stop, step);
  return make_pad(maker, seen, before, after, step, 0);
}

static Node *make_zeros(const Maker *maker, const Few *few, DType dtype, const int64_t *count) {
  Type type = {.dtype = dtype, .shape = {.rank = 2 + few->spatial, .dim = {few->few, few->images}}};
  for (int i = 0; i < few->spatial; i++) type.shape.dim[2 + i] = count[i];
  return make_constant(maker, type, 0);
}

/* The parts of one tap: [few, images, results...]. */
static Node *make_seen(const Maker *maker, const Few *few, Node *parts, const int64_t *tap,
                       const int64_t *shift, const int64_t *count) {
  Cut cut = whole_of(parts);
  for (int i = 0; i < few->spatial; i++) cut.start[1 + i] = tap[i], cut.stop[1 + i] = tap[i] + 1;
  Node *shifted = make_shifted(maker, few, parts, cut, shift, count);
  Shape shape = {.rank = 2 + few->spatial, .dim = {few->few, few->images}};
  for (int i = 0; i < few->spatial; i++) shape.dim[2 + i] = count[i];
  return shifted ? make_reshape(maker, shifted, shape) : NULL;
}

/* The taps' places, of so many, the last axis the fastest. */
static void find_tap(const Few *few, int64_t number, int64_t tap[MOST_SPATIAL]) {
  for (int i = few->spatial - 1; i >= 0; i--) {
    tap[i] = number % few->taps[i];
    number /= few->taps[i];
  }
}

/* The results of one remainder by the strides: [few, images, count...]. */
static Node *make_results(const Maker *maker, const Few *few, Node *parts, const int64_t *remainder,
                          const int64_t *count) {
  Node *sum = NULL;
  for (int64_t number = 0; number < extent_product(few->taps, few->spatial); number++) {
    int64_t tap[MOST_SPATIAL], shift[MOST_SPATIAL];
    find_tap(few, number, tap);
    bool is_met = true;
    for (int i = 0; i < few->spatial; i++)
      is_met = find_shift(few, i, remainder[i], tap[i], &shift[i]) && is_met;
    Node *seen = is_met ? make_seen(maker, few, parts, tap, shift, count) : NULL;
    if (seen) sum = sum ? make_add(maker, sum, seen) : seen;
  }
  return sum ? sum : make_zeros(maker, few, parts->type.dtype, count);
}

/* The results of all remainders, from axis `axis` of places on: [few, images, count..., count, s, ...]. */
static Node *make_remainders(const Maker *maker, const Few *few, Node *parts, int axis,
                             int64_t *remainder, const int64_t *count) {
  if (axis == few->spatial) return make_results(maker, few, parts, remainder, count);
  Node *pieces[MOST_STRIDE];
  for (int64_t r = 0; r < few->stride[axis]; r++) {
    remainder[axis] = r;
    Node *piece = make_remainders(maker, few, parts, axis + 1, remainder, count);
    Shape shape = piece->type.shape;
    int at = 3 + axis; /* after its own places */
    for (int i = shape.rank++; i > at; i--) shape.dim[i] = shape.dim[i - 1];
    shape.dim[at] = 1;
    pieces[r] = make_reshape(maker, piece, shape);
  }
  return make_concat(maker, (int)few->stride[axis], pieces, 3 + axis);
}

static Node *make_few(const Maker *maker, const Few *few, Node *const *operands) {
  int64_t count[MOST_SPATIAL], remainder[MOST_SPATIAL] = {0};
  Shape whole = {.rank = 2 + few->spatial, .dim = {few->few, few->images}};
  for (int i = 0; i < few->spatial; i++) {
    int64_t stride = few->is_input ? few->stride[i] : 1;
    count[i] = divide_up(few->results[i], stride);
    whole.dim[2 + i] = count[i] * stride;
  }
  Node *parts = make_parts(maker, few, operands);
  Node *made = few->is_input ? make_remainders(maker, few, parts, 0, remainder, count)
                             : make_results(maker, few, parts, remainder, count);
  made = make_reshape(maker, made, whole);
  for (int i = 0; i < few->spatial; i++)
    if (whole.dim[2 + i] > few->results[i])
      made = make_range(maker, made, 2 + i, 0, few->results[i]);
  return make_transpose(maker, made, (const int64_t[]){1, 0, 2, 3});
}

/* ---- gradients of convolutions to few channels ---- */

static bool find_gradient(const Target *target, const Node *node, Few *few) {
  ConvShapes of;
  if (!conv_shapes(node, &of) || node->op == OP_CONV || !find_axes(node, of.w, few) ||
      is_strided(few))
    return false;
  few->few = of.y.dim[1];
  few->images = of.y.dim[0];
  find_places(few, of.y, of.x);
  return is_few(target, few, of.x.dim[1]);
}

/* What the taps see of dy: [taps, few, images, places of x...]. */
static Node *make_windows(const Maker *maker, const Few *few, Node *dy) {
  int taps = (int)extent_product(few->taps, few->spatial);
  Node **seen = ARENA_ARRAY(maker->graph->arena, Node *, taps);
  Node *planes = make_transpose(maker, dy, (const int64_t[]){1, 0, 2, 3});
  for (int number = 0; number < taps; number++) {
    int64_t tap[MOST_SPATIAL], shift[MOST_SPATIAL];
    find_tap(few, number, tap);
    for (int i = 0; i < few->spatial; i++) shift[i] = few->low[i] - tap[i] * few->dilation[i];
    Node *shifted = make_shifted(maker, few, planes, whole_of(planes), shift, few->results);
    if (!shifted) shifted = make_zeros(maker, few, dy->type.dtype, few->results);
    Shape shape = shifted->type.shape;
    for (int i = shape.rank++; i > 0; i--) shape.dim[i] = shape.dim[i - 1];
    shape.dim[0] = 1;
    seen[number] = make_reshape(maker, shifted, shape);
  }
  return make_concat(maker, taps, seen, 0);
}

static void make_key(const Few *few, int64_t key[FEW_KEY]) {
  for (int i = 0; i < FEW_KEY; i++) key[i] = 0;
  for (int i = 0; i < few->spatial; i++) {
    const int64_t own[] = {few->taps[i], few->dilation[i], few->low[i], few->results[i]};
    for (int j = 0; j < 4; j++) key[4 * i + j] = own[j];
  }
}

/* Both gradients read the same. */
static Node *find_windows(const Maker *maker, const Few *few, Node *dy, FewWindowsList *known) {
  FewWindows made = {.dy = dy};
  make_key(few, made.key);
  for (int i = 0; i < known->count; i++)
    if (known->items[i].dy == dy && memcmp(known->items[i].key, made.key, sizeof made.key) == 0)
      return known->items[i].windows;
  made.windows = make_windows(maker, few, dy);
  vec_push(maker->graph->arena, known, made);
  return made.windows;
}

/* dx [n, c, places...] */
static Node *make_input_gradient(const Maker *maker, const Few *few, Node *windows, Node *w) {
  Shape taps = {.rank = 3, .dim = {few->few, w->type.shape.dim[1]}};
  taps.dim[2] = extent_product(few->taps, few->spatial);
  ContractAxes axes = {.sum_count = 2, .sum_left = {0, 1}, .sum_right = {2, 0}};
  Node *made = make_contract(maker, windows, make_reshape(maker, w, taps), &axes);
  int last = 1 + few->spatial;
  int64_t order[2 + MOST_SPATIAL] = {0, last};
  for (int i = 0; i < few->spatial; i++) order[2 + i] = 1 + i;
  return make_transpose(maker, made, order);
}

/* dw [few, c, taps...] */
static Node *make_weight_gradient(const Maker *maker, const Few *few, Node *x, Node *windows,
                                  Shape w) {
  ContractAxes axes = {.sum_count = 1 + few->spatial, .sum_left = {2}, .sum_right = {0}};
  for (int i = 0; i < few->spatial; i++)
    axes.sum_left[1 + i] = 3 + i, axes.sum_right[1 + i] = PLACES + i;
  Node *made = make_contract(maker, windows, x, &axes);
  return make_reshape(maker, make_transpose(maker, made, (const int64_t[]){1, 2, 0}), w);
}

Node *make_for_few_channels(const Maker *maker, const Target *target, const Node *node,
                            Node *const *operands, FewWindowsList *known) {
  Few few = {0};
  if (target->are_few_channels == NULL) return NULL;
  if (find_few(target, node, &few)) return make_few(maker, &few, operands);
  few = (Few){0};
  if (!find_gradient(target, node, &few)) return NULL;
  bool is_weight = node->op == OP_CONV_WEIGHT;
  Node *windows = find_windows(maker, &few, operands[is_weight], known);
  return is_weight ? make_weight_gradient(maker, &few, operands[0], windows, node->type.shape)
                   : make_input_gradient(maker, &few, windows, operands[1]);
}
