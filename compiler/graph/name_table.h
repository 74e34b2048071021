/* A hash table from interned names to indices, for lookups that would otherwise be a search each.
 *
 * Keys compare by pointer, and nothing iterates over the table: results do not depend on
 * addresses. */
#ifndef NNC_GRAPH_NAME_TABLE_H
#define NNC_GRAPH_NAME_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include "support/arena.h"

typedef struct NameTable {
  const char **names; /* NULL where free */
  int *indices;
  size_t mask; /* the capacity, a power of two, less one */
} NameTable;

/* Space for `count` names. */
NameTable name_table_create(Arena *arena, int count);
/* The index of `name`, or -1. */
int name_table_find(const NameTable *table, const char *name);
/* The first index given for a name stays.  False when there was one. */
bool name_table_add(NameTable *table, const char *name, int index);

#endif
