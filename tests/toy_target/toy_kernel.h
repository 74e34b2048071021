/* What the toy target's kernels call: every value is a double, an i64 beyond 2^53 the nearest one. */
#ifndef TOY_KERNEL_H
#define TOY_KERNEL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "nnc_check_index.h"
#include "nnc_half.h"
#include "nnc_parallel.h"
#include "nnc_random.h"

#define TOY static inline __attribute__((unused))

/* ---- types ---- */

/* Toward zero, as many as there are; NaN is 0. */
TOY int64_t toy_whole(double x) {
  if (x != x) return 0;
  return x >= 0x1p63 ? INT64_MAX : x < -0x1p63 ? INT64_MIN : (int64_t)x;
}

/* The low bits: what is left of an overflow. */
TOY double toy_wrap_i64(uint64_t x) { return (double)(int64_t)x; }
TOY double toy_wrap_i32(uint64_t x) { return (int32_t)(uint32_t)x; }
TOY double toy_wrap_u8(uint64_t x) { return (uint8_t)x; }

#define toy_load_f64(x) ((double)(x))
#define toy_load_f32(x) ((double)(x))
#define toy_load_bf16(x) ((double)nnc_from_bf16(x))
#define toy_load_f16(x) ((double)nnc_from_f16(x))
#define toy_load_i64(x) ((double)(x))
#define toy_load_i32(x) ((double)(x))
#define toy_load_u8(x) ((double)(x))
#define toy_load_bool(x) ((double)(x))

#define toy_store_f64(x) (x)
#define toy_store_f32(x) ((float)(x))
#define toy_store_bf16(x) nnc_to_bf16((float)(x))
#define toy_store_f16(x) nnc_to_f16((float)(x))
#define toy_store_i64(x) toy_whole(x)
#define toy_store_i32(x) ((int32_t)toy_whole(x))
#define toy_store_u8(x) ((uint8_t)toy_whole(x))
#define toy_store_bool(x) ((uint8_t)((x) != 0))

/* To 16 bits by way of f32, where that cannot round twice. */
TOY double toy_round_f32(double x) { return (double)(float)x; }
TOY double toy_round_bf16(double x) { return (double)nnc_round_bf16(nnc_odd_f32(x)); }
TOY double toy_round_f16(double x) { return (double)nnc_round_f16(nnc_odd_f32(x)); }

TOY double toy_saturate(double x, double least, double greatest) {
  const double whole = x != x ? 0 : trunc(x);
  return whole < least ? least : whole > greatest ? greatest : whole;
}

#define toy_f_to_bool(x) ((x) != 0)
#define toy_f_to_i64(x) ((double)toy_whole(x))
#define toy_f_to_i32(x) toy_saturate(x, INT32_MIN, INT32_MAX)
#define toy_f_to_u8(x) toy_saturate(x, 0, UINT8_MAX)
#define TOY_CONVERSIONS(from)                                                                      \
  TOY double toy_##from##_to_bool(double x) { return x != 0; }                                     \
  TOY double toy_##from##_to_i64(double x) { return toy_wrap_i64((uint64_t)toy_whole(x)); }        \
  TOY double toy_##from##_to_i32(double x) { return toy_wrap_i32((uint64_t)toy_whole(x)); }        \
  TOY double toy_##from##_to_u8(double x) { return toy_wrap_u8((uint64_t)toy_whole(x)); }
TOY_CONVERSIONS(i64)
TOY_CONVERSIONS(i32)
TOY_CONVERSIONS(u8)
TOY_CONVERSIONS(bool)

/* ---- indices ---- */

TOY int64_t toy_index_quotient(int64_t a, int64_t b) { return a / b - (a % b < 0); }
TOY int64_t toy_index_rest(int64_t a, int64_t b) { return (a % b + b) % b; }
TOY int64_t toy_clamped(int64_t index, int64_t bound) {
  return index < 0 ? 0 : index < bound ? index : bound - 1;
}
TOY bool toy_within(int64_t index, int64_t bound) { return index >= 0 && index < bound; }

/* A window that goes over planes. */
typedef struct toy_window {
  int spatial;
  int64_t in[3], out[3], kernel[3], stride[3], low[3], dilation[3];
} toy_window;

/* The element of the input under a tap of the window at an element of the output; -1: none. */
TOY int64_t toy_position(const toy_window *window, int64_t out, int64_t tap) {
  int64_t position = 0, scale = 1;
  for (int i = window->spatial - 1; i >= 0; i--) {
    const int64_t at = out % window->out[i] * window->stride[i] - window->low[i] +
                       tap % window->kernel[i] * window->dilation[i];
    if (!toy_within(at, window->in[i])) return -1;
    position += at * scale;
    scale *= window->in[i];
    out /= window->out[i];
    tap /= window->kernel[i];
  }
  return position;
}

/* NaN is the greatest. */
TOY bool toy_comes_before(double a, double b, bool descending) {
  if (descending) return a > b || (a != a && b == b);
  return a < b || (b != b && a == a);
}

/* ---- operators of every type ---- */

#define TOY_ALL(name)                                                                              \
  TOY double toy_eq_##name(double a, double b) { return a == b; }                                  \
  TOY double toy_ne_##name(double a, double b) { return a != b; }                                  \
  TOY double toy_lt_##name(double a, double b) { return a < b; }                                   \
  TOY double toy_le_##name(double a, double b) { return a <= b; }                                  \
  TOY double toy_gt_##name(double a, double b) { return a > b; }                                   \
  TOY double toy_ge_##name(double a, double b) { return a >= b; }                                  \
  TOY double toy_min_##name(double a, double b) { return a < b || a != a ? a : b; }                \
  TOY double toy_max_##name(double a, double b) { return a > b || a != a ? a : b; }                \
  TOY double toy_sign_##name(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
