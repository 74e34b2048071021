/* The register tiles of generated convolutions.
 *
 * A plane of the input is copied into the worker's block with its padding (and, for a stride, split by
 * residue), so that the element under a tap of the window lies at a fixed offset from the output's place
 * in the same raster: rows of the copy are read as vectors with no test at the border. Zeros that end a row
 * also begin the next one. The columns that the raster has beyond the output are computed and thrown away. */
#ifndef NNC_CONV_H
#define NNC_CONV_H

#include "nnc_gemm.h"
#include "nnc_half.h"
#include "nnc_lane_sums.h"
#include "nnc_ops.h"

typedef struct nnc_tap {
  int32_t weight; /* element of the channel's kernel */
  int32_t offset; /* in the raster */
} nnc_tap;

/* tile[r, p] = sum over channels and taps of w[r, channel, tap] * x[channel, p + offset of tap]: functions
 * nnc_conv_tile_f32_8_3 and so on, as in nnc_gemm.h. */
#define NNC_DEFINE_CONV_TILE(name, type)                                                           \
  typedef void nnc_conv_tile_of_##name(                                                            \
      int64_t channels, const nnc_tap *taps, int64_t tap_count, const type *w, int64_t w_row,      \
      int64_t w_channel, const type *x, int64_t x_channel, type *tile, int64_t tile_row);          \
  NNC_INLINE void nnc_conv_tile_##name(const int rows, const int vectors, int64_t channels,        \
                                       const nnc_tap *taps, int64_t tap_count, const type *w,      \
                                       int64_t w_row, int64_t w_channel, const type *x,            \
                                       int64_t x_channel, type *tile, int64_t tile_row) {          \
    enum { lanes = NNC_LANES_##name };                                                             \
    nnc_vec_##name sum[NNC_TILE_ROWS][NNC_TILE_VECTORS];                                           \
    NNC_UNROLL for (int r = 0; r < rows; r++) NNC_UNROLL for (int v = 0; v < vectors; v++)         \
        sum[r][v] = (nnc_vec_##name){0};                                                           \
    const type                                                                                     \
        *third[(NNC_TILE_ROWS + 2) / 3]; /* every third row: the two after it by addressing */     \
    NNC_UNROLL for (int r = 0; r < rows; r += 3) {                                                 \
      third[r / 3] = w + r * w_row;                                                                \
      NNC_OPAQUE(third[r / 3]);                                                                    \
    }                                                                                              \
    const int64_t most = nnc_greatest(NNC_TILE_CHAIN / nnc_greatest(tap_count, 1), 1);             \
    for (int64_t c = 0;;) {                                                                        \
      const bool begins = c == 0;                                                                  \
      const int64_t chain = nnc_least(channels, c + most);                                         \
      for (; c < chain; c++) {                                                                     \
        NNC_ROLLED for (int64_t t = 0; t < tap_count; t++) {                                       \
          const int64_t at = taps[t].weight;                                                       \
          const type *const b = x + taps[t].offset;                                                \
          nnc_vec_##name row[NNC_TILE_VECTORS];                                                    \
          NNC_UNROLL for (int v = 0; v < vectors; v++) row[v] = nnc_load_##name(b + v * lanes);    \
          NNC_UNROLL for (int r = 0; r < rows; r++) {                                              \
            const nnc_vec_##name y = nnc_splat_##name((third[r / 3] + at)[r % 3 * w_row]);         \
            NNC_UNROLL for (int v = 0; v < vectors; v++) sum[r][v] += y * row[v];                  \
          }                                                                                        \
        }                                                                                          \
        NNC_UNROLL for (int r = 0; r < rows; r += 3) third[r / 3] += w_channel;                    \
        x += x_channel;                                                                            \
      }                                                                                            \
      NNC_UNROLL for (int r = 0; r < rows; r++) NNC_UNROLL for (int v = 0; v < vectors; v++) {     \
        type *const place = tile + r * tile_row + v * lanes;                                       \
        nnc_store_##name(place, begins ? sum[r][v] : sum[r][v] + nnc_load_##name(place));          \
        sum[r][v] = (nnc_vec_##name){0};                                                           \
      }                                                                                            \
      if (c >= channels) break;                                                                    \
    }                                                                                              \
  }                                                                                                \
  NNC_EACH_TILE_SIZE(NNC_DEFINE_CONV_TILE_FUNCTION, name, type)

#define NNC_DEFINE_CONV_TILE_FUNCTION(name, type, rows, vectors)                                   \
  NNC_SHARED void nnc_conv_tile_##name##_##rows##_##vectors(                                       \
      int64_t channels, const nnc_tap *taps, int64_t tap_count, const type *w, int64_t w_row,      \
      int64_t w_channel, const type *x, int64_t x_channel, type *tile, int64_t tile_row) {         \
    enum {                                                                                         \
      r = rows < NNC_TILE_ROWS ? rows : NNC_TILE_ROWS,                                             \
      v = vectors < NNC_TILE_VECTORS ? vectors : NNC_TILE_VECTORS                                  \
    };                                                                                             \
    nnc_conv_tile_##name(r, v, channels, taps, tap_count, w, w_row, w_channel, x, x_channel, tile, \
                         tile_row);                                                                \
  }

NNC_DEFINE_CONV_TILE(f32, float)
NNC_DEFINE_CONV_TILE(f64, double)
NNC_DEFINE_CONV_TILE(i32, int32_t)
NNC_DEFINE_CONV_TILE(i64, int64_t)

/* The functions for a constant number of rows, by vectors; NULL for no rows. */
#define NNC_CONV_TILES(name, rows)                                                                 \
  {                                                                                                \
    NNC_CONV_TILE(name, rows, 1), NNC_CONV_TILE(name, rows, 2),                                    \
        NNC_TILE_VECTORS < 3 ? NULL : NNC_CONV_TILE(name, rows, 3)                                 \
  }
#define NNC_CONV_TILE(name, rows, vectors)                                                         \
  ((rows) == 1   ? nnc_conv_tile_##name##_1_##vectors                                              \
   : (rows) == 2 ? nnc_conv_tile_##name##_2_##vectors                                              \
   : (rows) == 3 ? nnc_conv_tile_##name##_3_##vectors                                              \
   : (rows) == 4 ? nnc_conv_tile_##name##_4_##vectors                                              \
   : (rows) == 5 ? nnc_conv_tile_##name##_5_##vectors                                              \
   : (rows) == 6 ? nnc_conv_tile_##name##_6_##vectors                                              \
   : (rows) == 7 ? nnc_conv_tile_##name##_7_##vectors                                              \
   : (rows) == 8 ? nnc_conv_tile_##name##_8_##vectors                                              \
                 : NULL)

/* Vector sums of products along the raster: sums[r * sums_row + j] += w[r, p] * x[p + offset j]. Or, where `totals` is
 * not NULL, the sums over all lanes of these products alone: totals[r * sums_row + j]. */
enum { NNC_DOT_ROWS = NNC_PICK(4, 3, 3), NNC_DOT_TAPS = NNC_PICK(6, 4, 4) };

/* `count` elements on; NULL, to which nothing may be added, not even 0, stays. */
#define NNC_ON(pointer, count) ((pointer) == NULL ? NULL : (pointer) + (count))

#define NNC_DEFINE_CONV_DOT(name, type)                                                            \
  NNC_INLINE void nnc_conv_dot_##name(const int rows, const int taps, int64_t length,              \
                                      const type *dy, int64_t dy_row, const type *const *x,        \
                                      nnc_mem_##name *sums, int64_t sums_row, type *totals) {      \
    enum { lanes = NNC_LANES_##name };                                                             \
    nnc_vec_##name sum[NNC_DOT_ROWS][NNC_DOT_TAPS];                                                \
    NNC_UNROLL for (int r = 0; r < rows; r++) NNC_UNROLL for (int t = 0; t < taps; t++)            \
        sum[r][t] = totals ? (nnc_vec_##name){0} : (nnc_vec_##name)sums[r * sums_row + t];         \
    for (int64_t p = 0; p < length; p += lanes) {                                                  \
      nnc_vec_##name row[NNC_DOT_ROWS];                                                            \
      NNC_UNROLL for (int r = 0; r < rows; r++) row[r] = nnc_load_##name(dy + r * dy_row + p);     \
      NNC_UNROLL for (int t = 0; t < taps; t++) {                                                  \
        const nnc_vec_##name y = nnc_load_##name(x[t] + p);                                        \
        NNC_UNROLL for (int r = 0; r < rows; r++) sum[r][t] += y * row[r];                         \
      }                                                                                            \
    }                                                                                              \
    if (totals) {                                                                                  \
      NNC_UNROLL for (int t = 0; t < taps; t++)                                                    \
          nnc_lane_sums_##name(rows, &sum[0][t], NNC_DOT_TAPS, totals + t, sums_row);              \
      return;                                                                                      \
    }                                                                                              \
    NNC_UNROLL for (int r = 0; r < rows; r++) NNC_UNROLL for (int t = 0; t < taps; t++)            \
        sums[r * sums_row + t] = (nnc_mem_##name)sum[r][t];                                        \
  }                                                                                                \
  NNC_DEFINE_CONV_DOT_FUNCTION(name, type, whole, NNC_DOT_ROWS, NNC_DOT_TAPS)                      \
  NNC_DEFINE_CONV_DOT_FUNCTION(name, type, half, NNC_DOT_ROWS, NNC_DOT_TAPS / 2)                   \
  NNC_DEFINE_CONV_DOT_FUNCTION(name, type, column, NNC_DOT_ROWS, 1)                                \
  NNC_DEFINE_CONV_DOT_FUNCTION(name, type, row, 1, NNC_DOT_TAPS)                                   \
  NNC_DEFINE_CONV_DOT_FUNCTION(name, type, one, 1, 1)                                              \
  /* Any number of rows and taps up to the tile's: whole tiles, halves, else one by one. */        \
  NNC_SHARED void nnc_conv_dots_##name(int64_t rows, int64_t taps, int64_t length, const type *dy, \
                                       int64_t dy_row, const type *const *x, nnc_mem_##name *sums, \
                                       int64_t sums_row, type *totals) {                           \
    const bool whole = taps == NNC_DOT_TAPS;                                                       \
    if (rows == NNC_DOT_ROWS) {                                                                    \
      int64_t t = 0;                                                                               \
      if (whole) {                                                                                 \
        nnc_conv_whole_##name(length, dy, dy_row, x, sums, sums_row, totals);                      \
        return;                                                                                    \
      }                                                                                            \
      for (; t + NNC_DOT_TAPS / 2 <= taps; t += NNC_DOT_TAPS / 2)                                  \
        nnc_conv_half_##name(length, dy, dy_row, x + t, NNC_ON(sums, t), sums_row,                 \
                             NNC_ON(totals, t));                                                   \
      for (; t < taps; t++)                                                                        \
        nnc_conv_column_##name(length, dy, dy_row, x + t, NNC_ON(sums, t), sums_row,               \
                               NNC_ON(totals, t));                                                 \
      return;                                                                                      \
    }                                                                                              \
    for (int64_t r = 0; r < rows; r++, dy += dy_row) {                                             \
      if (whole) nnc_conv_row_##name(length, dy, dy_row, x, sums, sums_row, totals);               \
      else                                                                                         \
        for (int64_t t = 0; t < taps; t++)                                                         \
          nnc_conv_one_##name(length, dy, dy_row, x + t, NNC_ON(sums, t), sums_row,                \
                              NNC_ON(totals, t));                                                  \
      sums = NNC_ON(sums, sums_row);                                                               \
      totals = NNC_ON(totals, sums_row);                                                           \
    }                                                                                              \
  }

