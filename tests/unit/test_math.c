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
#include "nnc_ops.h"
#include "ops/number.h"

typedef struct FloatFunction {
  const char *name;
  float (*ours)(float x);
  double (*exact)(double x);
  double limit; /* of the error, in units in the last place */
} FloatFunction;

#define WRAP(name)                                                                                 \
  static float wrap_##name(float x) { return nnc_##name##_f32(x); }
WRAP(exp)
WRAP(expm1)
WRAP(log)
WRAP(log1p)
WRAP(tanh)
WRAP(sigmoid)
WRAP(erf)
WRAP(sin)
WRAP(cos)
WRAP(tan)

static double exact_sigmoid(double x) { return 1 / (1 + exp(-x)); }

static const FloatFunction functions[] = {
    {"exp", wrap_exp, exp, 0.9},    {"expm1", wrap_expm1, expm1, 0.55},
    {"log", wrap_log, log, 0.85},   {"log1p", wrap_log1p, log1p, 0.55},
    {"tanh", wrap_tanh, tanh, 1.5}, {"sigmoid", wrap_sigmoid, exact_sigmoid, 2},
    {"erf", wrap_erf, erf, 1.4},    {"sin", wrap_sin, sin, 0.55},
    {"cos", wrap_cos, cos, 0.55},   {"tan", wrap_tan, tan, 0.55},
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
      double error = ulps(functions[i].ours(x), functions[i].exact(x));
      if (error > worst) worst = error, worst_x = x;
    }
    printf("%-8s f32: wrong roundings up to %.4f ulp, at %a\n", functions[i].name, worst,
           (double)worst_x);
    if (!(worst < functions[i].limit))
      fail_msg("%s is off by %g units at %a", functions[i].name, worst, (double)worst_x);
  }
}

/* Kernels take the form for near arguments where none is far: it gives the same bits. */
static void test_near_turns(void **state) {
  (void)state;
  for (uint64_t bits = 0; bits < 0x100000000u; bits += 6151) {
    float x = nnc_bits_f32((uint32_t)bits);
    assert_int_equal(nnc_far_turn_f32(x), !(fabsf(x) < 0x1p20f));
    if (nnc_far_turn_f32(x)) continue;
    assert_int_equal(nnc_f32_bits(nnc_near_sin_f32(x)), nnc_f32_bits(nnc_sin_f32(x)));
    assert_int_equal(nnc_f32_bits(nnc_near_cos_f32(x)), nnc_f32_bits(nnc_cos_f32(x)));
    assert_int_equal(nnc_f32_bits(nnc_near_tan_f32(x)), nnc_f32_bits(nnc_tan_f32(x)));
  }
}

/* So with logarithms: far is what is not a positive normal number. */
static void test_near_log(void **state) {
  (void)state;
  for (uint64_t bits = 0; bits < 0x100000000u; bits += 6151) {
    float x = nnc_bits_f32((uint32_t)bits);
    double y = nnc_bits_f64(bits << 32 | 0x12345678);
    assert_int_equal(nnc_far_log_f32(x), !(x >= FLT_MIN && x < INFINITY));
    assert_int_equal(nnc_far_log_f64(y), !(y >= DBL_MIN && y < INFINITY));
    if (!nnc_far_log_f32(x))
      assert_int_equal(nnc_f32_bits(nnc_near_log_f32(x)), nnc_f32_bits(nnc_log_f32(x)));
    if (!nnc_far_log_f64(y))
      assert_int_equal(nnc_f64_bits(nnc_near_log_f64(y)), nnc_f64_bits(nnc_log_f64(y)));
  }
}

/* The floats nearest to multiples of pi / 2 and the ends of the ranges of the reduction; references
 * by mpmath with 400 digits. */
