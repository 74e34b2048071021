/* Values of nodes, and imitated rounding.
 *
 * Exact: index arithmetic, copies of leaves and whole numbers have no errors, so they may tie where
 * other values may not (steady.c).
 *
 * Noise: Monte Carlo arithmetic (Parker, "Monte Carlo arithmetic", 1997; the idea of CESTAC). Every
 * operation that rounds gets a random relative error of its type's unit; sums also get one for each
 * operand, and a larger one for the result, since they round between terms, where they may be much
 * larger than at the end. The spread of results over a few such runs is how far rounding moves
 * them, cancellation included. */
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "ops/number.h"
#include "ops/op.h"
#include "ops/scan.h"
#include "support/panic.h"

Numbers numbers_create(Arena *arena) { return (Numbers){.arena = arena}; }

/* A copy with room for more. */
static void *grown(Arena *arena, const void *items, size_t size, int count, int room) {
  char *larger = ARENA_ARRAY(arena, char, size *(size_t)room);
  if (count > 0) memcpy(larger, items, size * (size_t)count);
  return larger;
}

void numbers_make_room(Numbers *n, int ids) {
  if (ids <= n->room) return;
  int room = 2 * ids + 64;
  n->values = grown(n->arena, n->values, sizeof *n->values, n->room, room);
  n->exact = grown(n->arena, n->exact, sizeof *n->exact, n->room, room);
  n->results = grown(n->arena, n->results, sizeof *n->results, n->room, room);
  n->jumps = grown(n->arena, n->jumps, sizeof *n->jumps, n->room, room);
  n->strays = grown(n->arena, n->strays, sizeof *n->strays, n->room, room);
  n->room = room;
}

double tensor_magnitude(const Tensor *tensor) {
  double most = 0;
  for (int64_t i = 0; i < shape_elements(tensor->type.shape); i++) {
    if (!isfinite(tensor->data[i])) return INFINITY;
    most = fmax(most, fabs(tensor->data[i]));
  }
  return most;
}

bool numbers_have_size(const Numbers *numbers, const Node *node, double most, double most_whole) {
  if (!dtype_is_float(node->type.dtype))
    return tensor_magnitude(numbers->values[node->id]) <= most_whole;
  if (numbers->standard.is_far) return !numbers->strays[node->id];
  return tensor_magnitude(numbers->values[node->id]) <= most;
}

/* ---- classes of operators ---- */

typedef enum Rounding {
  ROUNDS_OTHERWISE, /* the result is rounded once */
  ROUNDS_NOT,       /* elements of operands, or whole numbers */
  ROUNDS_SUM,       /* many terms, rounded in between */
  ROUNDS_WHOLE_SUM  /* one term: exact on whole numbers, as sums are */
} Rounding;

