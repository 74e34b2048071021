/* Attention on a CPU (codegen_templates/attention_*.c): products of blocks of queries and keys of which
 * causal attention needs a part, and the softmax of rows of scores.
 *
 * Scores are a matrix of queries by keys in the worker's block, a row for each query.  Query r of a block
 * sees `seen` keys and one more for each query before it, seen + r; without causal order `seen` is so large
 * that it sees all.  What a row has beyond the keys that its query sees is -INFINITY among scores and 0
 * among weights, as far as products of whole register tiles read. */
#ifndef NNC_ATTENTION_H
#define NNC_ATTENTION_H

#include "nnc_gemm.h"
#include "nnc_lanes.h"
#include "nnc_math.h"

/* Which part of a product of blocks causal attention has. */
enum nnc_part {
  NNC_PART_COLUMNS, /* rows are queries, columns keys: scores */
  NNC_PART_DEPTH,   /* rows are queries, sums are over keys */
  NNC_PART_BEHIND   /* rows are keys, sums are over queries: those that see the row */
};

/* Columns of scores that a register tile may read beyond the last one seen. */
enum { NNC_ATTENTION_REST = 16 % NNC_TILE_ROWS ? NNC_TILE_ROWS : 0 };

/* How far the rows of a block are worked on: over the keys that query `last` sees, in whole groups of lanes. */
NNC_INLINE int64_t nnc_attention_width(int64_t seen, int64_t last, int64_t keys) {
  return (nnc_least(seen + last, keys) + NNC_ATTENTION_REST + 15) / 16 * 16;
}

