/* Index algebra against direct evaluation; kernels: keys, collapsing, the verifier. */
#include "graphs.h"
#include "kernel/builder.h"
#include "kernel/cases.h"
#include "kernel_cases.h"
#include "support/integers.h"

/* ---- random indices ----------------------------------------------------------------------- */

enum { AXES = 4 };

/* The same expression twice: as the algebra simplifies it, and as it was asked for. */
typedef struct Plain Plain;
struct Plain {
  char kind; /* c a + * / % */
  int64_t value;
  const Plain *left, *right;
};

typedef struct Pair {
  Index *index;
  const Plain *plain;
} Pair;

typedef struct Random {
  uint64_t state;
  Arena *arena;
  int64_t extents[AXES];
} Random;

static int64_t draw(Random *r, int64_t bound) {
  r->state = r->state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((r->state >> 33) % (uint64_t)bound);
}

static const Plain *plain(Random *r, char kind, int64_t value, const Plain *left,
                          const Plain *right) {
  Plain *result = ARENA_NEW(r->arena, Plain);
  *result = (Plain){kind, value, left, right};
  return result;
}

static Pair draw_index(Random *r, int depth) {
  if (depth == 0 || draw(r, 8) == 0) {
    int64_t value = draw(r, 2) ? draw(r, AXES) : AXES;
    if (value < AXES)
      return (Pair){index_axis(r->arena, (int)value), plain(r, 'a', value, NULL, NULL)};
    value = draw(r, 41) - 20;
    return (Pair){index_const(r->arena, value), plain(r, 'c', value, NULL, NULL)};
  }
  Pair a = draw_index(r, depth - 1);
  static const int64_t factors[] = {1, 2, 3, 4, 6, 7, 12, 28};
  int64_t factor = factors[draw(r, 8)];
  switch (draw(r, 5)) {
  case 0:
  case 1: {
    Pair b = draw_index(r, depth - 1);
    return (Pair){index_add(r->arena, a.index, b.index), plain(r, '+', 0, a.plain, b.plain)};
  }
  case 2:
    if (draw(r, 5) == 0) factor = -factor;
    return (Pair){index_mul(r->arena, a.index, factor), plain(r, '*', factor, a.plain, NULL)};
  case 3:
    return (Pair){index_div(r->arena, a.index, factor, r->extents, AXES),
                  plain(r, '/', factor, a.plain, NULL)};
  default:
    return (Pair){index_mod(r->arena, a.index, factor, r->extents, AXES),
                  plain(r, '%', factor, a.plain, NULL)};
  }
}

static int64_t plain_value(const Plain *p, const int64_t *axis) {
  if (p->kind == 'c') return p->value;
  if (p->kind == 'a') return axis[p->value];
  int64_t left = plain_value(p->left, axis);
  if (p->kind == '+') return left + plain_value(p->right, axis);
  if (p->kind == '*') return left * p->value;
  int64_t quotient = floor_div(left, p->value);
  return p->kind == '/' ? quotient : left - p->value * quotient;
}

static int64_t index_value(const Index *index, const int64_t *axis) {
  int64_t left = index->left ? index_value(index->left, axis) : 0;
  switch (index->kind) {
  case INDEX_CONST: return index->value;
  case INDEX_AXIS: return axis[index->value];
  case INDEX_ADD: return left + index_value(index->right, axis);
  case INDEX_MUL: return left * index_value(index->right, axis);
  case INDEX_DIV: return floor_div(left, index->value);
  case INDEX_MOD: return left - index->value * floor_div(left, index->value);
  case INDEX_LOAD: break;
  }
  fail_msg("index of kind %d", (int)index->kind);
  return 0;
}

static bool next_point(const Random *r, int64_t *axis) {
  for (int i = AXES - 1; i >= 0; i--) {
    if (++axis[i] < r->extents[i]) return true;
    axis[i] = 0;
  }
  return false;
}

