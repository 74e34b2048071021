/* Writing C: indented lines, comments, literals. */
#ifndef NNC_BACKEND_COMMON_CODE_H
#define NNC_BACKEND_COMMON_CODE_H

#include <stdbool.h>
#include "support/text.h"

typedef struct Code {
  Arena *arena;
  Text *out;
  int indent; /* levels of two spaces */
} Code;

/* One line. */
void code_line(Code *code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A line with " {" and one level more; the closing brace. */
void code_open(Code *code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* An opening brace alone. */
void code_block(Code *code);
void code_close(Code *code);
/* "};", of an initializer or of enumerators. */
void code_close_list(Code *code);
/* The items with commas between them after `head` and before `tail`, broken over lines. */
void code_list(Code *code, const char *head, int count, const char *const *items, const char *tail);
void code_blank(Code *code);
/* Where the next line goes. Once what follows is written, `code_declare` puts a line there, but
 * only if the identifier is mentioned below it. */
size_t code_mark(const Code *code);
void code_declare(Code *code, size_t mark, const char *name, const char *line);
/* Whether a text is one identifier or number; a text in parentheses unless it can be an operand as
 * it is. */
bool code_is_word(const char *text);
const char *code_atom(Arena *arena, const char *text);
/* "a + b" of "f(a + b)"; NULL where the text is no call of `function`, or more than one. */
const char *code_argument(Arena *arena, const char *text, const char *function);
/* Takes the braces off loops that hold one statement of a line, and puts them in one line where there is room. */
void code_tidy(Text *text);
/* Breaks lines that are too long, where their grammar is least nested; not those of the preprocessor and of
 * comments, nor inside of literals. What lies between round brackets is one line before. */
void code_wrap(Text *text);
/* Whether C mentions an identifier. */
bool code_mentions(const char *text, const char *name);
/* Names and paths of the user's as they may stand in a comment of C: nothing in them ends it or
 * begins another, no control characters, valid UTF-8. */
const char *code_in_comment(Arena *arena, const char *text);
/* Comment lines, of text that is made so, broken at spaces and where it has line breaks. */
void code_comment(Code *code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A string literal, also for #line; control characters and what is not UTF-8 in octal, no
 * trigraphs. */
const char *code_string(Arena *arena, const char *string);
/* The same, a literal for some lines of the text, each on a line of its own; begins with a newline, of an empty text
 * with a blank. */
const char *code_string_lines(Arena *arena, const char *string);
const char *code_integer(Arena *arena, int64_t value);
/* "1, 2, 3", what an initializer holds; "0" of none. */
const char *code_integers(Arena *arena, int count, const int64_t *values);

#endif
