/* Task loops: launches that go through the batch in blocks, one block through all of them before
 * the next, so that activations stay in the cache of the worker and no barrier is needed between.
 *
 * Starting with each launch in the order of the schedule, a loop takes up every later launch
 *
 *   - that can be cut into the blocks along its first axis (kernel/block.h), which the indices of
 *     its accesses prove
 *   - that reads what a launch of the loop wrote, by the same blocks
 *   - of which nothing that must come before it has to wait for the whole of the loop
 *   - that is of the same phase (ATTR_PHASE), so that what is computed again stays late
 *   - with which the loop's weights and the values of one block still fit the target's cache.
 *
 * What comes between and does not wait for the loop goes before it, the rest after it, where
 * further loops are looked for. A value that couples the examples (a mean, the statistics of a
 * batch norm) so ends a loop. The number of blocks depends on the batch alone, but in a scan.
 *
 * The rounds of a scan that stays a loop go through the batch by blocks if all launches of its body can: a worker takes
 * a block through all rounds, so there is no barrier in them, and what one launch leaves the next one finds in
 * the cache. That keeps busy as many workers as there are blocks, and contractions need some rows in each
 * (scan_rows); so the number of blocks is a multiple of the threads that the program is for, or there are none.
 *
 * What waits for a loop keeps its operands alive. Where that makes the memory alive at once grow
 * beyond what it was in the schedule's order, loops that nothing waits for are tried instead, then
 * none (program/loop_memory.c). */
#include <math.h>

#include "kernel/block.h"
#include "kernel/class.h"
#include "program/buffers.h"
#include "program/loop_memory.h"
#include "program/loops.h"
#include "program/stages.h"
#include "support/integers.h"

enum { MORE_MEMORY = 8 }; /* this part of it may be added to the memory alive at once */

/* The divisor that is nearest to the good number, as a ratio; even ones balance better. */
int64_t batch_blocks(const TaskLoopLimits *limits, int64_t batch) {
  int64_t best = 0;
  double best_score = 0;
  int64_t most = least(limits->most_blocks, batch);
  for (int64_t blocks = limits->least_blocks; blocks <= most; blocks++) {
    if (batch % blocks != 0) continue;
    double score = fabs(log2((double)blocks / (double)limits->good_blocks)) + (blocks % 2 ? .5 : 0);
    if (best == 0 || score < best_score) {
      best = blocks;
      best_score = score;
    }
  }
  return best;
}

/* As many as there are whole numbers of them for each thread, of few rows each. */
int64_t scan_blocks(const TaskLoopLimits *limits, int64_t batch, int threads) {
  int64_t best = 0;
  for (int64_t blocks = threads; blocks > 0 && blocks * limits->scan_rows <= batch;
       blocks += threads)
    if (batch % blocks == 0) best = blocks;
  return best;
}

typedef enum LoopReach {
  REACH_FAR,      /* passes by what waits for the loop */
  REACH_SCHEDULE, /* ends where something waits */
  REACH_NONE      /* only what is not made otherwise */
} LoopReach;

typedef VEC(int) LaunchList;

typedef struct Former {
  Lowering *lowering;
  Arena *scratch;
  BlockCut cut;
  bool **parts;        /* by launch, by operand; NULL: cannot be cut */
  bool *is_in, *waits; /* by launch: of the loop; must come after it */
  LoopReach reach;
  int outer_loops; /* of the graph around a scan */
  LaunchList loop;
  LaunchList written, whole, touched; /* buffers: written, read as a whole, any */
  int64_t bytes;                      /* of `touched`: parts, and wholes */
} Former;

static const TaskLoopLimits *loop_limits(const Former *former) {
  return &former->lowering->program->target->loops;
}

static bool list_has(const LaunchList *list, int id) {
  for (int i = 0; i < list->count; i++)
    if (list->items[i] == id) return true;
  return false;
}

static const BuiltKernel *launch_kernel(const Former *former, int launch) {
  const Lowering *lowering = former->lowering;
  return &lowering->groups.items[lowering->launches.items[launch].group]->built;
}

static int operand_buffer(const Former *former, const BuiltKernel *built, int operand) {
  return former->lowering->places[built->nodes[operand]->id].buffer;
}

/* Few rows at a time make a contraction slow, unless its other side is small. */
static bool is_wide_contraction(const Kernel *kernel, const bool *parts, int64_t panel_bytes) {
  if (kernel->kind != KERNEL_CONTRACT || kernel->contract.batch.count > 0) return false;
  const KernelOperand *whole = &kernel->operands[parts[0] ? 1 : 0];
  return whole->elements * dtype_size(whole->dtype) > panel_bytes;
}

/* In a scan, whose blocks have more rows, the other side may fill the cache. */
static int64_t panel_bytes(const Former *former) {
  const TaskLoopLimits *limits = loop_limits(former);
  return former->lowering->scan >= 0 ? limits->cache_bytes : limits->panel_bytes;
}

