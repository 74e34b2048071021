/* Encodes by a vocabulary of bytes: bpe.h.
 *
 * Merges of a piece come from a heap of its neighbours, by rank and place, so a piece of n bytes takes n log n. Pieces
 * that were met before are looked up. */
#include "text/bpe.h"

#include <stdlib.h>
#include <string.h>

#include "os/assert.h"
#include "text/bpe_cut.h"
#include "text/bpe_merge.h"
#include "text/bpe_pieces.h"

struct nnc_bpe {
  nnc_bpe_rules rules;
  char *bytes;    /* of all tokens, one after the other */
  int64_t *start; /* by id: where its bytes begin; start[count] is the end of all */
  BpeMerges merges;
  int32_t byte_ids[256]; /* -1: no token is the byte alone */
  bool begins[256];      /* whether a special token begins with the byte */
  BpePieces pieces;      /* those that were met */
};

/* ---- making ---- */

static bool put_tokens(nnc_bpe *bpe, char message[NNC_MESSAGE]) {
  const nnc_bpe_rules *rules = &bpe->rules;
  size_t room = 1;
  for (int32_t i = 0; i < rules->count; i++)
    room += rules->tokens[i] ? strlen(rules->tokens[i]) : 0;
  bpe->bytes = malloc(room);
  bpe->start = malloc(((size_t)rules->count + 1) * sizeof *bpe->start);
  if (!bpe->bytes || !bpe->start) return nnc_bpe_fail(message, "no memory for %zu bytes", room);
  for (int b = 0; b < 256; b++) bpe->byte_ids[b] = -1;
  int64_t at = 0;
  for (int32_t i = 0; i < rules->count; i++) {
    bpe->start[i] = at;
    if (rules->tokens[i]) at += nnc_bpe_read_letters(rules->tokens[i], bpe->bytes + at);
    if (at == bpe->start[i] + 1) bpe->byte_ids[(unsigned char)bpe->bytes[at - 1]] = i;
  }
  bpe->start[rules->count] = at;
  for (int i = 0; i < rules->special_count; i++)
    bpe->begins[(unsigned char)bpe->bytes[bpe->start[rules->specials[i]]]] = true;
  return true;
}

/* The token that two become. */
static int32_t joined(const nnc_bpe *bpe, const int32_t pair[2], char message[NNC_MESSAGE]) {
  const char *left = bpe->rules.tokens[pair[0]], *right = bpe->rules.tokens[pair[1]];
  size_t length = strlen(left), more = strlen(right);
  char *letters = malloc(length + more + 1);
  if (!letters) {
    nnc_bpe_fail(message, "no memory for a token of %zu bytes", length + more);
    return -1;
  }
  memcpy(letters, left, length);
  memcpy(letters + length, right, more);
  int32_t id = nnc_bpe_find(&bpe->rules, letters, length + more);
  free(letters);
  if (id < 0)
    nnc_bpe_fail(message, "the merge '%.40s %.40s' makes '%.40s%.40s', which is no token", left,
                 right, left, right);
  return id;
}

static bool put_merges(nnc_bpe *bpe, char message[NNC_MESSAGE]) {
  const nnc_bpe_rules *rules = &bpe->rules;
  if (!bpe_merges_allocate(&bpe->merges, rules->merge_count))
    return nnc_bpe_fail(message, "no memory for %d merges", rules->merge_count);
  for (int32_t i = 0; i < rules->merge_count; i++) {
    int32_t id = joined(bpe, rules->merges[i], message);
    if (id < 0) return false;
    if (!bpe_merges_add(&bpe->merges, rules->merges[i], i, id))
      return nnc_bpe_fail(message, "the merge '%.40s %.40s' is there twice",
                          rules->tokens[rules->merges[i][0]], rules->tokens[rules->merges[i][1]]);
  }
  return true;
}

/* Ids that no reader has looked at may come from a damaged checkpoint. */
static bool check_ids(const nnc_bpe_rules *rules, char message[NNC_MESSAGE]) {
  for (int32_t i = 0; i < rules->merge_count; i++)
    for (int side = 0; side < 2; side++) {
      int32_t id = rules->merges[i][side];
      if (id < 0 || id >= rules->count || !rules->tokens[id])
        return nnc_bpe_fail(message, "merge %d names token %d, which is not there", i + 1, id);
    }
  for (int32_t i = 0; i < rules->special_count; i++) {
    int32_t id = rules->specials[i];
    if (id < 0 || id >= rules->count || !rules->tokens[id])
      return nnc_bpe_fail(message, "token %d is special, and not there", id);
  }
  return true;
}

nnc_bpe *nnc_bpe_make(nnc_bpe_rules *rules, char message[NNC_MESSAGE]) {
  nnc_bpe *bpe = calloc(1, sizeof *bpe);
  if (!bpe) {
    nnc_bpe_rules_free(rules);
    nnc_bpe_fail(message, "no memory for a vocabulary");
    return NULL;
  }
  bpe->rules = *rules;
  *rules = (nnc_bpe_rules){0};
  if (check_ids(&bpe->rules, message) && put_tokens(bpe, message) && put_merges(bpe, message))
    return bpe;
  nnc_bpe_free(bpe);
  return NULL;
}

void nnc_bpe_free(nnc_bpe *bpe) {
  if (!bpe) return;
  nnc_bpe_rules_free(&bpe->rules);
  free(bpe->bytes);
  free(bpe->start);
  bpe_merges_free(&bpe->merges);
  bpe_pieces_free(&bpe->pieces);
  free(bpe);
}

