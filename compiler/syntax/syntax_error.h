/* The wording of syntax errors. */
#ifndef NNC_SYNTAX_SYNTAX_ERROR_H
#define NNC_SYNTAX_SYNTAX_ERROR_H

#include "syntax/build.h"
#include "net.tab.h"

enum { TOKEN_KINDS = T_FLOORDIV + 1 };

/* A syntax error and what stands around it. */
typedef struct SyntaxError {
  Parser *parser;
  Token *const *tokens;
  int at;             /* index of the token that does not fit */
  int start;          /* index of the first token of its statement or entry */
  const Token *found; /* tokens[at] */
  const Token *last;  /* the one before, or NULL */
  const Token *next;  /* the one after it; T_END repeats */
  char expects[TOKEN_KINDS];
} SyntaxError;

void syntax_error_report(Parser *parser, const int *expected, int count);

/* grammar_mistakes.c: reports a mistake that is known; 0 when it is none. */
int syntax_mistake_report(const SyntaxError *error);
/* "'foo'", "the end of the line", ... */
const char *syntax_error_found(const SyntaxError *error);
/* "',' or ')'", "an expression", ... */
const char *syntax_error_expected(const SyntaxError *error);
/* Has the parse go on with token `at` as if a separator stood before it. */
void syntax_error_restart(const SyntaxError *error, int at);

#endif
