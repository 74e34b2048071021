/* Products of matrices on tensor cores, by tiles: how the sides lie in the block's memory, and how
 * a warp takes its fragments from there. It is written in the words of nnc_cuda_tensor.h alone.
 *
 * A part of a side is rows of 16-byte chunks. Neighbours in a row are neighbours in the matrix's
 * memory:
 *
 *   by rows     a row is a row of the left side (a column of the right one), along the depth
 *   by depths   a row is a depth, along the rows of the left side (the columns of the right one)
 *
 * The chunks of a row change places, depending on the row, so that the eight rows that a matrix of
 * 8 x 16 bytes is read from lie in different banks of the memory. */
#ifndef NNC_CUDA_TILE_H
#define NNC_CUDA_TILE_H

#include "nnc_cuda_tensor.h"

typedef struct NNC_ALIGN(16) nnc_chunk {
  uint32_t words[4];
} nnc_chunk;

/* What an element is in memory. */
NNC_DEVICE uint32_t nnc_bits_of(uint16_t value) { return value; }
NNC_DEVICE uint32_t nnc_bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* ---- places ---- */

/* Where chunk `at` of a row lies, of rows of `chunks` chunks, 4 or a multiple of 8. */
NNC_DEVICE int nnc_place(int row, int at, int chunks) {
  return row * chunks + (chunks == 4 ? at ^ (row >> 1 & 3) : at ^ (row & 7));
}

/* The same for numbers of 4 bytes by depths, which are read one by one: four depths, of two chunks
 * each. */
NNC_DEVICE int nnc_place_wide(int row, int at, int chunks) {
  return row * chunks + (at ^ (row & 3) << 1);
}

/* How many bytes of a chunk lie before the end: `left` elements of `size` bytes follow. */
NNC_DEVICE int nnc_chunk_bytes(int64_t left, int size) {
  const int64_t bytes = left * size;
  return bytes < 0 ? 0 : bytes > 16 ? 16 : (int)bytes;
}
NNC_DEVICE int nnc_chunk_bytes(int32_t left, int size) {
  const int32_t bytes = (left < 16 ? left : 16) * size;
  return bytes < 0 ? 0 : bytes > 16 ? 16 : bytes;
}

/* ---- tiles of the result ---- */

/* The place of a block among `down` x `across` tiles: blocks that run at a time take tiles near
 * each other, since they share sides in the device's cache. */
typedef struct nnc_tile_place {
  int64_t batch;
  int down, across;
} nnc_tile_place;

NNC_DEVICE nnc_tile_place nnc_tile_of(int64_t block, int down, int across) {
  const int high = 8; /* tiles are taken by columns of so many */
  const int64_t tiles = (int64_t)down * across, tile = block % tiles;
  const int first = (int)(tile / (high * across)) * high, within = (int)(tile % (high * across));
  const int rows = down - first < high ? down - first : high;
  nnc_tile_place place = {block / tiles, first + within % rows, within / rows};
  return place;
}

/* ---- fragments ----
 *
 * Of the left side 16 rows from `row`, of the right side 16 columns from `column`, of which two
 * products take 8 each; of the depth 32 bytes from chunk `at` or, by depths, from `depth`. */

NNC_DEVICE void nnc_left_by_rows(uint32_t *to, const nnc_chunk *part, int row, int at, int chunks) {
  const int lane = NNC_THREAD % 32;
  nnc_load_matrices(to, &part[nnc_place(row + lane % 16, at + lane / 16, chunks)]);
}

NNC_DEVICE void nnc_right_by_rows(uint32_t *to, const nnc_chunk *part, int column, int at,
                                  int chunks) {
  const int lane = NNC_THREAD % 32;
  const int row = column + lane % 8 + lane / 16 * 8;
  nnc_load_matrices(to, &part[nnc_place(row, at + lane / 8 % 2, chunks)]);
}

NNC_DEVICE void nnc_left_by_depths(uint32_t *to, const nnc_chunk *part, int row, int depth,
                                   int chunks) {
  const int lane = NNC_THREAD % 32;
  const int at = row / 8 + lane / 8 % 2;
  nnc_load_turned(to, &part[nnc_place(depth + lane % 8 + lane / 16 * 8, at, chunks)]);
}

