/* Attention that is written out: where a node ends one, the operator in its place.
 *
 *   scores  = contract(q, k) [scaled] [where(seen, ., -inf)] [+ mask]
 *   weights = exp(scores - max) / sum of it    as softmax and masked_softmax of the prelude have it
 *   y       = contract(weights, v)
 *
 * with up to two axes of batch and heads. Nothing but the attention may use the weights, or they
 * would be computed all the same; so weights with dropout stay as they are. Casts between floats
 * on the way are the operator's own, which computes scores and sums in f32 at least: of values
 * of 16 bits its result is the more exact one.
 *
 * The operator gives a query that sees nothing zeros, as masked_softmax does; a plain softmax
 * gives it NaN. So with a mask that may hide all from a query, that form is asked for. */
#include "ops/attention.h"
#include "passes/rules/rules.h"

#include <math.h>

enum { MOST_DEPTH = 256 }; /* beyond it the scores are no longer what memory is spent on */

/* What was found, in the old graph. */
typedef struct Match {
  const int *uses;
  int batches; /* axes of the scores before those of queries and keys */
  Shape scores;
  const Node *first, *second; /* the contractions: of q and k, of the weights and v */
  const Node *own_gradient;   /* that softmax states for the weights; or NULL */
  const Node *mask;
  bool mask_is_inverse; /* it says what is not seen */
  bool is_guarded;      /* a query may see nothing */
  AttentionForm form;
} Match;

static const Node *skip_casts(const Node *node) {
  while (node->op == OP_CAST && dtype_is_float(node->operands[0]->type.dtype) &&
         dtype_is_float(node->type.dtype))
    node = node->operands[0];
  return node;
}

/* So often by others than the gradient that is stated for the weights. */
static bool is_used(const Match *match, const Node *node, int times) {
  for (int i = 0; match->own_gradient && i < match->own_gradient->operand_count; i++)
    times += match->own_gradient->operands[i] == node;
  return match->uses[node->id] == times;
}

static bool axes_are(const Attribute *axes, int count, int64_t first) {
  if (axes->count != count) return false;
  for (int i = 0; i < count; i++)
    if (axes->ints[i] != first + i) return false;
  return true;
}

/* ---- contractions ---- */

/* The only axis of a side that is neither of the batch nor summed; -1: there is another number
 * of them. */
static int free_axis(const Node *node, int side) {
  const Attribute *batch = node_ints(node, side ? ATTR_BATCH_RIGHT : ATTR_BATCH_LEFT);
  const Attribute *sum = node_ints(node, side ? ATTR_SUM_RIGHT : ATTR_SUM_LEFT);
  int rank = node->operands[side]->type.shape.rank;
  bool is_taken[MAX_RANK] = {false};
  if (sum->count != 1 || batch->count + 2 != rank) return -1;
  for (int i = 0; i < batch->count; i++) is_taken[batch->ints[i]] = true;
  is_taken[sum->ints[0]] = true;
  for (int i = 0; i < rank; i++)
    if (!is_taken[i]) return i;
  return -1;
}

static bool is_product(const Node *node) {
  return node->op == OP_CONTRACT && free_axis(node, 0) >= 0 && free_axis(node, 1) >= 0;
}

/* ---- the softmax ---- */

/* `node` repeats a number for each row along the last axis of the scores; that number. */
static const Node *row_number(const Match *match, const Node *node) {
  if (node->op != OP_BROADCAST || !shape_equal(node->type.shape, match->scores)) return NULL;
  if (!axes_are(node_ints(node, ATTR_AXES), match->batches + 1, 0)) return NULL;
  return node->operands[0];
}

static bool reduces_rows(const Match *match, const Node *node, Op op) {
  return node->op == op && axes_are(node_ints(node, ATTR_AXES), 1, match->batches + 1);
}

/* where(x == value, ., x) -> x, and *is_guarded. */
static const Node *skip_guard(const Node *node, double value, double instead, bool *is_guarded) {
  *is_guarded = false;
  if (node->op != OP_WHERE || !match_value(node->operands[1], instead)) return node;
  const Node *is_equal = node->operands[0], *x = node->operands[2];
  if (is_equal->op != OP_EQ || is_equal->operands[0] != x ||
      !match_value(is_equal->operands[1], value))
    return node;
  *is_guarded = true;
  return x;
}

