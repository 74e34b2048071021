/* Random numbers of generated kernels: Philox-4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random
 * numbers: as easy as 1, 2, 3", SC 2011), a pure function of (seed, key, step, stream, element).
 *
 * The same definition as the reference interpreter's, bit for bit in the uniform numbers:
 *
 *   key      64 bits: splitmix64(seed) xor hash of the node; low word first
 *   counter  element / 4 (low word first), step, stream
 *   element  e of a tensor is word e % 4 of its block
 *   uniform  (word >> 8) * 2^-24;  bits: the word
 *   normal   Box-Muller on words (0, 1) for elements 0, 1 of the block and (2, 3) for 2, 3; in double */
#ifndef NNC_RANDOM_H
#define NNC_RANDOM_H

#include "nnc_math.h"
#include "nnc_vector.h"

typedef struct nnc_philox {
  uint32_t word[4];
} nnc_philox;

/* The finalizer of splitmix64 spreads a small seed over all bits before the hash is mixed in. */
NNC_INLINE uint64_t nnc_philox_key(uint64_t seed, uint64_t hash) {
  uint64_t z = seed + 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (z ^ (z >> 31)) ^ hash;
}

/* The block that holds `element`. */
NNC_INLINE nnc_philox nnc_philox_block(uint64_t key, uint64_t step, uint32_t stream,
                                       uint64_t element) {
  uint32_t c0 = (uint32_t)(element >> 2), c1 = (uint32_t)(element >> 34);
  uint32_t c2 = (uint32_t)step, c3 = stream;
  uint32_t key0 = (uint32_t)key, key1 = (uint32_t)(key >> 32);
  NNC_UNROLL for (int round = 0; round < 10; round++) {
    const uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
    c0 = (uint32_t)(p1 >> 32) ^ c1 ^ key0;
    c2 = (uint32_t)(p0 >> 32) ^ c3 ^ key1;
    c1 = (uint32_t)p1;
    c3 = (uint32_t)p0;
    key0 += 0x9E3779B9u; /* golden ratio */
    key1 += 0xBB67AE85u; /* sqrt(3) - 1 */
  }
  const nnc_philox block = {{c0, c1, c2, c3}};
  return block;
}

NNC_INLINE uint32_t nnc_philox_word(uint64_t key, uint64_t step, uint32_t stream,
                                    uint64_t element) {
  const nnc_philox block = nnc_philox_block(key, step, stream, element);
  const uint32_t low = element & 1 ? block.word[1] : block.word[0];
  const uint32_t high = element & 1 ? block.word[3] : block.word[2];
  return element & 2 ? high : low;
}

NNC_INLINE int64_t nnc_random_bits_i64(uint64_t key, uint64_t step, uint32_t stream,
                                       uint64_t element) {
  return nnc_philox_word(key, step, stream, element);
}

NNC_INLINE float nnc_random_uniform_f32(uint64_t key, uint64_t step, uint32_t stream,
                                        uint64_t element) {
  return (float)(int32_t)(nnc_philox_word(key, step, stream, element) >> 8) * 0x1p-24f;
}

NNC_INLINE double nnc_random_uniform_f64(uint64_t key, uint64_t step, uint32_t stream,
                                         uint64_t element) {
  return (double)(int32_t)(nnc_philox_word(key, step, stream, element) >> 8) * 0x1p-24;
}

NNC_INLINE double nnc_random_normal_f64(uint64_t key, uint64_t step, uint32_t stream,
                                        uint64_t element) {
  const nnc_philox block = nnc_philox_block(key, step, stream, element);
  const uint32_t first = element & 2 ? block.word[2] : block.word[0];
  const uint32_t second = element & 2 ? block.word[3] : block.word[1];
  const double radius = sqrt(-2 * nnc_log_f64(((double)(int32_t)(first >> 8) + 1) * 0x1p-24));
  const double angle = 6.283185307179586 * ((double)(int32_t)(second >> 8) * 0x1p-24);
  return radius * (element & 1 ? nnc_sin_f64(angle) : nnc_cos_f64(angle));
}

NNC_INLINE float nnc_random_normal_f32(uint64_t key, uint64_t step, uint32_t stream,
                                       uint64_t element) {
  return (float)nnc_random_normal_f64(key, step, stream, element);
}

#endif
