/* The order of an epoch that mixes so many examples at a time. */
#ifndef NNC_DATA_NEAR_H
#define NNC_DATA_NEAR_H

#include <stdint.h>

/* A permutation that keeps near what is near: the examples are cut into pieces of the same length (the last
 * may be shorter), the pieces are permuted, and the examples of some pieces at a time. */
typedef struct DataNear {
  int64_t count;   /* of examples */
  int64_t length;  /* of a piece */
  int64_t pieces;  /* of the set */
  int64_t at_once; /* so many pieces are mixed */
} DataNear;
/* Mixes `within` examples at a time, of 16 places in the set where there can be so many. */
DataNear data_near(int64_t count, int64_t within);
/* `pieces` has room for near->pieces numbers, `order` for near->count. */
void data_near_permutation(uint64_t seed, uint64_t stream, const DataNear *near, uint32_t *pieces,
                           uint32_t *order);

#endif
