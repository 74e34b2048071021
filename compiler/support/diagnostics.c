/* Collecting and printing diagnostics.
 *
 * A place is shown as its source line to the right of a gutter and a row of '^' and '~' below it.  Both rows
 * are made column by column: tabs become spaces up to the next multiple of eight, whatever is not
 * printable becomes '?', and of a line longer than WINDOW columns only the part around the caret is
 * shown, between "...". */
#include "support/diagnostics.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "support/names.h"
#include "support/table.h"
#include "support/text.h"
#include "support/vec.h"

enum { TAB = 8, WINDOW = 160, BEFORE_CARET = 60 };

static const struct {
  const char *word, *colour;
} severities[] = {
    [SEVERITY_ERROR] = {"error", "\033[1;31m"},
    [SEVERITY_WARNING] = {"warning", "\033[1;35m"},
    [SEVERITY_NOTE] = {"note", "\033[1;36m"},
    [SEVERITY_HELP] = {"help", "\033[1;32m"},
};

struct Diagnostic {
  Diagnostics *owner;
  Message message;
  VEC(Message) more; /* notes and helps, in order */
};

struct Diagnostics {
  Arena *arena;
  VEC(Diagnostic *) all;
  int errors, warnings;
  PointerTable seen; /* interned texts of what was told: finds repetitions */
};

Diagnostics *diagnostics_create(Arena *arena) {
  Diagnostics *diagnostics = ARENA_NEW(arena, Diagnostics);
  diagnostics->arena = arena;
  return diagnostics;
}

int diagnostics_error_count(const Diagnostics *diagnostics) { return diagnostics->errors; }

int diagnostics_warning_count(const Diagnostics *diagnostics) { return diagnostics->warnings; }

/* ---- collecting --------------------------------------------------------------------------- */

static int is_same_message(const Message *a, const Message *b) {
  return a->severity == b->severity && a->at.file == b->at.file && a->at.line == b->at.line &&
         a->at.column == b->at.column && !strcmp(a->text, b->text);
}

/* Whether it is the first of this severity, place and text. */
static bool is_first(Diagnostics *diagnostics, const Message *message) {
  const char *key = name_printf("%d %p %d:%d %s", (int)message->severity, (void *)message->at.file,
                                message->at.line, message->at.column, message->text);
  return table_add(diagnostics->arena, &diagnostics->seen, key, 0);
}

static Diagnostic *record(Diagnostics *diagnostics, Severity severity, Span at, const char *format,
                          va_list arguments) {
  Arena *arena = diagnostics->arena;
  Message message = {severity, at, arena_vprintf(arena, format, arguments)};
  Diagnostic *diagnostic = ARENA_NEW(arena, Diagnostic);
  diagnostic->owner = diagnostics;
  diagnostic->message = message;
  if (!is_first(diagnostics, &message)) return diagnostic; /* its notes go nowhere */
  vec_push(arena, &diagnostics->all, diagnostic);
  if (severity == SEVERITY_ERROR) diagnostics->errors++;
  else diagnostics->warnings++;
  return diagnostic;
}

Diagnostic *diag_error(Diagnostics *diagnostics, Span at, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Diagnostic *diagnostic = record(diagnostics, SEVERITY_ERROR, at, format, arguments);
  va_end(arguments);
  return diagnostic;
}

Diagnostic *diag_warning(Diagnostics *diagnostics, Span at, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Diagnostic *diagnostic = record(diagnostics, SEVERITY_WARNING, at, format, arguments);
  va_end(arguments);
  return diagnostic;
}

static void add_more(Diagnostic *diagnostic, Severity severity, Span at, const char *format,
                     va_list arguments) {
  Arena *arena = diagnostic->owner->arena;
  Message message = {severity, at, arena_vprintf(arena, format, arguments)};
  for (int i = 0; i < diagnostic->more.count; i++)
    if (is_same_message(&diagnostic->more.items[i], &message)) return;
  vec_push(arena, &diagnostic->more, message);
}

void *diag_note(Diagnostic *diagnostic, Span at, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add_more(diagnostic, SEVERITY_NOTE, at, format, arguments);
  va_end(arguments);
  return NULL;
}

void *diag_help(Diagnostic *diagnostic, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add_more(diagnostic, SEVERITY_HELP, (Span){0}, format, arguments);
  va_end(arguments);
  return NULL;
}

const Message *diagnostics_message(const Diagnostics *diagnostics, int i, int part) {
  if (i >= diagnostics->all.count) return NULL;
  const Diagnostic *diagnostic = diagnostics->all.items[i];
  if (part > diagnostic->more.count) return NULL;
  return part == 0 ? &diagnostic->message : &diagnostic->more.items[part - 1];
}

/* ---- printing ----------------------------------------------------------------------------- */

/* A source line as it is shown: each screen column holds one character. */
typedef struct Row {
  VEC(const char *) cells; /* the bytes of each screen column */
  int caret, tail;         /* the marked screen columns: [caret, tail) */
} Row;

