/* Sums, products and extrema of floats: fixed lanes, joined in a fixed tree.
 *
 * A reduction over a row takes its values from `v` in memory. A whole block of NNC_BLOCK is joined by
 * halves, so that little of it waits for the block before; the rest of a row goes group by group, the
 * last one filled up with the reduction's identity. Extrema of a block are taken as if it had no NaN;
 * should it have one, it goes the way of a rest. */
#ifndef NNC_LANES_H
#define NNC_LANES_H

#include "nnc_block.h"
#include "nnc_ops.h"

enum { NNC_GROUP_f32 = 16, NNC_GROUP_f64 = 8, NNC_GROUP_i32 = 16, NNC_GROUP_i64 = 8 };

/* nnc_group_f32: a group of lanes, in one register or several: no argument of a function, which might be
 * called by another convention elsewhere. NNC_CHOOSE: a where the mask is set, else b. */
#define NNC_LOAD_GROUP(name, v) ((nnc_group_##name) * (const nnc_group_mem_##name *)(v))
#define NNC_STORE_GROUP(name, v, x) (*(nnc_group_mem_##name *)(v) = (nnc_group_mem_##name)(x))
#define NNC_CHOOSE(name, mask, a, b)                                                               \
  (nnc_group_##name)(((mask) & (nnc_group_bits_##name)(a)) | (~(mask) & (nnc_group_bits_##name)(b)))

#define NNC_DEFINE_GROUP(name, type, bits)                                                         \
  typedef type nnc_group_##name __attribute__((vector_size(64)));                                  \
  typedef bits nnc_group_bits_##name __attribute__((vector_size(64)));                             \
  typedef type nnc_group_mem_##name                                                                \
      __attribute__((vector_size(64), aligned(sizeof(type)), may_alias));                          \
  NNC_INLINE bool nnc_has_nan_##name(const type *v) {                                              \
    int found = 0;                                                                                 \
    for (int i = 0; i < NNC_BLOCK / 2; i++)                                                        \
      found |= __builtin_isunordered(v[i], v[i + NNC_BLOCK / 2]);                                  \
    return found;                                                                                  \
  }

/* The block itself; the one that follows in so many bytes is fetched, earlier than the processor would
 * by itself. */
enum { NNC_AHEAD = 4096 };
#define NNC_DEFINE_AHEAD(name, type)                                                               \
  NNC_INLINE const type *nnc_ahead_##name(const type *v) {                                         \
    for (uintptr_t at = 0; at < NNC_BLOCK * sizeof(type); at += 64)                                \
      __builtin_prefetch((const void *)((uintptr_t)v + NNC_AHEAD + at));                           \
    return v;                                                                                      \
  }

NNC_DEFINE_AHEAD(f32, float)
NNC_DEFINE_AHEAD(f64, double)
NNC_DEFINE_GROUP(f32, float, int32_t)
NNC_DEFINE_GROUP(f64, double, int64_t)

/* `join` and `quick` are of groups, `join_one` of single values; has_odd: whether a block is none
 * for `quick`. */
#define NNC_DEFINE_REDUCTION(operation, name, type, start, join_one, join, quick, has_odd)         \
  typedef struct nnc_##operation##_##name##_lanes {                                                \
    type lane[NNC_GROUP_##name] NNC_ALIGNED;                                                       \
  } nnc_##operation##_##name##_lanes;                                                              \
  NNC_INLINE void nnc_##operation##_##name##_begin(nnc_##operation##_##name##_lanes *acc) {        \
    for (int l = 0; l < NNC_GROUP_##name; l++) acc->lane[l] = start;                               \
  }                                                                                                \
  NNC_INLINE void nnc_##operation##_##name##_rest(nnc_##operation##_##name##_lanes *acc,           \
                                                  const type *v, int64_t count) {                  \
    enum { GROUP = NNC_GROUP_##name };                                                             \
    const int64_t whole = count / GROUP * GROUP;                                                   \
    nnc_group_##name a = NNC_LOAD_GROUP(name, acc->lane);                                          \
    for (int64_t i = 0; i < whole; i += GROUP) {                                                   \
      const nnc_group_##name b = NNC_LOAD_GROUP(name, v + i);                                      \
      a = join;                                                                                    \
    }                                                                                              \
    if (whole < count) {                                                                           \
      type last[GROUP] NNC_ALIGNED;                                                                \
      for (int l = 0; l < GROUP; l++) last[l] = start;                                             \
      for (int64_t l = 0; l < count - whole; l++) last[l] = v[whole + l];                          \
      const nnc_group_##name b = NNC_LOAD_GROUP(name, last);                                       \
      a = join;                                                                                    \
    }                                                                                              \
    NNC_STORE_GROUP(name, acc->lane, a);                                                           \
  }                                                                                                \
  NNC_INLINE void nnc_##operation##_##name##_block(nnc_##operation##_##name##_lanes *acc,          \
                                                   const type *v) {                                \
    enum { GROUP = NNC_GROUP_##name, HALF = NNC_BLOCK / GROUP / 2 };                               \
    if (has_odd) {                                                                                 \
      nnc_##operation##_##name##_rest(acc, v, NNC_BLOCK);                                          \
      return;                                                                                      \
    }                                                                                              \
    nnc_group_##name part[HALF];                                                                   \
    NNC_UNROLL for (int i = 0; i < HALF; i++) {                                                    \
      const nnc_group_##name a = NNC_LOAD_GROUP(name, v + i * GROUP);                              \
      const nnc_group_##name b = NNC_LOAD_GROUP(name, v + (i + HALF) * GROUP);                     \
      part[i] = quick;                                                                             \
    }                                                                                              \
    NNC_UNROLL for (int half = HALF / 2; half > 0; half /= 2) {                                    \
      NNC_UNROLL for (int i = 0; i < half; i++) {                                                  \
        const nnc_group_##name a = part[i], b = part[i + half];                                    \
        part[i] = quick;                                                                           \
      }                                                                                            \
    }                                                                                              \
    const nnc_group_##name a = NNC_LOAD_GROUP(name, acc->lane), b = part[0];                       \
    NNC_STORE_GROUP(name, acc->lane, join);                                                        \
  }                                                                                                \
  NNC_INLINE type nnc_##operation##_##name##_end(nnc_##operation##_##name##_lanes *acc) {          \
    for (int step = NNC_GROUP_##name / 2; step > 0; step /= 2)                                     \
      for (int l = 0; l < step; l++) {                                                             \
        const type a = acc->lane[l], b = acc->lane[l + step];                                      \
        acc->lane[l] = join_one;                                                                   \
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
  NNC_DEFINE_REDUCTION(sum, name, type, 0, a + b, a + b, a + b, false)                             \
  NNC_DEFINE_REDUCTION(prod, name, type, 1, (a) * (b), (a) * (b), (a) * (b), false)                \
  NNC_DEFINE_REDUCTION(max, name, type, least, nnc_max_##name(a, b),                               \
                       NNC_CHOOSE(name, (a > b) | (a != a), a, b), NNC_CHOOSE(name, a > b, a, b),  \
                       nnc_has_nan_##name(v))                                                      \
  NNC_DEFINE_REDUCTION(min, name, type, greatest, nnc_min_##name(a, b),                            \
                       NNC_CHOOSE(name, (a < b) | (a != a), a, b), NNC_CHOOSE(name, a < b, a, b),  \
                       nnc_has_nan_##name(v))

NNC_DEFINE_REDUCTIONS(f32, float, -INFINITY, INFINITY)
NNC_DEFINE_REDUCTIONS(f64, double, -INFINITY, INFINITY)

#endif
