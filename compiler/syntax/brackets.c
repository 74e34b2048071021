/* Matching brackets, and repairing what does not match.
 *
 * The first round pairs brackets with a stack and finds openers that are never closed and closers
 * that close nothing.  When a '{' stays open at the end of the file the round is repeated and now
 * trusts the indentation: a '}' at the beginning of a line closes the '{' whose line stands in the
 * same column.  The second round writes the list anew: a closer that is missing is put in before the
 * first thing that looks like a new statement (for a brace: that stands as far left as the line of
 * the brace), at the latest where the bracket around it ends. */
#include "syntax/tokens.h"

#include "syntax/ast.h"
#include "net.tab.h"

enum { UNMATCHED = -1, STRAY = -2 };

typedef VEC(int) Ints;

typedef struct Matcher {
  Arena *arena;
  Tokens *tokens;
  int *partner;    /* of each token: index, UNMATCHED for an opener, STRAY for a closer */
  int *limit;      /* of an unmatched opener: it must be closed before this token */
  int *indent;     /* of an opener: the column where its statement begins */
  Ints open;       /* stack of openers */
  int by_indent;   /* trust the indentation of '}' */
  int is_too_deep; /* index of the opener that was one too many, or 0 */
} Matcher;

static int closer_of(int opener) { return opener == '(' ? ')' : opener == '[' ? ']' : '}'; }

static Token *token_at(const Matcher *m, int index) { return m->tokens->items[index]; }

static int top(const Matcher *m) { return m->open.items[m->open.count - 1]; }

/* ---- the first round ---------------------------------------------------------------------- */

/* Closes the openers above stack position `position` by force, and that one properly. */
static void close_at(Matcher *m, int position, int closer) {
  while (m->open.count - 1 > position) m->limit[m->open.items[--m->open.count]] = closer;
  int opener = m->open.items[--m->open.count];
  m->partner[opener] = closer;
  m->partner[closer] = opener;
}

/* The stack position of the nearest '{' whose statement or line begins in the column of this
 * '}', or -1. */
static int find_by_indent(const Matcher *m, const Token *closer) {
  for (int i = m->open.count - 1; i >= 0; i--) {
    int index = m->open.items[i];
    const Token *opener = token_at(m, index);
    int is_below = opener->indent == closer->indent || m->indent[index] == closer->indent;
    if (opener->kind == '{' && is_below) return i;
  }
  return -1;
}

/* The stack position of the opener that this closer belongs to, or -1.  A ')' or ']' never reaches
 * out of a block. */
static int find_opener(const Matcher *m, const Token *closer) {
  if (m->by_indent && closer->kind == '}' && closer->span.column == closer->indent) {
    int position = find_by_indent(m, closer);
    if (position >= 0) return position;
  }
  for (int i = m->open.count - 1; i >= 0; i--) {
    int kind = token_at(m, m->open.items[i])->kind;
    if (closer_of(kind) == closer->kind) return i;
    if (kind == '{') return -1;
  }
  return -1;
}

/* Does a statement seem to begin here, where an operand has ended? */
static int looks_like_statement(const Matcher *m, int index) {
  if (token_is_name(token_at(m, index)->kind) && !token_ends_operand(token_at(m, index - 1)->kind))
    return 0;
  return tokens_seem_to_begin(m->tokens, index);
}

/* Does the right closer of the innermost opener follow, so that this wrong one is one too many? */
static int is_closed_later(const Matcher *m, int index) {
  enum { REACH = 500 }; /* tokens; further away nothing is certain, and looking costs time */
  int right = closer_of(token_at(m, top(m))->kind), depth = 0;
  for (int i = index + 1; i < m->tokens->count - 1 && i < index + REACH; i++) {
    const Token *token = token_at(m, i);
    if (token->kind == '{' || token->kind == '}') return 0;
    if (token->newlines && looks_like_statement(m, i)) return 0;
    if (token->kind == right && !depth) return 1;
    if (token_is_opener(token->kind)) depth++;
    if (token_is_closer(token->kind) && depth) depth--;
  }
  return 0;
}

static void match_closer(Matcher *m, int index) {
  Token *closer = token_at(m, index);
  int position = find_opener(m, closer);
  if (position >= 0) {
    close_at(m, position, index);
    return;
  }
  int is_wrong_kind = m->open.count && token_at(m, top(m))->kind != '{' && closer->kind != '}' &&
                      !is_closed_later(m, index);
  if (is_wrong_kind) close_at(m, m->open.count - 1, index);
  else m->partner[index] = STRAY;
}

/* The column where the statement around token `index` begins, when `column` is the one where that
 * around the token before it begins. */
static int statement_column(const Matcher *m, int index, int column) {
  const Token *token = token_at(m, index), *last = index ? token_at(m, index - 1) : NULL;
  if (!last || last->kind == '{') return token->newlines || !last ? token->indent : column;
  if (!token->newlines) return column;
  if (m->open.count && token_at(m, top(m))->kind != '{') return column;
  return layout_ends_statement(last, token) ? token->indent : column;
}

