/* The register tiles of generated contractions and the packing of their operands.
 *
 *     tile[r, c] (+)= sum_k a[r, k] * b[k, c]      r < rows, c < vectors * lanes
 *
 * Elements of a are broadcast, rows of b are loaded as vectors, the tile stays in registers.  There is a
 * function for each number of rows and vectors, nnc_tile_f32_8_3 and so on, strides being arguments: all
 * kernels of a translation unit share them, and only those that it names are compiled.
 * Goto, van de Geijn: "Anatomy of high-performance matrix multiplication", TOMS 34 (2008).
 *
 * Two packed blocks, a of M rows in groups of MR = NNC_TILE_ROWS, [M / MR][depth][MR], b in panels
 * [N / NR][depth][NR] with NR = NNC_TILE_VECTORS * NNC_LANES_f32, rest filled up with zeros, are multiplied by
 *
 *     for each panel n, for each group m:
 *       NNC_TILE(f32, MR, NNC_TILE_VECTORS)(depth, a + m * depth * MR, 1, MR, b + n * depth * NR, NR,
 *                                           tile, NR, true, NULL);
 *
 * with NNC_JOINS in place of true for further pieces of a cut k.  Neither operand
 * need be packed: a_row, a_k, b_k are any strides in elements; only a row of b has to be contiguous.
 * Blocks that are no whole tiles take the functions from a table: the loops of a product, below. */
#ifndef NNC_GEMM_H
#define NNC_GEMM_H

#include "nnc_vector.h"

/* What becomes of the tile's contents: the sum is added to them, or they are lost. */
enum { NNC_JOINS = false, NNC_BEGINS = true };

/* Products that are summed one after the other; what they give is added to the sum of those before, which rounds a long
 * sum less: of 12,544 products the errors are one seventh of those of a single chain. A piece of a cut k is a multiple of
 * this, if the bits shall be those of the whole. The functions of tiles cut by themselves, the code of a tile does not. */
enum { NNC_TILE_CHAIN = 256 };

/* Rows and vectors of a register tile: 24 accumulators of 32 registers, 12 of 16. 4 by 3 load 7 times for 12
 * multiply-adds, 6 by 2 do 8 times. So vectors of 32 bytes have both, the latter where panels are narrow (below). */
enum { NNC_TILE_ROWS = NNC_PICK(8, 4, 6), NNC_TILE_VECTORS = NNC_PICK(3, 3, 2) };
enum { NNC_NARROW_ROWS = NNC_PICK(8, 6, 6) }; /* of a tile of one or two vectors, at most */
#define NNC_IS_TILE(rows, vectors)                                                                 \
  ((vectors) <= NNC_TILE_VECTORS && (rows) <= ((vectors) <= 2 ? NNC_NARROW_ROWS : NNC_TILE_ROWS))
/* Steps of the sum that are written out: where a step has few multiply-adds, its counting and the addresses of its
 * operands cost as much as its loads. */
enum { NNC_TILE_STEPS = NNC_PICK(1, 4, 1) };

/* Memory that will be needed soon: `rows` places at each of `count` bases, `step` apart, each as wide as
 * a panel's row.  The tile spreads their prefetching over its sum. */
enum { NNC_AHEAD_PLACES = 6 }; /* of the next tile's rows, and of an epilogue's matrices */
typedef struct nnc_ahead {
  int64_t rows, count;
  uintptr_t base[NNC_AHEAD_PLACES];
  int64_t step[NNC_AHEAD_PLACES];
} nnc_ahead;

enum { NNC_AHEAD_BYTES = NNC_TILE_VECTORS * NNC_VECTOR_BYTES };

NNC_INLINE void nnc_prefetch_row(const nnc_ahead *ahead, int64_t row) {
  NNC_ROLLED for (int64_t i = 0; i < ahead->count;
                  i++) NNC_UNROLL for (int at = 0; at < NNC_AHEAD_BYTES + 60; at += 64)
      __builtin_prefetch((const char *)(ahead->base[i] + (uintptr_t)(row * ahead->step[i] + at)));
}

/* All of it at once, where a tile takes too few instructions to spread it; places are `bytes` wide. */
NNC_INLINE void nnc_prefetch_all(const nnc_ahead *ahead, const int bytes) {
  const int64_t rows = ahead ? ahead->rows : 0;
  NNC_ROLLED for (int64_t row = 0; row < rows; row++)
      NNC_ROLLED for (int64_t i = 0; i < ahead->count; i++) {
    const char *const place = (const char *)(ahead->base[i] + (uintptr_t)(row * ahead->step[i]));
    NNC_UNROLL for (int at = 0; at < bytes; at += 64) __builtin_prefetch(place + at);
    __builtin_prefetch(place + bytes - 1);
  }
}

/* The rows whose turn is in the chain from step i on of k; NULL for none. Few are all read in the first one. */
NNC_INLINE const nnc_ahead *nnc_ahead_part(const nnc_ahead *ahead, int64_t i, int64_t k,
                                           nnc_ahead *part) {
  if (!ahead || ahead->rows <= NNC_TILE_CHAIN) return i == 0 ? ahead : NULL;
  const int64_t first = ahead->rows * i / k;
  *part = *ahead;
  part->rows = ahead->rows * nnc_least(i + NNC_TILE_CHAIN, k) / k - first;
  for (int64_t at = 0; at < ahead->count; at++)
    part->base[at] += (uintptr_t)(first * ahead->step[at]);
  return part;
}

/* A tile fetches rows of b this far ahead of the sum into the first-level cache, and elements of a: where they lie far
 * apart in memory, a processor does not foresee them. Of packed operands, or at the end of the sum, that is what is read
 * after it. */
enum { NNC_TILE_AHEAD = 12 };
/* Only tiles whose multiply-adds leave the time to load as many operands and these, and whose steps are not written out. */
#define NNC_TILE_FETCHES(rows, vectors)                                                            \
  (NNC_TILE_STEPS == 1 && (rows) * (vectors) >= (rows) + 2 * (vectors) + 2)