static void check_index(Random *r, uint64_t seed) {
  Pair pair = draw_index(r, 5);
  int64_t least, greatest, base, coefficient[AXES], axis[AXES] = {0};
  assert_true(index_range(pair.index, r->extents, AXES, &least, &greatest));
  bool is_affine = index_is_affine(pair.index, AXES, &base, coefficient);
  do {
    int64_t expected = plain_value(pair.plain, axis), given = index_value(pair.index, axis);
    if (given != expected)
      fail_msg("seed %llu: %lld instead of %lld", (unsigned long long)seed, (long long)given,
               (long long)expected);
    assert_true(least <= given && given <= greatest);
    int64_t sum = base;
    for (int i = 0; i < AXES; i++) sum += coefficient[i] * axis[i];
    if (is_affine) assert_int_equal(sum, given);
  } while (next_point(r, axis));
}

static void test_random_indices(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 6000; seed++) {
    Random r = {.state = seed * 0x9E3779B97F4A7C15u, .arena = arena_create()};
    for (int i = 0; i < AXES; i++) r.extents[i] = 1 + draw(&r, 7);
    check_index(&r, seed);
    arena_destroy(r.arena);
  }
}

/* ---- what must become simple -------------------------------------------------------------- */

typedef struct Fixture {
  Arena *arena;
  int64_t extents[3];
  Index *i, *j, *k;
} Fixture;

static Fixture fixture(int64_t a, int64_t b, int64_t c) {
  Arena *arena = arena_create();
  return (Fixture){
      arena, {a, b, c}, index_axis(arena, 0), index_axis(arena, 1), index_axis(arena, 2)};
}

static Index *flat(const Fixture *f) { /* row-major over the three axes */
  Index *rows = index_add(f->arena, index_mul(f->arena, f->i, f->extents[1]), f->j);
  return index_add(f->arena, index_mul(f->arena, rows, f->extents[2]), f->k);
}

static void test_digits_of_a_row_major_number_are_its_axes(void **state) {
  (void)state;
  Fixture f = fixture(100, 28, 28);
  Index *all = flat(&f), *pixel;
  assert_true(index_equal(index_div(f.arena, all, 784, f.extents, 3), f.i));
  pixel = index_mod(f.arena, all, 784, f.extents, 3);
  assert_true(index_equal(index_div(f.arena, pixel, 28, f.extents, 3), f.j));
  assert_true(index_equal(index_mod(f.arena, all, 28, f.extents, 3), f.k));
  arena_destroy(f.arena);
}

/* Places of a group of 8 channels, of 7 parts: what never reaches the next channel does not count. */
static void test_a_quotient_needs_no_terms_below_its_steps(void **state) {
  (void)state;
  Fixture f = fixture(64, 7, 9);
  Arena *a = f.arena;
  Index *place = flat(&f), *group = index_div(a, f.i, 8, f.extents, 3);
  Index *short_form = index_shorten(a, index_div(a, place, 8 * 63, f.extents, 3), f.extents, 3);
  assert_true(index_equal(short_form, group));
  Index *later = index_add(a, place, index_const(a, 63));
  Index *next = index_div(a, index_add(a, f.i, index_const(a, 1)), 8, f.extents, 3);
  short_form = index_shorten(a, index_div(a, later, 8 * 63, f.extents, 3), f.extents, 3);
  assert_true(index_equal(short_form, next));
  Index *beyond = index_add(a, place, index_const(a, 1)); /* may be the next channel's */
  short_form = index_shorten(a, index_div(a, beyond, 8 * 63, f.extents, 3), f.extents, 3);
  assert_false(index_equal(short_form, group));
  arena_destroy(a);
}

static void test_a_split_and_joined_axis_is_itself(void **state) {
  (void)state;
  Fixture f = fixture(1000, 1, 1);
  Arena *a = f.arena;
  Index *high = index_div(a, f.i, 200, f.extents, 3);
  Index *middle = index_mod(a, index_div(a, f.i, 10, f.extents, 3), 20, f.extents, 3);
  Index *low = index_mod(a, f.i, 10, f.extents, 3);
  Index *sum = index_add(a, index_mul(a, high, 200), index_add(a, index_mul(a, middle, 10), low));
  assert_true(index_equal(sum, f.i));
  arena_destroy(f.arena);
}

