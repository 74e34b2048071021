/* All that generated kernels of CUDA use: see nnc_cuda_machine.h for the rules that they keep. */
#ifndef NNC_CUDA_H
#define NNC_CUDA_H

#include "nnc_cuda_gather.h"
#include "nnc_cuda_tile.h"
#include "nnc_cuda_wgmma.h"
#include "nnc_half.h"
#include "nnc_ops.h"
#include "nnc_random.h"

/* What the kernels of one run are told, in device memory: nnc_cuda_state of nnc_cuda_program.h. */
typedef struct nnc_state {
  uint64_t seed, step, example;
  uint64_t outside;
  int64_t outside_index;
  uint64_t lock, unused[2];
} nnc_state;

/* The table of a merged kernel: addresses and keys of its parts. */
template <int COUNT> struct nnc_words { uint64_t at[COUNT]; };

/* The number of this thread in a grid of blocks of so many threads. */
#define NNC_POINT(threads) (NNC_BLOCK * (threads) + NNC_THREAD)

/* ---- reductions by the lanes of a warp, and by all threads of a block ----
 *
 * Every thread gets the result, from a fixed tree. In a block the warps' results meet in memory of the
 * block, of one element a warp. */

#define NNC_DEFINE_JOIN(operation, name, type, join)                                               \
  NNC_DEVICE type nnc_warp_##operation##_##name(type a) {                                          \
    NNC_UNROLL for (int mask = 16; mask > 0; mask /= 2) {                                          \
      const type b = nnc_shuffle_xor_##name(a, mask);                                              \
      a = join;                                                                                    \
    }                                                                                              \
    return a;                                                                                      \
  }                                                                                                \
  NNC_DEVICE type nnc_block_##operation##_##name(type value, type *memory, int warps) {            \
    value = nnc_warp_##operation##_##name(value);                                                  \
    nnc_sync(); /* what an earlier reduction left has been read */                                 \
    if (NNC_THREAD % 32 == 0) memory[NNC_THREAD / 32] = value;                                     \
    nnc_sync();                                                                                    \
    type a = memory[0];                                                                            \
    for (int w = 1; w < warps; w++) {                                                              \
      const type b = memory[w];                                                                    \
      a = join;                                                                                    \
    }                                                                                              \
    return a;                                                                                      \
  }

#define NNC_DEFINE_JOINS(name, type)                                                               \
  NNC_DEFINE_JOIN(sum, name, type, (type)(a + b))                                                  \
  NNC_DEFINE_JOIN(prod, name, type, (type)(a * b))                                                 \
  NNC_DEFINE_JOIN(max, name, type, nnc_max_##name(a, b))                                           \
  NNC_DEFINE_JOIN(min, name, type, nnc_min_##name(a, b))

NNC_DEFINE_JOINS(f32, float)
NNC_DEFINE_JOINS(f64, double)
NNC_DEFINE_JOINS(i32, int32_t)
NNC_DEFINE_JOINS(i64, int64_t)

/* ---- searches: the best value and its place; of equal ones the first, NaN before all others ---- */

#define NNC_DEFINE_SEARCH(name, type)                                                              \
  NNC_DEVICE bool nnc_is_more_##name(type a, type b) { return (a > b) | ((a != a) & (b == b)); }   \
  NNC_DEVICE bool nnc_is_less_##name(type a, type b) { return (a < b) | ((a != a) & (b == b)); }
NNC_DEFINE_SEARCH(f32, float)
NNC_DEFINE_SEARCH(f64, double)
NNC_DEFINE_SEARCH(i32, int32_t)
NNC_DEFINE_SEARCH(i64, int64_t)

/* place < 0: there is no value yet. */
#define NNC_DEFINE_SEARCH_JOIN(operation, sign, name, type)                                        \
  NNC_DEVICE void nnc_join_##operation##_##name(type *best, int32_t *place, type value,            \
                                                int32_t where) {                                   \
    const bool is_better = nnc_is_##sign##_##name(value, *best);                                   \
    const bool is_worse = nnc_is_##sign##_##name(*best, value);                                    \
    const bool takes = where >= 0 && (*place < 0 || is_better || (!is_worse && where < *place));   \
    *best = takes ? value : *best;                                                                 \
    *place = takes ? where : *place;                                                               \
  }                                                                                                \
  NNC_DEVICE int32_t nnc_warp_##operation##_##name(type best, int32_t place) {                     \
    NNC_UNROLL for (int mask = 16; mask > 0; mask /= 2) {                                          \
      const type value = nnc_shuffle_xor_##name(best, mask);                                       \
      const int32_t where = nnc_shuffle_xor_i32(place, mask);                                      \
      nnc_join_##operation##_##name(&best, &place, value, where);                                  \
    }                                                                                              \
    return place;                                                                                  \
  }                                                                                                \
  NNC_DEVICE int32_t nnc_block_##operation##_##name(type best, int32_t place, type *values,        \
                                                    int32_t *places, int warps) {                  \
    const int32_t first = nnc_warp_##operation##_##name(best, place);                              \
    nnc_sync();                                                                                    \
    if (first >= 0 && first == place) values[NNC_THREAD / 32] = best;                              \
    if (NNC_THREAD % 32 == 0) places[NNC_THREAD / 32] = first;                                     \
    nnc_sync();                                                                                    \
    best = values[0];                                                                              \
    place = places[0];                                                                             \
    for (int w = 1; w < warps; w++)                                                                \
      nnc_join_##operation##_##name(&best, &place, values[w], places[w]);                          \
    return place;                                                                                  \
  }