#define NNC_TILE_FETCH(b, columns)                                                                 \
  do {                                                                                             \
    const char *const fetched = (const char *)(b);                                                 \
    __builtin_prefetch(fetched);                                                                   \
    if ((columns) * sizeof *(b) > 64) __builtin_prefetch(fetched + 64);                            \
    if ((columns) * sizeof *(b) > 128) __builtin_prefetch(fetched + 128);                          \
    __builtin_prefetch(fetched + ((columns)-1) * sizeof *(b));                                     \
  } while (0)

/* The rows of a tile, each with the pointer by which its elements of a are reached: every third row has
 * one, the two after it are reached by addressing.  Sums are variables, not an array, lest the compiler
 * leave one in memory. */
#define NNC_TILE_EACH_ROW(what, name)                                                              \
  what(name, 0, a_0, 0) what(name, 1, a_0, 1) what(name, 2, a_0, 2) what(name, 3, a_3, 0)          \
      what(name, 4, a_3, 1) what(name, 5, a_3, 2) what(name, 6, a_6, 0) what(name, 7, a_6, 1)
#define NNC_TILE_DECLARE(name, r, pointer, times)                                                  \
  nnc_vec_##name sum_##r##_0 = {0}, sum_##r##_1 = {0}, sum_##r##_2 = {0};
#define NNC_TILE_JOIN(name, r, pointer, times)                                                     \
  if (rows > r) {                                                                                  \
    sum_##r##_0 += nnc_load_##name(tile + r * tile_row);                                           \
    if (vectors > 1) sum_##r##_1 += nnc_load_##name(tile + r * tile_row + NNC_LANES_##name);       \
    if (vectors > 2) sum_##r##_2 += nnc_load_##name(tile + r * tile_row + 2 * NNC_LANES_##name);   \
  }
#define NNC_TILE_ADD(name, r, pointer, times)                                                      \
  if (rows > r) {                                                                                  \
    const nnc_row_##name x = nnc_row_splat_##name(pointer[times * row + at]);                      \
    nnc_row_add_##name(&sum_##r##_0, x, b_0);                                                      \
    if (vectors > 1) nnc_row_add_##name(&sum_##r##_1, x, b_1);                                     \
    if (vectors > 2) nnc_row_add_##name(&sum_##r##_2, x, b_2);                                     \
  }
/* Step `number` from where the pointers are, with elements of a `a_row` and `a_k` apart. */
#define NNC_TILE_STEP(name, sum, number, a_row, a_k)                                               \
  do {                                                                                             \
    const int64_t row = a_row, at = (number) * (a_k);                                              \
    const __typeof__(*b) *const line = b + (number)*b_k;                                           \
    const nnc_row_##name b_0 = nnc_row_load_##name(line);                                          \
    const nnc_row_##name b_1 = nnc_row_load_##name(line + (vectors > 1 ? NNC_LANES_##sum : 0));    \
    const nnc_row_##name b_2 =                                                                     \
        nnc_row_load_##name(line + (vectors > 2 ? 2 * NNC_LANES_##sum : 0));                       \
    NNC_TILE_EACH_ROW(NNC_TILE_ADD, name)                                                          \
  } while (0)
#define NNC_TILE_ADVANCE(steps)                                                                    \
  do {                                                                                             \
    a_0 += (steps)*a_k;                                                                            \
    if (rows > 3) a_3 += (steps)*a_k;                                                              \
    if (rows > 6) a_6 += (steps)*a_k;                                                              \
    b += (steps)*b_k;                                                                              \
  } while (0)
/* Steps up to `end`, NNC_TILE_STEPS at a time, of tiles that are not the last of a block. */
#if NNC_VECTOR_BYTES == 32
#define NNC_TILE_IS_LONG(rows, vectors) ((rows) >= 4 && (vectors) >= 2)
#define NNC_TILE_SEVERAL(name, sum, a_row, a_k)                                                    \
  NNC_ROLLED for (; i + NNC_TILE_STEPS <= end; i += NNC_TILE_STEPS) {                              \
    NNC_UNROLL for (int step = 0; step < NNC_TILE_STEPS; step++)                                   \
        NNC_TILE_STEP(name, sum, step, a_row, a_k);                                                \
    NNC_TILE_ADVANCE(NNC_TILE_STEPS);                                                              \
  }
#else
#define NNC_TILE_IS_LONG(rows, vectors) false
#define NNC_TILE_SEVERAL(name, sum, a_row, a_k)                                                    \
  {}
#endif
#define NNC_TILE_STORE(name, r, pointer, times)                                                    \
  if (rows > r) {                                                                                  \
    nnc_store_##name(tile + r * tile_row, sum_##r##_0);                                            \
    if (vectors > 1) nnc_store_##name(tile + r * tile_row + NNC_LANES_##name, sum_##r##_1);        \
    if (vectors > 2) nnc_store_##name(tile + r * tile_row + 2 * NNC_LANES_##name, sum_##r##_2);    \
  }

/* nnc_tile_f32(8, 3, ...) is the code of a tile; nnc_tile_f32_8_3 a function made of it. Elements of
 * operands are of type `packed`, sums of `type`, which the names of vectors call `sum`. */