static const char *printable_cell(Arena *arena, const char *at, size_t length) {
  unsigned char first = (unsigned char)*at;
  int is_control = first < 0x20 || first == 0x7f || (length == 1 && first >= 0x80);
  return is_control ? "?" : arena_strndup(arena, at, length);
}

static void lay_out_row(Arena *arena, Row *row, Span span) {
  size_t length;
  const char *at = source_line(span.file, span.line, &length);
  const char *end = at + length;
  int tail_column = span.end_line == span.line ? span.end_column : INT32_MAX;
  int column = 1;
  row->caret = row->tail = -1;
  for (; at < end; column++) {
    if (column == span.column) row->caret = row->cells.count;
    if (column == tail_column) row->tail = row->cells.count;
    size_t bytes = source_char_length(at, end);
    int wide = *at == '\t' ? TAB - row->cells.count % TAB : 1;
    const char *cell = *at == '\t' ? " " : printable_cell(arena, at, bytes);
    for (int i = 0; i < wide; i++) vec_push(arena, &row->cells, cell);
    at += bytes;
  }
  if (row->caret < 0) row->caret = row->cells.count;
  if (row->tail < 0) row->tail = row->cells.count;
  if (row->tail <= row->caret) row->tail = row->caret + 1;
}

static void add_cells(Text *out, const Row *row, int from, int to) {
  for (int i = from; i < to && i < row->cells.count; i++) text_add(out, row->cells.items[i]);
}

static void print_line(Text *out, Arena *arena, Span span, const char *colour) {
  Row row = {0};
  lay_out_row(arena, &row, span);
  int from = 0, to = row.cells.count;
  if (to > WINDOW) {
    if (row.caret > BEFORE_CARET) from = row.caret - BEFORE_CARET;
    if (from + WINDOW > to) from = to - WINDOW;
    to = from + WINDOW;
  }
  int tail = row.tail < to ? row.tail : to;
  const char *left = from > 0 ? "..." : "", *right = to < row.cells.count ? "..." : "";
  text_printf(out, "%5d | %s", span.line, left);
  add_cells(out, &row, from, to);
  text_printf(out, "%s\n      | ", right);
  text_pad(out, ' ', (int)strlen(left) + row.caret - from);
  text_printf(out, "%s^", colour);
  text_pad(out, '~', tail - row.caret - 1);
  text_printf(out, "%s\n", *colour ? "\033[0m" : "");
}

/* Names and paths may hold what a terminal would obey. */
static void add_printable(Text *out, Arena *arena, const char *text) {
  for (const char *at = text, *end = text + strlen(text); at < end;) {
    size_t length = source_char_length(at, end);
    text_add(out, *at == '\n' ? "\n" : printable_cell(arena, at, length));
    at += length;
  }
}

static void print_message(Text *out, Arena *arena, const Message *message, int colour) {
  const char *tint = colour ? severities[message->severity].colour : "";
  const char *bold = colour ? "\033[1m" : "", *plain = colour ? "\033[0m" : "";
  const char *word = severities[message->severity].word;
  Span at = message->at;
  int is_main = message->severity <= SEVERITY_WARNING;
  if (at.file) {
    text_add(out, bold);
    add_printable(out, arena, at.file->name);
    if (at.line) text_printf(out, ":%d:%d", at.line, at.column);
    text_printf(out, ":%s ", plain);
  } else {
    text_add(out, is_main ? "nnc: " : "  ");
  }
  text_printf(out, "%s%s:%s ", tint, word, plain);
  add_printable(out, arena, message->text);
  text_add_char(out, '\n');
  if (at.file && at.line && at.file->text) print_line(out, arena, at, tint);
}

static void print_diagnostic(Text *out, Arena *arena, const Diagnostic *diagnostic, int colour) {
  print_message(out, arena, &diagnostic->message, colour);
  for (int i = 0; i < diagnostic->more.count; i++)
    print_message(out, arena, &diagnostic->more.items[i], colour);
}

void diagnostics_print(const Diagnostics *diagnostics, FILE *stream, int colour) {
  Text out = {0};
  Arena *arena = arena_create();
  int printed[2] = {0, 0};
  for (int i = 0; i < diagnostics->all.count; i++) {
    const Diagnostic *diagnostic = diagnostics->all.items[i];
    if (printed[diagnostic->message.severity]++ < DIAGNOSTICS_LIMIT)
      print_diagnostic(&out, arena, diagnostic, colour);
  }
  static const char *const words[] = {"error", "warning"};
  for (int i = 0; i < 2; i++) {
    int left = printed[i] - DIAGNOSTICS_LIMIT;
    if (left > 0) text_printf(&out, "and %d more %s%s\n", left, words[i], left == 1 ? "" : "s");
  }
  if (out.length) fwrite(out.data, 1, out.length, stream); /* the stream's owner asks ferror() */
  text_free(&out);
  arena_destroy(arena);
}