static void test_substitution_puts_indices_for_axes(void **state) {
  (void)state;
  Fixture f = fixture(5, 6, 7);
  Index *by[3] = {f.k, index_const(f.arena, 3), index_mul(f.arena, f.i, 2)};
  int64_t axis[3] = {4, 0, 6};
  Index *index = index_substitute(f.arena, flat(&f), by, 3);
  assert_int_equal(index_value(index, axis), (6 * 6 + 3) * 7 + 8);
  arena_destroy(f.arena);
}

/* ---- kernels ------------------------------------------------------------------------------ */

/* y[i, j] = x[i, j] + c, over [8, 16]. */
static Kernel *sum_kernel(Arena *arena, double c) {
  Kernel *kernel = ARENA_NEW(arena, Kernel);
  KernelOperand operands[] = {{DTYPE_F32, 128, false, "x"}, {DTYPE_F32, 128, true, "y"}};
  Index *index = index_add(arena, index_mul(arena, index_axis(arena, 0), 16), index_axis(arena, 1));
  Expr *load = ARENA_NEW(arena, Expr), *number = ARENA_NEW(arena, Expr),
       *sum = ARENA_NEW(arena, Expr);
  *load = (Expr){.kind = EXPR_LOAD, .dtype = DTYPE_F32, .index = index};
  *number = (Expr){.kind = EXPR_CONST, .dtype = DTYPE_F32, .value = c};
  *sum = (Expr){
      .kind = EXPR_OP, .dtype = DTYPE_F32, .op = OP_ADD, .arg_count = 2, .args = {load, number}};
  Store *store = ARENA_NEW(arena, Store);
  *store = (Store){.operand = 1, .index = index, .value = sum};
  Stage *stage = ARENA_NEW(arena, Stage);
  *stage = (Stage){.kind = STAGE_STORE, .store_count = 1, .stores = store};
  *kernel = (Kernel){.name = "k",
                     .operand_count = 2,
                     .axis_count = 2,
                     .extent = {8, 16},
                     .stage_count = 1,
                     .stages = stage,
                     .accumulate = DTYPE_F32};
  kernel->operands = arena_copy(arena, operands, sizeof operands);
  return kernel;
}

static void test_keys_tell_structures_apart_and_nothing_else(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Kernel *a = sum_kernel(arena, 1), *b = sum_kernel(arena, 1), *c = sum_kernel(arena, 2);
  b->name = "other";
  b->operands[0].name = "z";
  b->comment = "elsewhere";
  assert_string_equal(kernel_key(arena, a), kernel_key(arena, b));
  assert_string_not_equal(kernel_key(arena, a), kernel_key(arena, c));
  b->operands[0].dtype = DTYPE_F64;
  assert_string_not_equal(kernel_key(arena, a), kernel_key(arena, b));
  arena_destroy(arena);
}

static void test_flat_accesses_collapse_to_one_axis(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Kernel *kernel = sum_kernel(arena, 1);
  kernel_collapse(arena, kernel);
  assert_int_equal(kernel->axis_count, 1);
  assert_int_equal(kernel->extent[0], 128);
  assert_null(kernel_verify(arena, kernel));
  Kernel *other = sum_kernel(arena, 1); /* a transposed load keeps both axes */
  other->stages[0].stores[0].value->args[0]->index =
      index_add(arena, index_mul(arena, index_axis(arena, 1), 8), index_axis(arena, 0));
  kernel_collapse(arena, other);
  assert_int_equal(other->axis_count, 2);
  arena_destroy(arena);
}

