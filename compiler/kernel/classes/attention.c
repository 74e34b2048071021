/* Attention: for each head of each element of the batch
 *
 *   score[i,j] = scale sum_d q[i,d] k[j,d] + mask[i,j]    -inf where query i does not see key j
 *   lse[i]     = max_j score[i,j], log sum_j exp(score[i,j] - max)
 *                                                         0, 0 for a query that sees nothing
 *   weight     = exp(score - lse[i,0] - lse[i,1])         0 where nothing is seen
 *   y          = weight v
 *
 * and the adjoints: with dweight = dy v^T and delta[i] = sum_d y[i,d] dy[i,d],
 *
 *   dscore = weight (dweight - delta)
 *   dq = scale dscore k,  dk = scale dscore^T q,  dv = weight^T dy
 *
 * attention_rows is y and lse of each query side by side; attention_grads reads both from it, makes
 * delta itself and has dq, then dk and dv side by side.
 *
 * Here the rows of scores are written out; what the targets' kernels are made for is not to. */
#include "kernel/attention.h"

#include <math.h>
#include <string.h>
#include "kernel/class.h"
#include "support/integers.h"

enum { Q, K, V, DY, LSE, DELTA };

#define ADJOINT "bhqd", "bhkd", "bhkv", "bhqv", "bhqp", "bhq", "bhqk"

static const char *const axes_of[KERNEL_KIND_COUNT][8] = {
    [KERNEL_ATTENTION] = {"bhqd", "bhkd", "bhkv", "bhqk"},
    [KERNEL_ATTENTION_LSE] = {"bhqd", "bhkd", "bhqk"},
    [KERNEL_ATTENTION_GRAD_Q] = {ADJOINT},
    [KERNEL_ATTENTION_GRAD_KV] = {ADJOINT},
    [KERNEL_ATTENTION_ROWS] = {"bhqd", "bhkd", "bhkv", "bhqk"},
    [KERNEL_ATTENTION_GRADS] = {"bhqd", "bhkd", "bhkv", "bhqv", "bhqr", "bhqk"},
};

static const char *const result_axes[KERNEL_KIND_COUNT] = {
    [KERNEL_ATTENTION] = "bhqv",        [KERNEL_ATTENTION_LSE] = "bhqp",
    [KERNEL_ATTENTION_GRAD_Q] = "bhqd", [KERNEL_ATTENTION_GRAD_KV] = "bhkw",
    [KERNEL_ATTENTION_ROWS] = "bhqr",   [KERNEL_ATTENTION_GRADS] = "bhg",
};

const char *attention_axes(KernelKind kind, int operand) { return axes_of[kind][operand]; }

const char *attention_result_axes(KernelKind kind) { return result_axes[kind]; }

int attention_operands(KernelKind kind) {
  int count = 0;
  while (axes_of[kind][count]) count++;
  return count;
}

/* ---- slots ---- */

static const Field strides[] = {
    SLOT(" ", attention.stride[0][0], 0),
    SLOT(" ", attention.stride[1][0], 0),
    SLOT(" ", attention.stride[2][0], 0),
    SLOT(" ", attention.stride[3][0], 0),
};

static const Field attention_slots[] = {
    SLOT("  batch ", attention.batch, 0),
    SLOT(", heads ", attention.heads, 0),
    SLOT(", queries ", attention.queries, 0),
    SLOT(", keys ", attention.keys, 0),
    SLOT(", depth ", attention.depth, 0),
    SLOT(", value_depth ", attention.value_depth, 0),
    FIELD("\n  scale ", DOUBLE, Kernel, attention.scale),
    FIELD(", causal", FLAG, Kernel, attention.causal),
    FIELD("\n  strides:", ROWS, Kernel, attention.count, .most = 7, .between = ",",
          .columns = RECORD(strides)),
    FIELD_LITERAL("\n"),
};

static int64_t extent_of(const AttentionSlots *slots, char axis) {
  switch (axis) {
  case 'b': return slots->batch;
  case 'h': return slots->heads;
  case 'q': return slots->queries;
  case 'k': return slots->keys;
  case 'd': return slots->depth;
  case 'v': return slots->value_depth;
  case 'p': return 2;
  case 'r': return slots->value_depth + 2;
  case 'w': return slots->depth + slots->value_depth;
  default: {
    int64_t q[] = {slots->queries, slots->depth};
    int64_t k[] = {slots->keys, extent_of(slots, 'w')}, sum;
    bool is_more = __builtin_add_overflow(extent_product(q, 2), extent_product(k, 2), &sum);
    return is_more ? INT64_MAX : sum;
  }
  }
}

