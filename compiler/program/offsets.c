/* Offsets of buffers: see offsets.h.
 *
 * The region is at least as large as all that is alive at the worst time; the smallest one is hard to
 * find (dynamic storage allocation: Garey, Johnson, "Computers and Intractability", 1979, SR2). Here
 * buffers are placed one by one, each among those already placed that are alive at the same time: in
 * the smallest gap that it fits in, or in the lowest. What matters is the order. Orders by size, by
 * time alive and by their product are tried, the greatest first. From the best of them on, the buffer
 * that ends highest moves to the front, again and again. The first region that is no larger than the
 * worst time needs ends the search, and so does a number of comparisons: nothing depends on a clock. */
#include "program/offsets.h"

#include <stdlib.h>
#include <string.h>

#include "support/integers.h"

enum {
  MOST_MOVES = 48,           /* of a buffer to the front */
  MOST_COMPARISONS = 1 << 25 /* of two buffers, after which no further order is tried */
};

typedef struct Life {
  int buffer;
  int first, last; /* times */
  int64_t bytes, begin;
  double demand; /* what an order goes by */
} Life;

typedef enum Demand { DEMAND_BYTES, DEMAND_TIME, DEMAND_PRODUCT, DEMAND_COUNT } Demand;

typedef struct Region {
  int count;
  Life *lives;         /* in the order in which they are placed */
  Life **placed;       /* by begin */
  int64_t least;       /* bytes alive at the worst time */
  int64_t end;         /* of the last order that was placed */
  int64_t best_end;    /* of the best */
  Life *best;          /* its order, with begins */
  int64_t comparisons; /* so far */
} Region;

/* ---- one order ---- */

static bool are_together(const Life *a, const Life *b) {
  return a->last >= b->first && b->last >= a->first;
}

/* Where `life` fits among the first `count` that are placed. */
static int64_t find_gap(Life *const *placed, int count, const Life *life, bool is_lowest) {
  int64_t end = 0, best = -1, best_size = INT64_MAX;
  for (int i = 0; i < count; i++) {
    if (!are_together(placed[i], life)) continue;
    int64_t gap = placed[i]->begin - end;
    if (gap >= life->bytes && gap < best_size) {
      best = end;
      best_size = gap;
      if (is_lowest) break;
    }
    end = greatest(end, placed[i]->begin + placed[i]->bytes);
  }
  return best >= 0 ? best : end;
}

static void insert(Life **placed, int count, Life *life) {
  int low = 0, high = count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (placed[middle]->begin <= life->begin) low = middle + 1;
    else high = middle;
  }
  memmove(placed + low + 1, placed + low, sizeof *placed * (size_t)(count - low));
  placed[low] = life;
}

static void place_in_order(Region *region, bool is_lowest) {
  region->end = 0;
  for (int i = 0; i < region->count; i++) {
    Life *life = &region->lives[i];
    life->begin = find_gap(region->placed, i, life, is_lowest);
    insert(region->placed, i, life);
    region->end = greatest(region->end, life->begin + life->bytes);
  }
  region->comparisons += (int64_t)region->count * region->count / 2;
  if (region->end >= region->best_end) return;
  region->best_end = region->end;
  memcpy(region->best, region->lives, sizeof *region->lives * (size_t)region->count);
}

/* ---- orders ---- */

static bool is_done(const Region *region) {
  return region->best_end <= region->least || region->comparisons >= MOST_COMPARISONS;
}

static int by_demand(const void *a, const void *b) {
  const Life *x = a, *y = b;
  if (x->demand != y->demand) return x->demand > y->demand ? -1 : 1;
  if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
  return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

static void order_by(Region *region, Demand demand) {
  for (int i = 0; i < region->count; i++) {
    Life *life = &region->lives[i];
    double bytes = (double)life->bytes, time = life->last - life->first + 1;
    life->demand = demand == DEMAND_BYTES ? bytes : demand == DEMAND_TIME ? time : bytes * time;
  }
  if (region->count > 0)
    qsort(region->lives, (size_t)region->count, sizeof *region->lives, by_demand);
}

/* The buffer of the last order that ends highest comes first in the next; false: it already did. */
static bool move_highest(Region *region) {
  int highest = 0;
  for (int i = 0; i < region->count; i++)
    if (region->lives[i].begin + region->lives[i].bytes == region->end) highest = i;
  if (highest == 0) return false;
  Life life = region->lives[highest];
  memmove(region->lives + 1, region->lives, sizeof life * (size_t)highest);
  region->lives[0] = life;
  return true;
}

static void search(Region *region) {
  bool best_is_lowest = false;
  for (int i = 0; i < 2 * DEMAND_COUNT && (i == 0 || !is_done(region)); i++) {
    int64_t before = region->best_end;
    order_by(region, (Demand)(i / 2));
    place_in_order(region, i % 2 == 1);
    if (region->best_end < before) best_is_lowest = i % 2 == 1;
  }
  if (is_done(region)) return;
  memcpy(region->lives, region->best, sizeof *region->lives * (size_t)region->count);
  region->end = region->best_end;
  for (int i = 0; i < MOST_MOVES && !is_done(region) && move_highest(region); i++)
    place_in_order(region, best_is_lowest);
}

/* ---- the region ---- */

/* Bytes alive at the worst time. */
static int64_t find_least(Arena *arena, const Region *region) {
  int end = 0;
  for (int i = 0; i < region->count; i++) end = (int)greatest(end, region->lives[i].last + 1);
  int64_t *change = ARENA_ARRAY(arena, int64_t, end + 1), alive = 0, most = 0;
  for (int i = 0; i < region->count; i++) {
    change[region->lives[i].first] += region->lives[i].bytes;
    change[region->lives[i].last + 1] -= region->lives[i].bytes;
  }
  for (int t = 0; t < end; t++) most = greatest(most, alive += change[t]);
  return most;
}

int64_t offsets_assign(Program *program, int count, const int *buffers, const int *time,
                       int64_t begin) {
  Arena *scratch = arena_create();
  Region region = {.count = count,
                   .lives = ARENA_ARRAY(scratch, Life, count + 1),
                   .placed = ARENA_ARRAY(scratch, Life *, count + 1),
                   .best = ARENA_ARRAY(scratch, Life, count + 1),
                   .best_end = INT64_MAX};
  for (int i = 0; i < count; i++) {
    const Buffer *buffer = &program->buffers.items[buffers[i]];
    region.lives[i] = (Life){.buffer = buffers[i],
                             .first = time[buffer->first_step],
                             .last = time[buffer->last_step],
                             .bytes = buffer->bytes};
  }
  region.least = find_least(scratch, &region);
  search(&region);
  for (int i = 0; i < count; i++)
    program->buffers.items[region.best[i].buffer].offset = begin + region.best[i].begin;
  int64_t end = count > 0 ? begin + region.best_end : begin;
  arena_destroy(scratch);
  return end;
}