#define NNC_DEFINE_CONV_DOT_FUNCTION(name, type, shape, rows, taps)                                \
  NNC_SHARED void nnc_conv_##shape##_##name(int64_t length, const type *dy, int64_t dy_row,        \
                                            const type *const *x, nnc_mem_##name *sums,            \
                                            int64_t sums_row, type *totals) {                      \
    nnc_conv_dot_##name(rows, taps, length, dy, dy_row, x, sums, sums_row, totals);                \
  }

NNC_DEFINE_CONV_DOT(f32, float)
NNC_DEFINE_CONV_DOT(f64, double)
NNC_DEFINE_CONV_DOT(i32, int32_t)
NNC_DEFINE_CONV_DOT(i64, int64_t)

/* to[i] += from[i]: of rows so short that the C compiler would write them out one element at a time. */
#define NNC_DEFINE_ADD_ROW(name, type)                                                             \
  NNC_INLINE void nnc_add_row_##name(type *restrict to, const type *restrict from,                 \
                                     int64_t count) {                                              \
    typedef type four __attribute__((vector_size(4 * sizeof(type))));                              \
    int64_t i = 0;                                                                                 \
    NNC_SHORT for (; i + 8 <= count; i += 8) {                                                     \
      nnc_eight_##name sum, part;                                                                  \
      memcpy(&sum, to + i, sizeof sum), memcpy(&part, from + i, sizeof part);                      \
      sum += part;                                                                                 \
      memcpy(to + i, &sum, sizeof sum);                                                            \
    }                                                                                              \
    if (i + 4 <= count) {                                                                          \
      four sum, part;                                                                              \
      memcpy(&sum, to + i, sizeof sum), memcpy(&part, from + i, sizeof part);                      \
      sum += part;                                                                                 \
      memcpy(to + i, &sum, sizeof sum);                                                            \
      i += 4;                                                                                      \
    }                                                                                              \
    NNC_SHORT for (; i < count; i++) to[i] += from[i];                                             \
  }