static void test_hard_turns(void **state) {
  (void)state;
  static const struct {
    float x;
    double sine, cosine;
  } cases[] = {
      {0x1.fffffep+19f, 0x1.1566584a3fd94p-2, 0x1.ecdaf47bd0923p-1},
      {0x1p+20f, 0x1.526ccb2fc8656p-2, 0x1.e33ada92fe2aep-1},
      {0x1.000002p+20f, 0x1.c8471008e0f2ep-2, 0x1.ca5cf1333f2f5p-1},
      {0x1.4665d2p+25f, -0x1.fffffffffffffp-1, 0x1.927bcc77af479p-27},
      {0x1.47d0fep+34f, 0x1p+0, -0x1.149dafd6b8987p-29},
      {0x1.47d0fep+35f, -0x1.149dafd6b8987p-28, -0x1p+0},
      {0x1.47d0fep+36f, 0x1.149dafd6b8987p-27, 0x1p+0},
      {0x1.628d4cp+40f, -0x1p+0, -0x1.db49e303ea778p-28},
      {0x1.fffffep+41f, -0x1.ffef3a8dc86d2p-1, 0x1.0616d52bc5d12p-6},
      {0x1p+42f, 0x1.fd6e8410105ecp-1, -0x1.99bf99b8cd518p-4},
      {0x1.000002p+42f, 0x1.eda39d3901ea4p-1, -0x1.0fc488543ab64p-2},
      {0x1.1c3794p+53f, -0x1.fc7e1037de7a1p-2, 0x1.bc69b6690fe24p-1},
      {0x1.bc16d6p+59f, -0x1.bbe111299249fp-3, 0x1.f3d465a997d83p-1},
      {0x1.fffffep+63f, -0x1.b569bc6d198b9p-2, 0x1.cef0176f59b09p-1},
      {0x1p+64f, 0x1.82a353118793dp-6, -0x1.ffdb7fa3fe34dp-1},
      {0x1.000002p+64f, -0x1.7381408588b49p-1, -0x1.605175bfb0888p-1},
      {0x1.b1ae4ep+69f, 0x1.8a76a7ce1f07cp-1, 0x1.4668977565e1ap-1},
      {0x1.13093p+76f, 0x1p+0, -0x1.f7e04be410e25p-28},
      {0x1.32ede2p+85f, 0x1p+0, -0x1.bc77be4e3b96p-28},
      {0x1.fffffep+85f, -0x1.80b2b4845c698p-1, 0x1.51dceca586842p-1},
      {0x1p+86f, 0x1.210d0d5876dcp-4, -0x1.feb9393f80c36p-1},
      {0x1.000002p+86f, -0x1.fe42f96ee28a6p-1, -0x1.513e545045e95p-4},
      {0x1.32ede2p+86f, -0x1.bc77be4e3b96p-27, -0x1.fffffffffffffp-1},
      {0x1.abb4bp+89f, 0x1.fffffffffffffp-1, 0x1.9b74b1c1c562fp-27},
      {0x1.f37c8ap+95f, 0x1p+0, -0x1.bbdd52a58eafbp-30},
      {0x1.f37c8ap+96f, -0x1.bbdd52a58eafbp-29, -0x1p+0},
      {0x1.f37c8ap+97f, 0x1.bbdd52a58eafbp-28, 0x1p+0},
      {0x1.f37c8ap+98f, 0x1.bbdd52a58eafbp-27, 0x1.fffffffffffffp-1},
      {0x1.fffffep+107f, 0x1.24d0dbc9546bdp-2, -0x1.ea9ee96162333p-1},
      {0x1p+108f, -0x1.c6acaa5403a1bp-1, 0x1.d6ceef36b703cp-2},
      {0x1.000002p+108f, -0x1.b668a8922ba4cp-2, -0x1.ceb3ca7af6e3ap-1},
      {0x1.b08c4ap+111f, -0x1p+0, -0x1.5f52ea84f120dp-27},
      {0x1.fffffep+126f, 0x1.159877d11c7d1p-2, -0x1.ecd3e643bc274p-1},
      {0x1p+127f, 0x1.3f2c62cde42bdp-1, 0x1.90571d9316bccp-1},
      {0x1.000002p+127f, 0x1.15bbba1f9a0a7p-1, -0x1.ae2034d6992f2p-1},
      {0x1.fffffep+127f, -0x1.0b33665089575p-1, 0x1.b4bf2c79bdfcep-1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int sign = -1; sign <= 1; sign += 2) {
      float x = (float)sign * cases[i].x;
      assert_true(ulps(nnc_sin_f32(x), sign * cases[i].sine) < 0.51);
      assert_true(ulps(nnc_cos_f32(x), cases[i].cosine) < 0.51);
      assert_true(ulps(nnc_tan_f32(x), sign * cases[i].sine / cases[i].cosine) < 0.51);
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
      bool same = found == wanted ? !signbit(found) == !signbit(wanted)
                                  : found != found && wanted != wanted;
      if (!same && !(ulps(found, functions[i].exact(x)) < functions[i].limit))
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

#define WRAP_DOUBLE(name)                                                                          \
  static double double_##name(double x) { return nnc_##name##_f64(x); }
WRAP_DOUBLE(exp)
WRAP_DOUBLE(expm1)
WRAP_DOUBLE(log)
WRAP_DOUBLE(log1p)
WRAP_DOUBLE(tanh)
WRAP_DOUBLE(sigmoid)
WRAP_DOUBLE(erf)
WRAP_DOUBLE(sin)
WRAP_DOUBLE(cos)
WRAP_DOUBLE(tan)

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

/* ---- the rest of a division ---- */

static bool same_double(double found, double wanted);

/* floor(a / b) and what it leaves, by the x87's remainder; the rest before it was rounded. */
static long double exact_rest(double a, double b, double *quotient) {
  long double rest = fmodl(a, b), whole = rintl(((long double)a - rest) / b);
  bool is_other = rest != 0 && (rest < 0) != (b < 0);
  *quotient = b == 0 ? a / b : rest != rest ? NAN : (double)(is_other ? whole - 1 : whole);
  return rest == 0 ? copysignl(0, b) : is_other ? rest + (long double)b : rest;
}

static void try_rest(double a, double b) {
  double quotient;
  float x = (float)a, y = (float)b;
  double rest = (double)exact_rest(a, b, &quotient);
  bool is_small = !(fabs(quotient) >= 0x1p51);
  if (!same_double(nnc_mod_f64(a, b), rest) || !same_double(number_mod(a, b), rest))
    fail_msg("%a %% %a is %a, %a, should be %a", a, b, nnc_mod_f64(a, b), number_mod(a, b), rest);
  if (!nnc_far_mod_f64(a, b) && !same_double(nnc_near_mod_f64(a, b), rest))
    fail_msg("near, %a %% %a is %a", a, b, nnc_near_mod_f64(a, b));
  double found[] = {nnc_floordiv_f64(a, b), number_floordiv(a, b)};
  for (int i = 0; i < 2; i++)
    if (is_small ? !(found[i] == quotient || (found[i] != found[i] && quotient != quotient))
                 : !(double_ulps(found[i], (long double)quotient) < 2))
      fail_msg("%a // %a is %a (%d), should be %a", a, b, found[i], i, quotient);
  rest = (float)exact_rest((double)x, (double)y, &quotient);
  if (!same_double((double)nnc_mod_f32(x, y), rest))
    fail_msg("%a %% %a is %a, should be %a", (double)x, (double)y, (double)nnc_mod_f32(x, y), rest);
  if (!nnc_far_mod_f32(x, y) && !same_double((double)nnc_near_mod_f32(x, y), rest))
    fail_msg("near, %a %% %a is %a", (double)x, (double)y, (double)nnc_near_mod_f32(x, y));
  double floored = (double)nnc_floordiv_f32(x, y);
  if (!(ulps((float)floored, quotient) < 0.6) && floored != (double)(float)quotient)
    fail_msg("%a // %a is %a, should be %a", (double)x, (double)y, floored, quotient);
}

static void test_rests(void **state) {
  (void)state;
  static const double numbers[] = {0.0,      -0.0,      1,          -1,          5,     -5,
                                   0.1,      -0.1,      0.3,        1e10,        1e30,  .3333,
                                   INFINITY, -INFINITY, NAN,        2.5,         -7.5,  1e-30,
                                   -1e-30,   0x1p-149,  -0x1p-149,  3e38,        -3e38, 0x1p24,
                                   0x1p53,   0x1p-1074, -0x1p-1074, 0x1p27,      1e300, -1e300,
                                   DBL_MAX,  DBL_MIN,   0x1p1000,   1 + 0x1p-52, 0x1p51};
  enum { COUNT = sizeof numbers / sizeof *numbers };
  for (int i = 0; i < COUNT; i++)
    for (int k = 0; k < COUNT; k++) try_rest(numbers[i], numbers[k]);
  uint64_t bits = 1;
  for (int i = 0; i < 300000; i++) {
    bits = bits * 6364136223846793005u + 1442695040888963407u;
    double a = nnc_bits_f64(bits ^ bits >> 29),
           b = (double)(int64_t)(bits << 7 ^ bits >> 11) * 1e-17;
    try_rest(a, b);
    try_rest((double)(int64_t)bits * 1e-15, b);
    try_rest((double)(i - 150000) * 0.1, 0.1); /* quotients near whole numbers */
    try_rest((double)(float)(i - 150000) * 0.7, (double)(i % 7 - 3) * 0.7);
  }
  assert_true(nnc_mod_f32(5, INFINITY) == 5 && nnc_mod_f32(-5, INFINITY) == INFINITY);
  assert_true(nnc_mod_f64(-5, INFINITY) == INFINITY && nnc_floordiv_f64(-5, INFINITY) == -1);
  assert_true(nnc_floordiv_f32(-5, INFINITY) == -1 && nnc_floordiv_f32(1, 0) == INFINITY);
}

static void test_whole_rests(void **state) {
  (void)state;
  for (int32_t b = -3; b <= 3; b++)
    for (int64_t a = -9; a <= 9; a++) {
      double quotient, rest = (double)exact_rest((double)a, b, &quotient);
      if (b == 0) quotient = rest = 0;
      assert_int_equal(nnc_mod_i32((int32_t)a, b), (int)rest);
      assert_int_equal(nnc_mod_i64(a, b), (int)rest);
      assert_int_equal(nnc_floordiv_i32((int32_t)a, b), (int)quotient);
      assert_int_equal(nnc_floordiv_i64(a, b), (int)quotient);
    }
  assert_int_equal(nnc_floordiv_i32(INT32_MIN, -1), INT32_MIN);
  assert_int_equal(nnc_mod_i32(INT32_MIN, -1), 0);
  assert_true(nnc_floordiv_i64(INT64_MIN, -1) == INT64_MIN && nnc_mod_i64(INT64_MIN, -1) == 0);
  assert_true(nnc_floordiv_i64(INT64_MIN, 3) == -3074457345618258603);
  assert_int_equal(nnc_mod_i64(INT64_MIN, 3), 1);
}

/* Bit by bit: of what is equal to the bound the bound, NaN as it is. */
static void test_limits(void **state) {
  (void)state;
  static const double bounds[] = {0, 6, -0.5, INFINITY, -INFINITY, 0x1p-149};
  for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
    const double bound = bounds[i];
    const float low = (float)bound;
    for (uint64_t bits = 0; bits < 0x100000000u; bits += bits % 3 ? 65537 : 8191) {
      const uint32_t both[] = {(uint32_t)bits, nnc_f32_bits(low) ^ (uint32_t)(bits & 0x80000000u)};
      for (int k = 0; k < 2; k++) {
        const float x = nnc_bits_f32(both[k]);
        const double y = (double)x;
        const bool is_nan = x != x;
        const float least = nnc_at_least_f32(x, low), most = nnc_at_most_f32(x, low);
        assert_true(is_nan ? least != least
                           : nnc_f32_bits(least) == nnc_f32_bits(x <= low ? low : x));
        assert_true(is_nan ? most != most : nnc_f32_bits(most) == nnc_f32_bits(x >= low ? low : x));
        const double above = nnc_at_least_f64(y, bound), below = nnc_at_most_f64(y, bound);
        assert_true(is_nan ? above != above
                           : nnc_f64_bits(above) == nnc_f64_bits(y <= bound ? bound : y));
        assert_true(is_nan ? below != below
                           : nnc_f64_bits(below) == nnc_f64_bits(y >= bound ? bound : y));
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rests),          cmocka_unit_test(test_whole_rests),
      cmocka_unit_test(test_near_turns),     cmocka_unit_test(test_near_log),
      cmocka_unit_test(test_hard_turns),     cmocka_unit_test(test_floats),
      cmocka_unit_test(test_float_specials), cmocka_unit_test(test_pow),
      cmocka_unit_test(test_doubles),        cmocka_unit_test(test_double_specials),
      cmocka_unit_test(test_double_pow),     cmocka_unit_test(test_limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
