/* FNV-1a, 64 bits: the hash of interned names, and the identity of random numbers by the text of their
 * key. */
#ifndef NNC_SUPPORT_HASH_H
#define NNC_SUPPORT_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t hash_bytes(const char *bytes, size_t count) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < count; i++) hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
  return hash;
}

static inline uint64_t hash_text(const char *text) { return hash_bytes(text, strlen(text)); }

#endif
