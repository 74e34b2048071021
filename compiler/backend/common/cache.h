/* What was compiled before, by content.
 *
 * A key is the SHA-256 of everything that decides a value; the value lies in one file of the
 * cache's folder, named by its key. A file begins with the value's length and the SHA-256 of key
 * and value: a damaged one is removed and counts as absent. A checksum is no signature: a folder or
 * a file that belongs to another user, or that others may write to, is not used. Files are written
 * under another name and renamed, so several nnc of a user may share a folder. The files used
 * longest ago go when the folder outgrows its bound. */
#ifndef NNC_BACKEND_COMMON_CACHE_H
#define NNC_BACKEND_COMMON_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include "support/arena.h"
#include "support/sha256.h"
#include "support/text.h"

typedef struct Cache Cache;

typedef struct CacheKey {
  char text[SHA256_HEX + 1];
} CacheKey;

/* `folder`: NULL for $XDG_CACHE_HOME/nnc or ~/.cache/nnc; it is made when it is not there.  NULL,
 * which is no cache, after a warning when nothing can be written there or others may write. */
Cache *cache_open(Arena *arena, const char *folder, int64_t most_bytes);

/* Ends the hash: its key. */
CacheKey cache_key(Sha256 *hash);

/* Both do nothing and are false without a cache. */
bool cache_get(Cache *cache, const CacheKey *key, Text *value);
/* A value that cannot be kept is a warning, once. */
bool cache_put(Cache *cache, const CacheKey *key, const char *bytes, size_t count);

/* Removes the files used longest ago until the rest is well within the bound, when something was
 * put. */
void cache_close(Cache *cache);

#endif
