/* Integer index algebra: sums of axes, floor division and modulus, simplified on construction.
 *
 * An index is kept in a normal form: a sum of terms  coefficient * atom  sorted by atom, then the
 * constant.  Atoms are axes, divisions, moduli and loads.  Because the extents of the axes are
 * known, most divisions of a reshape disappear:
 *
 *     (28 * i + j) / 28  ->  i            when 0 <= j < 28
 *     28 * (x / 28) + x % 28  ->  x       the two halves of a split meet again
 *     b * (x % d) + b * d * (x / d % e)  ->  b * (x % (d * e))
 *
 * One more would hide such halves from each other, so that it is for indices that are complete (index_shorten):
 *
 *     (28 * i + j) / 56  ->  i / 2        when 0 <= j < 28
 *
 * All rules hold for floor division and for every integer x, also negative ones (padding). */
#include "kernel/builder.h"

#include <string.h>
#include "support/integers.h"
#include "support/panic.h"

/* ---- normal form --------------------------------------------------------------------------- */

typedef struct Term {
  int64_t coefficient;
  Index *atom;
} Term;

typedef struct Sum {
  int64_t constant;
  VEC(Term) terms;
} Sum;

static Index *index_new(Arena *arena, IndexKind kind, int64_t value, Index *left) {
  Index *index = ARENA_NEW(arena, Index);
  index->kind = kind;
  index->value = value;
  index->left = left;
  return index;
}

/* A total order of indices by structure; 0 exactly when equal. */
static int index_compare(const Index *a, const Index *b) {
  if (a == b) return 0;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  if (a->value != b->value) return a->value < b->value ? -1 : 1;
  if (a->kind == INDEX_LOAD && a->operand != b->operand) return a->operand < b->operand ? -1 : 1;
  if (a->left != NULL) {
    int order = index_compare(a->left, b->left);
    if (order != 0) return order;
  }
  return a->right == NULL ? 0 : index_compare(a->right, b->right);
}

bool index_equal(const Index *a, const Index *b) { return index_compare(a, b) == 0; }

static void sum_add_term(Arena *arena, Sum *sum, int64_t coefficient, Index *atom) {
  if (coefficient == 0) return;
  int at = 0;
  while (at < sum->terms.count) {
    int order = index_compare(sum->terms.items[at].atom, atom);
    if (order > 0) break;
    if (order < 0) {
      at++;
      continue;
    }
    Term *term = &sum->terms.items[at];
    term->coefficient += coefficient;
    if (term->coefficient != 0) return;
    sum->terms.count--;
    memmove(term, term + 1, sizeof *term * (size_t)(sum->terms.count - at));
    return;
  }
  vec_push(arena, &sum->terms, (Term){0});
  Term *term = &sum->terms.items[at];
  memmove(term + 1, term, sizeof *term * (size_t)(sum->terms.count - 1 - at));
  *term = (Term){coefficient, atom};
}

/* sum += factor * index */
static void sum_add(Arena *arena, Sum *sum, const Index *index, int64_t factor) {
  switch (index->kind) {
  case INDEX_CONST: sum->constant += factor * index->value; return;
  case INDEX_ADD:
    sum_add(arena, sum, index->left, factor);
    sum_add(arena, sum, index->right, factor);
    return;
  case INDEX_MUL:
    CHECK(index->right->kind == INDEX_CONST);
    sum_add(arena, sum, index->left, factor * index->right->value);
    return;
  default: sum_add_term(arena, sum, factor, (Index *)index);
  }
}

static Index *sum_build(Arena *arena, const Sum *sum) {
  Index *result = NULL;
  for (int i = 0; i < sum->terms.count; i++) {
    Term term = sum->terms.items[i];
    Index *index = term.atom;
    if (term.coefficient != 1) {
      index = index_new(arena, INDEX_MUL, 0, term.atom);
      index->right = index_const(arena, term.coefficient);
    }
    if (result == NULL) {
      result = index;
      continue;
    }
    result = index_new(arena, INDEX_ADD, 0, result);
    result->right = index;
  }
  if (result == NULL) return index_const(arena, sum->constant);
  if (sum->constant == 0) return result;
  result = index_new(arena, INDEX_ADD, 0, result);
  result->right = index_const(arena, sum->constant);
  return result;
}

/* ---- ranges -------------------------------------------------------------------------------- */

