/* Sums over the positions of a convolution of few channels, for the gradient in its weights.
 *
 *     tile[(r * rows + e), c] += sum over lines l, positions p:  a[r * a_run + l * a_line + p * a_step + e] * b[p, c]
 *
 * What the taps of a line see of a position follows each other in memory, `rows` elements, and what they see of
 * the next position begins a_step further: so elements of a are broadcast from where they lie, and nothing is
 * copied for the taps. Rows of b, the channels of the result's gradient at a position, are loaded as vectors. The
 * tile is of `runs` lines of taps and stays in registers for all lines of positions. */
#ifndef NNC_NARROW_H
#define NNC_NARROW_H

#include "nnc_window.h"

enum { NNC_NARROW_SUMS = NNC_TILE_ROWS * NNC_TILE_VECTORS }; /* vectors of a tile */

typedef struct nnc_narrow {
  int64_t lines, positions; /* positions of each line */
  int64_t a_run, a_line,
      a_step;     /* elements of a between lines of taps, lines of positions, positions */
  int64_t b_step; /* elements of b between positions, of all lines */
  int64_t tile_row;
} nnc_narrow;

/* The size of the tile is constant where it is called. */
#define NNC_DEFINE_NARROW(name, type)                                                              \
  NNC_INLINE void nnc_narrow_tile_##name(const int runs, const int rows, const int vectors,        \
                                         const nnc_narrow *of, const type *a, const type *b,       \
                                         type *tile) {                                             \
    enum { LANES = NNC_LANES_##name };                                                             \
    nnc_vec_##name sum[NNC_NARROW_SUMS], row[NNC_TILE_VECTORS];                                    \
    NNC_UNROLL for (int r = 0; r < runs * rows; r++) NNC_UNROLL for (int v = 0; v < vectors; v++)  \
        sum[r * vectors + v] = nnc_load_##name(tile + r * of->tile_row + v * LANES);               \
    for (int64_t l = 0; l < of->lines; l++) {                                                      \
      const type *x = a + l * of->a_line;                                                          \
      for (int64_t p = 0; p < of->positions; p++) {                                                \
        NNC_UNROLL for (int v = 0; v < vectors; v++) row[v] = nnc_load_##name(b + v * LANES);      \
        NNC_UNROLL for (int r = 0; r < runs; r++) NNC_UNROLL for (int e = 0; e < rows; e++) {      \
          const nnc_vec_##name seen = nnc_splat_##name(x[r * of->a_run + e]);                      \
          NNC_UNROLL for (int v = 0; v < vectors; v++) sum[(r * rows + e) * vectors + v] +=        \
              seen * row[v];                                                                       \
        }                                                                                          \
        x += of->a_step;                                                                           \
        b += of->b_step;                                                                           \
      }                                                                                            \
    }                                                                                              \
    NNC_UNROLL for (int r = 0; r < runs * rows; r++) NNC_UNROLL for (int v = 0; v < vectors; v++)  \
        nnc_store_##name(tile + r * of->tile_row + v * LANES, sum[r * vectors + v]);               \
  }

NNC_DEFINE_NARROW(f32, float)
NNC_DEFINE_NARROW(f64, double)

/* How the weights are cut into tiles: a line of taps has `run` weights, in `cuts` tiles of `rows` or fewer; or a
 * tile has `runs` of the `taps` lines of a plane, which has `of_plane` tiles. */
typedef struct nnc_narrow_cut {
  int64_t cuts, rows, runs, of_plane, taps, run;
} nnc_narrow_cut;

/* The first weight of a tile; of the number of tiles, all weights. */
NNC_INLINE int64_t nnc_narrow_first(const nnc_narrow_cut *of, int64_t tile) {
  const int64_t stack = tile / of->cuts % of->of_plane, plane = tile / (of->cuts * of->of_plane);
  return (plane * of->taps + stack * of->runs) * of->run + tile % of->cuts * of->rows;
}

#endif
