/* Winograd's minimal filtering along one axis: the three matrices of a tile, and their transposes, as sums of vectors.
 *
 * `size` neighbouring results of `taps` taps depend on size + taps - 1 places. With the places d, the taps g and the
 * results y
 *
 *     y = A' [ (G g) * (B' d) ]          * element by element, ' transposed
 *
 * needs as many products as there are places, where the sums of a direct convolution need size x taps. The matrices
 * are those of interpolation at so many points; of 4 points, which are 0, 1, -1 and infinity, for 3 taps
 *
 *     B' = 1  0 -1  0     G =  1    0   0      A' = 1 1  1  0
 *          0  1  1  0         1/2  1/2 1/2          0 1 -1 -1
 *          0 -1  1  0         1/2 -1/2 1/2
 *          0  1  0 -1          0    0   1
 *
 * and of 6 points, 0, a, -a, b, -b and infinity, for 3 taps and 4 results, or 5 taps and 2 results, with
 * s = a^2 + b^2, t = a^2 b^2, u = 2 a^2 (a^2 - b^2), v = 2 b^2 (b^2 - a^2)
 *
 *     B' = t   0   -s   0   1  0     G = 1/t (1  0  0  ...)        A' = 1  1   1   1   1  0
 *          0 -ab^2 -b^2 a   1  0         1/u (1  a  a^2 ...)            0  a  -a   b  -b  0 (1)
 *          0  ab^2 -b^2 -a  1  0         1/u (1 -a  a^2 ...)            0 a^2 a^2 b^2 b^2 0
 *          0 -ba^2 -a^2 b   1  0         1/v (1  b  b^2 ...)            0 a^3 -a^3 b^3 -b^3 1
 *          0  ba^2 -a^2 -b  1  0         1/v (1 -b  b^2 ...)
 *          0   t    0   -s  0  1             ... 0  0  1           A' of 2 results has the first two rows, and the (1)
 *
 * The points decide how many digits are lost: with 5/8 and 3/2 errors are less than half of those of the usual 1 and
 * 2, and B' and A' have no rounded coefficients. Of sums over 64 to 256 channels they are 1.6 to 2.2 times those of a
 * direct convolution in the root mean square, at most 2.5 times in the greatest; those of 4 points .8 to 1.2 times.
 * An axis of one tap has tiles of one result, and no sums.
 *
 * Lavin, Gray: "Fast Algorithms for Convolutional Neural Networks", CVPR 2016, section 4.1; Barabasz et al.: "Error
 * Analysis and Improving the Accuracy of Winograd Convolution", TOMS 46 (2020). */
#ifndef NNC_WINOGRAD_AXIS_H
#define NNC_WINOGRAD_AXIS_H

#include "nnc_gemm.h"

enum { NNC_WINOGRAD_PLACES = 6, NNC_WINOGRAD_TAPS = 5, NNC_WINOGRAD_SIZE = 4 /* at most */ };

#define NNC_WINOGRAD_A 0.625f
#define NNC_WINOGRAD_B 1.5f
#define NNC_WINOGRAD_A2 (NNC_WINOGRAD_A * NNC_WINOGRAD_A)
#define NNC_WINOGRAD_B2 (NNC_WINOGRAD_B * NNC_WINOGRAD_B)
#define NNC_WINOGRAD_S (NNC_WINOGRAD_A2 + NNC_WINOGRAD_B2)
#define NNC_WINOGRAD_T (NNC_WINOGRAD_A2 * NNC_WINOGRAD_B2)
#define NNC_WINOGRAD_U (2 * NNC_WINOGRAD_A2 * (NNC_WINOGRAD_A2 - NNC_WINOGRAD_B2))
#define NNC_WINOGRAD_V (2 * NNC_WINOGRAD_B2 * (NNC_WINOGRAD_B2 - NNC_WINOGRAD_A2))

/* Rounding errors of a sum by its terms, without their signs: .4 to 1.1 units of 2^-24 in the root mean square over one to
 * a thousand tiles, at most 5 in 80,000 sums. What is less than eight may be nothing else. */
#define NNC_WINOGRAD_ERROR 0x1p-21f

/* Taps and results along an axis: constants of a kernel, as are those of a tile. */
typedef struct nnc_winograd_axis {
  int taps, size;
} nnc_winograd_axis;

NNC_INLINE int nnc_winograd_places_of(nnc_winograd_axis axis) { return axis.taps + axis.size - 1; }

