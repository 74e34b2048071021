/* What kernels use of the machine for products of matrices: copies to the block's memory that go on
 * while the threads compute, and the tensor cores. As nnc_cuda_machine.h, kernels of the tests'
 * emulator take another version of this header.
 *
 * The fragments of a matrix product are spread over the lanes of a warp as the PTX ISA documents it
 * ("Matrix Fragments for mma.m16n8k16", "mma.m16n8k8"). With g = lane / 4 and t = lane % 4:
 *
 *                      16 bits, 16 x 16 x 8                     tf32, 16 x 8 x 8
 *   left[0]            row g,     depths 2t, 2t + 1             row g,     depth t
 *   left[1]            row g + 8, depths 2t, 2t + 1             row g + 8, depth t
 *   left[2], left[3]   the same, depths + 8                     the same, depth + 4
 *   right[0]           column g,  depths 2t, 2t + 1             column g,  depth t
 *   right[1]           column g,  depths + 8                    column g,  depth + 4
 *   sums[0], sums[1]   row g, columns 2t, 2t + 1
 *   sums[2], sums[3]   row g + 8, columns 2t, 2t + 1 */
#ifndef NNC_CUDA_TENSOR_H
#define NNC_CUDA_TENSOR_H

#include "nnc_cuda_machine.h"

#ifdef NNC_EMULATED
#include "nnc_emulated_tensor.h"
#else

/* ---- copies to the block's memory ---- */

/* The address of block memory, as instructions for such memory want it. */
NNC_DEVICE uint32_t nnc_block_address(const void *at) {
  return (uint32_t)__cvta_generic_to_shared(at);
}

/* Begins to copy 16 bytes of the device's memory to the block's, both aligned to 16. Only the first
 * `bytes` of them, 0 to 16, are read; the rest becomes 0. */
NNC_DEVICE void nnc_copy_begin(void *to, const void *from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(nnc_block_address(to)),
               "l"(__cvta_generic_to_global(from)), "r"(bytes)
               : "memory");
}

/* The copies that this thread has begun since the last call are a group, perhaps an empty one. */
NNC_DEVICE void nnc_copy_group(void) { asm volatile("cp.async.commit_group;" ::: "memory"); }

/* Waits until all groups of this thread have arrived but the last LEFT. Other threads see them
 * after a barrier. */
template <int LEFT> NNC_DEVICE void nnc_copy_wait(void) {
  asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}

/* ---- fragments out of the block's memory ---- */

/* Four matrices of 8 rows of 16 bytes: lane l gives the address of row l % 8 of matrix l / 8, and
 * gets of matrix m in to[m] the bytes 4 (l % 4) to 4 (l % 4) + 3 of row l / 4. */
NNC_DEVICE void nnc_load_matrices(uint32_t *to, const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(nnc_block_address(row))
               : "memory");
}

/* The same of their transposes, as matrices of 8 x 8 numbers of 16 bits. */
NNC_DEVICE void nnc_load_turned(uint32_t *to, const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(nnc_block_address(row))
               : "memory");
}

/* ---- products: sums += left right, in f32 ---- */

#define NNC_DEFINE_MMA(name, shape, type)                                                          \
  NNC_DEVICE void nnc_mma_##name(float *sums, const uint32_t *left, const uint32_t *right) {       \
    asm("mma.sync.aligned." shape ".row.col.f32." type "." type ".f32 "                            \
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                          \
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])                               \
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));   \
  }
NNC_DEFINE_MMA(bf16, "m16n8k16", "bf16")
NNC_DEFINE_MMA(f16, "m16n8k16", "f16")
NNC_DEFINE_MMA(tf32, "m16n8k8", "tf32")

/* The bits of an f32 as tf32, of 10 bits of fraction: the nearest, a tie away from 0. */
NNC_DEVICE uint32_t nnc_to_tf32(uint32_t bits) {
  uint32_t rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "r"(bits));
  return rounded;
}

/* Two numbers rounded to 16 bits, as a register of a fragment has them: the nearest, ties to even. */
#define NNC_DEFINE_PACK(name)                                                                      \
  NNC_DEVICE uint32_t nnc_pack_##name(float low, float high) {                                     \
    uint32_t both;                                                                                 \
    asm("cvt.rn." #name "x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));                  \
    return both;                                                                                   \
  }
NNC_DEFINE_PACK(bf16)
NNC_DEFINE_PACK(f16)

/* ---- the softmax ---- */

/* 2^x within 2 units of the last place; 0 where that is below the normal numbers. */
NNC_DEVICE float nnc_exp2(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
/* The greater one; of a NaN and a number the number. */
NNC_DEVICE float nnc_greater(float a, float b) { return fmaxf(a, b); }

#endif
#endif
