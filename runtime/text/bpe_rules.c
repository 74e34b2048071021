/* Rules, and tokens in letters: bpe_rules.h. */
#include "text/bpe_rules.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/printable.h"

bool nnc_bpe_fail(char message[NNC_MESSAGE], const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, NNC_MESSAGE, format, arguments);
  va_end(arguments);
  return false;
}

/* ---- letters ---- */

/* GPT-2's table: bytes that are visible characters of Latin-1 are those, the others, in their order, are characters
 * from 256 on. */
static bool is_visible(unsigned byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

static unsigned letter_of(unsigned byte) {
  unsigned letter = 256;
  if (is_visible(byte)) return byte;
  for (unsigned b = 0; b < byte; b++) letter += !is_visible(b);
  return letter;
}

static size_t put_letter(char *text, unsigned char byte) {
  unsigned letter = letter_of(byte);
  if (letter < 0x80) {
    *text = (char)letter;
    return 1;
  }
  text[0] = (char)(0xC0 | letter >> 6);
  text[1] = (char)(0x80 | (letter & 63));
  return 2;
}

char *nnc_bpe_letters(const char *bytes, size_t length) {
  char *text = malloc(length * 2 + 1), *out = text;
  if (!text) return NULL;
  for (size_t i = 0; i < length; i++) out += put_letter(out, (unsigned char)bytes[i]);
  *out = '\0';
  return text;
}

int64_t nnc_bpe_read_letters(const char *letters, char *bytes) {
  int16_t byte_of[512];
  for (int i = 0; i < 512; i++) byte_of[i] = -1;
  for (unsigned b = 0; b < 256; b++) byte_of[letter_of(b)] = (int16_t)b;
  const char *end = letters + strlen(letters);
  int64_t count = 0;
  for (int length; letters < end; letters += length) {
    length = nnc_utf8_length(letters, end);
    unsigned long letter = length > 0 ? nnc_utf8_decode(letters, length) : 512;
    if (letter >= 512 || byte_of[letter] < 0) return -1;
    bytes[count++] = (char)byte_of[letter];
  }
  return count;
}

/* ---- rules ---- */

bool nnc_bpe_allocate(nnc_bpe_rules *rules, int64_t count, int64_t merges, int64_t specials) {
  *rules = (nnc_bpe_rules){.count = (int32_t)count};
  rules->tokens = calloc((size_t)count + 1, sizeof *rules->tokens);
  rules->merges = calloc((size_t)merges + 1, sizeof *rules->merges);
  rules->specials = calloc((size_t)specials + 1, sizeof *rules->specials);
  return rules->tokens && rules->merges && rules->specials;
}

void nnc_bpe_rules_free(nnc_bpe_rules *rules) {
  for (int32_t i = 0; rules->tokens && i < rules->count; i++) free(rules->tokens[i]);
  free(rules->tokens);
  free(rules->merges);
  free(rules->specials);
  nnc_dictionary_free(&rules->names);
  *rules = (nnc_bpe_rules){0};
}

bool nnc_bpe_name(nnc_bpe_rules *rules, int64_t id, const char *letters,
                  char message[NNC_MESSAGE]) {
  size_t length = strlen(letters);
  char *bytes = malloc(length + 1);
  int64_t count = bytes ? nnc_bpe_read_letters(letters, bytes) : 0;
  int32_t before = rules->names.count;
  free(bytes);
  if (!bytes) return nnc_bpe_fail(message, "no memory for %zu bytes of a token", length);
  if (count < 0)
    return nnc_bpe_fail(message,
                        "token %lld, '%.40s', has a character that stands for no byte: the "
                        "vocabulary is none of bytes",
                        (long long)id, letters);
  if (count == 0) return nnc_bpe_fail(message, "token %lld is empty", (long long)id);
  if (rules->tokens[id])
    return nnc_bpe_fail(message, "id %lld is that of '%.40s' and of '%.40s'", (long long)id,
                        rules->tokens[id], letters);
  int32_t place = nnc_dictionary_add(&rules->names, letters, (int64_t)length, id);
  if (place >= 0 && place < before)
    return nnc_bpe_fail(message, "'%.40s' has two ids, %lld and %lld", letters,
                        (long long)rules->names.lines[place], (long long)id);
  rules->tokens[id] = place < 0 ? NULL : strdup(letters);
  return rules->tokens[id] || nnc_bpe_fail(message, "no memory for token %lld", (long long)id);
}

int32_t nnc_bpe_find(const nnc_bpe_rules *rules, const char *letters, size_t length) {
  int32_t place = nnc_dictionary_find(&rules->names, letters, (int64_t)length);
  return place < 0 ? -1 : (int32_t)rules->names.lines[place];
}
