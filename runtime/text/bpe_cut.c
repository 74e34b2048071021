/* Cuts a text into pieces, as these patterns would (of PCRE's language; the first alternative that fits counts):
 *
 *     GPT-2     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 *     Llama 3   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|
 *               \s*[\r\n]+|\s+(?!\S)|\s+
 *     Qwen 2    as Llama 3, with \p{N} for \p{N}{1,3}
 *
 * A byte that is no part of UTF-8 is a character that is no letter, number or space. */
#include "text/bpe_cut.h"

#include <stdbool.h>
#include <string.h>

#include "os/printable.h"
#include "text/unicode_classes.h"

typedef struct Character {
  int class;  /* enum nnc_unicode_class */
  int length; /* in bytes; 0: the text is at its end */
} Character;

static int class_of(unsigned long code) {
  uint32_t wanted = (uint32_t)code << 2 | 3;
  size_t first = 0, last = sizeof nnc_unicode_runs / sizeof *nnc_unicode_runs;
  while (last - first > 1) {
    size_t middle = (first + last) / 2;
    if (nnc_unicode_runs[middle] <= wanted) first = middle;
    else last = middle;
  }
  return nnc_unicode_runs[first] & 3;
}

static int class_of_ascii(unsigned char c) {
  unsigned char lower = c | 32;
  if (lower >= 'a' && lower <= 'z') return NNC_UNICODE_LETTER;
  if (c >= '0' && c <= '9') return NNC_UNICODE_NUMBER;
  return c == ' ' || (c >= 9 && c <= 13) ? NNC_UNICODE_SPACE : NNC_UNICODE_OTHER;
}

static Character look(const char *at, const char *end) {
  if (at == end) return (Character){NNC_UNICODE_OTHER, 0};
  if (!(*at & 0x80)) return (Character){class_of_ascii((unsigned char)*at), 1};
  int length = nnc_utf8_length(at, end);
  if (length == 0) return (Character){NNC_UNICODE_OTHER, 1};
  return (Character){class_of(nnc_utf8_decode(at, length)), length};
}

/* The end of a run of at most `most` characters of one class. */
static const char *skip(const char *at, const char *end, int class, int64_t most) {
  for (Character c = look(at, end); c.length > 0 && c.class == class && most > 0; most--) {
    at += c.length;
    c = look(at, end);
  }
  return at;
}

static bool is_line_end(const char *at, const char *end) {
  return at < end && (*at == '\r' || *at == '\n');
}

/* The bytes of 's and its like at an apostrophe; 0: there is none. In any case where `folds`, where ſ is an s, too. */
static int contraction(const char *at, const char *end, bool folds) {
  static const char *const words[] = {"s", "t", "re", "ve", "m", "ll", "d"};
  char letters[2] = {0};
  for (int i = 0; i < 2 && at + 1 + i < end; i++) {
    char c = at[1 + i];
    letters[i] = folds && c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
  }
  for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
    size_t length = strlen(words[w]);
    if (memcmp(letters, words[w], length) == 0) return 1 + (int)length;
  }
  return folds && letters[0] == '\xC5' && letters[1] == '\xBF' ? 3 : 0;
}

/* White space: with `takes_lines` up to the last end of a line in it; else without its last character, where
 * something follows and that is not all. */
static const char *cut_space(const char *at, const char *end, bool takes_lines) {
  const char *to = at, *last = at, *line = NULL;
  for (Character c = look(to, end); c.length > 0 && c.class == NNC_UNICODE_SPACE;
       c = look(to, end)) {
    last = to;
    if (is_line_end(to, end)) line = to + 1;
    to += c.length;
  }
  if (takes_lines && line) return line;
  return to < end && last > at ? last : to;
}

static const char *cut_gpt2(const char *at, const char *end) {
  int length = *at == '\'' ? contraction(at, end, false) : 0;
  if (length > 0) return at + length;
  const char *word = at + (*at == ' ');
  Character c = look(word, end);
  if (c.length > 0 && c.class != NNC_UNICODE_SPACE) return skip(word, end, c.class, INT64_MAX);
  return cut_space(at, end, false);
}

static const char *cut_llama(const char *at, const char *end, int digits) {
  int length = *at == '\'' ? contraction(at, end, true) : 0;
  if (length > 0) return at + length;
  Character c = look(at, end);
  if (c.class == NNC_UNICODE_NUMBER) return skip(at, end, NNC_UNICODE_NUMBER, digits);
  const char *word = at + (c.class == NNC_UNICODE_LETTER || is_line_end(at, end) ? 0 : c.length);
  const char *to = skip(word, end, NNC_UNICODE_LETTER, INT64_MAX);
  if (to > word) return to;
  word = at + (*at == ' ');
  to = skip(word, end, NNC_UNICODE_OTHER, INT64_MAX);
  if (to == word) return cut_space(at, end, true);
  while (is_line_end(to, end)) to++;
  return to;
}

const char *nnc_bpe_cut(int pattern, const char *at, const char *end) {
  if (pattern == NNC_BPE_GPT2) return cut_gpt2(at, end);
  return cut_llama(at, end, pattern == NNC_BPE_LLAMA3 ? 3 : 1);
}
