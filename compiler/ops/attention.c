/* attention: softmax(scale q k^T + mask) v for each head, without the matrix of scores in
 * memory.
 *
 *   q [b, h, nq, d]   k [b, h, nk, d]   v [b, h, nk, e]   mask [b, h, nq, nk]   y [b, h, nq, e]
 *
 * A mask is bool, where false nothing is seen, or a float that is added to the scores. With
 * `causal` query i sees keys up to the i-th. A query that sees nothing gets zeros.
 *
 * What the backward part needs of the softmax is attention_lse [b, h, nq, 2]: of each query the
 * greatest score and the logarithm of the sum above it. They are apart, since where scores are
 * about -1e9, as under a mask that is added, their sum would not hold the logarithm. The adjoints
 * compute scores again from them, and from delta, the sum of y dy over each row (Dao et al. 2022).
 * That in the keys and that in the values come from one operator, side by side, since they share
 * all they are made of. Scores and sums are in f32 where the operands have 16 bits. The formulas
 * stand in kernel/classes/attention.c.
 *
 * A target whose kernels hold all of a head's adjoints at once, as the CPU's do, has two other
 * operators: attention_rows, y and lse side by side, and attention_grads, which reads them. `expand`
 * makes the operators above parts of those (OpClass.part), of which cse leaves one.
 *
 * Programs write attention out (prelude/layers.net, or by hand); the pass `recognize` makes it
 * this operator where the target has the kernels, and `expand` writes it out again where it has
 * none. */
#include "ops/attention.h"

#include "kernel/attention.h"
#include "ops/adjoints.h"
#include "ops/lower.h"
#include "support/panic.h"

enum { Q, K, V, DY, LSE, DELTA, ADJOINT_OPERANDS };

static KernelKind kind_of(const Node *node) { return op_info(node->op)->class->needs; }

bool attention_is_causal(const Node *node) {
  const Attribute *causal = node_attribute(node, ATTR_CAUSAL);
  return causal && causal->integer != 0;
}

Node *attention_mask(const Node *node, Node *const *operands) {
  int most = attention_operands(kind_of(node));
  return node->operand_count == most ? operands[most - 1] : NULL;
}

DType attention_wide(DType dtype) { return dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32; }

/* Results in the type of sums, which an attribute says: the others have that of their operands. */
static bool op_says_dtype(Op op) { return op == OP_ATTENTION_LSE || op == OP_ATTENTION_ROWS; }

/* ---- making ---- */

Node *make_attention_of(const Maker *maker, Op op, int count, Node *const *operands, Node *mask,
                        AttentionForm form) {
  Node *all[ADJOINT_OPERANDS + 1];
  int first = op_says_dtype(op) ? 0 : 1;
  Attribute attributes[3] = {attr_make_int(ATTR_DTYPE, attention_wide(operands[0]->type.dtype)),
                             attr_make_float(ATTR_SCALE, form.scale),
                             attr_make_int(ATTR_CAUSAL, 1)};
  for (int i = 0; i < count; i++) all[i] = operands[i];
  if (mask) all[count++] = mask;
  return make_node(maker, op, count, all, (form.is_causal ? 3 : 2) - first, attributes + first);
}

Node *make_attention(const Maker *maker, Node *const *operands, Node *mask, AttentionForm form) {
  return make_attention_of(maker, OP_ATTENTION, 3, operands, mask, form);
}

Node *attention_like(const Maker *maker, Op op, const Node *node, int count,
                     Node *const *operands) {
  AttentionForm form = {node_float(node, ATTR_SCALE), attention_is_causal(node)};
  return make_attention_of(maker, op, count, operands, attention_mask(node, node->operands), form);
}

/* ---- type rules ---- */

