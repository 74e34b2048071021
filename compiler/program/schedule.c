/* The order of an entry's launches and copies: topological, deterministic, and with little memory
 * alive at once.
 *
 * Among the launches that are ready, those of the earliest phase come first: a phase is a wish of a
 * pass that trades time for memory (ATTR_PHASE), so that what is computed again is computed late.
 * Of one phase, -O0 takes the one whose node is first in the graph. Otherwise the one
 * that frees most bytes, less what it newly needs, goes first; ties go to the graph's order. So a
 * parameter's update runs as soon as its gradient is there and the last reader of the old value is
 * done, and the gradient's memory is free again. */
#include "program/schedule.h"

#include <limits.h>

#include "support/panic.h"

typedef struct Scheduler {
  Lowering *lowering;
  int *waiting; /* by launch: launches before it that are not done */
  bool *done;
  LaunchUses *uses; /* by launch */
  int *readers;     /* by buffer: launches that still read it */
  bool *allocated;  /* by buffer */
} Scheduler;

LaunchUses launch_uses(Arena *arena, const Lowering *lowering, const Launch *launch) {
  LaunchUses uses = {0};
  if (launch->group < 0) {
    vec_push(arena, &uses, ((LaunchUse){launch->from, false, true}));
    vec_push(arena, &uses, ((LaunchUse){launch->to, true, true}));
    return uses;
  }
  const BuiltKernel *built = &lowering->groups.items[launch->group]->built;
  for (int i = 0; i < built->kernel->operand_count; i++) {
    LaunchUse use = {lowering->places[built->nodes[i]->id].buffer,
                     built->kernel->operands[i].is_output, true};
    for (int k = 0; k < i; k++) use.is_first = use.is_first && uses.items[k].buffer != use.buffer;
    vec_push(arena, &uses, use);
  }
  return uses;
}

/* Adds `count` to the readers of what the launch reads. */
static void add_readers(Scheduler *scheduler, int launch, int count) {
  const LaunchUses *uses = &scheduler->uses[launch];
  for (int i = 0; i < uses->count; i++)
    if (!uses->items[i].writes && uses->items[i].is_first)
      scheduler->readers[uses->items[i].buffer] += count;
}

/* Bytes of activations that the launch frees, less those that it newly needs. */
static int64_t launch_gain(const Scheduler *scheduler, int launch) {
  const LaunchUses *uses = &scheduler->uses[launch];
  int64_t gain = 0;
  for (int i = 0; i < uses->count; i++) {
    const LaunchUse *use = &uses->items[i];
    const Buffer *buffer = &scheduler->lowering->program->buffers.items[use->buffer];
    if (buffer->kind != BUFFER_ACTIVATION) continue;
    if (use->writes && !scheduler->allocated[use->buffer]) gain -= buffer->bytes;
    if (!use->writes && use->is_first && scheduler->readers[use->buffer] == 1)
      gain += buffer->bytes;
  }
  return gain;
}

/* The earliest phase of a launch that is ready. */
static int next_phase(const Scheduler *scheduler) {
  const Lowering *lowering = scheduler->lowering;
  int phase = INT_MAX;
  for (int u = 0; u < lowering->launches.count; u++)
    if (!scheduler->done[u] && scheduler->waiting[u] == 0 &&
        lowering->launches.items[u].phase < phase)
      phase = lowering->launches.items[u].phase;
  return phase;
}

/* The next launch: one that needs no more memory than it frees at once, else the first in the
 * graph. */
static int choose(const Scheduler *scheduler) {
  const Lowering *lowering = scheduler->lowering;
  int best = -1, first = -1, phase = next_phase(scheduler);
  int64_t best_gain = -1;
  for (int u = 0; u < lowering->launches.count; u++) {
    const Launch *launch = &lowering->launches.items[u];
    if (scheduler->done[u] || scheduler->waiting[u] > 0 || launch->phase != phase) continue;
    if (first < 0 || launch->key < lowering->launches.items[first].key) first = u;
    if (lowering->level == 0) continue;
    int64_t gain = launch_gain(scheduler, u);
    bool is_earlier = best >= 0 && launch->key < lowering->launches.items[best].key;
    if (gain > best_gain || (gain == best_gain && is_earlier)) {
      best = u;
      best_gain = gain;
    }
  }
  return best >= 0 ? best : first;
}

void launches_schedule(Lowering *lowering) {
  int count = lowering->launches.count;
  Scheduler scheduler = {
      .lowering = lowering,
      .waiting = ARENA_ARRAY(lowering->arena, int, count),
      .done = ARENA_ARRAY(lowering->arena, bool, count),
      .uses = ARENA_ARRAY(lowering->arena, LaunchUses, count),
      .readers = ARENA_ARRAY(lowering->arena, int, lowering->program->buffers.count),
      .allocated = ARENA_ARRAY(lowering->arena, bool, lowering->program->buffers.count),
  };
  for (int u = 0; u < count; u++) {
    scheduler.waiting[u] = lowering->launches.items[u].before.count;
    scheduler.uses[u] = launch_uses(lowering->arena, lowering, &lowering->launches.items[u]);
    add_readers(&scheduler, u, 1);
  }
  for (int step = 0; step < count; step++) {
    int next = choose(&scheduler);
    if (next < 0) panic("graph %s: the order of its launches is circular", lowering->graph->name);
    scheduler.done[next] = true;
    vec_push(lowering->arena, &lowering->order, next);
    add_readers(&scheduler, next, -1);
    for (int i = 0; i < scheduler.uses[next].count; i++)
      if (scheduler.uses[next].items[i].writes)
        scheduler.allocated[scheduler.uses[next].items[i].buffer] = true;
    for (int u = 0; u < count; u++)
      for (int i = 0; i < lowering->launches.items[u].before.count; i++)
        if (lowering->launches.items[u].before.items[i] == next) scheduler.waiting[u]--;
  }
}
