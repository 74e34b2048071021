/* Lines: where each begins, and the breaking of those that are too long.
 *
 * Inside brackets a line begins after the bracket, or, when the bracket ends its line, two columns
 * right of that line.  A statement that goes on begins its further lines, when they begin with an
 * operator, below its '=' or two columns in (whichever the user chose), otherwise below what stands
 * after the '='.  The clauses of a scan stand below `scan`, the carries below the first.
 *
 * A line that is too long is broken where the fewest brackets are open, as late as fits: before an
 * operator, the loosest first, after a comma, or by giving a block in it several lines. */
#include "syntax/format.h"
#include "syntax/format_items.h"

#include "net.tab.h"

/* An open bracket, or the file. */
typedef struct Frame {
  int kind;     /* 0, '{', or '(' which stands for '[' as well */
  Place indent; /* of lines in it */
  Place close;  /* of its closer, when that begins a line */
  Place base;   /* of blocks in it */
  int begin;    /* first item of the statement being read; -1 for none, as in the following */
  int equals;   /* its '=' */
  int hangs;    /* its further lines: 1 below the '=', 2 two columns in; 0 not yet known */
  int list;     /* first of the things that commas separate */
  int scan;     /* `scan`, until its block begins */
  int carries;  /* the first name after `with` */
} Frame;

typedef struct Lines {
  Arena *arena;
  Items *items;
  VEC(Frame) frames;
  int *code; /* of each item: the first one from there on that is no comment */
} Lines;

static Item *item_at(const Lines *lines, int index) { return &lines->items->items[index]; }

static Frame *top(const Lines *lines) { return &lines->frames.items[lines->frames.count - 1]; }

static void forget_statement(Frame *frame) {
  frame->equals = frame->list = frame->scan = frame->carries = -1;
  frame->hangs = 0;
}

static void push(Lines *lines, int kind, Place indent, Place close, Place base) {
  Frame frame = {.kind = kind, .indent = indent, .close = close, .base = base, .begin = -1};
  forget_statement(&frame);
  vec_push(lines->arena, &lines->frames, frame);
}

static Place shifted(Place place, int columns) {
  place.offset += columns;
  return place;
}

static int resolve(const Lines *lines, Place place) {
  return place.offset + (place.item < 0 ? 0 : item_at(lines, place.item)->column);
}

/* ---- the place of a line ------------------------------------------------------------------ */

static int begins_with_operator(const Lines *lines, int index) {
  static const int operators[] = {
      '+', '-', '*',  '/',  '%',  '@',  '^',   '?',  ':',        '.',      '|',     '=',
      '<', '>', T_LE, T_GE, T_EQ, T_NE, T_AND, T_OR, T_FLOORDIV, T_DOTDOT, T_ARROW, T_IN,
  };
  int kind = item_at(lines, index)->kind;
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
    if (kind == operators[i]) return kind != '-' || format_is_infix(lines->items, index);
  return 0;
}

/* Does the line go below the item `other`?  The first line with which a statement goes on decides:
 * did the user put it at least as far right? */
static int goes_below(const Lines *lines, int index, int other) {
  const Item *item = item_at(lines, index);
  if (top(lines)->hangs) return top(lines)->hangs == 1;
  if (!item->source_lines) return 1; /* the break is ours */
  return item->token->span.column >= item_at(lines, other)->token->span.column;
}

static Place continuation(const Lines *lines, int index) {
  const Frame *frame = top(lines);
  int kind = item_at(lines, index)->kind;
  int is_clause = kind == T_ALONG || kind == T_RECOMPUTE || kind == T_WITH;
  if (is_clause && frame->scan >= 0) return (Place){frame->scan, 0};
  if (frame->carries >= 0) return (Place){frame->carries, 0};
  if (frame->kind == '(') return frame->indent;
  if (begins_with_operator(lines, index)) {
    if (frame->equals < 0) return shifted(frame->indent, 4);
    return goes_below(lines, index, frame->equals) ? (Place){frame->equals, 0}
                                                   : shifted(frame->indent, 2);
  }
  if (frame->list >= 0 && item_at(lines, index - 1)->kind == ',') return (Place){frame->list, 0};
  if (frame->equals < 0 || !goes_below(lines, index, frame->equals + 1))
    return shifted(frame->indent, 4);
  return (Place){frame->equals + 1, 0};
}

/* Of a comment on a line of its own: that of what follows. */
static Place comment_place(const Lines *lines, int index) {
  const Frame *frame = top(lines);
  index = lines->code[index];
  if (index == lines->items->count || frame->kind == '(') return frame->indent;
  const Item *next = item_at(lines, index);
  if (next->begins || next->kind == '}' || frame->begin < 0) return frame->indent;
  return shifted(frame->indent, 4);
}