#define NNC_DEFINE_SEARCHES(name, type)                                                            \
  NNC_DEFINE_SEARCH_JOIN(argmax, more, name, type)                                                 \
  NNC_DEFINE_SEARCH_JOIN(argmin, less, name, type)

NNC_DEFINE_SEARCHES(f32, float)
NNC_DEFINE_SEARCHES(f64, double)
NNC_DEFINE_SEARCHES(i32, int32_t)
NNC_DEFINE_SEARCHES(i64, int64_t)

/* Whether element i goes before element j in the order of their values; equal ones in their order, NaN
 * as the greatest; `is_descending`: the greatest first. */
#define NNC_DEFINE_ORDER(name, type)                                                               \
  NNC_DEVICE bool nnc_goes_before_##name(type a, int64_t i, type b, int64_t j,                     \
                                         bool is_descending) {                                     \
    const bool is_less = (a < b) | ((a == a) & (b != b));                                          \
    const bool is_more = (a > b) | ((a != a) & (b == b));                                          \
    const bool is_first = is_descending ? is_more : is_less;                                       \
    const bool is_last = is_descending ? is_less : is_more;                                        \
    return is_first | (!is_last & (i < j));                                                        \
  }
NNC_DEFINE_ORDER(f32, float)
NNC_DEFINE_ORDER(f64, double)
NNC_DEFINE_ORDER(i32, int32_t)
NNC_DEFINE_ORDER(i64, int64_t)

/* An unsigned number of the same order: of a float the bits, with those of negative numbers complemented and
 * the sign of the others set; NaN is the greatest, both zeros are one. */
NNC_DEVICE uint32_t nnc_key_f32(float x) {
  const uint32_t bits = nnc_f32_bits(x == 0 ? 0.0f : x);
  return x != x ? UINT32_MAX : bits ^ (bits >> 31 ? UINT32_MAX : (uint32_t)1 << 31);
}
NNC_DEVICE uint32_t nnc_key_i32(int32_t x) { return (uint32_t)x ^ (uint32_t)1 << 31; }

/* ---- --check-indices ---- */

/* The index as it is. One outside of [0, extent) is noted: the first element of the first place. The
 * lock is taken by threads that have met a mistake alone. */
NNC_DEVICE int64_t nnc_check_index(nnc_state *state, int64_t index, int64_t number, int64_t extent,
                                   int64_t place) {
  const uint64_t found = (uint64_t)place << 40 | (uint64_t)number;
  if (nnc_within(index, extent)) return index;
  for (bool is_done = false; !is_done;) {
    if (nnc_exchange(&state->lock, 1) != 0) continue;
    if (found < *(volatile uint64_t *)&state->outside) {
      *(volatile uint64_t *)&state->outside = found;
      *(volatile int64_t *)&state->outside_index = index;
    }
    nnc_exchange(&state->lock, 0);
    is_done = true;
  }
  return index;
}
#define nnc_check_index_i64(index, number, extent, place)                                          \
  nnc_check_index(state, index, number, extent, place)
#define nnc_check_index_i32(index, number, extent, place)                                          \
  (int32_t) nnc_check_index(state, index, number, extent, place)
#define nnc_check_index_u8(index, number, extent, place)                                           \
  (uint8_t) nnc_check_index(state, index, number, extent, place)

#endif
