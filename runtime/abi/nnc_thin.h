/* Contractions that read or write one large side once, and work on each of its elements only a few times: a
 * copy of that side for the tiles of nnc_gemm.h would take as long as the product.
 *
 *     dots:     to[r, c] = sum_k a[r, k] * b[c, k]    few rows r; k is along lines of both sides
 *     axpy:     to[r, c] = sum_k a[r, k] * b[k, c]    few rows r; lines of b, times a, are added to rows
 *     lines:    to[r, c] = sum_k a[r, k] * b[k, c]    few k; whole lines of the result are written
 */
#ifndef NNC_THIN_H
#define NNC_THIN_H

#include "nnc_gemm.h"
#include "nnc_lane_sums.h"

/* Of a group of dots: 24 sums and 4 operands of 32 registers, 8 and 3 of 16. */
enum { NNC_DOTS_ROWS = NNC_PICK(8, 4, 4), NNC_DOTS_COLUMNS = NNC_PICK(3, 2, 2) };

/* Each lane sums what lies a vector apart, then the lanes are added by halves. The end of the depth is the last
 * whole vector, without the elements that were added before: bits that are masked, since a product of 0 and
 * infinity is none. k has a vector or more. */
#define NNC_DEFINE_DOTS(name, type, bits)                                                          \
  NNC_INLINE nnc_vec_##name nnc_end_##name(const type *p, int64_t rest) {                          \
    nnc_vec_##bits lane;                                                                           \
    NNC_UNROLL for (int l = 0; l < NNC_LANES_##name; l++) lane[l] = l;                             \
    lane = lane >= nnc_splat_##bits((nnc_lane_##bits)(NNC_LANES_##name - rest));                   \
    return (nnc_vec_##name)((nnc_vec_##bits)nnc_load_##name(p) & lane);                            \
  }                                                                                                \
  NNC_INLINE void nnc_dots_group_##name(const int rows, const int cols, const bool fetches,        \
                                        int64_t k, const type *a, int64_t a_row, const type *b,    \
                                        int64_t b_column, type *to, int64_t to_row) {              \
    enum { lanes = NNC_LANES_##name };                                                             \
    nnc_vec_##name sum[NNC_DOTS_ROWS][NNC_DOTS_COLUMNS], y[NNC_DOTS_COLUMNS];                      \
    NNC_UNROLL for (int r = 0; r < rows; r++) NNC_UNROLL for (int c = 0; c < cols; c++)            \
        sum[r][c] = (nnc_vec_##name){0};                                                           \
    NNC_ROLLED for (int64_t i = 0; i + lanes <= k; i += lanes) {                                   \
      NNC_UNROLL for (int c = 0; c < cols; c++) y[c] = nnc_load_##name(b + c * b_column + i);      \
      if (fetches)                                                                                 \
        NNC_UNROLL for (int c = 0; c < cols; c++)                                                  \
            __builtin_prefetch(b + (cols + c) * b_column + i);                                     \
      NNC_UNROLL for (int r = 0; r < rows; r++) {                                                  \
        const nnc_vec_##name x = nnc_load_##name(a + r * a_row + i);                               \
        NNC_UNROLL for (int c = 0; c < cols; c++) sum[r][c] += x * y[c];                           \
      }                                                                                            \
    }                                                                                              \
    const int64_t rest = k % lanes;                                                                \
    if (rest > 0) {                                                                                \
      const int64_t i = k - lanes;                                                                 \
      NNC_UNROLL for (int c = 0; c < cols; c++) y[c] = nnc_end_##name(b + c * b_column + i, rest); \
      NNC_UNROLL for (int r = 0; r < rows; r++) {                                                  \
        const nnc_vec_##name x = nnc_end_##name(a + r * a_row + i, rest);                          \
        NNC_UNROLL for (int c = 0; c < cols; c++) sum[r][c] += x * y[c];                           \
      }                                                                                            \
    }                                                                                              \
    NNC_UNROLL for (int c = 0; c < cols; c++) NNC_UNROLL for (int r = 0; r < rows; r += 4)         \
        nnc_lane_sums_##name(rows - r < 4 ? rows - r : 4, &sum[r][c], NNC_DOTS_COLUMNS,            \
                             to + r * to_row + c, to_row);                                         \
  }                                                                                                \
  NNC_INLINE void nnc_dots_rows_##name(const int rows, const int cols, const bool fetches,         \
                                       int64_t k, const type *a, int64_t a_row, const type *b,     \
                                       int64_t b_column, type *to, int64_t to_row) {               \
    NNC_UNROLL for (int r = 0; r < rows; r += NNC_DOTS_ROWS) nnc_dots_group_##name(                \
        rows - r < NNC_DOTS_ROWS ? rows - r : NNC_DOTS_ROWS, cols, fetches && r == 0, k,           \
        a + r * a_row, a_row, b, b_column, to + r * to_row, to_row);                               \
  }                                                                                                \
  /* One row: lines of b take the place of rows, since memory answers slowly to one at a time. */  \
  NNC_INLINE void nnc_dots_row_##name(int64_t cols, int64_t k, const type *a, const type *b,       \
                                      int64_t b_column, type *to) {                                \
    int64_t c = 0;                                                                                 \
    NNC_ROLLED for (; c + NNC_DOTS_ROWS <= cols; c += NNC_DOTS_ROWS) nnc_dots_group_##name(        \
        NNC_DOTS_ROWS, 1, false, k, b + c * b_column, b_column, a, 0, to + c, 1);                  \
    NNC_ROLLED for (; c < cols; c++)                                                               \
        nnc_dots_group_##name(1, 1, false, k, b + c * b_column, b_column, a, 0, to + c, 1);        \
  }                                                                                                \
  /* Columns in groups; four that are left are two groups of two. */                               \
  /* `fetches`: while the first rows are multiplied, the next columns come. */                     \
  NNC_INLINE void nnc_dots_##name(const int rows, int64_t cols, const bool fetches, int64_t k,     \
                                  const type *a, int64_t a_row, const type *b, int64_t b_column,   \
                                  type *to, int64_t to_row) {                                      \
    if (rows == 1) {                                                                               \
      nnc_dots_row_##name(cols, k, a, b, b_column, to);                                            \
      return;                                                                                      \
    }                                                                                              \
    const bool has_four = NNC_DOTS_COLUMNS == 3 && cols > 3 && cols % 3 == 1;                      \
    const int64_t end = cols - (has_four ? 4 : 0);                                                 \
    int64_t c = 0;                                                                                 \
    NNC_ROLLED for (; c + NNC_DOTS_COLUMNS <= end; c += NNC_DOTS_COLUMNS) nnc_dots_rows_##name(    \
        rows, NNC_DOTS_COLUMNS, fetches, k, a, a_row, b + c * b_column, b_column, to + c, to_row); \
    NNC_ROLLED for (; c + 2 <= cols; c += 2) nnc_dots_rows_##name(                                 \
        rows, 2, fetches, k, a, a_row, b + c * b_column, b_column, to + c, to_row);                \
    if (c < cols)                                                                                  \
      nnc_dots_rows_##name(rows, 1, fetches, k, a, a_row, b + c * b_column, b_column, to + c,      \
                           to_row);                                                                \
  }

