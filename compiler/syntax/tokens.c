/* Small questions about tokens, and the passing on of problems: see tokens.h. */
#include "syntax/tokens.h"

#include <stdarg.h>

#include "syntax/build.h"
#include "net.tab.h"

int token_is_opener(int kind) { return kind == '(' || kind == '[' || kind == '{'; }

int token_is_closer(int kind) { return kind == ')' || kind == ']' || kind == '}'; }

int token_is_name(int kind) { return kind == T_ID || (kind >= T_DATA && kind <= T_GRADIENT); }

int token_ends_operand(int kind) {
  return token_is_name(kind) || token_is_closer(kind) || kind == T_NUMBER || kind == T_STRING ||
         kind == T_BOOL;
}

int token_begins_operand(int kind) {
  return token_is_name(kind) || kind == T_NUMBER || kind == T_STRING || kind == T_BOOL ||
         kind == '(' || kind == '[' || kind == '-' || kind == '!' || kind == T_SCAN;
}

int token_begins_statement(int kind) {
  return kind == T_CONST || kind == T_DEF || kind == T_FOR || kind == T_IF || kind == T_RETURN ||
         kind == T_YIELD || kind == T_PARAM ||
         (kind >= T_DATA && kind <= T_GRADIENT && kind != T_ALONG && kind != T_PARAMS &&
          kind != T_RECOMPUTE && kind != T_GRADIENT);
}

static int kind_at(const Tokens *tokens, int at) {
  return tokens->items[at < tokens->count ? at : tokens->count - 1]->kind;
}

int tokens_seem_to_begin(const Tokens *tokens, int at) {
  int kind = kind_at(tokens, at), next = kind_at(tokens, at + 1);
  if (!token_is_name(kind)) return token_begins_statement(kind);
  if (token_begins_statement(kind) && (token_is_name(next) || next == '{')) return 1;
  while (next == ',' && token_is_name(kind_at(tokens, at + 2))) {
    at += 2;
    next = kind_at(tokens, at + 1);
  }
  return next == '=' || next == T_ARROW;
}

Problem *token_problem(Arena *arena, Token *token, Span at, const char *format, ...) {
  Problem *problem = ARENA_NEW(arena, Problem);
  va_list arguments;
  va_start(arguments, format);
  problem->message = arena_vprintf(arena, format, arguments);
  va_end(arguments);
  problem->at = at;
  Problem **last = &token->problem;
  while (*last) last = &(*last)->next;
  *last = problem;
  return problem;
}

void problem_report(Diagnostics *diagnostics, const Problem *problem) {
  Diagnostic *diagnostic = diag_error(diagnostics, problem->at, "%s", problem->message);
  if (problem->note) diag_note(diagnostic, problem->note_at, "%s", problem->note);
  if (problem->help) diag_help(diagnostic, "%s", problem->help);
}

Token *token_synthetic(Arena *arena, int kind, const Token *before, const Token *after) {
  Token *token = ARENA_NEW(arena, Token);
  token->kind = kind;
  token->is_synthetic = 1;
  token->name = "";
  const Token *near = before ? before : after;
  token->span = near->span;
  token->text = near->text;
  token->indent = near->indent;
  token->depth = near->depth;
  if (before) {
    token->span.line = token->span.end_line;
    token->span.column = token->span.end_column;
    token->text += before->length;
  } else {
    token->span.end_line = token->span.line;
    token->span.end_column = token->span.column;
  }
  return token;
}

/* What is ignored leaves its problems, up to a limit, with the token after it. */
Tokens tokens_without_ignored(Arena *arena, const Tokens *all) {
  enum { LIMIT = 100 };
  Tokens kept = {0};
  Problem *first = NULL, **end = &first;
  int newlines = 0, count = 0;
  for (int i = 0; i < all->count; i++) {
    Token *token = all->items[i];
    if (token->kind == T_COMMENT || token->kind == T_IGNORED) {
      newlines += token->newlines + token->span.end_line - token->span.line;
      if (!token->problem || count++ >= LIMIT) continue;
      *end = token->problem;
      end = &token->problem->next; /* an ignored token has one problem */
      continue;
    }
    *end = token->problem;
    token->problem = first;
    token->newlines += newlines;
    first = NULL, end = &first;
    newlines = count = 0;
    vec_push(arena, &kept, token);
  }
  return kept;
}
