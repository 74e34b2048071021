/* The formatter: see format_items.h for its steps.  The result is parsed and compared with the
 * source before it is given out, so a mistake here never reaches a user's file. */
#include "syntax/format.h"

#include <string.h>

#include "net.tab.h"
#include "support/panic.h"
#include "syntax/format_items.h"
#include "syntax/parse.h"

static void render(const Items *items, Text *out) {
  int column = 0;
  for (int i = 0; i < items->count; i++) {
    const Item *item = &items->items[i];
    if (item->before) {
      text_add(out, item->before == BREAK_BLANK ? "\n\n" : "\n");
      column = 0;
    }
    if (item->is_dropped) continue;
    text_pad(out, ' ', item->column - column);
    text_add_bytes(out, item->token->text, (size_t)item->length);
    column = item->column + item->width;
  }
  if (items->count) text_add_char(out, '\n');
}

static int count_comments(Arena *arena, const SourceFile *file) {
  Tokens tokens = {0};
  tokens_scan(arena, file, &tokens);
  int count = 0;
  for (int i = 0; i < tokens.count; i++) count += tokens.items[i]->kind == T_COMMENT;
  return count;
}

/* The same tree, and no comment lost? */
static int is_faithful(const SourceFile *file, const AstProgram *program, const Text *formatted) {
  Arena *arena = arena_create();
  Diagnostics *diagnostics = diagnostics_create(arena);
  SourceFile *again = source_from_text(arena, file->name, formatted->data ? formatted->data : "",
                                       formatted->length);
  Text before = {0}, after = {0};
  text_add(&before, "");
  text_add(&after, "");
  ast_print(&before, program);
  ast_print(&after, parse_program(arena, diagnostics, again));
  int is_same = !diagnostics_error_count(diagnostics) && !strcmp(before.data, after.data) &&
                count_comments(arena, file) == count_comments(arena, again);
  text_free(&before);
  text_free(&after);
  arena_destroy(arena);
  return is_same;
}

char *format_program(Arena *arena, Diagnostics *diagnostics, const SourceFile *file) {
  int errors = diagnostics_error_count(diagnostics);
  AstProgram *program = parse_program(arena, diagnostics, file);
  if (diagnostics_error_count(diagnostics) > errors) return NULL;
  Items items = {0};
  format_items(arena, file, &items);
  format_lines(arena, &items);
  format_align(arena, &items);
  Text out = {0};
  render(&items, &out);
  if (!is_faithful(file, program, &out)) panic("formatting %s changes its meaning", file->name);
  char *text = arena_strndup(arena, out.data, out.length);
  text_free(&out);
  return text;
}
