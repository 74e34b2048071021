/* Tokens and the steps between the text and the grammar:
 *
 *     text ─ tokens_scan ─► all tokens and comments            net.l
 *          ─ tokens_without_ignored                           tokens.c
 *          ─ brackets_match ─► every bracket has its partner   brackets.c
 *          ─ mistakes_in_words ─► `and` is taken for `&&`, ... common_mistakes.c
 *          ─ layout_apply ─► newlines that end a statement     layout.c
 *          ─ mistakes_in_statements ─► `let x = 1`, ...        common_mistakes.c
 *          ─ the parser                                        net.y
 *
 * A step that meets a mistake hangs a Problem on a token, repairs the stream so that the grammar
 * goes on as if the right thing had been written, and leaves the reporting to the parser, which
 * reports problems as it reads the tokens: so all messages come in the order of the text. */
#ifndef NNC_SYNTAX_TOKENS_H
#define NNC_SYNTAX_TOKENS_H

#include <stdint.h>
#include "support/diagnostics.h"
#include "support/vec.h"

enum { TOKENS_MAX = 2000000, SOURCE_MAX_BYTES = 16 << 20 };

typedef struct Problem {
  struct Problem *next; /* a token may have several: a string with two bad escapes */
  Span at;
  const char *message;
  const char *help; /* NULL when there is none */
  Span note_at;     /* line 0 when there is no note */
  const char *note;
  int stray; /* the closer that closes nothing; 0 for other problems */
} Problem;

typedef struct Token {
  int kind;         /* a token number of the grammar (net.tab.h): '+', T_ID, ... */
  int newlines;     /* line ends between the token before and this one */
  int indent;       /* the column where the first token of its line stands */
  int depth;        /* ( and [ open around it, counted from the innermost { */
  int starts_stmt;  /* set by layout_apply: a separator stands before it */
  int is_unclosed;  /* a string that ran into the end of the line */
  int is_synthetic; /* put in by a repair: no text of its own */
  Span span;
  const char *text; /* in the file, not NUL-terminated; `length` bytes */
  size_t length;
  union {
    const char *name; /* every word, keywords included: interned */
    struct {
      const char *literal;
      int64_t integer;
      double floating;
      int is_float;
    } number;
    struct {
      const char *bytes;
      size_t length;
    } string;
  };
  Problem *problem; /* NULL when there is none */
} Token;

typedef VEC(Token *) Tokens;

/* All tokens of the file, comments (T_COMMENT) included, T_END last.  0 when there are too many. */
int tokens_scan(Arena *arena, const SourceFile *file, Tokens *tokens);
/* Without T_COMMENT and T_IGNORED; line ends and problems go to the token after them. */
Tokens tokens_without_ignored(Arena *arena, const Tokens *tokens);

/* Hangs a problem on the token, after those it has; the result's help and note may be set. */
Problem *token_problem(Arena *arena, Token *token, Span at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Reports this one, without those after it in the list. */
void problem_report(Diagnostics *diagnostics, const Problem *problem);
/* A token without text, standing at the end of `before` (or at the file's beginning). */
Token *token_synthetic(Arena *arena, int kind, const Token *before, const Token *after);

int token_is_opener(int kind);
int token_is_closer(int kind);
int token_is_name(int kind); /* an identifier, or a word that is a keyword only in some places */
/* May the token be the last, the first one of an operand (of an expression)? */
int token_ends_operand(int kind);
int token_begins_operand(int kind);
int token_begins_statement(int kind); /* a word that begins a statement, hard or contextual */

/* Does a statement seem to begin with token `at`: a word that begins one, or `a, b =`, or `a <-`? */
int tokens_seem_to_begin(const Tokens *tokens, int at);

/* Every opener gets its closer: missing ones are put in, stray ones taken out.  Sets `depth`.
 * 0 when brackets nest too deep: then `*too_deep` is the bracket that is one too many. */
int brackets_match(Arena *arena, Tokens *tokens, const Token **too_deep);
void mistakes_in_words(Arena *arena, Tokens *tokens);
void layout_apply(Arena *arena, Tokens *tokens);
/* Does a newline between the two, outside ( ) and [ ], end a statement?  (Clauses of a scan and
 * gradients aside.) */
int layout_ends_statement(const Token *last, const Token *token);
void mistakes_in_statements(Arena *arena, Tokens *tokens);

#endif
