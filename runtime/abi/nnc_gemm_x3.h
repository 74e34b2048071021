/* Contractions of f32 as three products of bf16 on a matrix unit (precision = bf16x3): the tiles and the
 * packing of nnc_gemm.h, by the name x3.
 *
 *     x = high + low + rest,    high = bf16(x), low = bf16(x - high), |rest| <= 2^-17 |x|
 *     x * y = high * high' + low * high' + high * low' + error,    |error| < 2^-15.4 |x * y|
 *
 * Henry, Tang, Heinecke: "Leveraging the bfloat16 artificial intelligence datatype for higher-precision
 * computations", ARITH 2019.  Sums are of f32; subnormal parts count as 0.  Operands are split as they are packed, or packed
 * as floats and then split where they lie: of 32 elements of a row of a the high parts, then the low ones; of two rows of
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

/* The parts of NNC_SPLIT_DEPTH elements of a row of a, and those of two rows of NNC_SPLIT_WIDTH columns of b: the pairs
 * of high parts to `high`, those of low ones to `low`. What is read may lie where the parts go. */
#ifdef __AVX512BF16__

typedef uint16_t nnc_parts __attribute__((vector_size(64)));

/* Both as bf16, one after the other. A subnormal number becomes 0, as which it counts anyway. */
NNC_INLINE nnc_parts nnc_narrow_x3(nnc_vec_f32 first, nnc_vec_f32 second) {
  nnc_parts parts;
  __asm__("vcvtne2ps2bf16 %2, %1, %0" : "=v"(parts) : "v"(second), "v"(first));
  return parts;
}

/* What is left of x beside its high part, 0 where that is not finite. */
NNC_INLINE nnc_vec_f32 nnc_rest_x3(nnc_vec_f32 x, nnc_line high) {
  const nnc_vec_f32 rest = x - (nnc_vec_f32)high;
  return (nnc_vec_f32)((nnc_vec_i32)rest & (nnc_vec_i32)(rest - rest == 0));
}

NNC_INLINE void nnc_split_row_x3(float *to, const float *from) {
  const nnc_vec_f32 first = nnc_load_f32(from), second = nnc_load_f32(from + 16);
  const nnc_parts high = nnc_narrow_x3(first, second);
  nnc_halves half[2];
  memcpy(half, &high, sizeof half);
  const nnc_parts low =
      nnc_narrow_x3(nnc_rest_x3(first, __builtin_convertvector(half[0], nnc_line) << 16),
                    nnc_rest_x3(second, __builtin_convertvector(half[1], nnc_line) << 16));
  memcpy(to, &high, sizeof high);
  memcpy(to + 16, &low, sizeof low);
}

/* Element c of either half in turns. */
NNC_INLINE nnc_line nnc_pairs_x3(nnc_parts x) {
#define NNC_IN_TURNS                                                                               \
  0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28,    \
      13, 29, 14, 30, 15, 31
#ifdef __clang__
  return (nnc_line)__builtin_shufflevector(x, x, NNC_IN_TURNS);
#else
  return (nnc_line)__builtin_shuffle(x, (nnc_parts){NNC_IN_TURNS});
#endif
#undef NNC_IN_TURNS
}

NNC_INLINE void nnc_split_rows_x3(float *high, float *low, const float *even, const float *odd) {
  nnc_line parts[4];
  NNC_UNROLL for (int v = 0; v < 2; v++) {
    const nnc_vec_f32 x = nnc_load_f32(even + 16 * v), y = nnc_load_f32(odd + 16 * v);
    parts[v] = nnc_pairs_x3(nnc_narrow_x3(x, y));
    parts[2 + v] = nnc_pairs_x3(
        nnc_narrow_x3(nnc_rest_x3(x, parts[v] << 16), nnc_rest_x3(y, parts[v] & 0xFFFF0000u)));
  }
  memcpy(high, parts, sizeof parts / 2);
  memcpy(low, parts + 2, sizeof parts / 2);
}

#else

NNC_INLINE void nnc_split_row_x3(float *to, const float *from) {
  uint16_t parts[2 * NNC_SPLIT_DEPTH] NNC_ALIGNED;
  for (int c = 0; c < NNC_SPLIT_DEPTH; c++)
    nnc_split_x3(&parts[c], &parts[NNC_SPLIT_DEPTH + c], from[c]);
  memcpy(to, parts, sizeof parts);
}

NNC_INLINE void nnc_split_rows_x3(float *high, float *low, const float *even, const float *odd) {
  uint32_t parts[2][NNC_SPLIT_WIDTH] NNC_ALIGNED;
  for (int c = 0; c < NNC_SPLIT_WIDTH; c++) {
    uint16_t part[4];
    nnc_split_x3(&part[0], &part[1], even[c]);
    nnc_split_x3(&part[2], &part[3], odd[c]);
    parts[0][c] = part[0] | (uint32_t)part[2] << 16;
    parts[1][c] = part[1] | (uint32_t)part[3] << 16;
  }
  memcpy(high, parts[0], sizeof parts[0]);
  memcpy(low, parts[1], sizeof parts[1]);
}