/* B' d */
NNC_INLINE void nnc_winograd_places(nnc_winograd_axis axis, const nnc_vec_f32 d[],
                                    nnc_vec_f32 to[]) {
  if (nnc_winograd_places_of(axis) == 1) {
    to[0] = d[0];
  } else if (nnc_winograd_places_of(axis) == 4) {
    to[0] = d[0] - d[2];
    to[1] = d[1] + d[2];
    to[2] = d[2] - d[1];
    to[3] = d[1] - d[3];
  } else {
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
}

/* A' m */
NNC_INLINE void nnc_winograd_sums_of(nnc_winograd_axis axis, const nnc_vec_f32 m[],
                                     nnc_vec_f32 to[]) {
  if (nnc_winograd_places_of(axis) == 1) {
    to[0] = m[0];
  } else if (nnc_winograd_places_of(axis) == 4) {
    to[0] = m[0] + m[1] + m[2];
    to[1] = m[1] - m[2] - m[3];
  } else {
    const nnc_vec_f32 a = nnc_splat_f32(NNC_WINOGRAD_A), b = nnc_splat_f32(NNC_WINOGRAD_B);
    const nnc_vec_f32 a2 = nnc_splat_f32(NNC_WINOGRAD_A2), b2 = nnc_splat_f32(NNC_WINOGRAD_B2);
    const nnc_vec_f32 even_a = m[1] + m[2], odd_a = a * (m[1] - m[2]);
    const nnc_vec_f32 even_b = m[3] + m[4], odd_b = b * (m[3] - m[4]);
    to[0] = m[0] + even_a + even_b;
    to[1] = odd_a + odd_b;
    if (axis.size == 2) {
      to[1] += m[5];
    } else {
      to[2] = a2 * even_a + b2 * even_b;
      to[3] = a2 * odd_a + b2 * odd_b + m[5];
    }
  }
}

/* A y, with - for the last one of 4 places as A has it. */
NNC_INLINE void nnc_winograd_widen(nnc_winograd_axis axis, const nnc_vec_f32 y[],
                                   nnc_vec_f32 to[]) {
  if (nnc_winograd_places_of(axis) == 1) {
    to[0] = y[0];
  } else if (nnc_winograd_places_of(axis) == 4) {
    to[0] = y[0];
    to[1] = y[0] + y[1];
    to[2] = y[0] - y[1];
    to[3] = -y[1];
  } else {
    const nnc_vec_f32 a2 = nnc_splat_f32(NNC_WINOGRAD_A2), b2 = nnc_splat_f32(NNC_WINOGRAD_B2);
    nnc_vec_f32 even_a = y[0], odd_a = y[1], even_b = y[0], odd_b = y[1];
    if (axis.size == 4) {
      even_a += a2 * y[2], odd_a += a2 * y[3];
      even_b += b2 * y[2], odd_b += b2 * y[3];
    }
    odd_a *= nnc_splat_f32(NNC_WINOGRAD_A), odd_b *= nnc_splat_f32(NNC_WINOGRAD_B);
    to[0] = y[0];
    to[1] = even_a + odd_a;
    to[2] = even_a - odd_a;
    to[3] = even_b + odd_b;
    to[4] = even_b - odd_b;
    to[5] = y[axis.size - 1];
  }
}

/* G g */
NNC_INLINE void nnc_winograd_spread(nnc_winograd_axis axis, const nnc_vec_f32 g[],
                                    nnc_vec_f32 to[]) {
  if (nnc_winograd_places_of(axis) == 1) {
    to[0] = g[0];
  } else if (nnc_winograd_places_of(axis) == 4) {
    const nnc_vec_f32 half = nnc_splat_f32(0.5f);
    const nnc_vec_f32 ends = half * (g[0] + g[2]), middle = half * g[1];
    to[0] = g[0];
    to[1] = ends + middle;
    to[2] = ends - middle;
    to[3] = g[2];
  } else {
    const float u = NNC_WINOGRAD_U, v = NNC_WINOGRAD_V;
    nnc_vec_f32 even_a = nnc_splat_f32(1 / u) * g[0] + nnc_splat_f32(NNC_WINOGRAD_A2 / u) * g[2];
    nnc_vec_f32 even_b = nnc_splat_f32(1 / v) * g[0] + nnc_splat_f32(NNC_WINOGRAD_B2 / v) * g[2];
    nnc_vec_f32 odd_a = nnc_splat_f32(NNC_WINOGRAD_A / u) * g[1];
    nnc_vec_f32 odd_b = nnc_splat_f32(NNC_WINOGRAD_B / v) * g[1];
    if (axis.taps == 5) {
      even_a += nnc_splat_f32(NNC_WINOGRAD_A2 * NNC_WINOGRAD_A2 / u) * g[4];
      even_b += nnc_splat_f32(NNC_WINOGRAD_B2 * NNC_WINOGRAD_B2 / v) * g[4];
      odd_a += nnc_splat_f32(NNC_WINOGRAD_A2 * NNC_WINOGRAD_A / u) * g[3];
      odd_b += nnc_splat_f32(NNC_WINOGRAD_B2 * NNC_WINOGRAD_B / v) * g[3];
    }
    to[0] = nnc_splat_f32(1 / NNC_WINOGRAD_T) * g[0];
    to[1] = even_a + odd_a;
    to[2] = even_a - odd_a;
    to[3] = even_b + odd_b;
    to[4] = even_b - odd_b;
    to[5] = g[axis.taps - 1];
  }
}

/* G' u */
NNC_INLINE void nnc_winograd_join(nnc_winograd_axis axis, const nnc_vec_f32 u[], nnc_vec_f32 to[]) {
  if (nnc_winograd_places_of(axis) == 1) {
    to[0] = u[0];
  } else if (nnc_winograd_places_of(axis) == 4) {
    const nnc_vec_f32 half = nnc_splat_f32(0.5f), both = half * (u[1] + u[2]);
    to[0] = u[0] + both;
    to[1] = half * (u[1] - u[2]);
    to[2] = both + u[3];
  } else {
    const nnc_vec_f32 one_u = nnc_splat_f32(1 / NNC_WINOGRAD_U);
    const nnc_vec_f32 one_v = nnc_splat_f32(1 / NNC_WINOGRAD_V);
    const nnc_vec_f32 a = nnc_splat_f32(NNC_WINOGRAD_A), b = nnc_splat_f32(NNC_WINOGRAD_B);
    const nnc_vec_f32 a2 = nnc_splat_f32(NNC_WINOGRAD_A2), b2 = nnc_splat_f32(NNC_WINOGRAD_B2);
    const nnc_vec_f32 even_a = one_u * (u[1] + u[2]), odd_a = a * (one_u * (u[1] - u[2]));
    const nnc_vec_f32 even_b = one_v * (u[3] + u[4]), odd_b = b * (one_v * (u[3] - u[4]));
    const nnc_vec_f32 third = a2 * even_a + b2 * even_b;
    to[0] = nnc_splat_f32(1 / NNC_WINOGRAD_T) * u[0] + even_a + even_b;
    to[1] = odd_a + odd_b;
    to[2] = axis.taps == 3 ? third + u[5] : third;
    if (axis.taps == 5) {
      to[3] = a2 * odd_a + b2 * odd_b;
      to[4] = a2 * a2 * even_a + b2 * b2 * even_b + u[5];
    }
  }
}

NNC_INLINE nnc_vec_f32 nnc_winograd_magnitude(nnc_vec_f32 x) {
  return (nnc_vec_f32)((nnc_vec_i32)x & INT32_MAX);
}

/* What G' u cannot exceed: its coefficients and u without their signs. */
NNC_INLINE void nnc_winograd_join_magnitudes(nnc_winograd_axis axis, const nnc_vec_f32 u[],
                                             nnc_vec_f32 to[]) {
  if (nnc_winograd_places_of(axis) == 1) {
    to[0] = u[0];
  } else if (nnc_winograd_places_of(axis) == 4) {
    const nnc_vec_f32 both = nnc_splat_f32(0.5f) * (u[1] + u[2]);
    to[0] = u[0] + both;
    to[1] = both;
    to[2] = both + u[3];
  } else {
    const nnc_vec_f32 a = nnc_splat_f32(NNC_WINOGRAD_A), b = nnc_splat_f32(NNC_WINOGRAD_B);
    const nnc_vec_f32 a2 = nnc_splat_f32(NNC_WINOGRAD_A2), b2 = nnc_splat_f32(NNC_WINOGRAD_B2);
    const nnc_vec_f32 all_a = nnc_splat_f32(-1 / NNC_WINOGRAD_U) * (u[1] + u[2]);
    const nnc_vec_f32 all_b = nnc_splat_f32(1 / NNC_WINOGRAD_V) * (u[3] + u[4]);
    to[0] = nnc_splat_f32(1 / NNC_WINOGRAD_T) * u[0] + all_a + all_b;
    to[1] = a * all_a + b * all_b;
    to[2] = a2 * all_a + b2 * all_b;
    if (axis.taps == 3) to[2] += u[5];
    if (axis.taps == 5) {
      to[3] = a2 * (a * all_a) + b2 * (b * all_b);
      to[4] = a2 * a2 * all_a + b2 * b2 * all_b + u[5];
    }
  }
}

/* The square of the norm of G's columns, at most: what G' u cannot exceed is the root of this and of u's own. */
NNC_INLINE float nnc_winograd_join_square(nnc_winograd_axis axis) {
  const int places = nnc_winograd_places_of(axis);
  return places == 1 ? 1
         : places == 4
             ? 1.5f
             : 1 / (NNC_WINOGRAD_T * NNC_WINOGRAD_T) + 2 / (NNC_WINOGRAD_U * NNC_WINOGRAD_U) +
                   2 / (NNC_WINOGRAD_V * NNC_WINOGRAD_V);
}

/* x, and 0 where it is less than the rounding errors of a sum of terms whose magnitudes have this sum. */
NNC_INLINE nnc_vec_f32 nnc_winograd_certain(nnc_vec_f32 x, nnc_vec_f32 magnitudes) {
  const nnc_vec_f32 error = nnc_splat_f32(NNC_WINOGRAD_ERROR) * magnitudes;
  return (nnc_vec_f32)((nnc_vec_i32)x & ~(nnc_vec_i32)(nnc_winograd_magnitude(x) < error));
}

#endif