/* The extents of the axes by their letters (kernel/attention.h); false when two differ. */
static bool find_extents(Inference *in, int64_t extents[128]) {
  KernelKind kind = kind_of(in->node);
  for (int c = 0; c < 128; c++) extents[c] = c == 'p' ? 2 : -1;
  for (int i = 0; i < in->node->operand_count; i++) {
    const char *axes = attention_axes(kind, i);
    Shape shape = in->node->operands[i]->type.shape;
    if (shape.rank != (int)strlen(axes))
      return infer_fail(in, "operand %d has shape %s where %d axes are needed", i + 1,
                        shape_text(in->arena, shape), (int)strlen(axes));
    for (int k = 0; k < shape.rank; k++) {
      int64_t *extent = &extents[(int)axes[k]];
      if (*extent >= 0 && *extent != shape.dim[k])
        return infer_fail(in, "operand %d has shape %s, and axis %d is %lld elsewhere", i + 1,
                          shape_text(in->arena, shape), k, (long long)*extent);
      *extent = shape.dim[k];
    }
  }
  extents['w'] = extents['d'] + extents['v'];
  if (kind_of(in->node) == KERNEL_ATTENTION_ROWS) extents['r'] = extents['v'] + 2;
  if (kind_of(in->node) != KERNEL_ATTENTION_GRADS) return true;
  if (extents['r'] != extents['v'] + 2)
    return infer_fail(in, "operand 5 has rows of %lld, not %lld", (long long)extents['r'],
                      (long long)extents['v'] + 2);
  extents['g'] = extents['q'] * extents['d'] + extents['k'] * extents['w'];
  return true;
}

/* Floats of one type; what belongs to a query as a whole has any; a mask may be bool. */
static bool dtypes_fit(Inference *in) {
  const Node *node = in->node;
  DType dtype = node->operands[Q]->type.dtype;
  if (!infer_dtype(in, Q, DTYPES_FLOAT)) return false;
  for (int i = 1; i < node->operand_count; i++) {
    bool is_mask = i == attention_operands(kind_of(node)) - 1;
    if (!infer_dtype(in, i, is_mask ? DTYPES_FLOAT | DTYPES_BOOL : DTYPES_FLOAT)) return false;
    if (i < LSE && !is_mask && node->operands[i]->type.dtype != dtype)
      return infer_fail(in, "operand %d has type %s, not %s", i + 1,
                        dtype_name(node->operands[i]->type.dtype), dtype_name(dtype));
  }
  return true;
}

/* The type of the result: some say it. */
static bool result_dtype(Inference *in, DType *dtype) {
  *dtype = in->node->operands[Q]->type.dtype;
  if (!op_says_dtype(in->node->op)) return true;
  const Attribute *own = infer_attribute(in, ATTR_DTYPE);
  if (!own) return false;
  *dtype = (DType)own->integer;
  return dtype_is_float(*dtype) || infer_fail(in, "'dtype' is no float");
}

static bool attention_infer(Inference *in) {
  int64_t extents[128];
  const Attribute *causal = node_attribute(in->node, ATTR_CAUSAL);
  DType dtype;
  if (!infer_attribute(in, ATTR_SCALE)) return false;
  if (causal && causal->integer != 0 && causal->integer != 1)
    return infer_fail(in, "'causal' is neither 0 nor 1");
  if (!dtypes_fit(in) || !result_dtype(in, &dtype) || !find_extents(in, extents)) return false;
  const char *axes = attention_result_axes(kind_of(in->node));
  Shape shape = {.rank = (int)strlen(axes)};
  for (int i = 0; i < shape.rank; i++) shape.dim[i] = extents[(int)axes[i]];
  in->type = type_make(dtype, shape);
  if (shape_is_representable(shape)) return true;
  return infer_fail(in, "the result has too many elements");
}

/* ---- evaluation: a row of scores at a time ---- */

/* One head, its operands and extents. */
typedef struct Head {
  const Node *node;
  int64_t queries, keys, depth, value_depth;
  const double *of[ADJOINT_OPERANDS + 1], *mask; /* mask: NULL where there is none */
  bool mask_is_bool;
  double *weights, *adjoints; /* of a row */
} Head;

static double dot(const double *a, const double *b, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; i++) sum += a[i] * b[i];
  return sum;
}

static void add_times(double *to, const double *x, double factor, int64_t count) {
  for (int64_t i = 0; i < count; i++) to[i] += x[i] * factor;
}

static double masked(const Head *head, int64_t at, double score) {
  if (!head->mask) return score;
  if (!head->mask_is_bool) return score + head->mask[at];
  return head->mask[at] != 0 ? score : -INFINITY;
}

