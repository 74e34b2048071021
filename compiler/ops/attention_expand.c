/* The operators of attention written out, for targets that have no kernels for them and for
 * their own gradients. Values are widened first, so that scores and sums have the precision of
 * the operators. */
#include "ops/attention.h"
#include "ops/elementwise.h"

enum { Q, K, V, DY, LSE, DELTA };

/* ---- what all share; `wide` is the type of sums ---- */

static Node *widen(const Maker *m, Node *a) {
  return make_cast(m, a, attention_wide(a->type.dtype));
}

/* left [b, h, ., .] with right [b, h, ., .], summed over these axes. */
static Node *product(const Maker *m, Node *left, Node *right, int sum_left, int sum_right) {
  ContractAxes axes = {.batch_count = 2,
                       .batch_left = {0, 1},
                       .batch_right = {0, 1},
                       .sum_count = 1,
                       .sum_left = {sum_left},
                       .sum_right = {sum_right}};
  return make_contract(m, left, right, &axes);
}

/* [b, h, nq] to the shape of the scores. */
static Node *along_keys(const Maker *m, Node *a, Shape scores) {
  return make_broadcast(m, a, scores, (int64_t[]){0, 1, 2});
}

/* [b, h, nq] to [b, h, nq, 1]. */
static Node *as_column(const Maker *m, Node *a) {
  Shape shape = a->type.shape;
  shape.dim[shape.rank++] = 1;
  return make_reshape(m, a, shape);
}

static Node *see(const Maker *m, Node *seen, Node *scores) {
  return make_where(m, seen, scores, filled_like(m, scores, -INFINITY));
}

static Node *earlier_keys(const Maker *m, Shape scores) {
  Type type = type_make(DTYPE_I32, scores);
  Node *query = make_iota(m, type, 2);
  Node *key = make_iota(m, type, 3);
  return make_binary(m, OP_GE, query, key);
}

static Node *make_scores(const Maker *m, const Node *node, Node *const *operands) {
  Node *q = widen(m, operands[Q]);
  Node *k = widen(m, operands[K]);
  Node *scores = times(m, product(m, q, k, 3, 3), node_float(node, ATTR_SCALE));
  if (attention_is_causal(node)) scores = see(m, earlier_keys(m, scores->type.shape), scores);
  Node *mask = attention_mask(node, operands);
  if (!mask) return scores;
  if (mask->type.dtype == DTYPE_BOOL) return see(m, mask, scores);
  return add(m, scores, make_cast(m, mask, scores->type.dtype));
}

/* The softmax of a matrix of scores: the greatest of each row, 0 where nothing is seen; the
 * exponentials of what is above it; their sums, 1 where nothing is seen. Quotients do not depend on
 * the greatest, so there the gradient may stop. */
typedef struct Softmax {
  Node *top, *exponentials, *sum;
} Softmax;

static Softmax make_softmax(const Maker *m, Node *scores, bool stops_gradient) {
  int64_t keys = 3;
  Softmax softmax;
  Node *greatest = make_reduce(m, OP_REDUCE_MAX, scores, 1, &keys);
  if (stops_gradient) greatest = make_unary(m, OP_STOP_GRADIENT, greatest);
  Node *is_blind = make_binary_value(m, OP_EQ, greatest, -INFINITY);
  softmax.top = make_where(m, is_blind, filled_like(m, greatest, 0), greatest);
  Node *above = sub(m, scores, along_keys(m, softmax.top, scores->type.shape));
  softmax.exponentials = make_unary(m, OP_EXP, above);
  Node *sum = make_reduce(m, OP_REDUCE_SUM, softmax.exponentials, 1, &keys);
  Node *is_nothing = make_binary_value(m, OP_EQ, sum, 0);
  softmax.sum = make_where(m, is_nothing, filled_like(m, sum, 1), sum);
  return softmax;
}

/* ---- the operators ---- */

Node *attention_expand(const Maker *m, const Node *node, Node *const *operands) {
  Node *scores = make_scores(m, node, operands);
  Softmax softmax = make_softmax(m, scores, true);
  Node *sum = along_keys(m, softmax.sum, scores->type.shape);
  Node *weights = quotient(m, softmax.exponentials, sum);
  return make_cast(m, product(m, weights, widen(m, operands[V]), 3, 2), node->type.dtype);
}

Node *attention_lse_expand(const Maker *m, const Node *node, Node *const *operands) {
  Softmax softmax = make_softmax(m, make_scores(m, node, operands), false);
  Node *parts[2] = {as_column(m, softmax.top), as_column(m, make_unary(m, OP_LOG, softmax.sum))};
  return make_cast(m, make_concat(m, 2, parts, 3), node->type.dtype);
}

static Node *make_weights(const Maker *m, const Node *node, Node *const *operands) {
  Node *scores = make_scores(m, node, operands);
  for (int i = 0; i < 2; i++) {
    Node *column = make_range(m, widen(m, operands[LSE]), 3, i, i + 1);
    Shape shape = column->type.shape;
    shape.rank = 3;
    scores = sub(m, scores, along_keys(m, make_reshape(m, column, shape), scores->type.shape));
  }
  return make_unary(m, OP_EXP, scores);
}