static void test_updates_in_place_need_equal_indices(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Kernel *kernel = sum_kernel(arena, 1);
  assert_true(kernel_can_unify(kernel, 0, 1));
  kernel_unify(arena, kernel, 0, 1);
  assert_int_equal(kernel->operand_count, 1);
  assert_true(kernel->operands[0].is_output);
  assert_null(kernel_verify(arena, kernel));
  Kernel *moved = sum_kernel(arena, 1);
  moved->stages[0].stores[0].value->args[0]->index =
      index_add(arena, index_mul(arena, index_axis(arena, 1), 8), index_axis(arena, 0));
  assert_false(kernel_can_unify(moved, 0, 1));
  arena_destroy(arena);
}

/* ---- the verifier of kernels -------------------------------------------------------------- */

typedef void (*Spoil)(Arena *arena, Kernel *kernel);

static Expr *first_load(Kernel *kernel) { return kernel->stages[0].stores[0].value->args[0]; }

static void load_after_the_end(Arena *arena, Kernel *kernel) {
  first_load(kernel)->index = index_add(arena, first_load(kernel)->index, index_const(arena, 1));
}
static void load_before_the_beginning(Arena *arena, Kernel *kernel) {
  first_load(kernel)->index = index_add(arena, first_load(kernel)->index, index_const(arena, -1));
}
static void store_after_the_end(Arena *arena, Kernel *kernel) {
  Store *store = &kernel->stages[0].stores[0];
  store->index = index_mul(arena, store->index, 2);
}
static void store_into_an_input(Arena *arena, Kernel *kernel) {
  (void)arena;
  kernel->stages[0].stores[0].operand = 0;
}
static void operand_too_many(Arena *arena, Kernel *kernel) {
  (void)arena;
  first_load(kernel)->operand = 2;
}
static void axis_too_many(Arena *arena, Kernel *kernel) {
  first_load(kernel)->index = index_axis(arena, 2);
}
static void stage_that_is_not_there(Arena *arena, Kernel *kernel) {
  (void)arena;
  first_load(kernel)->kind = EXPR_STAGE;
}
static void scalar_that_is_not_there(Arena *arena, Kernel *kernel) {
  (void)arena;
  first_load(kernel)->kind = EXPR_SCALAR;
}
static void other_dtype(Arena *arena, Kernel *kernel) {
  (void)arena;
  kernel->operands[1].dtype = DTYPE_F64;
}
static void guard_too_wide(Arena *arena, Kernel *kernel) {
  load_after_the_end(arena, kernel);
  Guard *guard = ARENA_NEW(arena, Guard);
  *guard = (Guard){first_load(kernel)->index, 129};
  first_load(kernel)->guards = guard;
  first_load(kernel)->guard_count = 1;
}

static void test_verifier_finds_seeded_faults(void **state) {
  (void)state;
  static const Spoil faults[] = {
      load_after_the_end,      load_before_the_beginning, store_after_the_end,
      store_into_an_input,     operand_too_many,          axis_too_many,
      stage_that_is_not_there, scalar_that_is_not_there,  other_dtype,
      guard_too_wide};
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    Arena *arena = arena_create();
    Kernel *kernel = sum_kernel(arena, 1);
    assert_null(kernel_verify(arena, kernel));
    faults[i](arena, kernel);
    if (kernel_verify(arena, kernel) == NULL) fail_msg("fault %d was not found", (int)i);
    arena_destroy(arena);
  }
}

/* ---- cases of rows ------------------------------------------------------------------------ */

