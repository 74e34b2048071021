/* For each granule of memory (four bytes, or one where something was touched that is not whole
 * words) the last write and two reads are kept, with their moments. Two accesses of which one is a
 * write race if no barrier orders their moments; then it does not matter in which order the
 * threads ran here, as with vector clocks (Flanagan and Freund, FastTrack, PLDI 2009), of which
 * barriers need no more than their numbers.
 *
 * Reads by lanes of one warp between two barriers share a cell; of two warps' reads each has
 * one. A write races with a third warp's read only if it races with one of the two. After a
 * write that is in order with them they can be forgotten.
 *
 * Block memory is another in each block. Volatile accesses, which are for what a lock guards,
 * race with nothing. Every access is also looked up: one outside of the device's memory ends the
 * test even where the host has memory there. */
#include "races.h"

#include "execute.h"
#include "fault.h"
#include "fiber.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

enum { LANES = 32, CHUNK = 64, PAGE = 4096, WORD = 4, CELLS = 3 };

typedef struct Cell {
  int64_t block;
  const void *code;
  uint32_t barriers, warp_barriers;
  int16_t thread;
  bool is_used, is_atomic;
  bool is_several; /* lanes of the thread's warp */
} Cell;

typedef struct Chunk {
  Cell *cells; /* CELLS a granule: a write, reads; as many as are needed for bytes once they were */
  int granule, room;
  uint64_t launch; /* whose accesses they are */
} Chunk;

typedef struct Page {
  uintptr_t number;
  Chunk chunks[PAGE / CHUNK];
  struct Page *next;
} Page;

enum { BUCKETS = 1 << 16 };

static Page *buckets[BUCKETS];
static uint64_t launch;

void races_begin_launch(void) { launch++; }

static Page *page_of(uintptr_t number) {
  static Page *last;
  if (last && last->number == number) return last;
  Page **bucket = &buckets[number * 0x9e3779b97f4a7c15u >> 48];
  for (Page *page = *bucket; page; page = page->next) {
    if (page->number == number) return last = page;
  }
  Page *page = calloc(1, sizeof *page);
  if (!page) abort();
  page->number = number, page->next = *bucket;
  return last = *bucket = page;
}

static void make_room(Chunk *chunk, int granule) {
  int needed = CHUNK / granule * CELLS;
  if (chunk->room >= needed) return;
  chunk->cells = realloc(chunk->cells, (size_t)needed * sizeof *chunk->cells);
  if (!chunk->cells) abort();
  chunk->room = needed;
}

/* From words to bytes. */
static void refine(Chunk *chunk) {
  make_room(chunk, 1);
  for (int i = CHUNK - 1; i >= 0; i--) {
    memmove(chunk->cells + i * CELLS, chunk->cells + i / WORD * CELLS, CELLS * sizeof(Cell));
  }
  chunk->granule = 1;
}

static Chunk *chunk_of(uintptr_t at, bool is_whole) {
  Chunk *chunk = &page_of(at / PAGE)->chunks[at % PAGE / CHUNK];
  if (chunk->launch != launch) {
    make_room(chunk, WORD);
    memset(chunk->cells, 0, CHUNK / WORD * CELLS * sizeof(Cell));
    chunk->launch = launch, chunk->granule = WORD;
  }
  if (!is_whole && chunk->granule != 1) refine(chunk);
  return chunk;
}

/* ---- order ---- */

typedef struct Access {
  Cell cell; /* as it is kept */
  const char *at;
  size_t bytes;
  int how;
  bool is_block_memory;
} Access;

static bool is_ordered(const Cell *old, const Access *access) {
  const Cell *now = &access->cell;
  if (!old->is_used) return true;
  if (old->block != now->block) return access->is_block_memory;
  if (old->thread == now->thread && !old->is_several) return true;
  if (old->barriers != now->barriers) return true;
  return old->thread / LANES == now->thread / LANES && old->warp_barriers != now->warp_barriers;
}

