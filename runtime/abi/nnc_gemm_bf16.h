/* Contractions of bf16 with sums in f32: the tiles and the packing of nnc_gemm.h, by the name bf16.
 *
 * Where the processor multiplies pairs (AVX512-BF16), two elements that follow each other along k are
 * one packed element of 32 bits, the first in its low half; an odd depth ends with a pair whose high
 * half is 0. Elsewhere operands are widened as they are packed, and the tiles are those of f32.
 * NNC_BF16_PAIRS, defined as 1, has pairs computed without the instruction: for tests. */
#ifndef NNC_GEMM_BF16_H
#define NNC_GEMM_BF16_H

#include "nnc_gemm.h"
#include "nnc_half.h"
#include "nnc_pack_half.h"

#if !defined(NNC_BF16_PAIRS) && defined(__AVX512BF16__)
#define NNC_BF16_PAIRS 1
#define NNC_BF16_INSTRUCTION 1
#endif

#ifdef NNC_BF16_PAIRS

#define NNC_ISA_BF16 "+bf16"

typedef uint32_t nnc_packed_bf16;
typedef nnc_vec_i32 nnc_row_bf16;
enum { NNC_DEPTH_bf16 = 2 }; /* elements of the depth in a packed one */
#define NNC_TILES_bf16 bf16

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
NNC_DEFINE_TRANSPOSE(bf16, uint32_t, int32_t, uint16_t)

NNC_INLINE uint32_t nnc_pair(uint16_t low, uint16_t high) { return low | (uint32_t)high << 16; }

/* The parts of nnc_pack_block_bf16; k is even but for the last piece of the depth. */
NNC_INLINE void nnc_pack_row_bf16(uint32_t *restrict dst, const uint16_t *restrict src,
                                  const uint16_t *restrict next, int64_t count) {
  if (!next)
    for (int64_t c = 0; c < count; c++) dst[c] = src[c];
  else
    for (int64_t c = 0; c < count; c++) dst[c] = nnc_pair(src[c], next[c]);
}

NNC_INLINE uint32_t nnc_pack_element_bf16(const uint16_t *src, int64_t src_k) {
  return nnc_pair(src[0], src[src_k]);
}

NNC_DEFINE_PACK_COLUMNS(bf16, uint32_t, uint16_t, 2)
NNC_DEFINE_PACK_BLOCK(bf16, uint32_t, uint16_t, 2)

NNC_SHARED void nnc_pack_zeros_bf16(uint32_t *dst, int64_t width, int64_t group, int64_t k,
                                    int64_t count) {
  nnc_pack_zeros_i32((int32_t *)dst, width, group, (k + 1) / 2, count);
}

#else

#define NNC_ISA_BF16 ""

typedef float nnc_packed_bf16;
typedef nnc_tile_of_f32 nnc_tile_of_bf16;
enum { NNC_DEPTH_bf16 = 1 };

#define NNC_TILES_bf16 f32
#define nnc_pack_block_bf16 nnc_pack_block_f32_bf16
#define nnc_pack_zeros_bf16 nnc_pack_zeros_f32

#endif
#endif
