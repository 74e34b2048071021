/* Numbers of the reference evaluation: every element is a double, integers with two's complement.
 *
 * An i64 beyond 2^53 is inexact here (the nearest double stands for it); all else is exact. f32 is
 * not rounded; bf16 and f16 are, after each operator. */
#ifndef NNC_OPS_NUMBER_H
#define NNC_OPS_NUMBER_H

#include <math.h>
#include <string.h>
#include "graph/types.h"

/* `x` as an element of `dtype` where that has 16 bits, else unchanged: rounded once to the nearest,
 * a tie to even, with subnormals; beyond the largest number infinity; NaN stays. */
static inline double number_round(double x, DType dtype) {
  if (!dtype_is_half(dtype) || !isfinite(x)) return x;
  bool is_bf16 = dtype == DTYPE_BF16;
  int dropped = is_bf16 ? 45 : 42; /* of the 52 bits of a double's fraction */
  double least = is_bf16 ? 0x1p-126 : 0x1p-14, unit = is_bf16 ? 0x1p-133 : 0x1p-24;
  if (fabs(x) < least) return nearbyint(x / unit) * unit;
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits += ((uint64_t)1 << (dropped - 1)) - 1 + (bits >> dropped & 1);
  bits &= ~(((uint64_t)1 << dropped) - 1);
  memcpy(&x, &bits, sizeof x);
  return fabs(x) >= (is_bf16 ? 0x1p128 : 0x1p16) ? copysign(INFINITY, x) : x;
}

static inline bool number_is_integer(DType dtype) {
  return dtype == DTYPE_I64 || dtype == DTYPE_I32 || dtype == DTYPE_U8;
}

/* Toward zero, saturating; NaN is 0. */
static inline int64_t number_truncate(double x) {
  if (x != x) return 0;
  if (x >= 9223372036854775808.0) return INT64_MAX;
  if (x < -9223372036854775808.0) return INT64_MIN;
  return (int64_t)x;
}

/* The low bits of `x` read as `dtype`: what integer arithmetic leaves on overflow. */
static inline double number_wrap(uint64_t x, DType dtype) {
  if (dtype == DTYPE_I32) return (int32_t)(uint32_t)x;
  if (dtype == DTYPE_U8) return (uint8_t)x;
  return (double)(int64_t)x;
}

static inline double number_saturate(double x, double least, double greatest) {
  double whole = x != x ? 0 : trunc(x);
  return whole < least ? least : whole > greatest ? greatest : whole;
}

/* What `cast` computes: to bool, x != 0 (NaN is true); integer to integer keeps the low bits;
 * float to integer truncates toward zero and saturates, NaN gives 0; to a float, the value (rounded
 * where that has 16 bits). */
static inline double number_convert(double x, DType from, DType to) {
  if (to == DTYPE_BOOL) return x != 0;
  if (!number_is_integer(to)) return number_round(x, to);
  if (number_is_integer(from)) return number_wrap((uint64_t)number_truncate(x), to);
  switch (to) {
  case DTYPE_I32: return number_saturate(x, INT32_MIN, INT32_MAX);
  case DTYPE_U8: return number_saturate(x, 0, UINT8_MAX);
  default: return (double)number_truncate(x);
  }
}

/* What floor(a / b) leaves of a, as in Python: exact but for the addition of b to a rest of the other
 * sign, so of b's sign; a % inf is a or inf; NaN by 0 and of an infinity. */
static inline double number_mod(double a, double b) {
  double rest = fmod(a, b);
  if (rest == 0) return copysign(0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

/* floor(a / b), as in Python: of the exact quotient, which rounding may lift to the next whole number;
 * then a rest of the other sign tells. a / b by 0, NaN of an infinity. */
static inline double number_floordiv(double a, double b) {
  if (b == 0 || isnan(b)) return a / b;
  if (!isfinite(a)) return NAN;
  if (fabs(a) < fabs(b)) return a != 0 && (a < 0) != (b < 0) ? -1 : 0;
  double quotient = a / b, whole = floor(quotient), rest = fma(-whole, b, a);
  bool is_lifted = fabs(quotient) < 0x1p52 && rest != 0 && (rest < 0) != (b < 0);
  return is_lifted ? whole - 1 : whole;
}

/* An index element, clamped to the axis as the generated code clamps it. */
static inline int64_t number_clamp_index(double x, int64_t extent) {
  int64_t index = number_truncate(x);
  return index < 0 ? 0 : index >= extent ? extent - 1 : index;
}

#endif
