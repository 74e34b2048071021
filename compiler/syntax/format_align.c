/* Columns of neighbouring lines.
 *
 * Items of two lines that stand directly below each other are tied when they shall have the same
 * column: the '=' and ':' of neighbouring declarations of one kind and of neighbouring entries, the
 * comments after neighbouring lines, and whatever the user put into one column with more blanks
 * than needed.  Ties never cross, so moving tied items to the right until all agree comes to an
 * end; and since the result shows the user's alignment again, formatting it changes nothing. */
#include "syntax/format_items.h"

#include "net.tab.h"

typedef struct Aligner {
  Arena *arena;
  Items *items;
  int *parent; /* of each item: union-find over tied items */
  int *wanted; /* of each class: its column */
  int *mark;   /* of each class: its item in the upper line of the pair at hand, + 1 */
} Aligner;

static Item *item_at(const Aligner *a, int index) { return &a->items->items[index]; }

static int line_end(const Aligner *a, int line) {
  int end = line + 1;
  while (end < a->items->count && !item_at(a, end)->before) end++;
  return end;
}

/* ---- ties --------------------------------------------------------------------------------- */

static int find_class(Aligner *a, int item) {
  while (a->parent[item] != item) item = a->parent[item] = a->parent[a->parent[item]];
  return item;
}

/* Two lines, one above the other. */
typedef struct Pair {
  int upper, upper_end, lower, lower_end; /* [first item, end) */
} Pair;

/* The first item of that kind in [from, end) outside brackets opened there, or -1. */
static int find_kind(const Aligner *a, int from, int end, int kind) {
  for (int i = from; i < end; i++) {
    if (item_at(a, i)->kind == kind) return i;
    if (token_is_opener(item_at(a, i)->kind)) {
      if (item_at(a, i)->kind == '{' || item_at(a, i)->match >= end) return -1;
      i = item_at(a, i)->match;
    }
  }
  return -1;
}

/* name = ... */
static int is_simple_binding(const Aligner *a, int line, int end) {
  return line + 1 < end && item_at(a, line)->begins && token_is_name(item_at(a, line)->kind) &&
         item_at(a, line + 1)->kind == '=';
}

/* May there be more blanks before the item than it needs?  Not after '(', for example. */
static int is_movable(const Item *item) { return item->gap > 0 || item->kind == T_SEP; }

static int is_padded(const Item *item) {
  return is_movable(item) && !item->source_lines && item->source_gap > item->gap;
}

static int same_column(const Item *a, const Item *b) {
  return a->token->span.column == b->token->span.column;
}

/* Is the '=' of a simple binding padded although no neighbour has it in the same column?  Then a
 * name was changed, and the alignment is mended. */
static int is_out_of_line(const Aligner *a, int line, int end, int above, int below) {
  const Item *equals = item_at(a, line + 1);
  if (!is_simple_binding(a, line, end) || !is_padded(equals)) return 0;
  return !(above >= 0 && same_column(equals, item_at(a, above))) &&
         !(below >= 0 && same_column(equals, item_at(a, below)));
}

/* The ties of one pair of lines. */
typedef struct Ties {
  VEC(int) upper;
  VEC(int) lower;
} Ties;

static int crosses(const Ties *ties, int upper, int lower) {
  for (int i = 0; i < ties->upper.count; i++) {
    int left = upper < ties->upper.items[i], below = lower < ties->lower.items[i];
    if (upper == ties->upper.items[i] || lower == ties->lower.items[i] || left != below) return 1;
  }
  return 0;
}

static void tie(Aligner *a, Ties *ties, int upper, int lower) {
  if (upper < 0 || lower < 0 || find_class(a, upper) == find_class(a, lower)) return;
  if (crosses(ties, upper, lower)) return;
  vec_push(a->arena, &ties->upper, upper);
  vec_push(a->arena, &ties->lower, lower);
  a->parent[find_class(a, lower)] = find_class(a, upper);
}

/* What neighbouring declarations of one kind have in common. */
static void tie_declarations(Aligner *a, Ties *ties, const Pair *p) {
  int kind = item_at(a, p->upper)->kind;
  int is_variable = kind == T_INPUT || kind == T_PARAM || kind == T_STATE || kind == T_STREAM;
  if (kind != item_at(a, p->lower)->kind || !item_at(a, p->lower)->begins) return;
  if (kind == T_DATA)
    tie(a, ties, find_kind(a, p->upper, p->upper_end, '{'),
        find_kind(a, p->lower, p->lower_end, '{'));
  if (is_variable)
    tie(a, ties, find_kind(a, p->upper, p->upper_end, ':'),
        find_kind(a, p->lower, p->lower_end, ':'));
  if (is_variable || kind == T_CONST || kind == T_OPTION)
    tie(a, ties, find_kind(a, p->upper, p->upper_end, '='),
        find_kind(a, p->lower, p->lower_end, '='));
}

static void tie_bindings(Aligner *a, Ties *ties, const Pair *p, int above, int below) {
  if (!is_simple_binding(a, p->upper, p->upper_end)) return;
  if (!is_simple_binding(a, p->lower, p->lower_end)) return;
  int is_entry = item_at(a, p->upper)->is_entries && item_at(a, p->lower)->is_entries;
  int is_same = same_column(item_at(a, p->upper + 1), item_at(a, p->lower + 1)) &&
                (is_padded(item_at(a, p->upper + 1)) || is_padded(item_at(a, p->lower + 1)));
  if (is_entry || is_same || is_out_of_line(a, p->upper, p->upper_end, above, p->lower + 1) ||
      is_out_of_line(a, p->lower, p->lower_end, p->upper + 1, below))
    tie(a, ties, p->upper + 1, p->lower + 1);
}

