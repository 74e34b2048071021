/* Packing for contractions: nnc_pack_block_f32 of nnc_gemm.h, from 16 bits; lines are widened as
 * vectors. */
#ifndef NNC_PACK_HALF_H
#define NNC_PACK_HALF_H

#include "nnc_gemm.h"
#include "nnc_half.h"

#define NNC_DEFINE_PACK_HALF(kind)                                                                 \
  NNC_INLINE void nnc_pack_row_f32_##kind(float *restrict dst, const uint16_t *restrict src,       \
                                          const uint16_t *next, int64_t count) {                   \
    (void)next;                                                                                    \
    NNC_ROLLED for (int64_t c = 0; c < count; c++) dst[c] = nnc_from_##kind(src[c]);               \
  }                                                                                                \
  NNC_INLINE void nnc_pack_columns_f32_##kind(float *restrict dst, int64_t width, int64_t k,       \
                                              int64_t count, const uint16_t *restrict src,         \
                                              int64_t src_k, int64_t src_c) {                      \
    enum { LENGTH = 32 };                                                                          \
    for (int64_t first = 0; first < k; first += LENGTH) {                                          \
      const int64_t length = nnc_least(LENGTH, k - first);                                         \
      for (int64_t c = 0; c < count; c++) {                                                        \
        const uint16_t *const from = src + c * src_c + first * src_k;                              \
        float line[LENGTH];                                                                        \
        if (src_k == 1 && length == LENGTH)                                                        \
          for (int i = 0; i < LENGTH; i++) line[i] = nnc_from_##kind(from[i]);                     \
        else                                                                                       \
          for (int64_t i = 0; i < length; i++) line[i] = nnc_from_##kind(from[i * src_k]);         \
        NNC_ROLLED for (int64_t i = 0; i < length; i++) dst[(first + i) * width + c] = line[i];    \
      }                                                                                            \
    }                                                                                              \
  }                                                                                                \
  NNC_DEFINE_PACK_GROUPS(f32_##kind, float, uint16_t, 1)                                           \
  NNC_PACK_BLOCK(NNC_COMMON, f32_##kind, float, uint16_t)

NNC_DEFINE_PACK_HALF(bf16)
NNC_DEFINE_PACK_HALF(f16)

#endif
