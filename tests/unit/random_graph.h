/* Random graphs for lowering: a pool of small tensors to which random operators add
 * more.  Magnitudes are kept near 1, so that an error shows and nothing overflows. */
#ifndef NNC_TESTS_UNIT_RANDOM_GRAPH_H
#define NNC_TESTS_UNIT_RANDOM_GRAPH_H

#include "graphs.h"

typedef struct RandomGraph {
  uint64_t state;
  Maker maker;
  Module *module;
  VEC(Node *) pool;     /* f32 */
  VEC(Node *) integers; /* i32 and u8 */
} RandomGraph;

static inline int64_t draw(RandomGraph *r, int64_t bound) {
  r->state = r->state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((r->state >> 33) % (uint64_t)bound);
}

static inline Node *draw_node(RandomGraph *r) {
  int64_t recent = r->pool.count > 8 && draw(r, 2) ? 8 : r->pool.count;
  return r->pool.items[r->pool.count - 1 - draw(r, recent)];
}

static inline void pool_add(RandomGraph *r, Node *node) {
  if (shape_elements(node->type.shape) <= 2000) vec_push(r->module->arena, &r->pool, node);
}

static inline Shape draw_shape(RandomGraph *r) {
  static const int64_t extents[] = {1, 2, 3, 4, 5, 6};
  int64_t dim[4];
  int rank = (int)draw(r, 4) + (draw(r, 4) > 0);
  for (int i = 0; i < rank && i < 4; i++) dim[i] = extents[draw(r, 6)];
  return shape_make(rank > 4 ? 4 : rank, dim);
}

static inline Node *tame(RandomGraph *r, Node *x) { return make_unary(&r->maker, OP_TANH, x); }

static inline void add_unary(RandomGraph *r) {
  static const Op ops[] = {OP_NEG, OP_ABS, OP_TANH, OP_SIGMOID, OP_SIN, OP_SIGN, OP_ERF};
  Node *x = draw_node(r);
  switch (draw(r, 4)) {
  case 0: pool_add(r, make_binary_value(&r->maker, OP_MAX, x, 0)); return;
  case 1: pool_add(r, make_binary_value(&r->maker, OP_MUL, x, 0.5)); return;
  case 2: pool_add(r, make_unary(&r->maker, OP_EXP, tame(r, x))); return;
  default: pool_add(r, make_unary(&r->maker, ops[draw(r, 7)], x));
  }
}

/* A node of the given shape: from the pool, or a broadcast of one, or a constant. */
static inline Node *fitting(RandomGraph *r, Type type) {
  for (int tries = 0; tries < 12; tries++) {
    Node *x = draw_node(r);
    if (shape_equal(x->type.shape, type.shape)) return x;
    int64_t axes[MAX_RANK];
    int at = 0;
    for (int i = 0; i < type.shape.rank && at < x->type.shape.rank; i++)
      if (x->type.shape.dim[at] == type.shape.dim[i]) axes[at++] = i;
    if (at == x->type.shape.rank) return make_broadcast(&r->maker, x, type.shape, axes);
  }
  return make_constant(&r->maker, type, 0.25);
}

static inline void add_binary(RandomGraph *r) {
  static const Op ops[] = {OP_ADD, OP_SUB, OP_MUL, OP_MIN, OP_MAX};
  Node *a = draw_node(r), *b = fitting(r, a->type);
  if (draw(r, 5) == 0) {
    Node *condition = make_binary(&r->maker, OP_LT, a, b);
    pool_add(r, make_where(&r->maker, condition, fitting(r, a->type), b));
    return;
  }
  Node *result = make_binary(&r->maker, ops[draw(r, 5)], a, b);
  pool_add(r, draw(r, 3) ? result : tame(r, result));
}

static inline void add_reduction(RandomGraph *r) {
  static const Op ops[] = {OP_REDUCE_SUM, OP_REDUCE_MAX, OP_REDUCE_MIN, OP_REDUCE_MEAN};
  Node *x = draw_node(r);
  int64_t axes[MAX_RANK];
  int count = 0;
  for (int i = 0; i < x->type.shape.rank; i++)
    if (draw(r, 2)) axes[count++] = i;
  if (count == 0) return;
  Op op = ops[draw(r, 4)];
  Node *result = make_reduce(&r->maker, op, x, count, axes);
  if (op == OP_REDUCE_SUM) result = tame(r, result);
  pool_add(r, result);
}