/* weights = the scores of row i; lse = the greatest, and the log of the sum of exponentials. */
static void score_row(const Head *head, int64_t i, double lse[2]) {
  double scale = node_float(head->node, ATTR_SCALE), top = -INFINITY, sum = 0;
  bool is_causal = attention_is_causal(head->node);
  for (int64_t j = 0; j < head->keys; j++) {
    double score =
        scale * dot(head->of[Q] + i * head->depth, head->of[K] + j * head->depth, head->depth);
    head->weights[j] = is_causal && j > i ? -INFINITY : masked(head, i * head->keys + j, score);
    if (head->weights[j] > top) top = head->weights[j];
  }
  if (top == -INFINITY) top = 0;
  for (int64_t j = 0; j < head->keys; j++) sum += exp(head->weights[j] - top);
  lse[0] = top;
  lse[1] = sum == 0 ? 0 : log(sum);
}

static void weigh_row(const Head *head, const double lse[2]) {
  for (int64_t j = 0; j < head->keys; j++)
    head->weights[j] = exp(head->weights[j] - lse[0] - lse[1]);
}

/* weights = those of row i, adjoints = what its scores receive. */
static void differentiate_row(const Head *head, int64_t i) {
  bool has_rows = head->node->op == OP_ATTENTION_GRADS;
  int64_t e = head->value_depth;
  const double *dy = head->of[DY] + i * e, *row = head->of[LSE] + i * (has_rows ? e + 2 : 2);
  double lse[2], delta = has_rows ? dot(row, dy, e) : head->of[DELTA][i];
  score_row(head, i, lse);
  weigh_row(head, has_rows ? row + e : row);
  for (int64_t j = 0; j < head->keys; j++) {
    double received = dot(dy, head->of[V] + j * e, e);
    head->adjoints[j] = head->weights[j] * (received - delta);
  }
}

static void y_row(const Head *head, int64_t i, double *result) {
  double lse[2];
  score_row(head, i, lse);
  weigh_row(head, lse);
  for (int64_t j = 0; j < head->keys; j++)
    add_times(result + i * head->value_depth, head->of[V] + j * head->value_depth, head->weights[j],
              head->value_depth);
}

static void rows_row(const Head *head, int64_t i, double *result) {
  int64_t e = head->value_depth;
  double *row = result + i * (e + 2);
  score_row(head, i, row + e);
  weigh_row(head, row + e);
  for (int64_t j = 0; j < head->keys; j++) add_times(row, head->of[V] + j * e, head->weights[j], e);
}

static void lse_row(const Head *head, int64_t i, double *result) {
  score_row(head, i, result + 2 * i);
}

static void grad_q_row(const Head *head, int64_t i, double *result) {
  double scale = node_float(head->node, ATTR_SCALE);
  differentiate_row(head, i);
  for (int64_t j = 0; j < head->keys; j++)
    add_times(result + i * head->depth, head->of[K] + j * head->depth, scale * head->adjoints[j],
              head->depth);
}

static void grad_kv_row(const Head *head, int64_t i, double *result) {
  double scale = node_float(head->node, ATTR_SCALE);
  differentiate_row(head, i);
  for (int64_t j = 0; j < head->keys; j++) {
    double *row = result + j * (head->depth + head->value_depth);
    add_times(row, head->of[Q] + i * head->depth, scale * head->adjoints[j], head->depth);
    add_times(row + head->depth, head->of[DY] + i * head->value_depth, head->weights[j],
              head->value_depth);
  }
}

static void grads_row(const Head *head, int64_t i, double *result) {
  grad_q_row(head, i, result);
  grad_kv_row(head, i, result + head->queries * head->depth);
}

