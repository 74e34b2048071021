/* The functions of nnc_math.h against the C library in the next wider type: errors in units in the
 * last place over all exponents, and the special cases. Prints the greatest error of each
 * function. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <stdio.h>

#include "nnc_half.h"
#include "nnc_math.h"

typedef struct FloatFunction {
  const char *name;
  float (*ours)(float x);
  double (*exact)(double x);
  float limit; /* of |x| */
} FloatFunction;

#define WRAP(name) \
  static float wrap_##name(float x) { return nnc_##name##_f32(x); }
WRAP(exp)
WRAP(expm1) WRAP(log) WRAP(log1p) WRAP(tanh) WRAP(sigmoid) WRAP(erf) WRAP(sin) WRAP(cos) WRAP(tan)

    static double exact_sigmoid(double x) {
  return 1 / (1 + exp(-x));
}

static const FloatFunction functions[] = {
    {"exp", wrap_exp, exp, FLT_MAX},    {"expm1", wrap_expm1, expm1, FLT_MAX},
    {"log", wrap_log, log, FLT_MAX},    {"log1p", wrap_log1p, log1p, FLT_MAX},
    {"tanh", wrap_tanh, tanh, FLT_MAX}, {"sigmoid", wrap_sigmoid, exact_sigmoid, FLT_MAX},
    {"erf", wrap_erf, erf, FLT_MAX},    {"sin", wrap_sin, sin, 0x1p20f},
    {"cos", wrap_cos, cos, 0x1p20f},    {"tan", wrap_tan, tan, 0x1p20f},
};

static double ulps(float found, double exact) {
  float rounded = (float)exact;
  if (found != found || rounded != rounded)
    return (found != found) == (rounded != rounded) ? 0 : 1e9;
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
    printf("%-8s f32: wrong roundings up to %.4f ulp, at %a\n", functions[i].name, worst,
           (double)worst_x);
    if (!(worst < 0.55))
      fail_msg("%s is off by %g units at %a", functions[i].name, worst, (double)worst_x);
  }
}

static void test_float_specials(void **state) {
  (void)state;
  static const float specials[] = {0.0f,       -0.0f,   1,        -1,       INFINITY,
                                   -INFINITY,  NAN,     FLT_MIN,  -FLT_MIN, 0x1p-149f,
                                   -0x1p-149f, FLT_MAX, -FLT_MAX, 88.8f,    -103.9f,
                                   0.5f,       -0.5f,   20,       -20};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    for (size_t k = 0; k < sizeof specials / sizeof *specials; k++) {
      float x = specials[k], found = functions[i].ours(x), wanted = (float)functions[i].exact(x);
      if (fabsf(x) > functions[i].limit && x - x == 0) continue;
      bool same = found == wanted ? !signbit(found) == !signbit(wanted)
                                  : found != found && wanted != wanted;
      if (!same && !(ulps(found, functions[i].exact(x)) < 0.55))
        fail_msg("%s(%g) is %g, should be %g", functions[i].name, (double)x, (double)found,
                 (double)wanted);
      if (!same && found == wanted)
        fail_msg("%s(%g) has the wrong sign", functions[i].name, (double)x);
    }
}

