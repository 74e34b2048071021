/* Movement: any type, any axes. */
#include "generate.h"

Node *grow_reshape(Generator *g) {
  Node *x = draw_node(g, KIND_ANY);
  if (!x) return NULL;
  int64_t left = shape_elements(x->type.shape);
  Shape shape = {.rank = 0};
  for (int64_t divisor = 1; divisor <= 9 && shape.rank < 4; divisor++)
    if (left > 0 && left % divisor == 0 && draw_chance(g, 40)) {
      shape.dim[shape.rank++] = divisor;
      left /= divisor;
    }
  if (left != 1 || draw_chance(g, 30)) shape.dim[shape.rank++] = left;
  return make_reshape(&g->maker, x, shape);
}

Node *grow_transpose(Generator *g) {
  Node *x = draw_node(g, KIND_ANY | KIND_AXES);
  if (!x) return NULL;
  int64_t permutation[MAX_RANK];
  draw_permutation(g, x->type.shape.rank, permutation);
  Attribute attribute = attr_make_ints(ATTR_PERMUTATION, x->type.shape.rank, permutation);
  return try_add(g, OP_TRANSPOSE, 1, &x, 1, &attribute);
}

Node *grow_broadcast(Generator *g) {
  Node *x = draw_node(g, KIND_ANY);
  if (!x || x->type.shape.rank > 4) return NULL;
  int64_t dim[MAX_RANK], axes[MAX_RANK];
  int rank = 0, added = 1 + (int)draw_below(g, 2);
  for (int i = 0; i <= x->type.shape.rank; i++) {
    while (added > 0 && (i == x->type.shape.rank || draw_chance(g, 40))) {
      dim[rank++] = draw_extent(g);
      added--;
    }
    if (i == x->type.shape.rank) break;
    axes[i] = rank;
    dim[rank++] = x->type.shape.dim[i];
  }
  Attribute attributes[] = {attr_make_ints(ATTR_SHAPE, rank, dim),
                            attr_make_ints(ATTR_AXES, x->type.shape.rank, axes)};
  return try_add(g, OP_BROADCAST, 1, &x, 2, attributes);
}

/* From any place in any direction; empty now and then. */
static void draw_range(Generator *g, int64_t extent, int64_t *start, int64_t *stop, int64_t *step) {
  *step = 1 + (draw_chance(g, 40) ? draw_below(g, 3) : 0);
  if (extent == 0 || draw_chance(g, 25)) {
    *start = 0;
    *stop = extent;
    return;
  }
  int64_t a = draw_below(g, extent), b = draw_below(g, extent), most = a > b ? a : b,
          least = a + b - most;
  bool is_down = draw_chance(g, 35);
  *start = is_down ? most : least;
  *stop = is_down ? least - 1 : most + 1;
  if (draw_below(g, 200) == 0) *stop = *start;
  if (is_down) *step = -*step;
}

Node *grow_slice(Generator *g) {
  Node *x = draw_node(g, KIND_ANY | KIND_AXES);
  if (!x) return NULL;
  int rank = x->type.shape.rank;
  int64_t start[MAX_RANK], stop[MAX_RANK], step[MAX_RANK];
  for (int i = 0; i < rank; i++) draw_range(g, x->type.shape.dim[i], &start[i], &stop[i], &step[i]);
  Attribute attributes[] = {attr_make_ints(ATTR_START, rank, start),
                            attr_make_ints(ATTR_STOP, rank, stop),
                            attr_make_ints(ATTR_STEP, rank, step)};
  return try_add(g, OP_SLICE, 1, &x, 3, attributes);
}

Node *grow_pad(Generator *g) {
  Node *x = draw_node(g, KIND_ANY | KIND_AXES);
  if (!x) return NULL;
  int rank = x->type.shape.rank;
  int64_t low[MAX_RANK], high[MAX_RANK], step[MAX_RANK];
  for (int i = 0; i < rank; i++) {
    low[i] = draw_chance(g, 50) ? draw_below(g, 4) : 0;
    high[i] = draw_chance(g, 50) ? draw_below(g, 3) : 0;
    step[i] = draw_chance(g, 25) ? 1 + draw_below(g, 3) : 1;
  }
  double value = draw_chance(g, 50)              ? 0
                 : dtype_is_float(x->type.dtype) ? draw_real(g, -2, 2)
                 : x->type.dtype == DTYPE_BOOL   ? 1
                                                 : (double)draw_below(g, 9);
  Attribute attributes[] = {
      attr_make_float(ATTR_VALUE, value), attr_make_ints(ATTR_STEP, rank, step),
      attr_make_ints(ATTR_LOW, rank, low), attr_make_ints(ATTR_HIGH, rank, high)};
  return try_add(g, OP_PAD, 1, &x, 4, attributes);
}

Node *grow_concat(Generator *g) {
  Node *parts[10], *x = draw_node(g, KIND_ANY | KIND_AXES);
  if (!x) return NULL;
  int axis = (int)draw_below(g, x->type.shape.rank);
  int count = draw_chance(g, 8) ? 9 : 1 + (int)draw_below(g, 4);
  for (int i = 0; i < count; i++) {
    Type type = x->type;
    if (draw_chance(g, 50)) type.shape.dim[axis] = draw_extent(g);
    parts[i] = draw_chance(g, 20) ? x : draw_like(g, type);
  }
  parts[draw_below(g, count)] = x;
  Attribute attribute = attr_make_int(ATTR_AXIS, axis);
  return try_add(g, OP_CONCAT, count, parts, 1, &attribute);
}
