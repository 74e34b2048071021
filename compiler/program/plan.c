/* The memory plan: every buffer's offset in the one arena.
 *
 * Variables come first. Then a region that all entries share, since one entry runs at a time; in
 * it two buffers of an entry may have the same bytes when a barrier lies between the last use of
 * one and the first of the other (offsets.c).
 *
 * Rounds of a scan loop run one after the other over the same steps. So a value that is not for a
 * single round (Buffer.owner) keeps its memory as long as the loop runs.
 *
 * What lives only within a block of a task loop needs memory for one block, and each worker has its
 * own: in the worker's block, after the part that the loop's kernels use for themselves. The workers'
 * blocks lie above what is alive in their phase (workspace.c), so buffers that live in phases of large
 * blocks are placed low. */
#include "program/barriers.h"
#include "program/buffers.h"
#include "program/offsets.h"
#include "program/part.h"
#include "program/stages.h"
#include "program/workspace.h"

#include "support/panic.h"
#include "support/integers.h"

/* ---- values of one block ------------------------------------------------------------------- */

/* The loop whose blocks are all that touches each root; -1: none. */
static int *find_own_loops(Arena *arena, const Program *program, const ProgramEntry *entry) {
  enum { UNSEEN = -2, NONE = -1 };
  int *loops = ARENA_ARRAY(arena, int, program->buffers.count);
  for (int i = 0; i < program->buffers.count; i++) loops[i] = UNSEEN;
  for (int s = 0; s < entry->steps.count; s++) {
    const Step *step = &entry->steps.items[s];
    if (step->kind == STEP_COPY)
      loops[buffer_root(program, step->copy_from)] = loops[buffer_root(program, step->copy_to)] =
          NONE;
    for (int i = 0; i < step->operand_count; i++) {
      int root = buffer_root(program, step->operands[i]);
      bool is_row = program->buffers.items[step->operands[i]].view_of >= 0; /* of several rounds */
      int own = step->loop >= 0 && step->block_bytes[i] > 0 && !is_row ? step->loop : NONE;
      loops[root] = loops[root] == UNSEEN || loops[root] == own ? own : NONE;
    }
  }
  return loops;
}

static void make_block_buffer(const Target *target, Buffer *buffer, int64_t blocks) {
  Shape *shape = &buffer->type.shape;
  int64_t elements = shape_elements(*shape) / blocks;
  if (shape->rank > 0 && shape->dim[0] % blocks == 0) shape->dim[0] /= blocks;
  else *shape = shape_make(1, &elements);
  buffer->kind = BUFFER_WORKER;
  buffer->bytes = target_align(target, type_bytes(buffer->type));
}

static void move_to_workers(Program *program, ProgramEntry *entry) {
  Arena *scratch = arena_create();
  int *loops = find_own_loops(scratch, program, entry);
  for (int s = 0; s < entry->steps.count; s++) {
    Step *step = &entry->steps.items[s];
    for (int i = 0; step->loop >= 0 && i < step->operand_count; i++) {
      Buffer *buffer = &program->buffers.items[step->operands[i]];
      if (buffer->kind == BUFFER_ACTIVATION &&
          loops[buffer_root(program, buffer->id)] == step->loop)
        make_block_buffer(program->target, buffer, step->task_count);
      if (buffer->kind == BUFFER_WORKER) step->block_bytes[i] = 0;
    }
  }
  arena_destroy(scratch);
}

/* ---- live ranges --------------------------------------------------------------------------- */

/* The memory of a value that more than one block of a task loop touches, or more than one round of
 * a scan loop, is in use as long as the loop. */
static void buffer_touch(Program *program, const ProgramEntry *entry, int id, int step) {
  int root = buffer_root(program, id), loop = entry->steps.items[step].loop;
  int owner = program->buffers.items[root].owner;
  for (int k = 0; k < 2; k++) {
    Buffer *buffer = &program->buffers.items[k == 0 ? id : root];
    if (buffer->kind != BUFFER_ACTIVATION && buffer->kind != BUFFER_WORKER) continue;
    bool whole_loop = loop >= 0 && buffer->kind == BUFFER_ACTIVATION;
    int first = whole_loop ? entry->loops.items[loop].first_step : step;
    int last = whole_loop ? entry->loops.items[loop].last_step : step;
    for (int scan = entry->steps.items[step].scan; scan != owner;
         scan = entry->scans.items[scan].outer) {
      first = entry->scans.items[scan].first_step;
      last = entry->scans.items[scan].last_step;
    }
    if (buffer->first_step < 0 || first < buffer->first_step) buffer->first_step = first;
    if (last > buffer->last_step) buffer->last_step = last;
  }
}

static void find_live_ranges(Program *program, const ProgramEntry *entry) {
  for (int i = 0; i < entry->steps.count; i++) {
    const Step *step = &entry->steps.items[i];
    if (step->kind == STEP_LAUNCH)
      for (int k = 0; k < step->operand_count; k++)
        buffer_touch(program, entry, step->operands[k], i);
    if (step->kind != STEP_COPY) continue;
    buffer_touch(program, entry, step->copy_from, i);
    buffer_touch(program, entry, step->copy_to, i);
  }
  for (int i = 0; i < program->buffers.count; i++) {
    Buffer *buffer = &program->buffers.items[i];
    bool is_inside = buffer->kind == BUFFER_ACTIVATION || buffer->kind == BUFFER_WORKER;
    if (buffer->entry != (int)entry->entry || is_inside) continue;
    buffer->first_step = 0; /* inputs and results belong to the host before and after */
    buffer->last_step = entry->steps.count > 0 ? entry->steps.count - 1 : 0;
  }
}

typedef VEC(int) BufferList;

