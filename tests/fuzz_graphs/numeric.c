/* Values of nodes, and imitated rounding.
 *
 * Exact: index arithmetic, copies of leaves and whole numbers have no errors, so they may tie where
 * other values may not (steady.c).
 *
 * Noise: Monte Carlo arithmetic (Parker, "Monte Carlo arithmetic", 1997; the idea of CESTAC). Every
 * operation that rounds gets a random relative error of its type's unit; sums also get one for each
 * operand, and a larger one for the result, since they round between terms. The spread of results
 * over a few such runs is how far rounding moves them, cancellation included. */
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "ops/op.h"
#include "support/panic.h"

Numbers numbers_create(Arena *arena) { return (Numbers){.arena = arena}; }

static void make_room(Numbers *numbers, int id) {
  if (id < numbers->room) return;
  int room = 2 * id + 64;
  Tensor **values = ARENA_ARRAY(numbers->arena, Tensor *, room);
  bool *exact = ARENA_ARRAY(numbers->arena, bool, room);
  if (numbers->room > 0) {
    memcpy(values, numbers->values, sizeof *values * (size_t)numbers->room);
    memcpy(exact, numbers->exact, sizeof *exact * (size_t)numbers->room);
  }
  numbers->room = room;
  numbers->values = values;
  numbers->exact = exact;
}

double tensor_magnitude(const Tensor *tensor) {
  double most = 0;
  for (int64_t i = 0; i < shape_elements(tensor->type.shape); i++) {
    if (!isfinite(tensor->data[i])) return INFINITY;
    most = fmax(most, fabs(tensor->data[i]));
  }
  return most;
}

/* ---- classes of operators ---- */

typedef enum Rounding {
  ROUNDS_OTHERWISE, /* the result is rounded once */
  ROUNDS_NOT,       /* elements of operands, or whole numbers */
  ROUNDS_SUM,       /* many terms, rounded in between */
  ROUNDS_WHOLE_SUM  /* one term: exact on whole numbers, as sums are */
} Rounding;

static const Rounding rounding[OP_COUNT] = {
    [OP_INPUT] = ROUNDS_NOT,
    [OP_PARAM] = ROUNDS_NOT,
    [OP_STATE] = ROUNDS_NOT,
    [OP_IOTA] = ROUNDS_NOT,
    [OP_CONSTANT] = ROUNDS_NOT,
    [OP_NEG] = ROUNDS_NOT,
    [OP_ABS] = ROUNDS_NOT,
    [OP_SIGN] = ROUNDS_NOT,
    [OP_FLOOR] = ROUNDS_NOT,
    [OP_CEIL] = ROUNDS_NOT,
    [OP_ROUND] = ROUNDS_NOT,
    [OP_MIN] = ROUNDS_NOT,
    [OP_MAX] = ROUNDS_NOT,
    [OP_WHERE] = ROUNDS_NOT,
    [OP_STOP_GRADIENT] = ROUNDS_NOT,
    [OP_REDUCE_MAX] = ROUNDS_NOT,
    [OP_REDUCE_MIN] = ROUNDS_NOT,
    [OP_RESHAPE] = ROUNDS_NOT,
    [OP_TRANSPOSE] = ROUNDS_NOT,
    [OP_BROADCAST] = ROUNDS_NOT,
    [OP_SLICE] = ROUNDS_NOT,
    [OP_PAD] = ROUNDS_NOT,
    [OP_CONCAT] = ROUNDS_NOT,
    [OP_MAX_POOL] = ROUNDS_NOT,
    [OP_MAX_POOL_PICK] = ROUNDS_NOT,
    [OP_GATHER] = ROUNDS_NOT,
    [OP_PICK] = ROUNDS_NOT,
    [OP_UNPICK] = ROUNDS_NOT,
    [OP_RANDOM_UNIFORM] = ROUNDS_NOT,
    [OP_RANDOM_BITS] = ROUNDS_NOT,
    [OP_CAST] = ROUNDS_NOT,
    [OP_ADD] = ROUNDS_WHOLE_SUM,
    [OP_SUB] = ROUNDS_WHOLE_SUM,
    [OP_MUL] = ROUNDS_WHOLE_SUM,
    [OP_REDUCE_SUM] = ROUNDS_SUM,
    [OP_REDUCE_MEAN] = ROUNDS_SUM,
    [OP_CONTRACT] = ROUNDS_SUM,
    [OP_CONV] = ROUNDS_SUM,
    [OP_CONV_INPUT] = ROUNDS_SUM,
    [OP_CONV_WEIGHT] = ROUNDS_SUM,
    [OP_MAX_POOL_GRAD] = ROUNDS_SUM,
    [OP_SUM_POOL] = ROUNDS_SUM,
    [OP_SUM_POOL_GRAD] = ROUNDS_SUM,
    [OP_SCATTER_ADD] = ROUNDS_SUM,
};

