/* Winograd's minimal filtering F(4x4, 3x3): nnc_winograd.h with tiles of 4 x 4 results.
 *
 * A tile depends on 6 x 6 places, so the sum over channels goes over 36 products for 16 results: 2.25 each, where
 * F(2x2, 3x3) has 4 and a direct convolution 9. The matrices are those of the points 0, a, -a, b, -b and infinity;
 * with s = a^2 + b^2, t = a^2 b^2
 *
 *     B' = t   0   -s   0   1  0     G = 1/t (1  0  0)             A' = 1  1   1   1   1  0
 *          0 -ab^2 -b^2 a   1  0         1/u (1  a  a^2)                0  a  -a   b  -b  0
 *          0  ab^2 -b^2 -a  1  0         1/u (1 -a  a^2)                0 a^2 a^2 b^2 b^2 0
 *          0 -ba^2 -a^2 b   1  0         1/v (1  b  b^2)                0 a^3 -a^3 b^3 -b^3 1
 *          0  ba^2 -a^2 -b  1  0         1/v (1 -b  b^2)
 *          0   t    0   -s  0  1              0  0  1          u = 2 a^2 (a^2 - b^2), v = 2 b^2 (b^2 - a^2)
 *
 * The points decide how many digits are lost: with 5/8 and 3/2 errors are less than half of those of the usual 1 and
 * 2, and B' and A' have no rounded coefficients. Of sums over 64 to 256 channels they are 1.6 to 2.2 times those of a
 * direct convolution in the root mean square, at most 2.5 times in the greatest.
 * Barabasz et al.: "Error Analysis and Improving the Accuracy of Winograd Convolution", TOMS 46 (2020). */
#ifndef NNC_WINOGRAD_4_H
#define NNC_WINOGRAD_4_H

#include "nnc_winograd.h"

#define NNC_WINOGRAD_A 0.625f
#define NNC_WINOGRAD_B 1.5f
#define NNC_WINOGRAD_A2 (NNC_WINOGRAD_A * NNC_WINOGRAD_A)
#define NNC_WINOGRAD_B2 (NNC_WINOGRAD_B * NNC_WINOGRAD_B)
#define NNC_WINOGRAD_S (NNC_WINOGRAD_A2 + NNC_WINOGRAD_B2)
#define NNC_WINOGRAD_T (NNC_WINOGRAD_A2 * NNC_WINOGRAD_B2)
#define NNC_WINOGRAD_U (2 * NNC_WINOGRAD_A2 * (NNC_WINOGRAD_A2 - NNC_WINOGRAD_B2))
#define NNC_WINOGRAD_V (2 * NNC_WINOGRAD_B2 * (NNC_WINOGRAD_B2 - NNC_WINOGRAD_A2))

/* B' d */
NNC_INLINE void nnc_winograd_places_4(const nnc_vec_f32 d[6], nnc_vec_f32 to[6]) {
  const nnc_vec_f32 a = nnc_splat_f32(NNC_WINOGRAD_A), b = nnc_splat_f32(NNC_WINOGRAD_B);
  const nnc_vec_f32 a2 = nnc_splat_f32(NNC_WINOGRAD_A2), b2 = nnc_splat_f32(NNC_WINOGRAD_B2);
  const nnc_vec_f32 s = nnc_splat_f32(NNC_WINOGRAD_S), t = nnc_splat_f32(NNC_WINOGRAD_T);
  const nnc_vec_f32 even_a = d[4] - b2 * d[2], odd_a = d[3] - b2 * d[1];
  const nnc_vec_f32 even_b = d[4] - a2 * d[2], odd_b = d[3] - a2 * d[1];
  to[0] = d[4] - s * d[2] + t * d[0];
  to[1] = even_a + a * odd_a;
  to[2] = even_a - a * odd_a;
  to[3] = even_b + b * odd_b;
  to[4] = even_b - b * odd_b;
  to[5] = d[5] - s * d[3] + t * d[1];
}