typedef int32_t nnc_lane_i32;
typedef int64_t nnc_lane_i64;
NNC_DEFINE_DOTS(f32, float, i32)
NNC_DEFINE_DOTS(f64, double, i64)
NNC_DEFINE_DOTS(i32, int32_t, i32)
NNC_DEFINE_DOTS(i64, int64_t, i64)

/* Lines of b that are added together, each of them a stream of memory; sums are loaded and stored once for so many of their
 * terms. Rows of a group, and vectors of each: 16 sums of 32 registers, 8 of 16. */
enum { NNC_AXPY_LINES = 8, NNC_AXPY_ROWS = NNC_PICK(8, 4, 4), NNC_AXPY_VECTORS = 2 };

/* nnc_axpy_group adds `k` terms to the sums of `vectors` vectors of each row; x[i * x_k + r] are the elements of a. Of the
 * last vector of a line that is no whole number of them, `kept` lanes have been added before and stay as they are. */
#define NNC_DEFINE_AXPY(name, type, bits)                                                          \
  NNC_INLINE nnc_vec_##name nnc_keep_##name(const type *old, nnc_vec_##name sum, int64_t kept) {   \
    nnc_vec_##bits lane;                                                                           \
    NNC_UNROLL for (int l = 0; l < NNC_LANES_##name; l++) lane[l] = l;                             \
    lane = lane >= nnc_splat_##bits((nnc_lane_##bits)kept);                                        \
    return (nnc_vec_##name)(((nnc_vec_##bits)sum & lane) |                                         \
                            ((nnc_vec_##bits)nnc_load_##name(old) & ~lane));                       \
  }                                                                                                \
  NNC_INLINE void nnc_axpy_group_##name(const int rows, const int vectors, const int k,            \
                                        bool first, int64_t kept, const type *x, int64_t x_k,      \
                                        const type *b, int64_t b_k, type *to, int64_t to_row) {    \
    enum { lanes = NNC_LANES_##name };                                                             \
    nnc_vec_##name sum[NNC_AXPY_ROWS][NNC_AXPY_VECTORS], y[NNC_AXPY_VECTORS];                      \
    NNC_OPAQUE(x); /* or all elements become vectors in memory */                                  \
    NNC_UNROLL for (int r = 0; r < rows; r++) NNC_UNROLL for (int v = 0; v < vectors; v++)         \
        sum[r][v] = first ? (nnc_vec_##name){0} : nnc_load_##name(to + r * to_row + v * lanes);    \
    NNC_UNROLL for (int i = 0; i < k; i++) {                                                       \
      NNC_UNROLL for (int v = 0; v < vectors; v++) {                                               \
        y[v] = nnc_load_##name(b + i * b_k + v * lanes);                                           \
        if (v * NNC_VECTOR_BYTES % 64 == 0) /* of the next lines */                                \
          __builtin_prefetch(b + (i + k) * b_k + v * lanes);                                       \
      }                                                                                            \
      NNC_UNROLL for (int r = 0; r < rows; r++) {                                                  \
        const nnc_vec_##name each = nnc_splat_##name(x[i * x_k + r]);                              \
        NNC_UNROLL for (int v = 0; v < vectors; v++) sum[r][v] += each * y[v];                     \
      }                                                                                            \
    }                                                                                              \
    NNC_UNROLL for (int r = 0; r < rows; r++) NNC_UNROLL for (int v = 0; v < vectors; v++) {       \
      type *const at = to + r * to_row + v * lanes;                                                \
      nnc_store_##name(at, kept ? nnc_keep_##name(at, sum[r][v], kept) : sum[r][v]);               \
    }                                                                                              \
  }                                                                                                \
  NNC_INLINE void nnc_axpy_rows_##name(const int rows, const int vectors, const int k, bool first, \
                                       int64_t kept, const type *x, const type *b, int64_t b_k,    \
                                       type *to, int64_t to_row) {                                 \
    NNC_UNROLL for (int r = 0; r < rows; r += NNC_AXPY_ROWS)                                       \
        nnc_axpy_group_##name(rows - r < NNC_AXPY_ROWS ? rows - r : NNC_AXPY_ROWS, vectors, k,     \
                              first, kept, x + r, rows, b, b_k, to + r * to_row, to_row);          \
  }                                                                                                \
  /* All columns of `k` lines. */                                                                  \
  NNC_INLINE void nnc_axpy_lines_##name(const int rows, int64_t cols, const int k, bool first,     \
                                        const type *a, int64_t a_row, int64_t a_k, const type *b,  \
                                        int64_t b_k, type *to, int64_t to_row) {                   \
    enum { lanes = NNC_LANES_##name, wide = NNC_AXPY_VECTORS * lanes };                            \
    type x[NNC_AXPY_LINES * rows]; /* rows of a may be a power of 2 apart */                       \
    NNC_UNROLL for (int i = 0; i < k; i++) NNC_SHORT for (int r = 0; r < rows; r++)                \
        x[i * rows + r] = a[r * a_row + i * a_k];                                                  \
    int64_t c = 0;                                                                                 \
    NNC_ROLLED for (; c + wide <= cols; c += wide)                                                 \
        nnc_axpy_rows_##name(rows, NNC_AXPY_VECTORS, k, first, 0, x, b + c, b_k, to + c, to_row);  \
    NNC_ROLLED for (; c < cols && cols >= lanes; c += lanes) {                                     \
      const int64_t at = nnc_least(c, cols - lanes);                                               \
      nnc_axpy_rows_##name(rows, 1, k, first, c - at, x, b + at, b_k, to + at, to_row);            \
    }                                                                                              \
    NNC_SHORT for (; c < cols; c++) NNC_SHORT for (int r = 0; r < rows; r++) {                     \
      type sum = first ? 0 : to[r * to_row + c];                                                   \
      NNC_UNROLL for (int i = 0; i < k; i++) sum += x[i * rows + r] * b[i * b_k + c];              \
      to[r * to_row + c] = sum;                                                                    \
    }                                                                                              \
  }                                                                                                \
  /* By chains, as a tile of nnc_gemm.h. */                                                        \
  NNC_INLINE void nnc_axpy_##name(const int rows, int64_t cols, int64_t k, const type *a,          \
                                  int64_t a_row, int64_t a_k, const type *b, int64_t b_k,          \
                                  type *to, int64_t to_row) {                                      \
    type further[k > NNC_TILE_CHAIN ? rows * to_row : 1];                                          \
    for (int64_t begin = 0; begin < k; begin += NNC_TILE_CHAIN) {                                  \
      const int64_t end = nnc_least(begin + NNC_TILE_CHAIN, k);                                    \
      type *const sums = begin == 0 ? to : further;                                                \
      int64_t i = begin;                                                                           \
      NNC_ROLLED for (; i + NNC_AXPY_LINES <= end; i += NNC_AXPY_LINES)                            \
          nnc_axpy_lines_##name(rows, cols, NNC_AXPY_LINES, i == begin, a + i * a_k, a_row, a_k,   \
                                b + i * b_k, b_k, sums, to_row);                                   \
      NNC_ROLLED for (; i < end; i++) nnc_axpy_lines_##name(                                       \
          rows, cols, 1, i == begin, a + i * a_k, a_row, a_k, b + i * b_k, b_k, sums, to_row);     \
      if (begin == 0) continue;                                                                    \
      NNC_SHORT for (int r = 0; r < rows; r++) for (int64_t c = 0; c < cols; c++)                  \
          to[r * to_row + c] += further[r * to_row + c];                                           \
    }                                                                                              \
  }