NNC_DEFINE_ADD_ROW(f32, float)
NNC_DEFINE_ADD_ROW(f64, double)
NNC_DEFINE_ADD_ROW(i32, int32_t)
NNC_DEFINE_ADD_ROW(i64, int64_t)

/* A row of a plane, copied and cleared by a few moves, the last of which overlap: a call would take longer.
 * The compiler is kept from seeing loops that copy or clear, which it makes calls. */
NNC_INLINE void nnc_copy_short(char *restrict to, const char *restrict from, int64_t bytes) {
  const int64_t move = bytes >= 64 ? 64 : bytes >= 32 ? 32 : bytes >= 16 ? 16 : bytes >= 8 ? 8 : 4;
  const int64_t last = bytes - move;
  if (bytes >= 64) {
    char *next = to;
    for (int64_t i = 0; i < last; i += 64, next += 64) {
      memcpy(next, from + i, 64);
      NNC_OPAQUE(next);
    }
    memcpy(to + last, from + last, 64);
  } else if (bytes >= 32) memcpy(to, from, 32), memcpy(to + last, from + last, 32);
  else if (bytes >= 16) memcpy(to, from, 16), memcpy(to + last, from + last, 16);
  else if (bytes >= 8) memcpy(to, from, 8), memcpy(to + last, from + last, 8);
  else if (bytes >= 4) memcpy(to, from, 4);
}

