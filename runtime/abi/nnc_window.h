/* What taps of a window see of planes, as rows of a matrix: convolutions as products (nnc_gemm.h).
 *
 * Positions, of all images, are the rows; elements of a row are the channels of a place, 0 where the
 * place lies outside of the plane. With channels last they follow each other and are copied; else they
 * are a plane apart. */
#ifndef NNC_WINDOW_H
#define NNC_WINDOW_H

#include "nnc_conv.h"
#include "nnc_gemm_bf16.h"

typedef struct nnc_window {
  int64_t grid[3];   /* positions along each axis */
  int64_t step[3];   /* of the source's places, from a position to the next */
  int64_t extent[3]; /* places along each axis */
  int64_t place;     /* elements from a place to the next */
  int64_t channel;   /* from a channel to the next */
  int64_t image;     /* from an image to the next */
} nnc_window;

/* `span` neighbouring taps of the last axis as one: their places follow each other. */
typedef struct nnc_window_tap {
  int32_t at[3]; /* the place that position 0 meets */
  int32_t span;
  int64_t weight; /* its element of the first channels' kernel */
} nnc_window_tap;

/* The address whose element number `count` is at `p`: of an array of which only a part is in memory, from there on. */
#define NNC_BEFORE(p, count) ((__typeof__(p))((uintptr_t)(p) - (uintptr_t)(count) * sizeof *(p)))

/* Short stretches, of any even number of bytes. */
NNC_INLINE void nnc_window_copy(char *to, const char *from, int64_t bytes) {
  if (bytes >= 8 || bytes % 4 == 0) nnc_copy_short(to, from, bytes);
  else memcpy(to, from, (size_t)bytes);
}

NNC_INLINE void nnc_window_clear(char *to, int64_t bytes) {
  nnc_clear_short(to, bytes);
  if (bytes % 4 != 0) memset(to + bytes - 2, 0, 2);
}

/* Elements [begin, begin + length) of what a tap sees at place x of a line. */
#define NNC_DEFINE_WINDOW(name, type, source, convert)                                             \
  NNC_INLINE void nnc_window_run_##name(type *restrict to, const source *restrict from,            \
                                        int64_t channel, int64_t length) {                         \
    if (channel == 1 && sizeof(type) == sizeof(source))                                            \
      nnc_window_copy((char *)to, (const char *)from, length *(int64_t)sizeof *to);                \
    else if (channel == 1)                                                                         \
      for (int64_t i = 0; i < length; i++) to[i] = convert(from[i]);                               \
    else NNC_SHORT for (int64_t i = 0; i < length; i++) to[i] = convert(from[i * channel]);        \
  }                                                                                                \
  NNC_INLINE void nnc_window_row_##name(type *restrict to, const source *from, int64_t x,          \
                                        const nnc_window *window, int64_t span, int64_t begin,     \
                                        int64_t length) {                                          \
    const source *const at = from + x * window->place + begin * window->channel;                   \
    if (x >= 0 && x + span <= window->extent[2]) {                                                 \
      nnc_window_run_##name(to, at, window->channel, length);                                      \
      return;                                                                                      \
    }                                                                                              \
    /* Of the places that neighbouring taps see as one, those that are there. */                   \
    const int64_t own = span > 1 ? window->place : length + begin;                                 \
    const int64_t low = nnc_least(nnc_greatest(-x * own - begin, 0), length);                      \
    const int64_t high =                                                                           \
        nnc_greatest(nnc_least((window->extent[2] - x) * own - begin, length), low);               \
    nnc_window_clear((char *)to, low *(int64_t)sizeof *to);                                        \
    if (low < high) nnc_window_run_##name(to + low, at + low, 1, high - low);                      \
    nnc_window_clear((char *)(to + high), (length - high) * (int64_t)sizeof *to);                  \
  }                                                                                                \
  /* Rows [first, first + count) of that to dst[i * row]. */                                       \
  NNC_INLINE void nnc_window_lines_##name(                                                         \
      type *restrict dst, int64_t row, const nnc_window *window, const nnc_window_tap *tap,        \
      int64_t begin, int64_t length, const source *src, int64_t first, int64_t count) {            \
    const int64_t *const grid = window->grid, *const extent = window->extent;                      \
    int64_t p2 = first % grid[2], p1 = first / grid[2] % grid[1];                                  \
    int64_t p0 = first / (grid[2] * grid[1]) % grid[0];                                            \
    int64_t image = first / (grid[2] * grid[1] * grid[0]);                                         \
    for (int64_t i = 0, line; i < count; i += line) {                                              \
      const int64_t x0 = p0 * window->step[0] + tap->at[0];                                        \
      const int64_t x1 = p1 * window->step[1] + tap->at[1];                                        \
      int64_t x2 = p2 * window->step[2] + tap->at[2];                                              \
      const source *const from =                                                                   \
          src + image * window->image + (x0 * extent[1] + x1) * extent[2] * window->place;         \
      const bool inside = nnc_within(x0, extent[0]) && nnc_within(x1, extent[1]);                  \
      type *to = dst + i * row;                                                                    \
      line = nnc_least(grid[2] - p2, count - i);                                                   \
      NNC_SHORT for (int64_t j = 0; j < line; j++, to += row, x2 += window->step[2]) {             \
        if (inside) nnc_window_row_##name(to, from, x2, window, tap->span, begin, length);         \
        else nnc_window_clear((char *)to, length *(int64_t)sizeof *to);                            \
      }                                                                                            \
      p2 = 0;                                                                                      \
      if (++p1 < grid[1]) continue;                                                                \
      p1 = 0;                                                                                      \
      if (++p0 < grid[0]) continue;                                                                \
      p0 = 0;                                                                                      \
      image++;                                                                                     \
    }                                                                                              \
  }