#endif

/* Fills up rows of a to whole steps, and splits them. */
NNC_SHARED void nnc_pack_left_end_x3(float *dst, int64_t row, int64_t k, int64_t count) {
  const int64_t end = nnc_round_up(k, NNC_SPLIT_DEPTH);
  for (int64_t r = 0; r < count; r++, dst += row) {
    for (int64_t i = k; i < end; i++) dst[i] = 0;
    for (int64_t i = 0; i < end; i += NNC_SPLIT_DEPTH) nnc_split_row_x3(dst + i, dst + i);
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
      nnc_split_rows_x3(even, odd, even, odd);
    }
  }
}

/* The same of what is packed by one call: rows that lie along the depth, and columns that are neighbours, are split where
 * they are read. */
typedef struct nnc_floats_x3 {
  const float *src;
  int64_t src_k, src_c; /* from an element to the next along the depth, and across */
} nnc_floats_x3;

NNC_SHARED void nnc_pack_left_whole_x3(float *restrict dst, int64_t row, int64_t k, int64_t count,
                                       nnc_floats_x3 from) {
  if (from.src_k != 1) {
    nnc_pack_block_f32(dst, row, 0, 0, count, k, from.src, from.src_c, from.src_k);
    nnc_pack_left_end_x3(dst, row, k, count);
    return;
  }
  const int64_t whole = k / NNC_SPLIT_DEPTH * NNC_SPLIT_DEPTH;
  for (int64_t r = 0; r < count; r++, dst += row, from.src += from.src_c) {
    for (int64_t i = 0; i < whole; i += NNC_SPLIT_DEPTH) nnc_split_row_x3(dst + i, from.src + i);
    if (whole == k) continue;
    float last[NNC_SPLIT_DEPTH] = {0};
    memcpy(last, from.src + whole, (size_t)(k - whole) * sizeof *from.src);
    nnc_split_row_x3(dst + whole, last);
  }
}

NNC_SHARED void nnc_pack_right_whole_x3(float *restrict dst, int64_t width, int64_t group,
                                        int64_t k, int64_t count, nnc_floats_x3 from) {
  if (from.src_c != 1) {
    nnc_pack_block_f32(dst, width, group, 0, k, count, from.src, from.src_k, from.src_c);
    nnc_pack_right_end_x3(dst, width, group, k, count);
    return;
  }
  const int64_t end = nnc_round_up(k, NNC_SPLIT_DEPTH), src_k = from.src_k;
  const float nothing[NNC_SPLIT_WIDTH] = {0}, *src = from.src;
  for (int64_t i = 0; i < end; i += 2, dst += 2 * width, src += 2 * src_k) {
    float *to = dst;
    for (int64_t n = 0; n < count; n += NNC_SPLIT_WIDTH, to += group) {
      const float *even = i < k ? src + n : nothing, *odd = i + 1 < k ? src + src_k + n : nothing;
      float rest[2][NNC_SPLIT_WIDTH] = {{0}};
      __builtin_prefetch(src + NNC_PACK_AHEAD * src_k + n, 0, 2);
      __builtin_prefetch(src + (NNC_PACK_AHEAD + 1) * src_k + n, 0, 2);
      if (count - n < NNC_SPLIT_WIDTH) {
        if (i < k) memcpy(rest[0], even, (size_t)(count - n) * sizeof *src);
        if (i + 1 < k) memcpy(rest[1], odd, (size_t)(count - n) * sizeof *src);
        even = rest[0];
        odd = rest[1];
      }
      nnc_split_rows_x3(to, to + width, even, odd);
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
  (nnc_prefetch_all(ahead, 2 * NNC_MATRIX_BYTES),                                                  \
   nnc_matrix_product_x3(&tiles, rows, NNC_VECTORS_OF(cols),                                       \
                         &(nnc_matrix_operands){NNC_PACKED_DEPTH_x3(k) / NNC_SPLIT_DEPTH, a,       \
                                                a_row, b, b_row, tile, tile_row, first}))
#define NNC_TILES_END_x3(tiles) nnc_matrix_release(&tiles)
#define NNC_PACK_LEFT_x3(dst, row, group, k, count, ...)                                           \
  nnc_pack_left_whole_x3(dst, row, k, count, (nnc_floats_x3){__VA_ARGS__})
#define NNC_PACK_RIGHT_x3(dst, width, group, k, count, ...)                                        \
  nnc_pack_right_whole_x3(dst, width, group, k, count, (nnc_floats_x3){__VA_ARGS__})
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
#define NNC_PACK_LEFT_x3(dst, row, group, k, count, ...)                                           \
  nnc_pack_block_f32(dst, NNC_TILE_ROWS, group, 0, k, count, __VA_ARGS__)
#define NNC_PACK_RIGHT_x3(...) NNC_PACK(f32, __VA_ARGS__)

#endif
#endif
