/* Offsets of buffers: see offsets.h.
 *
 * The region is at least as large as all that is alive at the worst time; the smallest one is hard to
 * find (dynamic storage allocation: Garey, Johnson, "Computers and Intractability", 1979, SR2). Here
 * buffers are placed one by one, each among those already placed that are alive at the same time: in
 * the smallest gap that it fits in, or in the lowest. What matters is the order. Orders by size, by
 * time alive, by their product and by the worst time of a life are tried, the greatest first. From the
 * best of them on, the buffer that ends highest moves to the front, again and again; then, from each of
 * them, buffers that end high move to earlier places at random. The first region that is no larger than
 * the worst time needs ends the search, and so does a number of comparisons: nothing depends on a clock.
 *
 * Where something is needed above what is alive, the region is built on that, upside down. */
#include "program/offsets.h"

#include <stdlib.h>
#include <string.h>

#include "support/integers.h"

enum {
  MOST_MOVES = 48,           /* of a buffer to the front */
  MOST_SHIFTS = 2000,        /* of a buffer to any earlier place */
  MOST_COMPARISONS = 1 << 25 /* of two buffers, after which no further order is tried */
};

typedef struct Life {
  int buffer;
  int first, last; /* times */
  int64_t bytes, begin;
  int64_t floor;    /* it begins no lower */
  int64_t pressure; /* bytes alive at the worst time of its life */
  double demand;    /* what an order goes by */
} Life;

typedef struct Placed { /* a life, by what others ask of it */
  int first, last;
  int64_t begin, end;
} Placed;

typedef enum Demand {
  DEMAND_BYTES,
  DEMAND_TIME,
  DEMAND_PRODUCT,
  DEMAND_PRESSURE,
  DEMAND_COUNT
} Demand;

typedef struct Region {
  int count;
  Life *lives;          /* in the order in which they are placed */
  Placed *placed;       /* by begin */
  const int64_t *above; /* by time; NULL: none */
  int64_t highest_floor;
  int64_t least;       /* bytes alive at the worst time, with those above */
  int64_t most;        /* where they are more, any order will do */
  int64_t enough;      /* a region of so many is as good as a smaller one */
  int64_t end;         /* of the last order that was placed */
  int64_t best_end;    /* of the best */
  Life *best;          /* its order, with begins */
  Life *kept;          /* another order, with begins */
  int64_t comparisons; /* so far */
} Region;

/* ---- one order ---- */

/* Whether a life has times in common with those from `first` to `last`. */
static bool is_alive(const Life *life, int first, int last) {
  return life->last >= first && last >= life->first;
}

/* Where `life` fits among the first `count` that are placed. */
static int64_t find_gap(const Placed *placed, int count, const Life *life, bool is_lowest) {
  int64_t end = life->floor, best = -1, best_size = INT64_MAX;
  for (int i = 0; i < count; i++) {
    if (!is_alive(life, placed[i].first, placed[i].last)) continue;
    int64_t gap = placed[i].begin - end;
    if (gap >= life->bytes && gap < best_size) {
      best = end;
      best_size = gap;
      if (is_lowest || gap == life->bytes) break; /* none is lower, or smaller */
    }
    end = greatest(end, placed[i].end);
  }
  return best >= 0 ? best : end;
}

static void insert(Placed *placed, int count, const Life *life) {
  int low = 0, high = count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (placed[middle].begin <= life->begin) low = middle + 1;
    else high = middle;
  }
  memmove(placed + low + 1, placed + low, sizeof *placed * (size_t)(count - low));
  placed[low] = (Placed){life->first, life->last, life->begin, life->begin + life->bytes};
}

/* Places the lives in their order; the first `known` already have their places. Ends early where the region exceeds
 * `limit`, which is no less than the best region: such an order is not taken, whatever the rest adds. */
