/* What kernels for sm_90a alone use of the machine: barriers that count bytes, copies of boxes of a
 * tensor (TMA), and products by groups of four warps (wgmma). NNC_WGMMA tells that the architecture
 * has them. As nnc_cuda_tensor.h, kernels of the tests' emulator take another version.
 *
 * Boxes and products go on by themselves ("the async proxy" of the PTX ISA). A box has arrived when
 * its barrier says so; a product has read its sides and made its sums when it is waited for. What a
 * thread stores itself must not lie where a box arrives or a product reads.
 *
 * A box is rows of 128 bytes, with the 16-byte chunks of a row in other places, depending on the
 * row: that of TMA's and wgmma's swizzle of 128 bytes. It begins at a multiple of 1024 bytes. As a
 * side of a product it holds
 *
 *   by rows     rows of the left side (columns of the right one), each 128 bytes along the depth
 *   by depths   depths, each 128 bytes along the rows (columns): boxes of 8 KB one after the other */
#ifndef NNC_CUDA_WGMMA_H
#define NNC_CUDA_WGMMA_H

#include "nnc_cuda_tensor.h"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define NNC_WGMMA

typedef uint64_t nnc_barrier; /* in block memory */

/* A tensor and its boxes, as the driver has encoded them (nnc_cuda_program.h); a parameter of the
 * kernel. */
typedef struct NNC_ALIGN(64) nnc_tensor_map {
  uint64_t words[16];
} nnc_tensor_map;

/* Where a box begins, by the axes of the map. */
template <int RANK> struct nnc_box_place { int32_t at[RANK]; };

#ifdef NNC_EMULATED
#include "nnc_emulated_wgmma.h"
#else

#define NNC_MAP const __grid_constant__ nnc_tensor_map
/* The memory that the launch asks for, from a multiple of 1024. */
#define NNC_DYNAMIC_MEMORY(name) extern __shared__ NNC_ALIGN(1024) unsigned char name[]

/* ---- registers: each of a warpgroup's threads has so many from now on, a multiple of 8 ---- */

template <int COUNT> NNC_DEVICE void nnc_registers_give(void) {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
}
template <int COUNT> NNC_DEVICE void nnc_registers_take(void) {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
}

/* ---- barriers: a phase is over when `count` have arrived, and all bytes that are expected ---- */

NNC_DEVICE void nnc_barrier_begin(nnc_barrier *barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(nnc_block_address(barrier)),
               "r"(count)
               : "memory");
}
/* By the thread that has begun them, before a barrier of the block. */
NNC_DEVICE void nnc_barriers_begun(void) {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
NNC_DEVICE void nnc_barrier_arrive(nnc_barrier *barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(nnc_block_address(barrier))
               : "memory");
}
/* Arrives, and so many bytes more will in this phase. */
NNC_DEVICE void nnc_barrier_expect(nnc_barrier *barrier, int bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(nnc_block_address(barrier)),
      "r"(bytes)
      : "memory");
}
/* Waits until a phase of that parity is over: the first has parity 0, and the one before it is. */
NNC_DEVICE void nnc_barrier_wait(nnc_barrier *barrier, uint32_t parity) {
  asm volatile("{\n.reg .pred done;\n"
               "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@done bra OVER;\nbra AGAIN;\nOVER:\n}" ::"r"(nnc_block_address(barrier)),
               "r"(parity)
               : "memory");
}

/* ---- boxes ---- */

/* Begins to copy the box at the place; its bytes arrive at the barrier. Outside of the tensor there
 * are zeros. */
#define NNC_DEFINE_BOX(rank, places, ...)                                                          \
  NNC_DEVICE void nnc_box_begin(void *to, const nnc_tensor_map *map, nnc_barrier *barrier,         \
                                nnc_box_place<rank> place) {                                       \
    const int32_t *const at = place.at;                                                            \
    asm volatile("cp.async.bulk.tensor." #rank "d.shared::cluster.global.tile"                     \
                 ".mbarrier::complete_tx::bytes [%0], [%1, {" places                               \
                 "}], [%2];" ::"r"(nnc_block_address(to)),                                         \
                 "l"(map), "r"(nnc_block_address(barrier)), __VA_ARGS__                            \
                 : "memory");                                                                      \
  }