/* A' m */
NNC_INLINE void nnc_winograd_sums_4(const nnc_vec_f32 m[6], nnc_vec_f32 to[4]) {
  const nnc_vec_f32 a = nnc_splat_f32(NNC_WINOGRAD_A), b = nnc_splat_f32(NNC_WINOGRAD_B);
  const nnc_vec_f32 a2 = nnc_splat_f32(NNC_WINOGRAD_A2), b2 = nnc_splat_f32(NNC_WINOGRAD_B2);
  const nnc_vec_f32 even_a = m[1] + m[2], odd_a = a * (m[1] - m[2]);
  const nnc_vec_f32 even_b = m[3] + m[4], odd_b = b * (m[3] - m[4]);
  to[0] = m[0] + even_a + even_b;
  to[1] = odd_a + odd_b;
  to[2] = a2 * even_a + b2 * even_b;
  to[3] = a2 * odd_a + b2 * odd_b + m[5];
}

/* G g */
NNC_INLINE void nnc_winograd_spread_4(const nnc_vec_f32 g[3], nnc_vec_f32 to[6]) {
  const float u = NNC_WINOGRAD_U, v = NNC_WINOGRAD_V;
  const nnc_vec_f32 even_a =
      nnc_splat_f32(1 / u) * g[0] + nnc_splat_f32(NNC_WINOGRAD_A2 / u) * g[2];
  const nnc_vec_f32 even_b =
      nnc_splat_f32(1 / v) * g[0] + nnc_splat_f32(NNC_WINOGRAD_B2 / v) * g[2];
  const nnc_vec_f32 odd_a = nnc_splat_f32(NNC_WINOGRAD_A / u) * g[1];
  const nnc_vec_f32 odd_b = nnc_splat_f32(NNC_WINOGRAD_B / v) * g[1];
  to[0] = nnc_splat_f32(1 / NNC_WINOGRAD_T) * g[0];
  to[1] = even_a + odd_a;
  to[2] = even_a - odd_a;
  to[3] = even_b + odd_b;
  to[4] = even_b - odd_b;
  to[5] = g[2];
}

/* B' of one column of six places: `line` are the lines' first elements, NULL outside. */
NNC_INLINE void nnc_winograd_column_4(const float *const line[6], int64_t at, bool inside,
                                      nnc_vec_f32 to[6]) {
  nnc_vec_f32 d[6];
  NNC_UNROLL for (int i = 0; i < 6; i++) d[i] =
      nnc_load_f32(inside && line[i] ? line[i] + at : nnc_winograd_zeros);
  nnc_winograd_places_4(d, to);
}

/* B' d B of all tiles. A tile's first two columns are the last two of the tile before. */
NNC_INLINE void nnc_winograd_source_4(const nnc_winograd_tiles *tiles) {
  for (int64_t r = 0; r < tiles->rows; r++)
    for (int64_t c = 0; c < tiles->count; c += NNC_LANES_f32) {
      const float *line[6];
      const int64_t x = 4 * (tiles->first + r) - tiles->low[0];
      for (int i = 0; i < 6; i++)
        line[i] = nnc_within(x + i, tiles->extent[0])
                      ? tiles->from + (x + i) * tiles->extent[1] * tiles->channels + c
                      : NULL;
      float *to = tiles->to + r * tiles->columns * tiles->row + c;
      nnc_vec_f32 t[6][6]; /* [column][product] */
      int64_t at = -tiles->low[1];
      NNC_UNROLL for (int j = 0; j < 2; j++, at++)
          nnc_winograd_column_4(line, at * tiles->channels, nnc_within(at, tiles->extent[1]), t[j]);
      for (int64_t k = 0; k < tiles->columns; k++, to += tiles->row) {
        NNC_UNROLL for (int j = 2; j < 6; j++, at++) nnc_winograd_column_4(
            line, at * tiles->channels, nnc_within(at, tiles->extent[1]), t[j]);
        NNC_UNROLL for (int i = 0; i < 6; i++) {
          const nnc_vec_f32 d[6] = {t[0][i], t[1][i], t[2][i], t[3][i], t[4][i], t[5][i]};
          nnc_vec_f32 u[6];
          nnc_winograd_places_4(d, u);
          NNC_UNROLL for (int j = 0; j < 6; j++)
              nnc_store_f32(to + (6 * i + j) * tiles->product, u[j]);
        }
        NNC_UNROLL for (int i = 0; i < 6; i++) t[0][i] = t[4][i], t[1][i] = t[5][i];
      }
    }
}

