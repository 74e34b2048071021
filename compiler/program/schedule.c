/* The order of an entry's launches and copies: topological, deterministic, and with little memory
 * alive at once.
 *
 * Among the launches that are ready, those of the earliest phase come first: a phase is a wish of a
 * pass that trades time for memory (ATTR_PHASE), so that what is computed again is computed late.
 * Of one phase, -O0 takes the one whose node is first in the graph. Otherwise the one
 * that frees most bytes, less what it newly needs, goes first; ties go to the graph's order. So a
 * parameter's update runs as soon as its gradient is there and the last reader of the old value is
 * done, and the gradient's memory is free again.
 *
 * A target that makes one launch of several (Target.waiting_bytes) has small work wait while there is
 * other: loops that need and free little memory, such as the norm of each gradient, which is kept for
 * its update anyway. When nothing else is left they follow in the order in which they became ready, so
 * that those which do not need each other stand together. Where that order has a noticeably higher
 * peak of memory, the other one is taken. */
#include "program/schedule.h"

#include <limits.h>

#include "support/panic.h"

enum { SMALL_PART = 128 }; /* of the peak, that waiting may add */

typedef struct Scheduler {
  Lowering *lowering;
  int *waiting; /* by launch: launches before it that are not done */
  bool *done;
  LaunchUses *uses;      /* by launch */
  int *readers;          /* by buffer: launches that still read it */
  bool *allocated;       /* by buffer */
  int *ready_at;         /* by launch: how many were done when the last before it was */
  int64_t waiting_bytes; /* what little memory is; 0: no launch waits for others */
  int64_t live, peak;    /* bytes of activations */
  int *order;
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

/* Bytes of activations. */
typedef struct Change {
  int64_t needed, freed;
} Change;

static Change launch_change(const Scheduler *scheduler, int launch) {
  const LaunchUses *uses = &scheduler->uses[launch];
  Change change = {0};
  for (int i = 0; i < uses->count; i++) {
    const LaunchUse *use = &uses->items[i];
    const Buffer *buffer = &scheduler->lowering->program->buffers.items[use->buffer];
    if (buffer->kind != BUFFER_ACTIVATION) continue;
    if (use->writes && !scheduler->allocated[use->buffer]) change.needed += buffer->bytes;
    if (!use->writes && use->is_first && scheduler->readers[use->buffer] == 1)
      change.freed += buffer->bytes;
  }
  return change;
}

/* Bytes that the launch frees, less those that it newly needs. */
static int64_t launch_gain(const Scheduler *scheduler, int launch) {
  Change change = launch_change(scheduler, launch);
  return change.freed - change.needed;
}

static bool may_wait(const Scheduler *scheduler, int launch) {
  const Lowering *lowering = scheduler->lowering;
  const Launch *own = &lowering->launches.items[launch];
  if (scheduler->waiting_bytes == 0 || own->group < 0) return false;
  const Group *group = lowering->groups.items[own->group];
  if (group->scan || group->template_node) return false;
  Change change = launch_change(scheduler, launch);
  return change.needed <= scheduler->waiting_bytes && change.freed <= scheduler->waiting_bytes;
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

static bool is_ready(const Scheduler *scheduler, int launch, int phase) {
  return !scheduler->done[launch] && scheduler->waiting[launch] == 0 &&
         scheduler->lowering->launches.items[launch].phase == phase;
}

/* The next launch: one that needs no more memory than it frees at once, else the first in the
 * graph. -1: all that are ready wait. */
static int choose(const Scheduler *scheduler, int phase) {
  const Lowering *lowering = scheduler->lowering;
  int best = -1, first = -1;
  int64_t best_gain = -1;
  for (int u = 0; u < lowering->launches.count; u++) {
    const Launch *launch = &lowering->launches.items[u];
    if (!is_ready(scheduler, u, phase) || may_wait(scheduler, u)) continue;
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

/* Of those that wait, the one that has waited longest. */
static int choose_waiting(const Scheduler *scheduler, int phase) {
  const Lowering *lowering = scheduler->lowering;
  int best = -1;
  for (int u = 0; u < lowering->launches.count; u++) {
    if (!is_ready(scheduler, u, phase)) continue;
    bool is_longer = best < 0 || scheduler->ready_at[u] < scheduler->ready_at[best];
    bool is_as_long = best >= 0 && scheduler->ready_at[u] == scheduler->ready_at[best];
    if (is_longer ||
        (is_as_long && lowering->launches.items[u].key < lowering->launches.items[best].key))
      best = u;
  }
  return best;
}

static void take_launch(Scheduler *scheduler, int next, int step) {
  const Lowering *lowering = scheduler->lowering;
  Change change = launch_change(scheduler, next);
  scheduler->live += change.needed;
  if (scheduler->live > scheduler->peak) scheduler->peak = scheduler->live;
  scheduler->live -= change.freed;
  scheduler->done[next] = true;
  scheduler->order[step] = next;
  add_readers(scheduler, next, -1);
  for (int i = 0; i < scheduler->uses[next].count; i++)
    if (scheduler->uses[next].items[i].writes)
      scheduler->allocated[scheduler->uses[next].items[i].buffer] = true;
  for (int u = 0; u < lowering->launches.count; u++)
    for (int i = 0; i < lowering->launches.items[u].before.count; i++)
      if (lowering->launches.items[u].before.items[i] == next && --scheduler->waiting[u] == 0)
        scheduler->ready_at[u] = step + 1;
}

static Scheduler schedule(Lowering *lowering, int64_t waiting_bytes) {
  int count = lowering->launches.count;
  Scheduler scheduler = {
      .lowering = lowering,
      .waiting = ARENA_ARRAY(lowering->arena, int, count),
      .done = ARENA_ARRAY(lowering->arena, bool, count),
      .uses = ARENA_ARRAY(lowering->arena, LaunchUses, count),
      .readers = ARENA_ARRAY(lowering->arena, int, lowering->program->buffers.count),
      .allocated = ARENA_ARRAY(lowering->arena, bool, lowering->program->buffers.count),
      .ready_at = ARENA_ARRAY(lowering->arena, int, count),
      .waiting_bytes = waiting_bytes,
      .order = ARENA_ARRAY(lowering->arena, int, count),
  };
  for (int u = 0; u < count; u++) {
    scheduler.waiting[u] = lowering->launches.items[u].before.count;
    scheduler.uses[u] = launch_uses(lowering->arena, lowering, &lowering->launches.items[u]);
    add_readers(&scheduler, u, 1);
  }
  for (int step = 0; step < count; step++) {
    int phase = next_phase(&scheduler), next = choose(&scheduler, phase);
    if (next < 0) next = choose_waiting(&scheduler, phase);
    if (next < 0) panic("graph %s: the order of its launches is circular", lowering->graph->name);
    take_launch(&scheduler, next, step);
  }
  return scheduler;
}

void launches_schedule(Lowering *lowering) {
  int64_t waiting_bytes = lowering->level > 0 ? lowering->program->target->waiting_bytes : 0;
  Scheduler best = schedule(lowering, 0);
  if (waiting_bytes > 0) {
    Scheduler other = schedule(lowering, waiting_bytes);
    if (other.peak - best.peak <= best.peak / SMALL_PART) best = other;
  }
  for (int i = 0; i < lowering->launches.count; i++)
    vec_push(lowering->arena, &lowering->order, best.order[i]);
}