#define NNC_DEFINE_ATTENTION(name, type)                                                                     \
  /* c[rows, columns] (+)= a[rows, depth] b[depth, columns], of which rows of b and c are in whole \
   * vectors and rows of a and c in whole tiles. */         \
  NNC_SHARED void nnc_attention_product_##name(enum nnc_part part, int64_t seen, int64_t rows,               \
                                               int64_t columns, int64_t depth, const type *a,                \
                                               int64_t a_row, int64_t a_k, const type *b,                    \
                                               int64_t b_k, type *c, int64_t c_row, bool first) {            \
    enum { ROWS = NNC_TILE_ROWS, MOST = NNC_TILE_VECTORS, LANES = NNC_LANES_##name };                        \
    static nnc_tile_of_##name *const tiles[3] = {NNC_TILE(name, NNC_TILE_ROWS, 1),                           \
                                                 NNC_TILE(name, NNC_TILE_ROWS, 2),                           \
                                                 NNC_TILE(name, NNC_TILE_ROWS, NNC_TILE_VECTORS)};           \
    const int64_t total = (columns + LANES - 1) / LANES, panels = (total + MOST - 1) / MOST;                 \
    const int64_t width = panels > 0 ? (total + panels - 1) / panels : 1;                                    \
    for (int64_t n = 0; n < total; n += width)                                                               \
      for (int64_t m = 0; m < rows; m += ROWS) {                                                             \
        int64_t vectors = nnc_least(width, total - n), from = 0, to = depth;                                 \
        const int64_t last = nnc_greatest(seen + nnc_least(m + ROWS, rows) - 1, 0);                          \
        if (part == NNC_PART_COLUMNS)                                                                        \
          vectors = nnc_least(vectors, (last + LANES - 1) / LANES - n);                                      \
        if (part == NNC_PART_DEPTH) to = nnc_least(to, last);                                                \
        if (part == NNC_PART_BEHIND) from = nnc_least(nnc_greatest(m + 1 - seen, 0), to);                    \
        if (vectors <= 0 || (from >= to && !first)) continue;                                                \
        tiles[vectors - 1](to - from, a + m * a_row + from * a_k, a_row, a_k,                                \
                           b + from * b_k + n * LANES, b_k, c + m * c_row + n * LANES, c_row,                \
                           first, NULL);                                                                     \
      }                                                                                                      \
  }                                                                                                          \
  /* b[depth, rows] = a[rows, depth] turned. */                                                              \
  NNC_SHARED void nnc_attention_turn_##name(type *b, int64_t b_row, const type *a, int64_t a_row,            \
                                            int64_t rows, int64_t depth) {                                   \
    nnc_pack_columns_##name(b, b_row, depth, rows, a, 1, a_row);                                             \
  }                                                                                                          \
  /* The first `count` scores of a row times `scale`, -INFINITY up to `width`; their greatest. */            \
  NNC_SHARED type nnc_attention_top_##name(type *score, int64_t count, int64_t width,                        \
                                           type scale) {                                                     \
    enum { GROUP = NNC_GROUP_##name };                                                                       \
    type top[GROUP] NNC_ALIGNED;                                                                             \
    for (int l = 0; l < GROUP; l++) top[l] = -INFINITY;                                                      \
    NNC_ROLLED for (int64_t j = 0; j < width; j += GROUP) {                                                  \
      for (int l = 0; l < GROUP; l++) {                                                                      \
        const type value = l < count - j ? score[j + l] * scale : -INFINITY;                                 \
        score[j + l] = value;                                                                                \
        top[l] = value > top[l] ? value : top[l];                                                            \
      }                                                                                                      \
    }                                                                                                        \
    for (int step = GROUP / 2; step > 0; step /= 2)                                                          \
      for (int l = 0; l < step; l++) top[l] = top[l + step] > top[l] ? top[l + step] : top[l];               \
    return top[0];                                                                                           \
  }                                                                                                          \
  /* Scores become exp(score - top); the sum of them. Two groups at a time, since a group's chain of\
   * operations is long. */        \
  NNC_SHARED type nnc_attention_weights_##name(type *score, int64_t width, type top) {                       \
    enum { GROUP = NNC_GROUP_##name, TWO = 2 * GROUP };                                                      \
    type sum[TWO] NNC_ALIGNED;                                                                               \
    int64_t j = 0;                                                                                           \
    for (int l = 0; l < TWO; l++) sum[l] = 0;                                                                \
    NNC_ROLLED for (; j + TWO <= width; j += TWO) {                                                          \
      for (int l = 0; l < TWO; l++) {                                                                        \
        score[j + l] = nnc_exp_##name(score[j + l] - top);                                                   \
        sum[l] += score[j + l];                                                                              \
      }                                                                                                      \
    }                                                                                                        \
    if (j < width)                                                                                           \
      for (int l = 0; l < GROUP; l++) {                                                                      \
        score[j + l] = nnc_exp_##name(score[j + l] - top);                                                   \
        sum[l] += score[j + l];                                                                              \
      }                                                                                                      \
    for (int step = GROUP; step > 0; step /= 2)                                                              \
      for (int l = 0; l < step; l++) sum[l] += sum[l + step];                                                \
    return sum[0];                                                                                           \
  }                                                                                                          \
  /* The first `count` scores, times `scale`, become weights exp(score - top - log), and what these receive\
   * adjoints of the scores; up to `width` both are 0. */ \
  NNC_INLINE void nnc_attention_adjoint_##name(type *score, type *received, bool is_seen,                    \
                                               type scale, type top, type log, type delta) {                 \
    const type weight = is_seen ? nnc_exp_##name(*score * scale - top - log) : 0;                            \
    *score = weight;                                                                                         \
    *received = is_seen ? weight * (*received - delta) : 0;                                                  \
  }                                                                                                          \
  NNC_SHARED void nnc_attention_adjoints_##name(type *restrict score, type *restrict received,               \
                                                int64_t count, int64_t width, type scale,                    \
                                                type top, type log, type delta) {                            \
    enum { GROUP = NNC_GROUP_##name, TWO = 2 * GROUP };                                                      \
    int64_t j = 0;                                                                                           \
    NNC_ROLLED for (; j + TWO <= count; j += TWO) {                                                          \
      for (int l = 0; l < TWO; l++)                                                                          \
        nnc_attention_adjoint_##name(score + j + l, received + j + l, true, scale, top, log,                 \
                                     delta);                                                                 \
    }                                                                                                        \
    NNC_ROLLED for (; j < width; j += GROUP) {                                                               \
      for (int l = 0; l < GROUP; l++)                                                                        \
        nnc_attention_adjoint_##name(score + j + l, received + j + l, l < count - j, scale, top,             \
                                     log, delta);                                                            \
    }                                                                                                        \
  }                                                                                                          \
  NNC_SHARED type nnc_attention_dot_##name(const type *a, const type *b, int64_t count) {                    \
    enum { GROUP = NNC_GROUP_##name };                                                                       \
    type sum[GROUP] NNC_ALIGNED;                                                                             \
    for (int l = 0; l < GROUP; l++) sum[l] = 0;                                                              \
    int64_t i = 0;                                                                                           \
    NNC_ROLLED for (; i + GROUP <= count; i += GROUP) {                                                      \
      for (int l = 0; l < GROUP; l++) sum[l] += a[i + l] * b[i + l];                                         \
    }                                                                                                        \
    NNC_SHORT for (int l = 0; i < count; i++, l++) sum[l] += a[i] * b[i];                                    \
    for (int step = GROUP / 2; step > 0; step /= 2)                                                          \
      for (int l = 0; l < step; l++) sum[l] += sum[l + step];                                                \
    return sum[0];                                                                                           \
  }

NNC_DEFINE_ATTENTION(f32, float)
NNC_DEFINE_ATTENTION(f64, double)

#endif