static Place line_place(const Lines *lines, int index) {
  const Item *item = item_at(lines, index);
  if (item->kind == T_COMMENT) return comment_place(lines, index);
  if (token_is_closer(item->kind)) return top(lines)->close;
  int is_clause = item->kind == T_ELSE || item->kind == T_GRADIENT;
  if (item->begins || is_clause || index == 0) return top(lines)->indent;
  return continuation(lines, index);
}

/* ---- reading on --------------------------------------------------------------------------- */

static void open_bracket(Lines *lines, int index, int line) {
  Place base = top(lines)->base;
  if (item_at(lines, index)->kind == '{') {
    push(lines, '{', shifted(base, 2), base, shifted(base, 2));
    return;
  }
  int next = lines->code[index + 1];
  int hangs = next < lines->items->count && item_at(lines, next)->before;
  Place hanging = {line, 2};
  if (hangs) push(lines, '(', hanging, (Place){line, 0}, hanging);
  else push(lines, '(', (Place){index, 1}, (Place){index, 0}, base);
}

/* Takes notice of how a statement goes on. */
static void note_line(Lines *lines, int line) {
  const Item *item = item_at(lines, line);
  Frame *frame = top(lines);
  int is_margin = item->place.item == frame->indent.item;
  if (item->begins || frame->equals < 0 || frame->hangs || frame->kind == '(') return;
  if (item->kind == T_COMMENT || token_is_closer(item->kind)) return;
  if (item->place.item == frame->equals || item->place.item == frame->equals + 1) frame->hangs = 1;
  else if (is_margin && item->place.offset > frame->indent.offset) frame->hangs = 2;
}

/* Takes notice of an item of the line that begins with item `line`. */
static void advance(Lines *lines, int index, int line) {
  const Item *item = item_at(lines, index);
  Frame *frame = top(lines);
  int in_block = frame->kind != '(';
  if (item->begins) {
    forget_statement(frame);
    frame->begin = index;
    if (item->kind == T_CONST || item->kind == T_RETURN || item->kind == T_YIELD ||
        item->kind == T_PARAMS)
      frame->list = index + 1;
  }
  if ((item->kind == '=' || item->kind == T_ARROW) && in_block && frame->carries < 0)
    frame->equals = index;
  if (item->kind == T_SCAN) frame->scan = index;
  if (item->kind == T_WITH && frame->scan >= 0) frame->carries = index + 1;
  if (item->kind == '{') frame->scan = frame->carries = -1;
  if (token_is_closer(item->kind)) lines->frames.count--;
  if (token_is_opener(item->kind)) open_bracket(lines, index, line);
}

/* ---- lines that are too long -------------------------------------------------------------- */

/* A place for a break: the shallower the better, then the looser, then the later. */
typedef struct Candidate {
  int item; /* -1: none */
  int depth, tightness;
} Candidate;

static void consider(Candidate *best, int item, int depth, int tightness) {
  int is_worse = depth > best->depth || (depth == best->depth && tightness > best->tightness);
  if (best->item < 0 || !is_worse) *best = (Candidate){item, depth, tightness};
}

/* How tightly the operator at `index` binds, before which a line may be broken; 0 for others. */
static int tightness_of(const Lines *lines, int index) {
  static const struct {
    int kind, tightness;
  } operators[] = {
      {'|', 1},  {'?', 1},  {T_OR, 2}, {T_AND, 3}, {'<', 4},        {'>', 4},
      {T_LE, 4}, {T_GE, 4}, {T_EQ, 4}, {T_NE, 4},  {'+', 5},        {'-', 5},
      {'*', 6},  {'/', 6},  {'%', 6},  {'@', 6},   {T_FLOORDIV, 6},
  };
  int kind = item_at(lines, index)->kind;
  if (kind == '-' && !format_is_infix(lines->items, index)) return 0;
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
    if (kind == operators[i].kind) return operators[i].tightness;
  return 0;
}

static int is_short_block(const Lines *lines, int index) {
  const Item *next = item_at(lines, index + 1);
  return item_at(lines, index)->kind == '{' && !next->before && next->kind != '}' &&
         next->kind != T_COMMENT;
}

static void spread_clause(Lines *lines, int index);

/* Gives a block on one line a line for each of its statements. */
static void spread_block(Lines *lines, int open) {
  int depth = 0;
  for (int i = open + 1; i <= item_at(lines, open)->match; i++) {
    Item *item = item_at(lines, i);
    if (token_is_closer(item->kind)) depth--;
    if (i == open + 1 || depth < 0) item->before = BREAK_LINE;
    if (token_is_opener(item->kind)) depth++;
    if (!item->is_between || depth) continue;
    item->is_dropped = 1;
    item_at(lines, i + 1)->before = BREAK_LINE;
  }
  spread_clause(lines, item_at(lines, open)->match + 1);
}