#define NNC_DEFINE_TILE(name, packed, sum, type)                                                   \
  typedef void nnc_tile_of_##name(int64_t k, const packed *a, int64_t a_row, int64_t a_k,          \
                                  const packed *b, int64_t b_k, type *tile, int64_t tile_row,      \
                                  bool begins, const nnc_ahead *ahead);                            \
  NNC_INLINE void nnc_tile_##name(const int rows, const int vectors, int64_t k, const packed *a,   \
                                  int64_t a_row, int64_t a_k, const packed *b, int64_t b_k,        \
                                  type *tile, int64_t tile_row, bool begins,                       \
                                  const nnc_ahead *ahead) {                                        \
    NNC_TILE_EACH_ROW(NNC_TILE_DECLARE, sum)                                                       \
    const packed *a_0 = a, *a_3 = a + (rows > 3 ? 3 : 0) * a_row,                                  \
                 *a_6 = a + (rows > 6 ? 6 : 0) * a_row;                                            \
    NNC_OPAQUE(a_0);                                                                               \
    if (rows > 3) NNC_OPAQUE(a_3);                                                                 \
    if (rows > 6) NNC_OPAQUE(a_6);                                                                 \
    const int64_t places = ahead ? ahead->rows : 0;                                                \
    const int64_t share = places > 0 ? nnc_greatest(k / places, 1) : k;                            \
    for (int64_t i = 0, place = 0; i < k; place++) {                                               \
      if (place < places) nnc_prefetch_row(ahead, place);                                          \
      const int64_t end = place < places ? nnc_least(k, i + share) : k;                            \
      if (NNC_TILE_IS_LONG(rows, vectors) && a_k == 1) NNC_TILE_SEVERAL(name, sum, a_row, 1)       \
      else if (NNC_TILE_IS_LONG(rows, vectors) && a_row == 1) NNC_TILE_SEVERAL(name, sum, 1, a_k)  \
      NNC_ROLLED for (; i < end; i++) {                                                            \
        if (NNC_TILE_FETCHES(rows, vectors)) {                                                     \
          NNC_TILE_FETCH(b + NNC_TILE_AHEAD * b_k, vectors * NNC_LANES_##sum);                     \
          __builtin_prefetch(a_0 + NNC_TILE_AHEAD * a_k);                                          \
        }                                                                                          \
        NNC_TILE_STEP(name, sum, 0, a_row, a_k);                                                   \
        NNC_TILE_ADVANCE(1);                                                                       \
      }                                                                                            \
    }                                                                                              \
    if (!begins) {                                                                                 \
      NNC_TILE_EACH_ROW(NNC_TILE_JOIN, sum)                                                        \
    }                                                                                              \
    NNC_TILE_EACH_ROW(NNC_TILE_STORE, sum)                                                         \
  }                                                                                                \
  /* Chain by chain, each with its part of what is read ahead. */                                  \
  NNC_SHARED void nnc_tile_chains_##name(nnc_tile_of_##name *tile_of, int64_t k, const packed *a,  \
                                         int64_t a_row, int64_t a_k, const packed *b, int64_t b_k, \
                                         type *tile, int64_t tile_row, bool begins,                \
                                         const nnc_ahead *ahead) {                                 \
    for (int64_t i = 0; i < k; i += NNC_TILE_CHAIN) {                                              \
      const int64_t depth = nnc_least(NNC_TILE_CHAIN, k - i);                                      \
      nnc_ahead part;                                                                              \
      tile_of(depth, a + i * a_k, a_row, a_k, b + i * b_k, b_k, tile, tile_row, begins && i == 0,  \
              nnc_ahead_part(ahead, i, k, &part));                                                 \
    }                                                                                              \
  }

/* DEFINE(..., rows, vectors) for every size of a tile; nnc_conv.h has the same sizes. */
// clang-format off
#define NNC_EACH_TILE_SIZE(DEFINE, ...)                                                     \
  DEFINE(__VA_ARGS__, 1, 1) DEFINE(__VA_ARGS__, 1, 2) DEFINE(__VA_ARGS__, 1, 3)                       \
  DEFINE(__VA_ARGS__, 2, 1) DEFINE(__VA_ARGS__, 2, 2) DEFINE(__VA_ARGS__, 2, 3)                       \
  DEFINE(__VA_ARGS__, 3, 1) DEFINE(__VA_ARGS__, 3, 2) DEFINE(__VA_ARGS__, 3, 3)                       \
  DEFINE(__VA_ARGS__, 4, 1) DEFINE(__VA_ARGS__, 4, 2) DEFINE(__VA_ARGS__, 4, 3)                       \
  DEFINE(__VA_ARGS__, 5, 1) DEFINE(__VA_ARGS__, 5, 2) DEFINE(__VA_ARGS__, 5, 3)                       \
  DEFINE(__VA_ARGS__, 6, 1) DEFINE(__VA_ARGS__, 6, 2) DEFINE(__VA_ARGS__, 6, 3)                       \
  DEFINE(__VA_ARGS__, 7, 1) DEFINE(__VA_ARGS__, 7, 2) DEFINE(__VA_ARGS__, 7, 3)                       \
  DEFINE(__VA_ARGS__, 8, 1) DEFINE(__VA_ARGS__, 8, 2) DEFINE(__VA_ARGS__, 8, 3)
// clang-format on

/* The functions of all sizes, by what makes functions: NNC_TILES(NNC_COMMON, f32, float, float). */
#define NNC_TILES(make, name, packed, type)                                                        \
  NNC_EACH_TILE_SIZE(NNC_TILE_FUNCTION, make, name, packed, type)
#define NNC_TILE_FUNCTION(make, name, packed, type, rows, vectors)                                 \
  make(nnc_tile_##name##_##rows##_##vectors,                                                       \
       (int64_t k, const packed *a, int64_t a_row, int64_t a_k, const packed *b, int64_t b_k,      \
        type *tile, int64_t tile_row, bool begins, const nnc_ahead *ahead),                        \
       if (k > NNC_TILE_CHAIN)                                                                     \
           nnc_tile_chains_##name(nnc_tile_##name##_##rows##_##vectors, k, a, a_row, a_k, b, b_k,  \
                                  tile, tile_row, begins, ahead);                                  \
       else nnc_tile_##name((NNC_IS_TILE(rows, vectors) ? rows : 1),                               \
                            (NNC_IS_TILE(rows, vectors) ? vectors : 1), k, a, a_row, a_k, b, b_k,  \
                            tile, tile_row, begins, ahead))

/* Operands of the sums' own type. */
#define NNC_DEFINE_PLAIN_TILE(name, type)                                                          \
  typedef nnc_vec_##name nnc_row_##name;                                                           \
  NNC_INLINE nnc_row_##name nnc_row_load_##name(const type *p) { return nnc_load_##name(p); }      \
  NNC_INLINE nnc_row_##name nnc_row_splat_##name(type x) { return nnc_splat_##name(x); }           \
  NNC_INLINE void nnc_row_add_##name(nnc_vec_##name *sum, nnc_row_##name x, nnc_row_##name b) {    \
    *sum += x * b;                                                                                 \
  }                                                                                                \
  NNC_DEFINE_TILE(name, type, name, type)

