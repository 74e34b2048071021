/* Interned strings: a hash table with open addressing over texts in an arena that lives as long as
 * the run.
 *
 * The one piece of global state of the compiler: names must be equal across files and folders. */
#include "support/names.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/arena.h"

typedef struct Entry {
  const char *text; /* NULL: free */
  size_t length;
  uint64_t hash;
} Entry;

static struct {
  Arena *texts;
  Arena *tables; /* the current table; the one it grew out of is freed */
  Entry *entries;
  size_t capacity; /* a power of two */
  size_t count;
} names;

/* Eight bytes at a time: a program of many layers asks for its paths a hundred thousand times. */
static uint64_t hash_name(const char *bytes, size_t count) {
  const uint64_t prime = 0x9e3779b97f4a7c15u;
  uint64_t hash = count * prime;
  while (count > 0) {
    size_t size = count < sizeof hash ? count : sizeof hash;
    uint64_t piece = 0;
    memcpy(&piece, bytes, size);
    hash = (hash ^ piece) * prime;
    hash ^= hash >> 32;
    bytes += size;
    count -= size;
  }
  return hash;
}

/* The entry that holds the text, or the free one where it belongs. */
static Entry *find_slot(Entry *entries, size_t capacity, const char *bytes, size_t count,
                        uint64_t hash) {
  size_t mask = capacity - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    Entry *entry = &entries[i];
    if (!entry->text) return entry;
    if (entry->hash == hash && entry->length == count && !memcmp(entry->text, bytes, count))
      return entry;
  }
}

static void grow_table(void) {
  if (!names.texts) names.texts = arena_create();
  Arena *arena = arena_create();
  size_t capacity = names.capacity ? names.capacity * 2 : 1024;
  Entry *entries = ARENA_ARRAY(arena, Entry, capacity);
  for (size_t i = 0; i < names.capacity; i++) {
    Entry *old = &names.entries[i];
    if (old->text) *find_slot(entries, capacity, old->text, old->length, old->hash) = *old;
  }
  arena_destroy(names.tables);
  names.tables = arena;
  names.entries = entries;
  names.capacity = capacity;
}

const char *name_intern_bytes(const char *bytes, size_t count) {
  if (names.count * 2 >= names.capacity) grow_table();
  uint64_t hash = hash_name(bytes, count);
  Entry *entry = find_slot(names.entries, names.capacity, bytes, count, hash);
  if (!entry->text) {
    *entry = (Entry){arena_strndup(names.texts, bytes, count), count, hash};
    names.count++;
  }
  return entry->text;
}

const char *name_intern(const char *text) { return name_intern_bytes(text, strlen(text)); }

const char *name_printf(const char *format, ...) {
  char text[256]; /* mostly enough: no arena for it */
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (length >= 0 && (size_t)length < sizeof text) return name_intern_bytes(text, (size_t)length);
  va_start(arguments, format);
  Arena *scratch = arena_create();
  const char *name = name_intern(arena_vprintf(scratch, format, arguments));
  va_end(arguments);
  arena_destroy(scratch);
  return name;
}

const char *name_join(const char *parent, const char *element) {
  char text[256]; /* mostly enough; formats take three times as long */
  size_t before = strlen(parent), after = strlen(element);
  if (before + 1 + after > sizeof text) return name_printf("%s.%s", parent, element);
  memcpy(text, parent, before);
  text[before] = '.';
  memcpy(text + before + 1, element, after);
  return name_intern_bytes(text, before + 1 + after);
}

static int min3(int a, int b, int c) {
  int least = a < b ? a : b;
  return least < c ? least : c;
}

/* Insertions, deletions, replacements and swaps of neighbours (optimal string alignment). */
int name_distance(const char *a, const char *b) {
  int rows = (int)strlen(a), columns = (int)strlen(b);
  Arena *scratch = arena_create();
  int *before = ARENA_ARRAY(scratch, int, columns + 1);
  int *last = ARENA_ARRAY(scratch, int, columns + 1);
  int *row = ARENA_ARRAY(scratch, int, columns + 1);
  for (int j = 0; j <= columns; j++) row[j] = j;
  for (int i = 1; i <= rows; i++) {
    int *free_row = before;
    before = last, last = row, row = free_row;
    row[0] = i;
    for (int j = 1; j <= columns; j++) {
      int replace = last[j - 1] + (a[i - 1] != b[j - 1]);
      row[j] = min3(last[j] + 1, row[j - 1] + 1, replace);
      int swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped && before[j - 2] + 1 < row[j]) row[j] = before[j - 2] + 1;
    }
  }
  int distance = row[columns];
  arena_destroy(scratch);
  return distance;
}

/* The shortest candidate that the whole name begins, for names that are long enough to mean something. */
static const char *find_begun(const char *name, const char *const *candidates, int count) {
  const char *begun = NULL;
  size_t length = strlen(name);
  for (int i = 0; i < count && length >= 4; i++)
    if (strncmp(candidates[i], name, length) == 0 &&
        (!begun || strlen(candidates[i]) < strlen(begun)))
      begun = candidates[i];
  return begun;
}

const char *name_nearest(const char *name, const char *const *candidates, int count) {
  const char *begun = find_begun(name, candidates, count);
  int length = (int)strlen(name);
  int allowed = length / 3 > 1 && !begun ? length / 3 : 1;
  const char *nearest = NULL;
  for (int i = 0; i < count; i++) {
    int other = (int)strlen(candidates[i]);
    if (abs(other - length) > allowed) continue;
    int distance = name_distance(name, candidates[i]);
    /* A name of one or two letters has nothing in common with one that replaces a letter. */
    if (distance > allowed || distance >= length || distance >= other) continue;
    allowed = distance - 1; /* the first of equally near ones wins */
    nearest = candidates[i];
    if (distance == 0) break;
  }
  return nearest ? nearest : begun;
}
