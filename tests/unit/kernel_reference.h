/* The plain meaning of a kernel, for tests of the back ends: every loop written out, in double. */
#ifndef TESTS_KERNEL_REFERENCE_H
#define TESTS_KERNEL_REFERENCE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "kernel/builder.h"
#include "ops/number.h"
#include "ops/op.h"
#include "ops/philox.h"
#include "support/panic.h"

typedef struct Reference {
  const Kernel *kernel;
  double **before; /* operands, as numbers, before the launch */
  double **after;  /* and after it */
  double **
      off; /* how far elements may be from `after` by what the kernel leaves out of products; NULL: not asked for */
  const double *scalars;
  const uint64_t *keys;
  uint64_t seed, step;
  int64_t at[2 * KERNEL_MAX_AXES];
  double stages[16];
  double result, result_off;
} Reference;

static int64_t reference_index(const Reference *r, const Index *index) {
  switch (index->kind) {
  case INDEX_CONST: return index->value;
  case INDEX_AXIS: return r->at[index->value];
  case INDEX_ADD: return reference_index(r, index->left) + reference_index(r, index->right);
  case INDEX_MUL: return reference_index(r, index->left) * reference_index(r, index->right);
  case INDEX_LOAD:
    return number_clamp_index(r->before[index->operand][reference_index(r, index->left)],
                              index->value);
  case INDEX_DIV: {
    int64_t a = reference_index(r, index->left);
    return a / index->value - (a % index->value < 0);
  }
  case INDEX_MOD: {
    int64_t rest = reference_index(r, index->left) % index->value;
    return rest < 0 ? rest + index->value : rest;
  }
  }
  panic("index kind");
}

static double reference_expr(const Reference *r, const Expr *expr) {
  switch (expr->kind) {
  case EXPR_CONST: return expr->value;
  case EXPR_LOAD:
    for (int i = 0; i < expr->guard_count; i++) {
      int64_t index = reference_index(r, expr->guards[i].index);
      if (index < 0 || index >= expr->guards[i].bound) return expr->value;
    }
    return r->before[expr->operand][reference_index(r, expr->index)];
  case EXPR_SCALAR: return r->scalars[expr->operand];
  case EXPR_INDEX: return (double)reference_index(r, expr->index);
  case EXPR_STAGE: return r->stages[expr->operand];
  case EXPR_RESULT: return r->result;
  case EXPR_RANDOM: {
    uint64_t element = (uint64_t)reference_index(r, expr->index);
    uint64_t key = philox_key(r->seed, r->keys[expr->operand]);
    PhiloxBlock block = philox_block(key, element, (uint32_t)r->step, (uint32_t)expr->stream);
    if (expr->op == OP_RANDOM_NORMAL) return philox_normal(block, element);
    uint32_t word = block.word[element % 4];
    return expr->op == OP_RANDOM_BITS ? word : philox_uniform(word);
  }
  case EXPR_OP: break;
  }
  double args[3];
  for (int i = 0; i < expr->arg_count; i++) args[i] = reference_expr(r, expr->args[i]);
  if (expr->op == OP_CAST) return number_convert(args[0], expr->args[0]->dtype, expr->dtype);
  return op_info(expr->op)->class->scalar(args, expr->dtype);
}

/* Steps `at[first ...]` through the extents; false after the last point. */
static bool reference_next(int64_t *at, const int64_t *extent, int count) {
  for (int i = count - 1; i >= 0; i--) {
    if (++at[i] < extent[i]) return true;
    at[i] = 0;
  }
  return false;
}

static bool reference_is_empty(const int64_t *extent, int count) {
  for (int i = 0; i < count; i++)
    if (extent[i] == 0) return true;
  return false;
}

static void reference_store(Reference *r, const Store *stores, int count) {
  for (int i = 0; i < count; i++) {
    int64_t place = reference_index(r, stores[i].index);
    r->after[stores[i].operand][place] = reference_expr(r, stores[i].value);
    if (r->off) r->off[stores[i].operand][place] = r->result_off;
  }
}

static double reference_join(Op reduce, double a, double b) {
  switch (reduce) {
  case OP_REDUCE_SUM: return a + b;
  case OP_REDUCE_PROD: return a * b;
  case OP_REDUCE_MAX: return a > b || a != a ? a : b;
  default: return a < b || a != a ? a : b;
  }
}

