/* Syntax errors in words: what was expected, in terms a user knows, and what was found.
 *
 * The grammar tells which tokens would fit.  Those that begin an expression, a statement, ... are
 * named together, and operators are only named where nothing else is: an operator nearly always
 * fits, and is nearly never what is missing. */
#include "syntax/syntax_error.h"

#include <string.h>

#include "support/text.h"

/* Punctuation and clause words, in the order in which a message names them. */
static const struct {
  int kind;
  const char *phrase;
} phrases[] = {
    {T_STRING, "a string"}, {'=', "'='"},         {T_ARROW, "'<-'"},
    {T_IN, "'in'"},         {'(', "'('"},         {'{', "'{'"},
    {':', "':'"},           {'|', "'|'"},         {',', "','"},
    {')', "')'"},           {']', "']'"},         {'}', "'}'"},
    {T_ELLIPSIS, "'...'"},  {T_ALONG, "'along'"}, {T_RECOMPUTE, "'recompute'"},
    {T_WITH, "'with'"},
};

typedef struct Phrases {
  const char *items[8];
  int count;
} Phrases;

static void add_phrase(Phrases *list, const char *phrase) {
  enum { MOST = 4 };
  if (list->count < MOST) list->items[list->count++] = phrase;
}

/* What a phrase would say twice. */
static int is_covered(const SyntaxError *error, int kind) {
  const char *expects = error->expects;
  int operand = expects[T_NUMBER], statement = expects[T_CONST], operators = expects['*'];
  switch (kind) {
  case T_STRING: return operand || statement;
  case '(': return operand || operators || statement || expects[T_ID];
  case '=': return operators;
  case T_ELLIPSIS:
  case T_ALONG:
  case T_RECOMPUTE:
  case T_WITH: return operand || expects[T_ID];
  case '}': return expects[T_SEP] || statement || expects[','];
  default: return 0;
  }
}

static const char *main_phrase(const char *expects) {
  if (expects[T_CONST]) return "a statement";
  if (expects['*']) return NULL; /* an operand has just ended */
  if (expects[T_NUMBER]) return "an expression";
  if (expects[T_ID] && expects['['] && !expects[T_DATA]) return "a type";
  if (expects[T_ID]) return "a name";
  return NULL;
}

const char *syntax_error_expected(const SyntaxError *error) {
  const char *expects = error->expects;
  Phrases list = {0};
  const char *phrase = main_phrase(expects);
  if (phrase) add_phrase(&list, phrase);
  for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
    if (expects[phrases[i].kind] && !is_covered(error, phrases[i].kind))
      add_phrase(&list, phrases[i].phrase);
  int may_end = expects[T_SEP] || expects[T_END];
  if (expects['*'] && may_end && !list.count) add_phrase(&list, "an operator");
  if (may_end && !expects[T_CONST]) add_phrase(&list, "the end of the statement");
  Text text = {0};
  for (int i = 0; i < list.count; i++) {
    if (i) text_add(&text, i + 1 < list.count ? ", " : " or ");
    text_add(&text, list.items[i]);
  }
  if (!list.count) text_add(&text, "something else");
  return text_take(&text, error->parser->arena);
}

const char *syntax_error_found(const SyntaxError *error) {
  enum { LONGEST = 40 };
  const Token *found = error->found;
  if (found->kind == T_END) return "the end of the file";
  if (found->kind == T_SEP && !found->length) return "the end of the line";
  const char *quote = found->kind == T_STRING ? "" : "'";
  if (found->length <= LONGEST)
    return arena_printf(error->parser->arena, "%s%.*s%s", quote, (int)found->length, found->text,
                        quote);
  size_t length = 0;
  while (length < LONGEST)
    length += source_char_length(found->text + length, found->text + found->length);
  return arena_printf(error->parser->arena, "%s%.*s...%s", quote, (int)length, found->text, quote);
}

void syntax_error_restart(const SyntaxError *error, int at) {
  error->tokens[at]->starts_stmt = 1;
  error->parser->failed = at;
  error->parser->wants_separator = 1;
}

/* The first token of the statement or entry around token `at`. */
static int find_start(Token *const *tokens, int at) {
  int braces = 0;
  for (int i = at; i > 0; i--) {
    int kind = tokens[i]->kind;
    if (tokens[i]->starts_stmt && !braces) return i;
    if (kind == '{' && i < at && braces) braces--;
    if (kind == '}' && i < at) braces++;
  }
  return 0;
}

void syntax_error_report(Parser *parser, const int *expected, int count) {
  SyntaxError error = {.parser = parser, .tokens = parser->tokens.items, .at = parser->failed};
  int last = parser->tokens.count - 1;
  error.found = error.tokens[error.at];
  error.last = error.at ? error.tokens[error.at - 1] : NULL;
  error.next = error.tokens[error.at < last ? error.at + 1 : last];
  error.start = find_start(error.tokens, error.at);
  for (int i = 0; i < count; i++)
    if (expected[i] < TOKEN_KINDS) error.expects[expected[i]] = 1;
  if (syntax_mistake_report(&error)) return;
  Diagnostic *diagnostic =
      diag_error(parser->diagnostics, error.found->span, "expected %s, found %s",
                 syntax_error_expected(&error), syntax_error_found(&error));
  for (int i = error.at; i > 0 && error.tokens[i]->span.line == error.found->span.line; i--)
    if (error.tokens[i - 1]->kind == T_FLOORDIV &&
        error.tokens[i - 1]->span.line == error.found->span.line) {
      diag_help(diagnostic, "comments begin with '#'; '//' is integer division");
      break;
    }
}
