/* Random numbers of the generators of data: SplitMix64 (Steele, Lea, Flood 2014), the same on every
 * machine. */
#ifndef NNC_TOOLS_RANDOM_H
#define NNC_TOOLS_RANDOM_H

#include <stdint.h>

typedef struct Random {
  uint64_t state;
} Random;

static inline uint64_t random_mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static inline uint64_t random_draw(Random *random) {
  return random_mix(random->state += 0x9e3779b97f4a7c15u);
}

/* In [low, high). */
static inline double random_between(Random *random, double low, double high) {
  return low + (high - low) * (double)(random_draw(random) >> 11) * 0x1p-53;
}

/* The stream of one item: it depends on seed, set and the item's number alone. */
static inline Random random_stream(uint64_t seed, int set, int64_t number) {
  return (Random){random_mix(random_mix(seed) ^ random_mix((uint64_t)number * 2 + (uint64_t)set))};
}

#endif
