/* The emulator's version of runtime/cuda_abi/nnc_cuda_tensor.h: see copies.c and tensor.c. */
#ifndef NNC_EMULATED_TENSOR_H
#define NNC_EMULATED_TENSOR_H

#include "nnc_emulated_machine.h"

#include "nnc_half.h"

static NNC_UNTRACED void nnc_copy_begin(void *to, const void *from, int bytes, NNC_SITE) {
  NNC_TOUCH(to, 16, NNC_TOUCH_WRITE);
  if (bytes > 0) NNC_TOUCH(from, (size_t)bytes, NNC_TOUCH_READ);
  nnc_the_machine->copy_begin(to, from, bytes, file, line);
}
NNC_DEVICE void nnc_copy_group(void) { nnc_the_machine->copy_group(); }
template <int LEFT> NNC_DEVICE void nnc_copy_wait(void) { nnc_the_machine->copy_wait(LEFT); }

static NNC_UNTRACED void nnc_load_matrices(uint32_t *to, const void *row, NNC_SITE) {
  NNC_TOUCH(row, 16, NNC_TOUCH_READ);
  nnc_the_machine->load_matrices(to, row, 0, file, line);
}
static NNC_UNTRACED void nnc_load_turned(uint32_t *to, const void *row, NNC_SITE) {
  NNC_TOUCH(row, 16, NNC_TOUCH_READ);
  nnc_the_machine->load_matrices(to, row, 1, file, line);
}

#define NNC_DEFINE_MMA(name, type)                                                                 \
  NNC_DEVICE void nnc_mma_##name(float *sums, const uint32_t *left, const uint32_t *right,         \
                                 NNC_SITE) {                                                       \
    nnc_the_machine->mma(type, sums, left, right, file, line);                                     \
  }
NNC_DEFINE_MMA(bf16, NNC_MMA_BF16)
NNC_DEFINE_MMA(f16, NNC_MMA_F16)
NNC_DEFINE_MMA(tf32, NNC_MMA_TF32)

NNC_DEVICE uint32_t nnc_to_tf32(uint32_t bits) {
  const bool is_number = (bits & 0x7F800000) != 0x7F800000;
  return is_number ? (bits + 0x1000) & ~0x1FFFu : bits;
}

#define NNC_DEFINE_PACK(name)                                                                      \
  NNC_DEVICE uint32_t nnc_pack_##name(float low, float high) {                                     \
    return (uint32_t)nnc_to_##name(high) << 16 | nnc_to_##name(low);                               \
  }
NNC_DEFINE_PACK(bf16)
NNC_DEFINE_PACK(f16)

NNC_DEVICE float nnc_exp2(float x) {
  const float result = exp2f(x);
  return result < 0x1p-126f ? 0 : result;
}
NNC_DEVICE float nnc_greater(float a, float b) { return fmaxf(a, b); }

#endif
