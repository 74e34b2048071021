/* The functions that all units of kernels call (NNC_COMMON, nnc_vector.h), for the unit that has them: those of
 * contractions by the types that are multiplied, NNC_GIVE_f32 and so on. Those of windows: nnc_common_windows.h. */
#ifndef NNC_COMMON_H
#define NNC_COMMON_H

#include "nnc_gemm.h"
#include "nnc_gemm_bf16.h"
#include "nnc_pack_half.h"

#define NNC_GIVE_f32                                                                               \
  NNC_TILES(NNC_GIVEN, f32, float, float)                                                          \
  NNC_FIND_TILES(NNC_GIVEN, f32)                                                                   \
  NNC_PACK_BLOCK(NNC_GIVEN, f32, float, float)

#define NNC_GIVE_f64                                                                               \
  NNC_TILES(NNC_GIVEN, f64, double, double)                                                        \
  NNC_FIND_TILES(NNC_GIVEN, f64)                                                                   \
  NNC_PACK_BLOCK(NNC_GIVEN, f64, double, double)

/* Of 16 bits, for tiles of f32. */
#define NNC_GIVE_HALF(kind) NNC_PACK_BLOCK(NNC_GIVEN, f32_##kind, float, uint16_t)
#define NNC_GIVE_f16 NNC_GIVE_HALF(f16)

/* A matrix unit takes its own tiles. */
#if defined(NNC_MATRIX)
#define NNC_GIVE_bf16 NNC_GIVE_HALF(bf16) NNC_PACK_BLOCK(NNC_GIVEN, bf16, uint32_t, uint16_t)
#elif defined(NNC_BF16_PAIRS)
#define NNC_GIVE_bf16                                                                              \
  NNC_GIVE_HALF(bf16)                                                                              \
  NNC_TILES(NNC_GIVEN, bf16, uint32_t, float)                                                      \
  NNC_PACK_BLOCK(NNC_GIVEN, bf16, uint32_t, uint16_t)
#else
#define NNC_GIVE_bf16 NNC_GIVE_HALF(bf16)
#endif

#endif
