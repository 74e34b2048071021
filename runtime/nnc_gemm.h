/* The register tiles of generated contractions and the packing of their operands.
 *
 *     tile[r, c] (+)= sum_k a[r, k] * b[k, c]      r < rows, c < vectors * lanes
 *
 * Elements of a are broadcast, rows of b are loaded as vectors, the tile stays in registers: `rows` and
 * `vectors` are constants wherever nnc_tile_* is called, so its loops unroll completely. A generated
 * contraction walks its tasks' tiles with NNC_TILES and writes the finished tile through its epilogue.
 * Goto, van de Geijn: "Anatomy of high-performance matrix multiplication", TOMS 34 (2008). */
#ifndef NNC_GEMM_H
#define NNC_GEMM_H

#include "nnc_vector.h"

/* Rows and vectors of a register tile: 24 accumulators of 32 registers, 12 of 16. */
enum { NNC_TILE_ROWS = NNC_PICK(8, 6, 6), NNC_TILE_VECTORS = NNC_PICK(3, 2, 2) };

/* Memory that will be needed soon: `rows` rows, each of `bytes` in `count` places, `step` apart.  The
 * tile spreads their prefetching over its sum. */
typedef struct nnc_ahead {
  int64_t rows, bytes;
  int count;
  uintptr_t base[6];
  int64_t step[6];
} nnc_ahead;

NNC_INLINE void nnc_prefetch_row(const nnc_ahead *ahead, int64_t row) {
  for (int i = 0; i < ahead->count; i++)
    for (int64_t at = 0; at < ahead->bytes; at += 64)
      __builtin_prefetch((const char *)(ahead->base[i] + (uintptr_t)(row * ahead->step[i] + at)));
}

#define NNC_DEFINE_TILE(name, type)                                                                \
  NNC_INLINE void nnc_tile_##name(const int rows, const int vectors, int64_t k, const type *a,     \
                                  int64_t a_row, int64_t a_k, const type *b, int64_t b_k,          \
                                  type *tile, int64_t tile_row, bool first,                        \
                                  const nnc_ahead *ahead) {                                        \
    enum { lanes = NNC_LANES_##name };                                                             \
    nnc_vec_##name sum[NNC_TILE_ROWS][NNC_TILE_VECTORS];                                           \
    NNC_UNROLL for (int r = 0; r < rows; r++)                                                      \
      NNC_UNROLL for (int v = 0; v < vectors; v++)                                                 \
        sum[r][v] = first ? (nnc_vec_##name){0}                                                    \
                          : nnc_load_##name(tile + r * tile_row + v * lanes);                      \
    const int64_t parts = ahead ? ahead->rows : 1, part_length = ahead ? (k + parts - 1) / parts : k;\
    for (int64_t i = 0, part = 0; i < k; part++) {                                                 \
      if (ahead) nnc_prefetch_row(ahead, part);                                                    \
      for (const int64_t end = nnc_least(k, i + part_length); i < end; i++) {                      \
        nnc_vec_##name row[NNC_TILE_VECTORS];                                                      \
        NNC_UNROLL for (int v = 0; v < vectors; v++) row[v] = nnc_load_##name(b + v * lanes);      \
        NNC_UNROLL for (int r = 0; r < rows; r++) {                                                \
          const nnc_vec_##name x = nnc_splat_##name(a[r * a_row]);                                 \
          NNC_UNROLL for (int v = 0; v < vectors; v++) sum[r][v] += x * row[v];                    \
        }                                                                                          \
        a += a_k;                                                                                  \
        b += b_k;                                                                                  \
      }                                                                                            \
    }                                                                                              \
    NNC_UNROLL for (int r = 0; r < rows; r++)                                                      \
      NNC_UNROLL for (int v = 0; v < vectors; v++)                                                 \
        nnc_store_##name(tile + r * tile_row + v * lanes, sum[r][v]);                              \
  }

NNC_DEFINE_TILE(f32, float)
NNC_DEFINE_TILE(f64, double)
NNC_DEFINE_TILE(i32, int32_t)
NNC_DEFINE_TILE(i64, int64_t)

/* Calls nnc_tile_* with constant sizes: whole tiles, or one of the kernel's two odd numbers of rows
 * (its blocks' and its last block's remainder), by any number of vectors.  An odd number that is 0 does
 * not occur, and its branch folds away. */
#define NNC_TILE_OF_ROWS(name, rows, vectors, ...)                                                 \
  do {                                                                                             \
    if ((vectors) == NNC_TILE_VECTORS) nnc_tile_##name(rows, NNC_TILE_VECTORS, __VA_ARGS__);       \
    else if (NNC_TILE_VECTORS > 2 && (vectors) == 2) nnc_tile_##name(rows, 2, __VA_ARGS__);        \
    else nnc_tile_##name(rows, 1, __VA_ARGS__);                                                    \
  } while (0)
#define NNC_TILE(name, rows, vectors, odd_1, odd_2, ...)                                           \
  do {                                                                                             \
    if ((rows) == NNC_TILE_ROWS)                                                                   \
      NNC_TILE_OF_ROWS(name, NNC_TILE_ROWS, vectors, __VA_ARGS__);                                 \
    else if ((odd_1) && (rows) == (odd_1))                                                         \
      NNC_TILE_OF_ROWS(name, (odd_1), vectors, __VA_ARGS__);                                       \
    else if ((odd_2) && (odd_2) != (odd_1))                                                        \
      NNC_TILE_OF_ROWS(name, (odd_2), vectors, __VA_ARGS__);                                       \
  } while (0)

/* dst[k, columns], rows `width` apart, from src[k * src_k + c * src_c]; columns from `count` to the
 * next whole vector are 0. */
#define NNC_DEFINE_PACK(name, type)                                                                \
  NNC_INLINE void nnc_pack_##name(type *restrict dst, int64_t width, int64_t k, int64_t count,     \
                                  const type *restrict src, int64_t src_k, int64_t src_c) {        \
    const int64_t padded = nnc_round_up_lanes(count, NNC_LANES_##name);                            \
    if (src_c == 1) {                                                                              \
      for (int64_t i = 0; i < k; i++) {                                                            \
        for (int64_t c = 0; c < count; c++) dst[i * width + c] = src[i * src_k + c];               \
        for (int64_t c = count; c < padded; c++) dst[i * width + c] = 0;                           \
      }                                                                                            \
      return;                                                                                      \
    }                                                                                              \
    for (int64_t c = 0; c < padded; c++)                                                           \
      for (int64_t i = 0; i < k; i++)                                                              \
        dst[i * width + c] = c < count ? src[i * src_k + c * src_c] : 0;                           \
  }

NNC_INLINE int64_t nnc_round_up_lanes(int64_t n, int64_t lanes) {
  return (n + lanes - 1) / lanes * lanes;
}

NNC_DEFINE_PACK(f32, float)
NNC_DEFINE_PACK(f64, double)
NNC_DEFINE_PACK(i32, int32_t)
NNC_DEFINE_PACK(i64, int64_t)

#endif
