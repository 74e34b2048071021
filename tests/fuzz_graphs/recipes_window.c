/* Convolutions, pooling and their adjoints, with 1 to 3 spatial axes. */
#include "generate.h"

enum { MOST_SPATIAL = 3 };

typedef struct Geometry {
  int spatial;
  int64_t in[MOST_SPATIAL], kernel[MOST_SPATIAL], stride[MOST_SPATIAL], low[MOST_SPATIAL];
  int64_t high[MOST_SPATIAL], dilation[MOST_SPATIAL], out[MOST_SPATIAL];
} Geometry;

/* Of a tensor [n, c, spatial...] that exists, or one to be made. `crops`: negative padding too. */
static Geometry draw_geometry(Generator *g, const Node *x, bool crops) {
  static const int64_t most_in[] = {17, 9, 5}, most_in_large[] = {200, 28, 9};
  Geometry w = {.spatial = x ? x->type.shape.rank - 2 : 1 + (int)draw_below(g, MOST_SPATIAL)};
  for (int i = 0; i < w.spatial; i++) {
    int64_t most = (g->is_large ? most_in_large : most_in)[w.spatial - 1];
    w.in[i] = x ? x->type.shape.dim[2 + i] : 1 + draw_below(g, most);
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

/* A node of the pool that is [n, c, spatial...], now and then: so that windows follow windows. */
static Node *draw_image(Generator *g) {
  if (!draw_chance(g, g->is_large ? 70 : 40)) return NULL;
  Node *x = draw_node(g, KIND_FLOAT | KIND_AXES | KIND_ELEMENTS);
  return x && x->type.shape.rank >= 3 && x->type.shape.rank <= 2 + MOST_SPATIAL ? x : NULL;
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
  return shape_elements(shape) > g->sizes->operand ? NULL : draw_like(g, type_make(g->real, shape));
}

typedef struct Channels {
  int64_t n, groups, c, k; /* c and k of each group */
} Channels;

static Channels draw_channels(Generator *g, const Node *image) {
  bool is_large = g->is_large;
  Channels it = {.n = 1 + draw_below(g, is_large ? 16 : 3), .groups = 1};
  it.c = 1 + draw_below(g, is_large ? 20 : 5);
  it.k = 1 + draw_below(g, is_large ? 40 : 6);
  if (draw_chance(g, 35)) it.groups = 2 + draw_below(g, 3);
  if (it.groups > 1 && draw_chance(g, 50)) it.c = 1; /* depthwise, with k channels each */
  if (!image) return it;
  it.n = image->type.shape.dim[0];
  int64_t c = image->type.shape.dim[1];
  if (c % it.groups != 0 || draw_chance(g, 60)) it.groups = draw_chance(g, 80) ? 1 : c;
  it.c = c / it.groups;
  if (it.groups * it.k > 64) it.k = 1;
  return it;
}

static Node *with_bias(Generator *g, Node *y) {
  Node *bias = leaf_param(g, type_make(y->type.dtype, shape_make(1, &y->type.shape.dim[1])));
  int64_t axis = 1;
  Node *sum =
      make_binary(&g->maker, OP_ADD, y, make_broadcast(&g->maker, bias, y->type.shape, &axis));
  return draw_chance(g, 50) ? make_unary(&g->maker, OP_TANH, sum) : sum;
}

Node *grow_conv(Generator *g) {
  Node *image = draw_image(g);
  Geometry w = draw_geometry(g, image, true);
  Channels it = draw_channels(g, image);
  Shape x = shape_of(&w, it.n, it.c * it.groups, w.in);
  Shape y = shape_of(&w, it.n, it.k * it.groups, w.out);
  Shape weights = shape_of(&w, it.k * it.groups, it.c, w.kernel);
  int64_t rows = it.k * it.groups > 0 ? it.k * it.groups : 1;
  if (shape_elements(y) * (shape_elements(weights) / rows) > g->sizes->products) return NULL;
  Attribute attributes[6];
  int count = geometry_attributes(&w, attributes);
  attributes[count++] = attr_make_int(ATTR_GROUPS, it.groups);
  Op op = OP_CONV;
  Shape left = x, right = weights;
  int kind = (int)draw_below(g, 5);
  if (kind == 3 && !image) {
    op = OP_CONV_INPUT;
    left = y;
    attributes[count++] = attr_make_ints(ATTR_SHAPE, x.rank, x.dim);
  } else if (kind == 4) {
    op = OP_CONV_WEIGHT;
    right = y;
    attributes[count++] = attr_make_ints(ATTR_SHAPE, weights.rank, weights.dim);
  }
  Node *a = image ? image : draw_real_like(g, left), *b = NULL;
  if (a && op == OP_CONV && draw_chance(g, 50) && shape_elements(right) <= g->sizes->operand)
    b = leaf_param(g, type_make(a->type.dtype, right));
  else if (a && a->type.dtype == g->real) b = draw_real_like(g, right);
  Node *result = b ? try_add(g, op, 2, (Node *[]){a, b}, count, attributes) : NULL;
  return result && op == OP_CONV && draw_chance(g, 40) ? with_bias(g, result) : result;
}

Node *grow_pool(Generator *g) {
  static const Op ops[] = {OP_MAX_POOL,   OP_MAX_POOL_GRAD, OP_MAX_POOL_PICK,
                           OP_MAX_UNPOOL, OP_SUM_POOL,      OP_SUM_POOL_GRAD};
  Op op = ops[draw_below(g, 6)];
  Node *image = op == OP_SUM_POOL_GRAD ? NULL : draw_image(g);
  Geometry w = draw_geometry(g, image, false);
  int64_t n = 1 + draw_below(g, g->is_large ? 8 : 3), c = 1 + draw_below(g, g->is_large ? 16 : 6);
  if (image) n = image->type.shape.dim[0], c = image->type.shape.dim[1];
  Shape x = shape_of(&w, n, c, w.in), y = shape_of(&w, n, c, w.out);
  Attribute attributes[6];
  int count = geometry_attributes(&w, attributes);
  attributes[count++] = attr_make_ints(ATTR_KERNEL, w.spatial, w.kernel);
  if (op == OP_SUM_POOL_GRAD) attributes[count++] = attr_make_ints(ATTR_SHAPE, x.rank, x.dim);
  Node *a = image ? image : draw_real_like(g, op == OP_SUM_POOL_GRAD ? y : x);
  if (!a) return NULL;
  if (op == OP_MAX_UNPOOL) { /* by the places of the maxima of `a` */
    Node *dy = a->type.dtype == g->real ? draw_real_like(g, y) : NULL;
    Node *places = dy ? try_add(g, OP_MAX_PLACE, 1, &a, count, attributes) : NULL;
    attributes[count++] = attr_make_ints(ATTR_SHAPE, x.rank, x.dim);
    return places ? try_add(g, op, 2, (Node *[]){places, dy}, count, attributes) : NULL;
  }
  if (op != OP_MAX_POOL_GRAD && op != OP_MAX_POOL_PICK)
    return try_add(g, op, 1, &a, count, attributes);
  if (a->type.dtype != g->real) return NULL;
  Node *b = draw_real_like(g, op == OP_MAX_POOL_GRAD ? y : x);
  return b ? try_add(g, op, 2, (Node *[]){a, b}, count, attributes) : NULL;
}
