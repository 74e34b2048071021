/* Tokens as text: what the data source of an input makes class numbers of. */
#ifndef NNC_VOCABULARY_H
#define NNC_VOCABULARY_H

#include "core/session.h"

enum nnc_unit_of_text {
  NNC_UNIT_CHARACTERS,
  NNC_UNIT_BYTES,
  NNC_UNIT_WORDS,
  NNC_UNIT_TOKENS, /* of a vocabulary that the source names */
  NNC_UNIT_NUMBERS /* of a tokenizer: tokens are written as their numbers */
};

typedef struct nnc_vocabulary {
  enum nnc_unit_of_text unit;
  int64_t count;                               /* 0: any number */
  char **words;                                /* by class; NULL: bytes, tokens or numbers */
  const struct nnc_tokenizer_class *tokenizer; /* of tokens; */
  struct nnc_bpe *bpe;                         /* the vocabulary's own */
} nnc_vocabulary;

enum { NNC_VOCABULARY_TEXT = 24 };

/* Of the field that feeds an input, as `data train` says it and the checkpoint has learnt it. False after a message. */
bool nnc_vocabulary_open(nnc_vocabulary *vocabulary, const nnc_session *session, const char *field);
void nnc_vocabulary_close(nnc_vocabulary *vocabulary);

/* The tokens of a text, with room for `more` after them; malloc'ed. NULL after a message: something is no token. */
int64_t *nnc_vocabulary_read(const nnc_vocabulary *vocabulary, const char *text, int64_t more,
                             int64_t *count);

/* Whether blanks stand between tokens. */
bool nnc_vocabulary_has_blanks(const nnc_vocabulary *vocabulary);

/* The text of a token, which may be in `buffer`. NULL: there is no such token. */
const char *nnc_vocabulary_text(const nnc_vocabulary *vocabulary, int64_t token,
                                char buffer[NNC_VOCABULARY_TEXT], size_t *length);

#endif
