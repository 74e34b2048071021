/* Which functions become one, and how it is written then: functions by hand, in the form that the C back
 * end gives them. That programs train to the same bits is shown by tests/compile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "backend/common/share.h"

enum { MOST = 4 };

static Arena *arena;
static Kernel kernels[MOST];
static KernelFunction functions[MOST];
static KernelPart parts[MOST];
static const char *operands[MOST][2];
static int count;

static int set_up(void **state) {
  (void)state;
  arena = arena_create();
  count = 0;
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  for (int i = 0; i < count; i++) text_free(&parts[i].text);
  memset(functions, 0, sizeof functions);
  memset(parts, 0, sizeof parts);
  arena_destroy(arena);
  return 0;
}

/* A kernel that reads `from` and writes `to`. In the text @ is the function's name, $ and & are these two. */
static void add(const char *name, const char *from, const char *to, const char *text) {
  kernels[count] = (Kernel){.operand_count = 2};
  operands[count][0] = from;
  operands[count][1] = to;
  functions[count] = (KernelFunction){
      .kernel = &kernels[count], .name = name, .operands = operands[count], .number = count};
  for (const char *c = text; *c; c++) {
    if (*c == '@') text_add(&parts[count].text, name);
    else if (*c == '$') text_add(&parts[count].text, from);
    else if (*c == '&') text_add(&parts[count].text, to);
    else text_add_char(&parts[count].text, *c);
  }
  count++;
}

static const char *text_of(int number) {
  return parts[number].text.length > 0 ? parts[number].text.data : "";
}

/* Kernel `number` runs the function of kernel 0, and hands it these numbers ("64, 8"). */
static void check_shares(int number, const char *numbers) {
  const char *joined = "";
  for (int i = 0; i < functions[number].number_count; i++)
    joined = arena_printf(arena, "%s%s%s", joined, i > 0 ? ", " : "", functions[number].numbers[i]);
  assert_ptr_equal(functions[number].shared, number > 0 ? &functions[0] : NULL);
  assert_string_equal(joined, numbers);
  if (number > 0) assert_string_equal(text_of(number), "");
}

static void check_apart(void) {
  share_functions(arena, functions, parts, count);
  for (int i = 0; i < count; i++) {
    assert_null(functions[i].shared);
    assert_int_equal(functions[i].number_count, 0);
    assert_true(parts[i].text.length > 0);
  }
}

#define HEAD "NNC_KERNEL void @(nnc_worker *worker, const float *restrict $, float *restrict &)\n"
/* A loop of rows, whose inner one is as long everywhere. */
#define ROWS(tasks, rows, step, body)                                                              \
  HEAD "{\n  NNC_TASKS(worker, " tasks ", task) {\n"                                               \
       "    for (int64_t i0 = task * " rows "; i0 < (task + 1) * " rows "; i0++)\n"                \
       "      for (int64_t i1 = 0; i1 < 8; i1++) &[i0 * " step " + i1] = " body ";\n  }\n}\n"

static void test_one_number(void **state) {
  (void)state;
  add("net_a", "x", "y", ROWS("4", "2", "16", "$[i1]"));
  add("net_b", "x", "y", ROWS("4", "2", "24", "$[i1]"));
  share_functions(arena, functions, parts, count);
  check_shares(0, "16");
  check_shares(1, "24");
  assert_string_equal(functions[0].number_types[0], "int64_t");
  assert_string_equal(functions[0].number_names[0], "i0_step");
  assert_string_equal(
      text_of(0),
      "NNC_KERNEL void net_a(nnc_worker *worker, const float *restrict x, float *restrict y, "
      "const int64_t i0_step)\n"
      "{\n  NNC_TASKS(worker, 4, task) {\n"
      "    for (int64_t i0 = task * 2; i0 < (task + 1) * 2; i0++)\n"
      "      for (int64_t i1 = 0; i1 < 8; i1++) y[i0 * i0_step + i1] = x[i1];\n  }\n}\n");
}