static void test_pow(void **state) {
  (void)state;
  static const float numbers[] = {0.0f, -0.0f, 1,       -1,        2,        -2,
                                  3,    -3,    0.5f,    -0.5f,     INFINITY, -INFINITY,
                                  NAN,  1e10f, -1e-10f, 0x1p-149f, 16777216, 1.0001f,
                                  7.3f, -7.3f, FLT_MAX, 1e-30f};
  enum { COUNT = sizeof numbers / sizeof *numbers };
  double worst = 0;
  for (int i = 0; i < COUNT; i++)
    for (int k = 0; k < COUNT; k++) {
      double exact = pow(numbers[i], numbers[k]),
             error = ulps(nnc_pow_f32(numbers[i], numbers[k]), exact);
      bool sign =
          !signbit(nnc_pow_f32(numbers[i], numbers[k])) == !signbit(exact) || exact != exact;
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

typedef struct DoubleFunction {
  const char *name;
  double (*ours)(double x);
  long double (*exact)(long double x);
  double limit; /* of the error, in units */
} DoubleFunction;

#define WRAP_DOUBLE(name) \
  static double double_##name(double x) { return nnc_##name##_f64(x); }
WRAP_DOUBLE(exp)
WRAP_DOUBLE(expm1) WRAP_DOUBLE(log) WRAP_DOUBLE(log1p) WRAP_DOUBLE(tanh) WRAP_DOUBLE(sigmoid)
    WRAP_DOUBLE(erf) WRAP_DOUBLE(sin) WRAP_DOUBLE(cos) WRAP_DOUBLE(tan)

        static const DoubleFunction double_functions[] = {
            {"exp", double_exp, expl, 1},    {"expm1", double_expm1, expm1l, 1},
            {"log", double_log, logl, 1},    {"log1p", double_log1p, log1pl, 1.5},
            {"tanh", double_tanh, tanhl, 2}, {"sigmoid", double_sigmoid, exact_sigmoid_long, 2},
            {"erf", double_erf, erfl, 1.5},  {"sin", double_sin, sinl, 1},
            {"cos", double_cos, cosl, 1},    {"tan", double_tan, tanl, 1.5},
};

typedef struct Worst {
  const DoubleFunction *function;
  double error, x;
} Worst;

static void try_double(Worst *worst, double x) {
  double error = double_ulps(worst->function->ours(x), worst->function->exact(x));
  if (!(error <= worst->error)) worst->error = error, worst->x = x;
}

/* Over all exponents, and densely where the functions are neither 0, 1 nor x. */
static void test_doubles(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof double_functions / sizeof *double_functions; i++) {
    Worst worst = {.function = &double_functions[i]};
    for (int64_t k = -200000; k < 200000; k++) {
      try_double(&worst, (double)k * 0.0037462);
      try_double(&worst, (double)k * 0.0000353);
      try_double(&worst, 1 + (double)k * 2e-6);
      double positive = nnc_bits_f64((uint64_t)(k + 200001) * 23040000000000u);
      try_double(&worst, positive);
      try_double(&worst, -positive);
    }
    printf("%-8s f64: %.3f ulp, at %a\n", worst.function->name, worst.error, worst.x);
    if (!(worst.error < worst.function->limit))
      fail_msg("%s is off by %g units at %a", worst.function->name, worst.error, worst.x);
  }
}

static bool same_double(double found, double wanted) {
  return found == wanted ? !signbit(found) == !signbit(wanted) : found != found && wanted != wanted;
}

static void test_double_specials(void **state) {
  (void)state;
  static const double specials[] = {0.0,
                                    -0.0,
                                    1,
                                    -1,
                                    INFINITY,
                                    -INFINITY,
                                    NAN,
                                    DBL_MIN,
                                    -DBL_MIN,
                                    0x1p-1074,
                                    -0x1p-1074,
                                    DBL_MAX,
                                    -DBL_MAX,
                                    709.7827128933840,
                                    709.7827128933841,
                                    -745.13321910194,
                                    -745.1332191019412,
                                    0.5,
                                    -0.5,
                                    22,
                                    -22,
                                    1e15,
                                    0x1p1023,
                                    -0x1.fffffffffffffp-1,
                                    0x1.fffffffffffffp-1,
                                    420,
                                    421,
                                    6,
                                    -37.5};
  for (size_t i = 0; i < sizeof double_functions / sizeof *double_functions; i++)
    for (size_t k = 0; k < sizeof specials / sizeof *specials; k++) {
      const DoubleFunction *function = &double_functions[i];
      double x = specials[k], found = function->ours(x), wanted = (double)function->exact(x);
      if (!same_double(found, wanted) &&
          (found == wanted || !(double_ulps(found, function->exact(x)) < 2)))
        fail_msg("%s(%a) is %a, should be %a", function->name, x, found, wanted);
    }
}

static void try_double_pow(double x, double y, double *worst) {
  double found = nnc_pow_f64(x, y);
  long double exact = powl(x, y);
  double error = double_ulps(found, exact);
  bool sign = !signbit(found) == !signbit(exact) || exact != exact;
  if (!(error < 1) || !sign) fail_msg("pow(%a, %a) is %a, should be %La", x, y, found, exact);
  *worst = fmax(*worst, error);
}

static void test_double_pow(void **state) {
  (void)state;
  static const double numbers[] = {
      0.0,        -0.0,     1,          -1,         2,           -2,          3,      -3,
      0.5,        -0.5,     INFINITY,   -INFINITY,  NAN,         1e10,        -1e-10, 0x1p-1074,
      -0x1p-1074, 0x1p53,   0x1p53 - 1, 1 - 0x1p53, 1 + 0x1p-52, 1 - 0x1p-53, 7.3,    -7.3,
      DBL_MAX,    -DBL_MAX, DBL_MIN,    1e-300,     709,         -745};
  enum { COUNT = sizeof numbers / sizeof *numbers };
  double worst = 0;
  for (int i = 0; i < COUNT; i++)
    for (int k = 0; k < COUNT; k++) try_double_pow(numbers[i], numbers[k], &worst);
  for (int64_t i = 1; i < 400000; i++) {
    double x = (double)i * 0.00037, y = (double)(i % 2027 - 1013) * 0.083;
    try_double_pow(x, y, &worst);
    double any = nnc_bits_f64((uint64_t)i * 23040000000000u);
    try_double_pow(any, (double)(i % 997 - 498) * 0.0021, &worst);
    try_double_pow(1 + (double)(i - 200000) * 0x1p-40, (double)(i % 1013) * 1e6, &worst);
  }
  printf("pow      f64: %.3f ulp\n", worst);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_floats),
      cmocka_unit_test(test_float_specials),
      cmocka_unit_test(test_pow),
      cmocka_unit_test(test_doubles),
      cmocka_unit_test(test_double_specials),
      cmocka_unit_test(test_double_pow),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