static const Rounding rounding[OP_COUNT] = {
    [OP_INPUT] = ROUNDS_NOT,         [OP_PARAM] = ROUNDS_NOT,
    [OP_STATE] = ROUNDS_NOT,         [OP_IOTA] = ROUNDS_NOT,
    [OP_CONSTANT] = ROUNDS_NOT,      [OP_NEG] = ROUNDS_NOT,
    [OP_ABS] = ROUNDS_NOT,           [OP_SIGN] = ROUNDS_NOT,
    [OP_FLOOR] = ROUNDS_NOT,         [OP_CEIL] = ROUNDS_NOT,
    [OP_ROUND] = ROUNDS_NOT,         [OP_MIN] = ROUNDS_NOT,
    [OP_MAX] = ROUNDS_NOT,           [OP_WHERE] = ROUNDS_NOT,
    [OP_STOP_GRADIENT] = ROUNDS_NOT, [OP_OWN_GRADIENT] = ROUNDS_NOT,
    [OP_REDUCE_MAX] = ROUNDS_NOT,    [OP_REDUCE_MIN] = ROUNDS_NOT,
    [OP_RESHAPE] = ROUNDS_NOT,       [OP_TRANSPOSE] = ROUNDS_NOT,
    [OP_BROADCAST] = ROUNDS_NOT,     [OP_SLICE] = ROUNDS_NOT,
    [OP_PAD] = ROUNDS_NOT,           [OP_CONCAT] = ROUNDS_NOT,
    [OP_MAX_POOL] = ROUNDS_NOT,      [OP_MAX_POOL_PICK] = ROUNDS_NOT,
    [OP_MAX_PLACE] = ROUNDS_NOT,     [OP_MAX_UNPOOL] = ROUNDS_SUM,
    [OP_GATHER] = ROUNDS_NOT,        [OP_PICK] = ROUNDS_NOT,
    [OP_UNPICK] = ROUNDS_NOT,        [OP_RANDOM_UNIFORM] = ROUNDS_NOT,
    [OP_RANDOM_BITS] = ROUNDS_NOT,   [OP_CAST] = ROUNDS_NOT,
    [OP_ADD] = ROUNDS_WHOLE_SUM,     [OP_SUB] = ROUNDS_WHOLE_SUM,
    [OP_MUL] = ROUNDS_WHOLE_SUM,     [OP_REDUCE_SUM] = ROUNDS_SUM,
    [OP_REDUCE_MEAN] = ROUNDS_SUM,   [OP_CONTRACT] = ROUNDS_SUM,
    [OP_CONV] = ROUNDS_SUM,          [OP_CONV_INPUT] = ROUNDS_SUM,
    [OP_CONV_WEIGHT] = ROUNDS_SUM,   [OP_MAX_POOL_GRAD] = ROUNDS_SUM,
    [OP_SUM_POOL] = ROUNDS_SUM,      [OP_SUM_POOL_GRAD] = ROUNDS_SUM,
    [OP_SCATTER_ADD] = ROUNDS_SUM,
};

/* All of them, and below `most`. */
static bool are_whole(const Tensor *tensor, double most) {
  for (int64_t i = 0; i < shape_elements(tensor->type.shape); i++)
    if (tensor->data[i] != floor(tensor->data[i]) || fabs(tensor->data[i]) > most) return false;
  return true;
}

static bool fit_f32(const Tensor *tensor) {
  for (int64_t i = 0; i < shape_elements(tensor->type.shape); i++) {
    double x = tensor->data[i];
    if (!isnan(x) && (double)(float)x != x) return false;
  }
  return true;
}

/* Sums of whole numbers up to here are exact, partial sums too. */
static double most_exact(DType dtype) {
  return dtype == DTYPE_BF16 ? 1 << 8 : dtype == DTYPE_F16 ? 1 << 11 : 1 << 20;
}

static bool find_exact(const Numbers *numbers, const Node *node) {
  const Tensor *value = numbers->values[node->id];
  if (!dtype_is_float(node->type.dtype)) return true;
  bool is_variable = node->op == OP_PARAM || node->op == OP_STATE;
  if (node->op == OP_SCALAR || (is_variable && numbers->variables_moved) ||
      rounding[node->op] == ROUNDS_OTHERWISE)
    return false;
  for (int i = 0; i < node->operand_count; i++)
    if (!numbers->exact[node->operands[i]->id]) return false;
  if (rounding[node->op] == ROUNDS_NOT) return fit_f32(value);
  if (node->op == OP_REDUCE_MEAN) return false;
  /* In f32 all partial sums are below 2^24. */
  for (int i = 0; i < node->operand_count; i++)
    if (!are_whole(numbers->values[node->operands[i]->id], 64)) return false;
  return are_whole(value, most_exact(node->type.dtype));
}

/* ---- computing ---- */

static double noise_draw(Noise *noise) {
  noise->state = noise->state * 6364136223846793005u + 1442695040888963407u;
  return (double)(noise->state >> 11) * 0x1p-52 - 1;
}

