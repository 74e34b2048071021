/* Permutations that keep near what is near, for order = within(COUNT). They are apart from rows.c because
 * they are compiled to be small. */
#include "data/near.h"

#include "data/rows.h"
#include "os/assert.h"

DataNear data_near(int64_t count, int64_t within) {
  enum { PLACES = 16 };
  DataNear near = {.count = count, .length = within >= PLACES ? within / PLACES : 1};
  near.at_once = within / near.length;
  near.pieces = (count + near.length - 1) / near.length;
  return near;
}

void data_near_permutation(uint64_t seed, uint64_t stream, const DataNear *near, uint32_t *pieces,
                           uint32_t *order) {
  int64_t done = 0, began = 0;
  data_permutation(seed, stream, near->pieces, pieces);
  for (int64_t p = 0; p < near->pieces; p++) {
    int64_t first = pieces[p] * near->length;
    for (int64_t i = first; i < first + near->length && i < near->count; i++)
      order[done++] = (uint32_t)i;
    if ((p + 1) % near->at_once != 0 && p + 1 < near->pieces) continue;
    data_shuffle_part(seed, stream, (uint64_t)p, done - began, order + began);
    began = done;
  }
  NNC_ASSERT(done == near->count);
}
