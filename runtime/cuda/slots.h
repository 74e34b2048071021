/* What one run is told, and what it answers, in pinned memory: a ring, so that the host prepares runs
 * while earlier ones have not ended. */
#ifndef NNC_CUDA_SLOTS_H
#define NNC_CUDA_SLOTS_H

#include <stdbool.h>

#include "core/device.h"
#include "cuda/gpu.h"
#include "nnc_cuda_program.h"

typedef struct nnc_slot {
  enum nnc_entry_number entry; /* what ran */
  int64_t step, example;
  nnc_cuda_state *told; /* the scalars after it; the device has a copy */
  nnc_cuda_state *left; /* the state when the run had ended, where indices are checked */
  char *numbers;        /* the accumulators when the run had ended */
  CuEvent ended;
} nnc_slot;

enum { NNC_SLOTS = NNC_DEVICE_KEEPS + 1 };

typedef struct nnc_slots {
  const nnc_gpu *gpu;
  int scalar_count;
  CuAddress state; /* on the device, the scalars after it */
  char *pinned;
  nnc_slot slots[NNC_SLOTS];
  int64_t runs; /* that there have been */
} nnc_slots;

/* For runs whose accumulators take at most so many bytes. False after a message. */
bool nnc_slots_open(nnc_slots *slots, const nnc_gpu *gpu, int scalar_count, int64_t number_bytes);
void nnc_slots_close(nnc_slots *slots);

/* Puts what the next run is told into the stream; the run's slot. */
nnc_slot *nnc_slots_tell(nnc_slots *slots, enum nnc_entry_number entry, const nnc_run *run);

/* That of run number `run`, one of the last NNC_DEVICE_KEEPS. */
const nnc_slot *nnc_slots_find(const nnc_slots *slots, int64_t run);

#endif
