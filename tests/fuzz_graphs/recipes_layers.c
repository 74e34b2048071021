/* What networks are made of: dense layers, normalization, softmax, cross entropy, attention. Chains
 * of them are what fusion, epilogues and task loops work on. */
#include <math.h>

#include "generate.h"

/* Most of them continuous; the last has none. */
static Node *activate(Generator *g, Node *x) {
  const Maker *m = &g->maker;
  switch (draw_below(g, 6)) {
  case 0: return make_binary(m, OP_MAX, x, constant_of(g, x->type, 0));
  case 1: return make_unary(m, OP_TANH, x);
  case 2: return make_binary(m, OP_MUL, x, make_unary(m, OP_SIGMOID, x));
  case 3: {
    Node *erf = make_unary(m, OP_ERF, make_binary_value(m, OP_MUL, x, 0.75));
    return make_binary(m, OP_MUL, x, make_binary_value(m, OP_ADD, erf, 1));
  }
  case 4: {
    Node *slope = make_binary_value(m, OP_MUL, x, 0.125);
    return make_where(m, make_binary(m, OP_GT, x, constant_of(g, x->type, 0)), x, slope);
  }
  default: return x;
  }
}

static Node *draw_layer_input(Generator *g, int least_rank) {
  Node *x = draw_node(g, KIND_FLOAT | KIND_AXES | KIND_ELEMENTS);
  return x && x->type.shape.rank >= least_rank && x->type.shape.rank <= 5 ? x : NULL;
}

/* x w + b along the last axis, the weights as they are or transposed. */
Node *grow_dense(Generator *g) {
  const Maker *m = &g->maker;
  Node *x = draw_layer_input(g, 1);
  if (!x) return NULL;
  int last = x->type.shape.rank - 1;
  int64_t in = x->type.shape.dim[last], out = draw_extent(g);
  if (in * out > g->sizes->operand || shape_elements(x->type.shape) * out > g->sizes->products)
    return NULL;
  bool is_turned = draw_chance(g, 30);
  int64_t dim[] = {is_turned ? out : in, is_turned ? in : out}, left = last, right = is_turned;
  Node *w = leaf_param(g, type_make(x->type.dtype, shape_make(2, dim)));
  w = make_binary_value(m, OP_MUL, w, exp2(-ceil(log2((double)in) / 2)));
  Attribute attributes[] = {
      attr_make_ints(ATTR_BATCH_LEFT, 0, NULL), attr_make_ints(ATTR_BATCH_RIGHT, 0, NULL),
      attr_make_ints(ATTR_SUM_LEFT, 1, &left), attr_make_ints(ATTR_SUM_RIGHT, 1, &right)};
  Node *y = try_add(g, OP_CONTRACT, 2, (Node *[]){x, w}, 4, attributes);
  if (!y) return NULL;
  if (draw_chance(g, 70)) {
    Node *bias = leaf_param(g, type_make(x->type.dtype, shape_make(1, &out)));
    int64_t axis = last;
    y = make_binary(m, OP_ADD, y, make_broadcast(m, bias, y->type.shape, &axis));
  }
  return activate(g, y);
}

/* Over the last axis, or over all but the second. */
Node *grow_norm(Generator *g) {
  const Maker *m = &g->maker;
  Node *x = draw_layer_input(g, 2);
  if (!x) return NULL;
  Shape shape = x->type.shape;
  int64_t axes[MAX_RANK];
  int count = 0;
  bool is_batch = draw_chance(g, 50);
  for (int i = 0; i < shape.rank; i++)
    if (is_batch ? i != 1 : i == shape.rank - 1) axes[count++] = i;
  Node *mean = make_reduce(m, OP_REDUCE_MEAN, x, count, axes);
  Node *centred = make_binary(m, OP_SUB, x, broadcast_over(g, mean, shape, count, axes));
  Node *square = make_binary(m, OP_MUL, centred, centred);
  Node *variance = make_reduce(m, OP_REDUCE_MEAN, square, count, axes);
  Node *scale = make_unary(m, OP_RSQRT, make_binary_value(m, OP_ADD, variance, 0.25));
  return make_binary(m, OP_MUL, centred, broadcast_over(g, scale, shape, count, axes));
}

