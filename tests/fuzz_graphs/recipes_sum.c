/* Reductions and contractions. */
#include "generate.h"

/* A random subset of the axes, increasing. */
static int draw_axes(Generator *g, int rank, int64_t *axes) {
  int count = 0;
  for (int i = 0; i < rank; i++)
    if (draw_chance(g, 50)) axes[count++] = i;
  return count;
}

Node *grow_reduce(Generator *g) {
  static const Op ops[] = {OP_REDUCE_SUM, OP_REDUCE_MEAN, OP_REDUCE_MAX, OP_REDUCE_MIN,
                           OP_REDUCE_PROD};
  Op op = ops[draw_below(g, 5)];
  Node *x = draw_node(g, draw_chance(g, 85) ? KIND_FLOAT : KIND_INT);
  if (!x) return NULL;
  int64_t axes[MAX_RANK];
  int count = draw_axes(g, x->type.shape.rank, axes);
  if (op == OP_REDUCE_PROD && dtype_is_float(x->type.dtype)) x = fit_range(g, x, 0.7, 1.4);
  Attribute attribute = attr_make_ints(ATTR_AXES, count, axes);
  return try_add(g, op, 1, &x, 1, &attribute);
}

Node *grow_arg(Generator *g) {
  Node *x = draw_node(g, (draw_chance(g, 80) ? KIND_FLOAT : KIND_INT) | KIND_AXES);
  if (!x) return NULL;
  Attribute axis = attr_make_int(ATTR_AXIS, draw_below(g, x->type.shape.rank));
  return try_add(g, draw_chance(g, 50) ? OP_ARGMAX : OP_ARGMIN, 1, &x, 1, &axis);
}

typedef struct Pairs {
  int count;
  int64_t left[MAX_RANK], right[MAX_RANK];
} Pairs;

static void pair(Pairs *pairs, int64_t left, int64_t right) {
  pairs->left[pairs->count] = left;
  pairs->right[pairs->count++] = right;
}

/* A right side that shares some axes with the left, others new, in any order. */
static Node *make_right(Generator *g, Node *left, Pairs *batch, Pairs *sum) {
  int64_t dim[MAX_RANK], order[MAX_RANK], place[MAX_RANK];
  int source[MAX_RANK], rank = 0;
  for (int i = 0; i < left->type.shape.rank && rank < 5; i++)
    if (draw_chance(g, 60)) {
      source[rank] = i;
      dim[rank++] = left->type.shape.dim[i];
    }
  for (int free = (int)draw_below(g, 3); free > 0 && rank < 6; free--) {
    source[rank] = -1;
    dim[rank++] = draw_extent(g);
  }
  draw_permutation(g, rank, order);
  Shape shape = {.rank = rank};
  for (int i = 0; i < rank; i++) {
    shape.dim[i] = dim[order[i]];
    place[order[i]] = i;
  }
  if (shape_elements(shape) > g->sizes->operand) return NULL;
  for (int i = 0; i < rank; i++)
    if (source[i] >= 0) pair(draw_chance(g, 35) ? batch : sum, source[i], place[i]);
  return draw_like(g, type_make(left->type.dtype, shape));
}

static void shuffle_pairs(Generator *g, Pairs *pairs) {
  int64_t order[MAX_RANK];
  Pairs old = *pairs;
  draw_permutation(g, pairs->count, order);
  for (int i = 0; i < pairs->count; i++) {
    pairs->left[i] = old.left[order[i]];
    pairs->right[i] = old.right[order[i]];
  }
}

static int64_t products(const Node *left, const Node *right, const Pairs *batch, const Pairs *sum) {
  int64_t shared = 1;
  for (int i = 0; i < batch->count; i++) shared *= left->type.shape.dim[batch->left[i]];
  for (int i = 0; i < sum->count; i++) shared *= left->type.shape.dim[sum->left[i]];
  int64_t all = shape_elements(left->type.shape) * shape_elements(right->type.shape);
  return shared > 0 ? all / shared : 0;
}

Node *grow_contract(Generator *g) {
  Node *left = draw_node(g, KIND_FLOAT);
  if (!left) return NULL;
  Pairs batch = {0}, sum = {0};
  Node *right = make_right(g, left, &batch, &sum);
  if (!right || products(left, right, &batch, &sum) > g->sizes->products) return NULL;
  shuffle_pairs(g, &batch);
  shuffle_pairs(g, &sum);
  bool swap = draw_chance(g, 40);
  Attribute attributes[] = {
      attr_make_ints(ATTR_BATCH_LEFT, batch.count, swap ? batch.right : batch.left),
      attr_make_ints(ATTR_BATCH_RIGHT, batch.count, swap ? batch.left : batch.right),
      attr_make_ints(ATTR_SUM_LEFT, sum.count, swap ? sum.right : sum.left),
      attr_make_ints(ATTR_SUM_RIGHT, sum.count, swap ? sum.left : sum.right),
  };
  return try_add(g, OP_CONTRACT, 2, (Node *[]){swap ? right : left, swap ? left : right}, 4,
                 attributes);
}
