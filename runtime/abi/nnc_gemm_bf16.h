/* Contractions of bf16 with sums in f32: the tiles and the packing of nnc_gemm.h, by the name bf16.
 *
 * Where the processor multiplies pairs (AVX512-BF16), two elements that follow each other along k are
 * one packed element of 32 bits, the first in its low half; an odd depth ends with a pair whose high
 * half is 0. Elsewhere operands are widened as they are packed, and the tiles are those of f32.
 * Intel's processors have the instruction, but it takes four times as long as a multiply-add: half the speed of f32 (an
 * Emerald Rapids core), so NNC_SLOW_PAIRS, defined as 1 there, has operands widened.
 * NNC_BF16_PAIRS, defined as 1, has pairs computed without the instruction: for tests.
 *
 * Where it has a matrix unit (nnc_matrix.h), tiles are of 32 rows and columns. Of b panels of pairs are
 * packed as above; of a rows of pairs, or they are read where they are, if k is along the memory and a
 * whole number of the unit's steps. What is packed ends with zeros up to a whole step. */
#ifndef NNC_GEMM_BF16_H
#define NNC_GEMM_BF16_H

#include "nnc_gemm.h"
#include "nnc_half.h"
#include "nnc_matrix.h"
#include "nnc_pack_half.h"

#if defined(__cooperlake__) && !defined(NNC_SLOW_PAIRS)
#define NNC_SLOW_PAIRS 1
#endif
#if !defined(NNC_BF16_PAIRS) && defined(__AVX512BF16__) &&                                         \
    (!defined(NNC_SLOW_PAIRS) || defined(NNC_MATRIX))
#define NNC_BF16_PAIRS 1
#define NNC_BF16_INSTRUCTION 1
#endif
#if defined(NNC_MATRIX) && !defined(NNC_BF16_PAIRS)
#define NNC_BF16_PAIRS 1
#endif

#ifdef NNC_BF16_PAIRS

#ifdef NNC_MATRIX
#define NNC_ISA_BF16 "+amx"
#else
#define NNC_ISA_BF16 "+bf16"
#endif
#if defined(NNC_MATRIX_UNIT)
#define NNC_EXTENSIONS_BF16 "avx512bf16 amx-tile amx-bf16 "
#elif defined(NNC_BF16_INSTRUCTION)
#define NNC_EXTENSIONS_BF16 "avx512bf16 "
#else
#define NNC_EXTENSIONS_BF16 ""
#endif

typedef uint32_t nnc_packed_bf16;
typedef nnc_vec_i32 nnc_row_bf16;
enum { NNC_DEPTH_bf16 = 2 }; /* elements of the depth in a packed one */
#define NNC_TILES_OF_bf16 bf16

NNC_INLINE nnc_row_bf16 nnc_row_load_bf16(const uint32_t *p) {
  return nnc_load_i32((const int32_t *)p);
}
NNC_INLINE nnc_row_bf16 nnc_row_splat_bf16(uint32_t x) { return nnc_splat_i32((int32_t)x); }

/* Of each lane: the sum, the product of the low halves and that of the high halves. */
NNC_INLINE void nnc_row_add_bf16(nnc_vec_f32 *sum, nnc_row_bf16 x, nnc_row_bf16 b) {
#ifdef NNC_BF16_INSTRUCTION
  __asm__("vdpbf16ps %2, %1, %0" : "+v"(*sum) : "v"(x), "v"(b));
#else
  const nnc_row_bf16 high = nnc_splat_i32((int32_t)0xFFFF0000u);
  *sum += (nnc_vec_f32)(x & high) * (nnc_vec_f32)(b & high);
  *sum += (nnc_vec_f32)(x << 16) * (nnc_vec_f32)(b << 16);
#endif
}

NNC_DEFINE_TILE(bf16, uint32_t, f32, float)
NNC_TILES(NNC_COMMON, bf16, uint32_t, float)
NNC_DEFINE_TRANSPOSE(bf16, uint32_t, int32_t, uint16_t)

