/* Sums, products and extrema of floats: fixed lanes, joined in a fixed tree.
 *
 * A reduction over a row takes its values from `v` in memory. A whole block of NNC_BLOCK is joined by
 * pairs of neighbours, in the order of memory, so that little of it waits for the block before; the rest
 * of a row goes group by group, the last one filled up with the reduction's identity. Extrema are taken
 * as if there was no NaN; lanes that met one are marked, and a row with a mark is NaN. */
#ifndef NNC_LANES_H
#define NNC_LANES_H

#include "nnc_block.h"
#include "nnc_ops.h"

enum { NNC_GROUP_f32 = 16, NNC_GROUP_f64 = 8, NNC_GROUP_i32 = 16, NNC_GROUP_i64 = 8 };

/* nnc_group_f32: a group of lanes, in one register or several: no argument of a function, which might be
 * called by another convention elsewhere. NNC_CHOOSE: a where the mask is set, else b. */
#define NNC_LOAD_GROUP(name, v) ((nnc_group_##name) * (const nnc_group_mem_##name *)(v))
#define NNC_STORE_GROUP(name, v, x) (*(nnc_group_mem_##name *)(v) = (nnc_group_mem_##name)(x))
#define NNC_FULL_GROUP(name, x) ((nnc_group_##name){0} + (x))
#define NNC_CHOOSE(name, mask, a, b)                                                               \
  (nnc_group_##name)(((mask) & (nnc_group_bits_##name)(a)) | (~(mask) & (nnc_group_bits_##name)(b)))

#define NNC_DEFINE_GROUP(name, type, bits)                                                         \
  typedef type nnc_group_##name __attribute__((vector_size(64)));                                  \
  typedef bits nnc_group_bits_##name __attribute__((vector_size(64)));                             \
  typedef type nnc_group_mem_##name                                                                \
      __attribute__((vector_size(64), aligned(sizeof(type)), may_alias));

/* Memory that lies so far ahead is fetched into a core's own cache while a block is read, earlier than the
 * processor would by itself. On Zen 4 past the first level, whose few buffers the loads themselves need: from 1 to
 * 3 KB are as good; a page ahead, maxima, whose comparisons hold up more loads, take a tenth longer.
 *
 * Zen 5, which this instruction tells, has more buffers. There the first level is better, 4 to 6 KB ahead: rows
 * that begin in the middle of a line would ask for each line twice, and take a third longer. */
#ifdef __AVX512VP2INTERSECT__
enum { NNC_AHEAD = 4096, NNC_AHEAD_LEVEL = 3 };
#else
enum { NNC_AHEAD = 2048, NNC_AHEAD_LEVEL = 2 };
#endif
NNC_INLINE void nnc_fetch(const void *from, bool is_ahead) {
  if (is_ahead) __builtin_prefetch((const void *)((uintptr_t)from + NNC_AHEAD), 0, NNC_AHEAD_LEVEL);
}

/* The end of `count` values, less than a group, behind as many as it lacks of the identity. */
#define NNC_DEFINE_LAST_GROUP(name, type)                                                          \
  NNC_INLINE void nnc_fill_last_##name(type *last, const type *v, int64_t count, type start) {     \
    enum { GROUP = NNC_GROUP_##name };                                                             \
    const int64_t lacks = GROUP - count % GROUP;                                                   \
    if (count < GROUP) {                                                                           \
      for (int64_t l = 0; l < GROUP; l++) last[l] = l < lacks ? start : v[l - lacks];              \
    } else {                                                                                       \
      for (int64_t l = 0; l < GROUP; l++) last[l] = l < lacks ? start : v[count - GROUP + l];      \
    }                                                                                              \
  }

NNC_DEFINE_GROUP(f32, float, int32_t)
NNC_DEFINE_GROUP(f64, double, int64_t)
NNC_DEFINE_LAST_GROUP(f32, float)
NNC_DEFINE_LAST_GROUP(f64, double)

/* Whether a lane is marked. */
NNC_INLINE bool nnc_is_any_f32(const nnc_group_bits_f32 *odd) {
  int32_t any = 0;
  for (int l = 0; l < NNC_GROUP_f32; l++) any |= (*odd)[l];
  return any != 0;
}
NNC_INLINE bool nnc_is_any_f64(const nnc_group_bits_f64 *odd) {
  int64_t any = 0;
  for (int l = 0; l < NNC_GROUP_f64; l++) any |= (*odd)[l];
  return any != 0;
}

/* The lanes of `a` from number `step` on, then the first again; and `a` joined by halves, until all lanes are in the
 * first. */
#if defined(__clang__)
#define NNC_TURNED(name, a, ...) __builtin_shufflevector(a, a, __VA_ARGS__)
#else
#define NNC_TURNED(name, a, ...) __builtin_shuffle(a, (nnc_group_bits_##name){__VA_ARGS__})
#endif
#define NNC_HALF(name, a, join, ...)                                                               \
  {                                                                                                \
    const nnc_group_##name b = NNC_TURNED(name, a, __VA_ARGS__);                                   \
    a = join;                                                                                      \
  }
#define NNC_HALVES_f64(a, join)                                                                    \
  NNC_HALF(f64, a, join, 4, 5, 6, 7, 0, 1, 2, 3)                                                   \
  NNC_HALF(f64, a, join, 2, 3, 4, 5, 6, 7, 0, 1)                                                   \
  NNC_HALF(f64, a, join, 1, 2, 3, 4, 5, 6, 7, 0)
#define NNC_HALVES_f32(a, join)                                                                    \
  NNC_HALF(f32, a, join, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7)                     \
  NNC_HALF(f32, a, join, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3)                     \
  NNC_HALF(f32, a, join, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1)                     \
  NNC_HALF(f32, a, join, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0)

/* `join` is of groups `a` and `b`; keeps_nan: it loses a NaN, so that the row marks lanes which have met one. They
 * are asked for at the end of the row: a choice in each block waits for its comparisons. */
#define NNC_DEFINE_REDUCTION(operation, name, type, start, join, keeps_nan)                              \
  typedef struct nnc_##operation##_##name##_lanes {                                                      \
    type lane[NNC_GROUP_##name] NNC_ALIGNED;                                                             \
    nnc_group_bits_##name odd;                                                                           \
  } nnc_##operation##_##name##_lanes;                                                                    \
  NNC_INLINE void nnc_##operation##_##name##_begin(nnc_##operation##_##name##_lanes *acc) {              \
    for (int l = 0; l < NNC_GROUP_##name; l++) acc->lane[l] = start;                                     \
    acc->odd = (nnc_group_bits_##name){0};                                                               \
  }                                                                                                      \
  /* What was found of values, and which lanes of it have met a NaN, to the lanes of the row. */         \
  NNC_INLINE void nnc_##operation##_##name##_add(nnc_##operation##_##name##_lanes *acc,                  \
                                                 const nnc_group_##name *found,                          \
                                                 const nnc_group_bits_##name *odd) {                     \
    const nnc_group_##name a = NNC_LOAD_GROUP(name, acc->lane), b = *found;                              \
    NNC_STORE_GROUP(name, acc->lane, join);                                                              \
    if (keeps_nan) acc->odd |= *odd;                                                                     \
  }                                                                                                      \
  NNC_INLINE void nnc_##operation##_##name##_few(nnc_##operation##_##name##_lanes *acc,                  \
                                                 const type *v, int64_t count, bool is_far) {            \
    enum { GROUP = NNC_GROUP_##name };                                                                   \
    const int64_t whole = count / GROUP * GROUP;                                                         \
    nnc_group_##name part[2];                                                                            \
    nnc_group_bits_##name odd = {0};                                                                     \
    part[0] = part[1] = NNC_FULL_GROUP(name, start);                                                     \
    int64_t i = 0;                                                                                       \
    for (; i + 2 * GROUP <= whole; i += 2 * GROUP) {                                                     \
      nnc_fetch(v + i, is_far);                                                                          \
      const nnc_group_##name first = NNC_LOAD_GROUP(name, v + i);                                        \
      nnc_fetch(v + i + GROUP, is_far);                                                                  \
      const nnc_group_##name second = NNC_LOAD_GROUP(name, v + i + GROUP);                               \
      if (keeps_nan) odd |= (first != first) | (second != second);                                       \
      {                                                                                                  \
        const nnc_group_##name a = part[0], b = first;                                                   \
        part[0] = join;                                                                                  \
      }                                                                                                  \
      {                                                                                                  \
        const nnc_group_##name a = part[1], b = second;                                                  \
        part[1] = join;                                                                                  \
      }                                                                                                  \
    }                                                                                                    \
    if (i < whole) {                                                                                     \
      nnc_fetch(v + i, is_far);                                                                          \
      const nnc_group_##name a = part[0], b = NNC_LOAD_GROUP(name, v + i);                               \
      if (keeps_nan) odd |= b != b;                                                                      \
      part[0] = join;                                                                                    \
    }                                                                                                    \
    if (whole < count) {                                                                                 \
      nnc_fetch(v + whole, is_far);                                                                      \
      type last[GROUP] NNC_ALIGNED;                                                                      \
      nnc_fill_last_##name(last, v, count, start);                                                       \
      const nnc_group_##name a = part[1], b = NNC_LOAD_GROUP(name, last);                                \
      if (keeps_nan) odd |= b != b;                                                                      \
      part[1] = join;                                                                                    \
    }                                                                                                    \
    const nnc_group_##name a = part[0], b = part[1];                                                     \
    part[0] = join;                                                                                      \
    nnc_##operation##_##name##_add(acc, part, &odd);                                                     \
  }                                                                                                      \
  NNC_INLINE void nnc_##operation##_##name##_some(nnc_##operation##_##name##_lanes *acc,                 \
                                                  const type *v, bool is_far) {                          \
    enum { GROUP = NNC_GROUP_##name, PAIRS = NNC_BLOCK / GROUP / 2 };                                    \
    nnc_group_##name part[PAIRS];                                                                        \
    nnc_group_bits_##name odd = {0};                                                                     \
    NNC_UNROLL for (int i = 0; i < PAIRS; i++) {                                                         \
      nnc_fetch(v + 2 * i * GROUP, is_far);                                                              \
      const nnc_group_##name a = NNC_LOAD_GROUP(name, v + 2 * i * GROUP);                                \
      nnc_fetch(v + (2 * i + 1) * GROUP, is_far);                                                        \
      const nnc_group_##name b = NNC_LOAD_GROUP(name, v + (2 * i + 1) * GROUP);                          \
      if (keeps_nan) odd |= (a != a) | (b != b);                                                         \
      part[i] = join;                                                                                    \
    }                                                                                                    \
    NNC_UNROLL for (int half = PAIRS / 2; half > 0; half /= 2) {                                         \
      NNC_UNROLL for (int i = 0; i < half; i++) {                                                        \
        const nnc_group_##name a = part[2 * i], b = part[2 * i + 1];                                     \
        part[i] = join;                                                                                  \
      }                                                                                                  \
    }                                                                                                    \
    nnc_##operation##_##name##_add(acc, part, &odd);                                                     \
  }                                                                                                      \
  /* Of a block or a rest in the caches; of one in memory, what lies ahead of it is fetched. */          \
  NNC_INLINE void nnc_##operation##_##name##_rest(nnc_##operation##_##name##_lanes *acc,                 \
                                                  const type *v, int64_t count) {                        \
    nnc_##operation##_##name##_few(acc, v, count, false);                                                \
  }                                                                                                      \
  NNC_INLINE void nnc_##operation##_##name##_far_rest(nnc_##operation##_##name##_lanes *acc,             \
                                                      const type *v, int64_t count) {                    \
    nnc_##operation##_##name##_few(acc, v, count, true);                                                 \
  }                                                                                                      \
  NNC_INLINE void nnc_##operation##_##name##_block(nnc_##operation##_##name##_lanes *acc,                \
                                                   const type *v) {                                      \
    nnc_##operation##_##name##_some(acc, v, false);                                                      \
  }                                                                                                      \
  NNC_INLINE void nnc_##operation##_##name##_far_block(nnc_##operation##_##name##_lanes *acc,            \
                                                       const type *v) {                                  \
    nnc_##operation##_##name##_some(acc, v, true);                                                       \
  }                                                                                                      \
  NNC_INLINE type nnc_##operation##_##name##_end(nnc_##operation##_##name##_lanes *acc) {                \
    nnc_group_##name a = NNC_LOAD_GROUP(name, acc->lane);                                                \
    NNC_HALVES_##name(a, join) NNC_STORE_GROUP(name, acc->lane, a);                                      \
    return keeps_nan && nnc_is_any_##name(&acc->odd) ? (type)NAN : acc->lane[0];                         \
  }                                                                                                      \
  /* A row in memory, near or far. Unrolled, loads and comparisons of several blocks would be gathered \
   * apart. */ \
  NNC_INLINE type nnc_##operation##_##name##_of_row(const type *v, int64_t count, bool is_far) {         \
    const int64_t whole = count / NNC_BLOCK * NNC_BLOCK;                                                 \
    nnc_##operation##_##name##_lanes acc;                                                                \
    nnc_##operation##_##name##_begin(&acc);                                                              \
    NNC_ROLLED for (int64_t first = 0; first < whole; first += NNC_BLOCK)                                \
        nnc_##operation##_##name##_some(&acc, v + first, is_far);                                        \
    if (whole < count) nnc_##operation##_##name##_few(&acc, v + whole, count - whole, is_far);           \
    return nnc_##operation##_##name##_end(&acc);                                                         \
  }                                                                                                      \
  NNC_INLINE type nnc_##operation##_##name##_row(const type *v, int64_t count) {                         \
    return nnc_##operation##_##name##_of_row(v, count, false);                                           \
  }                                                                                                      \
  NNC_INLINE type nnc_##operation##_##name##_far_row(const type *v, int64_t count) {                     \
    return nnc_##operation##_##name##_of_row(v, count, true);                                            \
  }

