/* The ring of slots: slots.h. A slot is used again when its runs have ended; their answers are then kept
 * elsewhere until nobody may ask for them any more. */
#include "cuda/slots.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/failure.h"
#include "os/assert.h"
#include "os/message.h"

void nnc_slots_note(const nnc_slot *slot, int first, int count) {
  static const char *const names[NNC_ENTRY_COUNT] = {
      "init", "train", "accumulate", "eval", "eval_one", "predict", "predict_batch", "generate"};
  if (count == 0) return;
  const nnc_slot_run *run = &slot->runs[first];
  nnc_cuda_note_run(names[run->entry], run->step, slot->runs[first + count - 1].step, run->example);
}

/* --- Opening -------------------------------------------------------------------------------- */

static void release(nnc_slots *slots) {
  if (slots->pinned) (void)nnc_cuda.host_free(slots->pinned);
  if (slots->told) (void)nnc_cuda.memory_free(slots->told);
  if (slots->aside) (void)nnc_cuda.memory_free(slots->aside);
  free(slots->run_memory);
  free(slots->answered_runs);
  free(slots->answers);
  slots->pinned = slots->answers = NULL;
  slots->told = slots->aside = 0;
  slots->run_memory = slots->answered_runs = NULL;
}

static bool take(nnc_slots *slots) {
  size_t most = (size_t)slots->room.most;
  int64_t each = (slots->told_bytes + slots->answer_bytes) * slots->room.most + NNC_GPU_ALIGNMENT;
  slots->answer_count = 2 * slots->room.most + 2;
  slots->run_memory = calloc(most * NNC_SLOTS, sizeof *slots->run_memory);
  slots->answered_runs = calloc((size_t)slots->answer_count, sizeof *slots->answered_runs);
  slots->answers = calloc((size_t)slots->answer_count, (size_t)slots->answer_bytes + 1);
  if (!slots->run_memory || !slots->answered_runs || !slots->answers) {
    nnc_error("cannot allocate what %zu runs answer", most);
    return false;
  }
  slots->pinned = nnc_gpu_take_pinned(each * NNC_SLOTS, "what runs are told");
  if (!slots->pinned) return false;
  for (int i = 0; i < NNC_SLOTS; i++) {
    char *told = slots->pinned + each * i;
    char *numbers = told + slots->told_bytes * slots->room.most;
    slots->slots[i].runs = slots->run_memory + (size_t)i * most;
    slots->slots[i].told = told;
    slots->slots[i].numbers = numbers;
    slots->slots[i].left = (void *)(numbers + slots->answer_bytes * slots->room.most);
  }
  return nnc_gpu_take(slots->gpu, &slots->told, slots->told_bytes * slots->room.most,
                      "what runs are told") &&
         nnc_gpu_take(slots->gpu, &slots->aside, slots->answer_bytes * slots->room.most,
                      "what runs answer");
}

static bool make_room(nnc_slots *slots, const nnc_slot_room *room) {
  slots->room = *room;
  slots->told_bytes =
      nnc_gpu_rounded(slots->state_bytes + room->examples * (int64_t)sizeof(uint32_t));
  slots->answer_bytes = nnc_gpu_rounded(room->number_bytes);
  return take(slots);
}

bool nnc_slots_open(nnc_slots *slots, const nnc_gpu *gpu, int scalar_count,
                    const nnc_slot_room *room) {
  *slots = (nnc_slots){.gpu = gpu};
  slots->state_bytes = (int64_t)sizeof(nnc_cuda_state) + (int64_t)sizeof(double) * scalar_count;
  for (int i = 0; i < NNC_SLOTS; i++)
    if (!(slots->slots[i].ended = nnc_gpu_event(CU_EVENT_NOT_TIMED))) return false;
  return make_room(slots, room) &&
         nnc_gpu_take(gpu, &slots->state, slots->state_bytes, "what runs are told");
}

static void take_answers(nnc_slots *slots);

bool nnc_slots_widen(nnc_slots *slots, const nnc_slot_room *room) {
  while (slots->taken < slots->begun) take_answers(slots);
  release(slots);
  return make_room(slots, room);
}

