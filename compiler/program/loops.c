/* Task loops: launches that go through the batch in blocks, one block through all of them before
 * the next, so that activations stay in the cache of the worker and no barrier is needed between.
 *
 * Starting with each launch in the order of the schedule, a loop takes up every launch behind it
 *
 *   - that can be cut into the blocks along its first axis (kernel/block.h), which the indices of
 *     its accesses prove
 *   - that reads what a launch of the loop wrote, by the same blocks
 *   - of which nothing that must come before it has to wait for the whole of the loop
 *   - that is of the same stage (ATTR_STAGE), so that what is computed again stays late
 *   - with which the loop's weights and the values of one block still fit the cache.
 *
 * What comes between and does not wait for the loop goes before it, the rest behind it, where
 * further loops are looked for. A value that couples the examples (a mean, the statistics of a
 * batch norm) so ends a loop. The number of blocks depends on the batch alone.
 *
 * What waits for a loop keeps its operands alive. Where that makes the memory alive at once grow
 * beyond what it was in the schedule's order, loops that nothing waits for are tried instead, then
 * none (program/loop_memory.c). */
#include <math.h>

#include "kernel/block.h"
#include "program/lowering.h"

enum {
  LEAST_BLOCKS = 16, /* enough for the usual numbers of workers */
  MOST_BLOCKS = 64,
  GOOD_BLOCKS = 32,
  MORE_MEMORY = 8,       /* this part of it may be added to the memory alive at once */
  PANEL_BYTES = 16 << 10 /* the other side of a contraction few of whose rows are in a block */
};

/* The divisor that is nearest to GOOD_BLOCKS, as a ratio; even ones balance better. */
int64_t batch_blocks(int64_t batch) {
  int64_t best = 0;
  double best_score = 0;
  for (int64_t blocks = LEAST_BLOCKS; blocks <= MOST_BLOCKS && blocks <= batch; blocks++) {
    if (batch % blocks != 0) continue;
    double score = fabs(log2((double)blocks / GOOD_BLOCKS)) + (blocks % 2 ? .5 : 0);
    if (best == 0 || score < best_score) {
      best = blocks;
      best_score = score;
    }
  }
  return best;
}

typedef enum LoopReach {
  REACH_FAR,      /* passes by what waits for the loop */
  REACH_SCHEDULE, /* ends where something waits */
  REACH_NONE      /* only what is not made otherwise */
} LoopReach;

typedef VEC(int) UnitList;

typedef struct Former {
  Lowering *lowering;
  Arena *scratch;
  BlockCut cut;
  bool **parts;        /* by unit, by operand; NULL: cannot be cut */
  bool *is_in, *waits; /* by unit: of the loop; must come behind it */
  LoopReach reach;
  UnitList loop;
  UnitList written, whole, touched; /* buffers: written, read as a whole, any */
  int64_t bytes;                    /* of `touched`: parts, and wholes */
} Former;

static bool list_has(const UnitList *list, int id) {
  for (int i = 0; i < list->count; i++)
    if (list->items[i] == id) return true;
  return false;
}

static const BuiltKernel *unit_kernel(const Former *former, int unit) {
  const Lowering *lowering = former->lowering;
  return &lowering->groups.items[lowering->units.items[unit].group]->built;
}

static int operand_buffer(const Former *former, const BuiltKernel *built, int operand) {
  return former->lowering->places[built->nodes[operand]->id].buffer;
}

/* Few rows at a time make a contraction slow, unless its other side is small. */
static bool is_wide_contraction(const Kernel *kernel, const bool *parts) {
  if (kernel->kind != KERNEL_CONTRACT || kernel->contract.batch.count > 0) return false;
  const KernelOperand *whole = &kernel->operands[parts[0] ? 1 : 0];
  return whole->elements * dtype_size(whole->dtype) > PANEL_BYTES;
}

