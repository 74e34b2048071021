/* Pieces of text that were met, with their tokens; private to this folder. */
#ifndef NNC_TEXT_BPE_PIECES_H
#define NNC_TEXT_BPE_PIECES_H

#include <stddef.h>
#include <stdint.h>

typedef struct BpePiece {
  uint64_t hash;
  int64_t text, first; /* in `bytes` and `ids` */
  int32_t length;      /* 0: the slot is free */
  int32_t count;       /* of ids */
} BpePiece;

typedef struct BpePieces {
  BpePiece *slots;
  int64_t slot_count, count;
  char *bytes;
  int64_t byte_count, byte_capacity;
  int32_t *ids;
  int64_t id_count, id_capacity;
} BpePieces; /* all zero: none */

/* NULL: it was not met. What is found stands until another is added. */
const int32_t *bpe_pieces_find(const BpePieces *pieces, const char *text, size_t length,
                               int64_t *count);
/* Notes a piece that is not there, if it is short and there is room. */
void bpe_pieces_add(BpePieces *pieces, const char *text, size_t length, const int32_t *ids,
                    int64_t count);
void bpe_pieces_free(BpePieces *pieces);

#endif