static void add_noise(Tensor *tensor, Noise *noise) {
  double unit = noise->unit[tensor->type.dtype];
  if (unit == 0) return;
  for (int64_t i = 0; i < shape_elements(tensor->type.shape); i++) {
    double *x = &tensor->data[i];
    bool is_subnormal = tensor->type.dtype == DTYPE_F16 && fabs(*x) < 0x1p-14;
    if (is_subnormal && *x != 0) *x += 0x1p-25 * noise_draw(noise);
    else *x *= 1 + unit * noise_draw(noise);
  }
}

static const Tensor *noisy_copy(Arena *arena, const Tensor *tensor, Noise *noise) {
  Tensor *copy = tensor_create(arena, tensor->type);
  size_t bytes = sizeof(double) * (size_t)shape_elements(tensor->type.shape);
  if (bytes > 0) memcpy(copy->data, tensor->data, bytes);
  add_noise(copy, noise);
  return copy;
}

static Tensor *magnitudes(Arena *arena, const Tensor *tensor) {
  Tensor *copy = tensor_create(arena, tensor->type);
  for (int64_t i = 0; i < shape_elements(tensor->type.shape); i++)
    copy->data[i] = fabs(tensor->data[i]);
  return copy;
}

/* Terms of an element of a sum: of one operand, or of two that share axes. */
static double terms_of(const Node *node) {
  double terms = 1;
  for (int i = 0; i < node->operand_count; i++)
    terms *= (double)shape_elements(node->operands[i]->type.shape);
  terms /= fmax(1, (double)shape_elements(node->type.shape));
  return fmax(1, node->operand_count > 1 ? sqrt(terms) : terms);
}

static void copy_elements(double *to, const Tensor *from) {
  size_t bytes = sizeof(double) * (size_t)shape_elements(from->type.shape);
  if (bytes > 0) memcpy(to, from->data, bytes);
}

/* As operators of 16 bits do; in far cases as all operators do. */
static void round_value(Numbers *numbers, const Node *node, Tensor *value, const Noise *noise) {
  DType dtype = value->type.dtype;
  if (numbers->standard.is_far && !far_round(value, noise != NULL))
    numbers->strays[node->id] = true;
  for (int64_t i = 0; dtype_is_half(dtype) && i < shape_elements(value->type.shape); i++)
    value->data[i] = number_round(value->data[i], dtype);
}

/* What is not finite adds to no range. */
static Tensor *finite_magnitudes(Arena *arena, const Tensor *tensor) {
  Tensor *copy = magnitudes(arena, tensor);
  for (int64_t i = 0; i < shape_elements(tensor->type.shape); i++)
    if (!isfinite(copy->data[i])) copy->data[i] = 0;
  return copy;
}

/* Whether sums and products stay within the range whatever their order, in far cases. */
static bool parts_fit(Numbers *numbers, const Node *node, const Tensor **operands,
                      const EvaluateContext *context) {
  if (!dtype_is_float(node->type.dtype)) return true;
  if (node->op == OP_REDUCE_PROD) return far_product_fits(operands[0]);
  if (rounding[node->op] != ROUNDS_SUM) return true;
  Tensor *sizes = tensor_create(numbers->arena, node->type);
  const Tensor **sized = ARENA_ARRAY(numbers->arena, const Tensor *, node->operand_count);
  for (int i = 0; i < node->operand_count; i++) {
    bool is_sized =
        dtype_is_float(operands[i]->type.dtype) && (node->op != OP_MAX_POOL_GRAD || i != 0);
    sized[i] = is_sized ? finite_magnitudes(numbers->arena, operands[i]) : operands[i];
  }
  node_evaluate(node, sized, sizes, context);
  double terms = node->op == OP_REDUCE_MEAN ? terms_of(node) : 1;
  for (int64_t i = 0; i < shape_elements(node->type.shape); i++)
    if (fabs(sizes->data[i]) * terms > far_sum_limit(node->type.dtype)) return false;
  return true;
}

/* A sum from operands with noise, and with the noise of its own: rounded as often as it has terms,
 * up and down, while as large as it is or, before terms cancel, as a part of their magnitudes. */
