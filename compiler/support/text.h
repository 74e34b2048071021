/* A growing piece of text: everything the compiler prints is built here first. */
#ifndef NNC_SUPPORT_TEXT_H
#define NNC_SUPPORT_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "support/arena.h"

typedef struct Text {
  char *data; /* NUL-terminated once anything was added; owned, freed by text_free */
  size_t length;
  size_t capacity;
} Text;

void text_add(Text *text, const char *string);
void text_add_bytes(Text *text, const char *bytes, size_t count);
void text_add_char(Text *text, char c);
void text_printf(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(Text *text, const char *format, va_list arguments);
/* Into the text, before its byte `at`. */
void text_insert(Text *text, size_t at, const char *string);
/* `count` copies of `c`. */
void text_pad(Text *text, char c, int count);
/* A double-quoted string with C escapes, readable by C, JSON and the dump parser. */
void text_add_quoted(Text *text, const char *string);
/* The shortest decimal that reads back to exactly `value`, with '.' or 'e' in it ("0.1", "1e-08",
 * "2.0"); "inf", "-inf", "nan" for the others. The locale is always C. */
void text_add_double(Text *text, double value);
/* 1234567 as "1,234,567"; 3145728 bytes as "3.0 MiB". */
void text_add_grouped(Text *text, int64_t value);
void text_add_bytes_size(Text *text, double bytes);
void text_free(Text *text);
/* The text as a string in the arena; `text` is freed. */
const char *text_take(Text *text, Arena *arena);

#endif