/* Up to the last element of the operand. */
static int64_t attention_reads(const Kernel *kernel, int operand) {
  const AttentionSlots *slots = &kernel->attention;
  int64_t reach = 1;
  if (operand >= slots->count || operand >= attention_operands(kernel->kind)) return -1;
  const char *axes = attention_axes(kernel->kind, operand);
  for (int i = 0; axes[i]; i++) {
    int64_t extent = extent_of(slots, axes[i]);
    if (extent == 0) return 0;
    int64_t way[] = {extent - 1, slots->stride[i][operand]};
    if (__builtin_add_overflow(reach, extent_product(way, 2), &reach)) return INT64_MAX;
  }
  return reach;
}

static int64_t attention_results(const Kernel *kernel) {
  const char *axes = attention_result_axes(kernel->kind);
  int64_t extents[4];
  for (int i = 0; axes[i]; i++) extents[i] = extent_of(&kernel->attention, axes[i]);
  return extent_product(extents, (int)strlen(axes));
}

static const char *attention_verify(Arena *arena, const Kernel *kernel) {
  int most = attention_operands(kernel->kind), count = kernel->attention.count;
  (void)arena;
  if (count < most - 1 || count > most) return "strides of another number of operands";
  if (!isfinite(kernel->attention.scale)) return "a scale that is not finite";
  for (int i = 0; i < count && i < kernel->operand_count; i++) {
    bool is_mask = i == most - 1, is_bool = kernel->operands[i].dtype == DTYPE_BOOL;
    if (!dtype_is_float(kernel->operands[i].dtype) && !(is_mask && is_bool))
      return "an operand of attention that is no float";
  }
  return NULL;
}

/* ---- evaluation ---- */

/* One head of one element of the batch. */
typedef struct Head {
  const Kernel *kernel;
  const KernelReader *reader;
  int64_t batch, head;
  double *weights, *adjoints; /* of a query: weights, or scores, and dscore */
} Head;

static double load(const Head *at, int operand, int64_t row, int64_t column) {
  const AttentionSlots *slots = &at->kernel->attention;
  return reader_load(at->reader, operand,
                     at->batch * slots->stride[0][operand] + at->head * slots->stride[1][operand] +
                         row * slots->stride[2][operand] + column * slots->stride[3][operand]);
}

static void row_scores(const Head *at, int64_t query) {
  const AttentionSlots *slots = &at->kernel->attention;
  int mask = attention_operands(at->kernel->kind) - 1;
  for (int64_t j = 0; j < slots->keys; j++) at->weights[j] = -INFINITY;
  for (int64_t j = 0; j < attention_seen(slots, query); j++) {
    double sum = 0;
    for (int64_t d = 0; d < slots->depth; d++) sum += load(at, Q, query, d) * load(at, K, j, d);
    at->weights[j] = sum * slots->scale;
    if (mask >= slots->count) continue;
    double shift = load(at, mask, query, j);
    if (at->kernel->operands[mask].dtype != DTYPE_BOOL) at->weights[j] += shift;
    else if (shift == 0) at->weights[j] = -INFINITY;
  }
}

static void row_lse(const Head *at, double lse[2]) {
  int64_t keys = at->kernel->attention.keys;
  double top = -INFINITY, total = 0;
  for (int64_t j = 0; j < keys; j++) top = fmax(top, at->weights[j]);
  if (top == -INFINITY) top = 0;
  for (int64_t j = 0; j < keys; j++) total += exp(at->weights[j] - top);
  lse[0] = top;
  lse[1] = total == 0 ? 0 : log(total);
}

static void row_weights(const Head *at, const double lse[2]) {
  for (int64_t j = 0; j < at->kernel->attention.keys; j++)
    at->weights[j] = exp(at->weights[j] - lse[0] - lse[1]);
}

/* Of a kind that reads attention_rows: y, lse and delta of a query. */
static double row_delta(const Head *at, int64_t query) {
  double sum = 0;
  if (at->kernel->kind != KERNEL_ATTENTION_GRADS) return load(at, DELTA, query, 0);
  for (int64_t d = 0; d < at->kernel->attention.value_depth; d++)
    sum += load(at, LSE, query, d) * load(at, DY, query, d);
  return sum;
}