NNC_INLINE void nnc_clear_short(char *to, int64_t bytes) {
  for (; bytes >= 32; bytes -= 32, to += 32) {
    memset(to, 0, 32);
    NNC_OPAQUE(to);
  }
  for (; bytes >= 4; bytes -= 4, to += 4) {
    memset(to, 0, 4);
    NNC_OPAQUE(to);
  }
}

/* to[i] = from[step * i + shift] for i < count, 0 where that is outside of [0, extent); nothing is read
 * when `from` is NULL. */
#define NNC_DEFINE_SPREAD(name, type, from_type, convert)                                          \
  NNC_INLINE void nnc_spread_##name(type *restrict to, int64_t count, const from_type *from,       \
                                    int64_t step, int64_t shift, int64_t extent) {                 \
    int64_t first = shift < 0 ? (step - 1 - shift) / step : 0;                                     \
    int64_t end = extent > shift ? (extent - shift + step - 1) / step : 0;                         \
    end = from == NULL ? 0 : nnc_least(end, count);                                                \
    first = nnc_least(first, count);                                                               \
    nnc_clear_short((char *)to, first *(int64_t)sizeof(type));                                     \
    if (step == 1 && sizeof(type) == sizeof(from_type)) {                                          \
      if (first < end)                                                                             \
        nnc_copy_short((char *)(to + first), (const char *)(from + first + shift),                 \
                       (end - first) * (int64_t)sizeof(type));                                     \
    } else if (step == 1) {                                                                        \
      for (int64_t i = first; i < end; i++) to[i] = convert(from[i + shift]);                      \
    } else {                                                                                       \
      for (int64_t i = first; i < end; i++) to[i] = convert(from[step * i + shift]);               \
    }                                                                                              \
    end = nnc_greatest(first, end);                                                                \
    nnc_clear_short((char *)(to + end), (count - end) * (int64_t)sizeof(type));                    \
  }

