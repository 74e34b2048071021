/* Kernels that keep to the rules: check.c knows what they give. */
#include "nnc_cuda_machine.h"

/* A loop over threads alone. */
NNC_KERNEL(128) scale(float *NNC_RESTRICT y, const float *NNC_RESTRICT x, float factor,
                      int64_t count) {
  int64_t i = NNC_BLOCK * 128 + NNC_THREAD;
  if (i < count) y[i] = fmaf(x[i], factor, sqrtf(fabsf(x[i])));
}

NNC_DEVICE float warp_sum(float x) {
  for (int mask = 16; mask; mask /= 2) x += nnc_shuffle_xor_f32(x, mask);
  return x;
}

/* The sum of each row of 256 numbers: in each warp, then over the warps in shared memory. */
NNC_KERNEL(256) row_sums(float *y, const float *x) {
  NNC_BLOCK_MEMORY float part[8];
  float sum = warp_sum(x[NNC_BLOCK * 256 + NNC_THREAD]);
  if (NNC_THREAD % 32 == 0) part[NNC_THREAD / 32] = sum;
  nnc_sync();
  if (NNC_THREAD == 0) {
    float total = 0;
    for (int i = 0; i < 8; i++) total += part[i];
    y[NNC_BLOCK] = total;
  }
}

/* The same by a tree in shared memory. */
NNC_KERNEL(256) row_sums_tree(float *y, const float *x) {
  NNC_BLOCK_MEMORY NNC_ALIGN(16) float part[256];
  part[NNC_THREAD] = x[NNC_BLOCK * 256 + NNC_THREAD];
  for (int half = 128; half; half /= 2) {
    nnc_sync();
    if (NNC_THREAD < half) part[NNC_THREAD] += part[NNC_THREAD + half];
  }
  if (NNC_THREAD == 0) y[NNC_BLOCK] = part[0];
}

/* Each row of 256 backwards, through a function that is not inlined. */
NNC_SHARED void turn(int64_t *tile, int64_t *y, const int64_t *x) {
  tile[NNC_THREAD] = x[NNC_THREAD];
  nnc_sync();
  y[NNC_THREAD] = tile[255 - NNC_THREAD];
  nnc_sync();
}

NNC_KERNEL(256) turn_rows(int64_t *y, const int64_t *x, int64_t rows) {
  NNC_BLOCK_MEMORY int64_t tile[256];
  for (int64_t row = NNC_BLOCK * 2; row < NNC_BLOCK * 2 + 2 && row < rows; row++) {
    turn(tile, y + row * 256, x + row * 256);
  }
}

/* Where a number is positive, its place among the positive ones of its warp; else -1. */
NNC_KERNEL(64) places(int *y, const double *x) {
  int64_t i = NNC_BLOCK * 64 + NNC_THREAD;
  uint32_t bits = nnc_ballot(x[i] > 0);
  int place = nnc_count_bits(bits & ((1u << NNC_THREAD % 32) - 1));
  y[i] = x[i] > 0 ? place : -1;
}

/* Behind a lock. */
NNC_KERNEL(64) least(uint64_t *y, uint64_t *lock, const uint64_t *x, int64_t count) {
  int64_t i = NNC_BLOCK * 64 + NNC_THREAD;
  if (i >= count) return;
  for (bool is_done = false; !is_done;) {
    if (nnc_exchange(lock, 1) != 0) continue;
    if (x[i] < *(volatile uint64_t *)y) *(volatile uint64_t *)y = x[i];
    nnc_exchange(lock, 0);
    is_done = true;
  }
}

/* Lanes tell each other through memory, with the barrier of the warp between. */
NNC_KERNEL(64) neighbours(double *y, const double *x) {
  NNC_BLOCK_MEMORY double tile[64];
  tile[NNC_THREAD] = x[NNC_THREAD];
  nnc_sync_warp();
  double other = tile[NNC_THREAD ^ 1];
  y[NNC_THREAD] = other + nnc_shuffle_f64(x[NNC_THREAD], 5);
}

/* Neighbours of two bytes each are different memory. */
NNC_KERNEL(128) halves(uint16_t *y) {
  NNC_BLOCK_MEMORY uint16_t tile[128];
  tile[NNC_THREAD] = (uint16_t)(3 * NNC_THREAD);
  nnc_sync();
  y[NNC_THREAD] = tile[NNC_THREAD ^ 1];
}

NNC_KERNEL(32) add_one(int *y) {
  if (NNC_THREAD == 0) *y += 1;
}

NNC_KERNEL(32) set(int *y, int value) {
  if (NNC_THREAD == 0) *y = value;
}

NNC_KERNEL(32) add_to(int *y, const int *x) {
  if (NNC_THREAD == 0) *y += *x;
}