/* The `else` or `gradient` after a block that was spread follows on the line of its '}', and its
 * own block is spread as well. */
static void spread_clause(Lines *lines, int index) {
  if (index == lines->items->count) return;
  Item *clause = item_at(lines, index);
  if ((clause->kind != T_ELSE && clause->kind != T_GRADIENT) || clause->begins) return;
  clause->before = BREAK_NONE;
  while (item_at(lines, index)->kind != '{') index++;
  if (is_short_block(lines, index)) spread_block(lines, index);
}

static void break_before(Lines *lines, int index) {
  Item *last = item_at(lines, index - 1);
  item_at(lines, index)->before = BREAK_LINE;
  if (last->is_between) last->is_dropped = 1;
}

/* After these a comma separates values, not names to be bound. */
static int binds(const Lines *lines, int index) {
  int kind = item_at(lines, index)->kind;
  return kind == '=' || kind == T_ARROW || kind == T_RETURN || kind == T_YIELD || kind == T_PARAMS;
}

/* The ways to break a line, as far as it is in reach. */
typedef struct Choice {
  Candidate block, comma, operator;
} Choice;

/* Looks for breaks in the line that begins with item `line`; 0 when it is short enough. */
static int survey_line(const Lines *lines, int line, Choice *choice) {
  const Frame *frame = top(lines);
  int is_bound = frame->kind == '(' || frame->equals >= 0 || frame->list >= 0 || frame->scan >= 0;
  int depth = 0, column = resolve(lines, line_place(lines, line));
  for (int i = line; i < lines->items->count; i++) {
    const Item *item = item_at(lines, i);
    if ((i > line && item->before) || item->kind == T_COMMENT) return 0;
    column += (i > line ? item->gap : 0) + item->width;
    if (token_is_closer(item->kind)) depth--;
    if (column > FORMAT_COLUMNS) return 1;
    int tightness = i > line ? tightness_of(lines, i) : 0;
    if (tightness) consider(&choice->operator, i, depth, tightness);
    if (is_short_block(lines, i) && (choice->block.item < 0 || depth < choice->block.depth))
      choice->block = (Candidate){i, depth, 0};
    if (!depth && binds(lines, i)) is_bound = 1;
    int is_last = i + 1 == lines->items->count || item_at(lines, i + 1)->before;
    if ((item->kind == ',' || item->is_between) && (depth || is_bound) && !is_last)
      consider(&choice->comma, i + 1, depth, 0);
    if (token_is_opener(item->kind)) depth++;
  }
  return 0;
}

/* Puts one more break into the line, if it is too long; 0 when nothing was done. */
static int shorten_line(Lines *lines, int line) {
  Choice choice = {{-1, 0, 0}, {-1, 0, 0}, {-1, 0, 0}};
  if (!survey_line(lines, line, &choice)) return 0;
  const Candidate *best = choice.comma.item >= 0 ? &choice.comma : &choice.operator;
  if (choice.operator.item >= 0 && choice.operator.depth<best->depth) best = &choice.operator;
  if (choice.block.item >= 0 && (best->item < 0 || best->depth >= choice.block.depth))
    spread_block(lines, choice.block.item);
  else if (best->item >= 0) break_before(lines, best->item);
  else return 0;
  return 1;
}

void format_lines(Arena *arena, Items *items) {
  Lines lines = {.arena = arena, .items = items};
  lines.code = ARENA_ARRAY(arena, int, items->count + 1);
  lines.code[items->count] = items->count;
  for (int i = items->count - 1; i >= 0; i--)
    lines.code[i] = items->items[i].kind == T_COMMENT ? lines.code[i + 1] : i;
  const Place margin = {-1, 0};
  push(&lines, 0, margin, margin, margin);
  for (int line = 0, end; line < items->count; line = end) {
    while (shorten_line(&lines, line)) continue;
    Item *first = item_at(&lines, line);
    first->place = line_place(&lines, line);
    first->column = resolve(&lines, first->place);
    note_line(&lines, line);
    advance(&lines, line, line);
    for (end = line + 1; end < items->count && !item_at(&lines, end)->before; end++) {
      Item *item = item_at(&lines, end), *last = item_at(&lines, end - 1);
      item->column = last->column + (item->is_dropped ? 0 : last->width + item->gap);
      advance(&lines, end, line);
    }
  }
}
