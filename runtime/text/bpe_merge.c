/* Merges: bpe_merge.h. Tokens of a piece are a list; each pair of neighbours that has a merge is in a heap, and one
 * that is no more when it comes to the top is passed over. */
#include "text/bpe_merge.h"

#include <stdlib.h>
#include <string.h>

#include "os/assert.h"

/* ---- the table ---- */

static BpeMerge *find_slot(const BpeMerges *merges, uint64_t pair) {
  uint64_t hash = pair * 0x9E3779B97F4A7C15u;
  for (uint64_t i = hash >> 32 & merges->mask;; i = (i + 1) & merges->mask)
    if (merges->slots[i].rank == 0 || merges->slots[i].pair == pair) return &merges->slots[i];
}

bool bpe_merges_allocate(BpeMerges *merges, int32_t count) {
  uint64_t slots = 16;
  while (slots < (uint64_t)count * 2) slots *= 2;
  merges->slots = calloc(slots, sizeof *merges->slots);
  merges->mask = slots - 1;
  return merges->slots != NULL;
}

static uint64_t pair_of(int32_t left, int32_t right) {
  return (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
}

bool bpe_merges_add(BpeMerges *merges, const int32_t pair[2], int32_t rank, int32_t token) {
  uint64_t key = pair_of(pair[0], pair[1]);
  BpeMerge *slot = find_slot(merges, key);
  if (slot->rank > 0) return false;
  *slot = (BpeMerge){key, rank + 1, token};
  return true;
}

void bpe_merges_free(BpeMerges *merges) { free(merges->slots); }

/* ---- a piece ---- */

typedef struct Candidate {
  int32_t rank, place; /* of the left token */
} Candidate;

typedef struct Piece {
  const BpeMerges *merges;
  int32_t *ids;             /* by place; -1: it is part of the one before */
  int32_t *next, *previous; /* places; -1: none */
  Candidate *heap;
  int64_t heap_count;
} Piece;

static bool is_before(Candidate a, Candidate b) {
  return a.rank != b.rank ? a.rank < b.rank : a.place < b.place;
}

static void push(Piece *piece, Candidate candidate) {
  int64_t at = piece->heap_count++;
  for (int64_t parent; at > 0; at = parent) {
    parent = (at - 1) / 2;
    if (!is_before(candidate, piece->heap[parent])) break;
    piece->heap[at] = piece->heap[parent];
  }
  piece->heap[at] = candidate;
}

static Candidate pop(Piece *piece) {
  Candidate top = piece->heap[0], last = piece->heap[--piece->heap_count];
  int64_t at = 0;
  for (int64_t child; (child = 2 * at + 1) < piece->heap_count; at = child) {
    if (child + 1 < piece->heap_count && is_before(piece->heap[child + 1], piece->heap[child]))
      child++;
    if (!is_before(piece->heap[child], last)) break;
    piece->heap[at] = piece->heap[child];
  }
  piece->heap[at] = last;
  return top;
}

/* The merge of the token at a place with the one after it; its rank is 0 where there is none. */
static const BpeMerge *merge_at(const Piece *piece, int32_t place) {
  int32_t next = piece->next[place];
  return find_slot(piece->merges, pair_of(piece->ids[place], piece->ids[next]));
}

static void offer(Piece *piece, int32_t place) {
  if (place < 0 || piece->next[place] < 0) return;
  const BpeMerge *merge = merge_at(piece, place);
  if (merge->rank > 0) push(piece, (Candidate){merge->rank, place});
}

static void merge_all(Piece *piece) {
  while (piece->heap_count > 0) {
    Candidate best = pop(piece);
    int32_t place = best.place;
    if (piece->ids[place] < 0 || piece->next[place] < 0) continue;
    const BpeMerge *merge = merge_at(piece, place);
    if (merge->rank != best.rank) continue;
    int32_t gone = piece->next[place], after = piece->next[gone];
    piece->ids[place] = merge->token;
    piece->ids[gone] = -1;
    piece->next[place] = after;
    if (after >= 0) piece->previous[after] = place;
    offer(piece, piece->previous[place]);
    offer(piece, place);
  }
}

int64_t bpe_merge(const BpeMerges *merges, int32_t *ids, int64_t count) {
  NNC_ASSERT(count <= BPE_MOST_PIECE);
  enum { SHORT = 64 };
  int32_t links[2 * SHORT];
  Candidate candidates[3 * SHORT];
  /* A merge takes a token away and offers two candidates. */
  int32_t *more = count > SHORT ? malloc((size_t)count * 2 * sizeof *more) : links;
  Candidate *heap = count > SHORT ? malloc((size_t)count * 3 * sizeof *heap) : candidates;
  Piece piece = {.merges = merges, .ids = ids, .next = more, .heap = heap};
  int64_t kept = more && heap ? 0 : -1;
  if (kept == 0) {
    piece.previous = more + count;
    for (int32_t i = 0; i < count; i++) {
      piece.next[i] = i + 1 < count ? i + 1 : -1;
      piece.previous[i] = i - 1;
    }
    for (int32_t i = 0; i < count; i++) offer(&piece, i);
    merge_all(&piece);
    for (int64_t i = 0; i < count; i++)
      if (ids[i] >= 0) ids[kept++] = ids[i];
  }
  if (count > SHORT) {
    free(more);
    free(heap);
  }
  return kept;
}
