/* Convolutions, pooling and their adjoints, with 1 to 3 spatial axes. */
#include "generate.h"

enum { MOST_SPATIAL = 3 };

typedef struct Geometry {
  int spatial;
  int64_t in[MOST_SPATIAL], kernel[MOST_SPATIAL], stride[MOST_SPATIAL], low[MOST_SPATIAL];
  int64_t high[MOST_SPATIAL], dilation[MOST_SPATIAL], out[MOST_SPATIAL];
} Geometry;

/* `crops`: negative padding too. */
static Geometry draw_geometry(Generator *g, bool crops) {
  static const int64_t most_in[] = {17, 9, 5};
  Geometry w = {.spatial = 1 + (int)draw_below(g, MOST_SPATIAL)};
  for (int i = 0; i < w.spatial; i++) {
    w.in[i] = 1 + draw_below(g, most_in[w.spatial - 1]);
    w.kernel[i] = 1 + draw_below(g, w.spatial == 3 ? 3 : 4);
    w.stride[i] = draw_chance(g, 55) ? 1 : 1 + draw_below(g, 3);
    w.dilation[i] = draw_chance(g, 70) ? 1 : 1 + draw_below(g, 3);
    w.low[i] = draw_chance(g, 40) ? 0 : draw_below(g, w.kernel[i] + 1);
    w.high[i] = draw_chance(g, 40) ? 0 : draw_below(g, w.kernel[i] + 1);
    if (crops && draw_chance(g, 8)) w.low[i] = -1;
    if (crops && draw_chance(g, 8)) w.high[i] = -1;
    int64_t reach = w.dilation[i] * (w.kernel[i] - 1) + 1;
    int64_t padded = w.in[i] + w.low[i] + w.high[i];
    if (padded < reach) w.high[i] += reach - padded;
    w.out[i] = (w.in[i] + w.low[i] + w.high[i] - reach) / w.stride[i] + 1;
  }
  return w;
}

/* [first, second, axes...] */
static Shape shape_of(const Geometry *w, int64_t first, int64_t second, const int64_t *axes) {
  Shape shape = {.rank = 2 + w->spatial, .dim = {first, second}};
  for (int i = 0; i < w->spatial; i++) shape.dim[2 + i] = axes[i];
  return shape;
}

static int geometry_attributes(const Geometry *w, Attribute *attributes) {
  attributes[0] = attr_make_ints(ATTR_STRIDE, w->spatial, w->stride);
  attributes[1] = attr_make_ints(ATTR_LOW, w->spatial, w->low);
  attributes[2] = attr_make_ints(ATTR_HIGH, w->spatial, w->high);
  attributes[3] = attr_make_ints(ATTR_DILATION, w->spatial, w->dilation);
  return 4;
}

static Node *draw_real_like(Generator *g, Shape shape) {
  return shape_elements(shape) > 2500 ? NULL : draw_like(g, type_make(g->real, shape));
}

Node *grow_conv(Generator *g) {
  Geometry w = draw_geometry(g, true);
  int64_t n = 1 + draw_below(g, 3), groups = 1, c = 1 + draw_below(g, 5), k = 1 + draw_below(g, 6);
  if (draw_chance(g, 35)) groups = 2 + draw_below(g, 3);
  if (groups > 1 && draw_chance(g, 50)) c = 1; /* depthwise, with k channels each */
  Shape x = shape_of(&w, n, c * groups, w.in), y = shape_of(&w, n, k * groups, w.out);
  Shape weights = shape_of(&w, k * groups, c, w.kernel);
  Attribute attributes[6];
  int count = geometry_attributes(&w, attributes);
  attributes[count++] = attr_make_int(ATTR_GROUPS, groups);
  Op op = OP_CONV;
  Shape left = x, right = weights;
  int kind = (int)draw_below(g, 5);
  if (kind == 3) {
    op = OP_CONV_INPUT;
    left = y;
    attributes[count++] = attr_make_ints(ATTR_SHAPE, x.rank, x.dim);
  } else if (kind == 4) {
    op = OP_CONV_WEIGHT;
    right = y;
    attributes[count++] = attr_make_ints(ATTR_SHAPE, weights.rank, weights.dim);
  }
  Node *a = draw_real_like(g, left), *b = a ? draw_real_like(g, right) : NULL;
  return b ? try_add(g, op, 2, (Node *[]){a, b}, count, attributes) : NULL;
}

Node *grow_pool(Generator *g) {
  static const Op ops[] = {OP_MAX_POOL, OP_MAX_POOL_GRAD, OP_MAX_POOL_PICK, OP_SUM_POOL, OP_SUM_POOL_GRAD};
  Op op = ops[draw_below(g, 5)];
  Geometry w = draw_geometry(g, false);
  int64_t n = 1 + draw_below(g, 3), c = 1 + draw_below(g, 6);
  Shape x = shape_of(&w, n, c, w.in), y = shape_of(&w, n, c, w.out);
  Attribute attributes[6];
  int count = geometry_attributes(&w, attributes);
  attributes[count++] = attr_make_ints(ATTR_KERNEL, w.spatial, w.kernel);
  if (op == OP_SUM_POOL_GRAD) attributes[count++] = attr_make_ints(ATTR_SHAPE, x.rank, x.dim);
  Node *a = draw_real_like(g, op == OP_SUM_POOL_GRAD ? y : x);
  if (!a) return NULL;
  if (op != OP_MAX_POOL_GRAD && op != OP_MAX_POOL_PICK) return try_add(g, op, 1, &a, count, attributes);
  Node *b = draw_real_like(g, op == OP_MAX_POOL_GRAD ? y : x);
  return b ? try_add(g, op, 2, (Node *[]){a, b}, count, attributes) : NULL;
}
