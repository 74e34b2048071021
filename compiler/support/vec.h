/* Growable arrays in an arena.
 *
 *     VEC(Node *) nodes = {0};
 *     vec_push(arena, &nodes, node);
 *     for (int i = 0; i < nodes.count; i++) use(nodes.items[i]);
 *
 * Old storage stays in the arena when the array grows. */
#ifndef NNC_SUPPORT_VEC_H
#define NNC_SUPPORT_VEC_H

#include "support/arena.h"

#define VEC(type)                                                                                  \
  struct {                                                                                         \
    type *items;                                                                                   \
    int count;                                                                                     \
    int capacity;                                                                                  \
  }

#define vec_push(arena, vec, item)                                                                 \
  do {                                                                                             \
    if ((vec)->count == (vec)->capacity)                                                           \
      (vec)->items = vec_grow((arena), (vec)->items, &(vec)->capacity, sizeof *(vec)->items);      \
    (vec)->items[(vec)->count++] = (item);                                                         \
  } while (0)

/* Doubles *capacity (from at least 8) and returns the enlarged copy. */
void *vec_grow(Arena *arena, void *items, int *capacity, size_t item_size);

#endif
