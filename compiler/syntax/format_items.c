/* Items of a file: which of the user's line breaks stay, and the gaps inside a line.
 *
 * Rules of the breaks: a block whose braces stand on different lines has a break after '{' and one
 * before '}'; one on a single line stays so; '{' stays on the line of what is before it, `else` and
 * `gradient` on that of a '}' that begins its line; at most one blank line, none at the edges of a
 * block. */
#include "syntax/format_items.h"

#include <string.h>

#include "net.tab.h"

/* One open bracket, or the file. */
typedef struct Level {
  int kind;      /* '(' '[' '{', 0 for the file */
  int begin;     /* first item of the statement or entry being read */
  int questions; /* '?' whose ':' is still to come */
  int in_value;  /* of entries: after the '=', so ',' separates */
  int is_entries;
} Level;

typedef struct Reader {
  Arena *arena;
  Items *items;
  VEC(Level) levels;
} Reader;

static int text_width(const char *text, size_t length) {
  int width = 0;
  for (const char *at = text, *end = text + length; at < end; width++)
    at += source_char_length(at, end);
  return width;
}

static int is_keyword(int kind) { return kind >= T_CONST && kind <= T_PARAM; }

static const Item *item_at(const Items *items, int index) {
  static const Item none = {.kind = T_SEP, .match = -1};
  return index >= 0 && index < items->count ? &items->items[index] : &none;
}

/* ---- reading ------------------------------------------------------------------------------ */

/* A comment runs to the end of its line; blanks there are not part of it. */
static size_t trimmed_length(const Token *token) {
  size_t length = token->length;
  if (token->kind == T_COMMENT)
    while (length && strchr(" \t\r\f\v", token->text[length - 1])) length--;
  return length;
}

static void read_items(Arena *arena, const Tokens *all, Items *items) {
  const Token *last = NULL;
  for (int i = 0; i < all->count; i++) {
    const Token *token = all->items[i];
    if (token->kind == T_END) break;
    Item item = {.token = token, .kind = token->kind, .match = -1, .source_lines = token->newlines};
    item.length = (int)trimmed_length(token);
    item.width = text_width(token->text, (size_t)item.length);
    if (last && !token->newlines) item.source_gap = token->span.column - last->span.end_column;
    vec_push(arena, items, item);
    last = token;
  }
}

static void match_brackets(Arena *arena, Items *items) {
  VEC(int) open = {0};
  for (int i = 0; i < items->count; i++) {
    Item *item = &items->items[i];
    if (token_is_opener(item->kind)) vec_push(arena, &open, i);
    if (!token_is_closer(item->kind)) continue;
    item->match = open.items[--open.count];
    items->items[item->match].match = i;
  }
}

/* ---- statements and entries --------------------------------------------------------------- */

static int is_entries_brace(const Items *items, int begin, int brace) {
  int first = item_at(items, begin)->kind;
  int second = item_at(items, begin + 1)->kind;
  int before = item_at(items, brace - 1)->kind;
  if (first == T_DATA) return brace == begin + 2;
  if (first == T_TRAIN || first == T_PREDICT || first == T_GENERATE) return brace == begin + 1;
  if (first == T_PARAMS) return second == T_STRING;
  return first == T_EXTERN && token_is_name(second) && before != ')';
}

static void mark_structure(Reader *reader) {
  Items *items = reader->items;
  vec_push(reader->arena, &reader->levels, ((Level){0}));
  for (int i = 0; i < items->count; i++) {
    Item *item = &items->items[i];
    Level *level = &reader->levels.items[reader->levels.count - 1];
    if (item->kind == T_COMMENT) continue;
    if (item->token->starts_stmt) item->begins = 1;
    if (item->begins) level->begin = i, level->in_value = 0;
    item->is_entries = level->is_entries;
    if (item->kind == T_SEP) item->is_between = 1;
    if (item->kind == '=' || item->kind == '{') level->in_value = 1;
    if (item->kind == ',' && level->is_entries && level->in_value) {
      item->is_between = 1;
      int next = i + 1;
      while (item_at(items, next)->kind == T_COMMENT) next++;
      if (next < items->count && items->items[next].kind != '}') items->items[next].begins = 1;
    }
    if (item->kind == '{') item->is_entries = is_entries_brace(items, level->begin, i);
    if (token_is_closer(item->kind)) reader->levels.count--;
    if (token_is_opener(item->kind)) {
      Level inner = {.kind = item->kind, .begin = i + 1};
      inner.is_entries = item->kind == '{' && item->is_entries;
      vec_push(reader->arena, &reader->levels, inner);
    }
  }
}

/* Is a separator at the edge of a block, at an end of a line, doubled?  `lines`: line ends between
 * it and the last item that stays. */
static int is_idle(const Item *last, int lines, const Items *items, int index) {
  if (!last || lines || last->kind == T_SEP || last->kind == '{') return 1;
  if (index + 1 == items->count) return 1;
  const Item *next = item_at(items, index + 1);
  return next->source_lines || next->kind == '}' || next->kind == T_SEP || next->kind == T_COMMENT;
}

static Items without_idle_separators(Arena *arena, const Items *items) {
  Items kept = {0};
  int lines = 0;
  for (int i = 0; i < items->count; i++) {
    Item item = items->items[i];
    const Item *last = kept.count ? &kept.items[kept.count - 1] : NULL;
    lines += item.source_lines;
    if (item.is_between && is_idle(last, lines, items, i)) continue;
    if (lines) item.source_gap = 0;
    item.source_lines = lines;
    lines = 0;
    vec_push(arena, &kept, item);
  }
  return kept;
}

