/* Convolutions of 3 x 3 taps by Winograd's minimal filtering F(2x2, 3x3), with channels last.
 *
 * Four neighbouring results, 2 x 2, depend on 4 x 4 places. With the places d, the taps g and the
 * results y of one channel
 *
 *     y = A' [ (G g G') * (B' d B) ] A          * element by element, ' transposed
 *
 * so the sum over channels goes over 16 products for four results, where a direct convolution has 36. The gradient
 * in the taps is the same form backwards: G' [ (B' d B) * (A y A') ] G, summed over all tiles.
 *
 *     B' = 1  0 -1  0     G =  1   0   0      A' = 1 1  1  0
 *          0  1  1  0         1/2 1/2 1/2          0 1 -1 -1
 *          0 -1  1  0         1/2 -1/2 1/2
 *          0  1  0 -1          0   0   1
 *
 * Coefficients are 1 and 1/2: sums of more terms are rounded, by at most some times as much as those of the direct
 * convolution. Lavin, Gray: "Fast Algorithms for Convolutional Neural Networks", CVPR 2016, section 4.1.
 *
 * Vectors are of channels, whose number is a multiple of 16 and so of all vectors. What belongs to one
 * of the 16 products lies together: [16][tiles][channels]. nnc_winograd_4.h has the same for tiles of 4 x 4
 * results; what is of one size alone has it in its name. */
#ifndef NNC_WINOGRAD_H
#define NNC_WINOGRAD_H

#include "nnc_gemm.h"

/* A plane of places of one image, and the tiles of some of its rows. */
typedef struct nnc_winograd_tiles {
  const float *from; /* place 0, channel 0 */
  int64_t channels;  /* from a place to the next */
  int64_t extent[2]; /* places */
  int64_t
      low[2]; /* zeros before them: tile (r, t) begins at place size r - low[0], size t - low[1] */
  int64_t first, rows;  /* of tiles */
  int64_t columns;      /* tiles of a row */
  int64_t count;        /* channels to do */
  float *to;            /* [products][...][row]: of a product from a tile to the next ... */
  int64_t row, product; /* ... and from a product to the next */
} nnc_winograd_tiles;

static const float nnc_winograd_zeros[NNC_LANES_f32] NNC_ALIGNED = {0};

/* B' of one column of four places: `line` are the lines' first elements, NULL outside. */
NNC_INLINE void nnc_winograd_column_2(const float *const line[4], int64_t at, bool inside,
                                      nnc_vec_f32 to[4]) {
  nnc_vec_f32 d[4];
  NNC_UNROLL for (int i = 0; i < 4; i++) d[i] =
      nnc_load_f32(inside && line[i] ? line[i] + at : nnc_winograd_zeros);
  to[0] = d[0] - d[2];
  to[1] = d[1] + d[2];
  to[2] = d[2] - d[1];
  to[3] = d[1] - d[3];
}

/* B' d B of all tiles. */
NNC_INLINE void nnc_winograd_source_2(const nnc_winograd_tiles *tiles) {
  for (int64_t r = 0; r < tiles->rows; r++)
    for (int64_t c = 0; c < tiles->count; c += NNC_LANES_f32) {
      const float *line[4];
      const int64_t x = 2 * (tiles->first + r) - tiles->low[0];
      for (int i = 0; i < 4; i++)
        line[i] = nnc_within(x + i, tiles->extent[0])
                      ? tiles->from + (x + i) * tiles->extent[1] * tiles->channels + c
                      : NULL;
      float *to = tiles->to + r * tiles->columns * tiles->row + c;
      nnc_vec_f32 t[4][4] = {{{0}}};
      for (int64_t k = -1; k<tiles->columns; k++, to += k> 0 ? tiles->row : 0) {
        const int64_t at = 2 * k + 2 - tiles->low[1];
        nnc_winograd_column_2(line, at * tiles->channels, nnc_within(at, tiles->extent[1]), t[2]);
        nnc_winograd_column_2(line, (at + 1) * tiles->channels,
                              nnc_within(at + 1, tiles->extent[1]), t[3]);
        if (k >= 0) {
          NNC_UNROLL for (int i = 0; i < 4; i++) {
            float *own = to + 4 * i * tiles->product;
            nnc_store_f32(own, t[0][i] - t[2][i]);
            nnc_store_f32(own + tiles->product, t[1][i] + t[2][i]);
            nnc_store_f32(own + 2 * tiles->product, t[2][i] - t[1][i]);
            nnc_store_f32(own + 3 * tiles->product, t[1][i] - t[3][i]);
          }
        }
        NNC_UNROLL for (int i = 0; i < 4; i++) t[0][i] = t[2][i], t[1][i] = t[3][i];
      }
    }
}

