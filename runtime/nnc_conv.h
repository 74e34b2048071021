/* The register tiles of generated convolutions.
 *
 * A plane of the input is copied into the worker's block with its padding (and, for a stride, split by
 * residue), so that the element under a tap of the window lies at a fixed offset from the output's place
 * in the same raster: rows of the copy are read as vectors with no test at the border. The columns that
 * the raster has beyond the output are computed and thrown away. */
#ifndef NNC_CONV_H
#define NNC_CONV_H

#include "nnc_gemm.h"
#include "nnc_ops.h"

typedef struct nnc_tap {
  int32_t weight;  /* element of the channel's kernel */
  int32_t offset;  /* in the raster */
} nnc_tap;

/* tile[r, p] = sum over channels and taps of w[r, channel, tap] * x[channel, p + offset of tap] */
#define NNC_DEFINE_CONV_TILE(name, type)                                                           \
  NNC_INLINE void nnc_conv_tile_##name(const int rows, const int vectors, int64_t channels,        \
                                       const nnc_tap *taps, int64_t tap_count, const type *w,      \
                                       int64_t w_row, int64_t w_channel, const type *x,            \
                                       int64_t x_channel, type *tile, int64_t tile_row) {          \
    enum { lanes = NNC_LANES_##name };                                                             \
    nnc_vec_##name sum[NNC_TILE_ROWS][NNC_TILE_VECTORS];                                           \
    NNC_UNROLL for (int r = 0; r < rows; r++)                                                      \
      NNC_UNROLL for (int v = 0; v < vectors; v++) sum[r][v] = (nnc_vec_##name){0};                \
    for (int64_t c = 0; c < channels; c++) {                                                       \
      for (int64_t t = 0; t < tap_count; t++) {                                                    \
        const type *const a = w + taps[t].weight, *const b = x + taps[t].offset;                   \
        nnc_vec_##name row[NNC_TILE_VECTORS];                                                      \
        NNC_UNROLL for (int v = 0; v < vectors; v++) row[v] = nnc_load_##name(b + v * lanes);      \
        NNC_UNROLL for (int r = 0; r < rows; r++) {                                                \
          const nnc_vec_##name y = nnc_splat_##name(a[r * w_row]);                                 \
          NNC_UNROLL for (int v = 0; v < vectors; v++) sum[r][v] += y * row[v];                    \
        }                                                                                          \
      }                                                                                            \
      w += w_channel;                                                                              \
      x += x_channel;                                                                              \
    }                                                                                              \
    NNC_UNROLL for (int r = 0; r < rows; r++)                                                      \
      NNC_UNROLL for (int v = 0; v < vectors; v++)                                                 \
        nnc_store_##name(tile + r * tile_row + v * lanes, sum[r][v]);                              \
  }

NNC_DEFINE_CONV_TILE(f32, float)
NNC_DEFINE_CONV_TILE(f64, double)
NNC_DEFINE_CONV_TILE(i32, int32_t)
NNC_DEFINE_CONV_TILE(i64, int64_t)

#define NNC_CONV_TILE_OF_ROWS(name, rows, vectors, ...)                                            \
  do {                                                                                             \
    if ((vectors) >= NNC_TILE_VECTORS) nnc_conv_tile_##name(rows, NNC_TILE_VECTORS, __VA_ARGS__);  \
    else if (NNC_TILE_VECTORS > 2 && (vectors) == 2) nnc_conv_tile_##name(rows, 2, __VA_ARGS__);   \
    else nnc_conv_tile_##name(rows, 1, __VA_ARGS__);                                               \
  } while (0)
/* `odd` is the number of rows of a last, smaller tile; 0 when there is none. */
#define NNC_CONV_TILE(name, rows, vectors, odd, ...)                                               \
  do {                                                                                             \
    if ((rows) == NNC_TILE_ROWS)                                                                   \
      NNC_CONV_TILE_OF_ROWS(name, NNC_TILE_ROWS, vectors, __VA_ARGS__);                            \
    else if (odd)                                                                                  \
      NNC_CONV_TILE_OF_ROWS(name, (odd), vectors, __VA_ARGS__);                                    \
  } while (0)

/* Vector sums of products along the raster: sums[r * sums_row + j] += w[r, p] * x[p + offset j]. */
enum { NNC_DOT_ROWS = NNC_PICK(4, 3, 3), NNC_DOT_TAPS = NNC_PICK(6, 4, 4) };

#define NNC_DEFINE_CONV_DOT(name, type)                                                            \
  NNC_INLINE void nnc_conv_dot_##name(const int rows, const int taps, int64_t length,              \
                                      const type *dy, int64_t dy_row, const type *const *x,        \
                                      nnc_mem_##name *sums, int64_t sums_row) {                    \
    enum { lanes = NNC_LANES_##name };                                                             \
    nnc_vec_##name sum[NNC_DOT_ROWS][NNC_DOT_TAPS];                                                \
    NNC_UNROLL for (int r = 0; r < rows; r++)                                                      \
      NNC_UNROLL for (int t = 0; t < taps; t++) sum[r][t] = (nnc_vec_##name)sums[r * sums_row + t];\
    for (int64_t p = 0; p < length; p += lanes) {                                                  \
      nnc_vec_##name row[NNC_DOT_ROWS];                                                            \
      NNC_UNROLL for (int r = 0; r < rows; r++) row[r] = nnc_load_##name(dy + r * dy_row + p);     \
      NNC_UNROLL for (int t = 0; t < taps; t++) {                                                  \
        const nnc_vec_##name y = nnc_load_##name(x[t] + p);                                        \
        NNC_UNROLL for (int r = 0; r < rows; r++) sum[r][t] += y * row[r];                         \
      }                                                                                            \
    }                                                                                              \
    NNC_UNROLL for (int r = 0; r < rows; r++)                                                      \
      NNC_UNROLL for (int t = 0; t < taps; t++) sums[r * sums_row + t] = (nnc_mem_##name)sum[r][t];\
  }                                                                                                \
  /* Any number of rows and taps up to the tile's: whole tiles, else one by one. */                \
  NNC_INLINE void nnc_conv_dots_##name(int64_t rows, int64_t taps, int64_t length, const type *dy, \
                                       int64_t dy_row, const type *const *x, nnc_mem_##name *sums, \
                                       int64_t sums_row) {                                         \
    if (rows == NNC_DOT_ROWS && taps == NNC_DOT_TAPS) {                                            \
      nnc_conv_dot_##name(NNC_DOT_ROWS, NNC_DOT_TAPS, length, dy, dy_row, x, sums, sums_row);      \
      return;                                                                                      \
    }                                                                                              \
    if (rows == NNC_DOT_ROWS) {                                                                    \
      for (int64_t t = 0; t < taps; t++)                                                           \
        nnc_conv_dot_##name(NNC_DOT_ROWS, 1, length, dy, dy_row, x + t, sums + t, sums_row);       \
      return;                                                                                      \
    }                                                                                              \
    for (int64_t r = 0; r < rows; r++) {                                                           \
      if (taps == NNC_DOT_TAPS) {                                                                  \
        nnc_conv_dot_##name(1, NNC_DOT_TAPS, length, dy + r * dy_row, dy_row, x,                   \
                            sums + r * sums_row, sums_row);                                        \
        continue;                                                                                  \
      }                                                                                            \
      for (int64_t t = 0; t < taps; t++)                                                           \
        nnc_conv_dot_##name(1, 1, length, dy + r * dy_row, dy_row, x + t,                          \
                            sums + r * sums_row + t, sums_row);                                    \
    }                                                                                              \
  }                                                                                                \
  NNC_INLINE type nnc_lane_sum_##name(const nnc_mem_##name *sums) {                                \
    type lane[NNC_LANES_##name];                                                                   \
    memcpy(lane, sums, sizeof lane);                                                               \
    for (int step = NNC_LANES_##name / 2; step > 0; step /= 2)                                     \
      for (int l = 0; l < step; l++) lane[l] += lane[l + step];                                    \
    return lane[0];                                                                                \
  }

NNC_DEFINE_CONV_DOT(f32, float)
NNC_DEFINE_CONV_DOT(f64, double)
NNC_DEFINE_CONV_DOT(i32, int32_t)
NNC_DEFINE_CONV_DOT(i64, int64_t)

/* to[i] = from[step * i + shift] for i < count, 0 where that is outside of [0, extent); nothing is read
 * when `from` is NULL. */
#define NNC_DEFINE_SPREAD(name, type, from_type, convert)                                          \
  NNC_INLINE void nnc_spread_##name(type *restrict to, int64_t count, const from_type *from,       \
                                    int64_t step, int64_t shift, int64_t extent) {                 \
    int64_t first = shift < 0 ? (step - 1 - shift) / step : 0;                                     \
    int64_t end = extent > shift ? (extent - shift + step - 1) / step : 0;                         \
    end = from == NULL ? 0 : nnc_least(end, count);                                                \
    first = nnc_least(first, count);                                                               \
    for (int64_t i = 0; i < first; i++) to[i] = 0;                                                 \
    if (step == 1)                                                                                 \
      for (int64_t i = first; i < end; i++) to[i] = convert(from[i + shift]);                      \
    else                                                                                           \
      for (int64_t i = first; i < end; i++) to[i] = convert(from[step * i + shift]);               \
    for (int64_t i = nnc_greatest(first, end); i < count; i++) to[i] = 0;                          \
  }

NNC_DEFINE_SPREAD(f32_f32, float, float, )
NNC_DEFINE_SPREAD(f32_bf16, float, uint16_t, nnc_from_bf16)
NNC_DEFINE_SPREAD(f32_f16, float, uint16_t, nnc_from_f16)
NNC_DEFINE_SPREAD(f64_f64, double, double, )
NNC_DEFINE_SPREAD(f64_f32, double, float, )
NNC_DEFINE_SPREAD(i32_i32, int32_t, int32_t, )
NNC_DEFINE_SPREAD(i64_i64, int64_t, int64_t, )

#endif