/* The same number at several places is one parameter, unless it is not the same in another kernel. */
static void test_several_numbers(void **state) {
  (void)state;
  add("net_a", "x", "y", ROWS("4", "4", "16", "$[i0 * 16 + i1] * 0.5f"));
  add("net_b", "x", "y", ROWS("2", "8", "24", "$[i0 * 24 + i1] * 0.25f"));
  add("net_c", "x", "y", ROWS("2", "4", "24", "$[i0 * 24 + i1] * 1e-05f"));
  share_functions(arena, functions, parts, count);
  check_shares(0, "4, 4, 16, 0.5f");
  check_shares(1, "2, 8, 24, 0.25f");
  check_shares(2, "2, 4, 24, 1e-05f");
  assert_non_null(strstr(text_of(0),
                         "const int64_t tasks, const int64_t task_step, const int64_t i0_step, "
                         "const float factor)"));
  assert_non_null(strstr(text_of(0), "y[i0 * i0_step + i1] = x[i0 * i0_step + i1] * factor;"));
}

static void test_names_alone(void **state) {
  (void)state;
  add("net_a", "x", "y", ROWS("4", "2", "16", "$[i1]"));
  add("net_b", "h1_w", "h1_y", ROWS("4", "2", "16", "$[i1]"));
  share_functions(arena, functions, parts, count);
  check_shares(0, "");
  check_shares(1, "");
  assert_non_null(strstr(text_of(0), "float *restrict y)"));
}

/* Names that change places are another function. */
static void test_other_operands(void **state) {
  (void)state;
  add("net_a", "x", "y", ROWS("4", "2", "16", "$[i1]"));
  add("net_b", "x", "y", ROWS("4", "2", "16", "&[i1]"));
  check_apart();
}

static void test_types(void **state) {
  (void)state;
  add("net_a", "x", "y", ROWS("4", "2", "16", "(float)$[i1]"));
  add("net_b", "x", "y", ROWS("4", "2", "16", "(double)$[i1]"));
  add("net_c", "x", "y", ROWS("4", "2", "16", "(float)$[i1] * 2.0f"));
  add("net_d", "x", "y", ROWS("4", "2", "16", "(float)$[i1] * 2.0"));
  check_apart();
}

/* What the C compiler must know stays: here the two kernels differ in nothing else. */
static void check_fixed(const char *first, const char *second) {
  add("net_a", "x", "y", first);
  add("net_b", "x", "y", second);
  check_apart();
  assert_int_equal(tear_down(NULL), 0);
  assert_int_equal(set_up(NULL), 0);
}

static void test_fixed_numbers(void **state) {
  (void)state;
#define LOOP(length) HEAD "{\n  for (int64_t i = 0; i < " length "; i++) &[i] = $[i];\n}\n"
#define LENGTH(length) HEAD "{\n  float a[" length "];\n  nnc_copy(a, $);\n}\n"
#define DIVISOR(length) HEAD "{\n  &[0] = $[row / " length "];\n}\n"
#define INLINE(length) HEAD "{\n  &[0] = nnc_sum_f32($, " length ");\n}\n"
#define TABLE(length) HEAD "{\n  static const int a[] = {" length "};\n  &[0] = $[a[0]];\n}\n"
#define UNROLLED(length)                                                                           \
  HEAD "{\n  NNC_UNROLL for (int64_t i = 0; i < " length "; i++)\n"                                \
       "    for (int64_t k = 0; k < 4; k++) &[k] = $[k];\n}\n"
#define EXTENT(length)                                                                             \
  HEAD "{\n  NNC_EXTENTS(N = " length ", M = N * 2);\n  float a[M];\n  nnc_copy(a, $);\n}\n"
#define HEXADECIMAL(length) HEAD "{\n  &[0] = $[0] + 0x1p" length "f;\n}\n"
  check_fixed(LOOP("8"), LOOP("9"));
  check_fixed(LENGTH("8"), LENGTH("9"));
  check_fixed(DIVISOR("8"), DIVISOR("9"));
  check_fixed(INLINE("8"), INLINE("9"));
  check_fixed(TABLE("8"), TABLE("9"));
  check_fixed(UNROLLED("8"), UNROLLED("9"));
  check_fixed(EXTENT("8"), EXTENT("9"));
  check_fixed(HEXADECIMAL("-2"), HEXADECIMAL("-3"));
}