NNC_DEFINE_PLAIN_TILE(f32, float)
NNC_DEFINE_PLAIN_TILE(f64, double)
NNC_DEFINE_PLAIN_TILE(i32, int32_t)
NNC_DEFINE_PLAIN_TILE(i64, int64_t)
NNC_TILES(NNC_COMMON, f32, float, float)
NNC_TILES(NNC_COMMON, f64, double, double)
NNC_TILES(NNC_OWN, i32, int32_t, int32_t)
NNC_TILES(NNC_OWN, i64, int64_t, int64_t)

/* The function of a tile whose size is a constant expression; NULL for no rows or no vectors. What a
 * translation unit does not name in this way is not compiled. */
#define NNC_TILE(name, rows, vectors)                                                              \
  ((rows) == 1   ? NNC_TILE_OF_VECTORS(name, 1, vectors)                                           \
   : (rows) == 2 ? NNC_TILE_OF_VECTORS(name, 2, vectors)                                           \
   : (rows) == 3 ? NNC_TILE_OF_VECTORS(name, 3, vectors)                                           \
   : (rows) == 4 ? NNC_TILE_OF_VECTORS(name, 4, vectors)                                           \
   : (rows) == 5 ? NNC_TILE_OF_VECTORS(name, 5, vectors)                                           \
   : (rows) == 6 ? NNC_TILE_OF_VECTORS(name, 6, vectors)                                           \
   : (rows) == 7 ? NNC_TILE_OF_VECTORS(name, 7, vectors)                                           \
   : (rows) == 8 ? NNC_TILE_OF_VECTORS(name, 8, vectors)                                           \
                 : NULL)
#define NNC_TILE_OF_VECTORS(name, rows, vectors)                                                   \
  ((vectors) == 1   ? nnc_tile_##name##_##rows##_1                                                 \
   : (vectors) == 2 ? nnc_tile_##name##_##rows##_2                                                 \
   : (vectors) == 3 ? nnc_tile_##name##_##rows##_3                                                 \
                    : NULL)
/* For three numbers of rows by three of vectors: what a matrix cut into blocks needs. */
#define NNC_TILE_TABLE(name, rows_1, rows_2, rows_3, vectors_1, vectors_2, vectors_3)              \
  {                                                                                                \
    {NNC_TILE(name, rows_1, vectors_1), NNC_TILE(name, rows_1, vectors_2),                         \
     NNC_TILE(name, rows_1, vectors_3)},                                                           \
        {NNC_TILE(name, rows_2, vectors_1), NNC_TILE(name, rows_2, vectors_2),                     \
         NNC_TILE(name, rows_2, vectors_3)},                                                       \
        {NNC_TILE(name, rows_3, vectors_1), NNC_TILE(name, rows_3, vectors_2),                     \
         NNC_TILE(name, rows_3, vectors_3)},                                                       \
  }

/* ---- the loops of a product ----
 *
 * A kernel's constants say how its product is cut: M x N results are sums of K products each. A task has a block of
 * MB x NB results; there are M_BLOCKS x N_BLOCKS of these. Where the depth is cut, a block takes KB of it at a time.
 *
 *     NNC_TASKS(worker, TASKS, task) {
 *       NNC_BLOCK_OF(task);                 rows [m_first, m_end), columns [n_first, n_end)
 *       NNC_EACH_PIECE(K, KB) {             [k, k + depth) of the depth
 *         NNC_EACH_PANEL {                  columns [n, n + cols), as many as a tile has
 *           NNC_EACH_TILE {                 rows [m, m + rows), as many as a tile has
 *             NNC_MULTIPLY(...);            the tile's sums
 *
 * NNC_FIXED_TILES declares the extents of tiles, MR rows and NR columns, and their functions: whole tiles, and those with
 * what is left at the end of a block, and of the last block. Its first arguments are the type, the rows of a whole tile
 * (NNC_TILE_ROWS, or NNC_ROWS_UP_TO of fewer), and whether panels are wide or even, below. NNC_FOUND_TILES is the same where
 * extents are known when it runs. */
#define NNC_TILE_EXTENTS(tile_rows, tile_vectors, lanes, panels, M, MB, M_BLOCKS, N, NB, N_BLOCKS) \
  enum {                                                                                           \
    MR = tile_rows,                                                                                \
    LANES = lanes,                                                                                 \
    NR = (tile_vectors)*LANES,                                                                     \
    PANELS = panels,                                                                               \
    ROWS_1 = NNC_LEFT_OF_BLOCK(MB, MR),                                                            \
    ROWS_2 = NNC_LEFT_OF_LAST(M, MB, M_BLOCKS, MR),                                                \
    VECTORS_1 = NNC_LAST_VECTORS(panels, NB, NR),                                                  \
    VECTORS_2 = NNC_LAST_VECTORS(panels, NNC_LAST_BLOCK(N, NB, N_BLOCKS), NR)                      \
  }
#define NNC_ROWS_UP_TO(rows) (NNC_TILE_ROWS < (rows) ? NNC_TILE_ROWS : (rows))
#define NNC_LEFT_OF_BLOCK(block, tile) ((block) % tile)
#define NNC_LEFT_OF_LAST(all, block, blocks, tile) (NNC_LAST_BLOCK(all, block, blocks) % tile)
#define NNC_LAST_BLOCK(all, block, blocks) ((all) - ((blocks) - (int64_t)1) * (block))
#define NNC_VECTORS_OF(columns) (((columns) + LANES - 1) / LANES)
#define NNC_TILE_TABLE_OF(name, tile_vectors, MB, NB)                                              \
  NNC_TILE_TABLE(name, (int64_t)(MB) < MR ? 0 : MR, ROWS_1, ROWS_2,                                \
                 (int64_t)(NB) < NR ? 0 : tile_vectors, VECTORS_1, VECTORS_2)

/* Columns go in panels of NR of them, the last of a block has the rest: wide panels, as most are that are packed. A tile of
 * one vector uses each element of a once, and loads more than it multiplies. So where panels are read in place, the last
 * four vectors of a block are two panels of two instead of three vectors and one: even panels. A block of four vectors of
 * 64 bytes that is packed has two panels of two: narrow panels, so do blocks of some other widths of vectors of 32 bytes. */