/* Tiles that are being multiplied: of `rows` rows of results, which end there, of some images before `end`. What is
 * transformed after them has at most so many lines, and each of `shares` tiles of their products asks for a share of it:
 * what is read in wide steps no processor foresees, and while a tile is summed memory has nothing else to do. */
typedef struct nnc_winograd_block {
  int64_t image, images, end, rows;
  int64_t lines, shares;
} nnc_winograd_block;

/* Places that are transformed next. */
typedef struct nnc_winograd_places {
  const float *from;
  int64_t step, channels; /* from a place to the next; of each */
  int64_t count, shares;
} nnc_winograd_places;

/* Of images of these extents from `from` on: from the line on that the block has not read, `read` after its last row. */
NNC_INLINE nnc_winograd_places nnc_winograd_next(const nnc_winograd_block *block, const float *from,
                                                 const int64_t extent[2], int64_t step,
                                                 int64_t channels, int64_t read) {
  const bool is_within = block->rows + read < extent[0];
  const int64_t line = is_within ? block->image * extent[0] + block->rows + read
                                 : (block->image + block->images) * extent[0];
  return (nnc_winograd_places){.from = from + line * extent[1] * step,
                               .step = step,
                               .channels = channels,
                               .count = nnc_least(block->lines, block->end * extent[0] - line) *
                                        extent[1],
                               .shares = block->shares};
}

NNC_INLINE void nnc_winograd_fetch(const nnc_winograd_places *next, int64_t share) {
  enum { LINE = 16 /* elements of a cache line */ };
  const int64_t lines = (next->channels + LINE - 1) / LINE, all = next->count * lines;
  const int64_t own = (all + next->shares - 1) / next->shares;
  NNC_ROLLED for (int64_t i = share * own; i < nnc_least((share + 1) * own, all); i++)
      __builtin_prefetch(next->from + i / lines * next->step + i % lines * LINE, 0, 2);
}

/* A y A' of all tiles: y are the 2 x 2 places where a tile's results lie, zero outside. */
NNC_INLINE void nnc_winograd_gradient_2(const nnc_winograd_tiles *tiles) {
  for (int64_t r = 0; r < tiles->rows; r++)
    for (int64_t k = 0; k < tiles->columns; k++) {
      const int64_t x0 = 2 * (tiles->first + r), x1 = 2 * k;
      const bool below = x0 + 1 < tiles->extent[0], right = x1 + 1 < tiles->extent[1];
      const float *from = tiles->from + (x0 * tiles->extent[1] + x1) * tiles->channels;
      const float *under = from + tiles->extent[1] * tiles->channels;
      float *to = tiles->to + (r * tiles->columns + k) * tiles->row;
      for (int64_t c = 0; c < tiles->count; c += NNC_LANES_f32) {
        const float *const zeros = nnc_winograd_zeros;
        nnc_vec_f32 y[2][2], t[4][2];
        y[0][0] = nnc_load_f32(from + c);
        y[0][1] = nnc_load_f32(right ? from + tiles->channels + c : zeros);
        y[1][0] = nnc_load_f32(below ? under + c : zeros);
        y[1][1] = nnc_load_f32(below && right ? under + tiles->channels + c : zeros);
        NNC_UNROLL for (int i = 0; i < 2; i++) {
          t[0][i] = y[0][i];
          t[1][i] = y[0][i] + y[1][i];
          t[2][i] = y[0][i] - y[1][i];
          t[3][i] = -y[1][i];
        }
        NNC_UNROLL for (int i = 0; i < 4; i++) {
          float *own = to + c + 4 * i * tiles->product;
          nnc_store_f32(own, t[i][0]);
          nnc_store_f32(own + tiles->product, t[i][0] + t[i][1]);
          nnc_store_f32(own + 2 * tiles->product, t[i][0] - t[i][1]);
          nnc_store_f32(own + 3 * tiles->product, -t[i][1]);
        }
      }
    }
}

/* A' m A of one tile's sums, for a vector of channels: m[4 i + k] lie `product` elements apart. Results go to two
 * lines, `line` elements apart, places of a line being `place` elements apart. */
NNC_INLINE void nnc_winograd_result_2(const float *m, int64_t product, float *to, int64_t line,
                                      int64_t place) {
  nnc_vec_f32 t[2][4];
  NNC_UNROLL for (int k = 0; k < 4; k++) {
    const nnc_vec_f32 m0 = nnc_load_f32(m + k * product), m1 = nnc_load_f32(m + (4 + k) * product);
    const nnc_vec_f32 m2 = nnc_load_f32(m + (8 + k) * product);
    const nnc_vec_f32 m3 = nnc_load_f32(m + (12 + k) * product);
    t[0][k] = m0 + m1 + m2;
    t[1][k] = m1 - m2 - m3;
  }
  NNC_UNROLL for (int i = 0; i < 2; i++) {
    nnc_store_f32(to + i * line, t[i][0] + t[i][1] + t[i][2]);
    nnc_store_f32(to + i * line + place, t[i][1] - t[i][2] - t[i][3]);
  }
}