static void find_parts(Former *former, int launch) {
  const Lowering *lowering = former->lowering;
  int group = lowering->launches.items[launch].group;
  if (group < 0 || lowering->groups.items[group]->scan) return; /* a copy, a scan */
  const BuiltKernel *built = launch_kernel(former, launch);
  const Kernel *kernel = built->kernel;
  for (int i = 0; i < kernel->operand_count; i++) {
    const Buffer *buffer = &lowering->program->buffers.items[operand_buffer(former, built, i)];
    bool is_row = lowering->scan >= 0 && buffer->scan == lowering->scan;
    if (built->starts[i] > 0 || (buffer->view_of >= 0 && !is_row))
      return; /* a view into something */
  }
  bool *parts = ARENA_ARRAY(former->scratch, bool, kernel->operand_count);
  bool can = kernel_can_block(kernel, former->cut, parts) &&
             (lowering->is_eager || !is_wide_contraction(kernel, parts, panel_bytes(former)));
  former->parts[launch] = can ? parts : NULL;
}

/* Bytes that the launch adds to what one block needs in the cache. */
static int64_t added_bytes(const Former *former, int launch) {
  const BuiltKernel *built = launch_kernel(former, launch);
  int64_t bytes = 0;
  for (int i = 0; i < built->kernel->operand_count; i++) {
    if (list_has(&former->touched, operand_buffer(former, built, i))) continue;
    const KernelOperand *operand = &built->kernel->operands[i];
    int64_t own = operand->elements * dtype_size(operand->dtype);
    bytes += former->parts[launch][i] ? own / former->cut.blocks : own;
  }
  return bytes;
}

/* Is another buffer of the list the same memory, at least in part? */
static bool overlaps(const Former *former, const LaunchList *list, int buffer) {
  const Program *program = former->lowering->program;
  for (int i = 0; i < list->count; i++)
    if (list->items[i] != buffer &&
        buffer_root(program, list->items[i]) == buffer_root(program, buffer) &&
        !buffers_are_apart(program, list->items[i], buffer))
      return true;
  return false;
}

/* What the loop writes, all its launches touch by blocks; and the launch continues the loop. */
static bool accesses_fit(const Former *former, int launch) {
  const BuiltKernel *built = launch_kernel(former, launch);
  bool continues = former->loop.count == 0;
  for (int i = 0; i < built->kernel->operand_count; i++) {
    int buffer = operand_buffer(former, built, i);
    bool is_written = list_has(&former->written, buffer);
    if (overlaps(former, &former->written, buffer) ||
        (built->kernel->operands[i].is_output && overlaps(former, &former->touched, buffer)))
      return false;
    if (is_written && !former->parts[launch][i]) return false;
    if (built->kernel->operands[i].is_output && list_has(&former->whole, buffer)) return false;
    continues = continues || is_written;
  }
  return continues;
}

static bool must_wait(const Former *former, int launch) {
  const Launch *own = &former->lowering->launches.items[launch];
  for (int i = 0; i < own->before.count; i++)
    if (former->waits[own->before.items[i]]) return true;
  return false;
}

static bool depends_on_loop(const Former *former, int launch) {
  const Launch *own = &former->lowering->launches.items[launch];
  for (int i = 0; i < own->before.count; i++)
    if (former->is_in[own->before.items[i]]) return true;
  return false;
}

/* Sums over the pieces of the batch that are only made block by block. */
static bool needs_loop(const Former *former, int launch) {
  if (former->parts[launch] == NULL) return false; /* it may be a copy, which has no kernel */
  const Kernel *kernel = launch_kernel(former, launch)->kernel;
  return kernel_is_in_pieces(kernel) &&
         !target_takes_pieces(former->lowering->program->target, kernel);
}

/* What a round leaves is not read again: of a scan the weights, which each round reads, must fit by themselves
 * (panel_bytes). */
static int64_t cache_bytes(const Former *former) {
  return loop_limits(former)->cache_bytes * (former->lowering->scan >= 0 ? 2 : 1);
}

static bool can_join(const Former *former, int launch) {
  const Lowering *lowering = former->lowering;
  if (former->parts[launch] == NULL || must_wait(former, launch) || !accesses_fit(former, launch))
    return false;
  if (former->loop.count == 0 && needs_loop(former, launch)) return true;
  if (former->reach == REACH_NONE) return false;
  bool same_phase =
      former->loop.count == 0 || lowering->launches.items[former->loop.items[0]].phase ==
                                     lowering->launches.items[launch].phase;
  bool fits = former->bytes + added_bytes(former, launch) <= cache_bytes(former);
  return lowering->is_eager || (same_phase && fits);
}

static void join(Former *former, int launch) {
  const BuiltKernel *built = launch_kernel(former, launch);
  former->bytes += added_bytes(former, launch);
  former->is_in[launch] = true;
  vec_push(former->scratch, &former->loop, launch);
  for (int i = 0; i < built->kernel->operand_count; i++) {
    int buffer = operand_buffer(former, built, i);
    vec_push(former->scratch, &former->touched, buffer);
    if (built->kernel->operands[i].is_output) vec_push(former->scratch, &former->written, buffer);
    if (!former->parts[launch][i]) vec_push(former->scratch, &former->whole, buffer);
  }
}