/* A' m A of one tile's sums, for a vector of channels: m[6 i + k] lie `product` elements apart. Results go to four
 * lines, `line` elements apart, places of a line being `place` elements apart. */
NNC_INLINE void nnc_winograd_result_4(const float *m, int64_t product, float *to, int64_t line,
                                      int64_t place) {
  nnc_vec_f32 t[6][4];
  NNC_UNROLL for (int k = 0; k < 6; k++) {
    nnc_vec_f32 own[6];
    NNC_UNROLL for (int i = 0; i < 6; i++) own[i] = nnc_load_f32(m + (6 * i + k) * product);
    nnc_winograd_sums_4(own, t[k]);
  }
  NNC_UNROLL for (int i = 0; i < 4; i++) {
    const nnc_vec_f32 row[6] = {t[0][i], t[1][i], t[2][i], t[3][i], t[4][i], t[5][i]};
    nnc_vec_f32 y[4];
    nnc_winograd_sums_4(row, y);
    NNC_UNROLL for (int j = 0; j < 4; j++) nnc_store_f32(to + i * line + j * place, y[j]);
  }
}

/* G g G' of all weights. */
NNC_INLINE void nnc_winograd_pack_4(const nnc_winograd_weights *weights) {
  enum { WIDTH = NNC_TILE_VECTORS * NNC_LANES_f32 };
  const int64_t width = weights->width, product = weights->channels * width;
  float taps[9 * WIDTH] NNC_ALIGNED;
  for (int64_t n = 0; n < weights->columns; n += width)
    for (int64_t c = 0; c < weights->channels; c++) {
      float *to = weights->to + n * weights->channels * 36 + c * width;
      nnc_winograd_gather(weights, n, c, taps);
      for (int64_t k = 0; k < width; k += NNC_LANES_f32) {
        nnc_vec_f32 g[3], t[3][6], u[6];
        NNC_UNROLL for (int i = 0; i < 3; i++) {
          NNC_UNROLL for (int r = 0; r < 3; r++) g[r] =
              nnc_load_f32(taps + (3 * r + i) * width + k);
          nnc_winograd_spread_4(g, t[i]);
        }
        NNC_UNROLL for (int r = 0; r < 6; r++) {
          NNC_UNROLL for (int i = 0; i < 3; i++) g[i] = t[i][r];
          nnc_winograd_spread_4(g, u);
          NNC_UNROLL for (int i = 0; i < 6; i++)
              nnc_store_f32(to + (6 * r + i) * product + k, u[i]);
        }
      }
    }
}

/* A y */
NNC_INLINE void nnc_winograd_widen_4(const nnc_vec_f32 y[4], nnc_vec_f32 to[6]) {
  const nnc_vec_f32 a2 = nnc_splat_f32(NNC_WINOGRAD_A2), b2 = nnc_splat_f32(NNC_WINOGRAD_B2);
  const nnc_vec_f32 even_a = y[0] + a2 * y[2], even_b = y[0] + b2 * y[2];
  const nnc_vec_f32 odd_a = nnc_splat_f32(NNC_WINOGRAD_A) * (y[1] + a2 * y[3]);
  const nnc_vec_f32 odd_b = nnc_splat_f32(NNC_WINOGRAD_B) * (y[1] + b2 * y[3]);
  to[0] = y[0];
  to[1] = even_a + odd_a;
  to[2] = even_a - odd_a;
  to[3] = even_b + odd_b;
  to[4] = even_b - odd_b;
  to[5] = y[3];
}