static void test_a_row_of_a_concatenation_reads_its_own_part(void **state) {
  (void)state;
  CaseList list = {.arena = arena_create()};
  make_stacked(&list);
  const Kernel *kernel = list.cases.items[0].kernel;
  KernelCases cases = kernel_cases(list.arena, kernel, 0);
  assert_int_equal(cases.axis, 0);
  assert_int_equal(cases.count, 5);
  static const int64_t begin[] = {0, 1, 3, 6, 7, 9};
  for (int i = 0; i < 6; i++) assert_int_equal(cases.begin[i], begin[i]);
  for (int i = 0; i < 5; i++) {
    const Kernel *one = kernel_in_cases(list.arena, kernel, 0, &cases, i, i + 1);
    ExprList expressions = kernel_expressions(list.arena, one, 0);
    int loads = 0, choices = 0;
    for (int k = 0; k < expressions.count; k++) {
      const Expr *expr = expressions.items[k];
      loads += expr->kind == EXPR_LOAD && expr->operand == i && expr->guard_count == 0;
      choices += expr->kind == EXPR_OP && expr->op == OP_WHERE;
      assert_true(expr->kind != EXPR_LOAD || expr->operand == i);
    }
    assert_int_equal(loads, i < 4 ? 1 : 0);
    assert_int_equal(choices, i == 2 ? 1 : 0); /* the columns are still asked for */
  }
  assert_true(kernel_expressions(list.arena, kernel, 0).count > 20); /* the whole is as it was */
  arena_destroy(list.arena);
}

static void test_few_rows_are_no_cases(void **state) {
  (void)state;
  CaseList list = {.arena = arena_create()};
  make_twice_padded(&list);
  assert_int_equal(kernel_cases(list.arena, list.cases.items[0].kernel, 0).count, 1);
  arena_destroy(list.arena);
}

static void test_guards_make_an_access_safe(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Kernel *kernel = sum_kernel(arena, 1);
  guard_too_wide(arena, kernel);
  first_load(kernel)->guards[0].bound = 128;
  assert_null(kernel_verify(arena, kernel));
  arena_destroy(arena);
}

/* Channels that are shuffled again and again: each remainder is small, whatever the product of all
 * divisors. */
static void test_quotients_in_quotients_are_bounded_one_by_one(void **state) {
  (void)state;
  CaseList list = {.arena = arena_create()};
  Kernel *kernel = new_kernel(&list, KERNEL_LOOP, 1, (int64_t[]){4096});
  int x = add_operand(kernel, "x", DTYPE_F32, 1 << 20, false);
  int y = add_operand(kernel, "y", DTYPE_F32, 4096, true);
  Index *index = index_axis(list.arena, 0);
  for (int i = 0; i < 12; i++) {
    Index *around = ARENA_NEW(list.arena, Index);
    *around = (Index){
        .kind = i % 2 ? INDEX_MOD : INDEX_DIV, .value = 1 << (i % 2 ? 20 : 10), .left = index};
    index = around;
  }
  Store *store = ARENA_NEW(list.arena, Store);
  *store = (Store){y, index_axis(list.arena, 0), load_at(&list, kernel, x, index)};
  kernel->stages[kernel->stage_count++] =
      (Stage){.kind = STAGE_STORE, .store_count = 1, .stores = store};
  assert_null(kernel_verify(list.arena, kernel));
  Index *huge = index_div(list.arena, index_axis(list.arena, 0), (int64_t)1 << 40, NULL, 0);
  huge = index_div(list.arena, huge, (int64_t)1 << 40, NULL, 0); /* 2^80 is no divisor */
  assert_int_equal(index_value(huge, (int64_t[]){4095}), 0);
  arena_destroy(list.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_indices),
      cmocka_unit_test(test_digits_of_a_row_major_number_are_its_axes),
      cmocka_unit_test(test_a_quotient_needs_no_terms_below_its_steps),
      cmocka_unit_test(test_a_split_and_joined_axis_is_itself),
      cmocka_unit_test(test_substitution_puts_indices_for_axes),
      cmocka_unit_test(test_keys_tell_structures_apart_and_nothing_else),
      cmocka_unit_test(test_flat_accesses_collapse_to_one_axis),
      cmocka_unit_test(test_updates_in_place_need_equal_indices),
      cmocka_unit_test(test_verifier_finds_seeded_faults),
      cmocka_unit_test(test_a_row_of_a_concatenation_reads_its_own_part),
      cmocka_unit_test(test_few_rows_are_no_cases),
      cmocka_unit_test(test_guards_make_an_access_safe),
      cmocka_unit_test(test_quotients_in_quotients_are_bounded_one_by_one),
  };
  return cmocka_run_group_tests_name("kernel", tests, NULL, NULL);
}
