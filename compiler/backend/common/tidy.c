/* Loops around one statement, without braces: see code_tidy in code.h. */
#include "backend/common/code.h"

#include <string.h>
#include "support/vec.h"

enum { WIDTH = 100 };

/* A line without its indent and its end. */
typedef struct Line {
  const char *at;
  int indent, length;
} Line;

typedef VEC(Line) LineList;

static void read_lines(Arena *arena, LineList *lines, const Text *text) {
  const char *end = text->data + text->length;
  for (const char *at = text->data; at < end;) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    if (stop == NULL) stop = end;
    int indent = (int)strspn(at, " ");
    Line line = {at + indent, indent, (int)(stop - at) - indent};
    vec_push(arena, lines, line);
    at = stop + 1;
  }
}

static bool begins(const Line *line, const char *word) {
  size_t length = strlen(word);
  return (size_t)line->length >= length && strncmp(line->at, word, length) == 0;
}

/* Perhaps with a hint to the compiler before it; all of its head is in the line. */
static bool is_loop(const Line *line) {
  static const char *const words[] = {"for (", "NNC_ROLLED for (", "NNC_UNROLL for (",
                                      "NNC_SHORT for ("};
  int depth = 0;
  for (int i = 0; i < line->length; i++) depth += (line->at[i] == '(') - (line->at[i] == ')');
  for (size_t i = 0; depth == 0 && i < sizeof words / sizeof *words; i++)
    if (begins(line, words[i])) return true;
  return false;
}

static bool opens_loop(const Line *line) {
  return is_loop(line) && line->at[line->length - 1] == '{';
}

/* One statement, as kernels are written: a line has no two, and what is declared in a loop is const. */
static bool is_statement(const Line *line) {
  static const char *const words[] = {"const ", "if (", "else", "for (", "/*", "#", "case "};
  if (line->length == 0 || line->at[line->length - 1] != ';') return false;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (begins(line, words[i])) return false;
  return true;
}

/* The line after the statement that begins in line `at`, if that may stand without braces in a loop; else -1. */
static int after_statement(const LineList *lines, int at) {
  const Line *line = &lines->items[at];
  bool is_whole = line->length > 0 && line->at[line->length - 1] == ';';
  if (is_statement(line) || (is_loop(line) && is_whole)) return at + 1;
  if (!is_loop(line)) return -1;
  if (!opens_loop(line)) return after_statement(lines, at + 1); /* its statement is in the next */
  for (int i = at + 1; i < lines->count; i++)
    if (lines->items[i].indent == line->indent && lines->items[i].length > 0) return i + 1;
  return -1;
}

/* Takes off the braces of the loop in line `at`; the lines after it have been tidied. */
static void tidy_loop(LineList *lines, int at) {
  Line *head = &lines->items[at];
  int end = at + 1 < lines->count ? after_statement(lines, at + 1) : -1;
  if (end < 0 || end >= lines->count) return;
  const Line *last = &lines->items[end];
  if (last->length != 1 || *last->at != '}' || last->indent != head->indent) return;
  head->length -= 2;
  for (int i = end; i + 1 < lines->count; i++) lines->items[i] = lines->items[i + 1];
  lines->count--;
}

static void write_lines(Text *text, const LineList *lines) {
  for (int i = 0; i < lines->count; i++) {
    Line line = lines->items[i];
    text_pad(text, ' ', line.length > 0 ? line.indent : 0);
    text_add_bytes(text, line.at, (size_t)line.length);
    const Line *next = i + 1 < lines->count ? &lines->items[i + 1] : NULL;
    bool is_short = next && is_loop(&line) && line.at[line.length - 1] == ')' &&
                    is_statement(next) && line.indent + line.length + 1 + next->length <= WIDTH;
    if (is_short) {
      text_add_char(text, ' ');
      text_add_bytes(text, next->at, (size_t)next->length);
      i++;
    }
    text_add_char(text, '\n');
  }
}

void code_tidy(Text *text) {
  if (text->length == 0) return;
  Arena *arena = arena_create();
  LineList lines = {0};
  Text tidy = {0};
  read_lines(arena, &lines, text);
  for (int i = lines.count - 1; i >= 0; i--)
    if (opens_loop(&lines.items[i])) tidy_loop(&lines, i);
  write_lines(&tidy, &lines);
  text_free(text);
  *text = tidy;
  arena_destroy(arena);
}