static void match_all(Matcher *m) {
  int count = m->tokens->count, column = 1;
  m->open.count = 0;
  for (int i = 0; i < count; i++) {
    m->partner[i] = UNMATCHED;
    m->limit[i] = count - 1; /* T_END */
    int kind = token_at(m, i)->kind;
    column = statement_column(m, i, column);
    if (token_is_closer(kind)) match_closer(m, i);
    if (token_is_closer(kind) && m->partner[i] >= 0) column = m->indent[m->partner[i]];
    if (!token_is_opener(kind)) continue;
    m->indent[i] = column;
    vec_push(m->arena, &m->open, i);
    if (m->open.count > AST_MAX_NESTING) {
      m->is_too_deep = i;
      return;
    }
  }
}

static int has_open_brace(const Matcher *m) {
  for (int i = 0; i < m->open.count; i++)
    if (token_at(m, m->open.items[i])->kind == '{') return 1;
  return 0;
}

/* ---- where a missing closer belongs ------------------------------------------------------- */

static int place_of_closer(const Matcher *m, int opener) {
  const Token *open = token_at(m, opener);
  for (int i = opener + 1; i < m->limit[opener]; i++) {
    const Token *token = token_at(m, i);
    int is_first = token->newlines > 0 && !token_is_closer(token->kind);
    if (is_first && open->kind == '{' && token->indent <= m->indent[opener]) return i;
    if (is_first && open->kind != '{' && looks_like_statement(m, i)) return i;
    if (token_is_opener(token->kind) && m->partner[i] > i) i = m->partner[i];
  }
  return m->limit[opener];
}

/* A string that ran to the end of its line has swallowed the closer: that was reported already. */
static int is_swallowed(const Matcher *m, int opener, int place) {
  for (int i = opener; i < place; i++)
    if (token_at(m, i)->is_unclosed) return 1;
  return 0;
}

/* ---- the second round --------------------------------------------------------------------- */

static void report_closer(Matcher *m, int index) {
  Token *closer = token_at(m, index);
  const Token *opener = token_at(m, m->partner[index]);
  int right = closer_of(opener->kind);
  if (closer->kind == right) return;
  Problem *problem = token_problem(m->arena, closer, closer->span, "'%c' where '%c' is needed",
                                   closer->kind, right);
  problem->note = arena_printf(m->arena, "the '%c' was opened here", opener->kind);
  problem->note_at = opener->span;
  closer->kind = right;
}

static void drop_stray(Matcher *m, int index) {
  Token *closer = token_at(m, index);
  token_problem(m->arena, closer, closer->span, "'%c' closes nothing", closer->kind)->stray =
      closer->kind;
  closer->kind = T_IGNORED;
}

static void put_closer(Matcher *m, Tokens *out, int opener) {
  const Token *open = token_at(m, opener);
  const Token *last = out->items[out->count - 1];
  vec_push(m->arena, out, token_synthetic(m->arena, closer_of(open->kind), last, open));
}

/* Writes the list anew.  waiting: the unmatched openers whose closer is due, innermost last. */
static void rewrite(Matcher *m, int *place) {
  Tokens out = {0};
  Ints waiting = {0};
  for (int i = 0; i < m->tokens->count; i++) {
    Token *token = token_at(m, i);
    while (waiting.count && place[waiting.items[waiting.count - 1]] <= i)
      put_closer(m, &out, waiting.items[--waiting.count]);
    if (m->partner[i] == STRAY) drop_stray(m, i);
    if (token_is_closer(token->kind)) report_closer(m, i);
    vec_push(m->arena, &out, token);
    if (!token_is_opener(token->kind) || m->partner[i] != UNMATCHED) continue;
    place[i] = place_of_closer(m, i);
    for (int j = waiting.count - 1; j >= 0 && place[waiting.items[j]] < place[i]; j--)
      place[waiting.items[j]] = place[i];
    vec_push(m->arena, &waiting, i);
    if (!is_swallowed(m, i, place[i]))
      token_problem(m->arena, token, token->span, "this '%c' is never closed", token->kind);
  }
  *m->tokens = tokens_without_ignored(m->arena, &out);
}

/* How many ( and [ are open around each token, counted from the innermost { . */
static void set_depths(Matcher *m) {
  Ints depths = {0}; /* of the blocks around */
  int depth = 0;
  for (int i = 0; i < m->tokens->count; i++) {
    Token *token = token_at(m, i);
    if (token->kind == ')' || token->kind == ']') depth--;
    if (token->kind == '}') depth = depths.items[--depths.count];
    token->depth = depth;
    if (token->kind == '(' || token->kind == '[') depth++;
    if (token->kind != '{') continue;
    vec_push(m->arena, &depths, depth);
    depth = 0;
  }
}

int brackets_match(Arena *arena, Tokens *tokens, const Token **too_deep) {
  Matcher m = {.arena = arena, .tokens = tokens};
  m.partner = ARENA_ARRAY(arena, int, tokens->count);
  m.limit = ARENA_ARRAY(arena, int, tokens->count);
  m.indent = ARENA_ARRAY(arena, int, tokens->count);
  match_all(&m);
  if (!m.is_too_deep && has_open_brace(&m)) {
    m.by_indent = 1;
    match_all(&m);
  }
  if (m.is_too_deep) {
    *too_deep = token_at(&m, m.is_too_deep);
    return 0;
  }
  rewrite(&m, ARENA_ARRAY(arena, int, tokens->count));
  set_depths(&m);
  return 1;
}