static int64_t greatest_divisor(int64_t a, int64_t b) {
  a = a < 0 ? -a : a;
  b = b < 0 ? -b : b;
  while (b != 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

bool index_range(const Index *index, const int64_t *extents, int axis_count, int64_t *least,
                 int64_t *greatest) {
  int64_t a0, a1, b0, b1;
  switch (index->kind) {
  case INDEX_CONST: *least = *greatest = index->value; return true;
  case INDEX_AXIS:
    if (index->value >= axis_count) return false;
    *least = 0;
    *greatest = extents[index->value] > 0 ? extents[index->value] - 1 : 0;
    return true;
  case INDEX_LOAD:
    *least = 0;
    *greatest = index->value - 1;
    return true;
  default: break;
  }
  if (!index_range(index->left, extents, axis_count, &a0, &a1)) return false;
  switch (index->kind) {
  case INDEX_ADD:
    if (!index_range(index->right, extents, axis_count, &b0, &b1)) return false;
    *least = a0 + b0;
    *greatest = a1 + b1;
    return true;
  case INDEX_MUL:
    b0 = index->right->value;
    *least = b0 >= 0 ? a0 * b0 : a1 * b0;
    *greatest = b0 >= 0 ? a1 * b0 : a0 * b0;
    return true;
  case INDEX_DIV:
    *least = floor_div(a0, index->value);
    *greatest = floor_div(a1, index->value);
    return true;
  case INDEX_MOD:
    if (floor_div(a0, index->value) == floor_div(a1, index->value)) {
      *least = floor_mod(a0, index->value);
      *greatest = floor_mod(a1, index->value);
      return true;
    }
    *least = 0;
    *greatest = index->value - 1;
    return true;
  default: panic("index kind %d has no range", (int)index->kind);
  }
}

/* ---- constructors -------------------------------------------------------------------------- */

Index *index_const(Arena *arena, int64_t value) {
  return index_new(arena, INDEX_CONST, value, NULL);
}

Index *index_axis(Arena *arena, int axis) { return index_new(arena, INDEX_AXIS, axis, NULL); }

/* Divisors of quotients in quotients have no bound together: false where their product has none. */
static bool multiply(int64_t a, int64_t b, int64_t *product) {
  return !__builtin_mul_overflow(a, b, product);
}

/* Joins one pair of terms that are the two halves of a split; false when there is none.
 *   b*d * (x/d)      + b * (x%d)  ->  b * x
 *   b*d * (x/d % e)  + b * (x%d)  ->  b * (x % (d*e)) */
static bool sum_join_halves(Arena *arena, Sum *sum) {
  for (int i = 0; i < sum->terms.count; i++) {
    Term low = sum->terms.items[i];
    if (low.atom->kind != INDEX_MOD) continue;
    int64_t divisor = low.atom->value, whole, step;
    for (int j = 0; j < sum->terms.count; j++) {
      Term high = sum->terms.items[j];
      if (j == i || !multiply(low.coefficient, divisor, &step) || high.coefficient != step)
        continue;
      const Index *quotient = high.atom->kind == INDEX_MOD ? high.atom->left : high.atom;
      if (quotient->kind != INDEX_DIV || quotient->value != divisor) continue;
      if (!index_equal(quotient->left, low.atom->left) ||
          !multiply(divisor, high.atom->value, &whole))
        continue;
      sum_add_term(arena, sum, -high.coefficient, high.atom);
      sum_add_term(arena, sum, -low.coefficient, low.atom);
      if (high.atom->kind == INDEX_DIV) {
        sum_add(arena, sum, low.atom->left, low.coefficient);
      } else {
        sum_add_term(arena, sum, low.coefficient,
                     index_new(arena, INDEX_MOD, whole, low.atom->left));
      }
      return true;
    }
  }
  return false;
}

Index *index_add(Arena *arena, Index *a, Index *b) {
  Sum sum = {0};
  sum_add(arena, &sum, a, 1);
  sum_add(arena, &sum, b, 1);
  while (sum_join_halves(arena, &sum)) continue;
  return sum_build(arena, &sum);
}

Index *index_mul(Arena *arena, Index *a, int64_t factor) {
  Sum sum = {0};
  sum_add(arena, &sum, a, factor);
  return sum_build(arena, &sum);
}

/* Splits a = divisor * quotient + rest, moving into the quotient what is divisible. */
static void sum_split(Arena *arena, const Index *a, int64_t divisor, Sum *quotient, Sum *rest) {
  Sum sum = {0};
  sum_add(arena, &sum, a, 1);
  for (int i = 0; i < sum.terms.count; i++) {
    Term term = sum.terms.items[i];
    if (term.coefficient % divisor == 0)
      sum_add_term(arena, quotient, term.coefficient / divisor, term.atom);
    else sum_add_term(arena, rest, term.coefficient, term.atom);
  }
  quotient->constant = floor_div(sum.constant, divisor);
  rest->constant = floor_mod(sum.constant, divisor);
}

/* Divides the rest by what divides all its coefficients and the divisor; *low is what is left of
 * the constant: rest = scale * rest' + low with 0 <= low < scale. */
static int64_t sum_shrink(Sum *rest, int64_t divisor, int64_t *low) {
  int64_t scale = divisor;
  for (int i = 0; i < rest->terms.count; i++)
    scale = greatest_divisor(scale, rest->terms.items[i].coefficient);
  for (int i = 0; i < rest->terms.count; i++) rest->terms.items[i].coefficient /= scale;
  *low = floor_mod(rest->constant, scale);
  rest->constant = floor_div(rest->constant, scale);
  return scale;
}

static Index *divide_atom(Arena *arena, Index *rest, int64_t divisor) {
  int64_t both;
  if (rest->kind == INDEX_DIV && multiply(rest->value, divisor, &both))
    return index_new(arena, INDEX_DIV, both, rest->left);
  if (rest->kind == INDEX_MOD && rest->value % divisor == 0) {
    Index *inner = divide_atom(arena, rest->left, divisor);
    return index_new(arena, INDEX_MOD, rest->value / divisor, inner);
  }
  return index_new(arena, INDEX_DIV, divisor, rest);
}

/* floor(rest / divisor) when it is one number over the whole range. */
static bool quotient_is_constant(const Index *rest, int64_t divisor, const int64_t *extents,
                                 int axis_count, int64_t *quotient) {
  int64_t least, greatest;
  if (!index_range(rest, extents, axis_count, &least, &greatest)) return false;
  *quotient = floor_div(least, divisor);
  return *quotient == floor_div(greatest, divisor);
}

/* Leaves out terms that never reach the next multiple of what divides the others and the divisor: (s h + l) / (s d) is
 * (h + l / s) / d, where l / s is one number. Returns s, by which the others are divided; 1: there are none such. */
static int64_t sum_drop_low(Arena *arena, Sum *rest, int64_t divisor, const int64_t *extents,
                            int axis_count) {
  for (int i = 0; i < rest->terms.count; i++) {
    int64_t scale = greatest_divisor(divisor, rest->terms.items[i].coefficient), quotient;
    Sum high = {0}, low = {0};
    sum_split(arena, sum_build(arena, rest), scale, &high, &low);
    low.constant += high.constant * scale;
    if (scale == 1 ||
        !quotient_is_constant(sum_build(arena, &low), scale, extents, axis_count, &quotient))
      continue;
    high.constant = quotient;
    *rest = high;
    return scale;
  }
  return 1;
}

/* `is_short`: without terms that do not count. */
static Index *divide(Arena *arena, Index *a, int64_t divisor, bool is_short, const int64_t *extents,
                     int axis_count) {
  CHECK(divisor > 0);
  if (divisor == 1) return a;
  Sum quotient = {0}, rest = {0};
  sum_split(arena, a, divisor, &quotient, &rest);
  int64_t low, constant;
  divisor /= sum_shrink(&rest, divisor, &low);
  for (int64_t scale = 0; is_short && divisor > 1 && scale != 1; divisor /= scale)
    scale = sum_drop_low(arena, &rest, divisor, extents, axis_count);
  Index *index = sum_build(arena, &rest);
  if (divisor == 1) {
    sum_add(arena, &quotient, index, 1);
  } else if (quotient_is_constant(index, divisor, extents, axis_count, &constant)) {
    quotient.constant += constant;
  } else {
    sum_add(arena, &quotient, divide_atom(arena, index, divisor), 1);
  }
  while (sum_join_halves(arena, &quotient)) continue;
  return sum_build(arena, &quotient);
}

Index *index_div(Arena *arena, Index *a, int64_t divisor, const int64_t *extents, int axis_count) {
  return divide(arena, a, divisor, false, extents, axis_count);
}

/* Inside a modulus by `divisor`, x % e may be x when e is a multiple of the divisor. */
static Sum sum_drop_moduli(Arena *arena, const Sum *sum, int64_t divisor) {
  Sum result = {.constant = sum->constant};
  for (int i = 0; i < sum->terms.count; i++) {
    Term term = sum->terms.items[i];
    int64_t period;
    bool is_dropped = term.atom->kind == INDEX_MOD &&
                      multiply(term.atom->value, term.coefficient, &period) &&
                      period % divisor == 0;
    sum_add(arena, &result, is_dropped ? term.atom->left : term.atom, term.coefficient);
  }
  return result;
}

Index *index_mod(Arena *arena, Index *a, int64_t divisor, const int64_t *extents, int axis_count) {
  CHECK(divisor > 0);
  if (divisor == 1) return index_const(arena, 0);
  Sum quotient = {0}, rest = {0};
  sum_split(arena, a, divisor, &quotient, &rest);
  int64_t low, constant;
  if (quotient_is_constant(sum_build(arena, &rest), divisor, extents, axis_count, &constant)) {
    rest.constant -= constant * divisor;
    return sum_build(arena, &rest);
  }
  Sum plain = sum_drop_moduli(arena, &rest, divisor);
  quotient = rest = (Sum){0};
  sum_split(arena, sum_build(arena, &plain), divisor, &quotient, &rest);
  int64_t scale = sum_shrink(&rest, divisor, &low);
  divisor /= scale;
  Index *index = sum_build(arena, &rest);
  Sum result = {.constant = low};
  if (quotient_is_constant(index, divisor, extents, axis_count, &constant)) {
    sum_add(arena, &result, index, scale);
    result.constant -= constant * divisor * scale;
  } else {
    sum_add_term(arena, &result, scale, index_new(arena, INDEX_MOD, divisor, index));
  }
  return sum_build(arena, &result);
}

Index *index_load(Arena *arena, int operand, Index *element, int64_t bound) {
  Index *index = index_new(arena, INDEX_LOAD, bound, element);
  index->operand = operand;
  return index;
}

/* ---- substitution and affine form ---- */

Index *index_substitute_in(Arena *arena, Index *index, Index *const *by, int count,
                           const int64_t *extents, int axis_count) {
  Index *left = index->left == NULL
                    ? NULL
                    : index_substitute_in(arena, index->left, by, count, extents, axis_count);
  switch (index->kind) {
  case INDEX_CONST: return index;
  case INDEX_AXIS: return index->value < count && by[index->value] ? by[index->value] : index;
  case INDEX_ADD:
    return index_add(arena, left,
                     index_substitute_in(arena, index->right, by, count, extents, axis_count));
  case INDEX_MUL: return index_mul(arena, left, index->right->value);
  case INDEX_DIV: return index_div(arena, left, index->value, extents, axis_count);
  case INDEX_MOD: return index_mod(arena, left, index->value, extents, axis_count);
  case INDEX_LOAD: return index_load(arena, index->operand, left, index->value);
  }
  panic("index kind %d", (int)index->kind);
}

Index *index_shorten(Arena *arena, Index *index, const int64_t *extents, int axis_count) {
  if (index->kind == INDEX_CONST || index->kind == INDEX_AXIS) return index;
  Index *left = index_shorten(arena, index->left, extents, axis_count);
  switch (index->kind) {
  case INDEX_ADD:
    return index_add(arena, left, index_shorten(arena, index->right, extents, axis_count));
  case INDEX_MUL: return index_mul(arena, left, index->right->value);
  case INDEX_DIV: return divide(arena, left, index->value, true, extents, axis_count);
  case INDEX_MOD: return index_mod(arena, left, index->value, extents, axis_count);
  case INDEX_LOAD: return index_load(arena, index->operand, left, index->value);
  default: panic("index kind %d", (int)index->kind);
  }
}

Index *index_substitute(Arena *arena, Index *index, Index *const *by, int count) {
  return index_substitute_in(arena, index, by, count, NULL, 0);
}

static bool affine_add(const Index *index, int axis_count, int64_t factor, int64_t *base,
                       int64_t *coefficient) {
  switch (index->kind) {
  case INDEX_CONST: *base += factor * index->value; return true;
  case INDEX_AXIS:
    if (index->value >= axis_count) return false;
    coefficient[index->value] += factor;
    return true;
  case INDEX_ADD:
    return affine_add(index->left, axis_count, factor, base, coefficient) &&
           affine_add(index->right, axis_count, factor, base, coefficient);
  case INDEX_MUL:
    return affine_add(index->left, axis_count, factor * index->right->value, base, coefficient);
  default: return false;
  }
}

bool index_is_affine(const Index *index, int axis_count, int64_t *base, int64_t *coefficient) {
  *base = 0;
  for (int i = 0; i < axis_count; i++) coefficient[i] = 0;
  return affine_add(index, axis_count, 1, base, coefficient);
}

bool index_factor(Arena *arena, const Index *index, const Index *part, int64_t *factor) {
  Sum whole = {0}, sum = {0};
  sum_add(arena, &whole, index, 1);
  sum_add(arena, &sum, part, 1);
  for (int i = 0; i < whole.terms.count && sum.terms.count > 0; i++) {
    Term term = whole.terms.items[i], first = sum.terms.items[0];
    if (!index_equal(term.atom, first.atom) || term.coefficient % first.coefficient != 0) continue;
    *factor = term.coefficient / first.coefficient;
    return true;
  }
  return false;
}
