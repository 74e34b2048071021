/* The table of pointers: open addressing, at most half full. */
#include "support/table.h"

#include <stdint.h>

/* Where `key` is or would be. */
static size_t place_of(const PointerTable *table, const void *key) {
  size_t mask = (size_t)table->capacity - 1;
  size_t at = (size_t)(((uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u) >> 32) & mask;
  while (table->keys[at] && table->keys[at] != key) at = (at + 1) & mask;
  return at;
}

int table_find(const PointerTable *table, const void *key) {
  if (table->count == 0) return -1;
  size_t at = place_of(table, key);
  return table->keys[at] ? table->values[at] : -1;
}

static void grow(Arena *arena, PointerTable *table) {
  PointerTable old = *table;
  table->capacity = old.capacity ? 2 * old.capacity : 16;
  table->keys = ARENA_ARRAY(arena, const void *, table->capacity);
  table->values = ARENA_ARRAY(arena, int, table->capacity);
  table->count = 0;
  for (int i = 0; i < old.capacity; i++)
    if (old.keys[i]) table_add(arena, table, old.keys[i], old.values[i]);
}

bool table_add(Arena *arena, PointerTable *table, const void *key, int value) {
  if (2 * table->count >= table->capacity) grow(arena, table);
  size_t at = place_of(table, key);
  if (table->keys[at]) return false;
  table->keys[at] = key;
  table->values[at] = value;
  table->count++;
  return true;
}