NNC_INLINE uint32_t nnc_pair(uint16_t low, uint16_t high) { return low | (uint32_t)high << 16; }

/* The parts of nnc_pack_block_bf16; k is even but for the last piece of the depth. */
NNC_INLINE void nnc_pack_row_bf16(uint32_t *restrict dst, const uint16_t *restrict src,
                                  const uint16_t *restrict next, int64_t count) {
  enum { LINE = 16 };
  if (!next)
    for (int64_t c = 0; c < count; c++) dst[c] = src[c];
  else if (count < LINE)
    for (int64_t c = 0; c < count; c++) dst[c] = nnc_pair(src[c], next[c]);
  else /* lines, of which the last may begin before the one before it ends */
    for (int64_t line = 0; line < count; line += LINE) {
      const int64_t at = nnc_least(line, count - LINE);
      NNC_ROLLED for (int64_t c = at; c < at + LINE; c++) dst[c] = nnc_pair(src[c], next[c]);
    }
}

NNC_INLINE uint32_t nnc_pack_element_bf16(const uint16_t *src, int64_t src_k) {
  return nnc_pair(src[0], src[src_k]);
}

NNC_DEFINE_PACK_COLUMNS(bf16, uint32_t, uint16_t, 2)
NNC_DEFINE_PACK_GROUPS(bf16, uint32_t, uint16_t, 2)
NNC_PACK_BLOCK(NNC_COMMON, bf16, uint32_t, uint16_t)

/* Fills the last group's columns from `count` on up to a whole vector, and with a matrix unit all columns
 * up to a whole step of it. */
NNC_SHARED void nnc_pack_zeros_bf16(uint32_t *dst, int64_t width, int64_t group, int64_t k,
                                    int64_t count) {
  const int64_t pairs = (k + 1) / 2;
  nnc_pack_zeros_i32((int32_t *)dst, width, group, pairs, count);
#ifdef NNC_MATRIX
  const int64_t end = nnc_round_up(pairs, NNC_MATRIX_ROWS);
  for (int64_t c = 0; c < count && pairs < end; c += width)
    memset(dst + c / width * group + pairs * width, 0,
           (size_t)((end - pairs) * width) * sizeof *dst);
#endif
}

#else

#define NNC_ISA_BF16 ""
#define NNC_EXTENSIONS_BF16 ""

typedef float nnc_packed_bf16;
typedef nnc_tile_of_f32 nnc_tile_of_bf16;
enum { NNC_DEPTH_bf16 = 1 };

#define NNC_TILES_OF_bf16 f32
#define nnc_pack_block_bf16 nnc_pack_block_f32_bf16
#define nnc_pack_zeros_bf16 nnc_pack_zeros_f32

#endif

/* ---- what generated kernels use ----
 *
 * NNC_TILES_bf16 declares what NNC_MULTIPLY_bf16 needs, as NNC_FIXED_TILES does, NNC_TILES_END_bf16 ends
 * its use. Of a, NNC_LEFT_ROW_bf16(k) packed elements are from a row to the next, NNC_LEFT_STEP_bf16 from an
 * element to the next along k, NNC_LEFT_GROUP_bf16(k) from a group of NNC_TILE_ROWS_bf16 rows to the next. */
#ifdef NNC_MATRIX

enum { NNC_TILE_ROWS_bf16 = 2 * NNC_MATRIX_ROWS, NNC_TILE_VECTORS_bf16 = 2 };
enum { NNC_LANES_bf16 = NNC_MATRIX_LANES, NNC_LEFT_IN_PLACE_bf16 = 1, NNC_LEFT_STEP_bf16 = 1 };