static void find_parts(Former *former, int unit) {
  int group = former->lowering->units.items[unit].group;
  if (group < 0 || former->lowering->groups.items[group]->scan) return; /* a copy, a scan */
  const BuiltKernel *built = unit_kernel(former, unit);
  const Kernel *kernel = built->kernel;
  for (int i = 0; i < kernel->operand_count; i++) {
    const Buffer *buffer =
        &former->lowering->program->buffers.items[operand_buffer(former, built, i)];
    if (built->starts[i] > 0 || buffer->view_of >= 0) return; /* a view into something */
  }
  bool *parts = ARENA_ARRAY(former->scratch, bool, kernel->operand_count);
  bool can = kernel_can_block(kernel, former->cut, parts) &&
             (former->lowering->is_eager || !is_wide_contraction(kernel, parts));
  former->parts[unit] = can ? parts : NULL;
}

/* Bytes that the unit adds to what one block needs in the cache. */
static int64_t added_bytes(const Former *former, int unit) {
  const BuiltKernel *built = unit_kernel(former, unit);
  int64_t bytes = 0;
  for (int i = 0; i < built->kernel->operand_count; i++) {
    if (list_has(&former->touched, operand_buffer(former, built, i))) continue;
    const KernelOperand *operand = &built->kernel->operands[i];
    int64_t own = operand->elements * dtype_size(operand->dtype);
    bytes += former->parts[unit][i] ? own / former->cut.blocks : own;
  }
  return bytes;
}

/* What the loop writes, everyone in it touches by blocks; and the unit continues the loop. */
static bool accesses_fit(const Former *former, int unit) {
  const BuiltKernel *built = unit_kernel(former, unit);
  bool continues = former->loop.count == 0;
  for (int i = 0; i < built->kernel->operand_count; i++) {
    int buffer = operand_buffer(former, built, i);
    bool is_written = list_has(&former->written, buffer);
    if (is_written && !former->parts[unit][i]) return false;
    if (built->kernel->operands[i].is_output && list_has(&former->whole, buffer)) return false;
    continues = continues || is_written;
  }
  return continues;
}

static bool must_wait(const Former *former, int unit) {
  const Unit *own = &former->lowering->units.items[unit];
  for (int i = 0; i < own->before.count; i++)
    if (former->waits[own->before.items[i]]) return true;
  return false;
}

static bool depends_on_loop(const Former *former, int unit) {
  const Unit *own = &former->lowering->units.items[unit];
  for (int i = 0; i < own->before.count; i++)
    if (former->is_in[own->before.items[i]]) return true;
  return false;
}

/* Sums over the pieces of the batch are only made block by block. */
static bool needs_loop(const Former *former, int unit) {
  return former->parts[unit] != NULL && unit_kernel(former, unit)->kernel->conv.pieces > 0;
}

static bool can_join(const Former *former, int unit) {
  const Lowering *lowering = former->lowering;
  if (former->parts[unit] == NULL || must_wait(former, unit) || !accesses_fit(former, unit))
    return false;
  if (former->loop.count == 0 && needs_loop(former, unit)) return true;
  if (former->reach == REACH_NONE) return false;
  bool same_stage = former->loop.count == 0 || lowering->units.items[former->loop.items[0]].stage ==
                                                   lowering->units.items[unit].stage;
  bool fits = former->bytes + added_bytes(former, unit) <= LOOP_CACHE_BYTES;
  return lowering->is_eager || (same_stage && fits);
}

static void join(Former *former, int unit) {
  const BuiltKernel *built = unit_kernel(former, unit);
  former->bytes += added_bytes(former, unit);
  former->is_in[unit] = true;
  vec_push(former->scratch, &former->loop, unit);
  for (int i = 0; i < built->kernel->operand_count; i++) {
    int buffer = operand_buffer(former, built, i);
    vec_push(former->scratch, &former->touched, buffer);
    if (built->kernel->operands[i].is_output) vec_push(former->scratch, &former->written, buffer);
    if (!former->parts[unit][i]) vec_push(former->scratch, &former->whole, buffer);
  }
}

