/* The elementwise operators of generated kernels that C has no infix for: nnc_<operator>_<type>.
 *
 * Integers wrap in two's complement; division by 0 gives 0, powers below 0 what is left toward zero; conversions to integers go toward zero and
 * saturate, NaN gives 0. NaN wins in min and max. The transcendental functions are in nnc_math.h. */
#ifndef NNC_OPS_H
#define NNC_OPS_H

#include "nnc_math.h"
#include "nnc_vector.h"

/* ---- floats ---- */

/* nnc_at_least is x <= bound ? bound : x, nnc_at_most x >= bound ? bound : x, for constant bounds, as the processor's
 * one instruction for the greater and the less, in which NaN stays. It would leave -0 where the bound is 0: adding 0 makes
 * that 0. */
#define NNC_DEFINE_FLOAT_OPS(name, type, suffix)                                                   \
  NNC_INLINE type nnc_abs_##name(type x) { return __builtin_fabs##suffix(x); }                     \
  NNC_INLINE type nnc_sign_##name(type x) { return x > 0 ? 1 : x < 0 ? -1 : x; }                   \
  NNC_INLINE type nnc_sqrt_##name(type x) { return __builtin_sqrt##suffix(x); }                    \
  NNC_INLINE type nnc_rsqrt_##name(type x) { return 1 / __builtin_sqrt##suffix(x); }               \
  NNC_INLINE type nnc_floor_##name(type x) { return __builtin_floor##suffix(x); }                  \
  NNC_INLINE type nnc_ceil_##name(type x) { return __builtin_ceil##suffix(x); }                    \
  NNC_INLINE type nnc_round_##name(type x) { return __builtin_rint##suffix(x); }                   \
  NNC_INLINE type nnc_min_##name(type a, type b) { return ((a < b) | (a != a)) ? a : b; }          \
  NNC_INLINE type nnc_max_##name(type a, type b) { return ((a > b) | (a != a)) ? a : b; }          \
  NNC_INLINE type nnc_at_least_##name(type x, type bound) {                                        \
    return bound == 0 ? (bound > x ? bound : x) + 0 : bound > x ? bound : x;                       \
  }                                                                                                \
  NNC_INLINE type nnc_at_most_##name(type x, type bound) {                                         \
    return bound == 0 ? (bound < x ? bound : x) + 0 : bound < x ? bound : x;                       \
  }

NNC_DEFINE_FLOAT_OPS(f32, float, f)
NNC_DEFINE_FLOAT_OPS(f64, double, )

/* ---- floor(a / b) and what it leaves, as in Python: of b's sign, |a % b| < |b|, 5 % inf is 5 ----
 *
 * The rest is exact up to the addition of b to a rest of the other sign. Near, where the quotient is
 * small, it is a - floor(a / b) b without a rounding; far it is fmod's, which is no code for loops. */

/* a - q b for a whole number q near a / b, |q| < 2^52: exact. */
NNC_INLINE double nnc_rest(double a, double b, double q) {
  const double p = q * b;
  return (a - p) - nnc_product_rest(q, b, p);
}

/* A rest of the dividend's sign, or one of a quotient that was rounded up, with the divisor's. */
NNC_INLINE double nnc_signed_rest(double rest, double b) {
  const bool is_other = ((rest < 0) & (b > 0)) | ((rest > 0) & (b < 0));
  return rest == 0 ? __builtin_copysign(0.0, b) : is_other ? rest + b : rest;
}

NNC_INLINE bool nnc_far_mod_f32(float a, float b) {
  return !(__builtin_fabs((double)a) < __builtin_fabs((double)b) * 0x1p27);
}
NNC_INLINE bool nnc_far_mod_f64(double a, double b) {
  const double size = __builtin_fabs(b);
  return !((__builtin_fabs(a) < size * 0x1p51) & (size < 0x1p960));
}

/* A quotient of at most 27 bits times a float is exact in double. */
NNC_INLINE float nnc_near_mod_f32(float a, float b) {
  const double x = a, y = b, rest = x - __builtin_floor(x / y) * y;
  return (float)nnc_signed_rest(__builtin_fabsf(b) < INFINITY ? rest : x, y);
}
NNC_INLINE double nnc_near_mod_f64(double a, double b) {
  return nnc_signed_rest(nnc_rest(a, b, __builtin_floor(a / b)), b);
}

NNC_SHARED float nnc_slow_mod_f32(float a, float b) {
  return (float)nnc_signed_rest((double)__builtin_fmodf(a, b), (double)b);
}
NNC_SHARED double nnc_slow_mod_f64(double a, double b) {
  return nnc_signed_rest(__builtin_fmod(a, b), b);
}

NNC_INLINE float nnc_mod_f32(float a, float b) {
  return nnc_far_mod_f32(a, b) ? nnc_slow_mod_f32(a, b) : nnc_near_mod_f32(a, b);
}
NNC_INLINE double nnc_mod_f64(double a, double b) {
  return nnc_far_mod_f64(a, b) ? nnc_slow_mod_f64(a, b) : nnc_near_mod_f64(a, b);
}

/* Rounding may lift a quotient to the next whole number; then a rest of the other sign tells. A
 * quotient of 2^52 and more is a whole number. By 0 it is a / b; of an infinity NaN. */
