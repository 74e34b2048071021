/* Merges of neighbouring tokens; private to this folder. */
#ifndef NNC_TEXT_BPE_MERGE_H
#define NNC_TEXT_BPE_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BPE_MOST_PIECE = 1 << 30 };

typedef struct BpeMerge {
  uint64_t pair;       /* left << 32 | right */
  int32_t rank, token; /* from 1 on; 0: the slot is free */
} BpeMerge;

/* Merges by their pairs: open addressing. */
typedef struct BpeMerges {
  BpeMerge *slots;
  uint64_t mask; /* slots - 1 */
} BpeMerges;

bool bpe_merges_allocate(BpeMerges *merges, int32_t count);
/* The merge of this rank, from 0; false: the pair has one. */
bool bpe_merges_add(BpeMerges *merges, const int32_t pair[2], int32_t rank, int32_t token);
void bpe_merges_free(BpeMerges *merges);

/* Merges the tokens of a piece in place, at most BPE_MOST_PIECE; how many remain, -1: no memory. */
int64_t bpe_merge(const BpeMerges *merges, int32_t *ids, int64_t count);

#endif