static void place_after(Region *region, bool is_lowest, int known, int64_t limit) {
  region->end = region->highest_floor;
  region->comparisons += (int64_t)region->count * region->count / 2;
  for (int i = 0; i < region->count; i++) {
    Life *life = &region->lives[i];
    if (i >= known) life->begin = find_gap(region->placed, i, life, is_lowest);
    region->end = greatest(region->end, life->begin + life->bytes);
    if (region->end > limit) return;
    insert(region->placed, i, life);
  }
  if (region->end >= region->best_end) return;
  region->best_end = region->end;
  memcpy(region->best, region->lives, sizeof *region->lives * (size_t)region->count);
}

static void place_in_order(Region *region, bool is_lowest) {
  place_after(region, is_lowest, 0, INT64_MAX);
}

/* ---- orders ---- */

static bool is_done(const Region *region) {
  return region->best_end <= greatest(region->least, region->enough) ||
         region->least > region->most || region->comparisons >= MOST_COMPARISONS;
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
    life->demand = demand == DEMAND_BYTES     ? bytes
                   : demand == DEMAND_TIME    ? time
                   : demand == DEMAND_PRODUCT ? bytes * time
                                              : (double)life->pressure;
  }
  if (region->count > 0)
    qsort(region->lives, (size_t)region->count, sizeof *region->lives, by_demand);
}

/* The buffer of the last order that ends highest comes first in the next; false: it already did. */
static bool move_highest(Region *region) {
  int highest = 0;
  for (int i = 0; i < region->count; i++)
    if (region->lives[i].begin + region->lives[i].bytes == region->end) highest = i;
  if (highest == 0) return false; /* or the end is that of what lies above */
  Life life = region->lives[highest];
  memmove(region->lives + 1, region->lives, sizeof life * (size_t)highest);
  region->lives[0] = life;
  return true;
}

static unsigned next_random(unsigned *seed) { return (*seed = *seed * 1664525 + 1013904223) >> 8; }

/* A buffer that ends beyond the least region, at random: its place in the order; -1: there is none, the end is that of
 * what lies above. */
static int choose_high(const Region *region, unsigned *seed) {
  int chosen = -1;
  for (int i = 0, count = 0; i < region->count; i++) {
    bool is_high = region->lives[i].begin + region->lives[i].bytes > region->least;
    if (is_high && next_random(seed) % (unsigned)++count == 0) chosen = i;
  }
  return chosen;
}

/* From the last order on: buffers that end high move to any earlier place, which is kept where the region is no
 * larger, until so many comparisons are made. */
static void shift(Region *region, bool is_lowest, int64_t most_comparisons) {
  size_t bytes = sizeof *region->lives * (size_t)region->count;
  int64_t end = region->end;
  unsigned seed = 1;
  memcpy(region->kept, region->lives, bytes);
  for (int i = 0; i < MOST_SHIFTS && !is_done(region); i++) {
    if (region->comparisons >= most_comparisons) return;
    int chosen = choose_high(region, &seed);
    if (chosen < 0) return;
    int place = (int)(next_random(&seed) % (unsigned)(chosen + 1));
    Life life = region->lives[chosen];
    memmove(region->lives + place + 1, region->lives + place,
            sizeof life * (size_t)(chosen - place));
    region->lives[place] = life;
    place_after(region, is_lowest, place, end);
    bool is_better = region->end <= end;
    if (is_better) end = region->end;
    memcpy(is_better ? region->kept : region->lives, is_better ? region->lives : region->kept,
           bytes);
  }
}

/* Start `number` of 2 * DEMAND_COUNT. */
static void begin_with(Region *region, int number) {
  order_by(region, (Demand)(number / 2));
  place_in_order(region, number % 2 == 1);
}

static void search(Region *region) {
  enum { STARTS = 2 * DEMAND_COUNT };
  int best = 0;
  for (int i = 0; i < STARTS && (i == 0 || !is_done(region)); i++) {
    int64_t before = region->best_end;
    begin_with(region, i);
    if (region->best_end < before) best = i;
  }
  if (is_done(region)) return;
  memcpy(region->lives, region->best, sizeof *region->lives * (size_t)region->count);
  region->end = region->best_end;
  for (int i = 0; i < MOST_MOVES && !is_done(region) && move_highest(region); i++)
    place_in_order(region, best % 2 == 1);
  memcpy(region->lives, region->best, sizeof *region->lives * (size_t)region->count);
  region->end = region->best_end;
  shift(region, best % 2 == 1, MOST_COMPARISONS / 2);
  for (int i = 0; i < STARTS && !is_done(region); i++) {
    if (i == best) continue;
    begin_with(region, i);
    shift(region, i % 2 == 1,
          region->comparisons + (MOST_COMPARISONS - region->comparisons) / (STARTS - i));
  }
}