enum { NNC_WIDE_PANELS, NNC_EVEN_PANELS, NNC_NARROW_PANELS_64, NNC_NARROW_PANELS_32 };
#define NNC_IS_NARROW_32(panels) (NNC_VECTOR_BYTES == 32 && (panels) == NNC_NARROW_PANELS_32)
#define NNC_IS_NARROW_64(panels) (NNC_VECTOR_BYTES == 64 && (panels) == NNC_NARROW_PANELS_64)
#define NNC_PANEL_VECTORS(panels)                                                                  \
  (NNC_IS_NARROW_32(panels) || NNC_IS_NARROW_64(panels) ? 2 : NNC_TILE_VECTORS)
#define NNC_PANEL_ROWS(tile_rows, panels) (NNC_IS_NARROW_32(panels) ? NNC_NARROW_ROWS : (tile_rows))
/* Blocks that are narrower than a panel have one that is not wider than they are, where their width is known. */
#define NNC_VECTORS_UP_TO(vectors, columns, lanes)                                                 \
  ((columns) < (vectors) * (lanes) ? ((columns) + (lanes)-1) / (lanes) : (vectors))
NNC_INLINE int64_t nnc_panel_columns(int panels, int64_t left, int64_t wide, int64_t lanes) {
  const bool is_even = panels == NNC_EVEN_PANELS && wide == 3 * lanes;
  return is_even && left > wide && left <= wide + lanes ? 2 * lanes : nnc_least(wide, left);
}
/* The vectors of a block's last panel, where that is no whole one. */
#define NNC_LAST_VECTORS(panels, columns, wide)                                                    \
  ((panels) == NNC_EVEN_PANELS && (wide) == 3 * LANES && (int64_t)(columns) > (wide) &&            \
           NNC_VECTORS_OF((columns) % (wide)) == 1                                                 \
       ? 2                                                                                         \
       : NNC_VECTORS_OF((columns) % (wide)))

#define NNC_FIXED_TILES(name, tile_rows, panels, M, MB, M_BLOCKS, N, NB, N_BLOCKS)                 \
  NNC_TILE_EXTENTS(NNC_PANEL_ROWS(tile_rows, panels),                                              \
                   NNC_VECTORS_UP_TO(NNC_PANEL_VECTORS(panels), NB, NNC_LANES_##name),             \
                   NNC_LANES_##name, panels, M, MB, M_BLOCKS, N, NB, N_BLOCKS);                    \
  static nnc_tile_of_##name *const tiles[3][3] NNC_UNUSED =                                        \
      NNC_TILE_TABLE_OF(name, NR / LANES, MB, NB)

#define NNC_FOUND_TILES(name, tile_rows, panels, M, MB, M_BLOCKS, N, NB, N_BLOCKS)                 \
  enum {                                                                                           \
    MR = NNC_PANEL_ROWS(tile_rows, panels),                                                        \
    LANES = NNC_LANES_##name,                                                                      \
    NR = NNC_PANEL_VECTORS(panels) * LANES,                                                        \
    PANELS = panels                                                                                \
  };                                                                                               \
  const int64_t ROWS_1 = NNC_LEFT_OF_BLOCK(MB, MR),                                                \
                ROWS_2 = NNC_LEFT_OF_LAST(M, MB, M_BLOCKS, MR),                                    \
                VECTORS_1 = NNC_LAST_VECTORS(panels, NB, NR),                                      \
                VECTORS_2 = NNC_LAST_VECTORS(panels, NNC_LAST_BLOCK(N, NB, N_BLOCKS), NR);         \
  nnc_tile_of_##name *tiles[3][3];                                                                 \
  nnc_find_tiles_##name(tiles, (const int64_t[6]){(int64_t)(MB) < MR ? 0 : MR, ROWS_1, ROWS_2,     \
                                                  (int64_t)(NB) < NR ? 0 : NR / LANES, VECTORS_1,  \
                                                  VECTORS_2})

#define NNC_BLOCK_OF(task)                                                                         \
  const int64_t m_first = (task) % M_BLOCKS * MB, m_end = nnc_least(m_first + MB, M);              \
  const int64_t n_first = (task) / M_BLOCKS % N_BLOCKS * NB, n_end = nnc_least(n_first + NB, N)
#define NNC_EACH_PIECE(whole, KB)                                                                  \
  for (int64_t k = 0, depth NNC_UNUSED = nnc_least(KB, whole); k == 0 || k < (whole);              \
       k += (KB), depth = nnc_least(KB, (whole)-k))
#define NNC_EACH_PANEL                                                                             \
  for (int64_t n = n_first, cols = nnc_panel_columns(PANELS, n_end - n, NR, LANES); n < n_end;     \
       n += cols, cols = nnc_panel_columns(PANELS, n_end - n, NR, LANES))
/* Of a whole panel, or of the only one. */
#define NNC_WHOLE_COLUMNS nnc_least(N, NR)
#define NNC_EACH_TILE                                                                              \
  for (int64_t m = m_first, rows = nnc_least(MR, m_end - m); m < m_end;                            \
       m += MR, rows = nnc_least(MR, m_end - m))

/* The product of rows of a and a panel, with what is read ahead meanwhile, which may be NULL: (depth, a, a_row, a_k,
 * panel, panel_row, tile, tile_row, is_first, ahead). */
#define NNC_MULTIPLY(...)                                                                          \
  tiles[rows == ROWS_1   ? 1                                                                       \
        : rows == ROWS_2 ? 2                                                                       \
                         : 0][NNC_VECTORS_OF(cols) == VECTORS_1   ? 1                              \
                              : NNC_VECTORS_OF(cols) == VECTORS_2 ? 2                              \
                                                                  : 0](__VA_ARGS__)

/* Declares the panel that lies at `from` in memory, its rows `row` apart: read there, or where it is no whole number of
 * vectors from a copy. */
#define NNC_PANEL_IN_PLACE(name, depth, from, row, copy)                                           \
  const __typeof__(*(copy)) *panel = from;                                                         \
  int64_t panel_row = row;                                                                         \
  if (cols % LANES != 0) {                                                                         \
    nnc_pack_block_##name(copy, NR, 0, 0, depth, cols, panel, panel_row, 1);                       \
    nnc_pack_zeros_##name(copy, NR, 0, depth, cols);                                               \
    panel = copy;                                                                                  \
    panel_row = NR;                                                                                \
  }

