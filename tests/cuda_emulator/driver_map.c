/* The stand-in for the driver: maps of tensors, with the conditions of the manual
 * (cuTensorMapEncodeTiled of the CUDA Driver API). */
#include "boxes.h"
#include "driver.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { NONE = 0, INTERLEAVE_32 = 2, TYPES = 13, OUTSIDE_NAN = 1, MAP_BYTES = 128 };

/* By the driver's numbers of types. */
static const uint8_t sizes[TYPES] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

static bool is_float(int type) { return type >= 6; }

/* The elements of the first axis lie together; each stride is a multiple of the one before. */
static bool axes_fit(const Map *map, int interleave) {
  uint64_t least = interleave == INTERLEAVE_32 ? 32 : 16;
  for (int i = 0; i < map->rank; i++) {
    uint64_t before = i ? map->strides[i - 1] : 0;
    if (map->extents[i] == 0 || map->extents[i] > (uint64_t)1 << 32) return false;
    if (map->box[i] == 0 || map->box[i] > 256) return false;
    if (i == 0) continue;
    if (map->strides[i] % least || map->strides[i] >= (uint64_t)1 << 40) return false;
    if (map->strides[i] < before * map->extents[i - 1]) return false;
    if (i > 1 && map->strides[i] % before) return false;
  }
  return true;
}

static bool options_fit(const Map *map, int interleave, int promotion, int outside) {
  static const int widths[] = {1 << 20, 32, 64, 128};
  int row = map->box[0] * map->size;
  if (interleave < 0 || interleave > INTERLEAVE_32 || map->swizzle > MAP_SWIZZLE_128) return false;
  if (promotion < 0 || promotion > 3 || outside < 0 || outside > OUTSIDE_NAN) return false;
  if (outside == OUTSIDE_NAN && !is_float(map->type)) return false;
  if (interleave != NONE && map->rank < 3) return false;
  if (interleave == INTERLEAVE_32 && map->swizzle != 1) return false;
  return interleave != NONE || (row % 16 == 0 && row <= widths[map->swizzle]);
}

EXPORT int cuTensorMapEncodeTiled(void *to, int type, uint32_t rank, void *address,
                                  const uint64_t *extents, const uint64_t *strides,
                                  const uint32_t *box, const uint32_t *steps, int interleave,
                                  int swizzle, int promotion, int outside) {
  ENTER(NEEDS_DRIVER);
  Map map = {.magic = MAP_MAGIC};
  REQUIRE(to && (uintptr_t)to % 64 == 0 && extents && box && steps, ERROR_INVALID_VALUE);
  REQUIRE(type >= 0 && type < TYPES && rank >= 1 && rank <= MAP_AXES, ERROR_INVALID_VALUE);
  REQUIRE((strides || rank == 1) && swizzle >= 0, ERROR_INVALID_VALUE);
  REQUIRE(address && (uintptr_t)address % (interleave == INTERLEAVE_32 ? 32 : 16) == 0,
          ERROR_INVALID_VALUE);
  map.type = (uint8_t)type, map.size = sizes[type], map.rank = (uint8_t)rank;
  map.swizzle = (uint8_t)swizzle, map.address = (uint64_t)address;
  for (uint32_t i = 0; i < rank; i++) {
    REQUIRE(steps[i] >= 1 && steps[i] <= 8 && box[i] <= 256, ERROR_INVALID_VALUE);
    map.extents[i] = extents[i], map.box[i] = (uint16_t)box[i];
    map.strides[i] = i ? strides[i - 1] : map.size;
  }
  REQUIRE(axes_fit(&map, interleave) && options_fit(&map, interleave, promotion, outside),
          ERROR_INVALID_VALUE);
  memset(to, 0, MAP_BYTES);
  memcpy(to, &map, sizeof map);
  return CUDA_SUCCESS;
}