/* exp(x - max) / sum along some axis, and a use of the log of the sum. */
static inline void add_rows(RandomGraph *r) {
  Node *x = draw_node(r);
  int rank = x->type.shape.rank;
  if (rank == 0) return;
  int64_t axis = draw(r, rank), axes[MAX_RANK];
  int kept = 0;
  for (int i = 0; i < rank; i++)
    if (i != axis) axes[kept++] = i;
  Node *most = make_reduce(&r->maker, OP_REDUCE_MAX, x, 1, &axis);
  Node *wide = make_broadcast(&r->maker, most, x->type.shape, axes);
  Node *exp = make_unary(&r->maker, OP_EXP, make_binary(&r->maker, OP_SUB, x, wide));
  Node *sum = make_reduce(&r->maker, OP_REDUCE_SUM, exp, 1, &axis);
  Node *all = make_broadcast(&r->maker, sum, x->type.shape, axes);
  pool_add(r, make_binary(&r->maker, OP_DIV, exp, all));
  pool_add(r, make_binary(&r->maker, OP_ADD, make_unary(&r->maker, OP_LOG, sum), most));
  if (draw(r, 2)) {
    Node *best = make_arg(&r->maker, OP_ARGMAX, x, (int)axis);
    vec_push(r->module->arena, &r->integers, best);
    pool_add(r, make_pick(&r->maker, x, best, (int)axis));
  }
}

static inline void add_reshape(RandomGraph *r) {
  Node *x = draw_node(r);
  Shape shape = {0};
  int64_t left = shape_elements(x->type.shape);
  for (int64_t divisor = 2; divisor <= 6 && shape.rank < 5; divisor++)
    if (left % divisor == 0 && draw(r, 2)) {
      shape.dim[shape.rank++] = divisor;
      left /= divisor;
    }
  shape.dim[shape.rank++] = left;
  pool_add(r, make_reshape(&r->maker, x, shape));
}

static inline void add_movement(RandomGraph *r) {
  Node *x = draw_node(r);
  int rank = x->type.shape.rank;
  if (rank == 0) return;
  int64_t a[MAX_RANK], b[MAX_RANK], c[MAX_RANK];
  switch (draw(r, 4)) {
  case 0:
    for (int i = 0; i < rank; i++) a[i] = i;
    for (int i = rank - 1; i > 0; i--) {
      int k = (int)draw(r, i + 1);
      int64_t swap = a[i];
      a[i] = a[k];
      a[k] = swap;
    }
    pool_add(r, make_transpose(&r->maker, x, a));
    return;
  case 1:
    for (int i = 0; i < rank; i++) {
      int64_t extent = x->type.shape.dim[i];
      bool down = draw(r, 3) == 0;
      a[i] = down ? extent - 1 : draw(r, extent);
      b[i] = down ? -1 : extent;
      c[i] = down ? -1 : draw(r, 2) + 1;
    }
    pool_add(r, make_slice(&r->maker, x, a, b, c));
    return;
  case 2:
    for (int i = 0; i < rank; i++) {
      a[i] = draw(r, 3);
      b[i] = draw(r, 2);
      c[i] = draw(r, 4) ? 1 : 2;
    }
    pool_add(r, make_pad(&r->maker, x, a, b, c, draw(r, 2) ? 0 : 0.75));
    return;
  default: {
    Node *parts[3] = {x, fitting(r, x->type), x};
    pool_add(r, make_concat(&r->maker, 2 + (int)draw(r, 2), parts, (int)draw(r, rank)));
  }
  }
}

/* Pairs equal axes of two tensors: some as batch, some summed. */
static inline void add_contraction(RandomGraph *r) {
  Node *a = draw_node(r), *b = draw_node(r);
  ContractAxes axes = {0};
  bool taken[MAX_RANK] = {false};
  for (int i = 0; i < a->type.shape.rank; i++) {
    if (draw(r, 3) == 0) continue;
    for (int k = 0; k < b->type.shape.rank; k++) {
      if (taken[k] || a->type.shape.dim[i] != b->type.shape.dim[k]) continue;
      taken[k] = true;
      if (draw(r, 3) == 0) {
        axes.batch_left[axes.batch_count] = i;
        axes.batch_right[axes.batch_count++] = k;
      } else {
        axes.sum_left[axes.sum_count] = i;
        axes.sum_right[axes.sum_count++] = k;
      }
      break;
    }
  }
  int rank = a->type.shape.rank + b->type.shape.rank - axes.batch_count - 2 * axes.sum_count;
  if (rank > 5) return;
  pool_add(r, tame(r, make_contract(&r->maker, a, b, &axes)));
}

