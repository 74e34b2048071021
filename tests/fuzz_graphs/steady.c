/* Whether values are well-conditioned.
 *
 * A node is steady when its value cannot jump or explode under errors of its operands that are
 * small against a gap: comparisons far from equality, floor far from whole numbers, maxima without
 * a rival, divisors away from zero. Exact values (numeric.c) have no errors, so they may tie. */
#include <math.h>

#include "fuzz.h"
#include "ops/op.h"
#include "ops/window.h"

#define GAP_USUAL 2e-3

static double gap_of(const Numbers *numbers) {
  return numbers->standard.gap > 0 ? numbers->standard.gap : GAP_USUAL;
}

typedef bool ElementRule(double a, double b, double gap);

static bool apart(double a, double b, double gap) {
  return fabs(a - b) > gap * fmax(1, fmax(fabs(a), fabs(b)));
}

static bool off_whole(double a, double b, double gap) {
  (void)b;
  return fabs(a) < 1e4 && apart(a, nearbyint(a), gap);
}

static bool off_half(double a, double b, double gap) { return off_whole(a + 0.5, b, gap); }

static bool off_zero(double a, double b, double gap) {
  (void)b;
  return fabs(a) > gap;
}

static bool above_zero(double a, double b, double gap) {
  (void)b, (void)gap;
  return a > 0.05;
}

static bool above_minus_one(double a, double b, double gap) { return above_zero(a + 1, b, gap); }

static bool off_pole(double a, double b, double gap) {
  (void)b, (void)gap;
  return fabs(cos(a)) > 0.2;
}

static bool small_exponent(double a, double b, double gap) {
  (void)b, (void)gap;
  return fabs(a) < 8;
}

static bool good_divisor(double a, double b, double gap) {
  (void)a, (void)gap;
  return fabs(b) > 0.05;
}

static bool off_whole_quotient(double a, double b, double gap) {
  return good_divisor(a, b, gap) && off_whole(a / b, 0, gap);
}

static bool good_power(double a, double b, double gap) {
  (void)gap;
  return a > 0.05 || (a < -0.05 && b == floor(b));
}

/* Of one or two float operands; where `exact_is_fine`, exact operands need not be asked. */
typedef struct SteadyRule {
  ElementRule *rule;
  bool exact_is_fine;
} SteadyRule;

static const SteadyRule steady_rules[OP_COUNT] = {
    [OP_ABS] = {off_zero, true},
    [OP_SIGN] = {off_zero, true},
    [OP_FLOOR] = {off_whole, true},
    [OP_CEIL] = {off_whole, true},
    [OP_ROUND] = {off_half, true},
    [OP_LOG] = {above_zero, false},
    [OP_SQRT] = {above_zero, false},
    [OP_RSQRT] = {above_zero, false},
    [OP_LOG1P] = {above_minus_one, false},
    [OP_TAN] = {off_pole, false},
    [OP_EXP] = {small_exponent, false},
    [OP_EXPM1] = {small_exponent, false},
    [OP_DIV] = {good_divisor, false},
    [OP_FLOORDIV] = {off_whole_quotient, false},
    [OP_MOD] = {off_whole_quotient, false},
    [OP_POW] = {good_power, false},
    [OP_MIN] = {apart, true},
    [OP_MAX] = {apart, true},
    [OP_EQ] = {apart, true},
    [OP_NE] = {apart, true},
    [OP_LT] = {apart, true},
    [OP_LE] = {apart, true},
    [OP_GT] = {apart, true},
    [OP_GE] = {apart, true},
};

/* ---- the same in far cases: relative to the size; infinities and NaNs stay what they are ---- */

static bool far_apart(double a, double b, double gap) {
  if (!isfinite(a) || !isfinite(b)) return true;
  return (a == 0 && b == 0) || fabs(a - b) > gap * fmax(fabs(a), fabs(b));
}

static bool far_off_zero(double a, double b, double gap) {
  (void)b, (void)gap;
  return a != 0;
}

