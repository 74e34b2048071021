/* Pooling on planes: windows of two along a row that lie side by side, some of a row at a time.
 *
 * A span is the values of 8 or 4 windows in a row. What a span's windows see are twice as many neighbours: those at
 * even places are the first of each window, those at odd places the second. Spans are passed by address: a processor
 * may have no registers of their width. */
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

/* With `span`, its bits as integers and as it lies in memory as types:
 * load      a span of memory
 * apart     v[0] and v[1]: the first and the second value of each window
 * join      the other way round
 * take      x, of tap number `tap`, where it is greater than the greatest so far, and the tap with it: NaN is greater
 *           than all, and of equal ones the first stays; the tap 0 is always taken
 * found     the greatest values and their taps, of which there are few, as arrays
 * give      to each window's value under the tap: what it is given if that is where its greatest is, else 0
 * places    where, from bytes of memory
 * As arrays, for loops over their elements: nnc_apart. */
#define NNC_DEFINE_SPAN(name, type, integer, lanes)                                                \
  NNC_DEFINE_SPAN_OF(nnc_span_##name##_##lanes, nnc_span_bits_##name##_##lanes,                    \
                     nnc_span_mem_##name##_##lanes, name##_##lanes, type, integer, lanes)
#define NNC_DEFINE_SPAN_OF(span, bits, mem, name, type, integer, lanes)                            \
  typedef type span __attribute__((vector_size(lanes * sizeof(type))));                            \
  typedef integer bits __attribute__((vector_size(lanes * sizeof(type))));                         \
  typedef type mem                                                                                 \
      __attribute__((vector_size(lanes * sizeof(type)), aligned(sizeof(type)), may_alias));        \
  NNC_INLINE void nnc_span_load_##name(span *x, const type *from) {                                \
    *x = (span) * (const mem *)from;                                                               \
  }                                                                                                \
  NNC_INLINE void nnc_span_apart_##name(span *v, const type *from) {                               \
    const span a = (span) * (const mem *)from, b = (span) * (const mem *)(from + lanes);           \
    v[0] = NNC_OF_PAIR(bits, a, b, NNC_EVEN_##lanes);                                              \
    v[1] = NNC_OF_PAIR(bits, a, b, NNC_ODD_##lanes);                                               \
  }                                                                                                \
  NNC_INLINE void nnc_span_join_##name(type *to, const span *v) {                                  \
    *(mem *)to = (mem)NNC_OF_PAIR(bits, v[0], v[1], NNC_LOW_##lanes);                              \
    *(mem *)(to + lanes) = (mem)NNC_OF_PAIR(bits, v[0], v[1], NNC_HIGH_##lanes);                   \
  }                                                                                                \
  NNC_INLINE void nnc_span_take_##name(span *best, bits *where, const span *x, int tap) {          \
    const bits better = ~(bits)(*x <= *best) & (bits)(*best == *best);                             \
    *best = tap == 0 ? *x : (span)(((bits)*x & better) | ((bits)*best & ~better));                 \
    *where = tap == 0 ? (bits){0} : (better & tap) | (*where & ~better);                           \
  }                                                                                                \
  NNC_INLINE void nnc_span_found_##name(type *to, uint8_t *taps, const span *best,                 \
                                        const bits *where) {                                       \
    const nnc_span_bytes_##lanes bytes = __builtin_convertvector(*where, nnc_span_bytes_##lanes);  \
    memcpy(to, best, sizeof *best);                                                                \
    memcpy(taps, &bytes, sizeof bytes);                                                            \
  }                                                                                                \
  NNC_INLINE void nnc_span_places_##name(bits *where, const uint8_t *from) {                       \
    nnc_span_bytes_##lanes bytes;                                                                  \
    memcpy(&bytes, from, sizeof bytes);                                                            \
    *where = __builtin_convertvector(bytes, bits);                                                 \
  }                                                                                                \
  NNC_INLINE void nnc_span_give_##name(span *to, const bits *where, const span *given, int tap) {  \
    *to = (span){0} + (span)((bits)(*where == tap) & (bits)*given);                                \
  }                                                                                                \
  NNC_INLINE void nnc_apart_##name(type v[2][lanes], const type *from) {                           \
    span pair[2];                                                                                  \
    nnc_span_apart_##name(pair, from);                                                             \
    memcpy(v[0], &pair[0], sizeof pair[0]);                                                        \
    memcpy(v[1], &pair[1], sizeof pair[1]);                                                        \
  }

typedef uint8_t nnc_span_bytes_4 __attribute__((vector_size(4)));
typedef uint8_t nnc_span_bytes_8 __attribute__((vector_size(8)));
NNC_DEFINE_SPAN(f32, float, int32_t, 4)
NNC_DEFINE_SPAN(f32, float, int32_t, 8)
NNC_DEFINE_SPAN(f64, double, int64_t, 4)
NNC_DEFINE_SPAN(f64, double, int64_t, 8)

#endif
