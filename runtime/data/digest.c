/* Four sums side by side, each of every fourth word; a step of a sum is one to one in its word and in the sum, so
 * that contents of one length that differ in one word never agree. */
#include "data/digest.h"

#include <string.h>

enum { SUMS = 4, WORD = sizeof(uint64_t) };

static uint64_t step(uint64_t sum, uint64_t word) {
  sum = (sum ^ word) * 0x9fb21c651e98df25u;
  return sum ^ sum >> 32;
}

DataDigest data_digest(const void *bytes, size_t size, uint64_t seed) {
  const unsigned char *at = bytes;
  uint64_t sums[SUMS] = {0x243f6a8885a308d3u, 0x13198a2e03707344u, 0xa4093822299f31d0u,
                         0x082efa98ec4e6c89u};
  for (int i = 0; i < SUMS; i++) sums[i] = step(sums[i], seed);
  size_t left = size;
  for (; left >= SUMS * WORD; left -= SUMS * WORD, at += SUMS * WORD) {
    uint64_t words[SUMS];
    memcpy(words, at, sizeof words);
    for (int i = 0; i < SUMS; i++) sums[i] = step(sums[i], words[i]);
  }
  uint64_t rest[SUMS] = {0};
  if (left > 0) memcpy(rest, at, left);
  for (int i = 0; i < SUMS; i++) sums[i] = step(sums[i], rest[i]);
  DataDigest digest = {{size, ~(uint64_t)size}};
  for (int i = 0; i < SUMS; i++) {
    digest.parts[0] = step(digest.parts[0], sums[i]);
    digest.parts[1] = step(digest.parts[1], sums[SUMS - 1 - i]);
  }
  return digest;
}