static inline void add_gather(RandomGraph *r) {
  Node *table = draw_node(r);
  if (r->integers.count == 0 || table->type.shape.rank == 0) return;
  Node *index = r->integers.items[draw(r, r->integers.count)];
  if (table->type.shape.rank + index->type.shape.rank > 6) return;
  Node *rows = make_gather(&r->maker, table, index);
  pool_add(r, rows);
  if (draw(r, 2)) pool_add(r, make_scatter_add(&r->maker, rows, index, table->type.shape));
}

/* A node reshaped to [n, c, h, w]. */
static inline Node *draw_image(RandomGraph *r) {
  Node *x = draw_node(r);
  int64_t elements = shape_elements(x->type.shape), dim[4] = {1, 1, 1, 1};
  for (int i = 0; i < 4; i++)
    for (int64_t extent = 6; extent > 1 && dim[i] == 1; extent--)
      if (elements % extent == 0 && draw(r, 3)) {
        dim[i] = extent;
        elements /= extent;
      }
  dim[0] *= elements;
  return make_reshape(&r->maker, x, shape_make(4, dim));
}

/* Stride, padding (less than the window) and dilation for a window over the last two axes. */
static inline int draw_window(RandomGraph *r, Shape x, int64_t *kernel, Attribute *attributes) {
  static int64_t stride[2], low[2], high[2], dilation[2];
  for (int i = 0; i < 2; i++) {
    dilation[i] = 1 + (draw(r, 4) == 0);
    kernel[i] = 1 + draw(r, 3);
    while ((kernel[i] - 1) * dilation[i] + 1 > x.dim[2 + i]) {
      dilation[i] = 1;
      if (kernel[i] > 1) kernel[i]--;
    }
    stride[i] = 1 + draw(r, 3);
    low[i] = draw(r, kernel[i]);
    high[i] = draw(r, kernel[i]);
  }
  attributes[0] = attr_make_ints(ATTR_STRIDE, 2, stride);
  attributes[1] = attr_make_ints(ATTR_LOW, 2, low);
  attributes[2] = attr_make_ints(ATTR_HIGH, 2, high);
  attributes[3] = attr_make_ints(ATTR_DILATION, 2, dilation);
  return 4;
}

static inline Node *add_node(RandomGraph *r, Op op, Node *a, Node *b, int count,
                             const Attribute *attributes) {
  return make_node(&(Maker){r->maker.graph, (Span){0}, r->maker.path}, op, b ? 2 : 1,
                   (Node *[]){a, b}, count, attributes);
}

static inline void add_convolution(RandomGraph *r) {
  Node *x = draw_image(r);
  Shape shape = x->type.shape;
  int64_t kernel[2];
  Attribute attributes[6];
  int count = draw_window(r, shape, kernel, attributes);
  int64_t groups = draw(r, 3) == 0 ? shape.dim[1] : 1, k = groups * (1 + draw(r, 3));
  Type type = TYPE(F32, k, shape.dim[1] / groups, kernel[0], kernel[1]);
  Node *w = make_binary_value(&r->maker, OP_ADD, make_iota(&r->maker, type, (int)draw(r, 4)), -1.5);
  attributes[count++] = attr_make_int(ATTR_GROUPS, groups);
  Node *y = add_node(r, OP_CONV, x, w, count, attributes);
  pool_add(r, tame(r, y));
  if (draw(r, 2) == 0) return;
  Node *dy = make_binary_value(&r->maker, OP_MUL, y, 0.25);
  attributes[count] = attr_make_ints(ATTR_SHAPE, 4, shape.dim);
  pool_add(r, tame(r, add_node(r, OP_CONV_INPUT, dy, w, count + 1, attributes)));
  attributes[count] = attr_make_ints(ATTR_SHAPE, 4, type.shape.dim);
  pool_add(r, tame(r, add_node(r, OP_CONV_WEIGHT, x, dy, count + 1, attributes)));
}