/* G' u G of one vector of sums. */
NNC_INLINE void nnc_winograd_taps_2(const float *u, int64_t product, nnc_vec_f32 g[3][3]) {
  const nnc_vec_f32 half = nnc_splat_f32(0.5f);
  nnc_vec_f32 t[3][4];
  NNC_UNROLL for (int k = 0; k < 4; k++) {
    const nnc_vec_f32 u1 = nnc_load_f32(u + (4 + k) * product);
    const nnc_vec_f32 u2 = nnc_load_f32(u + (8 + k) * product);
    const nnc_vec_f32 more = half * (u1 + u2);
    t[0][k] = nnc_load_f32(u + k * product) + more;
    t[1][k] = half * (u1 - u2);
    t[2][k] = more + nnc_load_f32(u + (12 + k) * product);
  }
  NNC_UNROLL for (int i = 0; i < 3; i++) {
    const nnc_vec_f32 more = half * (t[i][1] + t[i][2]);
    g[i][0] = t[i][0] + more;
    g[i][1] = half * (t[i][1] - t[i][2]);
    g[i][2] = more + t[i][3];
  }
}

/* Weights for the register tile: columns in panels as wide as it. */
typedef struct nnc_winograd_weights {
  const float *from;
  int64_t column, depth, tap; /* elements to the next column, channel of the sum, tap */
  bool is_turned;             /* the taps from the last to the first */
  int64_t columns, channels;  /* of the result; of the sum */
  int64_t width;              /* of a panel */
  float *to;                  /* [panel][products][channels][width], zeros after the last column */
} nnc_winograd_weights;

/* G g of three taps a step apart. */
NNC_INLINE void nnc_winograd_spread(const nnc_vec_f32 g[3], nnc_vec_f32 to[4]) {
  const nnc_vec_f32 half = nnc_splat_f32(0.5f), ends = half * (g[0] + g[2]), middle = half * g[1];
  to[0] = g[0];
  to[1] = ends + middle;
  to[2] = ends - middle;
  to[3] = g[2];
}

/* Columns [n, n + width) of one channel as [9][width], zeros after the last one. */
NNC_INLINE void nnc_winograd_gather(const nnc_winograd_weights *weights, int64_t n, int64_t c,
                                    float *to) {
  const int64_t width = weights->width, own = nnc_least(width, weights->columns - n);
  const float *from = weights->from + n * weights->column + c * weights->depth;
  for (int tap = 0; tap < 9; tap++) {
    const float *of = from + (weights->is_turned ? 8 - tap : tap) * weights->tap;
    if (weights->column == 1)
      for (int64_t k = 0; k < own; k++) to[tap * width + k] = of[k];
    else
      for (int64_t k = 0; k < own; k++) to[tap * width + k] = of[k * weights->column];
    for (int64_t k = own; k < width; k++) to[tap * width + k] = 0;
  }
}

/* G g G' of all weights. */
NNC_INLINE void nnc_winograd_pack_2(const nnc_winograd_weights *weights) {
  enum { WIDTH = NNC_TILE_VECTORS * NNC_LANES_f32 };
  const int64_t width = weights->width, product = weights->channels * width;
  float taps[9 * WIDTH] NNC_ALIGNED;
  for (int64_t n = 0; n < weights->columns; n += width)
    for (int64_t c = 0; c < weights->channels; c++) {
      float *to = weights->to + n * weights->channels * 16 + c * width;
      nnc_winograd_gather(weights, n, c, taps);
      for (int64_t k = 0; k < width; k += NNC_LANES_f32) {
        nnc_vec_f32 g[3], t[4][3], u[4];
        NNC_UNROLL for (int i = 0; i < 3; i++) {
          NNC_UNROLL for (int r = 0; r < 3; r++) g[r] =
              nnc_load_f32(taps + (3 * r + i) * width + k);
          nnc_winograd_spread(g, u);
          NNC_UNROLL for (int r = 0; r < 4; r++) t[r][i] = u[r];
        }
        NNC_UNROLL for (int r = 0; r < 4; r++) {
          nnc_winograd_spread(t[r], u);
          NNC_UNROLL for (int i = 0; i < 4; i++)
              nnc_store_f32(to + (4 * r + i) * product + k, u[i]);
        }
      }
    }
}

#endif
