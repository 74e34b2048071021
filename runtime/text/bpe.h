/* Vocabularies of other programs: byte-level byte pair encoding (BPE), as GPT-2 has it.
 *
 * A text is cut into pieces by a pattern; the bytes of a piece are its first tokens; of two neighbours that have a
 * merge, those of the earliest one become one token, until none has.
 *
 * Files, fitted values and messages write tokens in letters: a character for each byte, so that a blank is a
 * visible one (Ġ). */
#ifndef NNC_TEXT_BPE_H
#define NNC_TEXT_BPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/bpe_rules.h"

typedef struct nnc_bpe nnc_bpe;

/* Ids of tokens, malloc'ed. */
typedef struct nnc_bpe_ids {
  int32_t *ids;
  int64_t count, capacity;
} nnc_bpe_ids;

/* What encodes by the rules, which it takes over, also when this fails. NULL after a message. */
nnc_bpe *nnc_bpe_make(nnc_bpe_rules *rules, char message[NNC_MESSAGE]);
void nnc_bpe_free(nnc_bpe *bpe);
const nnc_bpe_rules *nnc_bpe_rules_of(const nnc_bpe *bpe);

/* Adds the ids of a text, of any bytes. False after a message. */
bool nnc_bpe_encode(nnc_bpe *bpe, const char *text, int64_t size, nnc_bpe_ids *ids,
                    char message[NNC_MESSAGE]);
/* The bytes of a token, and how many; NULL, and 0: there is none. */
const char *nnc_bpe_bytes(const nnc_bpe *bpe, int64_t id, size_t *length);

#endif
