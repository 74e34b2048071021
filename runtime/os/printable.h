/* Text from files and programs on its way to a terminal: control characters become visible. */
#ifndef NNC_PRINTABLE_H
#define NNC_PRINTABLE_H

#include <stddef.h>
#include <stdio.h>

/* Writes the text with its control characters, those that turn the direction of writing, and bytes
 * that are not UTF-8 as escapes: \n, \x1b, \u202e.  Tabs and all other characters stay. */
void nnc_put_printable(FILE *file, const char *text, size_t length);

/* The text itself when it is printable as it is, else a copy made so, which lives as long as the
 * program: for names in tables. */
const char *nnc_printable(const char *text);

/* Whether a character has an effect on a terminal beyond its own place. */
int nnc_is_control(unsigned long character);

/* Bytes of the character at `text`, 0 when it is not UTF-8. */
int nnc_utf8_length(const char *text, const char *end);

/* The character at `text`, which has `length` bytes (nnc_utf8_length). */
unsigned long nnc_utf8_decode(const char *text, int length);

#endif