#define NNC_PACKED_DEPTH_bf16(k) (((k) + 31) / 32 * 16)
#define NNC_LEFT_ROW_bf16(k) (NNC_PACKED_DEPTH_bf16(k) + 16) /* no power of 2 */
#define NNC_LEFT_GROUP_bf16(k) (NNC_LEFT_ROW_bf16(k) * NNC_TILE_ROWS_bf16)
#define NNC_TILES_bf16(...)                                                                        \
  NNC_TILE_EXTENTS(NNC_TILE_ROWS_bf16, NNC_TILE_VECTORS_bf16, NNC_LANES_bf16, NNC_WIDE_PANELS,     \
                   __VA_ARGS__);                                                                   \
  nnc_matrix tiles = {.low = 0}
#define NNC_MULTIPLY_bf16(k, a, a_row, a_k, b, b_row, tile, tile_row, first, ahead)                \
  (nnc_prefetch_all(ahead, 2 * NNC_MATRIX_BYTES),                                                  \
   nnc_matrix_product(&tiles, rows, NNC_VECTORS_OF(cols),                                          \
                      &(nnc_matrix_operands){NNC_PACKED_DEPTH_bf16(k) / NNC_MATRIX_ROWS, a, a_row, \
                                             b, b_row, tile, tile_row, first}))
#define NNC_TILES_END_bf16(tiles) nnc_matrix_release(&tiles)

