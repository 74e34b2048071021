/* The cache of the process: a table of items in memory, their bytes in memory or in a file.
 *
 * The file is a list of records, each an item and its bytes, to which one process at a time adds; others may read what is
 * there. A record that is not whole, as a kill leaves it, ends the list, and what follows is written over it. Bytes are
 * held against their digest each time they are read. */
#include "data/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/call.h"
#include "data/decimal.h"
#include "os/buffer.h"
#include "os/lock.h"

enum { FIRST_ITEMS = NNC_BUFFER(1024, 2) };

/* The beginning of a cache's file. Another version is of what decodes, scales or notes otherwise. */
static const char title[32] = "nnc cache, version 3\n";

typedef struct Record {
  DataCacheItem item;
  uint64_t self; /* of the item; its bytes follow */
} Record;

static struct {
  bool is_open, keeps_files, adds;
  int64_t limit, used; /* used: with what is claimed */
  char *name;          /* of the file; NULL: items are in memory */
  int descriptor;
  int64_t end;             /* of its list */
  int64_t count, capacity; /* the second a power of two, more than the first */
  DataCacheItem *items;    /* in the place of their key, or the next free one; size -1: free */
  pthread_mutex_t mutex;   /* of all that changes */
} cache = {.descriptor = -1, .mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- the table; with the mutex held ---- */

static DataCacheItem *place_of(const DataDigest *key) {
  int64_t mask = cache.capacity - 1, at = (int64_t)(key->parts[0] & (uint64_t)mask);
  while (cache.items[at].size >= 0 && !data_digest_equal(&cache.items[at].key, key))
    at = (at + 1) & mask;
  return &cache.items[at];
}

static bool grow(void) {
  if (2 * cache.count < cache.capacity) return true;
  int64_t old = cache.capacity, capacity = old ? 2 * old : FIRST_ITEMS;
  DataCacheItem *before = cache.items, *items = malloc((size_t)capacity * sizeof *items);
  if (!items) return false;
  for (int64_t i = 0; i < capacity; i++) items[i].size = -1;
  cache.items = items;
  cache.capacity = capacity;
  for (int64_t i = 0; i < old; i++)
    if (before[i].size >= 0) *place_of(&before[i].key) = before[i];
  free(before);
  return true;
}

/* Bytes of an item that another replaces stay: somebody may be reading them. */
static bool put(const DataCacheItem *item) {
  if (!grow()) return false;
  DataCacheItem *place = place_of(&item->key);
  cache.count += place->size < 0;
  *place = *item;
  return true;
}

/* ---- the file ---- */

static bool read_at(void *bytes, int64_t size, int64_t at) {
  for (int64_t done = 0; done < size;) {
    ssize_t got = pread(cache.descriptor, (char *)bytes + done, (size_t)(size - done), at + done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += got;
  }
  return true;
}

static bool write_at(const void *bytes, int64_t size, int64_t at) {
  for (int64_t done = 0; done < size;) {
    ssize_t put =
        pwrite(cache.descriptor, (const char *)bytes + done, (size_t)(size - done), at + done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    done += put;
  }
  return true;
}

static uint64_t record_digest(const Record *record) {
  return data_digest(record, offsetof(Record, self), 0).parts[0];
}

/* Notes the items up to the end of the list. */
static bool read_records(int64_t end) {
  Record record;
  cache.end = sizeof title;
  while (cache.end + (int64_t)sizeof record <= end && read_at(&record, sizeof record, cache.end)) {
    int64_t at = cache.end + (int64_t)sizeof record;
    bool is_whole = record.self == record_digest(&record) && record.item.size >= 0 &&
                    record.item.size <= end - at && record.item.at == at;
    if (!is_whole) break;
    if (!put(&record.item)) return false;
    cache.end = at + record.item.size;
  }
  cache.used = cache.end;
  return true;
}

static int open_file(const DataContext *context, const char *name) {
  struct stat status;
  cache.name = strdup(name);
  cache.descriptor = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (!cache.name || cache.descriptor < 0 || fstat(cache.descriptor, &status) < 0)
    return data_fail(context, "--cache: cannot open %s: %s", name, strerror(errno));
  if (!S_ISREG(status.st_mode)) return data_fail(context, "--cache: %s is no file", name);
  cache.adds = nnc_lock_try(cache.descriptor);
  if (fstat(cache.descriptor, &status) < 0)
    return data_fail(context, "--cache: cannot read %s: %s", name, strerror(errno));
  char start[sizeof title] = "";
  int64_t known = status.st_size < (int64_t)sizeof start ? status.st_size : (int64_t)sizeof start;
  bool is_ours = read_at(start, known, 0) && memcmp(start, title, (size_t)known) == 0;
  if (!is_ours)
    return data_fail(context,
                     "--cache: %s is no cache of this version of nnc; name another file, or delete "
                     "it",
                     name);
  if (known < (int64_t)sizeof title && cache.adds && !write_at(title, sizeof title, 0))
    return data_fail(context, "--cache: cannot write %s: %s", name, strerror(errno));
  return read_records(status.st_size) ? 0 : data_fail_memory(context, name, 1 << 20);
}

/* ---- --cache ---- */

/* "64M", "1.5G": powers of 1024; -1: it is no size. */
static int64_t read_size(const char *text, size_t length) {
  static const char units[] = "KMGT";
  double number;
  const char *unit = length > 1 ? strchr(units, text[length - 1] & ~0x20) : NULL;
  bool is_number = data_parse_number(text, (int64_t)length - (unit != NULL), &number);
  for (int i = 0; unit && i <= unit - units; i++) number *= 1024;
  return is_number && number >= 1 && number < 0x1p60 ? (int64_t)number : -1;
}

int data_cache_open(const char *text, char message[NNC_MESSAGE]) {
  DataContext context = {.message = message};
  if (cache.is_open) return 0;
  size_t length = strcspn(text, ",");
  const char *file = NULL;
  cache.limit = read_size(text, length);
  if (cache.limit < 0)
    return data_fail(&context, "--cache wants a size first, such as 512M or 1.5G, not '%.*s'",
                     (int)length, text);
  for (const char *at = text + length; *at; at += length) {
    at++;
    if (strncmp(at, "in=", 3) == 0 && at[3]) { /* names of files may have commas */
      file = at + 3;
      break;
    }
    length = strcspn(at, ",");
    bool is_word = length == strlen("encoded") && strncmp(at, "encoded", length) == 0;
    if (!is_word)
      return data_fail(&context,
                       "--cache: '%.*s' is neither 'encoded' nor 'in=FILE', which may follow the "
                       "size, as in 4G,encoded,in=cats.cache",
                       (int)length, at);
    cache.keeps_files = true;
  }
  cache.adds = true;
  if (file && open_file(&context, file) < 0) return -1;
  cache.is_open = true;
  return 0;
}

bool data_cache_is_open(void) { return cache.is_open; }

bool data_cache_keeps_files(void) { return cache.keeps_files; }

/* ---- items ---- */

bool data_cache_find(const DataDigest *key, DataCacheItem *item) {
  pthread_mutex_lock(&cache.mutex);
  *item = cache.count > 0 ? *place_of(key) : (DataCacheItem){.size = -1};
  pthread_mutex_unlock(&cache.mutex);
  return item->size >= 0;
}

const unsigned char *data_cache_bytes(const DataCacheItem *item, DataScratch *scratch) {
  if (!cache.name) return item->bytes;
  unsigned char *bytes = data_scratch_take(scratch, DATA_BUFFER_CACHED, (size_t)item->size + 1);
  if (!bytes || !read_at(bytes, item->size, item->at)) return NULL;
  DataDigest digest = data_digest(bytes, (size_t)item->size, 0);
  return data_digest_equal(&digest, &item->stored) ? bytes : NULL;
}

void data_cache_confirm(const DataDigest *key, uint64_t identity) {
  pthread_mutex_lock(&cache.mutex);
  place_of(key)->identity = identity;
  pthread_mutex_unlock(&cache.mutex);
}

static int64_t with_record(int64_t size) { return size + (int64_t)sizeof(Record); }

unsigned char *data_cache_claim(int64_t size, DataScratch *scratch) {
  pthread_mutex_lock(&cache.mutex);
  bool has_room = cache.adds && with_record(size) <= cache.limit - cache.used;
  if (has_room) cache.used += with_record(size);
  pthread_mutex_unlock(&cache.mutex);
  if (!has_room) return NULL;
  unsigned char *bytes = cache.name
                             ? data_scratch_take(scratch, DATA_BUFFER_CACHED, (size_t)size + 1)
                             : malloc((size_t)size + 1);
  if (!bytes) data_cache_give_back(size, NULL);
  return bytes;
}

void data_cache_give_back(int64_t size, unsigned char *bytes) {
  if (!cache.name) free(bytes);
  pthread_mutex_lock(&cache.mutex);
  cache.used -= with_record(size);
  pthread_mutex_unlock(&cache.mutex);
}

/* Room is claimed in any order; records follow each other as they are added. */
static bool add_record(DataCacheItem *item, const unsigned char *bytes) {
  item->stored = data_digest(bytes, (size_t)item->size, 0);
  item->at = cache.end + (int64_t)sizeof(Record);
  Record record = {.item = *item};
  record.self = record_digest(&record);
  bool is_written =
      write_at(bytes, item->size, item->at) && write_at(&record, sizeof record, cache.end);
  if (is_written) cache.end = item->at + item->size;
  else
    nnc_warning("--cache: cannot write %s: %s; nothing more is kept", cache.name, strerror(errno));
  return cache.adds = is_written;
}

void data_cache_add(DataCacheItem *item, unsigned char *bytes) {
  pthread_mutex_lock(&cache.mutex);
  if (!cache.name) item->bytes = bytes;
  bool is_kept = !cache.name || (cache.adds && add_record(item, bytes));
  if (is_kept) (void)put(item); /* without memory for it the bytes can be read once all the same */
  pthread_mutex_unlock(&cache.mutex);
}
