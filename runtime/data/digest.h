/* Digests: 128 bits that tell contents apart. They are no defence against somebody who looks for two that agree. */
#ifndef NNC_DATA_DIGEST_H
#define NNC_DATA_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct DataDigest {
  uint64_t parts[2];
} DataDigest;

/* Of the bytes, and of `seed`: what came before them, or 0. */
DataDigest data_digest(const void *bytes, size_t size, uint64_t seed);
static inline bool data_digest_equal(const DataDigest *a, const DataDigest *b) {
  return a->parts[0] == b->parts[0] && a->parts[1] == b->parts[1];
}

#endif