/* All of them, and below `most`. */
static bool are_whole(const Tensor *tensor, double most) {
  for (int64_t i = 0; i < shape_elements(tensor->type.shape); i++)
    if (tensor->data[i] != floor(tensor->data[i]) || fabs(tensor->data[i]) > most) return false;
  return true;
}

static bool fit_f32(const Tensor *tensor) {
  for (int64_t i = 0; i < shape_elements(tensor->type.shape); i++)
    if ((double)(float)tensor->data[i] != tensor->data[i]) return false;
  return true;
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
  /* Sums of whole numbers, all partial sums below 2^24. */
  for (int i = 0; i < node->operand_count; i++)
    if (!are_whole(numbers->values[node->operands[i]->id], 64)) return false;
  return are_whole(value, 1 << 20);
}

/* ---- computing ---- */

static double noise_draw(Noise *noise) {
  noise->state = noise->state * 6364136223846793005u + 1442695040888963407u;
  return (double)(noise->state >> 11) * 0x1p-52 - 1;
}

/* Of a result that was rounded so many times on its way, up and down. */
static void add_noise(Tensor *tensor, double times, Noise *noise) {
  double unit = noise->unit[tensor->type.dtype] * sqrt(times);
  if (unit == 0) return;
  for (int64_t i = 0; i < shape_elements(tensor->type.shape); i++)
    tensor->data[i] *= 1 + unit * noise_draw(noise);
}

static const Tensor *noisy_copy(Arena *arena, const Tensor *tensor, Noise *noise) {
  Tensor *copy = tensor_create(arena, tensor->type);
  size_t bytes = sizeof(double) * (size_t)shape_elements(tensor->type.shape);
  if (bytes > 0) memcpy(copy->data, tensor->data, bytes);
  add_noise(copy, 1, noise);
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

void numbers_compute(Numbers *numbers, const Node *node, const Tensor *binding,
                     const EvaluateContext *context, Noise *noise) {
  make_room(numbers, node->id);
  Tensor *value = tensor_create(numbers->arena, node->type);
  numbers->values[node->id] = value;
  size_t bytes = sizeof(double) * (size_t)shape_elements(node->type.shape);
  if (binding) {
    if (bytes > 0) memcpy(value->data, binding->data, bytes);
    numbers->exact[node->id] = find_exact(numbers, node);
    return;
  }
  const Tensor **operands = ARENA_ARRAY(numbers->arena, const Tensor *, node->operand_count + 1);
  bool all_exact = true;
  for (int i = 0; i < node->operand_count; i++) {
    operands[i] = numbers->values[node->operands[i]->id];
    all_exact = all_exact && numbers->exact[node->operands[i]->id];
  }
  op_info(node->op)->class->evaluate(node, operands, value, context);
  numbers->exact[node->id] = find_exact(numbers, node);
  bool rounds = rounding[node->op] != ROUNDS_NOT ||
                (node->op == OP_CAST && dtype_is_float(operands[0]->type.dtype)) ||
                node->op == OP_CONSTANT;
  if (!noise || numbers->exact[node->id] || !rounds) return;
  if (rounding[node->op] == ROUNDS_SUM) {
    for (int i = 0; i < node->operand_count; i++)
      if (dtype_is_float(operands[i]->type.dtype))
        operands[i] = noisy_copy(numbers->arena, operands[i], noise);
    memset(value->data, 0, bytes);
    op_info(node->op)->class->evaluate(node, operands, value, context);
  }
  add_noise(value, rounding[node->op] == ROUNDS_SUM ? terms_of(node) : 1, noise);
}

const Tensor *find_binding(const Node *node, int count, const Binding *bindings) {
  LeafKind leaf = op_info(node->op)->class->leaf;
  if (leaf == LEAF_NONE || leaf == LEAF_CONSTANT) return NULL;
  const char *name = node_string(node, ATTR_NAME);
  for (int i = 0; i < count; i++)
    if (bindings[i].op == node->op && bindings[i].name == name) return bindings[i].value;
  panic("leaf %s has no value", name);
}

Numbers numbers_of_graph(Arena *arena, const Graph *graph, int binding_count,
                         const Binding *bindings, const EvaluateContext *context, Noise *noise) {
  Numbers numbers = numbers_create(arena);
  numbers.variables_moved = context->step > 1;
  const bool *live = graph_live_nodes(arena, graph);
  make_room(&numbers, graph->next_id);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (live[node->id])
      numbers_compute(&numbers, node, find_binding(node, binding_count, bindings), context, noise);
  }
  return numbers;
}