NNC_INLINE double nnc_floordiv_f64(double a, double b) {
  const double scale = __builtin_fabs(b) > 0x1p900 ? 0x1p-200 : 1;
  const double x = a * scale, y = b * scale, size = __builtin_fabs(x), q = x / y;
  const double whole = __builtin_floor(q), rest = nnc_rest(x, y, whole);
  const bool is_lifted = ((rest < 0) & (b > 0)) | ((rest > 0) & (b < 0));
  const bool is_between = ((a < 0) & (b > 0)) | ((a > 0) & (b < 0));
  double result = (is_lifted & (__builtin_fabs(q) < 0x1p52)) ? whole - 1 : whole;
  result = (is_between & (size < __builtin_fabs(y))) ? -1 : result;
  return ((size < INFINITY) | (b == 0)) ? result : NAN;
}
/* In double the quotient of floats below 2^28 is never lifted. */
NNC_INLINE float nnc_floordiv_f32(float a, float b) {
  const double x = a, y = b;
  const bool is_between = ((a < 0) & (b > 0)) | ((a > 0) & (b < 0));
  double result = __builtin_floor(x / y);
  result = (is_between & (__builtin_fabs(x) < __builtin_fabs(y))) ? -1 : result;
  return ((__builtin_fabs(x) < INFINITY) | (b == 0)) ? (float)result : NAN;
}

/* ---- integers ---- */

#define NNC_DEFINE_INT_OPS(name, type, unsigned_type)                                              \
  NNC_INLINE type nnc_add_##name(type a, type b) {                                                 \
    return (type)((unsigned_type)a + (unsigned_type)b);                                            \
  }                                                                                                \
  NNC_INLINE type nnc_sub_##name(type a, type b) {                                                 \
    return (type)((unsigned_type)a - (unsigned_type)b);                                            \
  }                                                                                                \
  NNC_INLINE type nnc_mul_##name(type a, type b) {                                                 \
    return (type)((unsigned_type)a * (unsigned_type)b);                                            \
  }                                                                                                \
  NNC_INLINE type nnc_neg_##name(type a) { return (type)(0 - (unsigned_type)a); }                  \
  NNC_INLINE type nnc_abs_##name(type a) { return a < 0 ? nnc_neg_##name(a) : a; }                 \
  NNC_INLINE type nnc_sign_##name(type a) { return (type)((a > 0) - (a < 0)); }                    \
  NNC_INLINE type nnc_min_##name(type a, type b) { return a < b ? a : b; }                         \
  NNC_INLINE type nnc_max_##name(type a, type b) { return a > b ? a : b; }                         \
  NNC_INLINE type nnc_floordiv_##name(type a, type b) {                                            \
    if (b == 0) return 0;                                                                          \
    if (b == -1) return nnc_neg_##name(a);                                                         \
    return (type)(a / b - ((a % b != 0) & ((a < 0) != (b < 0))));                                  \
  }                                                                                                \
  NNC_INLINE type nnc_mod_##name(type a, type b) {                                                 \
    if (b == 0 || b == -1) return 0;                                                               \
    type rest = (type)(a % b);                                                                     \
    return ((rest != 0) & ((rest < 0) != (b < 0))) ? (type)(rest + b) : rest;                      \
  }                                                                                                \
  NNC_INLINE type nnc_pow_##name(type a, type b) {                                                 \
    if (b < 0) return a == 1 ? 1 : a == -1 ? (type)(b % 2 == 0 ? 1 : -1) : 0;                      \
    unsigned_type power = 1, square = (unsigned_type)a;                                            \
    for (; b > 0; b >>= 1, square *= square)                                                       \
      if (b & 1) power *= square;                                                                  \
    return (type)power;                                                                            \
  }

NNC_DEFINE_INT_OPS(i32, int32_t, uint32_t)
NNC_DEFINE_INT_OPS(i64, int64_t, uint64_t)

NNC_INLINE uint8_t nnc_min_u8(uint8_t a, uint8_t b) { return a < b ? a : b; }
NNC_INLINE uint8_t nnc_max_u8(uint8_t a, uint8_t b) { return a > b ? a : b; }

/* ---- floats to integers ---- */

#define NNC_DEFINE_CASTS(from, type)                                                               \
  NNC_INLINE int32_t nnc_cast_##from##_i32(type x) {                                               \
    x = x != x ? 0 : x;                                                                            \
    type bounded = x < (type)-2147483648.0 ? (type)-2147483648.0 : x;                              \
    return x >= (type)2147483648.0 ? INT32_MAX : (int32_t)(x >= (type)2147483648.0 ? 0 : bounded); \
  }                                                                                                \
  NNC_INLINE int64_t nnc_cast_##from##_i64(type x) {                                               \
    x = x != x ? 0 : x;                                                                            \
    type bounded = x < (type)-0x1p63 ? (type)-0x1p63 : x;                                          \
    return x >= (type)0x1p63 ? INT64_MAX : (int64_t)(x >= (type)0x1p63 ? 0 : bounded);             \
  }                                                                                                \
  NNC_INLINE uint8_t nnc_cast_##from##_u8(type x) {                                                \
    x = x > 0 ? x : 0; /* also NaN */                                                              \
    return (uint8_t)(int32_t)(x < 255 ? x : 255);                                                  \
  }

NNC_DEFINE_CASTS(f32, float)
NNC_DEFINE_CASTS(f64, double)

#endif