/* The loop that begins with `units[at]`, if any unit joins it. */
static void grow(Former *former, const UnitList *units, int at) {
  former->loop.count = former->written.count = former->whole.count = former->touched.count = 0;
  former->bytes = 0;
  for (int i = 0; i < former->lowering->units.count; i++)
    former->is_in[i] = former->waits[i] = false;
  for (int i = at; i < units->count; i++) {
    int unit = units->items[i];
    bool is_first = i == at;
    if (can_join(former, unit)) join(former, unit);
    else if (is_first) return;
    else former->waits[unit] = must_wait(former, unit) || depends_on_loop(former, unit);
    if (former->waits[unit] && former->reach == REACH_SCHEDULE) {
      for (i++; i < units->count; i++) former->waits[units->items[i]] = true;
      return;
    }
  }
}

static void number_loop(const Former *former, const UnitList *units) {
  Lowering *lowering = former->lowering;
  ProgramEntry *entry = &lowering->program->entries[lowering->entry];
  for (int i = 0; i < units->count; i++)
    lowering->units.items[units->items[i]].loop = entry->loops.count;
  TaskLoop loop = {.first_step = -1,
                   .last_step = -1,
                   .blocks = former->cut.blocks,
                   .examples = former->cut.examples / former->cut.blocks};
  vec_push(lowering->program->arena, &entry->loops, loop);
}

static void order_unit(const Former *former, int unit) {
  vec_push(former->lowering->arena, &former->lowering->order, unit);
}

/* The place in `units` of the first that begins a loop, which is in `former` then; or their
 * count. */
static int find_loop(Former *former, const UnitList *units) {
  for (int at = 0; at < units->count; at++) {
    grow(former, units, at);
    bool is_needed = former->lowering->is_eager || needs_loop(former, units->items[at]);
    if (former->loop.count > 1 || (former->loop.count == 1 && is_needed)) return at;
  }
  return units->count;
}

/* Puts `units` in order: the first loop, before it what does not wait for it, then the rest. */
static void order_units(Former *former, const UnitList *units) {
  UnitList before = {0}, loop = {0}, rest = {0};
  int at = find_loop(former, units);
  for (int i = 0; i < at; i++) order_unit(former, units->items[i]);
  if (at == units->count) return;
  for (int i = at; i < units->count; i++) {
    int unit = units->items[i];
    UnitList *list = former->is_in[unit] ? &loop : former->waits[unit] ? &rest : &before;
    vec_push(former->scratch, list, unit);
  }
  order_units(former, &before);
  for (int i = 0; i < loop.count; i++) order_unit(former, loop.items[i]);
  number_loop(former, &loop);
  order_units(former, &rest);
}

static void form_loops(Former *former, const UnitList *units, LoopReach reach) {
  Lowering *lowering = former->lowering;
  former->reach = reach;
  lowering->order.count = 0;
  lowering->program->entries[lowering->entry].loops.count = 0;
  for (int i = 0; i < lowering->units.count; i++) lowering->units.items[i].loop = -1;
  order_units(former, units);
}

void loops_form(Lowering *lowering) {
  for (int i = 0; i < lowering->units.count; i++) lowering->units.items[i].loop = -1;
  if (lowering->blocks == 0) return;
  int count = lowering->units.count;
  Arena *scratch = arena_create();
  Former former = {.lowering = lowering,
                   .scratch = scratch,
                   .cut = {lowering->blocks, lowering->program->entries[lowering->entry].batch},
                   .parts = ARENA_ARRAY(scratch, bool *, count),
                   .is_in = ARENA_ARRAY(scratch, bool, count),
                   .waits = ARENA_ARRAY(scratch, bool, count)};
  UnitList units = {0};
  for (int i = 0; i < count; i++) {
    vec_push(scratch, &units, lowering->order.items[i]);
    find_parts(&former, lowering->order.items[i]);
  }
  int64_t before = order_peak(lowering, former.parts);
  for (LoopReach reach = REACH_FAR; reach <= REACH_NONE; reach++) {
    form_loops(&former, &units, reach);
    if (lowering->is_eager || order_peak(lowering, former.parts) <= before + before / MORE_MEMORY)
      break;
  }
  arena_destroy(scratch);
}