/* Whether a value is more (less) than `than`, or not a number while `than` is one. The first place of a value that is there: a
 * NaN is found by a NaN. */
#define NNC_DEFINE_SEARCH(name, type)                                                              \
  NNC_INLINE bool nnc_has_more_##name(const type *v, int64_t count, type than) {                   \
    int found = 0;                                                                                 \
    for (int64_t i = 0; i < count; i++) found |= !(v[i] <= than);                                  \
    return found && than == than;                                                                  \
  }                                                                                                \
  NNC_INLINE bool nnc_has_less_##name(const type *v, int64_t count, type than) {                   \
    int found = 0;                                                                                 \
    for (int64_t i = 0; i < count; i++) found |= !(v[i] >= than);                                  \
    return found && than == than;                                                                  \
  }                                                                                                \
  NNC_INLINE int32_t nnc_place_of_##name(const type *v, int64_t count, type value) {               \
    const bool is_nan = value != value;                                                            \
    int32_t place = INT32_MAX;                                                                     \
    for (int32_t i = 0; i < count; i++) {                                                          \
      const int32_t at = (v[i] == value) | (is_nan & (v[i] != v[i])) ? i : INT32_MAX;              \
      place = at < place ? at : place;                                                             \
    }                                                                                              \
    return place;                                                                                  \
  }