/* Places the buffers of a list, with care where they need at most `use.most` bytes. Returns the end. */
static int64_t place(Program *program, const BufferList *list, RegionUse use) {
  for (int i = 0; i < list->count; i++) {
    Buffer *buffer = &program->buffers.items[list->items[i]];
    if (buffer->first_step < 0) buffer->first_step = buffer->last_step = 0; /* never used */
  }
  use.count = list->count;
  use.buffers = list->items;
  return offsets_assign(program, &use);
}

/* Places the entry's buffers in the arena from offset 0; returns the bytes needed. A barrier between
 * the uses of two buffers lets them have the same bytes. With the blocks of `threads` workers above them
 * they need as little as can be found, where that can be at most `most` bytes. Of a plan that is only compared
 * with others (it has a `most`), what the entries before need is enough. */
static int64_t place_entry(Program *program, const ProgramEntry *entry, int threads, int64_t most) {
  Arena *scratch = arena_create();
  BufferList list = {0};
  for (int i = 0; i < program->buffers.count; i++) {
    const Buffer *buffer = &program->buffers.items[i];
    if (buffer->entry == (int)entry->entry && buffer->alias_of < 0 && buffer->kind != BUFFER_WORKER)
      vec_push(scratch, &list, i);
  }
  const int *time = barriers_before(scratch, entry);
  int64_t *above = workspace_needs(scratch, program, entry, time);
  for (int t = 0; above && t <= time[entry->steps.count]; t++) above[t] *= threads;
  int64_t enough = most < INT64_MAX ? program->activation_bytes : 0;
  int64_t needed = place(program, &list,
                         (RegionUse){.time = time, .above = above, .most = most, .enough = enough});
  arena_destroy(scratch);
  return needed;
}

/* Places the worker buffers of a loop after what its kernels need; returns the end. A worker does a
 * block's steps one after the other. */
static int64_t place_loop(Program *program, const ProgramEntry *entry, const TaskLoop *loop) {
  Arena *scratch = arena_create();
  BufferList list = {0};
  int *steps = ARENA_ARRAY(scratch, int, entry->steps.count);
  int64_t begin = 0;
  for (int s = loop->first_step; s <= loop->last_step; s++) {
    const Kernel *kernel = program->kernels.items[entry->steps.items[s].kernel];
    begin = greatest(begin, target_worker_bytes(program->target, kernel));
    steps[s] = s;
  }
  for (int i = 0; i < program->buffers.count; i++) {
    const Buffer *buffer = &program->buffers.items[i];
    if (buffer->kind == BUFFER_WORKER && buffer->entry == (int)entry->entry &&
        buffer->alias_of < 0 && loop->first_step <= buffer->first_step &&
        buffer->last_step <= loop->last_step)
      vec_push(scratch, &list, i);
  }
  int64_t end =
      place(program, &list, (RegionUse){.time = steps, .begin = begin, .most = INT64_MAX});
  arena_destroy(scratch);
  return end;
}

static int64_t place_variables(Program *program) {
  int64_t end = 0;
  for (int i = 0; i < program->buffers.count; i++) {
    Buffer *buffer = &program->buffers.items[i];
    if (buffer->kind != BUFFER_VARIABLE || buffer->alias_of >= 0) continue;
    buffer->offset = end;
    end += buffer->bytes;
  }
  return end;
}

static void plan_entry(Program *program, ProgramEntry *entry, int threads, int64_t most) {
  const char *outer =
      panic_set_context(arena_printf(program->arena, "stage plan of %s", entry_name(entry->entry)));
  move_to_workers(program, entry);
  find_live_ranges(program, entry);
  for (int i = 0; i < entry->loops.count; i++) {
    int64_t end = place_loop(program, entry, &entry->loops.items[i]);
    program->worker_bytes = greatest(program->worker_bytes, end);
  }
  phases_part(program, entry, threads);
  entry->activation_bytes = place_entry(program, entry, threads, most);
  program->activation_bytes = greatest(program->activation_bytes, entry->activation_bytes);
  for (int step = 0; step < entry->steps.count; step++)
    entry->activation_peak = greatest(entry->activation_peak, live_bytes(program, entry, step));
  panic_set_context(outer);
}

void stage_plan(Lowering *lowering) {
  Program *program = lowering->program;
  int64_t variables = place_variables(program);
  int threads = lowering->threads > 0 ? lowering->threads : 1;
  int64_t most = lowering->most_bytes > 0 ? lowering->most_bytes - variables : INT64_MAX;
  for (int e = 0; e < ENTRY_COUNT; e++)
    if (program->entries[e].present) plan_entry(program, &program->entries[e], threads, most);
  for (int i = 0; i < program->buffers.count; i++) {
    Buffer *buffer = &program->buffers.items[i];
    if (buffer->entry >= 0 && buffer->alias_of < 0 && buffer->kind != BUFFER_WORKER)
      buffer->offset += variables;
  }
  for (int i = 0; i < program->buffers.count; i++) {
    Buffer *buffer = &program->buffers.items[i];
    int root = buffer_root(program, i);
    if (root == i) continue;
    buffer->offset = program->buffers.items[root].offset;
    for (int view = i; view >= 0; view = program->buffers.items[view].view_of)
      buffer->offset += program->buffers.items[view].view_offset;
  }
  program->arena_bytes = variables + program->activation_bytes;
  for (int e = 0; e < ENTRY_COUNT; e++)
    if (program->entries[e].present) workspace_place(program, &program->entries[e]);
  for (int i = 0; i < program->kernels.count; i++) {
    int64_t bytes = target_worker_bytes(program->target, program->kernels.items[i]);
    program->worker_bytes = greatest(program->worker_bytes, bytes);
  }
}
