/* Fuzzing target: vocabularies of other programs, tokenizer.json or vocab.json with merges.txt.  One that is read encodes
 * a text without losing a byte of it; what cannot be read or encoded has a message.
 *
 *     choice: 1 two files    length of the text    length of merges.txt, two bytes    the text, merges.txt, the other */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "text/bpe_file.h"

enum { HEAD = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static char *copy(const uint8_t *bytes, size_t size, size_t more) {
  char *text = malloc(size + more); /* no more, so that the sanitizer sees its end */
  if (!text) abort();
  memcpy(text, bytes, size);
  return text;
}

static bool is_special(const nnc_bpe_rules *rules, int32_t id) {
  for (int32_t i = 0; i < rules->special_count; i++)
    if (rules->specials[i] == id) return true;
  return false;
}

/* The bytes of the ids are the text, but for blanks where the vocabulary adds them: in front, and behind special tokens. */
static void check_ids(const nnc_bpe *bpe, const nnc_bpe_ids *ids, const char *text, size_t size) {
  const nnc_bpe_rules *rules = nnc_bpe_rules_of(bpe);
  size_t done = 0;
  bool may_add = rules->adds_blank;
  for (int64_t i = 0; i < ids->count; i++) {
    size_t length;
    int32_t id = ids->ids[i];
    if (id < 0 || id >= rules->count) abort();
    const char *token = nnc_bpe_bytes(bpe, id, &length);
    if (!token || length == 0) abort();
    bool is_added = may_add && token[0] == ' ' && done < size && text[done] != ' ';
    length -= is_added;
    if (length > size - done || memcmp(token + is_added, text + done, length) != 0) abort();
    done += length;
    may_add = rules->adds_blank && is_special(rules, id);
  }
  if (done != size) abort();
}

static void encode(nnc_bpe *bpe, const uint8_t *bytes, size_t size) {
  char message[NNC_MESSAGE] = "", *text = copy(bytes, size, 1);
  nnc_bpe_ids ids = {0};
  if (nnc_bpe_encode(bpe, text, (int64_t)size, &ids, message)) check_ids(bpe, &ids, text, size);
  else if (!*message) abort();
  free(ids.ids);
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size < HEAD) return 0;
  size_t left = size - HEAD, text = bytes[1], merges = bytes[2] | (size_t)bytes[3] << 8;
  bool is_pair = bytes[0] & 1;
  if (text > left) text = left;
  left -= text;
  if (!is_pair) merges = 0;
  if (merges > left) merges = left;
  left -= merges;
  bytes += HEAD;
  char message[NNC_MESSAGE] = "";
  nnc_bpe_text files[2] = {{"a.json", copy(bytes + text + merges, left, 1), left},
                           {"merges.txt", copy(bytes + text, merges, 1), merges}};
  nnc_bpe *bpe = nnc_bpe_read(files, is_pair ? 2 : 1, message);
  if (!bpe && !*message) abort();
  for (int i = 0; i < 2; i++) free(files[i].text);
  if (!bpe) return 0;
  encode(bpe, bytes, text);
  nnc_bpe_free(bpe);
  return 0;
}
