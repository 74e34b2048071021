/* The growing of arrays in an arena: see vec.h. */
#include "support/vec.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "support/panic.h"

void *vec_grow(Arena *arena, void *items, int *capacity, size_t item_size) {
  int old = *capacity;
  if (old > INT_MAX / 2 || (old && item_size > SIZE_MAX / 2 / (size_t)old))
    panic("vec_grow: an array of more than %d items", old);
  int grown = old < 4 ? 8 : old * 2;
  char *storage = arena_alloc(arena, (size_t)grown * item_size);
  if (old) memcpy(storage, items, (size_t)old * item_size);
  *capacity = grown;
  return storage;
}
