/* Sums over the lanes of vectors. */
#ifndef NNC_LANE_SUMS_H
#define NNC_LANE_SUMS_H

#include <string.h>

#include "nnc_vector.h"

/* The sum over the lanes: of the halves' sum, of its halves' sum, and so on. */
#define NNC_DEFINE_LANE_SUM(name, type)                                                            \
  NNC_INLINE type nnc_lane_sum_##name(const nnc_mem_##name *sums) {                                \
    type lane[NNC_LANES_##name];                                                                   \
    memcpy(lane, sums, sizeof lane);                                                               \
    NNC_UNROLL for (int step = NNC_LANES_##name / 2; step > 0; step /= 2)                          \
        NNC_UNROLL for (int l = 0; l < step; l++) lane[l] += lane[l + step];                       \
    return lane[0];                                                                                \
  }

NNC_DEFINE_LANE_SUM(f32, float)
NNC_DEFINE_LANE_SUM(f64, double)
NNC_DEFINE_LANE_SUM(i32, int32_t)
NNC_DEFINE_LANE_SUM(i64, int64_t)

/* to[r * to_row] = the sum over the lanes of sum[r * sum_row], for up to four rows. */
#define NNC_DEFINE_LANE_SUMS(name, type)                                                           \
  NNC_INLINE void nnc_lane_sums_##name(const int rows, const nnc_vec_##name *sum,                  \
                                       const int sum_row, type *to, int64_t to_row) {              \
    NNC_UNROLL for (int r = 0; r < rows; r++) {                                                    \
      const nnc_mem_##name lanes = (nnc_mem_##name)sum[r * sum_row];                               \
      to[r * to_row] = nnc_lane_sum_##name(&lanes);                                                \
    }                                                                                              \
  }

#if NNC_VECTOR_BYTES == 64
/* Four rows of 16 lanes at a time, by the same sums: halves of two rows make a vector of both, then
 * quarters of four rows one of all. */
#if defined(__clang__)
#define NNC_CHOOSE_16(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define NNC_CHOOSE_16(x, y, ...) __builtin_shuffle(x, y, (nnc_vec_i32){__VA_ARGS__})
#endif
NNC_INLINE nnc_vec_f32 nnc_halves_f32(nnc_vec_f32 x, nnc_vec_f32 y) {
  return NNC_CHOOSE_16(x, y, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
         NNC_CHOOSE_16(x, y, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
}
NNC_INLINE nnc_vec_f32 nnc_quarters_f32(nnc_vec_f32 x, nnc_vec_f32 y) {
  return NNC_CHOOSE_16(x, y, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
         NNC_CHOOSE_16(x, y, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
}
NNC_INLINE void nnc_lane_sums_f32(const int rows, const nnc_vec_f32 *sum, const int sum_row,
                                  float *to, int64_t to_row) {
  const int second = rows > 1 ? sum_row : 0, third = rows > 2 ? 2 * sum_row : 0;
  const int fourth = rows > 3 ? 3 * sum_row : 0;
  nnc_vec_f32 x = nnc_quarters_f32(nnc_halves_f32(sum[0], sum[second]),
                                   nnc_halves_f32(sum[third], sum[fourth]));
  x += NNC_CHOOSE_16(x, x, 2, 3, 2, 3, 6, 7, 6, 7, 10, 11, 10, 11, 14, 15, 14, 15);
  x += NNC_CHOOSE_16(x, x, 1, 1, 1, 1, 5, 5, 5, 5, 9, 9, 9, 9, 13, 13, 13, 13);
  NNC_UNROLL for (int r = 0; r < rows; r++) to[r * to_row] = x[4 * r];
}
#else
NNC_DEFINE_LANE_SUMS(f32, float)
#endif
NNC_DEFINE_LANE_SUMS(f64, double)
NNC_DEFINE_LANE_SUMS(i32, int32_t)
NNC_DEFINE_LANE_SUMS(i64, int64_t)

#endif
