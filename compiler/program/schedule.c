/* The order of an entry's launches and copies: topological, deterministic, and with little memory
 * alive at once.
 *
 * Among the units that are ready, those of the earliest stage come first: a stage is a wish of a
 * pass that trades time for memory (ATTR_STAGE), so that what is computed again is computed late.
 * Of one stage, -O0 takes the one whose node is first in the graph. Otherwise the one
 * that frees most bytes, less what it newly needs, goes first; ties go to the graph's order. So a
 * parameter's update runs as soon as its gradient is there and the last reader of the old value is
 * done, and the gradient's memory is free again. */
#include "program/lowering.h"

#include <limits.h>

#include "support/panic.h"

typedef struct Scheduler {
  Lowering *lowering;
  int *waiting; /* by unit: units before it that are not done */
  bool *done;
  int *readers;    /* by buffer: units that still read it */
  bool *allocated; /* by buffer */
} Scheduler;

typedef void (*BufferVisit)(Scheduler *scheduler, int buffer, int64_t *sum);

static void visit_reads(Scheduler *scheduler, const Unit *unit, BufferVisit visit, int64_t *sum) {
  const Lowering *lowering = scheduler->lowering;
  if (unit->group < 0) {
    visit(scheduler, unit->from, sum);
    return;
  }
  const BuiltKernel *built = &lowering->groups.items[unit->group]->built;
  for (int i = 0; i < built->kernel->operand_count; i++) {
    int buffer = lowering->places[built->nodes[i]->id].buffer;
    bool is_repeated = built->kernel->operands[i].is_output;
    for (int k = 0; k < i; k++)
      if (lowering->places[built->nodes[k]->id].buffer == buffer) is_repeated = true;
    if (!is_repeated) visit(scheduler, buffer, sum);
  }
}

static void visit_writes(Scheduler *scheduler, const Unit *unit, BufferVisit visit, int64_t *sum) {
  const Lowering *lowering = scheduler->lowering;
  if (unit->group < 0) {
    visit(scheduler, unit->to, sum);
    return;
  }
  const BuiltKernel *built = &lowering->groups.items[unit->group]->built;
  for (int i = 0; i < built->kernel->operand_count; i++)
    if (built->kernel->operands[i].is_output)
      visit(scheduler, lowering->places[built->nodes[i]->id].buffer, sum);
}

static void count_reader(Scheduler *scheduler, int buffer, int64_t *sum) {
  (void)sum;
  scheduler->readers[buffer]++;
}

static bool is_activation(const Scheduler *scheduler, int buffer) {
  return scheduler->lowering->program->buffers.items[buffer].kind == BUFFER_ACTIVATION;
}

static void add_freed(Scheduler *scheduler, int buffer, int64_t *sum) {
  if (is_activation(scheduler, buffer) && scheduler->readers[buffer] == 1)
    *sum += scheduler->lowering->program->buffers.items[buffer].bytes;
}

static void subtract_needed(Scheduler *scheduler, int buffer, int64_t *sum) {
  if (is_activation(scheduler, buffer) && !scheduler->allocated[buffer])
    *sum -= scheduler->lowering->program->buffers.items[buffer].bytes;
}

static void release_reader(Scheduler *scheduler, int buffer, int64_t *sum) {
  (void)sum;
  scheduler->readers[buffer]--;
}

static void allocate(Scheduler *scheduler, int buffer, int64_t *sum) {
  (void)sum;
  scheduler->allocated[buffer] = true;
}

static int64_t unit_gain(Scheduler *scheduler, const Unit *unit) {
  int64_t gain = 0;
  visit_reads(scheduler, unit, add_freed, &gain);
  visit_writes(scheduler, unit, subtract_needed, &gain);
  return gain;
}

/* The earliest stage of a unit that is ready. */
static int next_stage(const Scheduler *scheduler) {
  const Lowering *lowering = scheduler->lowering;
  int stage = INT_MAX;
  for (int u = 0; u < lowering->units.count; u++)
    if (!scheduler->done[u] && scheduler->waiting[u] == 0 && lowering->units.items[u].stage < stage)
      stage = lowering->units.items[u].stage;
  return stage;
}

/* The next unit: one that needs no more memory than it frees at once, else the first in the
 * graph. */
static int choose(Scheduler *scheduler) {
  const Lowering *lowering = scheduler->lowering;
  int best = -1, first = -1, stage = next_stage(scheduler);
  int64_t best_gain = -1;
  for (int u = 0; u < lowering->units.count; u++) {
    const Unit *unit = &lowering->units.items[u];
    if (scheduler->done[u] || scheduler->waiting[u] > 0 || unit->stage != stage) continue;
    if (first < 0 || unit->key < lowering->units.items[first].key) first = u;
    if (lowering->level == 0) continue;
    int64_t gain = unit_gain(scheduler, unit);
    bool is_earlier = best >= 0 && unit->key < lowering->units.items[best].key;
    if (gain > best_gain || (gain == best_gain && is_earlier)) {
      best = u;
      best_gain = gain;
    }
  }
  return best >= 0 ? best : first;
}

void units_schedule(Lowering *lowering) {
  int count = lowering->units.count;
  Scheduler scheduler = {
      .lowering = lowering,
      .waiting = ARENA_ARRAY(lowering->arena, int, count),
      .done = ARENA_ARRAY(lowering->arena, bool, count),
      .readers = ARENA_ARRAY(lowering->arena, int, lowering->program->buffers.count),
      .allocated = ARENA_ARRAY(lowering->arena, bool, lowering->program->buffers.count),
  };
  for (int u = 0; u < count; u++) {
    scheduler.waiting[u] = lowering->units.items[u].before.count;
    visit_reads(&scheduler, &lowering->units.items[u], count_reader, NULL);
  }
  for (int step = 0; step < count; step++) {
    int next = choose(&scheduler);
    if (next < 0) panic("graph %s: the order of its launches is circular", lowering->graph->name);
    scheduler.done[next] = true;
    vec_push(lowering->arena, &lowering->order, next);
    visit_writes(&scheduler, &lowering->units.items[next], allocate, NULL);
    visit_reads(&scheduler, &lowering->units.items[next], release_reader, NULL);
    for (int u = 0; u < count; u++)
      for (int i = 0; i < lowering->units.items[u].before.count; i++)
        if (lowering->units.items[u].before.items[i] == next) scheduler.waiting[u]--;
  }
}