/* Lines with channels last: the `places` places that begin where a run of taps meets position `first`. */
#define NNC_DEFINE_WINDOW_LINE(name, type, source)                                                 \
  NNC_INLINE void nnc_window_line_##name(type *restrict to, const nnc_window *window,              \
                                         const nnc_window_tap *tap, const source *src,             \
                                         int64_t first, int64_t places) {                          \
    const int64_t *const grid = window->grid, *const extent = window->extent;                      \
    const int64_t line = first / grid[2], plane = line / grid[1];                                  \
    const int64_t x0 = plane % grid[0] * window->step[0] + tap->at[0];                             \
    const int64_t x1 = line % grid[1] * window->step[1] + tap->at[1];                              \
    const int64_t x2 = first % grid[2] * window->step[2] + tap->at[2];                             \
    const source *const from =                                                                     \
        src + plane / grid[0] * window->image + (x0 * extent[1] + x1) * extent[2] * window->place; \
    const int64_t length = places * window->place;                                                 \
    if (nnc_within(x0, extent[0]) && nnc_within(x1, extent[1]))                                    \
      nnc_window_row_##name(to, from, x2, window, places, 0, length);                              \
    else nnc_window_clear((char *)to, length *(int64_t)sizeof *to);                                \
  }

/* A tile of positions on such lines: tile[r, c] = sum of a[t * a_line + r * a_step + e] * b[t * run + e, c] over lines t
 * and the elements e of a run. Its size, runs and steps are constant where it is called. */