/* `node`, of the rule of `own`, is its argument `value`; NULL: the gradient of the result. */
static bool is_argument(const Node *own, const Node *node, const Node *value) {
  node = skip_casts(node);
  if (op_info(node->op)->class->leaf != LEAF_ARGUMENT) return false;
  int64_t index = node_int(node, ATTR_INDEX);
  return value ? index > 0 && skip_casts(own->operands[index]) == value : index == 0;
}

/* product of the gradient dy of the result and of the weights */
static bool is_received(const Node *own, const Node *node, const Node *weights) {
  if (node->op != OP_MUL) return false;
  for (int i = 0; i < 2; i++)
    if (is_argument(own, node->operands[i], NULL) &&
        is_argument(own, node->operands[1 - i], weights))
      return true;
  return false;
}

/* The gradient that `own` states for `weights` is that of a softmax, (dy - sum(dy p)) p, and so the one
 * that the operator has; a def of the program's may state another. */
static bool states_softmax(const Match *match, const Node *own, const Node *weights) {
  if (own->rule->outputs.count != 1) return false;
  const Node *product = skip_casts(own->rule->outputs.items[0].node);
  for (int i = 0; product->op == OP_MUL && i < 2; i++) {
    const Node *difference = skip_casts(product->operands[i]);
    if (difference->op != OP_SUB || !is_argument(own, product->operands[1 - i], weights)) continue;
    const Node *sum = difference->operands[1];
    while (sum->op == OP_BROADCAST || sum->op == OP_RESHAPE) sum = sum->operands[0];
    return is_argument(own, difference->operands[0], NULL) &&
           reduces_rows(match, sum, OP_REDUCE_SUM) && is_received(own, sum->operands[0], weights);
  }
  return false;
}

/* The scores of which `weights` are the softmax, or NULL. */
static const Node *match_softmax(Match *match, const Node *weights) {
  bool sum_is_guarded, top_is_guarded;
  weights = skip_casts(weights);
  if (weights->op == OP_OWN_GRADIENT) {
    const Node *own = weights;
    weights = skip_casts(own->operands[0]);
    if (!is_used(match, own, 1) || !states_softmax(match, own, weights)) return NULL;
    match->own_gradient = own;
  }
  if (weights->op != OP_DIV || !is_used(match, weights, match->own_gradient ? 0 : 1)) return NULL;
  const Node *exponentials = weights->operands[0];
  const Node *sum = row_number(match, weights->operands[1]);
  if (!sum || exponentials->op != OP_EXP || !is_used(match, exponentials, 2)) return NULL;
  sum = skip_guard(sum, 0, 1, &sum_is_guarded);
  if (!reduces_rows(match, sum, OP_REDUCE_SUM) || sum->operands[0] != exponentials) return NULL;
  const Node *above = exponentials->operands[0];
  const Node *top = above->op == OP_SUB ? row_number(match, above->operands[1]) : NULL;
  if (!top) return NULL;
  top = skip_guard(top, -INFINITY, 0, &top_is_guarded);
  if (top->op == OP_STOP_GRADIENT) top = top->operands[0];
  const Node *scores = above->operands[0];
  if (!reduces_rows(match, top, OP_REDUCE_MAX) || top->operands[0] != scores) return NULL;
  match->is_guarded = sum_is_guarded && top_is_guarded;
  return is_used(match, scores, 2) ? scores : NULL;
}

/* ---- masks ---- */

/* The value of each element is its index along `axis`. */
static bool is_index_along(const Node *node, int64_t axis) {
  if (node->op == OP_IOTA) return node_int(node, ATTR_AXIS) == axis;
  if (node->op != OP_BROADCAST) return false;
  const Attribute *axes = node_ints(node, ATTR_AXES);
  for (int i = 0; i < axes->count; i++)
    if (axes->ints[i] == axis) return is_index_along(node->operands[0], i);
  return false;
}

/* Whether `seen`, of the scores' shape, is: the key is not after the query. `is_inverse`: it
 * says what is not seen. */
