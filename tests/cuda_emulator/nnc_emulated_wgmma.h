/* The emulator's version of runtime/cuda_abi/nnc_cuda_wgmma.h: see phases.c, boxes.c, groups.c. */
#ifndef NNC_EMULATED_WGMMA_H
#define NNC_EMULATED_WGMMA_H

#include "nnc_emulated_machine.h"

#define NNC_MAP const nnc_tensor_map
#define NNC_DYNAMIC_MEMORY(name)                                                                   \
  unsigned char *const name = (unsigned char *)nnc_the_machine->dynamic

NNC_DEVICE uint32_t nnc_block_address(const void *at) { return nnc_the_machine->block_address(at); }

template <int COUNT> NNC_DEVICE void nnc_registers_give(NNC_SITE) {
  nnc_the_machine->registers(COUNT, 0, file, line);
}
template <int COUNT> NNC_DEVICE void nnc_registers_take(NNC_SITE) {
  nnc_the_machine->registers(COUNT, 1, file, line);
}

NNC_DEVICE void nnc_barrier_begin(nnc_barrier *barrier, int count, NNC_SITE) {
  nnc_the_machine->phase(NNC_PHASE_BEGIN, barrier, count, file, line);
}
NNC_DEVICE void nnc_barriers_begun(NNC_SITE) {
  nnc_the_machine->phase(NNC_PHASE_BEGUN, 0, 0, file, line);
}
NNC_DEVICE void nnc_barrier_arrive(nnc_barrier *barrier, NNC_SITE) {
  nnc_the_machine->phase(NNC_PHASE_ARRIVE, barrier, 0, file, line);
}
NNC_DEVICE void nnc_barrier_expect(nnc_barrier *barrier, int bytes, NNC_SITE) {
  nnc_the_machine->phase(NNC_PHASE_EXPECT, barrier, bytes, file, line);
}
NNC_DEVICE void nnc_barrier_wait(nnc_barrier *barrier, uint32_t parity, NNC_SITE) {
  nnc_the_machine->phase(NNC_PHASE_WAIT, barrier, parity, file, line);
}

template <int RANK>
NNC_DEVICE void nnc_box_begin(void *to, const nnc_tensor_map *map, nnc_barrier *barrier,
                              nnc_box_place<RANK> place, NNC_SITE) {
  nnc_the_machine->box(to, map, barrier, place.at, RANK, file, line);
}

NNC_DEVICE void nnc_wgmma_fence(NNC_SITE) {
  nnc_the_machine->group(NNC_GROUP_FENCE, 0, file, line);
}
NNC_DEVICE void nnc_wgmma_group(NNC_SITE) {
  nnc_the_machine->group(NNC_GROUP_CLOSE, 0, file, line);
}
template <int LEFT> NNC_DEVICE void nnc_wgmma_wait(NNC_SITE) {
  nnc_the_machine->group(NNC_GROUP_WAIT, LEFT, file, line);
}

#define NNC_DEFINE_WGMMA(name, type)                                                               \
  template <bool LEFT_BY_DEPTHS, bool RIGHT_BY_DEPTHS>                                             \
  NNC_DEVICE void nnc_wgmma_##name(float *sums, uint64_t left, uint64_t right, int adds,           \
                                   NNC_SITE) {                                                     \
    const nnc_emulated_product product = {type, LEFT_BY_DEPTHS, RIGHT_BY_DEPTHS, adds, sums,       \
                                          left, right};                                            \
    nnc_the_machine->product(&product, file, line);                                                \
  }
NNC_DEFINE_WGMMA(bf16, NNC_MMA_BF16)
NNC_DEFINE_WGMMA(f16, NNC_MMA_F16)
NNC_DEFINE_WGMMA(tf32, NNC_MMA_TF32)

#endif