static _Noreturn void report(const Cell *old, const Access *access, bool was_write) {
  char here[512], there[512], place[512];
  module_locate(here, sizeof here, (const char *)access->cell.code - 1);
  module_locate(there, sizeof there, (const char *)old->code - 1);
  if (access->is_block_memory) strcpy(place, "memory of the block");
  else memory_describe(place, sizeof place, access->at);
  fault("race: %s of %zu bytes at %p%s and %s by block %lld, thread %d%s; %s",
        access->how == NNC_TOUCH_READ ? "read" : "write", access->bytes, (const void *)access->at,
        here, was_write ? "write" : "read", (long long)old->block, old->thread, there, place);
}

static void keep_read(Cell *reads, const Cell *now) {
  for (int i = 0; i < 2; i++) {
    Cell *cell = &reads[i];
    bool is_same_warp =
        cell->is_used && cell->block == now->block && cell->thread / LANES == now->thread / LANES;
    if (cell->is_used && !is_same_warp) continue;
    bool is_same_time = is_same_warp && cell->barriers == now->barriers &&
                        cell->warp_barriers == now->warp_barriers;
    bool is_several = is_same_time && (cell->is_several || cell->thread != now->thread);
    *cell = *now, cell->is_several = is_several;
    return;
  }
  /* Two other warps: the one that a barrier has ordered before makes place, else the second. */
  int place = reads[0].block == now->block && reads[0].barriers != now->barriers ? 0 : 1;
  reads[place] = *now;
}

static void touch_granule(Cell *cells, const Access *access) {
  bool is_atomic = access->how == NNC_TOUCH_ATOMIC;
  if (!is_ordered(&cells[0], access) && !(is_atomic && cells[0].is_atomic)) {
    report(&cells[0], access, true);
  }
  if (access->how == NNC_TOUCH_READ) {
    keep_read(cells + 1, &access->cell);
    return;
  }
  for (int i = 1; i < CELLS; i++) {
    if (!is_ordered(&cells[i], access)) report(&cells[i], access, false);
    cells[i].is_used = false;
  }
  cells[0] = access->cell;
}

/* ---- where ---- */

static bool is_of_machine(const void *at) {
  return (uintptr_t)at - (uintptr_t)execute_machine() < sizeof(nnc_emulated_machine);
}

/* Whether the access is to be remembered; a fault if it is to no memory of the device's. */
static bool is_shared(Access *access) {
  const Function *function = execute_function();
  char what[400], place[512];
  if (memory_has(access->at, access->bytes, MEMORY_DEVICE)) return true;
  access->is_block_memory = function_owns(function, access->at, access->bytes);
  if (access->is_block_memory || memory_has(access->at, access->bytes, MEMORY_PINNED)) return true;
  if (access->how == NNC_TOUCH_READ && module_has_constant(function->module, access->at))
    return false;
  if (module_has(function->module, access->at)) strcpy(what, "memory of no array of the block");
  else memory_describe(what, sizeof what, access->at);
  module_locate(place, sizeof place, (const char *)access->cell.code - 1);
  fault("%s of %zu bytes at %p: %s%s", access->how == NNC_TOUCH_READ ? "read" : "write",
        access->bytes, (const void *)access->at, what, place);
}

void races_touch(const void *at, size_t bytes, int how, const void *code) {
  if (fiber_owns(at) || is_of_machine(at)) return;
  Moment moment = execute_moment();
  Access access = {.at = at, .bytes = bytes, .how = how};
  access.cell = (Cell){.block = moment.block,
                       .code = code,
                       .barriers = moment.barriers,
                       .warp_barriers = moment.warp_barriers,
                       .thread = (int16_t)moment.thread,
                       .is_used = true,
                       .is_atomic = how == NNC_TOUCH_ATOMIC};
  if (!is_shared(&access) || how == NNC_TOUCH_VOLATILE) return;
  bool is_whole = (uintptr_t)at % WORD == 0 && bytes % WORD == 0;
  for (uintptr_t here = (uintptr_t)at, end = here + bytes; here < end;) {
    Chunk *chunk = chunk_of(here, is_whole);
    touch_granule(chunk->cells + here % CHUNK / (size_t)chunk->granule * CELLS, &access);
    here += (size_t)chunk->granule;
  }
}
