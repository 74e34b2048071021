/* Functions of analysis for generated kernels: inline and without branches, so that loops over them
 * vectorize.
 *
 * The functions of a float are computed in double with short polynomials (tools/fit_math.py) and rounded
 * once: cancellation and the parts of a reduction need no care, and the error is hardly more than the
 * half unit of that rounding. exp, log and sigmoid of a double are made here as well; the others of a
 * double, which serve to check models and not to train them fast, are the C library's.
 *
 * Greatest error found by tests/unit/test_math.c in units in the last place: 0.51 for every function of
 * a float, 0.97 for exp, 0.83 for log and 1.9 for sigmoid of a double.  Infinities, NaN, signed zeros
 * and subnormal numbers are treated as by C; sin, cos and tan of a float are meant for |x| < 2^30. */
#ifndef NNC_MATH_H
#define NNC_MATH_H

#include "nnc_math_coefficients.h"
#include "nnc_vector.h"

NNC_INLINE double nnc_bits_f64(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

NNC_INLINE uint64_t nnc_f64_bits(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* Adding this rounds to the nearest whole number, which stands in the low bits of the sum. */
#define NNC_MAGIC 0x1.8p52
#define NNC_LN2_HIGH 0x1.62e42feep-1 /* its last bits are zeros: products with small integers are exact */
#define NNC_LN2_LOW 0x1.a39ef35793c76p-33

/* ---- the parts, in double ---- */

/* 2^n for the whole number in a sum with NNC_MAGIC, -1022 <= n <= 1023. */
NNC_INLINE double nnc_power_of_2(double magic_sum) {
  return nnc_bits_f64((nnc_f64_bits(magic_sum) + 1023) << 52);
}

/* x - n log(2), with n + NNC_MAGIC in *sum. */
NNC_INLINE double nnc_reduce_exp(double x, double *sum) {
  *sum = x * 1.4426950408889634 + NNC_MAGIC;
  const double n = *sum - NNC_MAGIC;
  return NNC_FMA(n, -NNC_LN2_LOW, NNC_FMA(n, -NNC_LN2_HIGH, x));
}

/* e^x - 1 and e^x, -150 <= x <= 150, good to 1e-9. */
NNC_INLINE double nnc_short_expm1(double x) {
  double sum;
  const double r = nnc_reduce_exp(x, &sum), scale = nnc_power_of_2(sum);
  return scale * NNC_FMA(r * r, NNC_EXPM1_SHORT(r), r) + (scale - 1);
}

NNC_INLINE double nnc_short_exp(double x) {
  double sum;
  const double r = nnc_reduce_exp(x, &sum), scale = nnc_power_of_2(sum);
  return scale * (1 + NNC_FMA(r * r, NNC_EXPM1_SHORT(r), r));
}

NNC_INLINE double nnc_bounded(double x, double least, double greatest) {
  x = x < least ? least : x;
  return x > greatest ? greatest : x; /* NaN stays */
}

/* A positive normal x as m 2^k with sqrt(1/2) <= m < sqrt(2): m - 1, and k. */
NNC_INLINE double nnc_split_log(double x, double *k) {
  const uint64_t bits = nnc_f64_bits(x), root = 0x3FE6A09E667F3BCD;
  const uint64_t raised = (bits - root + ((uint64_t)1023 << 52)) >> 52; /* k + 1023 */
  *k = nnc_bits_f64(raised + 0x4338000000000000) - (NNC_MAGIC + 1023);
  return nnc_bits_f64(bits - ((raised - 1023) << 52)) - 1;
}

/* log(1 + f) + k log(2), good to 1e-12. */
NNC_INLINE double nnc_short_log(double f, double k) {
  const double s = f / (2 + f), z = s * s;
  return NNC_FMA(k, 0.6931471805599453, NNC_FMA(s * z, NNC_LOG_SHORT(z), 2 * s));
}

/* ---- of a float ---- */

NNC_INLINE float nnc_exp_f32(float x) { return (float)nnc_short_exp(nnc_bounded(x, -110, 100)); }

NNC_INLINE float nnc_expm1_f32(float x) {
  const float y = (float)nnc_short_expm1(nnc_bounded(x, -60, 100));
  return x == 0 ? x : y;
}

NNC_INLINE float nnc_log_f32(float x) {
  double k;
  const double f = nnc_split_log(x, &k);
  float y = (float)nnc_short_log(f, k);
  y = x < INFINITY ? y : x;
  y = x > 0 ? y : NAN;
  y = x == 0 ? -INFINITY : y;
  return x != x ? x : y;
}

NNC_INLINE float nnc_log1p_f32(float x) {
  double k;
  const double f = nnc_split_log(1 + (double)x, &k);
  float y = (float)nnc_short_log(k == 0 ? (double)x : f, k);
  y = x < INFINITY ? y : x;
  y = x > -1 ? y : NAN;
  y = x == -1 ? -INFINITY : y;
  return ((x == 0) | (x != x)) ? x : y;
}

NNC_INLINE float nnc_tanh_f32(float x) {
  const double e = nnc_short_expm1(-2 * nnc_bounded(__builtin_fabsf(x), 0, 20));
  return __builtin_copysignf((float)(-e / (e + 2)), x);
}

NNC_INLINE float nnc_sigmoid_f32(float x) {
  return (float)(1 / (1 + nnc_short_exp(-nnc_bounded(x, -110, 110))));
}

NNC_INLINE float nnc_erf_f32(float x) {
  const double a = nnc_bounded(__builtin_fabsf(x), 0, 4.1), z = a * a, t = (a - 3) / (a + 3);
  const double near = a * NNC_ERF_NEAR(z), far = 1 - nnc_short_exp(-z) * NNC_ERFC_FAR(t);
  return __builtin_copysignf((float)(a < 1 ? near : far), x);
}

/* sin and cos of what remains of x after whole quarters of a turn, whose number is in the result. */
NNC_INLINE uint64_t nnc_reduce_turn(double x, double *sine, double *cosine) {
  const double sum = x * 0.6366197723675814 + NNC_MAGIC, n = sum - NNC_MAGIC;
  /* pi / 2 in three parts, the first two with zeros at the end */
  double r = NNC_FMA(n, -0x1.921fb544p+0, x);
  r = NNC_FMA(n, -0x1.0b4611a6p-34, r);
  r = NNC_FMA(n, -0x1.3198a2e037073p-69, r);
  const double z = r * r;
  *sine = NNC_FMA(r * z, NNC_SIN_SHORT(z), r);
  *cosine = NNC_FMA(z * z, NNC_COS_SHORT(z), 1 - 0.5 * z);
  return nnc_f64_bits(sum);
}

NNC_INLINE float nnc_sin_f32(float x) {
  double sine, cosine;
  const uint64_t quarter = nnc_reduce_turn(x, &sine, &cosine);
  const double y = quarter & 1 ? cosine : sine;
  return x == 0 ? x : (float)(quarter & 2 ? -y : y);
}

NNC_INLINE float nnc_cos_f32(float x) {
  double sine, cosine;
  const uint64_t quarter = nnc_reduce_turn(x, &sine, &cosine) + 1;
  const double y = quarter & 1 ? cosine : sine;
  return (float)(quarter & 2 ? -y : y);
}

NNC_INLINE float nnc_tan_f32(float x) {
  double sine, cosine;
  const uint64_t quarter = nnc_reduce_turn(x, &sine, &cosine);
  const double above = quarter & 1 ? -cosine : sine, below = quarter & 1 ? sine : cosine;
  return x == 0 ? x : (float)(above / below);
}

/* x^y with C's special cases. */
NNC_INLINE float nnc_pow_f32(float x, float y) {
  const float a = __builtin_fabsf(x);
  double k;
  const double f = nnc_split_log(a, &k);
  double logarithm = nnc_short_log(f, k);
  logarithm = a == 0 ? -INFINITY : a < INFINITY ? logarithm : a;
  float power = (float)nnc_short_exp(nnc_bounded(y * logarithm, -110, 100));
  power = ((a == 1) & (y == y)) ? 1 : power;
  const bool is_whole = __builtin_floorf(y) == y;
  const bool is_odd = is_whole & (__builtin_floorf(y * 0.5f) * 2 != y);
  power = is_odd ? __builtin_copysignf(power, x) : power;
  power = ((x < 0) & (x > -INFINITY) & !is_whole & (y == y)) ? NAN : power;
  power = ((x != x) | (y != y)) ? NAN : power;
  return ((x == 1) | (y == 0)) ? 1 : power;
}

/* ---- of a double ---- */

NNC_INLINE double nnc_exp_f64(double x) {
  double sum;
  const double r = nnc_reduce_exp(nnc_bounded(x, -760, 720), &sum);
  const double p = 1 + NNC_FMA(r * r, NNC_EXPM1_LONG(r), r);
  /* 2^n in two factors: subnormal results and the greatest need them */
  const double half = (sum - NNC_MAGIC) * 0.5 + NNC_MAGIC;
  const double rest = (sum - NNC_MAGIC) - (half - NNC_MAGIC) + NNC_MAGIC;
  return p * nnc_power_of_2(half) * nnc_power_of_2(rest);
}

NNC_INLINE double nnc_log_f64(double x) {
  const bool is_small = x < 0x1p-1022;
  double k;
  const double f = nnc_split_log(is_small ? x * 0x1p54 : x, &k);
  k = is_small ? k - 54 : k;
  const double s = f / (2 + f), z = s * s, half = 0.5 * f * f;
  const double part = s * NNC_FMA(z, NNC_LOG_LONG(z), half);
  double y = k * NNC_LN2_HIGH - ((half - (part + k * NNC_LN2_LOW)) - f);
  y = x < INFINITY ? y : x;
  y = x > 0 ? y : NAN;
  y = x == 0 ? -INFINITY : y;
  return x != x ? x : y;
}

/* Never overflows: e^-|x| is at most 1. */
NNC_INLINE double nnc_sigmoid_f64(double x) {
  const double e = nnc_exp_f64(-__builtin_fabs(x));
  return (x >= 0 ? 1 : e) / (1 + e);
}

NNC_INLINE double nnc_expm1_f64(double x) { return __builtin_expm1(x); }
NNC_INLINE double nnc_log1p_f64(double x) { return __builtin_log1p(x); }
NNC_INLINE double nnc_sin_f64(double x) { return __builtin_sin(x); }
NNC_INLINE double nnc_cos_f64(double x) { return __builtin_cos(x); }
NNC_INLINE double nnc_tan_f64(double x) { return __builtin_tan(x); }
NNC_INLINE double nnc_tanh_f64(double x) { return __builtin_tanh(x); }
NNC_INLINE double nnc_erf_f64(double x) { return __builtin_erf(x); }
NNC_INLINE double nnc_pow_f64(double x, double y) { return __builtin_pow(x, y); }

#endif