static void compute_sum(Numbers *numbers, const Node *node, const Tensor **operands, Tensor *value,
                        const EvaluateContext *context, Noise *noise) {
  enum { PART = 8 };
  Tensor *sizes = tensor_create(numbers->arena, node->type);
  const Tensor **sized = ARENA_ARRAY(numbers->arena, const Tensor *, node->operand_count);
  for (int i = 0; i < node->operand_count; i++) {
    sized[i] = operands[i];
    if (!dtype_is_float(operands[i]->type.dtype)) continue;
    operands[i] = noisy_copy(numbers->arena, operands[i], noise);
    /* The maximum must stay where it is. */
    if (node->op != OP_MAX_POOL_GRAD) sized[i] = magnitudes(numbers->arena, operands[i]);
  }
  size_t bytes = sizeof(double) * (size_t)shape_elements(node->type.shape);
  if (bytes > 0) memset(value->data, 0, bytes);
  node_evaluate(node, operands, value, context);
  round_value(numbers, node, value, noise);
  node_evaluate(node, sized, sizes, context);
  double unit = noise->unit[node->type.dtype] * sqrt(terms_of(node));
  for (int64_t i = 0; unit != 0 && i < shape_elements(node->type.shape); i++) {
    double error =
        unit * fmax(fabs(value->data[i]), fabs(sizes->data[i]) / PART) * noise_draw(noise);
    if (isfinite(value->data[i])) value->data[i] += error;
  }
}

/* ---- scans: the body's nodes, step by step ---- */

typedef struct ScanRun {
  Numbers *outer;
  const Node *scan;
  ScanShape shape;
  Tensor **results;
  const EvaluateContext *context;
  Noise *noise;
} ScanRun;

/* What the body reads of an operand in step t. */
static const Tensor *argument_value(const ScanRun *run, int operand, int64_t t) {
  const Node *node = run->scan->operands[operand];
  const Tensor *value = run->outer->values[node->id];
  if (operand < run->shape.carries) value = run->results[operand];
  if (operand < run->shape.carries || operand >= run->shape.carries + run->shape.sequences)
    return value;
  Tensor *element =
      tensor_create(run->outer->arena, scan_argument_type(&run->shape, node, operand));
  copy_elements(element->data,
                &(Tensor){element->type, value->data + t * shape_elements(element->type.shape)});
  return element;
}

/* False where some value of the step jumps or is too large. */
static bool run_step(const ScanRun *run, int64_t t) {
  const Graph *body = run->scan->body;
  Numbers inner = numbers_create(run->outer->arena);
  inner.variables_moved = run->outer->variables_moved;
  inner.standard = run->outer->standard;
  numbers_make_room(&inner, body->next_id);
  const bool *live = graph_live_nodes(inner.arena, body);
  bool sound = true;
  for (int i = 0; i < body->nodes.count; i++) {
    const Node *node = body->nodes.items[i];
    if (!live[node->id]) continue;
    bool is_argument = op_info(node->op)->class->leaf == LEAF_ARGUMENT;
    const Tensor *binding =
        is_argument ? argument_value(run, (int)node_int(node, ATTR_INDEX), t) : NULL;
    numbers_compute(&inner, node, binding, run->context, run->noise);
    sound =
        sound && numbers_are_steady(&inner, node) && numbers_have_size(&inner, node, 1e5, 0x1p50);
  }
  for (int i = 0; i < body->outputs.count; i++) {
    const Tensor *value = inner.values[body->outputs.items[i].node->id];
    int64_t at = i < run->shape.carries ? 0 : t * shape_elements(value->type.shape);
    copy_elements(run->results[i]->data + at, value);
  }
  return sound;
}

