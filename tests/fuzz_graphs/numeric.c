/* Values of nodes, whether they are well-conditioned, and imitated rounding.
 *
 * Steady: a node is when its value cannot jump or explode under errors of its operands that are small
 * against GAP: comparisons far from equality, floor far from whole numbers, maxima without a rival,
 * divisors away from zero. Exact values (index arithmetic, copies of leaves, whole numbers) have no
 * errors, so they may tie.
 *
 * Noise: Monte Carlo arithmetic (Parker, "Monte Carlo arithmetic", 1997; the idea of CESTAC). Every
 * operation that rounds gets a random relative error of its type's unit; sums also get one for each
 * operand, since they round between terms. The spread of results over a few such runs is how far
 * rounding moves them, cancellation included. */
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "ops/op.h"
#include "ops/window.h"
#include "support/panic.h"

#define GAP 2e-3

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
  [OP_INPUT] = ROUNDS_NOT, [OP_PARAM] = ROUNDS_NOT, [OP_STATE] = ROUNDS_NOT,
  [OP_IOTA] = ROUNDS_NOT, [OP_CONSTANT] = ROUNDS_NOT,
  [OP_NEG] = ROUNDS_NOT, [OP_ABS] = ROUNDS_NOT, [OP_SIGN] = ROUNDS_NOT, [OP_FLOOR] = ROUNDS_NOT,
  [OP_CEIL] = ROUNDS_NOT, [OP_ROUND] = ROUNDS_NOT, [OP_MIN] = ROUNDS_NOT, [OP_MAX] = ROUNDS_NOT,
  [OP_WHERE] = ROUNDS_NOT, [OP_STOP_GRADIENT] = ROUNDS_NOT, [OP_REDUCE_MAX] = ROUNDS_NOT,
  [OP_REDUCE_MIN] = ROUNDS_NOT, [OP_RESHAPE] = ROUNDS_NOT, [OP_TRANSPOSE] = ROUNDS_NOT,
  [OP_BROADCAST] = ROUNDS_NOT, [OP_SLICE] = ROUNDS_NOT, [OP_PAD] = ROUNDS_NOT,
  [OP_CONCAT] = ROUNDS_NOT, [OP_MAX_POOL] = ROUNDS_NOT, [OP_MAX_POOL_PICK] = ROUNDS_NOT,
  [OP_GATHER] = ROUNDS_NOT, [OP_PICK] = ROUNDS_NOT, [OP_UNPICK] = ROUNDS_NOT,
  [OP_RANDOM_UNIFORM] = ROUNDS_NOT, [OP_RANDOM_BITS] = ROUNDS_NOT, [OP_CAST] = ROUNDS_NOT,
  [OP_ADD] = ROUNDS_WHOLE_SUM, [OP_SUB] = ROUNDS_WHOLE_SUM, [OP_MUL] = ROUNDS_WHOLE_SUM,
  [OP_REDUCE_SUM] = ROUNDS_SUM, [OP_REDUCE_MEAN] = ROUNDS_SUM, [OP_CONTRACT] = ROUNDS_SUM,
  [OP_CONV] = ROUNDS_SUM, [OP_CONV_INPUT] = ROUNDS_SUM, [OP_CONV_WEIGHT] = ROUNDS_SUM,
  [OP_MAX_POOL_GRAD] = ROUNDS_SUM, [OP_SUM_POOL] = ROUNDS_SUM, [OP_SUM_POOL_GRAD] = ROUNDS_SUM,
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

static void add_noise(Tensor *tensor, Noise *noise) {
  double unit = noise->unit[tensor->type.dtype];
  if (unit == 0) return;
  for (int64_t i = 0; i < shape_elements(tensor->type.shape); i++)
    tensor->data[i] *= 1 + unit * noise_draw(noise);
}

