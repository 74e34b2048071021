/* How much memory is alive at once at most in an order of launches with task loops, before there is a
 * plan. Values of which a loop sees only its own block are not in the arena; others that a loop
 * touches live as long as it runs. */
#include "program/loop_memory.h"
#include "program/schedule.h"

typedef struct Life {
  int first, last; /* places in the order */
  int loop;        /* the only one that touches it, by blocks; -1: something else does, too */
} Life;

typedef struct Lives {
  Arena *scratch;
  const Lowering *lowering;
  bool *const *parts; /* by launch, by operand: touched by blocks when it is in a loop */
  Life *lives;        /* by buffer */
} Lives;

static void touch(Lives *lives, int buffer, int first, int last, int loop) {
  Life *life = &lives->lives[buffer];
  if (life->last < 0) {
    *life = (Life){first, last, loop};
    return;
  }
  if (first < life->first) life->first = first;
  if (last > life->last) life->last = last;
  if (life->loop != loop) life->loop = -1;
}

static void touch_operands(Lives *lives, int number, int first, int last) {
  const Launch *launch = &lives->lowering->launches.items[number];
  LaunchUses uses = launch_uses(lives->scratch, lives->lowering, launch);
  for (int i = 0; i < uses.count; i++) {
    bool is_part = launch->loop >= 0 && lives->parts[number][i];
    touch(lives, uses.items[i].buffer, first, last, is_part ? launch->loop : -1);
  }
}

static int launch_loop(const Lowering *lowering, int at) {
  return lowering->launches.items[lowering->order.items[at]].loop;
}

int64_t order_peak(const Lowering *lowering, bool *const *parts) {
  Arena *scratch = arena_create();
  int buffers = lowering->program->buffers.count, count = lowering->order.count;
  Lives lives = {scratch, lowering, parts, ARENA_ARRAY(scratch, Life, buffers)};
  int64_t *change = ARENA_ARRAY(scratch, int64_t, count + 1), alive = 0, peak = 0;
  for (int i = 0; i < buffers; i++) lives.lives[i].last = -1;
  for (int at = 0; at < count; at++) {
    int first = at, last = at, loop = launch_loop(lowering, at);
    while (loop >= 0 && first > 0 && launch_loop(lowering, first - 1) == loop) first--;
    while (loop >= 0 && last + 1 < count && launch_loop(lowering, last + 1) == loop) last++;
    touch_operands(&lives, lowering->order.items[at], first, last);
  }
  for (int i = 0; i < buffers; i++) {
    const Buffer *buffer = &lowering->program->buffers.items[i];
    const Life *life = &lives.lives[i];
    if (buffer->kind != BUFFER_ACTIVATION || life->last < 0 || life->loop >= 0) continue;
    change[life->first] += buffer->bytes;
    change[life->last + 1] -= buffer->bytes;
  }
  for (int at = 0; at < count; at++) {
    alive += change[at];
    if (alive > peak) peak = alive;
  }
  arena_destroy(scratch);
  return peak;
}