/* ---- the region ---- */

/* Bytes alive at the worst time. */
static int64_t find_least(Arena *arena, Region *region) {
  int end = 0;
  for (int i = 0; i < region->count; i++) end = (int)greatest(end, region->lives[i].last + 1);
  int64_t *change = ARENA_ARRAY(arena, int64_t, end + 1), alive = 0, most = 0;
  for (int i = 0; i < region->count; i++) {
    change[region->lives[i].first] += region->lives[i].bytes;
    change[region->lives[i].last + 1] -= region->lives[i].bytes;
  }
  for (int t = 0; t < end; t++) {
    alive += change[t];
    change[t] = alive + (region->above ? region->above[t] : 0);
    most = greatest(most, change[t]);
  }
  for (int i = 0; i < region->count; i++)
    for (int t = region->lives[i].first; t <= region->lives[i].last; t++)
      region->lives[i].pressure = greatest(region->lives[i].pressure, change[t]);
  return greatest(most, region->highest_floor);
}

/* What is needed above is the bottom of the region, which is built upside down then. */
static void set_floors(Region *region) {
  for (int i = 0; region->above && i < region->count; i++) {
    Life *life = &region->lives[i];
    for (int t = life->first; t <= life->last; t++)
      life->floor = greatest(life->floor, region->above[t]);
    region->highest_floor = greatest(region->highest_floor, life->floor);
  }
}

static int by_begin(const void *a, const void *b) {
  const Life *x = a, *y = b;
  if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
  return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

/* The region that was built upside down: each buffer then sinks as far as those below it let it. */
static void turn_over(Region *region) {
  Life *lives = region->best;
  for (int i = 0; i < region->count; i++)
    lives[i].begin = region->best_end - lives[i].begin - lives[i].bytes;
  if (region->count > 0) qsort(lives, (size_t)region->count, sizeof *lives, by_begin);
  for (int i = 0; i < region->count; i++) {
    lives[i].begin = 0;
    for (int k = 0; k < i; k++)
      if (is_alive(&lives[i], lives[k].first, lives[k].last))
        lives[i].begin = greatest(lives[i].begin, lives[k].begin + lives[k].bytes);
  }
}

int64_t offsets_assign(Program *program, const RegionUse *use) {
  const int count = use->count;
  Arena *scratch = arena_create();
  Region region = {.count = count,
                   .lives = ARENA_ARRAY(scratch, Life, count + 1),
                   .placed = ARENA_ARRAY(scratch, Placed, count + 1),
                   .best = ARENA_ARRAY(scratch, Life, count + 1),
                   .kept = ARENA_ARRAY(scratch, Life, count + 1),
                   .above = use->above,
                   .most = use->most,
                   .enough = use->enough,
                   .best_end = INT64_MAX};
  for (int i = 0; i < count; i++) {
    const Buffer *buffer = &program->buffers.items[use->buffers[i]];
    region.lives[i] = (Life){.buffer = use->buffers[i],
                             .first = use->time[buffer->first_step],
                             .last = use->time[buffer->last_step],
                             .bytes = buffer->bytes};
  }
  set_floors(&region);
  region.least = find_least(scratch, &region);
  search(&region);
  if (use->above) turn_over(&region);
  int64_t end = use->begin;
  for (int i = 0; i < count; i++) {
    Buffer *buffer = &program->buffers.items[region.best[i].buffer];
    buffer->offset = use->begin + region.best[i].begin;
    end = greatest(end, buffer->offset + region.best[i].bytes);
  }
  arena_destroy(scratch);
  return end;
}