static void reference_stage(Reference *r, int number) {
  const Stage *stage = &r->kernel->stages[number];
  int64_t *at = r->at + r->kernel->axis_count;
  memset(at, 0, sizeof *at * (size_t)stage->axis_count);
  if (stage->kind == STAGE_REDUCE)
    r->stages[number] = stage->reduce == OP_REDUCE_PROD  ? 1
                        : stage->reduce == OP_REDUCE_MAX ? -INFINITY
                        : stage->reduce == OP_REDUCE_MIN ? INFINITY
                                                         : 0;
  if (reference_is_empty(stage->extent, stage->axis_count)) return;
  double best = 0;
  bool is_arg = stage->reduce == OP_ARGMAX || stage->reduce == OP_ARGMIN;
  do {
    if (stage->kind == STAGE_STORE) {
      reference_store(r, stage->stores, stage->store_count);
      continue;
    }
    double value = reference_expr(r, stage->value);
    if (!is_arg) {
      r->stages[number] = reference_join(stage->reduce, r->stages[number], value);
      continue;
    }
    bool wins = at[0] == 0 || (value != value && best == best) ||
                (stage->reduce == OP_ARGMAX ? value > best : value < best);
    if (wins) best = value, r->stages[number] = (double)at[0];
  } while (reference_next(at, stage->extent, stage->axis_count));
}

/* Of products of f32 as three of bf16 each is off by at most 2^-15.4 of itself (docs/numbers.md). A sum of them is
 * off by at most that of their sizes; as they are off to either side, also by less than twice that of the root of
 * the sum of their squares (of some hundred thousand sums the worst was at .9 of it, the root of the mean square at
 * .12 to .18). */
static double split_products_off(double sum, double square_sum) {
  return exp2(-15.4) * fmin(sum, 2 * sqrt(square_sum));
}

static double reference_contract(Reference *r) {
  const ContractSlots *slots = &r->kernel->contract;
  const AxisGroup *groups[3] = {&slots->batch, &slots->m, &slots->n};
  int64_t offset[2] = {0, 0};
  for (int g = 0, axis = 0; g < 3; g++)
    for (int i = 0; i < groups[g]->count; i++, axis++)
      for (int side = 0; side < 2; side++) offset[side] += r->at[axis] * groups[g]->stride[side][i];
  double sum = 0, sizes = 0, squares = 0;
  int64_t k[MAX_RANK] = {0};
  r->result_off = 0;
  if (reference_is_empty(slots->k.extent, slots->k.count)) return 0;
  do {
    int64_t left = offset[0], right = offset[1];
    for (int i = 0; i < slots->k.count; i++)
      left += k[i] * slots->k.stride[0][i], right += k[i] * slots->k.stride[1][i];
    double term = r->before[0][left] * r->before[1][right];
    sum += term, sizes += fabs(term), squares += term * term;
  } while (reference_next(k, slots->k.extent, slots->k.count));
  if (r->kernel->is_x3) r->result_off = split_products_off(sizes, squares);
  return sum;
}

/* Row-major number of a point with two leading axes. */
static int64_t reference_place(int64_t a, int64_t b, int64_t extent_b, const int64_t *at,
                               const int64_t *extent, int count) {
  int64_t place = a * extent_b + b;
  for (int i = 0; i < count; i++) place = place * extent[i] + at[i];
  return place;
}

/* The same in operand `operand` of a convolution, whose channels may lie last. */
static int64_t reference_plane(const ConvSlots *s, int operand, int64_t row, int64_t channel,
                               int64_t channels, const int64_t *at, const int64_t *extent) {
  int64_t place = row;
  if ((s->last >> operand & 1) == 0)
    return reference_place(row, channel, channels, at, extent, s->spatial);
  for (int i = 0; i < s->spatial; i++) place = place * extent[i] + at[i];
  return place * channels + channel;
}

/* Position under a tap; false in the padding. */
static bool reference_under(const ConvSlots *s, const int64_t *out, const int64_t *tap,
                            int64_t *in) {
  for (int i = 0; i < s->spatial; i++) {
    in[i] = out[i] * s->stride[i] - s->low[i] + tap[i] * s->dilation[i];
    if (in[i] < 0 || in[i] >= s->in[i]) return false;
  }
  return true;
}

