/* The elementwise operators of generated kernels that C has no infix for: nnc_<operator>_<type>.
 *
 * Integers wrap in two's complement; division by 0 gives 0, powers below 0 what is left toward zero; conversions to integers go toward zero and
 * saturate, NaN gives 0. NaN wins in min and max. The transcendental functions are in nnc_math.h. */
#ifndef NNC_OPS_H
#define NNC_OPS_H

#include "nnc_block.h"
#include "nnc_math.h"
#include "nnc_vector.h"

/* ---- floats ---- */

#define NNC_DEFINE_FLOAT_OPS(name, type, suffix)                                                   \
  NNC_INLINE type nnc_abs_##name(type x) { return __builtin_fabs##suffix(x); }                     \
  NNC_INLINE type nnc_sign_##name(type x) { return x > 0 ? 1 : x < 0 ? -1 : x; }                   \
  NNC_INLINE type nnc_sqrt_##name(type x) { return __builtin_sqrt##suffix(x); }                    \
  NNC_INLINE type nnc_rsqrt_##name(type x) { return 1 / __builtin_sqrt##suffix(x); }               \
  NNC_INLINE type nnc_floor_##name(type x) { return __builtin_floor##suffix(x); }                  \
  NNC_INLINE type nnc_ceil_##name(type x) { return __builtin_ceil##suffix(x); }                    \
  NNC_INLINE type nnc_round_##name(type x) { return __builtin_rint##suffix(x); }                   \
  NNC_INLINE type nnc_min_##name(type a, type b) { return ((a < b) | (a != a)) ? a : b; }          \
  NNC_INLINE type nnc_max_##name(type a, type b) { return ((a > b) | (a != a)) ? a : b; }

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
  return rest == 0 ? __builtin_copysign(0, b) : is_other ? rest + b : rest;
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

/* ---- sums, products and extrema of floats: fixed lanes, joined in a fixed tree ----
 *
 * A reduction over a row runs in blocks of NNC_BLOCK values that the kernel has written to `v`, padded
 * to whole lane groups with the reduction's identity. */

enum { NNC_GROUP_f32 = 16, NNC_GROUP_f64 = 8, NNC_GROUP_i32 = 16, NNC_GROUP_i64 = 8 };

NNC_INLINE int64_t nnc_round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

#define NNC_DEFINE_REDUCTION(operation, name, type, start, join)                                   \
  typedef struct nnc_##operation##_##name##_lanes {                                                \
    type lane[NNC_GROUP_##name];                                                                   \
  } nnc_##operation##_##name##_lanes;                                                              \
  NNC_INLINE void nnc_##operation##_##name##_begin(nnc_##operation##_##name##_lanes *acc) {        \
    for (int l = 0; l < NNC_GROUP_##name; l++) acc->lane[l] = start;                               \
  }                                                                                                \
  NNC_INLINE void nnc_##operation##_##name##_block(nnc_##operation##_##name##_lanes *acc, type *v, \
                                                   int64_t count) {                                \
    int64_t whole = nnc_round_up(count, NNC_GROUP_##name);                                         \
    for (int64_t i = count; i < whole; i++) v[i] = start;                                          \
    type lane[NNC_GROUP_##name];                                                                   \
    for (int l = 0; l < NNC_GROUP_##name; l++) lane[l] = acc->lane[l];                             \
    for (int64_t i = 0; i < whole; i += NNC_GROUP_##name)                                          \
      for (int l = 0; l < NNC_GROUP_##name; l++) {                                                 \
        const type a = lane[l], b = v[i + l];                                                      \
        lane[l] = join;                                                                            \
      }                                                                                            \
    for (int l = 0; l < NNC_GROUP_##name; l++) acc->lane[l] = lane[l];                             \
  }                                                                                                \
  NNC_INLINE type nnc_##operation##_##name##_end(nnc_##operation##_##name##_lanes *acc) {          \
    for (int step = NNC_GROUP_##name / 2; step > 0; step /= 2)                                     \
      for (int l = 0; l < step; l++) {                                                             \
        const type a = acc->lane[l], b = acc->lane[l + step];                                      \
        acc->lane[l] = join;                                                                       \
      }                                                                                            \
    return acc->lane[0];                                                                           \
  }

/* Whether a value is more (less) than `than`, or not a number. */
#define NNC_DEFINE_SEARCH(name, type)                                                              \
  NNC_INLINE bool nnc_has_more_##name(const type *v, int64_t count, type than) {                   \
    int found = 0;                                                                                 \
    for (int64_t i = 0; i < count; i++) found |= !(v[i] <= than);                                  \
    return found;                                                                                  \
  }                                                                                                \
  NNC_INLINE bool nnc_has_less_##name(const type *v, int64_t count, type than) {                   \
    int found = 0;                                                                                 \
    for (int64_t i = 0; i < count; i++) found |= !(v[i] >= than);                                  \
    return found;                                                                                  \
  }

NNC_DEFINE_SEARCH(f32, float)
NNC_DEFINE_SEARCH(f64, double)

#define NNC_DEFINE_REDUCTIONS(name, type, least, greatest)                                         \
  NNC_DEFINE_REDUCTION(sum, name, type, 0, (type)(a + b))                                          \
  NNC_DEFINE_REDUCTION(prod, name, type, 1, (type)(a * b))                                         \
  NNC_DEFINE_REDUCTION(max, name, type, least, nnc_max_##name(a, b))                               \
  NNC_DEFINE_REDUCTION(min, name, type, greatest, nnc_min_##name(a, b))

NNC_DEFINE_REDUCTIONS(f32, float, -INFINITY, INFINITY)
NNC_DEFINE_REDUCTIONS(f64, double, -INFINITY, INFINITY)

#endif