TOY_ALL(f)
TOY_ALL(i64)
TOY_ALL(i32)
TOY_ALL(u8)
TOY_ALL(bool)

TOY double toy_not_bool(double x) { return x == 0; }
TOY double toy_and_bool(double a, double b) { return a != 0 && b != 0; }
TOY double toy_or_bool(double a, double b) { return a != 0 || b != 0; }
TOY double toy_add_bool(double a, double b) { return toy_or_bool(a, b); }

/* ---- floats ---- */

#define TOY_FLOAT(name, of_x)                                                                      \
  TOY double toy_##name##_f(double x) { return of_x; }
TOY_FLOAT(neg, -x)
TOY_FLOAT(abs, fabs(x))
TOY_FLOAT(exp, exp(x))
TOY_FLOAT(expm1, expm1(x))
TOY_FLOAT(log, log(x))
TOY_FLOAT(log1p, log1p(x))
TOY_FLOAT(sqrt, sqrt(x))
TOY_FLOAT(rsqrt, 1 / sqrt(x))
TOY_FLOAT(sin, sin(x))
TOY_FLOAT(cos, cos(x))
TOY_FLOAT(tan, tan(x))
TOY_FLOAT(tanh, tanh(x))
TOY_FLOAT(sigmoid, x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x)))
TOY_FLOAT(erf, erf(x))
TOY_FLOAT(floor, floor(x))
TOY_FLOAT(ceil, ceil(x))
TOY_FLOAT(round, nearbyint(x))

TOY double toy_add_f(double a, double b) { return a + b; }
TOY double toy_sub_f(double a, double b) { return a - b; }
TOY double toy_mul_f(double a, double b) { return a * b; }
TOY double toy_div_f(double a, double b) { return a / b; }
TOY double toy_pow_f(double a, double b) { return pow(a, b); }

/* As in Python: of the divisor's sign. */
TOY double toy_mod_f(double a, double b) {
  const double rest = fmod(a, b);
  if (rest == 0) return copysign(0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

/* A rounded quotient may be the next whole number; then the rest has the other sign. */
TOY double toy_floordiv_f(double a, double b) {
  if (b == 0 || b != b) return a / b;
  if (!isfinite(a)) return NAN;
  if (fabs(a) < fabs(b)) return a != 0 && (a < 0) != (b < 0) ? -1 : 0;
  const double whole = floor(a / b), rest = fma(-whole, b, a);
  return rest != 0 && (rest < 0) != (b < 0) && fabs(whole) < 0x1p52 ? whole - 1 : whole;
}

/* ---- integers ---- */

TOY int64_t toy_whole_quotient(int64_t a, int64_t b) {
  if (b == 0) return 0;
  return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b - (a % b != 0 && (a < 0) != (b < 0));
}

TOY int64_t toy_whole_rest(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  return a % b != 0 && (a < 0) != (b < 0) ? a % b + b : a % b;
}

TOY uint64_t toy_whole_power(int64_t a, int64_t b) {
  uint64_t power = 1;
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : (uint64_t)-1) : 0;
  for (uint64_t square = (uint64_t)a; b > 0; b >>= 1, square *= square)
    if (b & 1) power *= square;
  return power;
}

#define TOY_WHOLE(name, of, a_and_b)                                                               \
  TOY double toy_##of##_##name(double x, double y) {                                               \
    const int64_t a = toy_whole(x), b = toy_whole(y);                                              \
    return toy_wrap_##name((uint64_t)(a_and_b));                                                   \
  }
#define TOY_INTEGERS(name)                                                                         \
  TOY_WHOLE(name, add, (uint64_t)a + (uint64_t)b)                                                  \
  TOY_WHOLE(name, sub, (uint64_t)a - (uint64_t)b)                                                  \
  TOY_WHOLE(name, mul, (uint64_t)a *(uint64_t)b)                                                   \
  TOY_WHOLE(name, floordiv, toy_whole_quotient(a, b))                                              \
  TOY_WHOLE(name, mod, toy_whole_rest(a, b))                                                       \
  TOY_WHOLE(name, pow, toy_whole_power(a, b))                                                      \
  TOY double toy_neg_##name(double x) { return toy_sub_##name(0, x); }                             \
  TOY double toy_abs_##name(double x) { return x < 0 ? toy_neg_##name(x) : x; }                    \
  TOY double toy_check_index_##name(double index, double number, double extent, double place) {    \
    nnc_check_index_i64(toy_whole(index), toy_whole(number), toy_whole(extent), toy_whole(place)); \
    return index;                                                                                  \
  }
TOY_INTEGERS(i64)
TOY_INTEGERS(i32)
TOY_INTEGERS(u8)

/* ---- random numbers ---- */

TOY double toy_random_uniform(const nnc_worker *worker, uint64_t key, uint32_t stream,
                              uint64_t element) {
  return nnc_random_uniform_f64(nnc_philox_key(worker->seed, key), worker->step, stream, element);
}
TOY double toy_random_normal(const nnc_worker *worker, uint64_t key, uint32_t stream,
                             uint64_t element) {
  return nnc_random_normal_f64(nnc_philox_key(worker->seed, key), worker->step, stream, element);
}
TOY double toy_random_bits(const nnc_worker *worker, uint64_t key, uint32_t stream,
                           uint64_t element) {
  return (double)nnc_random_bits_i64(nnc_philox_key(worker->seed, key), worker->step, stream,
                                     element);
}

#endif
