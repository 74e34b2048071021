/* Pieces that were met: open addressing. Without memory for more, those that are there remain all. */
#include "text/bpe_pieces.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "os/buffer.h"

enum { LONGEST = 64, MOST = NNC_BUFFER(1 << 20, 8), FIRST_SLOTS = NNC_BUFFER(1 << 12, 4) };

static uint64_t hash_of(const char *text, size_t length) {
  uint64_t hash = length * 0x9E3779B97F4A7C15u;
  for (; length >= 8; text += 8, length -= 8) {
    uint64_t word;
    memcpy(&word, text, 8);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  uint64_t rest = 0;
  memcpy(&rest, text, length);
  hash = (hash ^ rest) * 0xBF58476D1CE4E5B9u;
  return hash ^ hash >> 32;
}

static BpePiece *find_slot(const BpePieces *pieces, uint64_t hash, const char *text,
                           size_t length) {
  int64_t mask = pieces->slot_count - 1;
  for (int64_t i = (int64_t)(hash & (uint64_t)mask);; i = (i + 1) & mask) {
    BpePiece *slot = &pieces->slots[i];
    if (slot->length == 0) return slot;
    if (slot->hash == hash && (size_t)slot->length == length &&
        memcmp(pieces->bytes + slot->text, text, length) == 0)
      return slot;
  }
}

const int32_t *bpe_pieces_find(const BpePieces *pieces, const char *text, size_t length,
                               int64_t *count) {
  if (length > LONGEST || pieces->count == 0) return NULL;
  const BpePiece *slot = find_slot(pieces, hash_of(text, length), text, length);
  *count = slot->count;
  return slot->length > 0 ? pieces->ids + slot->first : NULL;
}

static bool grow_slots(BpePieces *pieces) {
  int64_t before = pieces->slot_count, after = before ? before * 2 : FIRST_SLOTS;
  if (pieces->count * 2 < before) return true;
  BpePiece *old = pieces->slots, *slots = calloc((size_t)after, sizeof *slots);
  if (!slots) return false;
  for (int64_t i = 0; i < before; i++) {
    if (old[i].length == 0) continue;
    int64_t at = (int64_t)(old[i].hash & (uint64_t)(after - 1));
    while (slots[at].length > 0) at = (at + 1) & (after - 1);
    slots[at] = old[i];
  }
  free(old);
  pieces->slots = slots;
  pieces->slot_count = after;
  return true;
}

/* Room for `more` items of `size` bytes after those that are there. */
static bool reserve(void **items, int64_t count, int64_t *capacity, int64_t more, size_t size) {
  if (*capacity - count >= more) return true;
  int64_t wanted = *capacity * 2 + more + 1024;
  void *longer = realloc(*items, (size_t)wanted * size);
  if (!longer) return false;
  *items = longer;
  *capacity = wanted;
  return true;
}

void bpe_pieces_add(BpePieces *pieces, const char *text, size_t length, const int32_t *ids,
                    int64_t count) {
  void *bytes = pieces->bytes, *known = pieces->ids;
  if (length > LONGEST || pieces->count >= MOST || !grow_slots(pieces)) return;
  bool fits = reserve(&bytes, pieces->byte_count, &pieces->byte_capacity, (int64_t)length, 1);
  pieces->bytes = bytes;
  fits = fits && reserve(&known, pieces->id_count, &pieces->id_capacity, count, sizeof *ids);
  pieces->ids = known;
  if (!fits) return;
  uint64_t hash = hash_of(text, length);
  *find_slot(pieces, hash, text, length) = (BpePiece){.hash = hash,
                                                      .text = pieces->byte_count,
                                                      .first = pieces->id_count,
                                                      .length = (int32_t)length,
                                                      .count = (int32_t)count};
  memcpy(pieces->bytes + pieces->byte_count, text, length);
  memcpy(pieces->ids + pieces->id_count, ids, (size_t)count * sizeof *ids);
  pieces->byte_count += (int64_t)length;
  pieces->id_count += count;
  pieces->count++;
}

void bpe_pieces_free(BpePieces *pieces) {
  free(pieces->slots);
  free(pieces->bytes);
  free(pieces->ids);
}
