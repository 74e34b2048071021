/* A hash table from pointers (interned names, places in a tree) to numbers, mostly indices.
 *
 * Nothing iterates over it: results do not depend on addresses. */
#ifndef NNC_SUPPORT_TABLE_H
#define NNC_SUPPORT_TABLE_H

#include <stdbool.h>
#include "support/arena.h"

/* Empty when zero. */
typedef struct PointerTable {
  const void **keys; /* NULL where free */
  int *values;
  int count, capacity; /* a power of two */
} PointerTable;

/* -1 when the key is absent. */
int table_find(const PointerTable *table, const void *key);
/* The first value given for a key stays; false when there was one. */
bool table_add(Arena *arena, PointerTable *table, const void *key, int value);

#endif
