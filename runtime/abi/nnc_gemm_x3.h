/* Contractions of f32 as three products of bf16 on a matrix unit (precision = bf16x3): the tiles and the
 * packing of nnc_gemm.h, by the name x3.
 *
 *     x = high + low + rest,    high = bf16(x), low = bf16(x - high), |rest| <= 2^-17 |x|
 *     x * y = high * high' + low * high' + high * low' + error,    |error| < 2^-15.4 |x * y|
 *
 * Henry, Tang, Heinecke: "Leveraging the bfloat16 artificial intelligence datatype for higher-precision
 * computations", ARITH 2019.  Sums are of f32; subnormal parts count as 0.  Operands are packed as floats, and
 * then split where they lie: of 32 elements of a row of a the high parts, then the low ones; of two rows of
 * b the pairs of their high parts, then those of their low ones.
 *
 * Without a unit (nnc_matrix.h) these are products of f32. */
#ifndef NNC_GEMM_X3_H
#define NNC_GEMM_X3_H

#include "nnc_gemm.h"
#include "nnc_half.h"
#include "nnc_matrix.h"

#ifdef NNC_MATRIX

#define NNC_ISA_X3 "+amx"
#ifdef NNC_MATRIX_UNIT
#define NNC_EXTENSIONS_X3 "amx-tile amx-bf16 "
#else
#define NNC_EXTENSIONS_X3 ""
#endif
enum { NNC_TILE_ROWS_x3 = 2 * NNC_MATRIX_ROWS, NNC_TILE_VECTORS_x3 = 2 };
enum { NNC_LANES_x3 = NNC_MATRIX_LANES, NNC_LEFT_STEP_x3 = 1 };
enum { NNC_SPLIT_DEPTH = 32, NNC_SPLIT_WIDTH = 32 }; /* a step of the unit; columns of a panel */

#define NNC_PACKED_DEPTH_x3(k) (((k) + 31) / 32 * 32)
#define NNC_LEFT_ROW_x3(k) (NNC_PACKED_DEPTH_x3(k) + 16) /* no power of 2 */
#define NNC_LEFT_GROUP_x3(k) (NNC_LEFT_ROW_x3(k) * NNC_TILE_ROWS_x3)

/* The low part of a number that is not finite is 0, so that it stays what it is. */
NNC_INLINE void nnc_split_x3(uint16_t *high, uint16_t *low, float x) {
  *high = nnc_to_bf16(x);
  const float rest = x - nnc_from_bf16(*high);
  *low = rest - rest == 0 ? nnc_to_bf16(rest) : 0;
}

/* Fills up rows of a to whole steps, and splits them. */
NNC_SHARED void nnc_pack_left_end_x3(float *dst, int64_t row, int64_t k, int64_t count) {
  const int64_t end = nnc_round_up(k, NNC_SPLIT_DEPTH);
  for (int64_t r = 0; r < count; r++, dst += row) {
    for (int64_t i = k; i < end; i++) dst[i] = 0;
    for (int64_t i = 0; i < end; i += NNC_SPLIT_DEPTH) {
      uint16_t parts[2 * NNC_SPLIT_DEPTH] NNC_ALIGNED;
      for (int c = 0; c < NNC_SPLIT_DEPTH; c++)
        nnc_split_x3(&parts[c], &parts[NNC_SPLIT_DEPTH + c], dst[i + c]);
      memcpy(dst + i, parts, sizeof parts);
    }
  }
}

/* Fills up panels of b to whole vectors and steps, and splits them. */
NNC_SHARED void nnc_pack_right_end_x3(float *dst, int64_t width, int64_t group, int64_t k,
                                      int64_t count) {
  const int64_t end = nnc_round_up(k, NNC_SPLIT_DEPTH);
  nnc_pack_zeros_f32(dst, width, group, k, count);
  for (int64_t n = 0; n < count; n += NNC_SPLIT_WIDTH, dst += group) {
    memset(dst + k * width, 0, (size_t)((end - k) * width) * sizeof *dst);
    for (int64_t i = 0; i < end; i += 2) {
      float *const even = dst + i * width, *const odd = even + width;
      uint32_t high[NNC_SPLIT_WIDTH] NNC_ALIGNED, low[NNC_SPLIT_WIDTH] NNC_ALIGNED;
      for (int c = 0; c < NNC_SPLIT_WIDTH; c++) {
        uint16_t parts[4];
        nnc_split_x3(&parts[0], &parts[1], even[c]);
        nnc_split_x3(&parts[2], &parts[3], odd[c]);
        high[c] = parts[0] | (uint32_t)parts[2] << 16;
        low[c] = parts[1] | (uint32_t)parts[3] << 16;
      }
      memcpy(even, high, sizeof high);
      memcpy(odd, low, sizeof low);
    }
  }
}

