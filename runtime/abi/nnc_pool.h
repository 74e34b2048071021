/* Pooling on planes: windows of two along a row that lie side by side, some of a row at a time.
 *
 * A span is the values of 8 or 4 windows in a row. What a span's windows see are twice as many neighbours: those at
 * even places are the first of each window, those at odd places the second. */
#ifndef NNC_POOL_H
#define NNC_POOL_H

#include "nnc_vector.h"

/* The span after that at `first` in a row of `count` >= `lanes` windows. The last one ends with the row: it may have
 * windows that the one before it had too. */
NNC_INLINE int64_t nnc_next_span(int64_t first, int64_t lanes, int64_t count) {
  const int64_t next = first + lanes;
  return next < count && next + lanes > count ? count - lanes : next;
}

#define NNC_EVEN_8 0, 2, 4, 6, 8, 10, 12, 14
#define NNC_ODD_8 1, 3, 5, 7, 9, 11, 13, 15
#define NNC_LOW_8 0, 8, 1, 9, 2, 10, 3, 11
#define NNC_HIGH_8 4, 12, 5, 13, 6, 14, 7, 15
#define NNC_EVEN_4 0, 2, 4, 6
#define NNC_ODD_4 1, 3, 5, 7
#define NNC_LOW_4 0, 4, 1, 5
#define NNC_HIGH_4 2, 6, 3, 7

#if defined(__clang__)
#define NNC_OF_PAIR(bits, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define NNC_OF_PAIR(bits, a, b, ...) __builtin_shuffle(a, b, (bits){__VA_ARGS__})
#endif

/* nnc_span_apart: the first and the second value of each window; nnc_span_join: the other way round.
 * nnc_span_better: whether a value takes the place of the greatest so far: NaN is greater than all, and of equal ones
 * the first stays. nnc_span_pick: a where `is_a`, else b. */
#define NNC_DEFINE_SPAN(name, type, integer, lanes)                                                \
  typedef type nnc_span_##name##_##lanes __attribute__((vector_size(lanes * sizeof(type))));       \
  typedef integer nnc_span_bits_##name##_##lanes                                                   \
      __attribute__((vector_size(lanes * sizeof(type))));                                          \
  typedef type nnc_span_mem_##name##_##lanes                                                       \
      __attribute__((vector_size(lanes * sizeof(type)), aligned(sizeof(type)), may_alias));        \
  NNC_INLINE nnc_span_##name##_##lanes nnc_span_load_##name##_##lanes(const type *from) {          \
    return (nnc_span_##name##_##lanes) * (const nnc_span_mem_##name##_##lanes *)from;              \
  }                                                                                                \
  NNC_INLINE void nnc_span_store_##name##_##lanes(type *to, nnc_span_##name##_##lanes x) {         \
    *(nnc_span_mem_##name##_##lanes *)to = (nnc_span_mem_##name##_##lanes)x;                       \
  }                                                                                                \
  NNC_INLINE void nnc_span_apart_##name##_##lanes(nnc_span_##name##_##lanes *v,                    \
                                                  const type *from) {                              \
    const nnc_span_##name##_##lanes a = nnc_span_load_##name##_##lanes(from);                      \
    const nnc_span_##name##_##lanes b = nnc_span_load_##name##_##lanes(from + lanes);              \
    v[0] = NNC_OF_PAIR(nnc_span_bits_##name##_##lanes, a, b, NNC_EVEN_##lanes);                    \
    v[1] = NNC_OF_PAIR(nnc_span_bits_##name##_##lanes, a, b, NNC_ODD_##lanes);                     \
  }                                                                                                \
  NNC_INLINE void nnc_span_join_##name##_##lanes(type *to, const nnc_span_##name##_##lanes *v) {   \
    nnc_span_store_##name##_##lanes(                                                               \
        to, NNC_OF_PAIR(nnc_span_bits_##name##_##lanes, v[0], v[1], NNC_LOW_##lanes));             \
    nnc_span_store_##name##_##lanes(                                                               \
        to + lanes, NNC_OF_PAIR(nnc_span_bits_##name##_##lanes, v[0], v[1], NNC_HIGH_##lanes));    \
  }                                                                                                \
  NNC_INLINE nnc_span_bits_##name##_##lanes nnc_span_better_##name##_##lanes(                      \
      nnc_span_##name##_##lanes x, nnc_span_##name##_##lanes best) {                               \
    return (nnc_span_bits_##name##_##lanes)((x > best) | ((x != x) & (best == best)));             \
  }                                                                                                \
  NNC_INLINE nnc_span_##name##_##lanes nnc_span_pick_##name##_##lanes(                             \
      nnc_span_bits_##name##_##lanes is_a, nnc_span_##name##_##lanes a,                            \
      nnc_span_##name##_##lanes b) {                                                               \
    return (nnc_span_##name##_##lanes)(((nnc_span_bits_##name##_##lanes)a & is_a) |                \
                                       ((nnc_span_bits_##name##_##lanes)b & ~is_a));               \
  }                                                                                                \
  /* The two values of each window as an array, for loops over them. */                            \
  NNC_INLINE void nnc_apart_##name##_##lanes(type v[2][lanes], const type *from) {                 \
    nnc_span_##name##_##lanes span[2];                                                             \
    nnc_span_apart_##name##_##lanes(span, from);                                                   \
    nnc_span_store_##name##_##lanes(v[0], span[0]);                                                \
    nnc_span_store_##name##_##lanes(v[1], span[1]);                                                \
  }

NNC_DEFINE_SPAN(f32, float, int32_t, 4)
NNC_DEFINE_SPAN(f32, float, int32_t, 8)
NNC_DEFINE_SPAN(f64, double, int64_t, 4)
NNC_DEFINE_SPAN(f64, double, int64_t, 8)

#endif
