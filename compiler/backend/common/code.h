/* Writing C: indented lines, identifiers made from the model's names, literals. */
#ifndef NNC_BACKEND_COMMON_CODE_H
#define NNC_BACKEND_COMMON_CODE_H

#include <stdbool.h>
#include "graph/types.h"
#include "support/text.h"
#include "support/vec.h"

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
void code_blank(Code *code);
/* Where the next line goes. Once what follows is written, `code_declare` puts a line there, but
 * only if the identifier is mentioned below it. */
size_t code_mark(const Code *code);
void code_declare(Code *code, size_t mark, const char *name, const char *line);
/* Whether a text is one identifier or number; a text in parentheses unless it can be an operand as
 * it is. */
bool code_is_word(const char *text);
const char *code_atom(Arena *arena, const char *text);
/* Whether C mentions an identifier. */
bool c_mentions(const char *text, const char *name);
/* Names and paths of the user's as they may stand in a comment of C: nothing in them ends it or
 * begins another, no control characters, valid UTF-8. */
const char *c_comment(Arena *arena, const char *text);
/* Comment lines, of text that is made so, broken at spaces and where it has line breaks. */
void code_comment(Code *code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Identifiers that are taken in one scope. */
typedef struct TakenName {
  const char *name; /* interned */
  int next;         /* the number to try for one more of this name */
} TakenName;

typedef struct NameScope {
  Arena *arena;
  VEC(TakenName) taken;
  int *table, capacity; /* 1 + index in `taken` by the name's hash; open addressing */
  const struct NameScope *outer;
} NameScope;
void scope_take(NameScope *scope, const char *name);
/* "h1.w:m" -> "h1_w_m", with a number where that is taken or a word of C or of generated code. */
const char *scope_name(NameScope *scope, const char *wish);

/* The same for a function: "net_exp" is none of the C library's. */
const char *scope_function_name(NameScope *scope, const char *wish);

/* Whether emitted C may have a function or table of this name: none of the user's can. */
bool c_is_emitted(const char *name);

/* A string literal, also for #line; control characters and what is not UTF-8 in octal, no
 * trigraphs. */
const char *c_string(Arena *arena, const char *string);
const char *c_integer(Arena *arena, int64_t value);

#endif
