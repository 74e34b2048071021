/* A mistake in each kernel, which the emulator must catch (check_seeded.c, run.sh). */
#include "nnc_cuda_machine.h"

/* No barrier between the stores and the loads. */
NNC_KERNEL(256) missing_barrier(float *y, const float *x) {
  NNC_BLOCK_MEMORY float tile[256];
  tile[NNC_THREAD] = x[NNC_THREAD];
  y[NNC_THREAD] = tile[255 - NNC_THREAD];
}

/* The barrier after the loads is missing: a fast thread stores the next round's value too early. */
NNC_KERNEL(64) missing_second_barrier(float *y, const float *x) {
  NNC_BLOCK_MEMORY float tile[64];
  for (int round = 0; round < 4; round++) {
    tile[NNC_THREAD] = x[round * 64 + NNC_THREAD];
    nnc_sync();
    y[round * 64 + NNC_THREAD] = tile[63 - NNC_THREAD];
  }
}

/* In order as long as a warp goes in step. */
NNC_KERNEL(64) missing_warp_barrier(float *y, const float *x) {
  NNC_BLOCK_MEMORY float tile[64];
  tile[NNC_THREAD] = x[NNC_THREAD];
  y[NNC_THREAD] = tile[NNC_THREAD ^ 1];
}

/* A block reads what another writes. */
NNC_KERNEL(32) between_blocks(float *y, const float *x) {
  y[NNC_BLOCK * 32 + NNC_THREAD] = x[NNC_THREAD];
  if (NNC_BLOCK == 1) y[64 + NNC_THREAD] = y[NNC_THREAD];
}

/* All threads store to one place. */
NNC_KERNEL(64) same_place(float *y, const float *x) { y[0] = x[NNC_THREAD]; }

NNC_KERNEL(64) divergent_barrier(float *y, const float *x) {
  if (NNC_THREAD < 32) nnc_sync();
  y[NNC_THREAD] = x[NNC_THREAD];
}

NNC_KERNEL(64) different_barriers(float *y, const float *x) {
  if (NNC_THREAD < 32) {
    nnc_sync();
  } else {
    nnc_sync();
  }
  y[NNC_THREAD] = x[NNC_THREAD];
}

NNC_KERNEL(64) early_return(float *y, const float *x) {
  if (NNC_THREAD >= 60) return;
  nnc_sync();
  y[NNC_THREAD] = x[NNC_THREAD];
}

NNC_KERNEL(64) half_a_warp(float *y, const float *x) {
  float value = x[NNC_THREAD];
  if (NNC_THREAD % 32 < 16) value += nnc_shuffle_xor_f32(value, 1);
  y[NNC_THREAD] = value;
}

NNC_KERNEL(64) different_shuffles(float *y, const float *x) {
  float value = x[NNC_THREAD];
  if (NNC_THREAD % 32 < 16) value += nnc_shuffle_xor_f32(value, 1);
  else value += nnc_shuffle_xor_f32(value, 2);
  y[NNC_THREAD] = value;
}

NNC_KERNEL(64) shuffle_and_barrier(float *y, const float *x) {
  float value = x[NNC_THREAD];
  if (NNC_THREAD % 32 < 16) value += nnc_shuffle_xor_f32(value, 1);
  else nnc_sync();
  y[NNC_THREAD] = value;
}

NNC_KERNEL(64) store_at(float *y, int64_t place) { y[place + NNC_THREAD] = 1; }
NNC_KERNEL(32) load_at(float *y, const float *x, int64_t place) {
  if (NNC_THREAD == 0) y[0] = x[place];
}

NNC_KERNEL(64) past_the_tile(float *y, int64_t place) {
  NNC_BLOCK_MEMORY float tile[64];
  tile[NNC_THREAD + place] = 1;
  nnc_sync();
  y[NNC_THREAD] = tile[NNC_THREAD];
}

/* The same through a pointer of which the compiler does not know the extent. */
NNC_KERNEL(64) past_the_pointer(float *y, int64_t place) {
  NNC_BLOCK_MEMORY float tile[64];
  NNC_BLOCK_MEMORY float *begin;
  if (NNC_THREAD == 0) begin = tile;
  nnc_sync();
  begin[NNC_THREAD + place] = 1;
  nnc_sync();
  y[NNC_THREAD] = tile[NNC_THREAD];
}

/* Nothing was stored in block memory. */
NNC_KERNEL(64) not_stored(float *y) {
  NNC_BLOCK_MEMORY float tile[64];
  if (NNC_THREAD < 63) tile[NNC_THREAD] = 1;
  nnc_sync();
  y[NNC_THREAD] = tile[NNC_THREAD];
}

typedef struct Four {
  float x NNC_ALIGN(16);
  float y, z, w;
} Four;

NNC_KERNEL(32) misaligned(float *y, const float *x, int64_t place) {
  const Four *four = (const Four *)(x + place + 4 * NNC_THREAD);
  y[NNC_THREAD] = four->x + four->y + four->z + four->w;
}

NNC_KERNEL(32) never_opens(uint64_t *lock) {
  while (nnc_exchange(lock, 1) != 0) {}
}

NNC_KERNEL(32) divide(int *y, int by) { y[NNC_THREAD] = NNC_THREAD / by; }

NNC_KERNEL(32) add(int *y, int value) {
  if (NNC_THREAD == 0) *y += value;
}