/* Whether the position is under some tap. */
static bool reference_covers(const ConvSlots *s, const int64_t *out, const int64_t *in) {
  for (int i = 0; i < s->spatial; i++) {
    int64_t from = in[i] - out[i] * s->stride[i] + s->low[i];
    if (from < 0 || from % s->dilation[i] != 0 || from / s->dilation[i] >= s->kernel[i])
      return false;
  }
  return true;
}

/* x, w or y at the point, from the operand that holds it. */
static double reference_x(const Reference *r, int operand, int64_t n, int64_t channel,
                          const int64_t *in) {
  const ConvSlots *s = &r->kernel->conv;
  return r->before[operand][reference_plane(s, operand, n, channel, s->c, in, s->in)];
}

static double reference_w(const Reference *r, int operand, int64_t k, int64_t c,
                          const int64_t *tap) {
  const ConvSlots *s = &r->kernel->conv;
  return r->before[operand][reference_plane(s, operand, k, c, s->c / s->groups, tap, s->kernel)];
}

static double reference_y(const Reference *r, int operand, int64_t n, int64_t k,
                          const int64_t *out) {
  const ConvSlots *s = &r->kernel->conv;
  return r->before[operand][reference_plane(s, operand, n, k, s->k, out, s->out)];
}

/* y[n, k, out] */
static double reference_conv(const Reference *r) {
  const ConvSlots *s = &r->kernel->conv;
  int64_t c_group = s->c / s->groups, group = r->at[1] / (s->k / s->groups), tap[3] = {0}, in[3];
  double sum = 0;
  do {
    if (!reference_under(s, r->at + 2, tap, in)) continue;
    for (int64_t c = 0; c < c_group; c++)
      sum += reference_x(r, 0, r->at[0], group * c_group + c, in) *
             reference_w(r, 1, r->at[1], c, tap);
  } while (reference_next(tap, s->kernel, s->spatial));
  return sum;
}

/* dx[n, c, in]: the output that has the element under the tap, if there is one. */
static double reference_conv_input(const Reference *r) {
  const ConvSlots *s = &r->kernel->conv;
  int64_t c_group = s->c / s->groups, k_group = s->k / s->groups, group = r->at[1] / c_group;
  int64_t tap[3] = {0}, out[3], in[3];
  double sum = 0;
  do {
    for (int i = 0; i < s->spatial; i++)
      out[i] = (r->at[2 + i] + s->low[i] - tap[i] * s->dilation[i]) / s->stride[i];
    bool hits = reference_under(s, out, tap, in);
    for (int i = 0; i < s->spatial; i++)
      hits = hits && in[i] == r->at[2 + i] && out[i] >= 0 && out[i] < s->out[i];
    for (int64_t k = 0; hits && k < k_group; k++)
      sum += reference_y(r, 0, r->at[0], group * k_group + k, out) *
             reference_w(r, 1, group * k_group + k, r->at[1] % c_group, tap);
  } while (reference_next(tap, s->kernel, s->spatial));
  return sum;
}

/* dw[k, c, tap], of each piece of the images where there are any: [piece, k, c, tap] */
static double reference_conv_weight(const Reference *r) {
  const ConvSlots *s = &r->kernel->conv;
  const int64_t *at = r->at + (s->pieces > 0);
  int64_t channel = at[0] / (s->k / s->groups) * (s->c / s->groups) + at[1], out[3] = {0}, in[3];
  int64_t images = s->pieces > 0 ? s->n / s->pieces : s->n;
  int64_t first = s->pieces > 0 ? r->at[0] * images : 0;
  double sum = 0;
  if (reference_is_empty(s->out, s->spatial)) return 0;
  do {
    if (!reference_under(s, out, at + 2, in)) continue;
    for (int64_t n = first; n < first + images; n++)
      sum += reference_x(r, 0, n, channel, in) * reference_y(r, 1, n, at[0], out);
  } while (reference_next(out, s->out, s->spatial));
  return sum;
}

