/* What generated kernels use of the machine: types, places in the grid, barriers, and operations of a
 * warp. Kernels name nothing else of CUDA, so that the same text compiles for the emulator of the tests,
 * which brings its own version of this header (NNC_EMULATED).
 *
 * Rules that both rely on: blocks have one axis and a multiple of 32 threads; every thread of a block
 * reaches the same barriers in the same order; operations of a warp are called by all 32 lanes of it. */
#ifndef NNC_CUDA_MACHINE_H
#define NNC_CUDA_MACHINE_H

#ifdef NNC_EMULATED
#include "nnc_emulated_machine.h"
#else

#ifdef __CUDACC_RTC__ /* NVRTC finds no headers */
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#else
#include <stdint.h>
#endif

/* A kernel whose blocks have at most so many threads. */
#define NNC_KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)
/* The same, and a multiprocessor runs one such block at a time. */
#define NNC_KERNEL_ALONE(threads) extern "C" __global__ void __launch_bounds__(threads, 1)
#define NNC_DEVICE static __device__ __forceinline__
#define NNC_SHARED static __device__ __noinline__ /* a function that is not inlined */
#define NNC_EXTERN static __device__              /* one of the user's (nnc_cuda_extern.h) */
#define NNC_BLOCK_MEMORY __shared__           /* a variable of the block, declared in a kernel */
#define NNC_PARAMETER const __grid_constant__ /* of a kernel, and read at computed places */
#define NNC_RESTRICT __restrict__
#define NNC_UNROLL _Pragma("unroll")
#define NNC_PRAGMA(text) _Pragma(#text)
#define NNC_UNROLL_BY(rounds) NNC_PRAGMA(unroll rounds) /* so many beside each other */
#define NNC_ALIGN(bytes) __align__(bytes)

#define NNC_THREAD ((int)threadIdx.x)
#define NNC_THREADS ((int)blockDim.x) /* of a block */
#define NNC_BLOCK_OF_GRID ((int64_t)blockIdx.x)
#define NNC_BLOCK NNC_BLOCK_OF_GRID /* in a part of a merged kernel, of those of the part */
#define NNC_BLOCKS ((int64_t)gridDim.x)

/* All threads of the block; what they wrote before is seen after. */
NNC_DEVICE void nnc_sync(void) { __syncthreads(); }
/* The lanes of the warp. */
NNC_DEVICE void nnc_sync_warp(void) { __syncwarp(); }

/* The value of lane (own lane xor mask); of the lane `from`. */
#define NNC_DEFINE_SHUFFLE(name, type)                                                             \
  NNC_DEVICE type nnc_shuffle_xor_##name(type value, int mask) {                                   \
    return __shfl_xor_sync(0xffffffffu, value, mask);                                              \
  }                                                                                                \
  NNC_DEVICE type nnc_shuffle_##name(type value, int from) {                                       \
    return __shfl_sync(0xffffffffu, value, from);                                                  \
  }
NNC_DEFINE_SHUFFLE(f32, float)
NNC_DEFINE_SHUFFLE(f64, double)
NNC_DEFINE_SHUFFLE(i32, int32_t)
NNC_DEFINE_SHUFFLE(i64, int64_t)

/* Bit l: whether it is true in lane l. */
NNC_DEVICE uint32_t nnc_ballot(bool is_true) { return __ballot_sync(0xffffffffu, is_true); }
NNC_DEVICE int nnc_count_bits(uint32_t bits) { return __popc(bits); }

/* The product, rounded: no sum that it is part of takes it in unrounded. */
NNC_DEVICE float nnc_times_f32(float a, float b) { return __fmul_rn(a, b); }
NNC_DEVICE double nnc_times_f64(double a, double b) { return __dmul_rn(a, b); }

/* What was at the address before the value; other threads see what was written before. */
NNC_DEVICE uint64_t nnc_exchange(uint64_t *at, uint64_t value) {
  __threadfence();
  const uint64_t before = atomicExch((unsigned long long *)at, (unsigned long long)value);
  __threadfence();
  return before;
}

#endif
#endif