NNC_DEVICE void nnc_right_by_depths(uint32_t *to, const nnc_chunk *part, int column, int depth,
                                    int chunks) {
  const int lane = NNC_THREAD % 32;
  nnc_load_turned(to, &part[nnc_place(depth + lane % 16, column / 8 + lane / 16, chunks)]);
}

/* Numbers of 4 bytes by depths. */
NNC_DEVICE uint32_t nnc_wide_at(const nnc_chunk *part, int outer, int depth, int chunks) {
  return part[nnc_place_wide(depth, outer / 4, chunks)].words[outer % 4];
}

NNC_DEVICE void nnc_left_by_depths_wide(uint32_t *to, const nnc_chunk *part, int row, int depth,
                                        int chunks) {
  const int g = NNC_THREAD % 32 / 4, t = NNC_THREAD % 4;
  NNC_UNROLL for (int i = 0; i < 4; i++) to[i] =
      nnc_wide_at(part, row + g + i % 2 * 8, depth + t + i / 2 * 4, chunks);
}

NNC_DEVICE void nnc_right_by_depths_wide(uint32_t *to, const nnc_chunk *part, int column, int depth,
                                         int chunks) {
  const int g = NNC_THREAD % 32 / 4, t = NNC_THREAD % 4;
  NNC_UNROLL for (int i = 0; i < 4; i++) to[i] =
      nnc_wide_at(part, column + g + i / 2 * 8, depth + t + i % 2 * 4, chunks);
}

/* Numbers of 4 bytes by depths, from a part that is read by rows as well (nnc_place). Depth t of the
 * fragment is that at 2 t, depth t + 4 the one after it: so lie the sums of an earlier product. */
NNC_DEVICE void nnc_right_by_pairs(uint32_t *to, const nnc_chunk *part, int column, int depth,
                                   int chunks) {
  const int g = NNC_THREAD % 32 / 4, t = NNC_THREAD % 4;
  NNC_UNROLL for (int i = 0; i < 4; i++) {
    const int outer = column + g + i / 2 * 8;
    to[i] = part[nnc_place(depth + 2 * t + i % 2, outer / 4, chunks)].words[outer % 4];
  }
}

/* A left side out of the sums of an earlier product, whose columns are the depth, without a way
 * through memory: of 16 columns, or of 8 in the order of nnc_right_by_pairs. */
#define NNC_DEFINE_LEFT_OF_SUMS(name)                                                              \
  NNC_DEVICE void nnc_left_of_sums_##name(uint32_t *to, const float(*sums)[4]) {                   \
    NNC_UNROLL for (int i = 0; i < 4; i++) to[i] =                                                 \
        nnc_pack_##name(sums[i / 2][i % 2 * 2], sums[i / 2][i % 2 * 2 + 1]);                       \
  }
NNC_DEFINE_LEFT_OF_SUMS(bf16)
NNC_DEFINE_LEFT_OF_SUMS(f16)
NNC_DEVICE void nnc_left_of_sums_tf32(uint32_t *to, const float (*sums)[4]) {
  NNC_UNROLL for (int i = 0; i < 4; i++) to[i] =
      nnc_to_tf32(nnc_bits_of(sums[0][i % 2 * 2 + i / 2]));
}

/* The sums of 16 rows and 8 columns, in a page of f32 with rows of `pitch`. */
NNC_DEVICE void nnc_write_sums(float *page, int pitch, const float *sums) {
  const int row = NNC_THREAD % 32 / 4, column = NNC_THREAD % 4 * 2;
  NNC_UNROLL for (int i = 0; i < 4; i++) page[(row + i / 2 * 8) * pitch + column + i % 2] = sums[i];
}

NNC_DEVICE void nnc_round_tf32(uint32_t *fragment) {
  NNC_UNROLL for (int i = 0; i < 4; i++) fragment[i] = nnc_to_tf32(fragment[i]);
}

#endif
