/* The escapes of printable.h.  A checkpoint's metadata, a data file's name or a label may hold what
 * moves the cursor, changes the title or hides what follows. */
#include "os/printable.h"

#include <stdlib.h>
#include <string.h>

#include "os/assert.h"

/* RFC 3629: overlong forms, surrogates and what is above U+10FFFF are malformed. */
int nnc_utf8_length(const char *text, const char *end) {
  const unsigned char *s = (const unsigned char *)text;
  if (s[0] < 0x80) return 1;
  int more = s[0] >= 0xF0 ? 3 : s[0] >= 0xE0 ? 2 : 1;
  if (s[0] < 0xC2 || s[0] > 0xF4 || end - text <= more) return 0;
  for (int i = 1; i <= more; i++)
    if ((s[i] & 0xC0) != 0x80) return 0;
  if (s[0] == 0xE0 && s[1] < 0xA0) return 0;
  if (s[0] == 0xED && s[1] >= 0xA0) return 0;
  if (s[0] == 0xF0 && s[1] < 0x90) return 0;
  if (s[0] == 0xF4 && s[1] >= 0x90) return 0;
  return more + 1;
}

unsigned long nnc_utf8_decode(const char *text, int length) {
  static const unsigned char first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  NNC_ASSERT(length >= 1 && length <= 4);
  unsigned long character = (unsigned char)text[0] & first_bits[length];
  for (int i = 1; i < length; i++) character = character << 6 | ((unsigned char)text[i] & 0x3f);
  return character;
}

/* C0, DEL and C1; line and paragraph separators; what turns the direction of writing (UAX 9). */
int nnc_is_control(unsigned long c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/* Bytes of the next character, 0 for a byte that is no UTF-8; whether it is printed as it is. */
static int next(const char *text, const char *end, unsigned long *character, int *is_plain) {
  int length = nnc_utf8_length(text, end);
  *character = length > 0 ? nnc_utf8_decode(text, length) : (unsigned char)*text;
  *is_plain = length > 0 && (*character == '\t' || !nnc_is_control(*character));
  return length;
}

static void put_escape(FILE *file, unsigned long character) {
  if (character == '\n') fputs("\\n", file);
  else if (character == '\r') fputs("\\r", file);
  else if (character <= 0xff) fprintf(file, "\\x%02lx", character);
  else fprintf(file, "\\u%04lx", character);
}

void nnc_put_printable(FILE *file, const char *text, size_t length) {
  const char *end = text + length;
  while (text < end) {
    unsigned long character;
    int is_plain, bytes = next(text, end, &character, &is_plain);
    if (is_plain) fwrite(text, 1, (size_t)bytes, file);
    else put_escape(file, character);
    text += bytes > 0 ? bytes : 1;
  }
}

static int is_printable(const char *text, const char *end) {
  int is_plain = 1;
  while (text < end && is_plain) {
    unsigned long character;
    text += next(text, end, &character, &is_plain);
  }
  return is_plain;
}

const char *nnc_printable(const char *text) {
  size_t length = strlen(text), size;
  if (is_printable(text, text + length)) return text;
  char *copy = NULL;
  FILE *file = open_memstream(&copy, &size);
  if (!file) return "?";
  nnc_put_printable(file, text, length);
  return fclose(file) == 0 ? copy : "?";
}
