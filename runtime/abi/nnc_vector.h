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

#include "nnc_inline.h"

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

/* Constants of a kernel. Beyond an int they are long because one is negative, else unsigned long. */
#define NNC_NEGATIVE_OF(line) nnc_negative_##line
#define NNC_NEGATIVE(line) NNC_NEGATIVE_OF(line)
#define NNC_EXTENTS(...) enum { NNC_NEGATIVE(__LINE__) = -1, __VA_ARGS__ }

/* A kernel is external to its file, so it is compiled alike in one file and in several. */
#if defined(__clang__)
#define NNC_APART noinline
#else
#define NNC_APART noipa
#endif
#define NNC_KERNEL __attribute__((NNC_APART, visibility("hidden")))
#define NNC_SHARED static __attribute__((NNC_APART, unused)) /* by a translation unit's kernels */
/* Functions that kernels of several translation units call. NNC_OWN makes one for each unit, and so does NNC_COMMON
 * in the one file. A unit that begins by defining NNC_UNITS has of those of NNC_COMMON the declarations; they are
 * defined once for all such units, in one that has nothing else, by NNC_GIVEN (nnc_common.h), and for each level
 * under a name of its own. */
#define NNC_OWN(name, parameters, ...)                                                             \
  NNC_SHARED void name parameters { __VA_ARGS__; }
#define NNC_GIVEN(name, parameters, ...)                                                           \
  void name parameters { __VA_ARGS__; }
#ifdef NNC_UNITS
#define NNC_COMMON(name, parameters, ...)                                                          \
  __attribute__((visibility("hidden"))) void name parameters NNC_SYMBOL(name);
#else
#define NNC_COMMON NNC_OWN
#endif
#ifdef NNC_LEVEL
#define NNC_SYMBOL(name) __asm__(#name NNC_SYMBOL_END(NNC_LEVEL))
#define NNC_SYMBOL_END(level) NNC_SYMBOL_OF(level)
#define NNC_SYMBOL_OF(level) "_" #level
#else
#define NNC_SYMBOL(name)
#endif
#define NNC_OPAQUE(value) __asm__("" : "+r"(value)) /* the compiler forgets how it was computed */
#define NNC_ALIGNED __attribute__((aligned(64)))
#define NNC_UNUSED __attribute__((unused))
#if defined(__clang__)
#define NNC_UNROLL _Pragma("clang loop unroll(full)")
#define NNC_ROLLED _Pragma("clang loop unroll(disable) interleave(disable)")
#define NNC_SINGLE                                                                                 \
  _Pragma("clang loop interleave(disable)") /* the same, but written out where it is short */
#define NNC_SHORT                                                                                  \
  _Pragma("clang loop unroll(disable) vectorize(disable)") /* of few rounds, or around others */
/* Around a short loop that is to be the vectorized one: clang would gather and scatter instead. */
#define NNC_AROUND _Pragma("clang loop vectorize(disable)")
/* A loop over long chains of operations: several at a time, as many as there are registers for. */
#define NNC_COSTLY                                                                                 \
  NNC_PICK(_Pragma("clang loop interleave_count(4)"), _Pragma("clang loop interleave_count(2)"),   \
           _Pragma("clang loop interleave_count(2)"))
#elif defined(__OPTIMIZE__)
#define NNC_COSTLY
#define NNC_UNROLL _Pragma("GCC unroll 64")
#define NNC_ROLLED _Pragma("GCC unroll 1")
#define NNC_SINGLE
#define NNC_SHORT _Pragma("GCC unroll 1")
#define NNC_AROUND
#else /* gcc, which warns that it does not heed them */
#define NNC_COSTLY
#define NNC_UNROLL
#define NNC_ROLLED
#define NNC_SINGLE
#define NNC_SHORT
#define NNC_AROUND
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
  typedef type nnc_mem_##name                                                                      \
      __attribute__((vector_size(NNC_VECTOR_BYTES), aligned(sizeof(type)), may_alias));            \
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
NNC_INLINE int64_t nnc_round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }
/* An index that was loaded, kept inside [0, bound). */
NNC_INLINE int64_t nnc_clamp(int64_t index, int64_t bound) {
  index = index < bound ? index : bound - 1;
  return index > 0 ? index : 0;
}
/* Whether 0 <= index < bound. */
NNC_INLINE bool nnc_within(int64_t index, int64_t bound) {
  return (uint64_t)index < (uint64_t)bound;
}

#endif