static void evaluate_heads(const Node *node, const Tensor *const *operands, Tensor *result,
                           void (*rule)(const Head *head, int64_t i, double *result)) {
  Arena *scratch = arena_create();
  Shape q = operands[Q]->type.shape, k = operands[K]->type.shape;
  int mask = attention_operands(kind_of(node)) - 1;
  Head head = {.node = node, .queries = q.dim[2], .keys = k.dim[2], .depth = q.dim[3]};
  if (node->op != OP_ATTENTION_LSE) head.value_depth = operands[V]->type.shape.dim[3];
  head.weights = ARENA_ARRAY(scratch, double, head.keys + 1);
  head.adjoints = ARENA_ARRAY(scratch, double, head.keys + 1);
  int64_t heads = q.dim[0] * q.dim[1];
  tensor_fill(result, 0);
  for (int64_t h = 0; h < heads; h++) {
    for (int i = 0; i < node->operand_count; i++)
      head.of[i] = operands[i]->data + h * (shape_elements(operands[i]->type.shape) / heads);
    head.mask = mask < node->operand_count ? head.of[mask] : NULL;
    head.mask_is_bool = head.mask && operands[mask]->type.dtype == DTYPE_BOOL;
    double *own = result->data + h * (shape_elements(result->type.shape) / heads);
    for (int64_t i = 0; i < head.queries; i++) rule(&head, i, own);
  }
  arena_destroy(scratch);
}

/* ---- cost, pieces, kernel ---- */

/* The products that are computed, over the pairs of a query and a key that it sees. */
static Cost attention_cost(const Node *node) {
  static const int score_products[] = {
      [OP_ATTENTION] = 1,         [OP_ATTENTION_LSE] = 1,  [OP_ATTENTION_GRAD_Q] = 2,
      [OP_ATTENTION_GRAD_KV] = 2, [OP_ATTENTION_ROWS] = 1, [OP_ATTENTION_GRADS] = 3};
  Shape q = node->operands[Q]->type.shape, k = node->operands[K]->type.shape;
  double value_depth =
      node->op == OP_ATTENTION_LSE ? 0 : (double)node->operands[V]->type.shape.dim[3];
  double pairs =
      (double)shape_elements(q) / (q.dim[3] > 0 ? (double)q.dim[3] : 1) * (double)k.dim[2];
  if (attention_is_causal(node)) pairs /= 2;
  double depth = score_products[node->op] * (double)q.dim[3] + value_depth;
  if (node->op == OP_ATTENTION_GRAD_KV || node->op == OP_ATTENTION_GRADS) depth += value_depth;
  return (Cost){.flops = 2 * pairs * depth, .bytes = node_bytes(node)};
}

/* The operand's axis of the same letter. With causal attention a piece of the queries or keys
 * would be another operator. */
static int attention_cut(const Node *node, int axis, int operand) {
  KernelKind kind = kind_of(node);
  if (axis >= node->type.shape.rank) return AXIS_UNCUT;
  char letter = attention_result_axes(kind)[axis];
  bool is_position = letter == 'q' || letter == 'k';
  if (strchr("dwprg", letter) || (is_position && attention_is_causal(node))) return AXIS_UNCUT;
  const char *axes = attention_axes(kind, operand), *at = strchr(axes, letter);
  return at ? (int)(at - axes) : AXIS_WHOLE;
}

static void attention_lower(KernelBuilder *builder, const Node *node) {
  Shape q = node->operands[Q]->type.shape, k = node->operands[K]->type.shape;
  AttentionSlots slots = {.batch = q.dim[0],
                          .heads = q.dim[1],
                          .queries = q.dim[2],
                          .keys = k.dim[2],
                          .depth = q.dim[3],
                          .scale = node_float(node, ATTR_SCALE),
                          .causal = attention_is_causal(node),
                          .count = node->operand_count};
  if (node->op != OP_ATTENTION_LSE) slots.value_depth = node->operands[V]->type.shape.dim[3];
  for (int i = 0; i < node->operand_count; i++) {
    int64_t stride[MAX_RANK];
    builder_operand_strides(builder, i, stride);
    for (int a = 0; a < node->operands[i]->type.shape.rank; a++) slots.stride[a][i] = stride[a];
  }
  builder_set_kind(builder, kind_of(node))->attention = slots;
}

/* ---- gradients ---- */

