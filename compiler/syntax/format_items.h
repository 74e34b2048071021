/* The formatter's picture of a file: tokens and comments with the blanks and breaks around them.
 *
 *     text ─ format_items ─► items: which breaks stay, how wide the gaps are   format_items.c
 *          ─ format_lines ─► indentation, long lines broken                    format_lines.c
 *          ─ format_align ─► columns of neighbouring lines                     format_align.c
 *          ─ format_program ─► text                                            format.c */
#ifndef NNC_SYNTAX_FORMAT_ITEMS_H
#define NNC_SYNTAX_FORMAT_ITEMS_H

#include "syntax/tokens.h"

typedef enum LineBreak { BREAK_NONE, BREAK_LINE, BREAK_BLANK } LineBreak;

/* A column: that of an item plus an offset; item -1 is the left margin. */
typedef struct Place {
  int item, offset;
} Place;

typedef struct Item {
  const Token *token;
  int kind;
  int length; /* bytes of its text, without the blanks after a comment */
  int width;  /* columns of its text */
  LineBreak before;
  int source_lines; /* line ends before it in the source */
  int source_gap;   /* blanks before it in the source, on the same line */
  int gap;          /* blanks before it, when it is not the first of its line */
  int match;        /* of a bracket: its partner; -1 for others */
  int begins;       /* the first item of a statement or entry */
  int is_between;   /* ';', or ',' between entries: left out before a line break */
  int is_dropped;
  int is_entries; /* of '{': a block of entries; of others: stands in one, at its level */
  Place place;    /* of the first item of a line */
  int column;     /* the result, from 0 */
} Item;

typedef VEC(Item) Items;

/* The file must have been parsed without errors. */
void format_items(Arena *arena, const SourceFile *file, Items *items);
void format_lines(Arena *arena, Items *items);
void format_align(Arena *arena, Items *items);

/* Is the '-' at `index` the operator with two operands? */
int format_is_infix(const Items *items, int index);

#endif
