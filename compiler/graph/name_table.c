/* The hash table of interned names: open addressing, at most half full. */
#include "graph/name_table.h"

#include <stdint.h>

NameTable name_table_create(Arena *arena, int count) {
  size_t capacity = 8;
  while (capacity < 2 * (size_t)count) capacity *= 2;
  return (NameTable){.names = ARENA_ARRAY(arena, const char *, capacity),
                     .indices = ARENA_ARRAY(arena, int, capacity),
                     .mask = capacity - 1};
}

/* Where `name` is or would be. */
static size_t find_slot(const NameTable *table, const char *name) {
  size_t slot = (size_t)(((uint64_t)(uintptr_t)name * 0x9e3779b97f4a7c15u) >> 32) & table->mask;
  while (table->names[slot] && table->names[slot] != name) slot = (slot + 1) & table->mask;
  return slot;
}

int name_table_find(const NameTable *table, const char *name) {
  size_t slot = find_slot(table, name);
  return table->names[slot] ? table->indices[slot] : -1;
}

bool name_table_add(NameTable *table, const char *name, int index) {
  size_t slot = find_slot(table, name);
  if (table->names[slot]) return false;
  table->names[slot] = name;
  table->indices[slot] = index;
  return true;
}