/* The adjoint's operands besides the mask: q, k, v, dy, lse, delta. */
static void adjoint_operands(const GradientContext *context, Node *operands[ADJOINT_OPERANDS]) {
  const Maker *m = &context->maker;
  Node *node = context->node;
  DType wide = attention_wide(node->type.dtype);
  for (int i = 0; i < DY; i++) operands[i] = node->operands[i];
  operands[DY] = context->adjoint;
  operands[LSE] = attention_like(m, OP_ATTENTION_LSE, node, 2, operands);
  Node *y = make_cast(m, node, wide);
  Node *dy = make_cast(m, context->adjoint, wide);
  int64_t last = 3;
  operands[DELTA] = make_reduce(m, OP_REDUCE_SUM, make_binary(m, OP_MUL, y, dy), 1, &last);
}

static Node *attention_gradient(const GradientContext *context, int operand) {
  const Maker *m = &context->maker;
  Node *node = context->node, *operands[ADJOINT_OPERANDS + 1];
  if (!dtype_is_float(node->operands[operand]->type.dtype)) return NULL;
  adjoint_operands(context, operands);
  if (operand == Q) return attention_like(m, OP_ATTENTION_GRAD_Q, node, DELTA + 1, operands);
  Node *both = attention_like(m, OP_ATTENTION_GRAD_KV, node, DELTA + 1, operands);
  int64_t depth = node->operands[Q]->type.shape.dim[3];
  if (operand == K) return make_range(m, both, 3, 0, depth);
  if (operand == V) return make_range(m, both, 3, depth, both->type.shape.dim[3]);
  return make_cast(m, attention_score_adjoint(m, both, both->operands),
                   node->operands[operand]->type.dtype);
}

/* By the rules of the operators that it is made of: of interest to second derivatives alone. */
static Node *gradient_when_expanded(const GradientContext *context, int operand) {
  const Maker *m = &context->maker;
  Node *node = context->node, *operands[ADJOINT_OPERANDS + 1];
  if (!dtype_is_float(node->operands[operand]->type.dtype)) return NULL;
  for (int i = 0; i < node->operand_count; i++) operands[i] = make_alias(m, node->operands[i]);
  Node *value = op_info(node->op)->class->expand(m, node, operands);
  Adjoints adjoints = adjoints_create(m->graph, value->id + 1);
  adjoints.leads[operands[operand]->id] = true;
  adjoints_spread(&adjoints);
  adjoints_add(&adjoints, value, context->adjoint);
  adjoints_run(&adjoints);
  return adjoints_get(&adjoints, operands[operand]);
}

#define attention_lse_gradient gradient_when_expanded
#define attention_grad_q_gradient gradient_when_expanded
#define attention_grad_kv_gradient gradient_when_expanded
#define attention_rows_gradient gradient_when_expanded
#define attention_grads_gradient gradient_when_expanded

/* The same without parts. */
#define ATTENTION(name, kind, rule) ATTENTION_OF(name, kind, rule, LOOP, NULL)

#define ATTENTION_OF(name, kind, rule, whole_kind, part_rule)                                      \
  static void name##_evaluate(const Node *node, const Tensor *const *operands, Tensor *result) {   \
    evaluate_heads(node, operands, result, rule);                                                  \
  }                                                                                                \
  const OpClass op_class_##name = {.family = FAMILY_ATTENTION,                                     \
                                   .infer = attention_infer,                                       \
                                   .gradient = name##_gradient,                                    \
                                   .evaluate = name##_evaluate,                                    \
                                   .cost = attention_cost,                                         \
                                   .lower = attention_lower,                                       \
                                   .needs = KERNEL_##kind,                                         \
                                   .expand = name##_expand,                                        \
                                   .whole = KERNEL_##whole_kind,                                   \
                                   .part = part_rule,                                              \
                                   .cut = attention_cut,                                           \
                                   .is_costly = true};

ATTENTION_OF(attention, ATTENTION, y_row, ATTENTION_ROWS, attention_part)
ATTENTION(attention_lse, ATTENTION_LSE, lse_row)
ATTENTION_OF(attention_grad_q, ATTENTION_GRAD_Q, grad_q_row, ATTENTION_GRADS, attention_grad_q_part)
ATTENTION_OF(attention_grad_kv, ATTENTION_GRAD_KV, grad_kv_row, ATTENTION_GRADS,
             attention_grad_kv_part)
ATTENTION(attention_rows, ATTENTION_ROWS, rows_row)
ATTENTION(attention_grads, ATTENTION_GRADS, grads_row)
