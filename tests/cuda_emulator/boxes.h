/* Copies of boxes of a tensor to block memory (TMA), and what the driver makes for them. */
#ifndef BOXES_H
#define BOXES_H

#include <stdbool.h>
#include <stdint.h>

enum { MAP_AXES = 5, MAP_MAGIC = 0x6e6e634d, MAP_TF32 = 11, MAP_SWIZZLE_128 = 3 };

/* What lies in the 128 bytes of a map. */
typedef struct Map {
  uint32_t magic;
  uint8_t type, size, rank, swizzle;
  uint64_t address;
  uint64_t extents[MAP_AXES], strides[MAP_AXES]; /* strides in bytes, that of the first axis too */
  uint16_t box[MAP_AXES];
} Map;

void boxes_begin(void *to, const void *map, void *barrier, const int32_t *at, int rank,
                 const char *file, int line);
/* One of those under way is done; false where there is none. */
bool boxes_arrive(void);
void boxes_end_block(void);

#endif
