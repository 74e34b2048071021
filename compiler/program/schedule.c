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
  int *readers;    /* by buffer: launches that still read it */
  bool *allocated; /* by buffer */
} Scheduler;

typedef void (*BufferVisit)(Scheduler *scheduler, int buffer, int64_t *sum);

static void visit_reads(Scheduler *scheduler, const Launch *launch, BufferVisit visit,
                        int64_t *sum) {
  const Lowering *lowering = scheduler->lowering;
  if (launch->group < 0) {
    visit(scheduler, launch->from, sum);
    return;
  }
  const BuiltKernel *built = &lowering->groups.items[launch->group]->built;
  for (int i = 0; i < built->kernel->operand_count; i++) {
    int buffer = lowering->places[built->nodes[i]->id].buffer;
    bool is_repeated = built->kernel->operands[i].is_output;
    for (int k = 0; k < i; k++)
      if (lowering->places[built->nodes[k]->id].buffer == buffer) is_repeated = true;
    if (!is_repeated) visit(scheduler, buffer, sum);
  }
}

static void visit_writes(Scheduler *scheduler, const Launch *launch, BufferVisit visit,
                         int64_t *sum) {
  const Lowering *lowering = scheduler->lowering;
  if (launch->group < 0) {
    visit(scheduler, launch->to, sum);
    return;
  }
  const BuiltKernel *built = &lowering->groups.items[launch->group]->built;
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

static int64_t launch_gain(Scheduler *scheduler, const Launch *launch) {
  int64_t gain = 0;
  visit_reads(scheduler, launch, add_freed, &gain);
  visit_writes(scheduler, launch, subtract_needed, &gain);
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
static int choose(Scheduler *scheduler) {
  const Lowering *lowering = scheduler->lowering;
  int best = -1, first = -1, phase = next_phase(scheduler);
  int64_t best_gain = -1;
  for (int u = 0; u < lowering->launches.count; u++) {
    const Launch *launch = &lowering->launches.items[u];
    if (scheduler->done[u] || scheduler->waiting[u] > 0 || launch->phase != phase) continue;
    if (first < 0 || launch->key < lowering->launches.items[first].key) first = u;
    if (lowering->level == 0) continue;
    int64_t gain = launch_gain(scheduler, launch);
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
      .readers = ARENA_ARRAY(lowering->arena, int, lowering->program->buffers.count),
      .allocated = ARENA_ARRAY(lowering->arena, bool, lowering->program->buffers.count),
  };
  for (int u = 0; u < count; u++) {
    scheduler.waiting[u] = lowering->launches.items[u].before.count;
    visit_reads(&scheduler, &lowering->launches.items[u], count_reader, NULL);
  }
  for (int step = 0; step < count; step++) {
    int next = choose(&scheduler);
    if (next < 0) panic("graph %s: the order of its launches is circular", lowering->graph->name);
    scheduler.done[next] = true;
    vec_push(lowering->arena, &lowering->order, next);
    visit_writes(&scheduler, &lowering->launches.items[next], allocate, NULL);
    visit_reads(&scheduler, &lowering->launches.items[next], release_reader, NULL);
    for (int u = 0; u < count; u++)
      for (int i = 0; i < lowering->launches.items[u].before.count; i++)
        if (lowering->launches.items[u].before.items[i] == next) scheduler.waiting[u]--;
  }
}