/* Packs groups of `width` columns, the last filled up with zeros. */
#define NNC_PACK(name, to, width, group, depth, count, ...)                                        \
  nnc_pack_block_##name(to, width, group, 0, depth, count, __VA_ARGS__);                           \
  nnc_pack_zeros_##name(to, width, group, depth, count)

/* The parameters of what takes the sums of a tile, or of several below each other. */
#define NNC_TILE_SUMS(type)                                                                        \
  const int64_t m, const int64_t rows, const int64_t n, const int64_t cols,                        \
      const type *restrict tile, const int64_t tile_row

/* Read ahead while a tile is summed: a share of the next panel, whose rows lie `row` apart from `from` on. */
#define NNC_NEXT_PANEL(depth, from, row)                                                           \
  nnc_ahead_of_panel((uintptr_t)(from), (row) * (int64_t)sizeof *(from), depth,                    \
                     (m - m_first) / MR, (MB + MR - 1) / MR)
NNC_INLINE nnc_ahead nnc_ahead_of_panel(uintptr_t from, int64_t row, int64_t depth, int64_t tile,
                                        int64_t tiles) {
  const int64_t share = (depth + tiles - 1) / tiles;
  return (nnc_ahead){
      .rows = share, .count = 1, .base = {from + (uintptr_t)(tile * share * row)}, .step = {row}};
}

/* The same of the next tile's rows of a, which lies at `a`. Tiles of vectors of 32 bytes take so long that the processor
 * fetches rows that follow each other by itself in time, if they are not far: in a cache, however distant. */
enum { NNC_FETCHES_NEAR_ROWS = NNC_PICK(1, 0, 1) };
#define NNC_NEAR_ROWS_AHEAD(ahead) (NNC_FETCHES_NEAR_ROWS ? (ahead) : NULL)
#define NNC_NEXT_ROWS(depth, a, row)                                                               \
  nnc_ahead_of_rows((uintptr_t)(a) + (uintptr_t)MR * (uintptr_t)(row) * sizeof *(a),               \
                    (row) * (int64_t)sizeof *(a), MR, (depth) * (int64_t)sizeof *(a))
NNC_INLINE nnc_ahead nnc_ahead_of_rows(uintptr_t next, int64_t row, int64_t rows, int64_t bytes) {
  nnc_ahead ahead = {.rows = rows,
                     .count = nnc_least(NNC_AHEAD_PLACES, bytes / NNC_AHEAD_BYTES + 1)};
  NNC_UNROLL for (int i = 0; i < NNC_AHEAD_PLACES; i++) {
    ahead.base[i] = next + (uintptr_t)(i * NNC_AHEAD_BYTES);
    ahead.step[i] = row;
  }
  return ahead;
}

/* The same of what the next tile's sums are joined with: a matrix whose rows lie `row` apart. */
#define NNC_NEXT_TILE(of, row)                                                                     \
  ((uintptr_t)(of) +                                                                               \
   (uintptr_t)((m + MR < m_end ? m + MR : m_first) * (row) + (m + MR < m_end ? n : n + cols)) *    \
       sizeof *(of))

/* Adds a matrix that is packed next, of which the tiles of a block fetch a share each: rows are as many together as the
 * tile's own places. What finds no place any more is fetched when it is packed. */
typedef struct nnc_next_matrix {
  uintptr_t from;
  int64_t rows, row, bytes; /* bytes of a row, and from a row to the next */
} nnc_next_matrix;
#define NNC_THEN_PACKS(of, count, of_row, columns)                                                 \
  nnc_ahead_add(&ahead,                                                                            \
                (nnc_next_matrix){.from = (uintptr_t)(of),                                         \
                                  .rows = count,                                                   \
                                  .row = (of_row) * (int64_t)sizeof *(of),                         \
                                  .bytes = (columns) * (int64_t)sizeof *(of)},                     \
                (n - n_first) / NR * ((m_end - m_first + MR - 1) / MR) + (m - m_first) / MR,       \
                (n_end - n_first + NR - 1) / NR * ((m_end - m_first + MR - 1) / MR))
NNC_INLINE void nnc_ahead_add(nnc_ahead *ahead, nnc_next_matrix matrix, int64_t tile,
                              int64_t tiles) {
  const int64_t groups = (matrix.rows + ahead->rows - 1) / ahead->rows;
  const int64_t places = groups * ((matrix.bytes + NNC_AHEAD_BYTES - 1) / NNC_AHEAD_BYTES);
  const int64_t share = (places + tiles - 1) / tiles, first = tile * share;
  const int64_t most = nnc_least(nnc_least(share, places - first), NNC_AHEAD_PLACES - ahead->count);
  for (int64_t i = first; i < first + most; i++) {
    ahead->base[ahead->count] = matrix.from + (uintptr_t)(i / groups * NNC_AHEAD_BYTES) +
                                (uintptr_t)(i % groups * ahead->rows * matrix.row);
    ahead->step[ahead->count++] = matrix.row;
  }
}

/* Tiles of sizes that are known when it runs are found in a table of all. */
#define NNC_TILES_OF_ROWS(name, rows)                                                              \
  {                                                                                                \
    NULL, NNC_TILE_UP_TO(name, rows, 1), NNC_TILE_UP_TO(name, rows, 2),                            \
        NNC_TILE_UP_TO(name, rows, 3)                                                              \
  }
#define NNC_TILE_UP_TO(name, rows, vectors)                                                        \
  (NNC_IS_TILE(rows, vectors) ? nnc_tile_##name##_##rows##_##vectors : NULL)
#define NNC_DEFINE_FIND_TILES(name)                                                                \
  NNC_INLINE void nnc_look_for_tiles_##name(nnc_tile_of_##name *found[3][3],                       \
                                            const int64_t *sizes) {                                \
    static nnc_tile_of_##name *const all[9][4] = {{NULL},                                          \
                                                  NNC_TILES_OF_ROWS(name, 1),                      \
                                                  NNC_TILES_OF_ROWS(name, 2),                      \
                                                  NNC_TILES_OF_ROWS(name, 3),                      \
                                                  NNC_TILES_OF_ROWS(name, 4),                      \
                                                  NNC_TILES_OF_ROWS(name, 5),                      \
                                                  NNC_TILES_OF_ROWS(name, 6),                      \
                                                  NNC_TILES_OF_ROWS(name, 7),                      \
                                                  NNC_TILES_OF_ROWS(name, 8)};                     \
    for (int r = 0; r < 3; r++)                                                                    \
      for (int v = 0; v < 3; v++) found[r][v] = all[sizes[r]][sizes[3 + v]];                       \
  }