#define NNC_DEFINE_SEEN_TILE(name, type)                                                           \
  NNC_INLINE void nnc_seen_tile_##name(const int rows, const int vectors, const int64_t runs,      \
                                       const int64_t run, const int64_t a_step, const type *a,     \
                                       int64_t a_line, const type *b, int64_t b_row, type *tile,   \
                                       int64_t tile_row) {                                         \
    enum { LANES = NNC_LANES_##name };                                                             \
    nnc_vec_##name sum[NNC_TILE_ROWS * NNC_TILE_VECTORS], row[NNC_TILE_VECTORS];                   \
    NNC_UNROLL for (int i = 0; i < rows * vectors; i++) sum[i] = (nnc_vec_##name){0};              \
    NNC_ROLLED for (int64_t t = 0; t < runs; t++) {                                                \
      NNC_ROLLED for (int64_t e = 0; e < run; e++) {                                               \
        NNC_UNROLL for (int v = 0; v < vectors; v++) row[v] = nnc_load_##name(b + v * LANES);      \
        NNC_UNROLL for (int r = 0; r < rows; r++) {                                                \
          const nnc_vec_##name x = nnc_splat_##name(a[r * a_step + e]);                            \
          NNC_UNROLL for (int v = 0; v < vectors; v++) sum[r * vectors + v] += x * row[v];         \
        }                                                                                          \
        b += b_row;                                                                                \
      }                                                                                            \
      a += a_line;                                                                                 \
    }                                                                                              \
    NNC_UNROLL for (int r = 0; r < rows; r++) NNC_UNROLL for (int v = 0; v < vectors; v++)         \
        nnc_store_##name(tile + r * tile_row + v * LANES, sum[r * vectors + v]);                   \
  }

#define NNC_WINDOW_ROWS(make, name, type, source)                                                  \
  make(nnc_window_rows_##name,                                                                     \
       (type *restrict dst, int64_t row, const nnc_window *window, const nnc_window_tap *tap,      \
        int64_t begin, int64_t length, const source *src, int64_t first, int64_t count),           \
       nnc_window_lines_##name(dst, row, window, tap, begin, length, src, first, count))

NNC_DEFINE_WINDOW(f32, float, float, )
NNC_DEFINE_WINDOW(f32_bf16, float, uint16_t, nnc_from_bf16)
NNC_DEFINE_WINDOW(f32_f16, float, uint16_t, nnc_from_f16)
NNC_DEFINE_WINDOW(f64, double, double, )
NNC_DEFINE_WINDOW(f64_f32, double, float, )
NNC_DEFINE_WINDOW_LINE(f32, float, float)
NNC_DEFINE_WINDOW_LINE(f64, double, double)
NNC_DEFINE_SEEN_TILE(f32, float)
NNC_DEFINE_SEEN_TILE(f64, double)
NNC_WINDOW_ROWS(NNC_COMMON, f32, float, float)
NNC_WINDOW_ROWS(NNC_COMMON, f32_bf16, float, uint16_t)
NNC_WINDOW_ROWS(NNC_COMMON, f32_f16, float, uint16_t)
NNC_WINDOW_ROWS(NNC_COMMON, f64, double, double)
NNC_WINDOW_ROWS(NNC_COMMON, f64_f32, double, float)

/* ---- what a block packs next ----
 *
 * Places come from memory or the last cache, and a copy waits for them. So tiles ask for those of the block's next piece of
 * the depth, a share each, and at its last piece for what the next block begins with. */

typedef struct nnc_windows {
  const nnc_window *window; /* with channels last */
  const nnc_window_tap *taps;
  const void *src;
  int64_t channels, bytes; /* elements of a tap, bytes of one */
} nnc_windows;

/* Asks for elements [begin, end), of all taps one after the other, at positions [first, first + count). */
NNC_INLINE void nnc_window_fetch(const nnc_windows *seen, int64_t begin, int64_t end, int64_t first,
                                 int64_t count) {
  const nnc_window *const window = seen->window;
  const int64_t *const grid = window->grid, *const extent = window->extent;
  int64_t at[3] = {first / (grid[2] * grid[1]) % grid[0], first / grid[2] % grid[1],
                   first % grid[2]};
  int64_t image = first / (grid[2] * grid[1] * grid[0]);
  for (int64_t r = 0; r < count; r++) {
    for (int64_t i = begin, length; i < end; i += length) {
      const nnc_window_tap *const tap = &seen->taps[i / seen->channels];
      const int64_t x0 = at[0] * window->step[0] + tap->at[0];
      const int64_t x1 = at[1] * window->step[1] + tap->at[1];
      const int64_t x2 = at[2] * window->step[2] + tap->at[2];
      const int64_t channel = i % seen->channels;
      const int64_t place = ((x0 * extent[1] + x1) * extent[2] + x2) * window->place;
      const char *const from =
          (const char *)seen->src + (image * window->image + place + channel) * seen->bytes;
      length = nnc_least(seen->channels - channel, end - i);
      if (nnc_within(x0, extent[0]) && nnc_within(x1, extent[1]) && nnc_within(x2, extent[2]))
        nnc_fetch_places(from, 1, 0, length * seen->bytes);
    }
    if (++at[2] < grid[2]) continue;
    at[2] = 0;
    if (++at[1] < grid[1]) continue;
    at[1] = 0;
    if (++at[0] < grid[0]) continue;
    at[0] = 0;
    image++;
  }
}

/* Where windows are the rows: a tile asks for what its own rows need, a panel's share of the depth: of the next piece, or
 * of the first one of the next block. */
#define NNC_FETCH_WINDOW_ROWS(of, channels)                                                        \
  do {                                                                                             \
    const int64_t next = k + KB < K ? k + KB : 0, row = next > 0 ? m : m + MB;                     \
    const int64_t length = nnc_least(K - next, KB), panel = (n - n_first) / NR;                    \
    const int64_t panels = (n_end - n_first + NR - 1) / NR;                                        \
    nnc_window_fetch(&(nnc_windows){&window, taps, of, channels, sizeof *(of)},                    \
                     next + length * panel / panels, next + length * (panel + 1) / panels, row,    \
                     nnc_least(rows, M - row));                                                    \
  } while (0)
/* Where they are the columns: for what its own panel needs, a share of the depth's positions. */
#define NNC_FETCH_WINDOW_COLUMNS(of, channels)                                                     \
  do {                                                                                             \
    const int64_t next = k + KB < K ? k + KB : 0, column = next > 0 ? n : n + NB;                  \
    const int64_t length = nnc_least(K - next, KB), tile = (m - m_first) / MR;                     \
    const int64_t tiles = (m_end - m_first + MR - 1) / MR, first = length * tile / tiles;          \
    nnc_window_fetch(&(nnc_windows){&window, taps, of, channels, sizeof *(of)}, column,            \
                     nnc_least(column + cols, N), next + first,                                    \
                     length * (tile + 1) / tiles - first);                                         \
  } while (0)

/* For the tiles of bf16 (nnc_gemm_bf16.h). Pairs along a row lie as they are, from element `i` of it on; nnc_window_end_bf16
 * fills up the last pair of rows of an odd length. Those of two rows, along a depth of positions, are put together, some
 * rows at a time. */
#ifdef NNC_BF16_PAIRS
NNC_DEFINE_WINDOW(half, uint16_t, uint16_t, )
NNC_WINDOW_ROWS(NNC_OWN, half, uint16_t, uint16_t)

#define nnc_window_rows_bf16(dst, i, row, ...)                                                     \
  nnc_window_rows_half((uint16_t *)(dst) + (i), 2 * (row), __VA_ARGS__)

NNC_INLINE void nnc_window_end_bf16(uint32_t *dst, int64_t row, int64_t k, int64_t count) {
  if (k % 2 != 0)
    for (int64_t r = 0; r < count; r++) dst[r * row + k / 2] &= 0xFFFF;
}

/* How many pairs of positions follow position `first` on its line, of at most `count` positions, of which all places are
 * there, and at *from what it sees of them; *from is NULL where no place is, on a line outside. */
NNC_INLINE int64_t nnc_window_inner_pairs(const nnc_window *window, const nnc_window_tap *tap,
                                          const uint16_t *src, int64_t first, int64_t count,
                                          const uint16_t **from) {
  const int64_t *const grid = window->grid, *const extent = window->extent;
  const int64_t line = first / grid[2], plane = line / grid[1], at = first % grid[2];
  const int64_t x0 = plane % grid[0] * window->step[0] + tap->at[0];
  const int64_t x1 = line % grid[1] * window->step[1] + tap->at[1];
  const int64_t x2 = at * window->step[2] + tap->at[2], pairs = nnc_least(grid[2] - at, count) / 2;
  *from = NULL;
  if (!nnc_within(x0, extent[0]) || !nnc_within(x1, extent[1])) return pairs;
  *from = src + plane / grid[0] * window->image +
          ((x0 * extent[1] + x1) * extent[2] + x2) * window->place;
  const int64_t room = extent[2] - tap->span - x2;
  return x2 < 0 || room < 0 ? 0 : nnc_least(pairs, (room / window->step[2] + 1) / 2);
}

/* Elements [begin, begin + length) of what a tap sees. */
typedef struct nnc_window_part {
  const nnc_window_tap *tap;
  int64_t begin, length;
  const uint16_t *src;
} nnc_window_part;

/* Positions [first, first + count), a row for each two; neighbours in memory are read where they lie, others by way of a
 * copy. */
NNC_SHARED void nnc_window_pairs(uint32_t *restrict dst, int64_t row, const nnc_window *window,
                                 nnc_window_part part, int64_t first, int64_t count) {
  const int64_t step = window->step[2] * window->place, begin = part.begin, length = part.length;
  uint16_t seen[2 * NNC_TILE_VECTORS_bf16 * NNC_LANES_bf16] NNC_ALIGNED;
  for (int64_t i = 0, pairs; i < count; i += 2 * pairs) {
    const uint16_t *from = NULL;
    uint32_t *to = dst + i / 2 * row;
    pairs = window->channel == 1
                ? nnc_window_inner_pairs(window, part.tap, part.src, first + i, count - i, &from)
                : 0;
    for (int64_t p = 0; p < pairs; p++, to += row) {
      if (from == NULL) {
        nnc_clear_short((char *)to, length * (int64_t)sizeof *to);
        continue;
      }
      const uint16_t *const own = from + begin + 2 * p * step;
      nnc_pack_row_bf16(to, own, own + step, length);
    }
    if (pairs > 0) continue;
    const int64_t rows = nnc_least(2, count - i);
    nnc_window_rows_half(seen, length, window, part.tap, begin, length, part.src, first + i, rows);
    nnc_pack_row_bf16(to, seen, rows > 1 ? seen + length : NULL, length);
    pairs = 1;
  }
}

/* Of at most a panel's columns. */
#define nnc_window_columns_bf16(dst, row, window, tap, begin, length, src, first, count)           \
  nnc_window_pairs(dst, row, window, (nnc_window_part){tap, begin, length, src}, first, count)
#else
#define nnc_window_rows_bf16(dst, i, ...) nnc_window_rows_f32_bf16((dst) + (i), __VA_ARGS__)
#define nnc_window_end_bf16(...) ((void)0)
#define nnc_window_columns_bf16 nnc_window_rows_f32_bf16
#endif

#endif
