/* The distinct texts of a column, numbered in the order of their first appearance. */
#include "core/dictionary.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "os/assert.h"
#include "os/buffer.h"

enum { FIRST_WORDS = NNC_BUFFER(16, 1) };

static uint64_t hash(const char *word, int64_t length) {
  uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */
  for (int64_t i = 0; i < length; i++) h = (h ^ (unsigned char)word[i]) * 0x100000001b3u;
  return h ^ h >> 32;
}

static int32_t *find_slot(const nnc_dictionary *dictionary, const char *word, int64_t length) {
  uint64_t mask = (uint64_t)dictionary->slot_count - 1;
  NNC_ASSERT((dictionary->slot_count & (int32_t)mask) == 0); /* a power of two */
  NNC_ASSERT(dictionary->slot_count > 2 * dictionary->count);
  for (uint64_t i = hash(word, length) & mask;; i = (i + 1) & mask) {
    int32_t *slot = &dictionary->slots[i];
    if (*slot == 0) return slot;
    const char *known = dictionary->words[*slot - 1];
    if (strlen(known) == (size_t)length && memcmp(known, word, (size_t)length) == 0) return slot;
  }
}

static bool grow(nnc_dictionary *dictionary) {
  if (dictionary->capacity >= 1 << 28) return false;
  int32_t capacity = dictionary->capacity ? dictionary->capacity * 2 : FIRST_WORDS;
  char **words = realloc(dictionary->words, (size_t)capacity * sizeof *words);
  if (!words) return false;
  dictionary->words = words;
  int64_t *lines = realloc(dictionary->lines, (size_t)capacity * sizeof *lines);
  if (!lines) return false;
  dictionary->lines = lines;
  int32_t *slots = calloc((size_t)capacity * 4, sizeof *slots);
  if (!slots) return false;
  free(dictionary->slots);
  dictionary->slots = slots;
  dictionary->slot_count = capacity * 4;
  dictionary->capacity = capacity;
  for (int32_t i = 0; i < dictionary->count; i++)
    *find_slot(dictionary, words[i], (int64_t)strlen(words[i])) = i + 1;
  return true;
}

int32_t nnc_dictionary_add(nnc_dictionary *dictionary, const char *word, int64_t length,
                           int64_t line) {
  NNC_ASSERT(!memchr(word, 0, (size_t)length));
  if (dictionary->count == dictionary->capacity && !grow(dictionary)) return -1;
  int32_t *slot = find_slot(dictionary, word, length);
  if (*slot) return *slot - 1;
  char *copy = strndup(word, (size_t)length);
  if (!copy) return -1;
  dictionary->words[dictionary->count] = copy;
  dictionary->lines[dictionary->count] = line;
  *slot = ++dictionary->count;
  return dictionary->count - 1;
}

int32_t nnc_dictionary_find(const nnc_dictionary *dictionary, const char *word, int64_t length) {
  return dictionary->count == 0 ? -1 : *find_slot(dictionary, word, length) - 1;
}

void nnc_dictionary_free(nnc_dictionary *dictionary) {
  for (int32_t i = 0; i < dictionary->count; i++) free(dictionary->words[i]);
  free(dictionary->words);
  free(dictionary->lines);
  free(dictionary->slots);
  *dictionary = (nnc_dictionary){0};
}
