/* Philox-4x32-10, a counter-based random number generator, and what the compiler makes of its
 * words. Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
 *
 * A random tensor is a function of (seed, key, step, stream, element): no state, any order, any
 * number of threads.  The exact definition, for everyone who computes these numbers:
 *
 *   key      64 bits: philox_key(seed, FNV-1a 64 of the node's `key`); low word first
 *   counter  words 0, 1: block number = element / 4, low word first; word 2: step; word 3: stream
 *   element  e of a tensor is word e % 4 of its block, where
 *            e = row-major index + example * (elements / extent of axis 0),
 *            `example` the number of the batch's first example: in its data set for
 *            evaluation, in the step's whole batch for training (0 unless accumulating)
 *   bits     the word, 0 ... 2^32 - 1
 *   uniform  (word >> 8) * 2^-24: in [0, 1), the same number in f32 and f64
 *   normal   Box-Muller on words (0, 1) for elements 0, 1 and words (2, 3) for elements 2, 3:
 *            r = sqrt(-2 log(((first >> 8) + 1) * 2^-24)), angle = 2 pi (second >> 8) * 2^-24;
 *            the even element is r cos(angle), the odd one r sin(angle)
 *
 * Plain C, used by the interpreter and the runtime alike; it includes nothing of the compiler. */
#ifndef NNC_OPS_PHILOX_H
#define NNC_OPS_PHILOX_H

#include <math.h>
#include <stdint.h>

typedef struct PhiloxBlock {
  uint32_t word[4];
} PhiloxBlock;

static inline PhiloxBlock philox(PhiloxBlock counter, uint32_t key0, uint32_t key1) {
  uint32_t *c = counter.word;
  for (int round = 0; round < 10; round++) {
    uint64_t p0 = (uint64_t)0xD2511F53u * c[0], p1 = (uint64_t)0xCD9E8D57u * c[2];
    uint32_t c0 = (uint32_t)(p1 >> 32) ^ c[1] ^ key0, c2 = (uint32_t)(p0 >> 32) ^ c[3] ^ key1;
    c[1] = (uint32_t)p1;
    c[3] = (uint32_t)p0;
    c[0] = c0;
    c[2] = c2;
    key0 += 0x9E3779B9u; /* golden ratio */
    key1 += 0xBB67AE85u; /* sqrt(3) - 1 */
  }
  return counter;
}

/* The finalizer of splitmix64 spreads a small seed over all bits before the hash is mixed in. */
static inline uint64_t philox_key(uint64_t seed, uint64_t hash) {
  uint64_t z = seed + 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (z ^ (z >> 31)) ^ hash;
}

/* The block that holds `element`. */
static inline PhiloxBlock philox_block(uint64_t key, uint64_t element, uint32_t step,
                                       uint32_t stream) {
  uint64_t block = element / 4;
  PhiloxBlock counter = {{(uint32_t)block, (uint32_t)(block >> 32), step, stream}};
  return philox(counter, (uint32_t)key, (uint32_t)(key >> 32));
}

static inline double philox_uniform(uint32_t word) { return (double)(word >> 8) * 0x1p-24; }

/* The normal number of element `element` from its block. */
static inline double philox_normal(PhiloxBlock block, uint64_t element) {
  int first = (int)(element % 4) & ~1;
  double radius = sqrt(-2 * log(((double)(block.word[first] >> 8) + 1) * 0x1p-24));
  double angle = 6.283185307179586 * philox_uniform(block.word[first + 1]);
  return element % 2 ? radius * sin(angle) : radius * cos(angle);
}

#endif