NNC_DEFINE_AXPY(f32, float, i32)
NNC_DEFINE_AXPY(f64, double, i64)
NNC_DEFINE_AXPY(i32, int32_t, i32)
NNC_DEFINE_AXPY(i64, int64_t, i64)

/* Lines that are written side by side: as many as registers have the elements of a for, up to 8 of each line. */
enum { NNC_LINES = NNC_PICK(3, 1, 1), NNC_LINES_DEPTH = 8 };

/* What is left of a line after whole vectors is its last vector, computed again; a line shorter than a vector goes element
 * by element. */
#define NNC_DEFINE_LINES(name, type)                                                               \
  NNC_INLINE void nnc_lines_part_##name(const int rows, const int vectors, const int k,            \
                                        const nnc_vec_##name x[NNC_LINES][NNC_LINES_DEPTH],        \
                                        const type *b, int64_t b_k, type *to, int64_t to_row) {    \
    nnc_vec_##name sum[NNC_LINES][2];                                                              \
    NNC_UNROLL for (int r = 0; r < rows; r++) NNC_UNROLL for (int v = 0; v < vectors; v++)         \
        sum[r][v] = (nnc_vec_##name){0};                                                           \
    NNC_UNROLL for (int i = 0; i < k; i++) NNC_UNROLL for (int v = 0; v < vectors; v++) {          \
      const nnc_vec_##name y = nnc_load_##name(b + i * b_k + v * NNC_LANES_##name);                \
      NNC_UNROLL for (int r = 0; r < rows; r++) sum[r][v] += x[r][i] * y;                          \
    }                                                                                              \
    NNC_UNROLL for (int r = 0; r < rows; r++) NNC_UNROLL for (int v = 0; v < vectors; v++)         \
        nnc_store_##name(to + r * to_row + v * NNC_LANES_##name, sum[r][v]);                       \
  }                                                                                                \
  NNC_INLINE void nnc_lines_##name(const int rows, const int k, int64_t cols, const type *a,       \
                                   int64_t a_row, int64_t a_k, const type *b, int64_t b_k,         \
                                   type *to, int64_t to_row) {                                     \
    enum { lanes = NNC_LANES_##name };                                                             \
    nnc_vec_##name x[NNC_LINES][NNC_LINES_DEPTH];                                                  \
    NNC_UNROLL for (int r = 0; r < rows; r++) NNC_UNROLL for (int i = 0; i < k; i++) x[r][i] =     \
        nnc_splat_##name(a[r * a_row + i * a_k]);                                                  \
    int64_t c = 0;                                                                                 \
    NNC_ROLLED for (; c + 2 * lanes <= cols; c += 2 * lanes)                                       \
        nnc_lines_part_##name(rows, 2, k, x, b + c, b_k, to + c, to_row);                          \
    NNC_ROLLED for (; c < cols && cols >= lanes; c += lanes) {                                     \
      const int64_t at = nnc_least(c, cols - lanes);                                               \
      nnc_lines_part_##name(rows, 1, k, x, b + at, b_k, to + at, to_row);                          \
    }                                                                                              \
    NNC_SHORT for (; c < cols; c++) NNC_SHORT for (int r = 0; r < rows; r++) {                     \
      type sum = 0;                                                                                \
      NNC_UNROLL for (int i = 0; i < k; i++) sum += a[r * a_row + i * a_k] * b[i * b_k + c];       \
      to[r * to_row + c] = sum;                                                                    \
    }                                                                                              \
  }

NNC_DEFINE_LINES(f32, float)
NNC_DEFINE_LINES(f64, double)
NNC_DEFINE_LINES(i32, int32_t)
NNC_DEFINE_LINES(i64, int64_t)

#endif