/* x - max, or x: values are tame. */
static Node *shifted(Generator *g, Node *x, int64_t axis) {
  const Maker *m = &g->maker;
  if (!g->far && draw_chance(g, 30)) return fit_range(g, x, -4, 3);
  Node *most = make_reduce(m, OP_REDUCE_MAX, x, 1, &axis);
  if (draw_chance(g, 50)) most = make_unary(m, OP_STOP_GRADIENT, most);
  return make_binary(m, OP_SUB, x, broadcast_over(g, most, x->type.shape, 1, &axis));
}

/* The range of exp bounds what is below the maximum. */
static Node *softmax(Generator *g, Node *x, int64_t axis, bool of_log) {
  const Maker *m = &g->maker;
  double low, high;
  if (!value_range(g, x, &low, &high)) return NULL;
  if (high - low > 7 && !g->far)
    x = make_binary_value(m, OP_MUL, x, exp2(-ceil(log2((high - low) / 6))));
  Node *z = shifted(g, x, axis), *e = make_unary(m, OP_EXP, z);
  Node *sum = make_reduce(m, OP_REDUCE_SUM, e, 1, &axis);
  if (of_log) sum = make_unary(m, OP_LOG, sum);
  sum = broadcast_over(g, sum, x->type.shape, 1, &axis);
  return of_log ? make_binary(m, OP_SUB, z, sum) : make_binary(m, OP_DIV, e, sum);
}

Node *grow_softmax(Generator *g) {
  Node *x = draw_layer_input(g, 1);
  if (!x) return NULL;
  int last = x->type.shape.rank - 1;
  int64_t axis = draw_chance(g, 75) ? last : draw_below(g, last + 1);
  return softmax(g, x, axis, draw_chance(g, 30));
}

Node *grow_cross_entropy(Generator *g) {
  Node *x = draw_layer_input(g, 1);
  if (!x) return NULL;
  int64_t axis = x->type.shape.rank - 1;
  Node *logs = softmax(g, x, axis, true);
  if (!logs) return NULL;
  Shape shape = shape_make(x->type.shape.rank - 1, x->type.shape.dim);
  Node *index = draw_index(g, shape, x->type.shape.dim[axis]);
  if (!index) return NULL;
  return make_unary(&g->maker, OP_NEG, make_pick(&g->maker, logs, index, (int)axis));
}

/* A contraction of [batch, a, b] with [batch, c, d]; `left` and `right` say which axis is summed.
 * */
static Node *contract_batches(Generator *g, Node *a, Node *b, int64_t left, int64_t right) {
  int64_t batch = 0;
  Attribute attributes[] = {
      attr_make_ints(ATTR_BATCH_LEFT, 1, &batch), attr_make_ints(ATTR_BATCH_RIGHT, 1, &batch),
      attr_make_ints(ATTR_SUM_LEFT, 1, &left), attr_make_ints(ATTR_SUM_RIGHT, 1, &right)};
  return try_add(g, OP_CONTRACT, 2, (Node *[]){a, b}, 4, attributes);
}

/* The greatest magnitude of an element; 0 without elements. */
static double magnitude(Generator *g, Node *x) {
  double low, high;
  return value_range(g, x, &low, &high) ? fmax(fabs(low), fabs(high)) : 0;
}

/* [..., time, channel] with two axes in front. */
static Shape four_axes(Shape shape) {
  Shape four = {.rank = 4, .dim = {1, 1, 1, 1}};
  for (int i = 0; i < shape.rank; i++)
    four.dim[i + 2 < shape.rank ? 0 : i + 4 - shape.rank] *= shape.dim[i];
  return four;
}

/* Side by side what the operators have that compute values with the softmax's numbers, and all adjoints. */
static Node *attention_at_once(Generator *g, Node *y, Node **operands,
                               const Attribute *attributes) {
  const Maker *m = &g->maker;
  operands[4] = try_add(g, OP_ATTENTION_ROWS, 3, operands, 3, attributes);
  Node *grads = operands[4] ? try_add(g, OP_ATTENTION_GRADS, 5, operands, 2, attributes + 1) : NULL;
  if (!grads) return NULL;
  Shape wide = y->type.shape;
  wide.dim[3] *= 3;
  Node *parts[2] = {make_cast(m, operands[4], y->type.dtype), make_reshape(m, grads, wide)};
  return make_concat(m, 2, parts, 3);
}

