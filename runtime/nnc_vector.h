/* Vectors and element types of generated kernels.
 *
 * Most loops are plain C that the compiler vectorizes; where it may not reorder (sums of floats,
 * contractions) the code uses the vector extensions of GNU C. A vector is as wide as the target's
 * registers; NNC_PICK chooses a constant by that width. */
#ifndef NNC_VECTOR_H
#define NNC_VECTOR_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#define NNC_VECTOR_BYTES 64
#define NNC_PICK(for_64, for_32, for_16) for_64
#elif defined(__AVX__)
#define NNC_VECTOR_BYTES 32
#define NNC_PICK(for_64, for_32, for_16) for_32
#else
#define NNC_VECTOR_BYTES 16
#define NNC_PICK(for_64, for_32, for_16) for_16
#endif

/* The instruction-set variant: what the bits of results may depend on. */
#if defined(__x86_64__)
#define NNC_ISA_FAMILY "x86-64"
#elif defined(__aarch64__)
#define NNC_ISA_FAMILY "aarch64"
#else
#define NNC_ISA_FAMILY "generic"
#endif
#define NNC_ISA NNC_ISA_FAMILY NNC_PICK("+avx512", "+avx", "") NNC_ISA_FMA

#define NNC_INLINE static inline __attribute__((always_inline, unused))
/* A kernel is external to its file, so it is compiled alike in one file and in several. */
#if defined(__clang__)
#define NNC_APART noinline
#else
#define NNC_APART noipa
#endif
#define NNC_KERNEL __attribute__((NNC_APART, visibility("hidden")))
#define NNC_SHARED static __attribute__((NNC_APART, unused)) /* by a translation unit's kernels */
#define NNC_OPAQUE(value) __asm__("" : "+r"(value)) /* the compiler forgets how it was computed */
#define NNC_ALIGNED __attribute__((aligned(64)))
#if defined(__clang__)
#define NNC_UNROLL _Pragma("clang loop unroll(full)")
#define NNC_ROLLED _Pragma("clang loop unroll(disable) interleave(disable)")
#else
#define NNC_UNROLL _Pragma("GCC unroll 64")
#define NNC_ROLLED _Pragma("GCC unroll 1")
#endif

/* a * b + c, in one rounding where the target has the instruction. */
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__AVX512F__)
#define NNC_ISA_FMA "+fma"
#define NNC_FMA(a, b, c) __builtin_fma(a, b, c)
#define NNC_FMAF(a, b, c) __builtin_fmaf(a, b, c)
#else
#define NNC_ISA_FMA ""
#define NNC_FMA(a, b, c) ((a) * (b) + (c))
#define NNC_FMAF(a, b, c) ((a) * (b) + (c))
#endif

/* nnc_vec_f32: a register of floats; nnc_load_f32 and nnc_store_f32 need no alignment. */
#define NNC_DEFINE_VECTOR(name, type)                                                              \
  typedef type nnc_vec_##name __attribute__((vector_size(NNC_VECTOR_BYTES)));                      \
  typedef type nnc_mem_##name __attribute__((vector_size(NNC_VECTOR_BYTES),                        \
                                             aligned(sizeof(type)), may_alias));                   \
  enum { NNC_LANES_##name = NNC_VECTOR_BYTES / (int)sizeof(type) };                                \
  NNC_INLINE nnc_vec_##name nnc_load_##name(const type *p) {                                       \
    return (nnc_vec_##name) * (const nnc_mem_##name *)p;                                           \
  }                                                                                                \
  NNC_INLINE void nnc_store_##name(type *p, nnc_vec_##name x) {                                    \
    *(nnc_mem_##name *)p = (nnc_mem_##name)x;                                                      \
  }                                                                                                \
  NNC_INLINE nnc_vec_##name nnc_splat_##name(type x) { return x - (nnc_vec_##name){0}; }

NNC_DEFINE_VECTOR(f32, float)
NNC_DEFINE_VECTOR(f64, double)
NNC_DEFINE_VECTOR(i32, int32_t)
NNC_DEFINE_VECTOR(i64, int64_t)

NNC_INLINE int64_t nnc_least(int64_t a, int64_t b) { return a < b ? a : b; }
NNC_INLINE int64_t nnc_greatest(int64_t a, int64_t b) { return a > b ? a : b; }
/* An index that was loaded, kept inside [0, bound). */
NNC_INLINE int64_t nnc_clamp(int64_t index, int64_t bound) {
  index = index < bound ? index : bound - 1;
  return index > 0 ? index : 0;
}
/* Whether 0 <= index < bound. */
NNC_INLINE bool nnc_within(int64_t index, int64_t bound) {
  return (uint64_t)index < (uint64_t)bound;
}

/* ---- sixteen-bit floats: stored as their bits, computed in f32 ---- */

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

NNC_INLINE float nnc_from_bf16(uint16_t x) { return nnc_bits_f32((uint32_t)x << 16); }

/* Nearest, a tie to even; NaN stays a quiet NaN. */
NNC_INLINE uint16_t nnc_to_bf16(float x) {
  uint32_t bits = nnc_f32_bits(x);
  uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  return (uint16_t)(x != x ? (bits >> 16) | 0x40 : rounded);
}

NNC_INLINE float nnc_round_bf16(float x) { return nnc_from_bf16(nnc_to_bf16(x)); }

/* Normal numbers by shifting the exponent; subnormal ones by a subtraction that normalizes. */
NNC_INLINE float nnc_from_f16(uint16_t x) {
  uint32_t sign = (uint32_t)(x & 0x8000) << 16, magnitude = x & 0x7FFF;
  uint32_t normal = (magnitude << 13) + 0x38000000;
  normal += magnitude >= 0x7C00 ? 0x38000000 : 0; /* infinity and NaN */
  float subnormal = nnc_bits_f32((magnitude << 13) + 0x38800000) - 0x1p-14f;
  uint32_t bits = magnitude < 0x400 ? nnc_f32_bits(subnormal) : normal;
  return nnc_bits_f32(bits | sign);
}

/* Nearest, a tie to even; overflows to infinity. */
NNC_INLINE uint16_t nnc_to_f16(float x) {
  uint32_t bits = nnc_f32_bits(x), sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7FFFFFFF;
  uint32_t normal = (magnitude - 0x38000000 + 0xFFF + ((magnitude >> 13) & 1)) >> 13;
  uint32_t subnormal = nnc_f32_bits(nnc_bits_f32(magnitude) + 0.5f) - 0x3F000000;
  uint32_t half = magnitude < 0x38800000 ? subnormal : normal;
  half = magnitude >= 0x477FF000 ? 0x7C00 : half;
  half = magnitude > 0x7F800000 ? 0x7E00 : half;
  return (uint16_t)(half | sign);
}

NNC_INLINE float nnc_round_f16(float x) { return nnc_from_f16(nnc_to_f16(x)); }

#endif
