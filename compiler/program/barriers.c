/* Barriers: one goes before a step that touches memory which a step since the last barrier wrote,
 * or that writes what such a step read - unless both steps are in task loops of equally many
 * blocks and touch the memory block by block, since a worker has the same blocks in both. Buffers
 * are compared by the memory they stand for (aliases); buffers that merely share bytes at different
 * times are kept apart by the plan, which lets them share only across a barrier. A task loop is
 * taken as a whole. Greedy placement gives the fewest for the given order. */
#include "program/lowering.h"

typedef struct Access {
  const Step *reader, *writer; /* the latest since the last barrier, or NULL */
  int64_t blocks;              /* of all accesses since then; 0 unless all are by these blocks */
} Access;

typedef struct Touch {
  int buffer;
  bool is_written;
  int64_t blocks;              /* that it is touched by; 0: as a whole or in tasks */
} Touch;

typedef VEC(Touch) TouchList;

typedef struct Placer {
  Arena *arena;
  Program *program;
  ProgramEntry *entry;
  Access *since;               /* by buffer */
} Placer;

static TouchList step_touches(const Placer *placer, const Step *step) {
  TouchList list = {0};
  if (step->kind == STEP_COPY) {
    vec_push(placer->arena, &list, ((Touch){step->copy_from, false, 0}));
    vec_push(placer->arena, &list, ((Touch){step->copy_to, true, 0}));
    return list;
  }
  const Kernel *kernel = placer->program->kernels.items[step->kernel];
  for (int i = 0; i < step->operand_count; i++) {
    bool by_blocks = step->loop >= 0 && step->block_bytes[i] > 0;
    vec_push(placer->arena, &list,
             ((Touch){step->operands[i], kernel->operands[i].is_output,
                      by_blocks ? step->task_count : 0}));
  }
  return list;
}

/* What is wrong without a barrier before the step; NULL: nothing. */
static const char *find_conflict(const Placer *placer, const Step *step) {
  TouchList list = step_touches(placer, step);
  for (int i = 0; i < list.count; i++) {
    const Touch *touch = &list.items[i];
    const Access *access = &placer->since[buffer_root(placer->program, touch->buffer)];
    if (access->writer == NULL && !(touch->is_written && access->reader != NULL)) continue;
    if (touch->blocks > 0 && touch->blocks == access->blocks) continue;
    const char *name = placer->program->buffers.items[touch->buffer].name;
    if (access->writer == NULL)
      return arena_printf(placer->program->arena, "%s overwrites %s, which %s reads", step->path,
                          name, access->reader->path);
    return arena_printf(placer->program->arena, "%s %s %s, which %s writes", step->path,
                        touch->is_written ? "overwrites" : "reads", name, access->writer->path);
  }
  return NULL;
}

static void note_step(const Placer *placer, const Step *step) {
  TouchList list = step_touches(placer, step);
  for (int i = 0; i < list.count; i++) {
    const Touch *touch = &list.items[i];
    Access *access = &placer->since[buffer_root(placer->program, touch->buffer)];
    bool is_first = access->reader == NULL && access->writer == NULL;
    access->blocks = is_first || access->blocks == touch->blocks ? touch->blocks : 0;
    if (touch->is_written) access->writer = step;
    else access->reader = step;
  }
}

static void add_barrier(Placer *placer, const char *reason) {
  Step barrier = {.kind = STEP_BARRIER, .kernel = -1, .loop = -1, .path = "",
                  .class_name = "barrier", .reason = reason};
  vec_push(placer->program->arena, &placer->entry->steps, barrier);
  placer->entry->barrier_count++;
  for (int b = 0; b < placer->program->buffers.count; b++) placer->since[b] = (Access){0};
}

void barriers_insert(Arena *arena, Program *program, ProgramEntry *entry) {
  Placer placer = {arena, program, entry, ARENA_ARRAY(arena, Access, program->buffers.count)};
  Step *old = entry->steps.items;
  int count = entry->steps.count;
  entry->steps.items = NULL;
  entry->steps.count = entry->steps.capacity = 0;
  for (int i = 0, end; i < count; i = end) {
    TaskLoop *loop = old[i].loop >= 0 ? &entry->loops.items[old[i].loop] : NULL;
    end = loop ? loop->last_step + 1 : i + 1;
    const char *reason = NULL;
    for (int k = i; k < end && reason == NULL; k++) reason = find_conflict(&placer, &old[k]);
    if (reason) add_barrier(&placer, reason);
    if (loop) {
      loop->first_step = entry->steps.count;
      loop->last_step = entry->steps.count + end - i - 1;
    }
    for (int k = i; k < end; k++) {
      vec_push(program->arena, &entry->steps, old[k]);
      note_step(&placer, &old[k]);
    }
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