/* ---- gaps --------------------------------------------------------------------------------- */

/* Does an operand end with this item?  After an operand `along` and `recompute` are clauses of a
 * scan. */
static int ends_operand(const Items *items, int index) {
  const Item *item = item_at(items, index);
  int may_be_clause = item->kind == T_ALONG || item->kind == T_RECOMPUTE;
  if (may_be_clause && token_ends_operand(item_at(items, index - 1)->kind)) return 0;
  return token_ends_operand(item->kind);
}

int format_is_infix(const Items *items, int index) { return ends_operand(items, index - 1); }

static int is_sign(const Items *items, int index) {
  int kind = item_at(items, index)->kind;
  return kind == '!' || (kind == '-' && !ends_operand(items, index - 1));
}

static int opens_tight(const Items *items, int index) {
  const Item *before = item_at(items, index - 1);
  if (before->kind == T_GRADIENT && item_at(items, index - 2)->kind == '}') return 0;
  if (before->kind == T_WITH) return 1; /* the stage of data */
  return ends_operand(items, index - 1) && !is_keyword(before->kind);
}

/* The gap before item `index`.  slice: it is the ':' of a slice; after_slice: it follows one. */
static int natural_gap(const Items *items, int index, int slice, int after_slice) {
  int kind = item_at(items, index)->kind, before = item_at(items, index - 1)->kind;
  if (kind == T_COMMENT) return 2;
  if (before == '(' || before == '[' || kind == ')' || kind == ']') return 0;
  if (kind == ',' || kind == T_SEP) return 0;
  if (before == ',') return 1;
  if (slice || after_slice) return 0;
  if (kind == '.') return before == T_NUMBER;
  if (kind == T_CALL_NUMBER) return 0;
  if (before == '.' || kind == T_DOTDOT || before == T_DOTDOT) return 0;
  if (is_sign(items, index - 1)) return 0;
  if (kind == '(' || kind == '[') return !opens_tight(items, index);
  return 1;
}

/* ---- breaks ------------------------------------------------------------------------------- */

/* Do the braces stand on different lines? */
static int is_long_block(const Items *items, int open) {
  for (int i = open + 1; i <= items->items[open].match; i++)
    if (items->items[i].source_lines) return 1;
  return 0;
}

static LineBreak break_before(const Items *items, int index, int in_parentheses) {
  const Item *item = item_at(items, index), *last = item_at(items, index - 1);
  if (index == 0) return BREAK_NONE;
  if (last->kind == T_COMMENT) {
    int is_blank = item->source_lines > 1 && !in_parentheses && item->kind != '}';
    return is_blank ? BREAK_BLANK : BREAK_LINE;
  }
  if (item->kind == '{') return BREAK_NONE;
  if (last->kind == '}' && (item->kind == T_ELSE || item->kind == T_GRADIENT) && !item->begins)
    return item->source_lines && !is_long_block(items, last->match) ? BREAK_LINE : BREAK_NONE;
  if (last->kind == '{' && item->kind != T_COMMENT)
    return item->kind != '}' && is_long_block(items, index - 1) ? BREAK_LINE : BREAK_NONE;
  if (item->kind == '}') return is_long_block(items, item->match) ? BREAK_LINE : BREAK_NONE;
  if (!item->source_lines) return BREAK_NONE;
  int is_start = item->begins || item->kind == T_COMMENT;
  int may_be_blank = !in_parentheses && last->kind != '{' && is_start;
  return item->source_lines > 1 && may_be_blank ? BREAK_BLANK : BREAK_LINE;
}

/* The gap and the break before each item, by the bracket that it stands in. */
static void set_spaces(Reader *reader) {
  Items *items = reader->items;
  int after_slice = 0;
  reader->levels.count = 0;
  vec_push(reader->arena, &reader->levels, ((Level){0}));
  for (int i = 0; i < items->count; i++) {
    Item *item = &items->items[i];
    Level *level = &reader->levels.items[reader->levels.count - 1];
    int slice = item->kind == ':' && level->kind == '[' && !level->questions;
    item->gap = i ? natural_gap(items, i, slice, after_slice) : 0;
    item->before = break_before(items, i, level->kind == '(' || level->kind == '[');
    if (item->kind != T_COMMENT) after_slice = slice;
    if (item->kind == '?') level->questions++;
    if (item->kind == ':' && level->questions) level->questions--;
    if (token_is_closer(item->kind)) reader->levels.count--;
    if (token_is_opener(item->kind))
      vec_push(reader->arena, &reader->levels, ((Level){.kind = item->kind}));
  }
}

void format_items(Arena *arena, const SourceFile *file, Items *items) {
  Tokens all = {0};
  tokens_scan(arena, file, &all);
  read_items(arena, &all, items); /* before the next steps count line ends anew */
  Tokens kept = tokens_without_ignored(arena, &all);
  layout_apply(arena, &kept); /* marks the tokens that begin a statement */
  match_brackets(arena, items);
  Reader reader = {.arena = arena, .items = items};
  mark_structure(&reader);
  *items = without_idle_separators(arena, items);
  match_brackets(arena, items);
  set_spaces(&reader);
}