/* Constants that depend on a parameter become variables, but those that nothing reads; tiles are looked up. */
static void test_extents(void **state) {
  (void)state;
#define TILES(m, n)                                                                                \
  HEAD "{\n  NNC_EXTENTS(M = " m " /* rows */, N = " n ", MR = NNC_TILE_ROWS, ODD = M % MR,\n"     \
       "      UNREAD = M * 2, TASKS = 3);\n"                                                       \
       "  NNC_FIXED_TILES(f32, M, ODD, 1, N, 4, 1);\n"                                             \
       "  NNC_TASKS(worker, TASKS, task) tiles[1][0](M, $, N, &);\n}\n"
  add("net_a", "x", "y", TILES("12", "4"));
  add("net_b", "x", "y", TILES("24", "4"));
  share_functions(arena, functions, parts, count);
  check_shares(0, "12");
  check_shares(1, "24");
  assert_non_null(strstr(text_of(0),
                         "const int64_t M)\n"
                         "{\n  NNC_EXTENTS(N = 4, MR = NNC_TILE_ROWS, TASKS = 3);\n"
                         "  const int64_t ODD = M % MR;\n"
                         "  NNC_FOUND_TILES(f32, M, ODD, 1, N, 4, 1);\n"
                         "  NNC_TASKS(worker, TASKS, task) tiles[1][0](M, x, N, y);\n"));
}

/* A function of the kernel's own gets the parameters that it mentions, by calls too. */
static void test_epilogue(void **state) {
  (void)state;
#define WITH_EPILOGUE(rows, step, scale)                                                           \
  "NNC_INLINE void @_epilogue(const int64_t row, float *restrict &)\n{\n"                          \
  "  for (int64_t i = 0; i < 8; i++) &[row * " step " + i] *= " scale ";\n}\n\n" HEAD              \
  "{\n  for (int64_t r = 0; r < " rows "; r++) @_epilogue(r, &);\n}\n"
  add("net_a", "x", "y", WITH_EPILOGUE("3", "16", "0.5f"));
  add("net_b", "x", "z", WITH_EPILOGUE("5", "24", "0.5f"));
  share_functions(arena, functions, parts, count);
  check_shares(1, "24, 5");
  assert_non_null(strstr(text_of(0), "float *restrict y, const int64_t row_step)\n{"));
  assert_non_null(
      strstr(text_of(0), "float *restrict y, const int64_t row_step, const int64_t r_end)\n{"));
  assert_non_null(strstr(text_of(0), "r < r_end; r++) net_a_epilogue(r, y, row_step);"));
}

/* A parameter is called nothing that the function mentions. */
static void test_taken_names(void **state) {
  (void)state;
  add("net_a", "i0_step", "y", ROWS("4", "2", "16", "$[i1]"));
  add("net_b", "i0_step", "y", ROWS("4", "2", "24", "$[i1]"));
  share_functions(arena, functions, parts, count);
  assert_string_equal(functions[0].number_names[0], "i0_step_2");
}

/* A text that is more than functions stays as it is. */
static void test_prototypes(void **state) {
  (void)state;
  add("net_a", "x", "y", "void users(int64_t n);\n" ROWS("4", "2", "16", "$[i1]"));
  add("net_b", "x", "y", "void users(int64_t n);\n" ROWS("4", "2", "24", "$[i1]"));
  check_apart();
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {TEST(test_one_number),  TEST(test_several_numbers),
                                     TEST(test_names_alone), TEST(test_other_operands),
                                     TEST(test_types),       TEST(test_fixed_numbers),
                                     TEST(test_extents),     TEST(test_epilogue),
                                     TEST(test_taken_names), TEST(test_prototypes)};
  return cmocka_run_group_tests_name("share", tests, NULL, NULL);
}
