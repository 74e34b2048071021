/* The emulator's version of runtime/cuda_abi/nnc_cuda_machine.h: what generated kernels use of the
 * machine, for kernels that are compiled as host code. Each CUDA thread is a fiber (execute.c); a
 * variable of the block is a static one, since one block runs at a time. Barriers and operations
 * of a warp pass the line they are called from, by which the emulator tells them apart.
 *
 * Small on purpose: it is compiled with every unit of kernels. <math.h> is the C library's
 * (-nostdinc++). */
#ifndef NNC_EMULATED_MACHINE_H
#define NNC_EMULATED_MACHINE_H

#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>
#include "nnc_emulated_interface.h"

static nnc_emulated_machine *nnc_the_machine;

#define NNC_KERNEL(threads) extern "C" void
#define NNC_KERNEL_ALONE(threads) extern "C" void
#ifdef __OPTIMIZE__
#define NNC_DEVICE static inline __attribute__((always_inline, unused))
#else /* inlined, each would be compiled at each of its calls */
#define NNC_DEVICE static inline __attribute__((unused))
#endif
#define NNC_SHARED static __attribute__((noinline, unused)) /* a function that is not inlined */
#define NNC_EXTERN static __attribute__((unused))
#define NNC_BLOCK_MEMORY static
#define NNC_PARAMETER const
#define NNC_RESTRICT __restrict__
#define NNC_UNROLL
#define NNC_UNROLL_BY(rounds)
#define NNC_ALIGN(bytes) __attribute__((aligned(bytes)))

#define NNC_THREAD (nnc_the_machine->thread)
#define NNC_THREADS (nnc_the_machine->threads)
#define NNC_BLOCK_OF_GRID (nnc_the_machine->block)
#define NNC_BLOCK NNC_BLOCK_OF_GRID
#define NNC_BLOCKS (nnc_the_machine->blocks)

#define NNC_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

NNC_DEVICE void nnc_sync(NNC_SITE) { nnc_the_machine->sync(file, line); }
NNC_DEVICE void nnc_sync_warp(NNC_SITE) { nnc_the_machine->warp(NNC_WARP_SYNC, 0, 0, file, line); }

template <class T> NNC_DEVICE T nnc_of_lane(T value, int from, const char *file, int line) {
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  bits = nnc_the_machine->warp(NNC_WARP_SHUFFLE, bits, from, file, line);
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

#define NNC_DEFINE_SHUFFLE(name, type)                                                             \
  NNC_DEVICE type nnc_shuffle_xor_##name(type value, int mask, NNC_SITE) {                         \
    return nnc_of_lane<type>(value, (NNC_THREAD % 32) ^ mask, file, line);                         \
  }                                                                                                \
  NNC_DEVICE type nnc_shuffle_##name(type value, int from, NNC_SITE) {                             \
    return nnc_of_lane<type>(value, from & 31, file, line);                                        \
  }
NNC_DEFINE_SHUFFLE(f32, float)
NNC_DEFINE_SHUFFLE(f64, double)
NNC_DEFINE_SHUFFLE(i32, int32_t)
NNC_DEFINE_SHUFFLE(i64, int64_t)

NNC_DEVICE uint32_t nnc_ballot(bool is_true, NNC_SITE) {
  return (uint32_t)nnc_the_machine->warp(NNC_WARP_BALLOT, is_true, 0, file, line);
}
NNC_DEVICE int nnc_count_bits(uint32_t bits) { return __builtin_popcount(bits); }

NNC_DEVICE float nnc_times_f32(float a, float b) { return a * b; }
NNC_DEVICE double nnc_times_f64(double a, double b) { return a * b; }

#ifdef NNC_EMULATED_RACES
#define NNC_UNTRACED __attribute__((noinline, no_sanitize("thread"), unused))
#define NNC_TOUCH(at, bytes, how)                                                                  \
  nnc_the_machine->touch(at, bytes, how, __builtin_return_address(0))
#else
#define NNC_UNTRACED __attribute__((unused))
#define NNC_TOUCH(at, bytes, how) ((void)0)
#endif

static NNC_UNTRACED uint64_t nnc_exchange(uint64_t *at, uint64_t value) {
  NNC_TOUCH(at, sizeof *at, NNC_TOUCH_ATOMIC);
  const uint64_t before = *at;
  *at = value;
  nnc_the_machine->exchanged();
  return before;
}

/* What CUDA has besides the C library. */
#define NNC_DEFINE_TESTS(type)                                                                     \
  NNC_DEVICE bool isnan(type x) { return __builtin_isnan(x); }                                     \
  NNC_DEVICE bool isinf(type x) { return __builtin_isinf(x); }                                     \
  NNC_DEVICE bool isfinite(type x) { return __builtin_isfinite(x); }                               \
  NNC_DEVICE bool signbit(type x) { return __builtin_signbit(x); }
#undef isnan
#undef isinf
#undef isfinite
#undef signbit
NNC_DEFINE_TESTS(float)
NNC_DEFINE_TESTS(double)
NNC_DEVICE float rsqrtf(float x) { return 1 / __builtin_sqrtf(x); }
NNC_DEVICE double rsqrt(double x) { return 1 / __builtin_sqrt(x); }

#endif
