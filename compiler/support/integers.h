/* Integer arithmetic on extents, places and sizes. */
#ifndef NNC_SUPPORT_INTEGERS_H
#define NNC_SUPPORT_INTEGERS_H

#include <stdint.h>

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t greatest(int64_t a, int64_t b) { return a > b ? a : b; }

/* Divisors are not 0; a / b does not overflow. */
static inline int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
static inline int64_t floor_mod(int64_t a, int64_t b) {
  int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/* a >= 0, b > 0. */
static inline int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
static inline int64_t align_up(int64_t a, int64_t b) { return divide_up(a, b) * b; }

/* The number of points of a domain; INT64_MAX where a product is larger. */
static inline int64_t extent_product(const int64_t *extent, int count) {
  int64_t points = 1;
  for (int i = 0; i < count; i++)
    if (__builtin_mul_overflow(points, extent[i], &points)) return INT64_MAX;
  return points;
}

#endif
