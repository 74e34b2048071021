/* The cache of compiled code: see cache.h. */
#include "backend/common/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "support/files.h"
#include "support/vec.h"

struct Cache {
  Arena *arena;
  const char *folder;
  int64_t most_bytes;
  bool is_changed, has_warned;
};

/* ---- the folder ---- */

static const char *default_folder(Arena *arena) {
  const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  if (base != NULL && base[0] == '/') return arena_printf(arena, "%s/nnc", base);
  return home != NULL && home[0] == '/' ? arena_printf(arena, "%s/.cache/nnc", home) : NULL;
}

/* Makes the folder, for its user alone, and those above it; false with errno. */
static bool make_folders(Arena *arena, const char *path) {
  if (mkdir(path, 0700) == 0 || errno == EEXIST) return true;
  const char *slash = strrchr(path, '/');
  if (errno != ENOENT || slash == NULL || slash == path) return false;
  if (!make_folders(arena, arena_strndup(arena, path, (size_t)(slash - path)))) return false;
  return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* What is in the cache becomes the program: nobody but its user may have put it there. */
static bool is_private(const struct stat *status) {
  return status->st_uid == geteuid() && (status->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Why the folder, which is made when it is not there, is not used; NULL: it is. */
static const char *find_objection(Arena *arena, const char *folder) {
  struct stat status;
  if (!make_folders(arena, folder) || stat(folder, &status) != 0) return strerror(errno);
  if (!S_ISDIR(status.st_mode)) return strerror(ENOTDIR);
  if (access(folder, R_OK | W_OK | X_OK) != 0) return strerror(errno);
  if (status.st_uid != geteuid()) return "it belongs to another user";
  return is_private(&status) ? NULL : "others may write there; chmod go-w would change that";
}

Cache *cache_open(Arena *arena, const char *folder, int64_t most_bytes) {
  if (folder == NULL) folder = default_folder(arena);
  if (folder == NULL) {
    fprintf(stderr, "nnc: warning: nothing is cached: there is no HOME (see --cache-dir)\n");
    return NULL;
  }
  const char *objection = find_objection(arena, folder);
  if (objection != NULL) {
    fprintf(stderr, "nnc: warning: nothing is cached in %s: %s\n", folder, objection);
    return NULL;
  }
  Cache *cache = ARENA_NEW(arena, Cache);
  *cache = (Cache){.arena = arena, .folder = folder, .most_bytes = most_bytes};
  return cache;
}

CacheKey cache_key(Sha256 *hash) {
  unsigned char digest[SHA256_BYTES];
  CacheKey key;
  sha256_end(hash, digest);
  sha256_hex(digest, key.text);
  return key;
}

/* ---- entries ---- */

/* What stands before a value. */
typedef struct Head {
  char magic[8];
  uint64_t length;
  unsigned char digest[SHA256_BYTES];
} Head;

static const char magic[8] = "nnc-2\n\n";
static const char suffix[] = ".nnc";

static const char *entry_path(const Cache *cache, const CacheKey *key) {
  return arena_printf(cache->arena, "%s/%s%s", cache->folder, key->text, suffix);
}

static Head make_head(const CacheKey *key, const char *bytes, size_t count) {
  Head head = {.length = count};
  Sha256 hash;
  memcpy(head.magic, magic, sizeof magic);
  sha256_begin(&hash);
  sha256_add_string(&hash, key->text);
  sha256_add(&hash, bytes, count);
  sha256_end(&hash, head.digest);
  return head;
}

static bool is_sound(const CacheKey *key, const Text *file) {
  if (file->length < sizeof(Head)) return false;
  Head head = make_head(key, file->data + sizeof head, file->length - sizeof head);
  return memcmp(&head, file->data, sizeof head) == 0;
}

bool cache_get(Cache *cache, const CacheKey *key, Text *value) {
  if (cache == NULL) return false;
  const char *path = entry_path(cache, key);
  struct stat status;
  Text file = {0};
  if (lstat(path, &status) != 0) return false;
  bool sound = S_ISREG(status.st_mode) && is_private(&status) && file_read(path, &file) &&
               is_sound(key, &file);
  if (!sound) unlink(path); /* damaged, or not ours: compiled again, then replaced */
  if (sound) {
    text_add_bytes(value, file.data + sizeof(Head), file.length - sizeof(Head));
    utimensat(AT_FDCWD, path, NULL, 0); /* used now; without that it only goes earlier */
  }
  text_free(&file);
  return sound;
}

bool cache_put(Cache *cache, const CacheKey *key, const char *bytes, size_t count) {
  if (cache == NULL) return false;
  Head head = make_head(key, bytes, count);
  Text file = {0};
  text_add_bytes(&file, (const char *)&head, sizeof head);
  text_add_bytes(&file, bytes, count);
  bool good = file_replace(cache->arena, entry_path(cache, key), 0644, file.data, file.length);
  if (!good && !cache->has_warned)
    fprintf(stderr, "nnc: warning: cannot write to the cache in %s: %s\n", cache->folder,
            strerror(errno));
  cache->has_warned |= !good;
  cache->is_changed |= good;
  text_free(&file);
  return good;
}

/* ---- the bound ---- */

typedef struct Entry {
  const char *name;
  int64_t bytes;
  struct timespec used;
} Entry;

typedef VEC(Entry) EntryList;

static int by_age(const void *a, const void *b) {
  const Entry *x = a, *y = b;
  if (x->used.tv_sec != y->used.tv_sec) return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
  if (x->used.tv_nsec != y->used.tv_nsec) return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
  return strcmp(x->name, y->name);
}

/* "<64 hexadecimal digits>.nnc", or such a name and what a writer that was killed left behind
 * it. */
static bool is_ours(const char *name) {
  return strspn(name, "0123456789abcdef") == SHA256_HEX &&
         strncmp(name + SHA256_HEX, suffix, sizeof suffix - 1) == 0;
}

/* All entries; those that vanish meanwhile were removed by another nnc. */
static EntryList list_entries(const Cache *cache, DIR *folder) {
  EntryList list = {0};
  for (struct dirent *item; (item = readdir(folder)) != NULL;) {
    struct stat status;
    if (!is_ours(item->d_name) || fstatat(dirfd(folder), item->d_name, &status, 0) != 0) continue;
    Entry entry = {arena_strdup(cache->arena, item->d_name), status.st_size, status.st_mtim};
    vec_push(cache->arena, &list, entry);
  }
  return list;
}

void cache_close(Cache *cache) {
  if (cache == NULL || !cache->is_changed) return;
  DIR *folder = opendir(cache->folder);
  if (folder == NULL) {
    fprintf(stderr, "nnc: warning: cannot list the cache in %s: %s\n", cache->folder,
            strerror(errno));
    return;
  }
  EntryList list = list_entries(cache, folder);
  int64_t total = 0;
  for (int i = 0; i < list.count; i++) total += list.items[i].bytes;
  if (total > cache->most_bytes) {
    int64_t wanted = cache->most_bytes / 10 * 9;
    qsort(list.items, (size_t)list.count, sizeof *list.items, by_age);
    for (int i = 0; i < list.count && total > wanted; i++) {
      unlinkat(dirfd(folder), list.items[i].name, 0); /* another nnc may have been first */
      total -= list.items[i].bytes;
    }
  }
  closedir(folder);
}