/* Side by side the operators of its gradient and the log of the softmax's sum, each by itself. */
static Node *attention_one_by_one(Generator *g, Node *y, Node **operands,
                                  const Attribute *attributes) {
  const Maker *m = &g->maker;
  int64_t last = 3;
  Shape column = y->type.shape;
  column.dim[3] = 2;
  operands[4] = try_add(g, OP_ATTENTION_LSE, 2, operands, 3, attributes);
  if (!operands[4]) return NULL;
  Node *wide = make_cast(m, y, operands[4]->type.dtype);
  Node *adjoint = make_cast(m, operands[3], operands[4]->type.dtype);
  operands[5] = make_reduce(m, OP_REDUCE_SUM, make_binary(m, OP_MUL, wide, adjoint), 1, &last);
  Node *parts[3] = {try_add(g, OP_ATTENTION_GRAD_Q, 6, operands, 2, attributes + 1),
                    try_add(g, OP_ATTENTION_LSE, 2, operands, 3, attributes), NULL};
  if (!parts[0] || !parts[1]) return NULL;
  parts[1] = make_cast(m, make_reshape(m, parts[1], column), y->type.dtype);
  parts[2] = try_add(g, OP_ATTENTION_GRAD_KV, 6, operands, 2, attributes + 1);
  return parts[2] ? make_concat(m, 3, parts, 3) : NULL;
}

/* The gradient in one of its two forms. */
static Node *attention_adjoints(Generator *g, Node *y, Node **operands,
                                const Attribute *attributes) {
  operands[3] = draw_like(g, y->type);
  return draw_chance(g, 50) ? attention_one_by_one(g, y, operands, attributes)
                            : attention_at_once(g, y, operands, attributes);
}

/* The operator on [..., time, channel], with scores of at most 4. */
static Node *grow_attention_operator(Generator *g) {
  const Maker *m = &g->maker;
  Node *q = draw_layer_input(g, 2), *operands[6];
  if (!q) return NULL;
  Shape shape = four_axes(q->type.shape);
  if (shape_elements(shape) * shape.dim[2] > g->sizes->products) return NULL;
  for (int i = 0; i < 3; i++)
    operands[i] = make_reshape(m, i == 0 ? q : draw_like(g, q->type), shape);
  double greatest = magnitude(g, operands[0]) * magnitude(g, operands[1]) * (double)shape.dim[3];
  DType wide = q->type.dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
  Attribute attributes[] = {attr_make_int(ATTR_DTYPE, wide),
                            attr_make_float(ATTR_SCALE, greatest > 4 ? 4 / greatest : 0.5),
                            attr_make_int(ATTR_CAUSAL, draw_chance(g, 40))};
  Node *y = try_add(g, OP_ATTENTION, 3, operands, 2, attributes + 1);
  return y && draw_chance(g, 80) ? attention_adjoints(g, y, operands, attributes) : y;
}

/* softmax(q k') v of [batch, time, channel], with a causal mask now and then. */
Node *grow_attention(Generator *g) {
  const Maker *m = &g->maker;
  if (!g->far && draw_chance(g, 50)) return grow_attention_operator(g);
  Node *q = draw_layer_input(g, 3);
  if (!q || q->type.shape.rank != 3) return NULL;
  int64_t time = q->type.shape.dim[1];
  if (shape_elements(q->type.shape) * time > g->sizes->products) return NULL;
  Node *k = draw_like(g, q->type), *v = draw_like(g, q->type);
  Node *scores = contract_batches(g, q, k, 2, 2);
  if (!scores) return NULL;
  if (draw_chance(g, 40)) {
    Type type = type_make(DTYPE_I32, scores->type.shape);
    Node *seen = make_binary(m, OP_GE, make_iota(m, type, 1), make_iota(m, type, 2));
    scores = make_where(m, seen, scores, constant_of(g, scores->type, -4));
  }
  Node *shares = softmax(g, scores, 2, false);
  return shares ? contract_batches(g, shares, v, 2, 1) : NULL;
}
