/* Barriers: one goes before a step that touches memory which a step since the last barrier wrote,
 * or that writes what such a step read - unless both steps are in task loops of equally many
 * blocks and touch the memory block by block: the loops are tied, a worker has the same blocks in both. Buffers
 * are compared by the memory they stand for (aliases); buffers that merely share bytes at different
 * times are kept apart by the plan, which lets them share only across a barrier; so are rows of one
 * buffer that a round never confuses. A task loop is taken as a whole. Greedy placement gives the fewest for the given order.
 *
 * A round of a scan loop ends with a barrier, since the next one reads what this one carries; so what a step
 * in it conflicts with lies in its own round, or before the loop, and then the barrier does too. Where all
 * steps are one task loop, whose blocks touch rows of their own in every round, a worker takes a block through all
 * rounds; the only barriers are one before the first round and one after the last. */
#include "program/barriers.h"
#include "program/buffers.h"
#include "program/stages.h"

typedef struct Access {
  const Step *reader, *writer; /* the latest since the last barrier, or NULL */
  int64_t blocks;              /* of all accesses since then; 0 unless all are by these blocks */
  int read_by, written_by; /* the buffer of all reads, of all writes; SEVERAL: there are several */
} Access;

enum { SEVERAL = -1 };

typedef struct Touch {
  int buffer;
  bool is_written;
  int64_t blocks; /* that it is touched by; 0: as a whole or in tasks */
} Touch;

typedef VEC(Touch) TouchList;