NNC_DEFINE_SEARCH(f32, float)
NNC_DEFINE_SEARCH(f64, double)

/* The first place of the greatest or least of a few values; a NaN is more than all, and less. */
#define NNC_DEFINE_PLACE(argument, name, type, start, sign)                                        \
  NNC_INLINE int32_t nnc_##argument##_##name(const type *v, int64_t count) {                       \
    type best = start;                                                                             \
    int32_t place = 0;                                                                             \
    for (int64_t i = 0; i < count; i++) {                                                          \
      const type a = v[i];                                                                         \
      const bool better = (a sign best) | ((a != a) & (best == best));                             \
      best = better ? a : best;                                                                    \
      place = better ? (int32_t)i : place;                                                         \
    }                                                                                              \
    return place;                                                                                  \
  }

NNC_DEFINE_PLACE(argmax, f32, float, -INFINITY, >)
NNC_DEFINE_PLACE(argmax, f64, double, -INFINITY, >)
NNC_DEFINE_PLACE(argmin, f32, float, INFINITY, <)
NNC_DEFINE_PLACE(argmin, f64, double, INFINITY, <)

#define NNC_DEFINE_REDUCTIONS(name, type, least, greatest)                                         \
  NNC_DEFINE_REDUCTION(sum, name, type, 0, a + b, false)                                           \
  NNC_DEFINE_REDUCTION(prod, name, type, 1, (a) * (b), false)                                      \
  NNC_DEFINE_REDUCTION(max, name, type, least, NNC_CHOOSE(name, a > b, a, b), true)                \
  NNC_DEFINE_REDUCTION(min, name, type, greatest, NNC_CHOOSE(name, a < b, a, b), true)

NNC_DEFINE_REDUCTIONS(f32, float, -INFINITY, INFINITY)
NNC_DEFINE_REDUCTIONS(f64, double, -INFINITY, INFINITY)

#endif