#define NNC_FIND_TILES(make, name)                                                                 \
  make(nnc_find_tiles_##name, (nnc_tile_of_##name * found[3][3], const int64_t *sizes),            \
       nnc_look_for_tiles_##name(found, sizes))

NNC_DEFINE_FIND_TILES(f32)
NNC_DEFINE_FIND_TILES(f64)
NNC_DEFINE_FIND_TILES(i32)
NNC_DEFINE_FIND_TILES(i64)
NNC_FIND_TILES(NNC_COMMON, f32)
NNC_FIND_TILES(NNC_COMMON, f64)
NNC_FIND_TILES(NNC_OWN, i32)
NNC_FIND_TILES(NNC_OWN, i64)

NNC_INLINE int64_t nnc_round_up_lanes(int64_t n, int64_t lanes) {
  return (n + lanes - 1) / lanes * lanes;
}

/* Two vectors of 8 in turns: the low halves, the high halves. */
#if defined(__clang__)
#define NNC_TURNS_LOW(x, y, mask) __builtin_shufflevector(x, y, 0, 8, 1, 9, 2, 10, 3, 11)
#define NNC_TURNS_HIGH(x, y, mask) __builtin_shufflevector(x, y, 4, 12, 5, 13, 6, 14, 7, 15)
#else
#define NNC_TURNS_LOW(x, y, mask) __builtin_shuffle(x, y, (mask){0, 8, 1, 9, 2, 10, 3, 11})
#define NNC_TURNS_HIGH(x, y, mask) __builtin_shuffle(x, y, (mask){4, 12, 5, 13, 6, 14, 7, 15})
#endif

/* dst[i, c] = src[c, i] of 8 by 8: three times, rows r and r + 4 become rows 2 r and 2 r + 1 in turns. */
#define NNC_DEFINE_TRANSPOSE(name, type, mask_type, source)                                        \
  typedef type nnc_eight_##name __attribute__((vector_size(8 * sizeof(type))));                    \
  typedef mask_type nnc_mask_##name __attribute__((vector_size(8 * sizeof(type))));                \
  NNC_INLINE void nnc_transpose_##name(type *restrict dst, int64_t width,                          \
                                       const source *restrict src, int64_t src_c) {                \
    nnc_eight_##name row[8], next[8];                                                              \
    NNC_UNROLL for (int r = 0; r < 8; r++) memcpy(&row[r], src + r * src_c, sizeof row[r]);        \
    NNC_UNROLL for (int stage = 0; stage < 3; stage++) {                                           \
      NNC_UNROLL for (int r = 0; r < 4; r++) {                                                     \
        next[2 * r] = NNC_TURNS_LOW(row[r], row[r + 4], nnc_mask_##name);                          \
        next[2 * r + 1] = NNC_TURNS_HIGH(row[r], row[r + 4], nnc_mask_##name);                     \
      }                                                                                            \
      NNC_UNROLL for (int r = 0; r < 8; r++) row[r] = next[r];                                     \
    }                                                                                              \
    NNC_UNROLL for (int r = 0; r < 8; r++) memcpy(dst + r * width, &row[r], sizeof row[r]);        \
  }

NNC_DEFINE_TRANSPOSE(f32, float, int32_t, float)
NNC_DEFINE_TRANSPOSE(f64, double, int64_t, double)
NNC_DEFINE_TRANSPOSE(i32, int32_t, int32_t, int32_t)
NNC_DEFINE_TRANSPOSE(i64, int64_t, int64_t, int64_t)

/* Packing: columns [column, column + count) of a block go to groups of `width` columns, which lie
 * `group` elements apart:
 *
 *     dst[c / width * group + i * width + c % width] = src[i * src_k + (c - column) * src_c]    i < k
 *
 * NNC_DEFINE_PACK_GROUPS makes nnc_pack_groups_NAME of nnc_pack_row_NAME, which copies neighbours, and
 * nnc_pack_columns_NAME, which transposes; NNC_PACK_BLOCK makes the function nnc_pack_block_NAME of it.
 * Rows are read whole, for all groups at once; `step` of them make one packed row, and a row is told the next one, NULL after the last. */
enum { NNC_PACK_AHEAD = 12 }; /* rows that are fetched early, into the second-level cache */
#define NNC_DEFINE_PACK_GROUPS(name, type, source, step)                                           \
  NNC_INLINE void nnc_pack_groups_##name(                                                          \
      type *restrict dst, int64_t width, int64_t group, int64_t column, int64_t k, int64_t count,  \
      const source *restrict src, int64_t src_k, int64_t src_c) {                                  \
    const int64_t rows = src_c == 1 ? k : 1;                                                       \
    type *const first = dst + column / width * group;                                              \
    for (int64_t i = 0; i < rows; i += step) {                                                     \
      type *to = first + i / step * width;                                                         \
      if (src_c == 1)                                                                              \
        for (int64_t c = 0; c < count; c += 64 / (int)sizeof *src)                                 \
          for (int r = 0; r < step; r++)                                                           \
            __builtin_prefetch(src + (i + r + NNC_PACK_AHEAD) * src_k + c, 0, 2);                  \
      int64_t c = 0, at = column % width, here;                                                    \
      if (src_c == 1 && width == NNC_TILE_ROWS && at == 0) { /* of a length that is known */       \
        const source *const from = src + i * src_k;                                                \
        NNC_SHORT for (; c + NNC_TILE_ROWS <= count; c += NNC_TILE_ROWS, to += group)              \
            nnc_pack_row_##name(to, from + c, i + 1 < rows ? from + src_k + c : NULL,              \
                                NNC_TILE_ROWS);                                                    \
      }                                                                                            \
      for (; c < count; c += here, at = 0, to += group) {                                          \
        const source *const from = src + i * src_k + c * src_c;                                    \
        const source *const next = i + 1 < rows ? from + src_k : NULL;                             \
        here = nnc_least(width - at, count - c);                                                   \
        if (src_c == 1) nnc_pack_row_##name(to + at, from, next, here);                            \
        else nnc_pack_columns_##name(to + at, width, k, here, from, src_k, src_c);                 \
      }                                                                                            \
    }                                                                                              \
  }