/* A y A' of all tiles: y are the 4 x 4 places where a tile's results lie, zero outside. */
NNC_INLINE void nnc_winograd_gradient_4(const nnc_winograd_tiles *tiles) {
  for (int64_t r = 0; r < tiles->rows; r++)
    for (int64_t k = 0; k < tiles->columns; k++) {
      const int64_t x0 = 4 * (tiles->first + r), x1 = 4 * k;
      const float *from = tiles->from + (x0 * tiles->extent[1] + x1) * tiles->channels;
      float *to = tiles->to + (r * tiles->columns + k) * tiles->row;
      const float *place[4][4]; /* NULL outside */
      for (int i = 0; i < 16; i++)
        place[i / 4][i % 4] = x0 + i / 4 < tiles->extent[0] && x1 + i % 4 < tiles->extent[1]
                                  ? from + (i / 4 * tiles->extent[1] + i % 4) * tiles->channels
                                  : NULL;
      for (int64_t c = 0; c < tiles->count; c += NNC_LANES_f32) {
        nnc_vec_f32 t[4][6]; /* [column][product] */
        NNC_UNROLL for (int j = 0; j < 4; j++) {
          nnc_vec_f32 y[4];
          NNC_UNROLL for (int i = 0; i < 4; i++) y[i] =
              nnc_load_f32(place[i][j] ? place[i][j] + c : nnc_winograd_zeros);
          nnc_winograd_widen_4(y, t[j]);
        }
        NNC_UNROLL for (int i = 0; i < 6; i++) {
          const nnc_vec_f32 y[4] = {t[0][i], t[1][i], t[2][i], t[3][i]};
          nnc_vec_f32 u[6];
          nnc_winograd_widen_4(y, u);
          NNC_UNROLL for (int j = 0; j < 6; j++)
              nnc_store_f32(to + c + (6 * i + j) * tiles->product, u[j]);
        }
      }
    }
}

/* G' u */
NNC_INLINE void nnc_winograd_join_4(const nnc_vec_f32 u[6], nnc_vec_f32 to[3]) {
  const nnc_vec_f32 a = nnc_splat_f32(1 / NNC_WINOGRAD_U), b = nnc_splat_f32(1 / NNC_WINOGRAD_V);
  const nnc_vec_f32 even_a = a * (u[1] + u[2]), odd_a = a * (u[1] - u[2]);
  const nnc_vec_f32 even_b = b * (u[3] + u[4]), odd_b = b * (u[3] - u[4]);
  to[0] = nnc_splat_f32(1 / NNC_WINOGRAD_T) * u[0] + even_a + even_b;
  to[1] = nnc_splat_f32(NNC_WINOGRAD_A) * odd_a + nnc_splat_f32(NNC_WINOGRAD_B) * odd_b;
  to[2] = nnc_splat_f32(NNC_WINOGRAD_A2) * even_a + nnc_splat_f32(NNC_WINOGRAD_B2) * even_b + u[5];
}

/* G' u G of one vector of sums. */
NNC_INLINE void nnc_winograd_taps_4(const float *u, int64_t product, nnc_vec_f32 g[3][3]) {
  nnc_vec_f32 t[6][3];
  NNC_UNROLL for (int k = 0; k < 6; k++) {
    nnc_vec_f32 own[6];
    NNC_UNROLL for (int i = 0; i < 6; i++) own[i] = nnc_load_f32(u + (6 * i + k) * product);
    nnc_winograd_join_4(own, t[k]);
  }
  NNC_UNROLL for (int i = 0; i < 3; i++) {
    const nnc_vec_f32 row[6] = {t[0][i], t[1][i], t[2][i], t[3][i], t[4][i], t[5][i]};
    nnc_winograd_join_4(row, g[i]);
  }
}

#endif