static bool far_off_whole(double a, double b, double gap) {
  (void)b;
  if (!isfinite(a)) return true;
  double whole = nearbyint(a);
  return whole == 0 ? a != 0 : fabs(a) < 1e4 && far_apart(a, whole, gap);
}

static bool far_off_half(double a, double b, double gap) { return far_off_whole(a + 0.5, b, gap); }

static bool far_small_angle(double a, double b, double gap) {
  (void)b, (void)gap;
  return !isfinite(a) || fabs(a) < 50;
}

static bool far_off_pole(double a, double b, double gap) {
  return !isfinite(a) || (far_small_angle(a, b, gap) && fabs(cos(a)) > 0.2);
}

/* The sign of a quotient by 0 is that of the 0, which passes need not keep. */
static bool far_divisor(double a, double b, double gap) {
  (void)a, (void)gap;
  return b != 0;
}

static bool far_off_whole_quotient(double a, double b, double gap) {
  return b != 0 && far_off_whole(a / b, 0, gap);
}

static bool far_power(double a, double b, double gap) {
  (void)gap;
  if (a == 0) return b > 0;
  return a > 0 || isnan(a) || b == floor(b);
}

static const SteadyRule far_rules[OP_COUNT] = {
    [OP_SIGN] = {far_off_zero, true},
    [OP_FLOOR] = {far_off_whole, true},
    [OP_CEIL] = {far_off_whole, true},
    [OP_ROUND] = {far_off_half, true},
    [OP_RSQRT] = {far_off_zero, false},
    [OP_SIN] = {far_small_angle, true},
    [OP_COS] = {far_small_angle, true},
    [OP_TAN] = {far_off_pole, true},
    [OP_DIV] = {far_divisor, false},
    [OP_FLOORDIV] = {far_off_whole_quotient, false},
    [OP_MOD] = {far_off_whole_quotient, true},
    [OP_POW] = {far_power, false},
    [OP_MIN] = {far_apart, true},
    [OP_MAX] = {far_apart, true},
    [OP_EQ] = {far_apart, true},
    [OP_NE] = {far_apart, true},
    [OP_LT] = {far_apart, true},
    [OP_LE] = {far_apart, true},
    [OP_GT] = {far_apart, true},
    [OP_GE] = {far_apart, true},
};

static bool are_apart(const Numbers *numbers, double a, double b) {
  return (numbers->standard.is_far ? far_apart : apart)(a, b, gap_of(numbers));
}

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
    if (!rule.rule(a->data[i], b->data[i], gap_of(numbers))) return false;
  return true;
}

/* A float to an integer jumps at whole numbers but 0, to bool at 0. */
static bool cast_is_steady(const Numbers *numbers, const Node *node) {
  const Node *from = node->operands[0];
  if (!dtype_is_float(from->type.dtype) || dtype_is_float(node->type.dtype)) return true;
  if (numbers->exact[from->id]) return true;
  const Tensor *x = numbers->values[from->id];
  for (int64_t i = 0; i < shape_elements(x->type.shape); i++) {
    bool is_far = numbers->standard.is_far, to_bool = node->type.dtype == DTYPE_BOOL;
    ElementRule *rule =
        to_bool ? (is_far ? far_off_zero : off_zero) : (is_far ? far_off_whole : off_whole);
    if (!rule(x->data[i], 0, gap_of(numbers))) return false;
  }
  return true;
}

/* Candidates near the extremum of each result: there must be one. */
typedef struct Rivals {
  const Numbers *numbers;
  double *best;
  int *near;
} Rivals;

static Rivals rivals_create(const Numbers *numbers, int64_t count) {
  Arena *arena = numbers->arena;
  Rivals rivals = {numbers, ARENA_ARRAY(arena, double, count), ARENA_ARRAY(arena, int, count)};
  for (int64_t i = 0; i < count; i++) rivals.best[i] = -INFINITY;
  return rivals;
}

