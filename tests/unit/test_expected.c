/* What the random graphs' judge lets pass (tests/fuzz_graphs/play.c): errors of what rounding moves,
 * not more; of noise, which rounding moves by a large part of itself, the order of magnitude; only
 * themselves for infinities and NaNs. */
#include <math.h>

#include "fuzz_graphs/fuzz.h"
#include "graphs.h"

/* Of a tensor of two elements in f64; the second is 1. */
static bool passes(Expected *expected, double value, double given) {
  Arena *arena = arena_create();
  Tensor *tensor = tensor_create(arena, TYPE(F64, 2));
  tensor->data[0] = value;
  tensor->data[1] = 1;
  expected->name = "x";
  expected->value = tensor;
  bool agrees = !expected_differs(arena, expected, (double[]){given, 1}, PRECISION_DOUBLE);
  arena_destroy(arena);
  return agrees;
}

static bool usual_passes(double spread, double value, double given) {
  return passes(&(Expected){.spread = {spread, spread}}, value, given);
}

/* Each element of a far case has a spread of its own. */
static bool far_passes(double spread, double value, double given) {
  double spreads[] = {spread, 0};
  Tensor tensor = {TYPE(F64, 2), spreads};
  return passes(&(Expected){.spreads = &tensor}, value, given);
}

static void errors_of_rounding_pass_alone(void **state) {
  (void)state;
  assert_true(usual_passes(1e-16, 2, 2 + 1e-11));
  assert_false(usual_passes(1e-16, 2, 2 + 1e-9));
  assert_true(usual_passes(1e-5, 2, 2 + 1e-4)); /* 32 times the spread */
  assert_false(usual_passes(1e-5, 2, 2 + 1e-3));
  assert_true(far_passes(1e-19, 1e-3, 1e-3 + 1e-14));
  assert_false(far_passes(1e-19, 1e-3, 1e-3 + 1e-12)); /* the greatest element does not hide it */
  assert_false(far_passes(1e-6, 1e-3, 1.1e-3));
}

static void noise_is_known_by_its_magnitude(void **state) {
  (void)state;
  assert_true(far_passes(1e-17, 1e-16, -1e-15));
  assert_true(far_passes(1e-17, 0, 1e-15));
  assert_false(far_passes(1e-17, 1e-16, 1e-3));
  assert_false(usual_passes(1e-17, 1e-16, -1e-9)); /* beside 1 it is no noise */
}

static void what_is_not_finite_must_be_the_same(void **state) {
  (void)state;
  assert_true(far_passes(0, INFINITY, INFINITY));
  assert_false(far_passes(0, INFINITY, -INFINITY));
  assert_false(far_passes(0, -INFINITY, 1e300));
  assert_false(far_passes(0, INFINITY, NAN));
  assert_false(far_passes(0, 1, INFINITY));
  assert_true(far_passes(0, NAN, NAN));
  assert_false(far_passes(0, NAN, 1));
  assert_false(usual_passes(0, INFINITY, 3));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(errors_of_rounding_pass_alone),
                                     cmocka_unit_test(noise_is_known_by_its_magnitude),
                                     cmocka_unit_test(what_is_not_finite_must_be_the_same)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