static const Tensor *noisy_copy(Arena *arena, const Tensor *tensor, Noise *noise) {
  Tensor *copy = tensor_create(arena, tensor->type);
  size_t bytes = sizeof(double) * (size_t)shape_elements(tensor->type.shape);
  if (bytes > 0) memcpy(copy->data, tensor->data, bytes);
  add_noise(copy, noise);
  return copy;
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
  add_noise(value, noise);
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

/* ---- steadiness ---- */

typedef bool ElementRule(double a, double b);

static bool apart(double a, double b) {
  return fabs(a - b) > GAP * fmax(1, fmax(fabs(a), fabs(b)));
}

static bool off_whole(double a, double b) {
  (void)b;
  return fabs(a) < 1e4 && apart(a, nearbyint(a));
}

static bool off_half(double a, double b) { return off_whole(a + 0.5, b); }

static bool off_zero(double a, double b) {
  (void)b;
  return fabs(a) > GAP;
}

static bool above_zero(double a, double b) {
  (void)b;
  return a > 0.05;
}

static bool above_minus_one(double a, double b) { return above_zero(a + 1, b); }

static bool off_pole(double a, double b) {
  (void)b;
  return fabs(cos(a)) > 0.2;
}

static bool small_exponent(double a, double b) {
  (void)b;
  return fabs(a) < 8;
}

static bool good_divisor(double a, double b) {
  (void)a;
  return fabs(b) > 0.05;
}

static bool off_whole_quotient(double a, double b) { return good_divisor(a, b) && off_whole(a / b, 0); }

static bool good_power(double a, double b) { return a > 0.05 || (a < -0.05 && b == floor(b)); }

/* Of one or two float operands; where `exact_is_fine`, exact operands need not be asked. */
typedef struct SteadyRule {
  ElementRule *rule;
  bool exact_is_fine;
} SteadyRule;

static const SteadyRule steady_rules[OP_COUNT] = {
  [OP_ABS] = {off_zero, true}, [OP_SIGN] = {off_zero, true}, [OP_FLOOR] = {off_whole, true},
  [OP_CEIL] = {off_whole, true}, [OP_ROUND] = {off_half, true}, [OP_LOG] = {above_zero, false},
  [OP_SQRT] = {above_zero, false}, [OP_RSQRT] = {above_zero, false},
  [OP_LOG1P] = {above_minus_one, false}, [OP_TAN] = {off_pole, false},
  [OP_EXP] = {small_exponent, false}, [OP_EXPM1] = {small_exponent, false},
  [OP_DIV] = {good_divisor, false}, [OP_FLOORDIV] = {off_whole_quotient, false},
  [OP_MOD] = {off_whole_quotient, false}, [OP_POW] = {good_power, false},
  [OP_MIN] = {apart, true}, [OP_MAX] = {apart, true}, [OP_EQ] = {apart, true},
  [OP_NE] = {apart, true}, [OP_LT] = {apart, true}, [OP_LE] = {apart, true},
  [OP_GT] = {apart, true}, [OP_GE] = {apart, true},
};

static bool elements_are_steady(const Numbers *numbers, const Node *node, SteadyRule rule) {
  const Node *first = node->operands[0];
  if (!dtype_is_float(first->type.dtype)) return true;
  bool exact = true;
  for (int i = 0; i < node->operand_count; i++)
    exact = exact && numbers->exact[node->operands[i]->id];
  if (exact && rule.exact_is_fine) return true;
  const Tensor *a = numbers->values[first->id];
  const Tensor *b = numbers->values[node->operands[node->operand_count - 1]->id];
  for (int64_t i = 0; i < shape_elements(a->type.shape); i++)
    if (!rule.rule(a->data[i], b->data[i])) return false;
  return true;
}

/* A float to an integer jumps at whole numbers but 0, to bool at 0. */
static bool cast_is_steady(const Numbers *numbers, const Node *node) {
  const Node *from = node->operands[0];
  if (!dtype_is_float(from->type.dtype) || dtype_is_float(node->type.dtype)) return true;
  if (numbers->exact[from->id]) return true;
  const Tensor *x = numbers->values[from->id];
  for (int64_t i = 0; i < shape_elements(x->type.shape); i++) {
    bool to_bool = node->type.dtype == DTYPE_BOOL;
    if (to_bool ? !off_zero(x->data[i], 0) : !off_whole(x->data[i], 0)) return false;
  }
  return true;
}

/* Candidates near the extremum of each result: there must be one. */
typedef struct Rivals {
  double *best;
  int *near;
} Rivals;

static Rivals rivals_create(Arena *arena, int64_t count) {
  Rivals rivals = {ARENA_ARRAY(arena, double, count), ARENA_ARRAY(arena, int, count)};
  for (int64_t i = 0; i < count; i++) rivals.best[i] = -INFINITY;
  return rivals;
}

static void rivals_offer(Rivals *rivals, int64_t at, double value, bool counting) {
  if (!counting) rivals->best[at] = fmax(rivals->best[at], value);
  else rivals->near[at] += !apart(value, rivals->best[at]);
}

static bool rivals_are_apart(const Rivals *rivals, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    if (rivals->near[i] > 1) return false;
  return true;
}

/* Strides in the result, 0 along reduced axes. */
static void reduced_strides(const Node *node, int64_t *stride) {
  Shape x = node->operands[0]->type.shape;
  bool gone[MAX_RANK] = {false};
  const Attribute *axes = node_attribute(node, ATTR_AXES);
  if (!axes) gone[node_int(node, ATTR_AXIS)] = true;
  for (int i = 0; axes && i < axes->count; i++) gone[axes->ints[i]] = true;
  int64_t next = 1;
  for (int i = x.rank - 1; i >= 0; i--) {
    stride[i] = gone[i] ? 0 : next;
    if (!gone[i]) next *= x.dim[i];
  }
}

static void offer_elements(const Node *node, const Tensor *x, double sign, Rivals *rivals,
                           bool counting) {
  Shape shape = x->type.shape;
  int64_t stride[MAX_RANK], at[MAX_RANK] = {0}, to = 0;
  reduced_strides(node, stride);
  for (int64_t i = 0; i < shape_elements(shape); i++) {
    rivals_offer(rivals, to, sign * x->data[i], counting);
    for (int axis = shape.rank - 1; axis >= 0; axis--) {
      to += stride[axis];
      if (++at[axis] < shape.dim[axis]) break;
      to -= stride[axis] * shape.dim[axis];
      at[axis] = 0;
    }
  }
}

static bool extremum_is_steady(const Numbers *numbers, const Node *node) {
  const Node *from = node->operands[0];
  if (numbers->exact[from->id]) return true;
  const Tensor *x = numbers->values[from->id];
  double sign = node->op == OP_REDUCE_MAX || node->op == OP_ARGMAX ? 1 : -1;
  int64_t count = shape_elements(node->type.shape);
  Rivals rivals = rivals_create(numbers->arena, count);
  offer_elements(node, x, sign, &rivals, false);
  offer_elements(node, x, sign, &rivals, true);
  return rivals_are_apart(&rivals, count);
}

static bool pool_is_steady(const Numbers *numbers, const Node *node) {
  const Node *from = node->operands[0];
  if (numbers->exact[from->id]) return true;
  const Tensor *x = numbers->values[from->id];
  Shape shape = x->type.shape;
  Window window = window_read(node, shape.rank - 2, shape.dim + 2, node_ints(node, ATTR_KERNEL)->ints);
  WindowTaps taps = window_taps(numbers->arena, &window);
  for (int64_t plane = 0; plane < shape.dim[0] * shape.dim[1]; plane++) {
    Rivals rivals = rivals_create(numbers->arena, taps.out_size);
    for (int counting = 0; counting < 2; counting++)
      for (int64_t t = 0; t < taps.count; t++)
        for (int r = 0; r < taps.taps[t].run_count; r++)
          for (int64_t i = 0; i < taps.taps[t].runs[r].length; i++) {
            WindowRun run = taps.taps[t].runs[r];
            rivals_offer(&rivals, run.out + i, x->data[plane * taps.in_size + run.in + i * taps.step],
                         counting);
          }
    if (!rivals_are_apart(&rivals, taps.out_size)) return false;
  }
  return true;
}

bool numbers_are_steady(const Numbers *numbers, const Node *node) {
  switch (node->op) {
  case OP_CAST: return cast_is_steady(numbers, node);
  case OP_REDUCE_MAX: case OP_REDUCE_MIN: case OP_ARGMAX: case OP_ARGMIN:
    return !dtype_is_float(node->operands[0]->type.dtype) || extremum_is_steady(numbers, node);
  case OP_MAX_POOL: case OP_MAX_POOL_GRAD: case OP_MAX_POOL_PICK: return pool_is_steady(numbers, node);
  default: break;
  }
  SteadyRule rule = steady_rules[node->op];
  return !rule.rule || elements_are_steady(numbers, node, rule);
}

const Node *numbers_find_unsteady(const Numbers *numbers, const Graph *graph) {
  const bool *live = graph_live_nodes(numbers->arena, graph);
  for (int i = 0; i < graph->nodes.count; i++)
    if (live[graph->nodes.items[i]->id] && !numbers_are_steady(numbers, graph->nodes.items[i]))
      return graph->nodes.items[i];
  return NULL;
}
