/* A growing piece of text.  Out of memory is fatal, as in arenas. */
#include "support/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/panic.h"

/* Space for `more` bytes and the NUL. */
static void reserve(Text *text, size_t more) {
  size_t needed = text->length + more + 1;
  if (needed < more || needed > SIZE_MAX / 2) panic("a text of %zu bytes", more);
  if (needed <= text->capacity) return;
  size_t capacity = text->capacity ? text->capacity : 64;
  while (capacity < needed) capacity *= 2;
  char *data = realloc(text->data, capacity);
  if (!data) {
    fprintf(stderr, "nnc: out of memory (%zu bytes wanted)\n", capacity);
    exit(3);
  }
  text->data = data;
  text->capacity = capacity;
}

void text_add_bytes(Text *text, const char *bytes, size_t count) {
  reserve(text, count);
  if (count) memcpy(text->data + text->length, bytes, count);
  text->length += count;
  text->data[text->length] = 0;
}

void text_add(Text *text, const char *string) { text_add_bytes(text, string, strlen(string)); }

void text_add_char(Text *text, char c) { text_add_bytes(text, &c, 1); }

void text_vprintf(Text *text, const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  if (length < 0) panic("text_vprintf: vsnprintf cannot format '%s'", format);
  reserve(text, (size_t)length);
  vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
  text->length += (size_t)length;
}

void text_printf(Text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  text_vprintf(text, format, arguments);
  va_end(arguments);
}

void text_insert(Text *text, size_t at, const char *string) {
  size_t count = strlen(string), tail = text->length - at;
  reserve(text, count);
  memmove(text->data + at + count, text->data + at, tail + 1);
  memcpy(text->data + at, string, count);
  text->length += count;
}

void text_pad(Text *text, char c, int count) {
  if (count <= 0) return;
  reserve(text, (size_t)count);
  memset(text->data + text->length, c, (size_t)count);
  text->length += (size_t)count;
  text->data[text->length] = 0;
}

/* JSON has no \a, \v or octal escapes and C no \u below 00a0, so a control character without an
 * escape common to both is written \u00XX: the dump parser and JSON read it, and C text never has
 * one. */
void text_add_quoted(Text *text, const char *string) {
  static const char escaped[] = "\n\t\r\b\f\"\\", letters[] = "ntrbf\"\\";
  text_add_char(text, '"');
  for (const char *c = string; *c; c++) {
    const char *found = strchr(escaped, *c);
    if (found) {
      text_add_char(text, '\\');
      text_add_char(text, letters[found - escaped]);
    } else if ((unsigned char)*c < 0x20 || *c == 0x7f) {
      text_printf(text, "\\u%04x", (unsigned char)*c);
    } else {
      text_add_char(text, *c);
    }
  }
  text_add_char(text, '"');
}

void text_add_double(Text *text, double value) {
  if (isnan(value)) {
    text_add(text, "nan");
    return;
  }
  if (isinf(value)) {
    text_add(text, value < 0 ? "-inf" : "inf");
    return;
  }
  char number[64];
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(number, sizeof number, "%.*g", digits, value);
    if (strtod(number, NULL) == value) break;
  }
  /* 1e+03 is 1000: whole numbers that a reader can take in at a glance are written out. */
  if (strchr(number, 'e') && fabs(value) < 1e9 && value == floor(value))
    snprintf(number, sizeof number, "%.0f", value);
  text_add(text, number);
  if (!strpbrk(number, ".e")) text_add(text, ".0");
}

void text_add_grouped(Text *text, int64_t value) {
  char digits[32];
  uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
  int count = snprintf(digits, sizeof digits, "%" PRIu64, magnitude);
  if (value < 0) text_add_char(text, '-');
  for (int i = 0; i < count; i++) {
    if (i && (count - i) % 3 == 0) text_add_char(text, ',');
    text_add_char(text, digits[i]);
  }
}

void text_add_bytes_size(Text *text, double bytes) {
  static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (fabs(bytes) < 1024) {
    text_printf(text, "%.0f byte%s", bytes, bytes == 1 ? "" : "s");
    return;
  }
  size_t unit = 0;
  bytes /= 1024;
  /* 1023.95 KiB would be printed as 1024.0 KiB. */
  while (fabs(bytes) >= 1023.95 && unit + 1 < sizeof units / sizeof *units) bytes /= 1024, unit++;
  text_printf(text, "%.1f %s", bytes, units[unit]);
}

void text_free(Text *text) {
  free(text->data);
  *text = (Text){0};
}

const char *text_take(Text *text, Arena *arena) {
  const char *result = arena_strndup(arena, text->data, text->length);
  text_free(text);
  return result;
}
