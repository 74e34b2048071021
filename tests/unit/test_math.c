/* The functions of nnc_math.h against the C library in the next wider type: errors in units in the last
 * place over all exponents, and the special cases. Prints the greatest error of each function. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <stdio.h>

#include "nnc_math.h"

typedef struct FloatFunction {
  const char *name;
  float (*ours)(float x);
  double (*exact)(double x);
  float limit;              /* of |x| */
} FloatFunction;

#define WRAP(name) static float wrap_##name(float x) { return nnc_##name##_f32(x); }
WRAP(exp) WRAP(expm1) WRAP(log) WRAP(log1p) WRAP(tanh) WRAP(sigmoid) WRAP(erf) WRAP(sin) WRAP(cos) WRAP(tan)

static double exact_sigmoid(double x) { return 1 / (1 + exp(-x)); }

static const FloatFunction functions[] = {
  {"exp", wrap_exp, exp, FLT_MAX},          {"expm1", wrap_expm1, expm1, FLT_MAX},
  {"log", wrap_log, log, FLT_MAX},          {"log1p", wrap_log1p, log1p, FLT_MAX},
  {"tanh", wrap_tanh, tanh, FLT_MAX},       {"sigmoid", wrap_sigmoid, exact_sigmoid, FLT_MAX},
  {"erf", wrap_erf, erf, FLT_MAX},          {"sin", wrap_sin, sin, 0x1p20f},
  {"cos", wrap_cos, cos, 0x1p20f},          {"tan", wrap_tan, tan, 0x1p20f},
};

static double ulps(float found, double exact) {
  float rounded = (float)exact;
  if (found != found || rounded != rounded) return (found != found) == (rounded != rounded) ? 0 : 1e9;
  if (found == rounded) return 0;
  if (isinf(found) || isinf(rounded)) return 1e9;
  double unit = fmax(ldexp(1, ilogb(fabs(exact)) - 23), 0x1p-149);
  return fabs((double)found - exact) / unit;
}

static void test_floats(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    double worst = 0;
    float worst_x = 0;
    for (uint64_t bits = 0; bits < 0x100000000u; bits += 1543) {
      float x = nnc_bits_f32((uint32_t)bits);
      if (fabsf(x) > functions[i].limit) continue;
      double error = ulps(functions[i].ours(x), functions[i].exact(x));
      if (error > worst) worst = error, worst_x = x;
    }
    printf("%-8s f32: wrong roundings up to %.4f ulp, at %a\n", functions[i].name, worst, (double)worst_x);
    if (!(worst < 0.55)) fail_msg("%s is off by %g units at %a", functions[i].name, worst, (double)worst_x);
  }
}

static void test_float_specials(void **state) {
  (void)state;
  static const float specials[] = {0.0f, -0.0f, 1, -1, INFINITY, -INFINITY, NAN, FLT_MIN, -FLT_MIN, 0x1p-149f,
                                   -0x1p-149f, FLT_MAX, -FLT_MAX, 88.8f, -103.9f, 0.5f, -0.5f, 20, -20};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    for (size_t k = 0; k < sizeof specials / sizeof *specials; k++) {
      float x = specials[k], found = functions[i].ours(x), wanted = (float)functions[i].exact(x);
      if (fabsf(x) > functions[i].limit && x - x == 0) continue;
      bool same = found == wanted ? !signbit(found) == !signbit(wanted) : found != found && wanted != wanted;
      if (!same && !(ulps(found, functions[i].exact(x)) < 0.55))
        fail_msg("%s(%g) is %g, should be %g", functions[i].name, (double)x, (double)found, (double)wanted);
      if (!same && found == wanted) fail_msg("%s(%g) has the wrong sign", functions[i].name, (double)x);
    }
}

static void test_pow(void **state) {
  (void)state;
  static const float numbers[] = {0.0f, -0.0f, 1, -1, 2, -2, 3, -3, 0.5f, -0.5f, INFINITY, -INFINITY, NAN, 1e10f,
                                  -1e-10f, 0x1p-149f, 16777216, 1.0001f, 7.3f, -7.3f, FLT_MAX, 1e-30f};
  enum { COUNT = sizeof numbers / sizeof *numbers };
  double worst = 0;
  for (int i = 0; i < COUNT; i++)
    for (int k = 0; k < COUNT; k++) {
      double exact = pow(numbers[i], numbers[k]), error = ulps(nnc_pow_f32(numbers[i], numbers[k]), exact);
      bool sign = !signbit(nnc_pow_f32(numbers[i], numbers[k])) == !signbit(exact) || exact != exact;
      if (!(error < 0.55) || !sign)
        fail_msg("pow(%g, %g) is %g, should be %g", (double)numbers[i], (double)numbers[k],
                 (double)nnc_pow_f32(numbers[i], numbers[k]), exact);
    }
  for (int i = 1; i < 200000; i++) {
    float x = (float)i * 0.00037f, y = (float)(i % 1013 - 506) * 0.041f;
    worst = fmax(worst, ulps(nnc_pow_f32(x, y), pow(x, y)));
  }
  printf("pow      f32: wrong roundings up to %.4f ulp\n", worst);
  assert_true(worst < 0.55);
}

static double double_ulps(double found, long double exact) {
  double rounded = (double)exact;
  if (found == rounded || (found != found && rounded != rounded)) return 0;
  if (found != found || rounded != rounded || isinf(found) || isinf(rounded)) return 1e9;
  return (double)(fabsl(found - exact) / fmaxl(ldexpl(1, ilogbl(fabsl(exact)) - 52), 0x1p-1074L));
}

static long double exact_sigmoid_long(long double x) { return 1 / (1 + expl(-x)); }

static void test_doubles(void **state) {
  (void)state;
  double worst[3] = {0, 0, 0};
  for (int64_t i = -400000; i < 400000; i++) {
    double x = (double)i * 0.0018731;
    worst[0] = fmax(worst[0], double_ulps(nnc_exp_f64(x), expl(x)));
    worst[2] = fmax(worst[2], double_ulps(nnc_sigmoid_f64(x), exact_sigmoid_long(x)));
    double positive = nnc_bits_f64((uint64_t)(i + 400001) * 11520000000000u);
    worst[1] = fmax(worst[1], double_ulps(nnc_log_f64(positive), logl(positive)));
    double near_one = 1 + (double)i * 1e-6;
    worst[1] = fmax(worst[1], double_ulps(nnc_log_f64(near_one), logl(near_one)));
  }
  printf("exp %.3f, log %.3f, sigmoid %.3f ulp in f64\n", worst[0], worst[1], worst[2]);
  assert_true(worst[0] < 2 && worst[1] < 2 && worst[2] < 3);
  assert_true(nnc_exp_f64(-INFINITY) == 0 && nnc_exp_f64(INFINITY) == INFINITY && nnc_exp_f64(0) == 1);
  assert_true(nnc_log_f64(0) == -INFINITY && nnc_log_f64(INFINITY) == INFINITY && nnc_log_f64(1) == 0);
  assert_true(nnc_log_f64(-1) != nnc_log_f64(-1) && nnc_exp_f64(NAN) != nnc_exp_f64(NAN));
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_floats),
    cmocka_unit_test(test_float_specials),
    cmocka_unit_test(test_pow),
    cmocka_unit_test(test_doubles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