NNC_INLINE void nnc_matrix_tile_x3(nnc_matrix *matrix, const bool tall, const bool wide,
                                   const nnc_matrix_operands *of) {
  const int64_t a_step = of->a_row * 4, b_step = 2 * of->b_row * 4;
  const int64_t below = NNC_MATRIX_ROWS * a_step, beside = NNC_MATRIX_BYTES;
  const char *a = of->a, *b = of->b;
  nnc_matrix_begin(matrix, tall, wide, of);
  NNC_ROLLED for (int64_t i = 0; i < of->steps; i++) {
    const char *const b_low = b + b_step / 2;
    NNC_MATRIX_LOAD(matrix, 4, a, a_step);
    NNC_MATRIX_LOAD(matrix, 6, b, b_step);
    NNC_MATRIX_MULTIPLY(matrix, 0, 4, 6);
    if (tall) NNC_MATRIX_LOAD(matrix, 5, a + below, a_step);
    if (tall) NNC_MATRIX_MULTIPLY(matrix, 2, 5, 6);
    if (wide) NNC_MATRIX_LOAD(matrix, 7, b + beside, b_step);
    if (wide) NNC_MATRIX_MULTIPLY(matrix, 1, 4, 7);
    if (tall && wide) NNC_MATRIX_MULTIPLY(matrix, 3, 5, 7);
    NNC_MATRIX_LOAD(matrix, 4, a + NNC_MATRIX_BYTES, a_step);
    NNC_MATRIX_MULTIPLY(matrix, 0, 4, 6);
    if (wide) NNC_MATRIX_MULTIPLY(matrix, 1, 4, 7);
    if (tall) NNC_MATRIX_LOAD(matrix, 5, a + below + NNC_MATRIX_BYTES, a_step);
    if (tall) NNC_MATRIX_MULTIPLY(matrix, 2, 5, 6);
    if (tall && wide) NNC_MATRIX_MULTIPLY(matrix, 3, 5, 7);
    NNC_MATRIX_LOAD(matrix, 6, b_low, b_step);
    NNC_MATRIX_LOAD(matrix, 4, a, a_step);
    NNC_MATRIX_MULTIPLY(matrix, 0, 4, 6);
    if (wide) NNC_MATRIX_LOAD(matrix, 7, b_low + beside, b_step);
    if (wide) NNC_MATRIX_MULTIPLY(matrix, 1, 4, 7);
    if (tall) NNC_MATRIX_LOAD(matrix, 5, a + below, a_step);
    if (tall) NNC_MATRIX_MULTIPLY(matrix, 2, 5, 6);
    if (tall && wide) NNC_MATRIX_MULTIPLY(matrix, 3, 5, 7);
    a += 2 * NNC_MATRIX_BYTES;
    b += NNC_MATRIX_ROWS * b_step;
  }
  nnc_matrix_end(matrix, tall, wide, of);
}

NNC_SHARED void nnc_matrix_product_x3(nnc_matrix *matrix, int64_t rows, int64_t vectors,
                                      const nnc_matrix_operands *of) {
  nnc_matrix_fit(matrix, rows);
  const bool tall = rows > NNC_MATRIX_ROWS, wide = vectors > 1;
  if (tall && wide) nnc_matrix_tile_x3(matrix, true, true, of);
  else if (tall) nnc_matrix_tile_x3(matrix, true, false, of);
  else if (wide) nnc_matrix_tile_x3(matrix, false, true, of);
  else nnc_matrix_tile_x3(matrix, false, false, of);
}

#define NNC_TILES_x3(...)                                                                          \
  NNC_TILE_EXTENTS(NNC_TILE_ROWS_x3, NNC_TILE_VECTORS_x3, NNC_LANES_x3, NNC_WIDE_PANELS,           \
                   __VA_ARGS__);                                                                   \
  nnc_matrix tiles = {.low = 0}
#define NNC_MULTIPLY_x3(k, a, a_row, a_k, b, b_row, tile, tile_row, first, ahead)                  \
  ((void)(ahead),                                                                                  \
   nnc_matrix_product_x3(&tiles, rows, NNC_VECTORS_OF(cols),                                       \
                         &(nnc_matrix_operands){NNC_PACKED_DEPTH_x3(k) / NNC_SPLIT_DEPTH, a,       \
                                                a_row, b, b_row, tile, tile_row, first}))
#define NNC_TILES_END_x3(tiles) nnc_matrix_release(&tiles)
/* `i` elements of each row are there already. */
#define nnc_pack_left_x3(dst, row, group, i, column, k, count, src, src_k, src_c)                  \
  nnc_pack_block_f32((dst) + (column) * (row) + (i), row, 0, 0, count, k, src, src_c, src_k)

#else

#define NNC_ISA_X3 ""
#define NNC_EXTENSIONS_X3 ""
enum { NNC_TILE_ROWS_x3 = NNC_TILE_ROWS, NNC_TILE_VECTORS_x3 = NNC_TILE_VECTORS };
enum { NNC_LANES_x3 = NNC_LANES_f32, NNC_LEFT_STEP_x3 = NNC_TILE_ROWS };

#define NNC_PACKED_DEPTH_x3(k) (k)
#define NNC_LEFT_ROW_x3(k) 1
#define NNC_LEFT_GROUP_x3(k) ((k)*NNC_TILE_ROWS + 16)
#define NNC_TILES_x3(...) NNC_FIXED_TILES(f32, NNC_TILE_ROWS, NNC_WIDE_PANELS, __VA_ARGS__)
#define NNC_MULTIPLY_x3(...) NNC_MULTIPLY(__VA_ARGS__)
#define NNC_TILES_END_x3(tiles) ((void)0)
#define nnc_pack_left_x3(dst, row, group, i, column, k, count, src, src_k, src_c)                  \
  nnc_pack_block_f32((dst) + (i)*NNC_TILE_ROWS, NNC_TILE_ROWS, group, column, k, count, src,       \
                     src_k, src_c)
#define nnc_pack_left_end_x3(dst, row, k, count) ((void)0)
#define nnc_pack_right_end_x3 nnc_pack_zeros_f32

#endif
#endif
