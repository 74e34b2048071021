/* Sums, products and extrema of floats: fixed lanes, joined in a fixed tree.
 *
 * A reduction over a row runs in blocks of NNC_BLOCK values that the kernel has written to `v`, padded
 * to whole lane groups with the reduction's identity. */
#ifndef NNC_LANES_H
#define NNC_LANES_H

#include "nnc_block.h"
#include "nnc_ops.h"

enum { NNC_GROUP_f32 = 16, NNC_GROUP_f64 = 8, NNC_GROUP_i32 = 16, NNC_GROUP_i64 = 8 };

NNC_INLINE int64_t nnc_round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

#define NNC_DEFINE_REDUCTION(operation, name, type, start, join)                                   \
  typedef struct nnc_##operation##_##name##_lanes {                                                \
    type lane[NNC_GROUP_##name];                                                                   \
  } nnc_##operation##_##name##_lanes;                                                              \
  NNC_INLINE void nnc_##operation##_##name##_begin(nnc_##operation##_##name##_lanes *acc) {        \
    for (int l = 0; l < NNC_GROUP_##name; l++) acc->lane[l] = start;                               \
  }                                                                                                \
  NNC_INLINE void nnc_##operation##_##name##_block(nnc_##operation##_##name##_lanes *acc, type *v, \
                                                   int64_t count) {                                \
    int64_t whole = nnc_round_up(count, NNC_GROUP_##name);                                         \
    for (int64_t i = count; i < whole; i++) v[i] = start;                                          \
    type lane[NNC_GROUP_##name];                                                                   \
    for (int l = 0; l < NNC_GROUP_##name; l++) lane[l] = acc->lane[l];                             \
    for (int64_t i = 0; i < whole; i += NNC_GROUP_##name)                                          \
      for (int l = 0; l < NNC_GROUP_##name; l++) {                                                 \
        const type a = lane[l], b = v[i + l];                                                      \
        lane[l] = join;                                                                            \
      }                                                                                            \
    for (int l = 0; l < NNC_GROUP_##name; l++) acc->lane[l] = lane[l];                             \
  }                                                                                                \
  NNC_INLINE type nnc_##operation##_##name##_end(nnc_##operation##_##name##_lanes *acc) {          \
    for (int step = NNC_GROUP_##name / 2; step > 0; step /= 2)                                     \
      for (int l = 0; l < step; l++) {                                                             \
        const type a = acc->lane[l], b = acc->lane[l + step];                                      \
        acc->lane[l] = join;                                                                       \
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
  NNC_DEFINE_REDUCTION(sum, name, type, 0, (type)(a + b))                                          \
  NNC_DEFINE_REDUCTION(prod, name, type, 1, (type)(a * b))                                         \
  NNC_DEFINE_REDUCTION(max, name, type, least, nnc_max_##name(a, b))                               \
  NNC_DEFINE_REDUCTION(min, name, type, greatest, nnc_min_##name(a, b))

NNC_DEFINE_REDUCTIONS(f32, float, -INFINITY, INFINITY)
NNC_DEFINE_REDUCTIONS(f64, double, -INFINITY, INFINITY)

#endif
