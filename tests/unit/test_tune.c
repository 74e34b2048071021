/* --tune without measurements: what is chosen of given times, the key of what is kept, and the variants of kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "driver/tune.h"

static void test_choice(void **state) {
  (void)state;
  const struct {
    double ms[4];
    int count, chosen;
  } cases[] = {
      {{1, 2, 3, 4}, 4, 0},        {{1, .5, .25, .3}, 4, 2},
      {{1, .98, .975, 1}, 4, 0}, /* no clear margin */
      {{1, .96, .98, .965}, 4, 1}, {{1, 0, 0, 0}, 4, 0},
      {{0, 0, 0, 0}, 4, 0},        {{1, .5, 0, .4}, 2, 1},
      {{1, .5, .5, .5}, 4, 1}, /* the first of equals */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(tuning_choose(cases[i].count, cases[i].ms), cases[i].chosen);
}

static void test_worth(void **state) {
  (void)state;
  assert_true(tuning_is_worth(1, .9));
  assert_false(tuning_is_worth(1, .999));
  assert_false(tuning_is_worth(1, 1.2));
  assert_false(tuning_is_worth(1, 0));
}

static void test_times(void **state) {
  (void)state;
  const double ms[] = {1.5, 0, .0123456789};
  double read[3];
  Text text = {0};
  tuning_write_times(&text, "kernel", 3, ms);
  assert_string_equal(text.data, "kernel 1.5 0 0.0123457\n");
  assert_true(tuning_read_times(&text, "kernel", 3, read));
  assert_true(read[0] == 1.5 && read[1] == 0 && read[2] == .0123457);
  assert_false(tuning_read_times(&text, "kernel", 2, read));
  assert_false(tuning_read_times(&text, "plans", 3, read));
  text_free(&text);
  static const char *const others[] = {"",
                                       "kernel",
                                       "kernel 1 2",
                                       "kernel 1 2 x\n",
                                       "kernel 1 2 -3\n",
                                       "kernel 1 2 nan\n",
                                       "kernel 1 2 3 4\n"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    Text other = {0};
    text_add(&other, others[i]);
    assert_false(tuning_read_times(&other, "kernel", 3, read));
    text_free(&other);
  }
}

static CacheKey key_of(const TuningKey *parts) {
  Sha256 hash;
  sha256_begin(&hash);
  tuning_add_key(&hash, parts);
  return cache_key(&hash);
}

static void test_key(void **state) {
  (void)state;
  const TuningKey base = {
      .version = "1", .target = "c", .arch = "native", .cflags = "", .threads = 2};
  TuningKey others[] = {base, base, base, base, base, base};
  others[0].version = "2";
  others[1].target = "d";
  others[2].arch = "x86-64-v3";
  others[3].cflags = "-O2";
  others[4].threads = 3;
  others[5].target = "cnative", others[5].arch = ""; /* where one word ends counts */
  const CacheKey key = key_of(&base);
  assert_string_equal(key.text, key_of(&base).text);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    assert_string_not_equal(key.text, key_of(&others[i]).text);
}

static void test_waits(void **state) {
  (void)state;
  Arena *arena = arena_create();
  static const StepKind kinds[] = {STEP_LAUNCH,  STEP_LAUNCH, STEP_BARRIER,
                                   STEP_BARRIER, STEP_COPY,   STEP_LAUNCH};
  ProgramEntry entry = {0};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    Step step = {.kind = kinds[i]};
    vec_push(arena, &entry.steps, step);
  }
  double ms[] = {1, 3, 2, 5, 1, 1};
  tuning_share_waits(&entry, ms);
  const double wanted[] = {1.5, 4.5, 2, 5, 1, 1};
  for (size_t i = 0; i < sizeof ms / sizeof *ms; i++) assert_true(ms[i] == wanted[i]);
  arena_destroy(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_choice), cmocka_unit_test(test_worth), cmocka_unit_test(test_times),
      cmocka_unit_test(test_key),    cmocka_unit_test(test_waits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