/* What the user aligned. */
static void tie_columns(Aligner *a, Ties *ties, const Pair *p) {
  int j = p->lower + 1;
  for (int i = p->upper + 1; i < p->upper_end; i++) {
    const Item *upper = item_at(a, i);
    while (j < p->lower_end && item_at(a, j)->token->span.column < upper->token->span.column) j++;
    if (j == p->lower_end) return;
    const Item *lower = item_at(a, j);
    int is_pair = same_column(upper, lower) && upper->kind == lower->kind &&
                  upper->kind != T_COMMENT && is_movable(upper) && is_movable(lower);
    if (is_pair && (is_padded(upper) || is_padded(lower))) tie(a, ties, i, j);
  }
}

static void tie_comments(Aligner *a, Ties *ties, const Pair *p) {
  int upper = p->upper_end - 1, lower = p->lower_end - 1;
  if (upper > p->upper && lower > p->lower && item_at(a, upper)->kind == T_COMMENT &&
      item_at(a, lower)->kind == T_COMMENT)
    tie(a, ties, upper, lower);
}

/* The line below that begins a statement or entry at the same place, with no blank line between;
 * lines on which the upper one goes on are passed over.  -1 when there is none. */
static int line_below(const Aligner *a, int line) {
  const Item *upper = item_at(a, line);
  for (int at = line_end(a, line); at < a->items->count; at = line_end(a, at)) {
    const Item *lower = item_at(a, at);
    int is_same_place =
        lower->place.item == upper->place.item && lower->place.offset == upper->place.offset;
    if (lower->before == BREAK_BLANK || lower->kind == T_COMMENT || lower->kind == '}') return -1;
    if (lower->begins) return is_same_place ? at : -1;
  }
  return -1;
}

/* The '=' of the simple binding that the line is, or -1. */
static int binding_in(const Aligner *a, int line) {
  return line >= 0 && is_simple_binding(a, line, line_end(a, line)) ? line + 1 : -1;
}

/* The ties that the pair has already. */
static void collect_ties(Aligner *a, Ties *ties, const Pair *p) {
  ties->upper.count = ties->lower.count = 0;
  for (int i = p->upper; i < p->upper_end; i++) a->mark[find_class(a, i)] = i + 1;
  for (int i = p->lower; i < p->lower_end; i++) {
    int upper = a->mark[find_class(a, i)] - 1;
    if (upper < p->upper || upper >= p->upper_end) continue;
    vec_push(a->arena, &ties->upper, upper);
    vec_push(a->arena, &ties->lower, i);
  }
}

/* Statements below each other. */
static void tie_statements(Aligner *a, Ties *ties) {
  int last = -1, above = -1; /* the line above this one, and where it expects its successor */
  for (int line = 0; line < a->items->count; line = line_end(a, line)) {
    if (!item_at(a, line)->begins) continue;
    int lower = line_below(a, line);
    if (lower >= 0) {
      int below = line_below(a, lower);
      Pair p = {line, line_end(a, line), lower, line_end(a, lower)};
      collect_ties(a, ties, &p);
      tie_declarations(a, ties, &p);
      tie_bindings(a, ties, &p, last == line ? binding_in(a, above) : -1, binding_in(a, below));
    }
    last = lower;
    above = line;
  }
}

/* Both begin a statement, or both go on with one, at the same place.  A line that goes on may
 * depend on the columns of the statement above it, so ties between the two kinds could run in a
 * circle. */
static int are_peers(const Aligner *a, int upper, int lower) {
  const Item *first = item_at(a, upper), *second = item_at(a, lower);
  return first->begins == second->begins && first->place.item == second->place.item &&
         first->place.offset == second->place.offset &&
         second->token->span.line == first->token->span.line + 1;
}

/* Lines below each other. */
static void tie_lines(Aligner *a, Ties *ties) {
  for (int line = 0, next; line < a->items->count; line = next) {
    next = line_end(a, line);
    if (next >= a->items->count || item_at(a, next)->before == BREAK_BLANK) continue;
    Pair p = {line, next, next, line_end(a, next)};
    collect_ties(a, ties, &p);
    if (are_peers(a, line, next)) tie_columns(a, ties, &p);
    tie_comments(a, ties, &p);
  }
}

/* ---- moving ------------------------------------------------------------------------------- */

/* One sweep over all items; 0 when nothing moved. */
static int move_all(Aligner *a) {
  int moved = 0;
  for (int i = 0; i < a->items->count; i++) {
    Item *item = item_at(a, i);
    int class = find_class(a, i), column;
    if (item->before || i == 0) {
      Place place = item->place;
      column = place.offset + (place.item < 0 ? 0 : item_at(a, place.item)->column);
    } else {
      const Item *last = item_at(a, i - 1);
      column = last->column + (item->is_dropped ? 0 : last->width + item->gap);
    }
    if (column < a->wanted[class]) column = a->wanted[class];
    if (column > a->wanted[class]) a->wanted[class] = column;
    if (column != item->column) moved = 1;
    item->column = column;
  }
  return moved;
}

void format_align(Arena *arena, Items *items) {
  enum { SWEEPS = 100 };
  Aligner a = {.arena = arena, .items = items};
  a.parent = ARENA_ARRAY(arena, int, items->count);
  a.wanted = ARENA_ARRAY(arena, int, items->count);
  a.mark = ARENA_ARRAY(arena, int, items->count);
  for (int i = 0; i < items->count; i++) a.parent[i] = i;
  Ties ties = {0};
  tie_statements(&a, &ties);
  tie_lines(&a, &ties);
  for (int i = 0; i < SWEEPS && move_all(&a); i++) continue;
}