const nnc_bpe_rules *nnc_bpe_rules_of(const nnc_bpe *bpe) { return &bpe->rules; }

const char *nnc_bpe_bytes(const nnc_bpe *bpe, int64_t id, size_t *length) {
  *length = 0;
  if (id < 0 || id >= bpe->rules.count || !bpe->rules.tokens[id]) return NULL;
  *length = (size_t)(bpe->start[id + 1] - bpe->start[id]);
  return bpe->bytes + bpe->start[id];
}

/* ---- encoding ---- */

static bool add_ids(nnc_bpe_ids *ids, const int32_t *more, int64_t count,
                    char message[NNC_MESSAGE]) {
  if (ids->capacity - ids->count < count) {
    int64_t capacity = ids->capacity * 2 + count + 256;
    int32_t *longer = realloc(ids->ids, (size_t)capacity * sizeof *longer);
    if (!longer) return nnc_bpe_fail(message, "no memory for %lld tokens", (long long)capacity);
    ids->ids = longer;
    ids->capacity = capacity;
  }
  memcpy(ids->ids + ids->count, more, (size_t)count * sizeof *more);
  ids->count += count;
  return true;
}

/* The token that a piece is; -1: it is none. */
static int32_t whole(const nnc_bpe *bpe, const char *piece, size_t length) {
  char *letters = nnc_bpe_letters(piece, length);
  int32_t id = letters ? nnc_bpe_find(&bpe->rules, letters, strlen(letters)) : -1;
  free(letters);
  return id;
}

/* The tokens of a new piece, at the end of those that are there. */
static bool split_piece(nnc_bpe *bpe, const char *piece, size_t length, nnc_bpe_ids *ids,
                        char message[NNC_MESSAGE]) {
  int32_t id = bpe->rules.takes_whole ? whole(bpe, piece, length) : -1;
  if (id >= 0) return add_ids(ids, &id, 1, message);
  if (length > BPE_MOST_PIECE)
    return nnc_bpe_fail(message, "%zu bytes without a place to cut them", length);
  int64_t first = ids->count;
  for (size_t i = 0; i < length; i++) {
    id = bpe->byte_ids[(unsigned char)piece[i]];
    if (id < 0)
      return nnc_bpe_fail(message, "no token of the vocabulary stands for byte 0x%02x",
                          (unsigned char)piece[i]);
    if (!add_ids(ids, &id, 1, message)) return false;
  }
  int64_t count = bpe_merge(&bpe->merges, ids->ids + first, ids->count - first);
  if (count < 0) return nnc_bpe_fail(message, "no memory for a piece of %zu bytes", length);
  ids->count = first + count;
  return true;
}

static bool encode_piece(nnc_bpe *bpe, const char *piece, size_t length, nnc_bpe_ids *ids,
                         char message[NNC_MESSAGE]) {
  int64_t count;
  const int32_t *known = bpe_pieces_find(&bpe->pieces, piece, length, &count);
  if (known) return add_ids(ids, known, count, message);
  int64_t first = ids->count;
  if (!split_piece(bpe, piece, length, ids, message)) return false;
  bpe_pieces_add(&bpe->pieces, piece, length, ids->ids + first, ids->count - first);
  return true;
}

/* A text without special tokens. */
static bool encode_section(nnc_bpe *bpe, const char *at, const char *end, nnc_bpe_ids *ids,
                           char message[NNC_MESSAGE]) {
  char *copy = NULL;
  if (bpe->rules.adds_blank && at < end && *at != ' ') {
    size_t size = (size_t)(end - at);
    copy = malloc(size + 1);
    if (!copy) return nnc_bpe_fail(message, "no memory for %zu bytes of text", size);
    *copy = ' ';
    memcpy(copy + 1, at, size);
    at = copy;
    end = copy + size + 1;
  }
  bool good = true;
  while (good && at < end) {
    const char *to = nnc_bpe_cut(bpe->rules.pattern, at, end);
    NNC_ASSERT(to > at && to <= end);
    good = encode_piece(bpe, at, (size_t)(to - at), ids, message);
    at = to;
  }
  free(copy);
  return good;
}

/* The longest special token at a place; -1: there is none. */
static int32_t special_at(const nnc_bpe *bpe, const char *at, const char *end) {
  int32_t found = -1;
  size_t longest = 0, length;
  for (int32_t i = 0; i < bpe->rules.special_count; i++) {
    const char *token = nnc_bpe_bytes(bpe, bpe->rules.specials[i], &length);
    if (length <= longest || length > (size_t)(end - at) || memcmp(token, at, length) != 0)
      continue;
    found = bpe->rules.specials[i];
    longest = length;
  }
  return found;
}

bool nnc_bpe_encode(nnc_bpe *bpe, const char *text, int64_t size, nnc_bpe_ids *ids,
                    char message[NNC_MESSAGE]) {
  const char *end = text + size, *section = text;
  for (const char *at = text; at < end;) {
    int32_t special = bpe->begins[(unsigned char)*at] ? special_at(bpe, at, end) : -1;
    if (special < 0) {
      at++;
      continue;
    }
    size_t length;
    nnc_bpe_bytes(bpe, special, &length);
    if (!encode_section(bpe, section, at, ids, message) || !add_ids(ids, &special, 1, message))
      return false;
    section = at += length;
  }
  return encode_section(bpe, section, end, ids, message);
}
