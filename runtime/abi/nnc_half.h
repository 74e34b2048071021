/* bf16 and f16 of generated kernels: in memory their bits, in arithmetic an f32 that is rounded.
 *
 *   bf16   sign, 8 bits of exponent, 7 of fraction: the upper half of an f32
 *   f16    sign, 5 bits of exponent, 10 of fraction (IEEE 754 binary16)
 *
 * nnc_to_TYPE rounds to the nearest, a tie to even, with subnormal numbers; beyond the largest
 * number is infinity; a NaN stays one, made quiet, with the upper bits of its fraction.
 * nnc_from_TYPE is exact. nnc_round_TYPE is both, there and back; nnc_TYPE_bits converts what was rounded so, exactly.
 *
 * All of it is integer arithmetic without branches, the same bits on every machine. Compilers
 * vectorize it, as they do not with their half-precision types: a loop y = a * b of f16 takes 0.5
 * ns an element on a Zen 4 core, with scalar F16C instructions 1.0.
 *
 * An f32 has twice the bits of either and two more at least, so a sum, difference, product,
 * quotient or root of two such numbers that is rounded to f32 first is what one rounding gives
 * (Figueroa, When is double rounding innocuous?, SIGNUM Newsletter 30, 1995). */
#ifndef NNC_HALF_H
#define NNC_HALF_H

#include "nnc_vector.h"

NNC_INLINE float nnc_bits_f32(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

NNC_INLINE uint32_t nnc_f32_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* A double, or an integer in one, on its way to 16 bits: what f32 does not hold exactly gets an odd
 * last bit, which says on what side of a tie it lies. */
NNC_INLINE float nnc_odd_f32(double x) {
  float nearest = (float)x;
  uint32_t bits = nnc_f32_bits(nearest);
  uint32_t is_even = ((double)nearest != x) & (x == x) & ~bits;
  uint32_t is_beyond = __builtin_fabs((double)nearest) > __builtin_fabs(x);
  return nnc_bits_f32(bits + is_even - 2 * (is_even & is_beyond));
}

/* ---- bf16 ---- */

NNC_INLINE float nnc_from_bf16(uint16_t x) { return nnc_bits_f32((uint32_t)x << 16); }

/* The nearest f32 that is a bf16: up from half a place on, and of two that are as near the even one, whose last place is
 * 0. */
NNC_INLINE float nnc_round_bf16(float x) {
  uint32_t bits = nnc_f32_bits(x), up = bits + 0x8000;
  up &= (up & 0xFFFF) != 0 ? 0xFFFF0000 : 0xFFFE0000;
  return nnc_bits_f32(x != x ? bits | 0x400000 : up);
}

NNC_INLINE uint16_t nnc_bf16_bits(float x) { return (uint16_t)(nnc_f32_bits(x) >> 16); }

NNC_INLINE uint16_t nnc_to_bf16(float x) { return nnc_bf16_bits(nnc_round_bf16(x)); }

/* ---- f16 ---- */

/* A product with a power of two moves the exponent and normalizes subnormal numbers; infinity and
 * NaN come out with an exponent of 2^16. */
NNC_INLINE float nnc_from_f16(uint16_t x) {
  uint32_t sign = (uint32_t)(x & 0x8000) << 16, magnitude = x & 0x7FFF;
  uint32_t bits = nnc_f32_bits(nnc_bits_f32(magnitude << 13) * 0x1p112f);
  bits |= magnitude >= 0x7C00 ? 0x7F800000 : 0;
  bits |= magnitude > 0x7C00 ? 0x400000 : 0;
  return nnc_bits_f32(bits | sign);
}

NNC_INLINE uint16_t nnc_to_f16(float x) {
  uint32_t bits = nnc_f32_bits(x), sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7FFFFFFF;
  uint32_t normal = (magnitude - 0x38000000 + 0xFFF + ((magnitude >> 13) & 1)) >> 13;
  uint32_t subnormal = nnc_f32_bits(nnc_bits_f32(magnitude) + 0.5f) - 0x3F000000;
  uint32_t half = magnitude < 0x38800000 ? subnormal : normal;
  half = magnitude >= 0x477FF000 ? 0x7C00 : half;
  half = magnitude > 0x7F800000 ? 0x7E00 | (magnitude >> 13 & 0x3FF) : half;
  return (uint16_t)(half | sign);
}

NNC_INLINE uint16_t nnc_f16_bits(float x) { return nnc_to_f16(x); }

NNC_INLINE float nnc_round_f16(float x) { return nnc_from_f16(nnc_to_f16(x)); }

#endif