/* The loop that begins with `launches[at]`, if any launch joins it. */
static void grow(Former *former, const LaunchList *launches, int at) {
  former->loop.count = former->written.count = former->whole.count = former->touched.count = 0;
  former->bytes = 0;
  for (int i = 0; i < former->lowering->launches.count; i++)
    former->is_in[i] = former->waits[i] = false;
  for (int i = at; i < launches->count; i++) {
    int launch = launches->items[i];
    bool is_first = i == at;
    if (can_join(former, launch)) join(former, launch);
    else if (is_first) return;
    else former->waits[launch] = must_wait(former, launch) || depends_on_loop(former, launch);
    if (former->waits[launch] && former->reach == REACH_SCHEDULE) {
      for (i++; i < launches->count; i++) former->waits[launches->items[i]] = true;
      return;
    }
  }
}

static void number_loop(const Former *former, const LaunchList *launches) {
  Lowering *lowering = former->lowering;
  ProgramEntry *entry = &lowering->program->entries[lowering->entry];
  for (int i = 0; i < launches->count; i++)
    lowering->launches.items[launches->items[i]].loop = entry->loops.count;
  TaskLoop loop = {.first_step = -1,
                   .last_step = -1,
                   .blocks = former->cut.blocks,
                   .examples = former->cut.examples / former->cut.blocks};
  vec_push(lowering->program->arena, &entry->loops, loop);
}

static void order_launch(const Former *former, int launch) {
  vec_push(former->lowering->arena, &former->lowering->order, launch);
}

/* The place in `launches` of the first that begins a loop, which is in `former` then; or their
 * count. */
static int find_loop(Former *former, const LaunchList *launches) {
  for (int at = 0; at < launches->count; at++) {
    grow(former, launches, at);
    bool is_needed = former->lowering->is_eager || needs_loop(former, launches->items[at]);
    if (former->loop.count > 1 || (former->loop.count == 1 && is_needed)) return at;
  }
  return launches->count;
}

/* Puts `launches` in order: the first loop, before it what does not wait for it, then the rest. */
static void order_launches(Former *former, const LaunchList *launches) {
  LaunchList before = {0}, loop = {0}, rest = {0};
  int at = find_loop(former, launches);
  for (int i = 0; i < at; i++) order_launch(former, launches->items[i]);
  if (at == launches->count) return;
  for (int i = at; i < launches->count; i++) {
    int launch = launches->items[i];
    LaunchList *list = former->is_in[launch] ? &loop : former->waits[launch] ? &rest : &before;
    vec_push(former->scratch, list, launch);
  }
  order_launches(former, &before);
  for (int i = 0; i < loop.count; i++) order_launch(former, loop.items[i]);
  number_loop(former, &loop);
  order_launches(former, &rest);
}

static void form_none(Former *former, const LaunchList *launches) {
  Lowering *lowering = former->lowering;
  lowering->program->entries[lowering->entry].loops.count = former->outer_loops;
  lowering->order.count = 0;
  for (int i = 0; i < launches->count; i++) {
    lowering->launches.items[launches->items[i]].loop = -1;
    order_launch(former, launches->items[i]);
  }
}

static void form_loops(Former *former, const LaunchList *launches, LoopReach reach) {
  Lowering *lowering = former->lowering;
  former->reach = reach;
  form_none(former, launches);
  lowering->order.count = 0;
  order_launches(former, launches);
}

/* Whether a task loop may go around the rounds of the scan whose body this is. */
static bool takes_all(const Former *former) {
  const Lowering *lowering = former->lowering;
  for (int i = 0; i < lowering->launches.count; i++)
    if (lowering->launches.items[i].loop != former->outer_loops) return false;
  return true;
}

void stage_loops(Lowering *lowering) {
  if (lowering->blocks == 0) return;
  int count = lowering->launches.count;
  Arena *scratch = arena_create();
  Former former = {.lowering = lowering,
                   .scratch = scratch,
                   .outer_loops = lowering->program->entries[lowering->entry].loops.count,
                   .cut = {lowering->blocks, lowering->program->entries[lowering->entry].batch},
                   .parts = ARENA_ARRAY(scratch, bool *, count),
                   .is_in = ARENA_ARRAY(scratch, bool, count),
                   .waits = ARENA_ARRAY(scratch, bool, count)};
  LaunchList launches = {0};
  for (int i = 0; i < count; i++) {
    vec_push(scratch, &launches, lowering->order.items[i]);
    find_parts(&former, lowering->order.items[i]);
  }
  int64_t before = order_peak(lowering, former.parts);
  for (LoopReach reach = REACH_FAR; reach <= REACH_NONE; reach++) {
    form_loops(&former, &launches, reach);
    if (lowering->is_eager || order_peak(lowering, former.parts) <= before + before / MORE_MEMORY)
      break;
  }
  if (lowering->scan >= 0 && !lowering->is_eager && !takes_all(&former))
    form_none(&former, &launches);
  arena_destroy(scratch);
}
