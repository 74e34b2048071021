/* For kernels of CUDA what abi/nnc_vector.h is for those of a CPU: the words that the headers for both
 * (nnc_ops.h, nnc_half.h, nnc_random.h) are written in. */
#ifndef NNC_VECTOR_H
#define NNC_VECTOR_H

#include "nnc_cuda_machine.h"

#define NNC_INLINE NNC_DEVICE
#define NNC_EXTENTS(...) enum { __VA_ARGS__ }
/* The pointer is a multiple of so many bytes: neighbours may be loaded and stored together. */
#define NNC_IS_ALIGNED(pointer, bytes)                                                             \
  pointer = (decltype(pointer))__builtin_assume_aligned(pointer, bytes)

#ifdef __CUDACC_RTC__
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295u
#define UINT8_MAX 255
#define INT64_C(number) number##ll
#define UINT64_C(number) number##ull
#define INT64_MIN (-9223372036854775807ll - 1)
#define INT64_MAX 9223372036854775807ll
#define UINT64_MAX 18446744073709551615ull
#endif

#ifdef __CUDACC__
/* What GNU C calls the functions of C that a processor may have instructions for. */
#define __builtin_expect(value, usual) (value)
#define __builtin_fabs fabs
#define __builtin_fabsf fabsf
#define __builtin_sqrt sqrt
#define __builtin_sqrtf sqrtf
#define __builtin_cbrt cbrt
#define __builtin_cbrtf cbrtf
#define __builtin_floor floor
#define __builtin_floorf floorf
#define __builtin_ceil ceil
#define __builtin_ceilf ceilf
#define __builtin_rint rint
#define __builtin_rintf rintf
#define __builtin_fmod fmod
#define __builtin_fmodf fmodf
#define __builtin_copysign copysign
#define __builtin_copysignf copysignf
#endif

NNC_DEVICE int64_t nnc_least(int64_t a, int64_t b) { return a < b ? a : b; }
NNC_DEVICE int64_t nnc_greatest(int64_t a, int64_t b) { return a > b ? a : b; }

/* An index that was loaded, kept inside [0, bound). */
NNC_DEVICE int64_t nnc_clamp(int64_t index, int64_t bound) {
  index = index < bound ? index : bound - 1;
  return index > 0 ? index : 0;
}
NNC_DEVICE int32_t nnc_clamp(int32_t index, int32_t bound) {
  index = index < bound ? index : bound - 1;
  return index > 0 ? index : 0;
}
NNC_DEVICE int32_t nnc_clamp(int64_t index, int32_t bound) {
  return (int32_t)nnc_clamp(index, (int64_t)bound);
}

/* Whether 0 <= index < bound. */
NNC_DEVICE bool nnc_within(int64_t index, int64_t bound) {
  return (uint64_t)index < (uint64_t)bound;
}
NNC_DEVICE bool nnc_within(int32_t index, int32_t bound) {
  return (uint32_t)index < (uint32_t)bound;
}
NNC_DEVICE bool nnc_within(int64_t index, int32_t bound) {
  return nnc_within(index, (int64_t)bound);
}

#endif
