/* Functions of analysis for generated kernels: inline and without branches, so that loops over
 * them vectorize.
 *
 * Of a float exp, log, tanh, sigmoid and erf, of which loops are made, are computed in float. The other
 * functions of a float are computed in double with short polynomials (tools/fit_math.py) and rounded once:
 * cancellation and the parts of a reduction need no care, and the error is hardly more than the half unit of
 * that rounding. Those of a double keep the lost parts of the few steps where they count; pow computes the
 * logarithm in two parts. sin and cos of a double beyond 2^10, and its tan, are the C library's: the pieces of
 * 2 / pi for all exponents of a double are too many to choose from without branches.
 *
 * Greatest error found by tests/unit/test_math.c in units in the last place: of a float sigmoid 2.0, tanh 1.2,
 * erf 1.1, exp 0.9, log 0.85, the others 0.53; of a double, with and without an instruction for fused
 * multiply-adds: exp 0.97, expm1 1.0, log 0.83, log1p 0.76, pow 0.96, erf 1.3, sigmoid 2.0, tanh 1.6.
 * Infinities, NaN, signed zeros and subnormal numbers are treated as by C. */
#ifndef NNC_MATH_H
#define NNC_MATH_H

#include "nnc_half.h"
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
#define NNC_LOG2_E 1.4426950408889634
#define NNC_LN2_HIGH                                                                               \
  0x1.62e42feep-1 /* its last bits are zeros: products with small integers are exact */
#define NNC_LN2_LOW 0x1.a39ef35793c76p-33

/* ---- the parts, in double ---- */

/* a b - p, exactly, where p is a b rounded; by Dekker's splitting where there is no instruction
 * for it (|a|, |b| < 2^990). */
NNC_INLINE double nnc_product_rest(double a, double b, double p) {
  if (*NNC_ISA_FMA) return NNC_FMA(a, b, -p);
  const double a_part = a * 0x1.0000002p27, b_part = b * 0x1.0000002p27;
  const double a_high = a_part - (a_part - a), b_high = b_part - (b_part - b);
  const double a_low = a - a_high, b_low = b - b_high;
  return ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low;
}

/* (a - q b) / b to be added to q, the quotient; b has the low part `b_low`. */
NNC_INLINE double nnc_quotient_rest(double a, double b, double b_low, double q, double inverse) {
  if (*NNC_ISA_FMA) return NNC_FMA(-q, b_low, NNC_FMA(-q, b, a)) * inverse;
  const double p = q * b;
  return ((a - p) - nnc_product_rest(q, b, p) - q * b_low) * inverse;
}

/* 2^n for the whole number in a sum with NNC_MAGIC, -1022 <= n <= 1023. */
NNC_INLINE double nnc_power_of_2(double magic_sum) {
  return nnc_bits_f64((nnc_f64_bits(magic_sum) + 1023) << 52);
}

/* p 2^n, n + NNC_MAGIC in `sum`, in two factors: subnormal results and the greatest need them. */
NNC_INLINE double nnc_scale(double p, double sum) {
  const double half = NNC_FMA(sum - NNC_MAGIC, 0.5, NNC_MAGIC);
  const uint64_t rest = nnc_f64_bits(sum) - nnc_f64_bits(half) + 1023;
  return p * nnc_power_of_2(half) * nnc_bits_f64(rest << 52);
}

/* x - n log(2), with n + magic in *sum. */
NNC_INLINE double nnc_reduce_exp_by(double x, double magic, double *sum) {
  *sum = x * NNC_LOG2_E + magic;
  const double n = *sum - magic;
  return NNC_FMA(n, -NNC_LN2_LOW, NNC_FMA(n, -NNC_LN2_HIGH, x));
}

NNC_INLINE double nnc_reduce_exp(double x, double *sum) {
  return nnc_reduce_exp_by(x, NNC_MAGIC, sum);
}

/* The nearest whole number to x `turns` in *sum with NNC_MAGIC, and what is left of the product, at
 * most 1 / 2: below 220 good to 1e-13. */
NNC_INLINE double nnc_short_reduce(double x, double turns, double *sum) {
  *sum = NNC_FMA(x, turns, NNC_MAGIC);
  return NNC_FMA(x, turns, NNC_MAGIC - *sum);
}