static void compute_scan(Numbers *numbers, const Node *scan, const EvaluateContext *context,
                         Noise *noise) {
  ScanRun run = {numbers, scan, scan_shape(scan), NULL, context, noise};
  int count = scan_result_count(scan);
  run.results = ARENA_ARRAY(numbers->arena, Tensor *, count);
  for (int i = 0; i < count; i++)
    run.results[i] = tensor_create(numbers->arena, scan_result_type(&run.shape, scan->body, i));
  for (int i = 0; i < run.shape.carries; i++)
    copy_elements(run.results[i]->data, numbers->values[scan->operands[i]->id]);
  bool sound = true;
  for (int64_t step = 0; step < run.shape.length; step++)
    sound = run_step(&run, run.shape.reverse ? run.shape.length - 1 - step : step) && sound;
  numbers->values[scan->id]->data[0] = (double)run.shape.length;
  numbers->results[scan->id] = run.results;
  numbers->jumps[scan->id] = !sound;
}

/* Scans and their results. */
static bool compute_loop(Numbers *numbers, const Node *node, const EvaluateContext *context,
                         Noise *noise) {
  if (node->op == OP_SCAN) {
    compute_scan(numbers, node, context, noise);
  } else if (node->op == OP_SCAN_RESULT) {
    Tensor **results = numbers->results[node->operands[0]->id];
    copy_elements(numbers->values[node->id]->data, results[node_int(node, ATTR_INDEX)]);
  } else {
    return false;
  }
  numbers->exact[node->id] = !dtype_is_float(node->type.dtype);
  return true;
}

void numbers_compute(Numbers *numbers, const Node *node, const Tensor *binding,
                     const EvaluateContext *context, Noise *noise) {
  numbers_make_room(numbers, node->id + 1);
  Tensor *value = tensor_create(numbers->arena, node->type);
  numbers->values[node->id] = value;
  if (binding) {
    copy_elements(value->data, binding);
    numbers->exact[node->id] = find_exact(numbers, node);
    return;
  }
  if (compute_loop(numbers, node, context, noise)) return;
  const Tensor **operands = ARENA_ARRAY(numbers->arena, const Tensor *, node->operand_count + 1);
  bool all_exact = true;
  for (int i = 0; i < node->operand_count; i++) {
    operands[i] = numbers->values[node->operands[i]->id];
    all_exact = all_exact && numbers->exact[node->operands[i]->id];
  }
  node_evaluate(node, operands, value, context);
  numbers->strays[node->id] =
      numbers->standard.is_far && !parts_fit(numbers, node, operands, context);
  round_value(numbers, node, value, noise);
  numbers->exact[node->id] = find_exact(numbers, node);
  bool rounds = rounding[node->op] != ROUNDS_NOT ||
                (node->op == OP_CAST && dtype_is_float(operands[0]->type.dtype)) ||
                node->op == OP_CONSTANT;
  if (!noise || numbers->exact[node->id] || !rounds) return;
  if (rounding[node->op] == ROUNDS_SUM) compute_sum(numbers, node, operands, value, context, noise);
  else add_noise(value, noise);
}

const Tensor *find_binding(const Node *node, int count, const Binding *bindings) {
  LeafKind leaf = op_info(node->op)->class->leaf;
  if (leaf == LEAF_NONE || leaf == LEAF_CONSTANT) return NULL;
  const char *name = node_string(node, ATTR_NAME);
  for (int i = 0; i < count; i++)
    if (bindings[i].op == node->op && bindings[i].name == name) return bindings[i].value;
  panic("leaf %s has no value", name);
}

Numbers numbers_of_graph(Arena *arena, const Graph *graph, Standard standard, int binding_count,
                         const Binding *bindings, const EvaluateContext *context, Noise *noise) {
  Numbers numbers = numbers_create(arena);
  numbers.standard = standard;
  numbers.variables_moved = context->step > 1;
  const bool *live = graph_live_nodes(arena, graph);
  numbers_make_room(&numbers, graph->next_id);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (live[node->id])
      numbers_compute(&numbers, node, find_binding(node, binding_count, bindings), context, noise);
  }
  return numbers;
}
