/* Barriers: one goes before a step that touches memory which a step since the last barrier wrote,
 * or that writes what such a step read.  Buffers are compared by the memory they stand for
 * (aliases); buffers that merely share bytes at different times are kept apart by the plan, which
 * lets them share only across a barrier. Greedy placement gives the fewest for the given order. */
#include "program/lowering.h"

typedef struct Access {
  bool is_read, is_written;
} Access;

static bool step_conflicts(const Program *program, const Step *step, const Access *since) {
  if (step->kind == STEP_COPY) {
    const Access *from = &since[buffer_root(program, step->copy_from)];
    const Access *to = &since[buffer_root(program, step->copy_to)];
    return from->is_written || to->is_written || to->is_read;
  }
  const Kernel *kernel = program->kernels.items[step->kernel];
  for (int i = 0; i < step->operand_count; i++) {
    const Access *access = &since[buffer_root(program, step->operands[i])];
    if (access->is_written || (kernel->operands[i].is_output && access->is_read)) return true;
  }
  return false;
}

static void step_note(const Program *program, const Step *step, Access *since) {
  if (step->kind == STEP_COPY) {
    since[buffer_root(program, step->copy_from)].is_read = true;
    since[buffer_root(program, step->copy_to)].is_written = true;
    return;
  }
  const Kernel *kernel = program->kernels.items[step->kernel];
  for (int i = 0; i < step->operand_count; i++) {
    Access *access = &since[buffer_root(program, step->operands[i])];
    if (kernel->operands[i].is_output) access->is_written = true;
    access->is_read = true;
  }
}

void barriers_insert(Arena *arena, Program *program, ProgramEntry *entry) {
  Access *since = ARENA_ARRAY(arena, Access, program->buffers.count);
  Step *old = entry->steps.items;
  int count = entry->steps.count;
  entry->steps.items = NULL;
  entry->steps.count = entry->steps.capacity = 0;
  for (int i = 0; i < count; i++) {
    if (step_conflicts(program, &old[i], since)) {
      Step barrier = {.kind = STEP_BARRIER, .kernel = -1, .path = "", .class_name = "barrier"};
      vec_push(program->arena, &entry->steps, barrier);
      entry->barrier_count++;
      for (int b = 0; b < program->buffers.count; b++) since[b] = (Access){0};
    }
    vec_push(program->arena, &entry->steps, old[i]);
    step_note(program, &old[i], since);
  }
}

int *entry_phases(Arena *arena, const ProgramEntry *entry) {
  int *phases = ARENA_ARRAY(arena, int, entry->steps.count + 1);
  int phase = 0;
  for (int i = 0; i < entry->steps.count; i++) {
    if (entry->steps.items[i].kind == STEP_BARRIER) phase++;
    phases[i] = phase;
  }
  phases[entry->steps.count] = phase;
  return phases;
}