static void rivals_offer(Rivals *rivals, int64_t at, double value, bool counting) {
  if (!counting) rivals->best[at] = fmax(rivals->best[at], value);
  else rivals->near[at] += !are_apart(rivals->numbers, value, rivals->best[at]);
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
  Rivals rivals = rivals_create(numbers, count);
  offer_elements(node, x, sign, &rivals, false);
  offer_elements(node, x, sign, &rivals, true);
  return rivals_are_apart(&rivals, count);
}

/* Elements that may change places must be equal without error, or apart. */
static bool order_is_steady(const Numbers *numbers, const Node *node) {
  const Node *from = node->operands[0];
  if (!dtype_is_float(from->type.dtype) || numbers->exact[from->id]) return true;
  const double *x = numbers->values[from->id]->data;
  const double *order = numbers->values[node->id]->data;
  Shape shape = node->type.shape;
  int64_t count = shape.dim[shape.rank - 1], elements = shape_elements(shape);
  for (int64_t row = 0; row < elements; row += count)
    for (int64_t i = 1; i < count; i++)
      if (!are_apart(numbers, x[row + (int64_t)order[row + i - 1]],
                     x[row + (int64_t)order[row + i]]))
        return false;
  return true;
}

static bool pool_is_steady(const Numbers *numbers, const Node *node) {
  const Node *from = node->operands[0];
  if (numbers->exact[from->id]) return true;
  const Tensor *x = numbers->values[from->id];
  Shape shape = x->type.shape;
  Window window =
      window_read(node, shape.rank - 2, shape.dim + 2, node_ints(node, ATTR_KERNEL)->ints);
  WindowTaps taps = window_taps(numbers->arena, &window);
  for (int64_t plane = 0; plane < shape.dim[0] * shape.dim[1]; plane++) {
    Rivals rivals = rivals_create(numbers, taps.out_size);
    for (int counting = 0; counting < 2; counting++)
      for (int64_t t = 0; t < taps.count; t++)
        for (int r = 0; r < taps.taps[t].run_count; r++)
          for (int64_t i = 0; i < taps.taps[t].runs[r].length; i++) {
            WindowRun run = taps.taps[t].runs[r];
            rivals_offer(&rivals, run.out + i,
                         x->data[plane * taps.in_size + run.in + i * taps.step], counting);
          }
    if (!rivals_are_apart(&rivals, taps.out_size)) return false;
  }
  return true;
}

/* Convolutions multiply the zeros of their padding, or leave them out: the same for finite numbers
 * alone. */
static bool operands_are_finite(const Numbers *numbers, const Node *node) {
  for (int i = 0; i < node->operand_count; i++)
    if (!isfinite(tensor_magnitude(numbers->values[node->operands[i]->id]))) return false;
  return true;
}

bool numbers_are_steady(const Numbers *numbers, const Node *node) {
  switch (node->op) {
  case OP_CONV:
  case OP_CONV_INPUT:
  case OP_CONV_WEIGHT: return operands_are_finite(numbers, node);
  case OP_SCAN: return !numbers->jumps[node->id];
  case OP_CAST: return cast_is_steady(numbers, node);
  case OP_REDUCE_MAX:
  case OP_REDUCE_MIN:
  case OP_ARGMAX:
  case OP_ARGMIN:
    return !dtype_is_float(node->operands[0]->type.dtype) || extremum_is_steady(numbers, node);
  case OP_ARGSORT: return order_is_steady(numbers, node);
  case OP_MAX_POOL:
  case OP_MAX_POOL_GRAD:
  case OP_MAX_PLACE:
  case OP_MAX_POOL_PICK: return pool_is_steady(numbers, node);
  default: break;
  }
  SteadyRule rule = (numbers->standard.is_far ? far_rules : steady_rules)[node->op];
  return !rule.rule || elements_are_steady(numbers, node, rule);
}

const Node *numbers_find_unsteady(const Numbers *numbers, const Graph *graph) {
  const bool *live = graph_live_nodes(numbers->arena, graph);
  for (int i = 0; i < graph->nodes.count; i++)
    if (live[graph->nodes.items[i]->id] && !numbers_are_steady(numbers, graph->nodes.items[i]))
      return graph->nodes.items[i];
  return NULL;
}