/* (x, dy): what the windows whose first maximum is the element add to it. */
static double reference_max_pool_grad(const Reference *r) {
  const ConvSlots *s = &r->kernel->conv;
  double sum = 0;
  int64_t out[3] = {0};
  if (reference_is_empty(s->out, s->spatial)) return 0;
  do {
    if (!reference_covers(s, out, r->at + 2)) continue;
    int64_t tap[3] = {0}, in[3], best_in[3] = {-1, -1, -1};
    double best = -INFINITY;
    bool found = false;
    do {
      if (!reference_under(s, out, tap, in)) continue;
      double x = reference_x(r, 0, r->at[0], r->at[1], in);
      if (found && !(x > best || (x != x && best == best))) continue;
      found = true, best = x;
      memcpy(best_in, in, sizeof in);
    } while (reference_next(tap, s->kernel, s->spatial));
    if (found && memcmp(best_in, r->at + 2, sizeof *best_in * (size_t)s->spatial) == 0)
      sum += reference_y(r, 1, r->at[0], r->at[1], out);
  } while (reference_next(out, s->out, s->spatial));
  return sum;
}

/* (places, dy): what the windows in which the element has the number of their place add to it. */
static double reference_max_unpool(const Reference *r) {
  const ConvSlots *s = &r->kernel->conv;
  double sum = 0;
  int64_t out[3] = {0};
  if (reference_is_empty(s->out, s->spatial)) return 0;
  do {
    int64_t tap[3], in[3], place = (int64_t)reference_y(r, 0, r->at[0], r->at[1], out);
    for (int i = s->spatial - 1; i >= 0; i--) tap[i] = place % s->kernel[i], place /= s->kernel[i];
    if (place == 0 && reference_under(s, out, tap, in) &&
        memcmp(in, r->at + 2, sizeof *in * (size_t)s->spatial) == 0)
      sum += reference_y(r, 1, r->at[0], r->at[1], out);
  } while (reference_next(out, s->out, s->spatial));
  return sum;
}

/* (values, index): what lands in the element. */
static double reference_scatter(const Reference *r) {
  const ScatterSlots *s = &r->kernel->scatter;
  int64_t place = 0;
  double sum = 0;
  for (int i = 0; i < r->kernel->axis_count; i++) place = place * r->kernel->extent[i] + r->at[i];
  for (int64_t i = 0; i < s->indices; i++)
    if (r->before[1][i] == (double)(place / s->row_elements)) /* others are dropped */
      sum += r->before[0][i * s->row_elements + place % s->row_elements];
  return sum;
}

/* (x): the element of the row that as many come before as its place says. */
static double reference_argsort(const Reference *r) {
  const SortSlots *s = &r->kernel->sort;
  const double *x = r->before[0] + r->at[0] * s->elements;
  for (int64_t i = 0; i < s->elements; i++) {
    int64_t before = 0;
    for (int64_t k = 0; k < s->elements; k++)
      before += (s->descending ? x[k] > x[i] : x[k] < x[i]) || (x[k] == x[i] && k < i);
    if (before == r->at[1]) return (double)i;
  }
  panic("no element has its place");
}

static double reference_template(Reference *r) {
  switch (r->kernel->kind) {
  case KERNEL_CONTRACT: return reference_contract(r);
  case KERNEL_MAX_POOL_GRAD: return reference_max_pool_grad(r);
  case KERNEL_MAX_UNPOOL: return reference_max_unpool(r);
  case KERNEL_SCATTER_ADD: return reference_scatter(r);
  case KERNEL_ARGSORT: return reference_argsort(r);
  case KERNEL_CONV: return reference_conv(r);
  case KERNEL_CONV_INPUT: return reference_conv_input(r);
  case KERNEL_CONV_WEIGHT: return reference_conv_weight(r);
  default: panic("kernel kind");
  }
}

static void reference_run(Reference *r) {
  const Kernel *kernel = r->kernel;
  memset(r->at, 0, sizeof r->at);
  if (reference_is_empty(kernel->extent, kernel->axis_count)) return;
  do {
    if (kernel->kind == KERNEL_LOOP) {
      for (int i = 0; i < kernel->stage_count; i++) reference_stage(r, i);
    } else {
      r->result = reference_template(r);
      reference_store(r, kernel->epilogue, kernel->epilogue_count);
    }
  } while (reference_next(r->at, kernel->extent, kernel->axis_count));
}

#endif