void nnc_slots_close(nnc_slots *slots) {
  for (int i = 0; i < NNC_SLOTS; i++)
    if (slots->slots[i].ended) (void)nnc_cuda.event_destroy(slots->slots[i].ended);
  release(slots);
  if (slots->state) (void)nnc_cuda.memory_free(slots->state);
  *slots = (nnc_slots){0};
}

/* --- Telling -------------------------------------------------------------------------------- */

/* Of the slot that was begun first of those whose answers are not taken. */
static void take_answers(nnc_slots *slots) {
  nnc_slot *slot = &slots->slots[slots->taken++ % NNC_SLOTS];
  nnc_slots_note(slot, 0, slot->count);
  nnc_cuda_must(nnc_cuda.event_wait(slot->ended), "wait for a run's end");
  for (int i = 0; i < slot->count; i++) {
    int64_t at = ++slots->answered % slots->answer_count;
    slots->answered_runs[at] = slot->runs[i];
    memcpy(slots->answers + at * slots->answer_bytes, slot->numbers + i * slots->answer_bytes,
           (size_t)slots->answer_bytes);
  }
  slot->count = 0;
}

nnc_slot *nnc_slots_begin(nnc_slots *slots) {
  if (slots->begun - slots->taken == NNC_SLOTS) take_answers(slots);
  nnc_slot *slot = &slots->slots[slots->begun++ % NNC_SLOTS];
  NNC_ASSERT(slot->count == 0);
  return slot;
}

int nnc_slots_add(nnc_slots *slots, nnc_slot *slot, enum nnc_entry_number entry,
                  const nnc_run *run) {
  NNC_ASSERT(slot->count < slots->room.most);
  int number = slot->count++;
  nnc_cuda_state *state = (void *)(slot->told + number * slots->told_bytes);
  size_t scalars = (size_t)slots->state_bytes - sizeof *state;
  slots->runs++;
  slot->runs[number] = (nnc_slot_run){entry, run->step, run->example};
  *state = (nnc_cuda_state){.seed = run->seed,
                            .step = (uint64_t)run->step,
                            .example = (uint64_t)run->example,
                            .outside = UINT64_MAX};
  if (scalars > 0) memcpy(state + 1, run->scalars, scalars);
  if (run->examples)
    memcpy((char *)state + slots->state_bytes, run->examples,
           (size_t)slots->room.examples * sizeof *run->examples);
  return number;
}

static void tell(const nnc_slots *slots, CuAddress to, const char *told, int64_t bytes) {
  nnc_cuda_must(nnc_cuda.copy_in(to, told, (size_t)bytes, slots->gpu->stream),
                "tell the device what to run");
}

void nnc_slots_tell(const nnc_slots *slots, const nnc_slot *slot, int first, int count) {
  NNC_ASSERT(first >= 0 && count > 0 && first + count <= slot->count);
  tell(slots, slots->told, slot->told + first * slots->told_bytes, count * slots->told_bytes);
}

void nnc_slots_tell_state(const nnc_slots *slots, const nnc_slot *slot) {
  NNC_ASSERT(slot->count == 1);
  tell(slots, slots->state, slot->told, slots->state_bytes);
}

/* --- Answers -------------------------------------------------------------------------------- */

const char *nnc_slots_answer(nnc_slots *slots, int64_t run, enum nnc_entry_number *entry) {
  bool is_kept = run > slots->runs - slots->answer_count && run > 0 && run <= slots->runs;
  if (!is_kept) nnc_assert_failed("a run's numbers are asked for in time", __FILE__, __LINE__);
  bool waits = slots->answered < run;
  while (slots->answered < run) take_answers(slots);
  const nnc_slot *last = &slots->slots[(slots->begun - 1) % NNC_SLOTS];
  if (waits) nnc_slots_note(last, 0, last->count);
  int64_t at = run % slots->answer_count;
  *entry = slots->answered_runs[at].entry;
  return slots->answers + at * slots->answer_bytes;
}