/* Two vectors of 16 in turns: the low halves, the high halves. */
#if defined(__clang__)
#define NNC_LINE_LOW(x, y)                                                                         \
  __builtin_shufflevector(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define NNC_LINE_HIGH(x, y)                                                                        \
  __builtin_shufflevector(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#else
#define NNC_LINE_LOW(x, y)                                                                         \
  __builtin_shuffle(x, y, (nnc_line){0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23})
#define NNC_LINE_HIGH(x, y)                                                                        \
  __builtin_shuffle(x, y, (nnc_line){8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31})
#endif

/* A line of 16 pairs along k of each of `count` columns, from 32 rows of src. */
NNC_INLINE void nnc_pack_sixteen_bf16(uint32_t *restrict dst, int64_t row, int64_t count,
                                      const uint16_t *restrict src, int64_t src_k) {
  nnc_line line[16], next[16];
  NNC_UNROLL for (int p = 0; p < 16; p++) {
    nnc_halves low, high;
    memcpy(&low, src + 2 * p * src_k, sizeof low);
    memcpy(&high, src + (2 * p + 1) * src_k, sizeof high);
    line[p] = __builtin_convertvector(low, nnc_line) | __builtin_convertvector(high, nnc_line)
                                                           << 16;
  }
  NNC_UNROLL for (int stage = 0; stage < 4; stage++) {
    NNC_UNROLL for (int r = 0; r < 8; r++) {
      next[2 * r] = NNC_LINE_LOW(line[r], line[r + 8]);
      next[2 * r + 1] = NNC_LINE_HIGH(line[r], line[r + 8]);
    }
    NNC_UNROLL for (int r = 0; r < 16; r++) line[r] = next[r];
  }
  NNC_UNROLL for (int c = 0; c < 16; c++) if (c < count)
      memcpy(dst + c * row, &line[c], sizeof line[c]);
}

typedef struct nnc_pack_from {
  const uint16_t *src;
  int64_t src_k, src_c; /* from an element to the next along k, from a column to the next */
} nnc_pack_from;

/* The same of any rows and columns, with zeros for rows that are not there. */
NNC_SHARED void nnc_pack_part_bf16(uint32_t *restrict dst, int64_t row, int64_t k, int64_t count,
                                   nnc_pack_from from) {
  uint16_t part[32][16] NNC_ALIGNED = {{0}};
  for (int64_t i = 0; i < k; i++)
    for (int64_t c = 0; c < count; c++) part[i][c] = from.src[i * from.src_k + c * from.src_c];
  nnc_pack_sixteen_bf16(dst, row, count, &part[0][0], 16);
}

/* Rows of pairs, one for each column of src: k elements of it, which may be followed by zeros of the last
 * line. */
NNC_SHARED void nnc_pack_lines_bf16(uint32_t *restrict dst, int64_t row, int64_t k, int64_t count,
                                    nnc_pack_from from) {
  if (from.src_k == 1) {
    for (int64_t c = 0; c < count; c++, dst += row, from.src += from.src_c) {
      memcpy(dst, from.src, (size_t)k * sizeof *from.src);
      if (k % 2 != 0) dst[k / 2] = from.src[k - 1];
    }
    return;
  }
  for (int64_t i = 0; i < k; i += 32)
    for (int64_t c = 0; c < count; c += 16) {
      const nnc_pack_from here = {from.src + i * from.src_k + c * from.src_c, from.src_k,
                                  from.src_c};
      uint32_t *const to = dst + c * row + i / 2;
      if (from.src_c == 1 && k - i >= 32 && count - c >= 16)
        nnc_pack_sixteen_bf16(to, row, 16, here.src, here.src_k);
      else nnc_pack_part_bf16(to, row, nnc_least(32, k - i), nnc_least(16, count - c), here);
    }
}

/* `i` rows of src are there already. */
#define nnc_pack_left_bf16(dst, row, group, i, column, k, count, src, src_k, src_c)                \
  nnc_pack_lines_bf16((dst) + (column) * (row) + (i) / 2, row, k, count,                           \
                      (nnc_pack_from){src, src_k, src_c})

/* Fills rows up to a whole step of the unit. */
NNC_SHARED void nnc_pack_left_zeros_bf16(uint32_t *dst, int64_t row, int64_t k, int64_t count) {
  const int64_t pairs = (k + 1) / 2, end = nnc_round_up(pairs, NNC_MATRIX_ROWS);
  for (int64_t c = 0; c < count && pairs < end; c++)
    memset(dst + c * row + pairs, 0, (size_t)(end - pairs) * sizeof *dst);
}

#else

enum { NNC_TILE_ROWS_bf16 = NNC_TILE_ROWS, NNC_TILE_VECTORS_bf16 = NNC_TILE_VECTORS };
enum {
  NNC_LANES_bf16 = NNC_LANES_f32,
  NNC_LEFT_IN_PLACE_bf16 = 0,
  NNC_LEFT_STEP_bf16 = NNC_TILE_ROWS
};

#define NNC_PACKED_DEPTH_bf16(k) (((k) + NNC_DEPTH_bf16 - 1) / NNC_DEPTH_bf16)
#define NNC_LEFT_ROW_bf16(k) 1
#define NNC_LEFT_GROUP_bf16(k) (NNC_PACKED_DEPTH_bf16(k) * NNC_TILE_ROWS + 16) /* no power of 2 */
#define NNC_TILES_bf16(M, MB, M_BLOCKS, N, NB, N_BLOCKS)                                           \
  NNC_TILE_EXTENTS(NNC_TILE_ROWS, NNC_TILE_VECTORS, NNC_LANES_bf16, NNC_WIDE_PANELS, M, MB,        \
                   M_BLOCKS, N, NB, N_BLOCKS);                                                     \
  static nnc_tile_of_bf16 *const tiles[3][3] =                                                     \
      NNC_TILES_TABLE(NNC_TILES_OF_bf16, NNC_TILE_VECTORS, MB, NB)
#define NNC_TILES_TABLE(...) NNC_TILE_TABLE_OF(__VA_ARGS__)
#define NNC_MULTIPLY_bf16(k, ...) NNC_MULTIPLY(NNC_PACKED_DEPTH_bf16(k), __VA_ARGS__)
#define NNC_TILES_END_bf16(tiles) ((void)0)
#define nnc_pack_left_bf16(dst, row, group, i, column, k, count, src, src_k, src_c)                \
  nnc_pack_block_bf16((dst) + (i) / NNC_DEPTH_bf16 * NNC_TILE_ROWS, NNC_TILE_ROWS, group, column,  \
                      k, count, src, src_k, src_c)
#define nnc_pack_left_zeros_bf16(dst, row, k, count) ((void)0)

#endif
#endif