/* 2^(x turns) - 1, |x turns| < 220, good to 1e-9. */
NNC_INLINE double nnc_short_exp2m1(double x, double turns) {
  double sum;
  const double r = nnc_short_reduce(x, turns, &sum), scale = nnc_power_of_2(sum);
  return NNC_FMA(scale, r * NNC_EXP2M1_SHORT(r), scale - 1);
}

/* e^x, -150 <= x <= 150, good to 3e-9: the power of 2 is added to the exponent. A NaN that was a float
 * stays one. */
NNC_INLINE double nnc_short_exp(double x) {
  double sum;
  const double r = nnc_short_reduce(x, NNC_LOG2_E, &sum), part = NNC_EXP2_SHORT(r);
  return nnc_bits_f64(nnc_f64_bits(part) + (nnc_f64_bits(sum) << 52));
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

/* log(1 + f) + k log(2), good to 2e-11; for powers to 2e-13. */
NNC_INLINE double nnc_short_log(double f, double k) {
  const double s = f / (2 + f), z = s * s;
  return NNC_FMA(k, 0.6931471805599453, NNC_FMA(s * z, NNC_LOG_SHORT(z), 2 * s));
}
NNC_INLINE double nnc_power_log(double f, double k) {
  const double s = f / (2 + f), z = s * s;
  return NNC_FMA(k, 0.6931471805599453, NNC_FMA(s * z, NNC_LOG_POWER(z), 2 * s));
}

/* ---- of a float ---- */

/* exp, log, tanh, sigmoid and erf are as long as their loops: they are computed in float, to less than 2 units. */

/* As NNC_MAGIC. */
#define NNC_MAGIC_F32 0x1.8p23f
#define NNC_LOG2_E_F32 0x1.715476p+0f
#define NNC_LN2_HIGH_F32 0x1.62e4p-1f /* its last bits are zeros */
#define NNC_LN2_LOW_F32 0x1.7f7d1cp-20f

/* The same, with more in the low bits: sums whose shift to the exponent's place is 2^n, 2^(n - 64), and one
 * whose n + 254 is the exponents of two factors. */
#define NNC_MAGIC_POWER_F32 (NNC_MAGIC_F32 + 127)
#define NNC_MAGIC_SMALL_F32 (NNC_MAGIC_F32 + 127 - 64)
#define NNC_MAGIC_PAIR_F32 (NNC_MAGIC_F32 + 254)

NNC_INLINE float nnc_shifted_f32(float sum) { return nnc_bits_f32(nnc_f32_bits(sum) << 23); }

/* x - n log(2), |x| < 128, with n + magic in *sum. */
NNC_INLINE float nnc_reduce_exp_f32(float x, float magic, float *sum) {
  *sum = NNC_FMAF(x, NNC_LOG2_E_F32, magic);
  const float n = *sum - magic;
  return NNC_FMAF(n, -NNC_LN2_LOW_F32, NNC_FMAF(n, -NNC_LN2_HIGH_F32, x));
}

NNC_INLINE float nnc_bounded_f32(float x, float least, float greatest) {
  x = x < least ? least : x;
  return x > greatest ? greatest : x; /* NaN stays */
}

/* The power of 2 is two factors: subnormal results and the greatest need them. */
NNC_INLINE float nnc_exp_f32(float x) {
  float sum;
  x = nnc_bounded_f32(x, -104.5f, 89.5f);
  const float r = nnc_reduce_exp_f32(x, NNC_MAGIC_PAIR_F32, &sum);
  float p = NNC_FMAF(r, NNC_FMAF(r, NNC_EXPM1_F32(r), 1.0f), 1.0f);
  if (!*NNC_ISA_FMA) { /* what the last rounding of r took off counts beside that of a product */
    const float n = sum - NNC_MAGIC_PAIR_F32, high = x - n * NNC_LN2_HIGH_F32;
    p = 1 + (r + (r * r * NNC_EXPM1_F32(r) + ((high - r) - n * NNC_LN2_LOW_F32)));
  }
  const uint32_t bits = nnc_f32_bits(sum), half = bits >> 1;
  return p * nnc_bits_f32(half << 23) * nnc_bits_f32((bits - half) << 23);
}

NNC_INLINE float nnc_expm1_f32(float x) {
  const float y = (float)nnc_short_exp2m1(nnc_bounded(x, -60, 100), NNC_LOG2_E);
  return x == 0 ? x : y;
}

/* log of a subnormal number, an infinity, a NaN and what is not positive asks more questions than kernels need:
 * they take the near form where no element of a block is such. */
NNC_INLINE bool nnc_far_log_f32(float x) { return nnc_f32_bits(x) - 0x00800000u >= 0x7F000000u; }

/* x as m 2^k with sqrt(1/2) <= m < sqrt(2); the parts are added from the least to the greatest. */
NNC_INLINE float nnc_near_log_f32(float x) {
  const uint32_t bits = nnc_f32_bits(x), part_bits = bits - 0x3F3504F3u,
                 power = part_bits & 0xFF800000u;
  const float k = (float)((int32_t)part_bits >> 23), f = nnc_bits_f32(bits - power) - 1, z = f * f;
  const float part = NNC_FMAF(z * f, NNC_LOG1P_F32(f), k * NNC_LN2_LOW_F32);
  return NNC_FMAF(k, NNC_LN2_HIGH_F32, f + NNC_FMAF(-0.5f, z, part));
}

/* Of a subnormal x log(x 2^23) - 23 log(2): of a number below -70 no more than a tenth of a unit is lost. */
NNC_INLINE float nnc_log_f32(float x) {
  const bool is_small = x < 0x1p-126f;
  const float near = nnc_near_log_f32(is_small ? x * 0x1p23f : x);
  float y = is_small ? NNC_FMAF(-23.0f, 0x1.62e43p-1f, near) : near;
  y = x < INFINITY ? y : x;
  y = x > 0 ? y : NAN; /* of a NaN, too */
  return x == 0 ? -INFINITY : y;
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

/* Of two polynomials of one degree that a loop would compute both the coefficients are chosen instead. */
#define NNC_CHOSEN(near, far) (is_near ? (near) : (far))

/* Near 0 a series; elsewhere 1 - 2 / (1 + e), e = e^(2 |x|). */
NNC_INLINE float nnc_tanh_f32(float x) {
  const float a = __builtin_fabsf(x), z = a * a;
  const bool is_near = a < 0.625f;
  float sum;
  const float r = nnc_reduce_exp_f32(2 * (a > 10 ? 10 : a), NNC_MAGIC_POWER_F32, &sum);
  const float p = NNC_TANH_OR_EXPM1_F32(is_near ? z : r), scale = nnc_shifted_f32(sum);
  const float q = NNC_FMAF(is_near ? z * a : r * r, p, is_near ? a : r); /* tanh(a) or e^r - 1 */
  const float far = 1 - 2 / NNC_FMAF(scale, q, scale + 1);
  return __builtin_copysignf(is_near ? q : far, x);
}

/* 1 / (1 + e^-x), e^-x = 2^n (1 + q); all in units of 2^-64, so that e^-x is finite where the result is
 * subnormal. */
NNC_INLINE float nnc_sigmoid_f32(float x) {
  float sum;
  const float r = nnc_reduce_exp_f32(-nnc_bounded_f32(x, -105, 30), NNC_MAGIC_SMALL_F32, &sum);
  const float q = NNC_FMAF(r * r, NNC_EXPM1_F32(r), r), scale = nnc_shifted_f32(sum);
  return 1 / (NNC_FMAF(scale, q, 0x1p-64f) + scale) * 0x1p-64f;
}

/* Near 0 a series; elsewhere 1 - 2^y, y a polynomial for log2(erfc). */
NNC_INLINE float nnc_erf_f32(float x) {
  const float a = nnc_bounded_f32(__builtin_fabsf(x), 0, 4), z = a * a;
  const bool is_near = a < 1;
  const float y = NNC_ERF_OR_LOG2_ERFC_F32(is_near ? z : a), sum = y + NNC_MAGIC_POWER_F32;
  const float r = y - (sum - NNC_MAGIC_POWER_F32), scale = nnc_shifted_f32(sum);
  const float far = NNC_FMAF(-(scale * r), NNC_EXP2M1_F32(r), 1 - scale);
  return __builtin_copysignf(is_near ? NNC_FMAF(y, a, a) : far, x);
}

/* ---- sin, cos and tan of a float ----
 *
 * An angle is reduced by whole quarters of a turn, whose number is in the low bits of a sum with
 * NNC_MAGIC. "Near" 0 that is a product less the angle; of any other float the quarters are
 * counted modulo 4 from 2 / pi in pieces (Payne & Hanek 1983), for twice the time. Kernels ask
 * whether an element of a block is far and call the near function otherwise; where both apply,
 * nnc_sin_f32 gives what nnc_near_sin_f32 does. */

NNC_INLINE bool nnc_far_turn_f32(float x) { return !(__builtin_fabsf(x) < 0x1p20f); }

/* The angle that remains, in [-pi / 4, pi / 4], |x| < 2^20. pi / 2 is in three parts, the first two
 * with zeros at the end. */
NNC_INLINE uint64_t nnc_near_quarters(double x, double *rest) {
  const double sum = x * 0.6366197723675814 + NNC_MAGIC, n = sum - NNC_MAGIC;
  const double r = NNC_FMA(n, -0x1.0b4611a6p-34, NNC_FMA(n, -0x1.921fb544p+0, x));
  *rest = NNC_FMA(n, -0x1.3198a2e037073p-69, r);
  return nnc_f64_bits(sum);
}

/* The same for a float |x| >= 2^20, infinite or NaN (the rest is NaN). x = m 2^k with |m| < 2^45, and
 * the products with the first two pieces of 2^k (2 / pi) mod 4 are exact. */
NNC_INLINE uint64_t nnc_far_quarters(double x, double *rest) {
  double scale = 0, high = 0, middle = 0, low = 0;
#define NNC_PICK_TURNS(least, factor, first, second, third)                                        \
  do {                                                                                             \
    const bool is_above = __builtin_fabs(x) >= least;                                              \
    scale = is_above ? factor : scale, high = is_above ? first : high;                             \
    middle = is_above ? second : middle, low = is_above ? third : low;                             \
  } while (0);
  NNC_FAR_TURNS(NNC_PICK_TURNS)
#undef NNC_PICK_TURNS
  const double m = x * scale, whole_turns = 0x1.8p54; /* rounds to a multiple of 4 */
  double p = m * high, q = m * middle;
  p -= (p + whole_turns) - whole_turns;
  q -= (q + whole_turns) - whole_turns;
  const double sum = p + q + NNC_MAGIC, n = sum - NNC_MAGIC;
  *rest = (((p - n) + q) + m * low) * 1.5707963267948966;
  return nnc_f64_bits(sum);
}

/* (-1)^count sin(x - halves pi), what remains of the angle in [-pi / 2, pi / 2], |x| < 2^20; pi is in two parts, or
 * in three, the first two with zeros at the end. */
NNC_INLINE float nnc_half_turns_sin(double x, double halves, uint64_t count) {
  double r;
  if (*NNC_ISA_FMA)
    r = NNC_FMA(halves, -0x1.1a62633145c07p-53, NNC_FMA(halves, -0x1.921fb54442d18p+1, x));
  else
    r = x - halves * 0x1.921fb544p+1 - halves * 0x1.0b4611a6p-33 - halves * 0x1.3198a2e037073p-68;
  const double z = r * r, sine = NNC_FMA(r * z, NNC_SIN_HALF_TURN(z), r);
  return (float)nnc_bits_f64(nnc_f64_bits(sine) ^ count << 63);
}

/* sin of r and `quarter` quarters of a turn. */
NNC_INLINE float nnc_sin_part(double r, uint64_t quarter) {
  const double z = r * r;
  const double sine = NNC_FMA(r * z, NNC_SIN_SHORT(z), r);
  const double cosine = NNC_FMA(z * z, NNC_COS_SHORT(z), 1 - 0.5 * z);
  const double y = quarter & 1 ? cosine : sine;
  return (float)(quarter & 2 ? -y : y);
}

NNC_INLINE float nnc_tan_part(double r, uint64_t quarter) {
  const double z = r * r;
  const double sine = NNC_FMA(r * z, NNC_SIN_SHORT(z), r);
  const double cosine = NNC_FMA(z * z, NNC_COS_SHORT(z), 1 - 0.5 * z);
  const double above = quarter & 1 ? -cosine : sine, below = quarter & 1 ? sine : cosine;
  return (float)(above / below);
}

NNC_INLINE float nnc_near_sin_f32(float x) {
  const double sum = NNC_FMA(x, 0.3183098861837907, NNC_MAGIC);
  const float y = nnc_half_turns_sin(x, sum - NNC_MAGIC, nnc_f64_bits(sum));
  return x == 0 ? x : y;
}

/* cos(x) = -(-1)^k sin(x - (k + 1 / 2) pi) */
NNC_INLINE float nnc_near_cos_f32(float x) {
  const double sum = NNC_FMA(x, 0.3183098861837907, -0.5) + NNC_MAGIC;
  return nnc_half_turns_sin(x, sum - NNC_MAGIC + 0.5, ~nnc_f64_bits(sum));
}

NNC_INLINE float nnc_near_tan_f32(float x) {
  double r;
  const uint64_t quarter = nnc_near_quarters(x, &r);
  return x == 0 ? x : nnc_tan_part(r, quarter);
}

NNC_INLINE float nnc_sin_f32(float x) {
  double r;
  const uint64_t quarter = nnc_far_quarters(x, &r);
  return nnc_far_turn_f32(x) ? nnc_sin_part(r, quarter) : nnc_near_sin_f32(x);
}

NNC_INLINE float nnc_cos_f32(float x) {
  double r;
  const uint64_t quarter = nnc_far_quarters(x, &r);
  return nnc_far_turn_f32(x) ? nnc_sin_part(r, quarter + 1) : nnc_near_cos_f32(x);
}

NNC_INLINE float nnc_tan_f32(float x) {
  double r;
  const uint64_t quarter = nnc_far_quarters(x, &r);
  return nnc_far_turn_f32(x) ? nnc_tan_part(r, quarter) : nnc_near_tan_f32(x);
}

/* x^y with C's special cases. */
NNC_INLINE float nnc_pow_f32(float x, float y) {
  const float a = __builtin_fabsf(x);
  double k;
  const double f = nnc_split_log(a, &k);
  double logarithm = nnc_power_log(f, k);
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

/* As NNC_MAGIC_PAIR_F32; sums that shifted by 52 are 2^(n - 512). */
#define NNC_MAGIC_PAIR (NNC_MAGIC + 2046)
#define NNC_MAGIC_SMALL (NNC_MAGIC + 1023 - 512)

NNC_INLINE double nnc_exp_f64(double x) {
  double sum;
  const double r = nnc_reduce_exp_by(nnc_bounded(x, -760, 720), NNC_MAGIC_PAIR, &sum);
  const double p = 1 + NNC_FMA(r * r, NNC_EXPM1_LONG(r), r);
  const uint64_t bits = nnc_f64_bits(sum), half = bits >> 1;
  return p * nnc_bits_f64(half << 52) * nnc_bits_f64((bits - half) << 52);
}

NNC_INLINE bool nnc_far_log_f64(double x) {
  return nnc_f64_bits(x) - 0x0010000000000000u >= 0x7FE0000000000000u;
}

/* log(m 2^k), m - 1 = f. */
NNC_INLINE double nnc_long_log(double f, double k) {
  const double s = f / (2 + f), z = s * s, half = 0.5 * f * f;
  const double part = s * NNC_FMA(z, NNC_LOG_LONG(z), half);
  return k * NNC_LN2_HIGH - ((half - (part + k * NNC_LN2_LOW)) - f);
}

NNC_INLINE double nnc_near_log_f64(double x) {
  double k;
  const double f = nnc_split_log(x, &k);
  return nnc_long_log(f, k);
}

NNC_INLINE double nnc_log_f64(double x) {
  const bool is_small = x < 0x1p-1022;
  double k;
  const double f = nnc_split_log(is_small ? x * 0x1p54 : x, &k);
  double y = nnc_long_log(f, is_small ? k - 54 : k);
  y = x < INFINITY ? y : x;
  y = x > 0 ? y : NAN; /* of a NaN, too */
  return x == 0 ? -INFINITY : y;
}

/* 1 / (1 + e^-x), e^-x = 2^n (1 + q), in units of 2^-512: as of a float. */
NNC_INLINE double nnc_sigmoid_f64(double x) {
  double sum;
  const double r = nnc_reduce_exp_by(-nnc_bounded(x, -760, 40), NNC_MAGIC_SMALL, &sum);
  const double q = NNC_FMA(r * r, NNC_EXPM1_LONG(r), r);
  const double scale = nnc_bits_f64(nnc_f64_bits(sum) << 52);
  return 1 / (NNC_FMA(scale, q, 0x1p-512) + scale) * 0x1p-512;
}

/* base + scale (e^r - 1) in a sum of three parts, the first two exact together; x was reduced to r, the whole number
 * is in `sum`. */
NNC_INLINE double nnc_expm1_sum(double x, double r, double sum, double scale, double base,
                                double base_low) {
  const double n = sum - NNC_MAGIC;
  /* what the last rounding of r took off */
  const double lost = NNC_FMA(n, -NNC_LN2_LOW, NNC_FMA(n, -NNC_LN2_HIGH, x) - r);
  const double high = NNC_FMA(scale, r, base), low = NNC_FMA(scale, r, base - high) + base_low;
  const double rest = NNC_FMA(r * r, NNC_EXPM1_LONG(r), lost);
  return high + NNC_FMA(scale, rest, low);
}

/* Of large results the one is no part, and they are doubled at last, for 2^1024 is no double. */
NNC_INLINE double nnc_expm1_f64(double x) {
  double sum;
  const double bounded = nnc_bounded(x, -50, 710), r = nnc_reduce_exp(bounded, &sum);
  const bool is_large = bounded > 420;
  const double scale = nnc_power_of_2(is_large ? sum - 1 : sum);
  const double base = is_large ? scale : scale - 1, base_low = is_large ? 0 : (scale - base) - 1;
  const double y = nnc_expm1_sum(bounded, r, sum, scale, base, base_low);
  return x == 0 ? x : is_large ? y + y : y;
}

/* 1 + x loses the end of x; what it lost over what is left is the derivative's part. */
NNC_INLINE double nnc_log1p_f64(double x) {
  const double u = 1 + x, lost = x - (u - 1);
  double k;
  const double split = nnc_split_log(u, &k), f = k == 0 ? x : split;
  const double s = f / (2 + f), z = s * s, half = 0.5 * f * f;
  const double part = s * NNC_FMA(z, NNC_LOG_LONG(z), half);
  const double low = NNC_FMA(k, NNC_LN2_LOW, k == 0 ? 0 : lost / u);
  double y = k * NNC_LN2_HIGH - ((half - (part + low)) - f);
  y = x < INFINITY ? y : x;
  y = x > -1 ? y : NAN;
  y = x == -1 ? -INFINITY : y;
  return ((x == 0) | (x != x)) ? x : y;
}

/* -e / (2 + e) with e = e^(-2 |x|) - 1 in (-1, 0]. */
NNC_INLINE double nnc_tanh_f64(double x) {
  double sum;
  const double a = -2 * nnc_bounded(__builtin_fabs(x), 0, 22), r = nnc_reduce_exp(a, &sum);
  const double scale = nnc_power_of_2(sum), base = scale - 1;
  const double e = nnc_expm1_sum(a, r, sum, scale, base, (scale - base) - 1);
  const double d = 2 + e, inverse = 1 / d, q = -e * inverse;
  return __builtin_copysign(q + nnc_quotient_rest(-e, d, e - (d - 2), q, inverse), x);
}

/* Near 0 a series; elsewhere 1 - erfc, whose factor e^(-x^2) never leaves the normal numbers. */
NNC_INLINE double nnc_erf_f64(double x) {
  const double a = nnc_bounded(__builtin_fabs(x), 0, 6), z = a * a, t = (a - 2) / (a + 2);
  double sum;
  const double r = nnc_reduce_exp(-z, &sum), scale = nnc_power_of_2(sum);
  const double power = NNC_FMA(scale, NNC_FMA(r * r, NNC_EXPM1_LONG(r), r), scale);
  const double near = NNC_FMA(a, NNC_ERF_LONG(z), a), far = NNC_FMA(-power, NNC_ERFC_LONG(t), 1);
  return __builtin_copysign(a < 1 ? near : far, x);
}

/* log(1 + f) + k log(2) in two parts, good to 2^-64: s = f / (2 + f), its square and the
 * coefficient of its third power are pairs as well. */
NNC_INLINE double nnc_pair_log(double f, double k, double *low) {
  const double d = 2 + f, inverse = 1 / d;
  const double s = f * inverse, s_low = nnc_quotient_rest(f, d, f - (d - 2), s, inverse);
  const double z = s * s, z_low = nnc_product_rest(s, s, z) + 2 * s * s_low;
  const double two_thirds = 0x1.5555555555555p-1, tail = z * NNC_LOG_TAIL(z);
  const double c = two_thirds + tail, c_low = (two_thirds - c) + tail + 0x1.5555555555555p-55;
  const double t = z * c, t_low = nnc_product_rest(z, c, t) + NNC_FMA(z, c_low, z_low * c);
  const double u = 2 + t, u_low = (2 - u) + t + t_low;
  const double y = s * u, y_low = nnc_product_rest(s, u, y) + NNC_FMA(s, u_low, s_low * u);
  const double whole = k * NNC_LN2_HIGH, sum = whole + y;
  const double sum_low = ((whole - sum) + y) + NNC_FMA(k, NNC_LN2_LOW, y_low);
  const double log = sum + sum_low;
  *low = (sum - log) + sum_low;
  return log;
}

/* e^(x + low) = e^x (1 + low), |low| at most half a unit of x; x between -760 and 720. */
NNC_INLINE double nnc_pair_exp(double x, double low) {
  double sum;
  const double r = nnc_reduce_exp(x, &sum);
  const double tail = r * r * NNC_EXPM1_LONG(r);
  const double p = 1 + (NNC_FMA(low, 1 + (r + tail), tail) + r);
  return nnc_scale(p, sum);
}

/* x^y with C's special cases: y log|x| in two parts, since its last bits become leading ones. */
NNC_INLINE double nnc_pow_f64(double x, double y) {
  const double a = __builtin_fabs(x);
  const bool is_small = a < 0x1p-1022;
  double k, low;
  const double f = nnc_split_log(is_small ? a * 0x1p54 : a, &k);
  const double log = nnc_pair_log(f, is_small ? k - 54 : k, &low);
  const double product = y * log, product_low = nnc_product_rest(y, log, product) + y * low;
  const double whole = a == 0 ? -INFINITY * y : a < INFINITY ? product : a * y;
  const bool is_inside = (whole > -760) & (whole < 720);
  double power = nnc_pair_exp(nnc_bounded(whole, -760, 720), is_inside ? product_low : 0);
  power = ((a == 1) & (y == y)) ? 1 : power;
  const bool is_whole = __builtin_floor(y) == y;
  const bool is_odd = is_whole & (__builtin_floor(y * 0.5) * 2 != y);
  power = is_odd ? __builtin_copysign(power, x) : power;
  power = ((x < 0) & (x > -INFINITY) & !is_whole & (y == y)) ? NAN : power;
  power = ((x != x) | (y != y)) ? NAN : power;
  return ((x == 1) | (y == 0)) ? 1 : power;
}

/* ---- sin and cos of a double ----
 *
 * Near 0 the angle is reduced to a sum of two parts, of which the smaller counts in the last steps; of
 * any other double they are the C library's. */

NNC_INLINE bool nnc_far_turn_f64(double x) { return !(__builtin_fabs(x) < 0x1p10); }

/* The angle that remains and what its rounding took off, |x| < 2^10; pi / 2 as for floats. */
NNC_INLINE uint64_t nnc_long_quarters(double x, double *rest, double *low) {
  const double sum = x * 0.6366197723675814 + NNC_MAGIC, n = sum - NNC_MAGIC;
  const double a = x - n * 0x1.921fb544p+0, b = n * 0x1.0b4611a6p-34; /* exact */
  const double r = a - b, back = a - r;
  *low = NNC_FMA(n, -0x1.3198a2e037073p-69, (a - (r + back)) + (back - b));
  *rest = r;
  return nnc_f64_bits(sum);
}

/* sin of r + low and `quarter` quarters of a turn. */
NNC_INLINE double nnc_long_sin_part(double r, double low, uint64_t quarter) {
  const double z = r * r, half = 0.5 * z, w = 1 - half;
  const double sine = r + NNC_FMA(z * r, NNC_SIN_LONG(z), low * w);
  const double cosine = w + (((1 - w) - half) + NNC_FMA(z * z, NNC_COS_LONG(z), -r * low));
  const double y = quarter & 1 ? cosine : sine;
  return quarter & 2 ? -y : y;
}

NNC_INLINE double nnc_near_sin_f64(double x) {
  double r, low;
  const uint64_t quarter = nnc_long_quarters(x, &r, &low);
  return x == 0 ? x : nnc_long_sin_part(r, low, quarter);
}

NNC_INLINE double nnc_near_cos_f64(double x) {
  double r, low;
  const uint64_t quarter = nnc_long_quarters(x, &r, &low);
  return nnc_long_sin_part(r, low, quarter + 1);
}

NNC_INLINE double nnc_sin_f64(double x) {
  return nnc_far_turn_f64(x) ? __builtin_sin(x) : nnc_near_sin_f64(x);
}
NNC_INLINE double nnc_cos_f64(double x) {
  return nnc_far_turn_f64(x) ? __builtin_cos(x) : nnc_near_cos_f64(x);
}
NNC_INLINE double nnc_tan_f64(double x) { return __builtin_tan(x); }

#endif
