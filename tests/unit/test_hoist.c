/* What is expensive and the same in all loops of a stage is computed once, before them, and once for all
 * stages of a row: exp(a[i]) in s[i] = sum_j exp(a[i]) x[i, j], y[i, j] = exp(a[i]) x[i, j] / s[i].
 * (That the values are right: test_emit.) */
#include <string.h>

#include "backend/c/kernels.h"
#include "graphs.h"

enum { ROWS = 64, COLUMNS = 40 };

static Expr *load(Arena *arena, int operand, Index *index) {
  Expr *expr = ARENA_NEW(arena, Expr);
  *expr = (Expr){.kind = EXPR_LOAD, .dtype = DTYPE_F32, .operand = operand, .index = index};
  return expr;
}

static Expr *apply(Arena *arena, Op op, Expr *a, Expr *b) {
  Expr *expr = ARENA_NEW(arena, Expr);
  *expr =
      (Expr){.kind = EXPR_OP, .dtype = DTYPE_F32, .op = op, .arg_count = b ? 2 : 1, .args = {a, b}};
  return expr;
}

static Index *element(Arena *arena) {
  return index_add(arena, index_mul(arena, index_axis(arena, 0), COLUMNS), index_axis(arena, 1));
}

/* exp(a[i]) * x[i, j], made anew as each stage's rule makes it. */
static Expr *product(Arena *arena, int a) {
  Expr *row = apply(arena, OP_EXP, load(arena, a, index_axis(arena, 0)), NULL);
  return apply(arena, OP_MUL, row, load(arena, 1, element(arena)));
}

/* The C of the kernel; `a` is operand 0, or operand 2, which the kernel stores. */
static char *kernel_text(Arena *arena, int a) {
  Expr *sum = ARENA_NEW(arena, Expr);
  *sum = (Expr){.kind = EXPR_STAGE, .dtype = DTYPE_F32};
  Store store = {2, element(arena), apply(arena, OP_DIV, product(arena, a), sum)};
  Stage stages[] = {{.kind = STAGE_REDUCE,
                     .axis_count = 1,
                     .extent = {COLUMNS},
                     .reduce = OP_REDUCE_SUM,
                     .value = product(arena, a)},
                    {.kind = STAGE_STORE,
                     .axis_count = 1,
                     .extent = {COLUMNS},
                     .store_count = 1,
                     .stores = &store}};
  KernelOperand operands[] = {{DTYPE_F32, ROWS, false, "a"},
                              {DTYPE_F32, ROWS * COLUMNS, false, "x"},
                              {DTYPE_F32, ROWS * COLUMNS, true, "y"}};
  Kernel kernel = {.kind = KERNEL_LOOP,
                   .name = "k",
                   .operand_count = 3,
                   .operands = operands,
                   .axis_count = 1,
                   .extent = {ROWS},
                   .stage_count = 2,
                   .stages = stages,
                   .accumulate = DTYPE_F32};
  const char *names[] = {"a", "x", "y"};
  KernelFunction function = {
      .kernel = &kernel, .dialect = &dialect_c, .name = "k", .operands = names};
  Text text = {0};
  Code code = {.arena = arena, .out = &text};
  back_end_c.write_kernel(&code, &function);
  char *copy = arena_strdup(arena, text.data);
  text_free(&text);
  return copy;
}

static int count(const char *text, const char *what) {
  int found = 0;
  while ((text = strstr(text, what)) != NULL) {
    found++;
    text++;
  }
  return found;
}

static void test_once_a_row(void **state) {
  (void)state;
  Arena *arena = arena_create();
  const char *text = kernel_text(arena, 0);
  assert_int_equal(count(text, "nnc_exp_f32("), 1);
  assert_non_null(strstr(text, "; j0++)"));
  assert_true(strstr(text, "nnc_exp_f32(") < strstr(text, "; j0++)"));
  arena_destroy(arena);
}

/* What the kernel overwrites on its way stays where it is. */
static void test_not_what_is_overwritten(void **state) {
  (void)state;
  Arena *arena = arena_create();
  const char *text = kernel_text(arena, 2);
  assert_int_equal(count(text, "nnc_exp_f32("), 2);
  assert_non_null(strstr(text, "; j0++)"));
  assert_true(strstr(text, "nnc_exp_f32(") > strstr(text, "; j0++)"));
  arena_destroy(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_once_a_row),
                                     cmocka_unit_test(test_not_what_is_overwritten)};
  return cmocka_run_group_tests_name("hoist", tests, NULL, NULL);
}