static Node *make_score_adjoint(const Maker *m, Node *weights, Node *const *operands) {
  Node *dy = widen(m, operands[DY]);
  Node *received = product(m, dy, widen(m, operands[V]), 3, 3);
  Node *delta = along_keys(m, widen(m, operands[DELTA]), weights->type.shape);
  return mul(m, weights, sub(m, received, delta));
}

Node *attention_score_adjoint(const Maker *m, const Node *node, Node *const *operands) {
  return make_score_adjoint(m, make_weights(m, node, operands), operands);
}

Node *attention_grad_q_expand(const Maker *m, const Node *node, Node *const *operands) {
  Node *scores = attention_score_adjoint(m, node, operands);
  Node *sum = product(m, scores, widen(m, operands[K]), 3, 2);
  return make_cast(m, times(m, sum, node_float(node, ATTR_SCALE)), node->type.dtype);
}

Node *attention_grad_kv_expand(const Maker *m, const Node *node, Node *const *operands) {
  Node *weights = make_weights(m, node, operands);
  Node *scores = make_score_adjoint(m, weights, operands);
  Node *sum = product(m, scores, widen(m, operands[Q]), 2, 2);
  Node *parts[2] = {times(m, sum, node_float(node, ATTR_SCALE)), NULL};
  parts[1] = product(m, weights, widen(m, operands[DY]), 2, 2);
  return make_cast(m, make_concat(m, 2, parts, 3), node->type.dtype);
}

Node *attention_rows_expand(const Maker *m, const Node *node, Node *const *operands) {
  Node *scores = make_scores(m, node, operands);
  Softmax softmax = make_softmax(m, scores, false);
  Node *sum = along_keys(m, softmax.sum, scores->type.shape);
  Node *weights = quotient(m, softmax.exponentials, sum);
  Node *parts[3] = {product(m, weights, widen(m, operands[V]), 3, 2), as_column(m, softmax.top),
                    as_column(m, make_unary(m, OP_LOG, softmax.sum))};
  return make_cast(m, make_concat(m, 3, parts, 3), node->type.dtype);
}

/* [b, h, ., .] to [b, h, all]. */
static Node *flat_heads(const Maker *m, Node *a) {
  Shape shape = a->type.shape;
  shape.dim[2] *= shape.dim[3];
  shape.rank = 3;
  return make_reshape(m, a, shape);
}

/* By those that read lse and delta apart. */
Node *attention_grads_expand(const Maker *m, const Node *node, Node *const *operands) {
  int64_t last = 3, depth = operands[V]->type.shape.dim[3];
  Node *rows = widen(m, operands[LSE]), *mask = attention_mask(node, operands), *all[DELTA + 2];
  for (int i = 0; i < LSE; i++) all[i] = operands[i];
  Node *y = make_range(m, rows, 3, 0, depth);
  all[LSE] = make_range(m, rows, 3, depth, depth + 2);
  all[DELTA] = make_reduce(m, OP_REDUCE_SUM, mul(m, y, widen(m, operands[DY])), 1, &last);
  AttentionForm form = {node_float(node, ATTR_SCALE), attention_is_causal(node)};
  Node *grad_q = make_attention_of(m, OP_ATTENTION_GRAD_Q, DELTA + 1, all, mask, form);
  Node *grad_kv = make_attention_of(m, OP_ATTENTION_GRAD_KV, DELTA + 1, all, mask, form);
  Node *parts[2] = {flat_heads(m, attention_grad_q_expand(m, grad_q, grad_q->operands)),
                    flat_heads(m, attention_grad_kv_expand(m, grad_kv, grad_kv->operands))};
  return make_concat(m, 2, parts, 2);
}

/* ---- as parts of attention_rows and attention_grads ---- */

Node *attention_part(const Maker *m, const Node *node, Node *const *operands) {
  AttentionForm form = {node_float(node, ATTR_SCALE), attention_is_causal(node)};
  Node *rows =
      make_attention_of(m, OP_ATTENTION_ROWS, 3, operands, attention_mask(node, operands), form);
  return make_cast(m, make_range(m, rows, 3, 0, rows->type.shape.dim[3] - 2), node->type.dtype);
}

/* Elements [first, last) of each head's adjoints, in the shape of `node`. Delta and lse are not read. */
static Node *make_adjoint(const Maker *m, const Node *node, Node *const *operands, int64_t first,
                          int64_t last) {
  AttentionForm form = {node_float(node, ATTR_SCALE), attention_is_causal(node)};
  Node *mask = attention_mask(node, operands), *all[LSE + 2];
  for (int i = 0; i < LSE; i++) all[i] = operands[i];
  all[LSE] = make_attention_of(m, OP_ATTENTION_ROWS, 3, operands, mask, form);
  Node *grads = make_attention_of(m, OP_ATTENTION_GRADS, LSE + 1, all, mask, form);
  return make_reshape(m, make_range(m, grads, 2, first, last), node->type.shape);
}

static int64_t query_elements(Node *const *operands) {
  Shape q = operands[Q]->type.shape;
  return q.dim[2] * q.dim[3];
}

Node *attention_grad_q_part(const Maker *m, const Node *node, Node *const *operands) {
  return make_adjoint(m, node, operands, 0, query_elements(operands));
}

Node *attention_grad_kv_part(const Maker *m, const Node *node, Node *const *operands) {
  Shape own = node->type.shape;
  int64_t first = query_elements(operands);
  return make_adjoint(m, node, operands, first, first + own.dim[2] * own.dim[3]);
}
