/* A box may arrive at any time between its begin and the wait for its barrier: at once with
 * NNC_EMULATOR_COPIES=issue, else not before all threads wait (execute.c). Until then its place
 * holds bytes 0xff, which are NaN; its bytes are counted when it arrives.
 *
 * The 16-byte chunks of a row of 128 bytes change places: the three bits of an address above the
 * chunk's are changed by the three above these ("Swizzling Modes" of the PTX ISA). */
#include "boxes.h"

#include "copies.h"
#include "execute.h"
#include "fault.h"
#include "memory.h"
#include "phases.h"

#include <string.h>

enum { MOST_BOXES = 256, ROW = 128, CHUNK = 16 };

typedef struct Box {
  char *to;
  Map map;
  const void *barrier;
  int32_t at[MAP_AXES];
  int bytes;
  const char *file;
  int line;
} Box;

static Box boxes[MOST_BOXES]; /* in their order, from `first`, around the end */
static int first, count;

static int box_bytes(const Map *map) {
  int bytes = map->size;
  for (int i = 0; i < map->rank; i++) bytes *= map->box[i];
  return bytes;
}

static void check(const Box *box, int rank) {
  const Map *map = &box->map;
  if (map->magic != MAP_MAGIC)
    fault("a box of what is no tensor map (%s:%d)", box->file, box->line);
  if (map->rank != rank)
    fault("%d coordinates of a tensor of %d axes (%s:%d)", rank, map->rank, box->file, box->line);
  if (map->swizzle != MAP_SWIZZLE_128 || map->box[0] * map->size != ROW)
    fault("the emulator knows boxes with rows of 128 bytes, with their swizzle (%s:%d)", box->file,
          box->line);
  if ((uintptr_t)box->to % ROW || !function_owns(execute_function(), box->to, (size_t)box->bytes))
    fault("a box is not to memory of the block at a multiple of 128 (%s:%d)", box->file, box->line);
}

/* TMA rounds to the nearest where it copies tf32. */
static void round_tf32(char *chunk) {
  for (int i = 0; i < CHUNK; i += 4) {
    uint32_t bits;
    memcpy(&bits, chunk + i, sizeof bits);
    if ((bits & 0x7F800000) != 0x7F800000) bits = (bits + 0x1000) & ~0x1FFFu;
    memcpy(chunk + i, &bits, sizeof bits);
  }
}

/* A row of the box, with zeros outside of the tensor. */
static void copy_row(const Box *box, const int32_t *at, char *to) {
  const Map *map = &box->map;
  bool is_inside = true;
  uint64_t from = map->address;
  int left = 0;
  for (int i = 1; i < map->rank; i++) {
    is_inside = is_inside && at[i] >= 0 && (uint64_t)at[i] < map->extents[i];
    from += (uint64_t)at[i] * map->strides[i];
  }
  if (at[0] < 0) fault("the emulator knows no rows that begin before the tensor");
  from += (uint64_t)at[0] * map->size;
  if (is_inside && (uint64_t)at[0] < map->extents[0]) {
    uint64_t most = (map->extents[0] - (uint64_t)at[0]) * map->size;
    left = most < ROW ? (int)most : ROW;
  }
  char row[ROW] = {0};
  if (left > 0 && !memory_has((const void *)from, (size_t)left, MEMORY_DEVICE))
    fault("a box is not from memory of the device (%s:%d)", box->file, box->line);
  if (left > 0) memcpy(row, (const void *)from, (size_t)left);
  for (int i = 0; i < ROW; i += CHUNK) {
    if (map->type == MAP_TF32) round_tf32(row + i);
    uintptr_t place = (uintptr_t)to + (uintptr_t)i;
    memcpy((char *)(place ^ (place >> 7 & 7) << 4), row + i, CHUNK);
  }
}

static void copy_box(const Box *box) {
  const Map *map = &box->map;
  int rows = box->bytes / ROW;
  for (int row = 0; row < rows; row++) {
    int32_t at[MAP_AXES] = {box->at[0]};
    for (int i = 1, rest = row; i < map->rank; rest /= map->box[i], i++)
      at[i] = box->at[i] + rest % map->box[i];
    copy_row(box, at, box->to + row * ROW);
  }
  phases_receive(box->barrier, box->bytes, box->file, box->line);
}

void boxes_begin(void *to, const void *map, void *barrier, const int32_t *at, int rank,
                 const char *file, int line) {
  Box box = {.to = to, .barrier = barrier, .file = file, .line = line};
  memcpy(&box.map, map, sizeof box.map);
  memcpy(box.at, at, (size_t)rank * sizeof *at);
  box.bytes = box_bytes(&box.map);
  check(&box, rank);
  phases_check(barrier, file, line);
  if (copies_at_once()) {
    copy_box(&box);
    return;
  }
  if (count == MOST_BOXES) fault("%d boxes wait (%s:%d)", MOST_BOXES, file, line);
  memset(to, 0xff, (size_t)box.bytes);
  boxes[(first + count++) % MOST_BOXES] = box;
}

bool boxes_arrive(void) {
  if (count == 0) return false;
  Box box = boxes[first];
  first = (first + 1) % MOST_BOXES, count--;
  copy_box(&box);
  return true;
}

void boxes_end_block(void) {
  if (count > 0) fault("the block has ended while %d boxes are under way", count);
}
