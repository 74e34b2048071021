/* What a vocabulary is made of: tokens in letters, merges, and how a text is cut. */
#ifndef NNC_TEXT_BPE_RULES_H
#define NNC_TEXT_BPE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/dictionary.h"
#include "os/message.h"

/* Fills the message and is false. */
bool nnc_bpe_fail(char message[NNC_MESSAGE], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* How a text is cut: the pattern of GPT-2, and those of Llama 3 (digits by threes) and Qwen 2 (one by one). */
enum nnc_bpe_pattern { NNC_BPE_GPT2, NNC_BPE_LLAMA3, NNC_BPE_QWEN2, NNC_BPE_PATTERN_COUNT };

enum { NNC_BPE_MOST_IDS = 1 << 22 };

typedef struct nnc_bpe_rules {
  int32_t count;        /* of ids */
  char **tokens;        /* by id, in letters; NULL: no token has it */
  nnc_dictionary names; /* the tokens; their `lines` are their ids */
  int32_t (*merges)[2]; /* the earliest first: ids */
  int32_t merge_count;
  int32_t *specials; /* ids of those that are found in a text before it is cut */
  int32_t special_count;
  int pattern;
  bool adds_blank;  /* a text that begins with none has a blank in front */
  bool takes_whole; /* a piece that is a token is that token, whatever the merges say */
} nnc_bpe_rules;

/* Room for ids from 0 to count - 1. False: no memory. */
bool nnc_bpe_allocate(nnc_bpe_rules *rules, int64_t count, int64_t merges, int64_t specials);
void nnc_bpe_rules_free(nnc_bpe_rules *rules);
/* Notes the token of an id, in letters. False after a message: it cannot be one, or is there already. */
bool nnc_bpe_name(nnc_bpe_rules *rules, int64_t id, const char *letters, char message[NNC_MESSAGE]);
/* The id of a token of so many bytes in letters; -1: there is none. */
int32_t nnc_bpe_find(const nnc_bpe_rules *rules, const char *letters, size_t length);
/* Bytes as letters, malloc'ed; NULL: no memory. */
char *nnc_bpe_letters(const char *bytes, size_t length);
/* The bytes that letters stand for, to `bytes`, which has as much room as the letters take: their number, or -1 where a
 * character is no letter. */
int64_t nnc_bpe_read_letters(const char *letters, char *bytes);

#endif