typedef struct Placer {
  Arena *arena;
  Program *program;
  ProgramEntry *entry;
  Access *since; /* by buffer */
  int scan;      /* number of the innermost scan loop here, or -1 */
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

static bool is_apart(const Placer *placer, int other, int buffer) {
  return other != SEVERAL && buffers_are_apart(placer->program, other, buffer);
}

/* The step's task loop and those since the last barrier that have as many blocks. */
static void tie_loops(const Placer *placer, const Step *step) {
  ProgramEntry *entry = placer->entry;
  TaskLoop *own = &entry->loops.items[step->loop];
  own->is_tied = true;
  for (int i = entry->steps.count - 1; i >= 0 && entry->steps.items[i].kind != STEP_BARRIER; i--) {
    int loop = entry->steps.items[i].loop;
    if (loop >= 0 && entry->loops.items[loop].blocks == own->blocks)
      entry->loops.items[loop].is_tied = true;
  }
}

/* What is wrong without a barrier before the step; NULL: nothing. */
static const char *find_conflict(const Placer *placer, const Step *step) {
  TouchList list = step_touches(placer, step);
  for (int i = 0; i < list.count; i++) {
    const Touch *touch = &list.items[i];
    const Access *access = &placer->since[buffer_root(placer->program, touch->buffer)];
    if (access->writer == NULL && !(touch->is_written && access->reader != NULL)) continue;
    if (touch->blocks > 0 && touch->blocks == access->blocks) {
      tie_loops(placer, step);
      continue;
    }
    if ((access->writer == NULL || is_apart(placer, access->written_by, touch->buffer)) &&
        (access->reader == NULL || !touch->is_written ||
         is_apart(placer, access->read_by, touch->buffer)))
      continue;
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
    const Step **user = touch->is_written ? &access->writer : &access->reader;
    int *by = touch->is_written ? &access->written_by : &access->read_by;
    *by = *user == NULL || *by == touch->buffer ? touch->buffer : SEVERAL;
    *user = step;
  }
}

static Step make_barrier(int scan, const char *reason) {
  return (Step){.kind = STEP_BARRIER,
                .kept = -1,
                .kernel = -1,
                .loop = -1,
                .scan = scan,
                .path = "",
                .class_name = "barrier",
                .reason = reason};
}

static void add_barrier(Placer *placer, const char *reason) {
  vec_push(placer->program->arena, &placer->entry->steps, make_barrier(placer->scan, reason));
  placer->entry->barrier_count++;
  for (int b = 0; b < placer->program->buffers.count; b++) placer->since[b] = (Access){0};
}

static const char *first_conflict(const Placer *placer, const Step *steps, int first, int last) {
  const char *reason = NULL;
  for (int i = first; i <= last && reason == NULL; i++) reason = find_conflict(placer, &steps[i]);
  return reason;
}

static void add_steps(Placer *placer, const Step *old, int first, int last) {
  for (int i = first; i <= last; i++) {
    vec_push(placer->program->arena, &placer->entry->steps, old[i]);
    note_step(placer, &old[i]);
  }
}

/* Do all steps belong to one task loop of the scan? */
static bool is_one_loop(const Step *steps, const ScanLoop *scan, int number) {
  int loop = steps[scan->first_step].loop;
  for (int s = scan->first_step; s <= scan->last_step; s++)
    if (loop < 0 || steps[s].loop != loop || steps[s].scan != number) return false;
  return true;
}

/* Do both, in the memory of one buffer, touch rows that the rounds move alike, by blocks of the same size? */
static bool are_rows_alike(const Program *program, const Touch *a, const Touch *b) {
  const Buffer *x = &program->buffers.items[a->buffer], *y = &program->buffers.items[b->buffer];
  return a->blocks > 0 && a->blocks == b->blocks && x->bytes == y->bytes &&
         (x->view_of < 0) == (y->view_of < 0) && x->scan == y->scan &&
         x->round_bytes == y->round_bytes && x->turns == y->turns && x->round_bytes % x->bytes == 0;
}

/* Can a block go through all rounds of the scan without waiting for the others? */
static bool goes_by_blocks(const Placer *placer, const Step *steps, const ScanLoop *scan,
                           int number) {
  const Program *program = placer->program;
  if (!is_one_loop(steps, scan, number)) return false;
  TouchList all = {0};
  for (int s = scan->first_step; s <= scan->last_step; s++) {
    TouchList list = step_touches(placer, &steps[s]);
    for (int i = 0; i < list.count; i++) vec_push(placer->arena, &all, list.items[i]);
  }
  for (int i = 0; i < all.count; i++) {
    for (int k = 0; k < all.count; k++) {
      const Touch *a = &all.items[i], *b = &all.items[k];
      if (a->is_written && buffer_root(program, a->buffer) == buffer_root(program, b->buffer) &&
          !are_rows_alike(program, a, b))
        return false;
    }
  }
  return true;
}

/* Its blocks lie otherwise than those of task loops around it. */
static void part_from_others(Placer *placer, const ScanLoop *scan) {
  const ProgramEntry *entry = placer->entry;
  int count = entry->steps.count;
  if (count > 0 && entry->steps.items[count - 1].kind != STEP_BARRIER)
    add_barrier(placer, arena_printf(placer->program->arena,
                                     "blocks of %s go through all of its rounds", scan->path));
}

/* Enters the scan loops that begin with step `at`, the outer one first. */
static void enter_scans(Placer *placer, const Step *old, const ScanLoop *scans, int at) {
  ProgramEntry *entry = placer->entry;
  for (int i = 0; i < entry->scans.count; i++) {
    if (scans[i].first_step != at) continue;
    const char *reason = first_conflict(placer, old, at, scans[i].last_step);
    if (reason) add_barrier(placer, reason);
    if (goes_by_blocks(placer, old, &scans[i], i)) part_from_others(placer, &scans[i]);
    entry->scans.items[i].first_step = entry->steps.count;
    placer->scan = i;
  }
}

/* Leaves those that end with step `at`, the inner one first. */
static void leave_scans(Placer *placer, const Step *old, const ScanLoop *scans, int at) {
  ProgramEntry *entry = placer->entry;
  for (int i = entry->scans.count - 1; i >= 0; i--) {
    if (scans[i].last_step != at) continue;
    const Step *last = &entry->steps.items[entry->steps.count - 1];
    bool by_blocks = goes_by_blocks(placer, old, &scans[i], i);
    if (!by_blocks && last->kind != STEP_BARRIER)
      add_barrier(placer,
                  arena_printf(placer->program->arena,
                               "the next round of %s reads what this one carries", scans[i].path));
    entry->scans.items[i].last_step = entry->steps.count - 1;
    placer->scan = scans[i].outer;
    if (by_blocks) part_from_others(placer, &scans[i]);
  }
}

static void insert_barriers(Arena *arena, Program *program, ProgramEntry *entry) {
  Placer placer = {arena, program, entry, ARENA_ARRAY(arena, Access, program->buffers.count), -1};
  const Step *old = entry->steps.items;
  const ScanLoop *scans =
      arena_copy(arena, entry->scans.items, sizeof *scans * (size_t)entry->scans.count);
  int count = entry->steps.count;
  entry->steps.items = NULL;
  entry->steps.count = entry->steps.capacity = 0;
  for (int i = 0, last; i < count; i = last + 1) {
    TaskLoop *loop = old[i].loop >= 0 ? &entry->loops.items[old[i].loop] : NULL;
    last = loop ? loop->last_step : i;
    enter_scans(&placer, old, scans, i);
    const char *reason = first_conflict(&placer, old, i, last);
    if (reason) add_barrier(&placer, reason);
    if (loop) {
      loop->first_step = entry->steps.count;
      loop->last_step = entry->steps.count + last - i;
    }
    add_steps(&placer, old, i, last);
    leave_scans(&placer, old, scans, last);
  }
}

/* Where step `number` is with the barriers. */
static int moved_step(int count, const int *places, int number) {
  int moved = number;
  for (int i = 0; i < count; i++) moved += number >= places[i];
  return moved;
}

void barriers_insert(Program *program, ProgramEntry *entry, int count, const int *places,
                     const char *reason) {
  int steps = entry->steps.count;
  const Step *old = entry->steps.items;
  if (count == 0) return;
  entry->steps.items = ARENA_ARRAY(program->arena, Step, steps + count);
  entry->steps.count = entry->steps.capacity = steps + count;
  for (int s = 0; s < steps + count; s++) entry->steps.items[s] = make_barrier(-1, reason);
  for (int s = 0; s < steps; s++) entry->steps.items[moved_step(count, places, s)] = old[s];
  for (int i = 0; i < entry->loops.count; i++) {
    TaskLoop *loop = &entry->loops.items[i];
    loop->first_step = moved_step(count, places, loop->first_step);
    loop->last_step = moved_step(count, places, loop->last_step);
  }
  for (int i = 0; i < entry->scans.count; i++) {
    ScanLoop *scan = &entry->scans.items[i];
    scan->first_step = moved_step(count, places, scan->first_step);
    scan->last_step = moved_step(count, places, scan->last_step);
  }
  for (int i = 0; i < program->buffers.count; i++) {
    Buffer *buffer = &program->buffers.items[i];
    if (buffer->entry != (int)entry->entry || buffer->first_step < 0) continue;
    buffer->first_step = moved_step(count, places, buffer->first_step);
    buffer->last_step = moved_step(count, places, buffer->last_step);
  }
  entry->barrier_count += count;
}

int *barriers_before(Arena *arena, const ProgramEntry *entry) {
  int *barriers = ARENA_ARRAY(arena, int, entry->steps.count + 1);
  int count = 0;
  for (int i = 0; i < entry->steps.count; i++) {
    if (entry->steps.items[i].kind == STEP_BARRIER) count++;
    barriers[i] = count;
  }
  barriers[entry->steps.count] = count;
  return barriers;
}

void stage_barriers(Lowering *lowering) {
  insert_barriers(lowering->arena, lowering->program, &lowering->program->entries[lowering->entry]);
}