/* The weights of a query and what its scores receive. */
static void row_adjoints(const Head *at, int64_t query) {
  const AttentionSlots *slots = &at->kernel->attention;
  int64_t lse = at->kernel->kind == KERNEL_ATTENTION_GRADS ? slots->value_depth : 0;
  double delta = row_delta(at, query);
  row_scores(at, query);
  row_weights(at, (double[]){load(at, LSE, query, lse), load(at, LSE, query, lse + 1)});
  for (int64_t j = 0; j < slots->keys; j++) {
    double sum = 0;
    for (int64_t d = 0; d < slots->value_depth; d++)
      sum += load(at, DY, query, d) * load(at, V, j, d);
    at->adjoints[j] = at->weights[j] * (sum - delta);
  }
}

/* The part of query `query` in the results of its head. */
typedef void (*RowRule)(const Head *at, int64_t query, double *result);

/* y of the query; lse, too. */
static void row_values(const Head *at, int64_t query, double *y, double lse[2]) {
  const AttentionSlots *slots = &at->kernel->attention;
  row_scores(at, query);
  row_lse(at, lse);
  row_weights(at, lse);
  for (int64_t j = 0; j < slots->keys; j++)
    for (int64_t d = 0; d < slots->value_depth; d++) y[d] += at->weights[j] * load(at, V, j, d);
}

static void y_row(const Head *at, int64_t query, double *result) {
  double lse[2];
  row_values(at, query, result + query * at->kernel->attention.value_depth, lse);
}

static void rows_row(const Head *at, int64_t query, double *result) {
  int64_t depth = at->kernel->attention.value_depth;
  double *row = result + query * (depth + 2);
  row_values(at, query, row, row + depth);
}

static void lse_row(const Head *at, int64_t query, double *result) {
  row_scores(at, query);
  row_lse(at, result + 2 * query);
}

static void grad_q_row(const Head *at, int64_t query, double *result) {
  const AttentionSlots *slots = &at->kernel->attention;
  row_adjoints(at, query);
  for (int64_t j = 0; j < slots->keys; j++)
    for (int64_t d = 0; d < slots->depth; d++)
      result[query * slots->depth + d] += slots->scale * at->adjoints[j] * load(at, K, j, d);
}

static void grad_kv_row(const Head *at, int64_t query, double *result) {
  const AttentionSlots *slots = &at->kernel->attention;
  row_adjoints(at, query);
  for (int64_t j = 0; j < slots->keys; j++, result += slots->depth + slots->value_depth) {
    for (int64_t d = 0; d < slots->depth; d++)
      result[d] += slots->scale * at->adjoints[j] * load(at, Q, query, d);
    for (int64_t d = 0; d < slots->value_depth; d++)
      result[slots->depth + d] += at->weights[j] * load(at, DY, query, d);
  }
}

static void grads_row(const Head *at, int64_t query, double *result) {
  const AttentionSlots *slots = &at->kernel->attention;
  grad_q_row(at, query, result);
  grad_kv_row(at, query, result + slots->queries * slots->depth);
}

static void evaluate_rows(const Kernel *kernel, const KernelReader *reader, double *result,
                          RowRule rule) {
  const AttentionSlots *slots = &kernel->attention;
  Arena *scratch = arena_create();
  Head at = {.kernel = kernel, .reader = reader};
  at.weights = ARENA_ARRAY(scratch, double, slots->keys + 1);
  at.adjoints = ARENA_ARRAY(scratch, double, slots->keys + 1);
  int64_t heads = slots->batch * slots->heads;
  int64_t size = heads > 0 ? attention_results(kernel) / heads : 0;
  for (int64_t i = 0; i < heads && size > 0; i++) {
    at.batch = i / slots->heads;
    at.head = i % slots->heads;
    for (int64_t query = 0; query < slots->queries; query++) rule(&at, query, result + i * size);
  }
  arena_destroy(scratch);
}

#define ATTENTION_CLASS(name, rule)                                                                \
  static void name##_evaluate(const Kernel *kernel, const KernelReader *reader, double *result) {  \
    evaluate_rows(kernel, reader, result, rule);                                                   \
  }                                                                                                \
  const KernelClass kernel_class_##name = {                                                        \
      .slots = RECORD(attention_slots),                                                            \
      .reads = attention_reads,                                                                    \
      .results = attention_results,                                                                \
      .verify = attention_verify,                                                                  \
      .evaluate = name##_evaluate,                                                                 \
      .trims_operands = true,                                                                      \
  };

ATTENTION_CLASS(attention, y_row)
ATTENTION_CLASS(attention_lse, lse_row)
ATTENTION_CLASS(attention_grad_q, grad_q_row)
ATTENTION_CLASS(attention_grad_kv, grad_kv_row)
ATTENTION_CLASS(attention_rows, rows_row)
ATTENTION_CLASS(attention_grads, grads_row)
