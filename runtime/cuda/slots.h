/* What runs are told, and what they answer, in pinned memory: a ring of slots, so that the host prepares runs
 * while earlier ones have not ended. A slot is of one run, or of several that were put into the stream
 * together. */
#ifndef NNC_CUDA_SLOTS_H
#define NNC_CUDA_SLOTS_H

#include <stdbool.h>

#include "core/device.h"
#include "cuda/gpu.h"
#include "nnc_cuda_program.h"

/* A run of a slot. */
typedef struct nnc_slot_run {
  enum nnc_entry_number entry;
  int64_t step, example;
} nnc_slot_run;

typedef struct nnc_slot {
  int count; /* of its runs; 0: what they answered has been taken */
  nnc_slot_run *runs;
  char *told;           /* by run: the state, the scalars after it, the examples after these */
  char *numbers;        /* by run: the accumulators when it had ended */
  nnc_cuda_state *left; /* the state when all had ended, where indices are checked */
  CuEvent ended;
} nnc_slot;

/* What a slot has room for. */
typedef struct nnc_slot_room {
  int most;             /* runs */
  int64_t examples;     /* that a run is told */
  int64_t number_bytes; /* of a run's accumulators */
} nnc_slot_room;

enum { NNC_SLOTS = 4 };

typedef struct nnc_slots {
  const nnc_gpu *gpu;
  nnc_slot_room room;
  int64_t state_bytes;              /* the state and its scalars */
  int64_t told_bytes, answer_bytes; /* of a run in a slot */
  CuAddress state;                  /* on the device, the scalars after it: kernels find it here */
  CuAddress told;  /* on the device, what runs of a slot are told, from the first */
  CuAddress aside; /* on the device, what runs of a group answer */
  char *pinned;
  nnc_slot_run *run_memory;
  nnc_slot slots[NNC_SLOTS];
  int64_t begun, taken;   /* slots, from the first on: the next takes turns with those before */
  int64_t runs, answered; /* runs that there have been, and those whose answers were taken */
  nnc_slot_run *answered_runs; /* the last of them, each at its number modulo `answers` */
  char *answers;
  int64_t answer_count;
} nnc_slots;

/* False after a message; nnc_slots_close is fine then too. */
bool nnc_slots_open(nnc_slots *slots, const nnc_gpu *gpu, int scalar_count,
                    const nnc_slot_room *room);
/* More room: no run may be under way. The state stays where it is. */
bool nnc_slots_widen(nnc_slots *slots, const nnc_slot_room *room);
void nnc_slots_close(nnc_slots *slots);

/* A slot for the next runs, once those that it was for have ended. */
nnc_slot *nnc_slots_begin(nnc_slots *slots);
/* Adds a run to it; the run's number in the slot. */
int nnc_slots_add(nnc_slots *slots, nnc_slot *slot, enum nnc_entry_number entry,
                  const nnc_run *run);
/* Puts into the stream what `count` of its runs are told, from `first` on, to slots->told; what the only
 * run is told, to slots->state. */
void nnc_slots_tell(const nnc_slots *slots, const nnc_slot *slot, int first, int count);
void nnc_slots_tell_state(const nnc_slots *slots, const nnc_slot *slot);

/* The accumulators that run number `run` has left; waits for it. It is one of the last 2 * room.most + 1. */
const char *nnc_slots_answer(nnc_slots *slots, int64_t run, enum nnc_entry_number *entry);

/* For the message of a failure: what is waited for. */
void nnc_slots_note(const nnc_slot *slot, int first, int count);

#endif