NNC_DEFINE_BOX(2, "%3, %4", "r"(at[0]), "r"(at[1]))
NNC_DEFINE_BOX(3, "%3, %4, %5", "r"(at[0]), "r"(at[1]), "r"(at[2]))
NNC_DEFINE_BOX(4, "%3, %4, %5, %6", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]))
NNC_DEFINE_BOX(5, "%3, %4, %5, %6, %7", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]))

/* ---- products ---- */

/* What was stored to sums, and what was read of them, is so before the products that follow. */
NNC_DEVICE void nnc_wgmma_fence(void) { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
/* The products since the last call are a group. */
NNC_DEVICE void nnc_wgmma_group(void) {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/* Waits until all groups are done but the last LEFT. */
template <int LEFT> NNC_DEVICE void nnc_wgmma_wait(void) {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
}

/* 64 rows by 128 columns, 32 bytes of the depth: sums (+)= left right, begun by all four warps. Of
 * rows 16 w to 16 w + 15 warp w has the sums, as sixteen of nnc_mma's beside each other.
 * `adds`: 0 makes new sums. */
#define NNC_FOUR_SUMS(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
#define NNC_SIXTEEN_SUMS(i)                                                                        \
  NNC_FOUR_SUMS(i), NNC_FOUR_SUMS(i + 4), NNC_FOUR_SUMS(i + 8), NNC_FOUR_SUMS(i + 12)
#define NNC_WGMMA_TEXT(shape, type, tail)                                                          \
  "{\n.reg .pred adds;\nsetp.ne.b32 adds, %66, 0;\n"                                               \
  "wgmma.mma_async.sync.aligned.m64n128" shape ".f32." type "." type " {"                          \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                         \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "               \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "               \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "              \
  "%64, %65, adds, 1, 1" tail ";\n}" : NNC_SIXTEEN_SUMS(0),                                        \
                                       NNC_SIXTEEN_SUMS(16),                                       \
                                       NNC_SIXTEEN_SUMS(32),                                       \
                                       NNC_SIXTEEN_SUMS(48)                                        \
      : "l"(left), "l"(right), "r"(adds)
#define NNC_DEFINE_WGMMA(name)                                                                     \
  template <bool LEFT_BY_DEPTHS, bool RIGHT_BY_DEPTHS>                                             \
  NNC_DEVICE void nnc_wgmma_##name(float *sums, uint64_t left, uint64_t right, int adds) {         \
    asm volatile(NNC_WGMMA_TEXT("k16", #name, ", %67, %68"), "n"(LEFT_BY_DEPTHS),                  \
                 "n"(RIGHT_BY_DEPTHS));                                                            \
  }
NNC_DEFINE_WGMMA(bf16)
NNC_DEFINE_WGMMA(f16)
/* Both sides by rows. */
template <bool LEFT_BY_DEPTHS, bool RIGHT_BY_DEPTHS>
NNC_DEVICE void nnc_wgmma_tf32(float *sums, uint64_t left, uint64_t right, int adds) {
  asm volatile(NNC_WGMMA_TEXT("k8", "tf32", ""));
}

#endif

/* A side of a product for wgmma ("Matrix Descriptor" of the PTX ISA): 64 rows or 128 columns. Of
 * eight rows or depths the next eight lie 1024 bytes on; by depths the next 128 bytes of rows
 * or columns 8 KB. */
NNC_DEVICE uint64_t nnc_wgmma_side(const void *at) {
  const uint64_t chunk = 16, address = nnc_block_address(at);
  return (address & 0x3ffff) / chunk | 8192 / chunk << 16 | 1024 / chunk << 32 |
         (uint64_t)1 << 62; /* the swizzle of 128 bytes */
}
/* The same so many bytes on. */
NNC_DEVICE uint64_t nnc_wgmma_on(uint64_t side, int bytes) { return side + (uint64_t)(bytes / 16); }

#endif
#endif