static bool is_causal(const Match *match, const Node *seen, bool is_inverse) {
  int64_t query = match->batches, key = match->batches + 1;
  if (seen->op == OP_BROADCAST) {
    const Attribute *axes = node_ints(seen, ATTR_AXES);
    int64_t row = -1, column = -1;
    for (int i = 0; i < axes->count; i++) {
      if (axes->ints[i] == query) row = i;
      if (axes->ints[i] == key) column = i;
    }
    query = row;
    key = column;
    seen = seen->operands[0];
  }
  if (query < 0 || key < 0) return false;
  if (seen->op == (is_inverse ? OP_LT : OP_GE))
    return is_index_along(seen->operands[0], query) && is_index_along(seen->operands[1], key);
  if (seen->op == (is_inverse ? OP_GT : OP_LE))
    return is_index_along(seen->operands[0], key) && is_index_along(seen->operands[1], query);
  return false;
}

/* where(seen, scores, -inf), or the other way round; the scores, or NULL. */
static const Node *match_where(Match *match, const Node *node) {
  bool is_inverse = match_value(node->operands[1], -INFINITY);
  if (!is_inverse && !match_value(node->operands[2], -INFINITY)) return NULL;
  const Node *scores = node->operands[is_inverse ? 2 : 1];
  if (is_causal(match, node->operands[0], is_inverse)) {
    match->form.is_causal = true;
    return scores;
  }
  if (match->mask) return NULL;
  match->mask = node->operands[0];
  match->mask_is_inverse = is_inverse;
  return scores;
}

/* ---- scores ---- */

/* On the way there is a product of matrices: so this is where the scores come from, not the
 * mask. */
static bool leads_to_product(const Node *node) {
  for (int depth = 0; depth < 8; depth++) {
    if (is_product(node)) return true;
    if (node->op == OP_WHERE)
      node = match_value(node->operands[1], -INFINITY) ? node->operands[2] : node->operands[1];
    else if (node->op == OP_CAST || node->op == OP_MUL || node->op == OP_DIV || node->op == OP_ADD)
      node = node->operands[0];
    else return false;
  }
  return false;
}

/* scores + mask; the scores, or NULL. */
static const Node *match_add(Match *match, const Node *node) {
  int side = leads_to_product(node->operands[0]) ? 0 : 1;
  if (match->mask || match->form.scale != 1) return NULL;
  match->mask = node->operands[1 - side];
  return node->operands[side];
}

static const Node *match_scale(Match *match, const Node *node) {
  double factor;
  if (!match_constant(node->operands[1], &factor)) return NULL;
  if (node->op == OP_DIV) factor = 1 / factor;
  match->form.scale *= factor;
  return isfinite(factor) && factor > 0 ? node->operands[0] : NULL;
}

/* Down to the product of q and k. */
static bool match_scores(Match *match, const Node *scores) {
  while (scores && !is_product(scores)) {
    const Node *outer = scores;
    switch (scores->op) {
    case OP_CAST: scores = skip_casts(scores); break;
    case OP_WHERE: scores = match_where(match, scores); break;
    case OP_ADD: scores = match_add(match, scores); break;
    case OP_MUL:
    case OP_DIV: scores = match_scale(match, scores); break;
    default: return false;
    }
    if (scores == outer || (scores && !is_used(match, scores, 1))) return false;
  }
  match->first = scores;
  return scores && shape_equal(scores->type.shape, match->scores) &&
         (!match->mask || match->is_guarded || !shape_elements(match->scores));
}

static bool match_attention(Match *match, const Node *node) {
  if (!is_product(node) || node_ints(node, ATTR_SUM_RIGHT)->count != 1) return false;
  match->second = node;
  match->scores = node->operands[0]->type.shape;
  match->batches = match->scores.rank - 2;
  match->form.scale = 1;
  if (match->batches > 2 || !is_used(match, node->operands[0], 1) ||
      !axes_are(node_ints(node, ATTR_BATCH_LEFT), match->batches, 0) ||
      node_ints(node, ATTR_SUM_LEFT)->ints[0] != match->batches + 1)
    return false;
  const Node *scores = match_softmax(match, node->operands[0]);
  return scores && match_scores(match, scores);
}

/* ---- the operator ---- */

static Shape four_axes(Shape shape) {
  Shape four = {.rank = 4, .dim = {1, 1, 1, 1}};
  for (int i = 0; i < shape.rank; i++) four.dim[4 - shape.rank + i] = shape.dim[i];
  return four;
}

