/* The layout filter: decides which newlines end a statement.
 *
 * A newline is a separator unless it stands inside ( ) or [ ], after a token that cannot end a
 * statement, or before one that cannot begin a statement.  A separator at the beginning of the file
 * or of a block, and one after another, is left out, so the grammar sees none that is idle. */
#include "syntax/tokens.h"

#include "net.tab.h"

typedef struct Frame {
  int bracket;        /* 0 at the top of the file */
  int in_scan_header; /* between `scan` and its '{' */
} Frame;

static const int continuing[] = {
    '+',  '-',   '*',  '/',     '%',    '@',    '^',      '?',        ':',   '.',   '|',
    '=',  '<',   '>',  ',',     ')',    ']',    '{',      T_IN,       T_LE,  T_GE,  T_EQ,
    T_NE, T_AND, T_OR, T_ARROW, T_ELSE, T_WITH, T_DOTDOT, T_FLOORDIV, T_SEP, T_END,
};

static int can_end_statement(int kind) {
  return token_ends_operand(kind) || kind == T_RETURN || kind == T_YIELD || kind == T_BAD;
}

static int is_continuing(int kind) {
  for (size_t i = 0; i < sizeof continuing / sizeof *continuing; i++)
    if (kind == continuing[i]) return 1;
  return 0;
}

int layout_ends_statement(const Token *last, const Token *token) {
  return can_end_statement(last->kind) && !is_continuing(token->kind);
}

static int continues_statement(const Token *token, const Token *next, const Frame *frame) {
  if (is_continuing(token->kind)) return 1;
  if (token->kind == T_ALONG || token->kind == T_RECOMPUTE) return frame->in_scan_header;
  return token->kind == T_GRADIENT && next && next->kind == '(';
}

static int is_separator(const Token *last, const Token *token, const Token *next,
                        const Frame *frame) {
  if (!token->newlines || !last) return 0;
  if (frame->bracket == '(' || frame->bracket == '[') return 0;
  return can_end_statement(last->kind) && !continues_statement(token, next, frame);
}

/* What is left out leaves its problems with the token after it. */
static void hand_on_problems(const Token *token, Token *next) {
  if (!token->problem) return;
  Problem *last = token->problem;
  while (last->next) last = last->next;
  last->next = next->problem;
  next->problem = token->problem;
}

void layout_apply(Arena *arena, Tokens *tokens) {
  Tokens out = {0};
  VEC(Frame) frames = {0};
  vec_push(arena, &frames, (Frame){0});
  Token *last = NULL;
  for (int i = 0; i < tokens->count; i++) {
    Token *token = tokens->items[i];
    const Token *next = i + 1 < tokens->count ? tokens->items[i + 1] : NULL;
    Frame *frame = &frames.items[frames.count - 1];
    if (is_separator(last, token, next, frame)) {
      last = token_synthetic(arena, T_SEP, last, token);
      vec_push(arena, &out, last);
    }
    int is_idle = !last || last->kind == T_SEP || last->kind == '{';
    if (token->kind == T_SEP && is_idle) { /* never the last: T_END is */
      hand_on_problems(token, tokens->items[i + 1]);
      continue;
    }
    token->starts_stmt = is_idle;
    if (token->kind == T_SCAN) frame->in_scan_header = 1;
    if (token->kind == '{') frame->in_scan_header = 0;
    if (token_is_closer(token->kind)) frames.count--;
    if (token_is_opener(token->kind)) vec_push(arena, &frames, ((Frame){token->kind, 0}));
    vec_push(arena, &out, token);
    last = token;
  }
  *tokens = out;
}