#define NNC_PACK_BLOCK(make, name, type, source)                                                   \
  make(nnc_pack_block_##name,                                                                      \
       (type *restrict dst, int64_t width, int64_t group, int64_t column, int64_t k,               \
        int64_t count, const source *restrict src, int64_t src_k, int64_t src_c),                  \
       nnc_pack_groups_##name(dst, width, group, column, k, count, src, src_k, src_c))

/* A line of each column at a time, so that lines of both sides stay in the cache; whole lines of eight
 * columns are transposed. nnc_pack_element_NAME(src, src_k) is one packed element, of `step` rows; what
 * is left of the depth is a packed element with 0 in its other places. */
#define NNC_DEFINE_PACK_COLUMNS(name, type, source, step)                                          \
  NNC_INLINE void nnc_pack_columns_##name(type *restrict dst, int64_t width, int64_t k,            \
                                          int64_t count, const source *restrict src,               \
                                          int64_t src_k, int64_t src_c) {                          \
    enum { LENGTH = 64 / (int)sizeof(source) };                                                    \
    const int64_t whole = src_k == 1 ? count / 8 * 8 : 0; /* columns that go eight at a time */    \
    const int64_t depth = k / step * step;                                                         \
    for (int64_t first = 0; first < depth; first += LENGTH) {                                      \
      const int64_t end = nnc_least(first + LENGTH, depth);                                        \
      const int64_t eights = end - first < LENGTH ? 0 : whole;                                     \
      NNC_SHORT for (int64_t c = 0; c < eights; c += 8) {                                          \
        NNC_SHORT for (int64_t i = first; i < end; i += 8 * step)                                  \
            nnc_transpose_##name(dst + i / step * width + c, width, src + c * src_c + i, src_c);   \
        NNC_SHORT for (int r = 0; r < 8; r++)                                                      \
            __builtin_prefetch(src + (c + r) * src_c + end + LENGTH);                              \
      }                                                                                            \
      NNC_SHORT for (int64_t c = eights; c < count; c++) {                                         \
        if (end < k) __builtin_prefetch(src + c * src_c + (first + 2 * LENGTH) * src_k);           \
        NNC_SHORT for (int64_t i = first; i < end; i += step) dst[i / step * width + c] =          \
            nnc_pack_element_##name(src + c * src_c + i * src_k, src_k);                           \
      }                                                                                            \
    }                                                                                              \
    if (depth < k)                                                                                 \
      for (int64_t c = 0; c < count; c++)                                                          \
        dst[depth / step * width + c] = src[c * src_c + depth * src_k];                            \
  }

#define NNC_DEFINE_PACK(name, type)                                                                \
  NNC_INLINE void nnc_pack_row_##name(type *restrict dst, const type *restrict src,                \
                                      const type *next, int64_t count) {                           \
    int64_t c = 0;                                                                                 \
    type *to = dst;                                                                                \
    (void)next;                                                                                    \
    for (; c + 16 <= count; c += 16, to += 16) {                                                   \
      memcpy(to, src + c, 16 * sizeof *dst);                                                       \
      NNC_OPAQUE(to); /* or the loop becomes a call, which takes longer */                         \
    }                                                                                              \
    if (c + 8 <= count) memcpy(dst + c, src + c, 8 * sizeof *dst), c += 8;                         \
    if (c + 4 <= count) memcpy(dst + c, src + c, 4 * sizeof *dst), c += 4;                         \
    if (c + 2 <= count) memcpy(dst + c, src + c, 2 * sizeof *dst), c += 2;                         \
    NNC_SHORT for (; c < count; c++) dst[c] = src[c];                                              \
  }                                                                                                \
  /* Fewer than a vector: a loop would become a call, which takes longer. */                       \
  NNC_INLINE void nnc_zero_row_##name(type *dst, int64_t count) {                                  \
    static const type zeros[8] = {0};                                                              \
    if (count & 8) memcpy(dst, zeros, 8 * sizeof *dst), dst += 8;                                  \
    if (count & 4) memcpy(dst, zeros, 4 * sizeof *dst), dst += 4;                                  \
    if (count & 2) memcpy(dst, zeros, 2 * sizeof *dst), dst += 2;                                  \
    if (count & 1) *dst = 0;                                                                       \
  }                                                                                                \
  NNC_INLINE type nnc_pack_element_##name(const type *src, int64_t src_k) {                        \
    (void)src_k;                                                                                   \
    return *src;                                                                                   \
  }                                                                                                \
  NNC_DEFINE_PACK_COLUMNS(name, type, type, 1)                                                     \
  NNC_DEFINE_PACK_GROUPS(name, type, type, 1)                                                      \
  /* Fills the last group's columns from `count` on with 0, up to a whole vector. */               \
  NNC_SHARED void nnc_pack_zeros_##name(type *dst, int64_t width, int64_t group, int64_t k,        \
                                        int64_t count) {                                           \
    const int64_t used = count % width;                                                            \
    const int64_t padded = nnc_least(width, nnc_round_up_lanes(used, NNC_LANES_##name));           \
    type *to = dst + count / width * group + used;                                                 \
    for (int64_t i = 0; i < k; i++, to += width) nnc_zero_row_##name(to, padded - used);           \
  }

NNC_DEFINE_PACK(f32, float)
NNC_DEFINE_PACK(f64, double)
NNC_DEFINE_PACK(i32, int32_t)
NNC_DEFINE_PACK(i64, int64_t)
NNC_PACK_BLOCK(NNC_COMMON, f32, float, float)
NNC_PACK_BLOCK(NNC_COMMON, f64, double, double)
NNC_PACK_BLOCK(NNC_OWN, i32, int32_t, int32_t)
NNC_PACK_BLOCK(NNC_OWN, i64, int64_t, int64_t)

#endif