/* Elements of the type, perhaps widened. */
static bool is_of(const Node *node, DType dtype) {
  while (node->op == OP_RESHAPE || node->op == OP_TRANSPOSE || node->op == OP_BROADCAST ||
         node->op == OP_SLICE)
    node = node->operands[0];
  return node->type.dtype == dtype ||
         (node->op == OP_CAST && node->operands[0]->type.dtype == dtype);
}

/* Side `side` of a product can be an operand; its depth is the extent of `axis`. */
static bool side_fits(const Node *product, int side, int64_t axis, DType dtype) {
  const Node *operand = product->operands[side];
  return is_of(operand, dtype) && operand->type.shape.dim[axis] <= MOST_DEPTH;
}

static bool sides_fit(const Match *match) {
  DType dtype = match->second->type.dtype;
  return dtype_is_float(dtype) &&
         side_fits(match->first, 0, node_ints(match->first, ATTR_SUM_LEFT)->ints[0], dtype) &&
         side_fits(match->first, 1, node_ints(match->first, ATTR_SUM_RIGHT)->ints[0], dtype) &&
         side_fits(match->second, 1, free_axis(match->second, 1), dtype);
}

/* Side `side` of a product as [batch, heads, rows, columns], its free axis and the summed one
 * being in the order that is asked for. */
static Node *make_side(const Maker *maker, const NodeMap *map, const Node *product, int side,
                       bool sum_is_last, DType dtype) {
  const Attribute *batch = node_ints(product, side ? ATTR_BATCH_RIGHT : ATTR_BATCH_LEFT);
  int64_t sum = node_ints(product, side ? ATTR_SUM_RIGHT : ATTR_SUM_LEFT)->ints[0];
  int64_t own = free_axis(product, side), permutation[MAX_RANK];
  int count = batch->count;
  for (int i = 0; i < count; i++) permutation[i] = batch->ints[i];
  permutation[count] = sum_is_last ? own : sum;
  permutation[count + 1] = sum_is_last ? sum : own;
  Node *operand = make_cast(maker, node_map_get(map, product->operands[side]), dtype);
  Node *turned = make_transpose(maker, operand, permutation);
  return make_reshape(maker, turned, four_axes(turned->type.shape));
}

static Node *make_mask(const Maker *maker, const NodeMap *map, const Match *match) {
  if (!match->mask) return NULL;
  Node *mask = node_map_get(map, match->mask);
  if (match->mask_is_inverse) mask = make_unary(maker, OP_NOT, mask);
  return make_reshape(maker, mask, four_axes(mask->type.shape));
}

/* Whether the target's kernels take heads so deep, and are as fast as the products: these have tensor
 * cores in 16 bits, and in f32 that may be rounded to tf32. */
static bool has_kernels(const Match *match, const Module *module) {
  DType dtype = match->second->type.dtype;
  const Node *q = match->first->operands[0], *v = match->second->operands[1];
  int64_t depth = q->type.shape.dim[node_ints(match->first, ATTR_SUM_LEFT)->ints[0]];
  int64_t value_depth = v->type.shape.dim[free_axis(match->second, 1)];
  Shape scores = match->scores;
  if (!op_attention_fits(module->target, dtype, depth, value_depth)) return false;
  AttentionUse use = {.queries = scores.dim[scores.rank - 2],
                      .keys = scores.dim[scores.rank - 1],
                      .is_causal = match->form.is_causal,
                      .splits_products = module->run.splits_products};
  if (!op_attention_gains(module->target, &use)) return false;
  bool products_have = dtype_is_half(dtype) || (dtype == DTYPE_F32 && module->run.allows_tf32);
  return !products_have || op_attention_has_units(module->target, dtype, depth, value_depth);
}

Node *rules_recognize_attention(const Maker *maker, const Node *node, const NodeMap *map,
                                const int *uses, const Module *module) {
  Match match = {.uses = uses};
  if (node->op != OP_CONTRACT || !match_attention(&match, node) || !sides_fit(&match) ||
      !has_kernels(&match, module))
    return NULL;
  Node *operands[3];
  operands[0] = make_side(maker, map, match.first, 0, true, node->type.dtype);
  operands[1] = make_side(maker, map, match.first, 1, true, node->type.dtype);
  operands[2] = make_side(maker, map, node, 1, false, node->type.dtype);
  Node *y = make_attention(maker, operands, make_mask(maker, map, &match), match.form);
  return make_reshape(maker, y, node->type.shape);
}