static inline void add_pooling(RandomGraph *r) {
  Node *x = draw_image(r);
  int64_t kernel[2];
  Attribute attributes[6];
  int count = draw_window(r, x->type.shape, kernel, attributes);
  attributes[1].ints[0] = attributes[1].ints[1] = 0; /* no window lies in the padding */
  attributes[2].ints[0] = attributes[2].ints[1] = 0;
  attributes[count++] = attr_make_ints(ATTR_KERNEL, 2, kernel);
  bool is_max = draw(r, 2);
  Node *y = add_node(r, is_max ? OP_MAX_POOL : OP_SUM_POOL, x, NULL, count, attributes);
  pool_add(r, tame(r, y));
  if (is_max) {
    pool_add(r, add_node(r, OP_MAX_POOL_GRAD, x, tame(r, y), count, attributes));
    pool_add(r, add_node(r, OP_MAX_POOL_PICK, x, tame(r, x), count, attributes));
    Node *place = add_node(r, OP_MAX_PLACE, x, NULL, count, attributes);
    attributes[count] = attr_make_ints(ATTR_SHAPE, 4, x->type.shape.dim);
    pool_add(r, add_node(r, OP_MAX_UNPOOL, place, tame(r, y), count + 1, attributes));
    return;
  }
  attributes[count] = attr_make_ints(ATTR_SHAPE, 4, x->type.shape.dim);
  pool_add(r, tame(r, add_node(r, OP_SUM_POOL_GRAD, y, NULL, count + 1, attributes)));
}

static inline void add_random(RandomGraph *r) {
  Shape shape = draw_shape(r);
  Attribute attributes[] = {attr_make_string(ATTR_KEY, name_printf("random.%d", r->pool.count)),
                            attr_make_int(ATTR_STREAM, 1)};
  Op op = draw(r, 2) ? OP_RANDOM_UNIFORM : OP_RANDOM_NORMAL;
  pool_add(r, make_leaf(&(Maker){r->maker.graph, (Span){0}, r->maker.path}, op,
                        type_make(DTYPE_F32, shape), 2, attributes));
}

static inline void add_scalar(RandomGraph *r) {
  Maker maker = r->maker;
  Node *scalar = leaf(&maker, OP_SCALAR, type_scalar(DTYPE_F64), draw(r, 2) ? "lr" : "t");
  pool_add(r, make_cast(&r->maker, scalar, DTYPE_F32));
}

/* Leaves, operators, then some stores and results. */
static inline Module *random_module(Arena *arena, uint64_t seed) {
  RandomGraph *r = ARENA_NEW(arena, RandomGraph);
  r->state = seed * 0x9E3779B97F4A7C15u + 1;
  r->module = module_create(arena, "random", NULL);
  r->maker = entry_maker(r->module, ENTRY_TRAIN, "node");
  int variables = 2 + (int)draw(r, 3);
  for (int i = 0; i < variables; i++) {
    const char *name = name_printf("v%d", i);
    Type type = type_make(DTYPE_F32, draw_shape(r));
    add_variable(r->module, VARIABLE_PARAM, name, type);
    pool_add(r, leaf(&r->maker, OP_PARAM, type, name));
  }
  Type x = type_make(DTYPE_F32, draw_shape(r)), labels = TYPE(U8, 1 + draw(r, 5));
  add_input(r->module, "x", x, false);
  add_input(r->module, "labels", labels, false);
  pool_add(r, leaf(&r->maker, OP_INPUT, x, "x"));
  vec_push(arena, &r->integers, leaf(&r->maker, OP_INPUT, labels, "labels"));
  typedef void (*Grow)(RandomGraph * r);
  static const Grow grow[] = {
      add_unary,     add_unary,   add_binary,   add_binary,      add_binary,      add_rows,
      add_reduction, add_reshape, add_movement, add_movement,    add_contraction, add_contraction,
      add_gather,    add_random,  add_scalar,   add_convolution, add_pooling};
  int operators = 3 + (int)draw(r, 30);
  for (int i = 0; i < operators; i++) {
    r->maker.path = name_printf("node.%d", i);
    grow[draw(r, sizeof grow / sizeof *grow)](r);
  }
  for (int i = 0; i < r->module->variables.count; i++) {
    const Variable *variable = &r->module->variables.items[i];
    if (draw(r, 4) == 0) continue;
    for (int k = r->pool.count - 1; k >= 0; k--)
      if (type_equal(r->pool.items[k]->type, variable->type) && draw(r, 2)) {
        output(r->maker.graph, OUTPUT_STORE, variable->path, r->pool.items[k]);
        break;
      }
  }
  int results = 1 + (int)draw(r, 4);
  for (int i = 0; i < results; i++)
    output(r->maker.graph, OUTPUT_RESULT, name_printf("r%d", i), draw_node(r));
  return r->module;
}

#endif