/* Asks the second-level cache for `bytes` at each of so many places, `step` bytes apart. */
NNC_INLINE void nnc_fetch_places(const void *from, int64_t places, int64_t step, int64_t bytes) {
  for (int64_t i = 0; i < places; i++)
    for (int64_t at = 0; at < bytes; at += 64)
      __builtin_prefetch((const char *)from + i * step + at, 0, 2);
}

/* A plane moved as a whole: row i of `to`, of `rows` rows, is row i + down of `from`, of from_rows rows,
 * whose elements are `right` places before those of `to`; both have rows of `width` elements. 0 where that
 * is outside, and all where `from` is NULL. */
#define NNC_DEFINE_MOVE_PLANE(name, type, from_type, convert)                                      \
  NNC_INLINE void nnc_move_plane_##name(type *restrict to, int64_t rows, int64_t width,            \
                                        const from_type *from, int64_t from_rows, int64_t down,    \
                                        int64_t right) {                                           \
    const int64_t top = from == NULL ? rows : nnc_least(nnc_greatest(-down, 0), rows);             \
    const int64_t bottom =                                                                         \
        from == NULL ? rows : nnc_greatest(nnc_least(from_rows - down, rows), top);                \
    const int64_t left = nnc_least(nnc_greatest(-right, 0), width);                                \
    const int64_t edge = nnc_greatest(nnc_least(width - right, width), left);                      \
    const int64_t first = top * width + left, end = (bottom - 1) * width + edge;                   \
    nnc_clear_short((char *)to, top *width *(int64_t)sizeof(type));                                \
    if (top < bottom && left < edge) {                                                             \
      const from_type *const origin = from + (down * width + right);                               \
      if (sizeof(type) == sizeof(from_type))                                                       \
        nnc_copy_short((char *)(to + first), (const char *)(origin + first),                       \
                       (end - first) * (int64_t)sizeof(type));                                     \
      else                                                                                         \
        for (int64_t i = first; i < end; i++) to[i] = convert(origin[i]);                          \
    }                                                                                              \
    for (int64_t row = top; row < bottom; row++) {                                                 \
      nnc_clear_short((char *)(to + row * width), left *(int64_t)sizeof(type));                    \
      nnc_clear_short((char *)(to + row * width + edge), (width - edge) * (int64_t)sizeof(type));  \
    }                                                                                              \
    nnc_clear_short((char *)(to + bottom * width),                                                 \
                    (rows - bottom) * width * (int64_t)sizeof(type));                              \
  }

#define NNC_DEFINE_MOVES(name, type, from_type, convert)                                           \
  NNC_DEFINE_SPREAD(name, type, from_type, convert)                                                \
  NNC_DEFINE_MOVE_PLANE(name, type, from_type, convert)

NNC_DEFINE_MOVES(f32_f32, float, float, )
NNC_DEFINE_MOVES(f32_bf16, float, uint16_t, nnc_from_bf16)
NNC_DEFINE_MOVES(f32_f16, float, uint16_t, nnc_from_f16)
NNC_DEFINE_MOVES(f64_f64, double, double, )
NNC_DEFINE_MOVES(f64_f32, double, float, )
NNC_DEFINE_MOVES(i32_i32, int32_t, int32_t, )
NNC_DEFINE_MOVES(i64_i64, int64_t, int64_t, )

#endif
