/* The ring of slots: slots.h. A slot is used again when the run that it was for has ended. */
#include "cuda/slots.h"

#include <string.h>

#include "cuda/failure.h"
#include "os/assert.h"

enum { ALIGNMENT = 256 };

static int64_t rounded(int64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static int64_t told_bytes(const nnc_slots *slots) {
  return (int64_t)sizeof(nnc_cuda_state) + (int64_t)sizeof(double) * slots->scalar_count;
}

bool nnc_slots_open(nnc_slots *slots, const nnc_gpu *gpu, int scalar_count, int64_t number_bytes) {
  *slots = (nnc_slots){.gpu = gpu, .scalar_count = scalar_count};
  int64_t told = rounded(told_bytes(slots)), left = rounded((int64_t)sizeof(nnc_cuda_state));
  int64_t each = told + left + rounded(number_bytes);
  slots->pinned = nnc_gpu_take_pinned(each * NNC_SLOTS, "what runs are told");
  if (!slots->pinned || !nnc_gpu_take(gpu, &slots->state, told_bytes(slots), "what runs are told"))
    return false;
  for (int i = 0; i < NNC_SLOTS; i++) {
    char *base = slots->pinned + each * i;
    slots->slots[i] = (nnc_slot){.told = (void *)base,
                                 .left = (void *)(base + told),
                                 .numbers = base + told + left,
                                 .ended = nnc_gpu_event(CU_EVENT_NOT_TIMED)};
    if (!slots->slots[i].ended) return false;
  }
  return true;
}

void nnc_slots_close(nnc_slots *slots) {
  for (int i = 0; i < NNC_SLOTS; i++)
    if (slots->slots[i].ended) (void)nnc_cuda.event_destroy(slots->slots[i].ended);
  if (slots->pinned) (void)nnc_cuda.host_free(slots->pinned);
  if (slots->state) (void)nnc_cuda.memory_free(slots->state);
  *slots = (nnc_slots){0};
}

const nnc_slot *nnc_slots_find(const nnc_slots *slots, int64_t run) {
  bool is_kept = run > slots->runs - NNC_DEVICE_KEEPS && run <= slots->runs;
  if (!is_kept) nnc_assert_failed("a run's numbers are asked for in time", __FILE__, __LINE__);
  return &slots->slots[run % NNC_SLOTS];
}

nnc_slot *nnc_slots_tell(nnc_slots *slots, enum nnc_entry_number entry, const nnc_run *run) {
  nnc_slot *slot = &slots->slots[++slots->runs % NNC_SLOTS];
  slot->entry = entry;
  slot->step = run->step;
  slot->example = run->example;
  nnc_cuda_must(nnc_cuda.event_wait(slot->ended), "wait for an earlier run");
  *slot->told = (nnc_cuda_state){.seed = run->seed,
                                 .step = (uint64_t)run->step,
                                 .example = (uint64_t)run->example,
                                 .outside = UINT64_MAX};
  if (slots->scalar_count > 0)
    memcpy(slot->told + 1, run->scalars, sizeof(double) * (size_t)slots->scalar_count);
  nnc_cuda_must(
      nnc_cuda.copy_in(slots->state, slot->told, (size_t)told_bytes(slots), slots->gpu->stream),
      "tell the device what to run");
  return slot;
}
