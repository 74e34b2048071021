/* Writing C: see code.h. */
#include "backend/common/code.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "support/source.h"

static void code_vline(Code *code, const char *format, va_list arguments, const char *end) {
  text_pad(code->out, ' ', 2 * code->indent);
  text_vprintf(code->out, format, arguments);
  text_add(code->out, end);
}

void code_line(Code *code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  code_vline(code, format, arguments, "\n");
  va_end(arguments);
}

void code_open(Code *code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  code_vline(code, format, arguments, " {\n");
  va_end(arguments);
  code->indent++;
}

void code_block(Code *code) {
  code_line(code, "{");
  code->indent++;
}

void code_close(Code *code) {
  code->indent--;
  code_line(code, "}");
}

void code_close_list(Code *code) {
  code->indent--;
  code_line(code, "};");
}

void code_list(Code *code, const char *head, int count, const char *const *items,
               const char *tail) {
  enum { WIDTH = 100, INDENT = 4 };
  Text line = {0};
  size_t start = 0, room = (size_t)(WIDTH - 2 * code->indent);
  text_add(&line, head);
  for (int i = 0; i < count; i++) {
    const char *after = i + 1 < count ? "," : tail;
    size_t length = strlen(items[i]) + strlen(after) + (i > 0);
    if (line.length - start + length > room && line.length > start + INDENT) {
      text_add_char(&line, '\n');
      start = line.length;
      text_pad(&line, ' ', INDENT + 2 * code->indent);
    } else if (i > 0) {
      text_add_char(&line, ' ');
    }
    text_add(&line, items[i]);
    text_add(&line, after);
  }
  if (count == 0) text_add(&line, tail);
  code_line(code, "%s", line.data);
  text_free(&line);
}

void code_blank(Code *code) { text_add_char(code->out, '\n'); }

/* ---- words ---- */

bool code_is_word(const char *text) {
  while (isalnum((unsigned char)*text) || *text == '_') text++;
  return *text == 0;
}

/* Whether the text binds tighter than any operator: nothing open outside of parentheses. */
static bool is_atom(const char *text) {
  int depth = 0;
  for (const char *c = text; *c; c++) {
    depth += (*c == '(' || *c == '[') - (*c == ')' || *c == ']');
    if (depth == 0 && strchr(" -?", *c) != NULL) return false;
  }
  return true;
}

const char *code_atom(Arena *arena, const char *text) {
  return is_atom(text) ? text : arena_printf(arena, "(%s)", text);
}

const char *code_argument(Arena *arena, const char *text, const char *function) {
  size_t length = strlen(function), end = strlen(text);
  if (strncmp(text, function, length) != 0 || text[length] != '(') return NULL;
  int depth = 1;
  const char *first = text + length + 1, *c = first;
  for (; depth > 0; c++) depth += (*c == '(') - (*c == ')');
  return c == text + end ? arena_printf(arena, "%.*s", (int)(c - 1 - first), first) : NULL;
}

/* ---- what is declared when it is known to be used ---- */

size_t code_mark(const Code *code) { return code->out->length; }

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

bool code_mentions(const char *text, const char *name) {
  size_t length = strlen(name);
  for (const char *at = strstr(text, name); at != NULL; at = strstr(at + 1, name))
    if ((at == text || !is_word(at[-1])) && !is_word(at[length])) return true;
  return false;
}

void code_declare(Code *code, size_t mark, const char *name, const char *line) {
  if (mark == code->out->length || !code_mentions(code->out->data + mark, name)) return;
  Text indented = {0};
  text_pad(&indented, ' ', 2 * code->indent);
  text_printf(&indented, "%s\n", line);
  text_insert(code->out, mark, indented.data);
  text_free(&indented);
}

/* ---- comments ---- */

/* Whether a character of `bytes` bytes is one that comments and literals may hold as it is. */
static bool is_plain(const char *at, size_t bytes) {
  unsigned char first = (unsigned char)*at;
  return bytes > 1 || (first >= 0x20 && first < 0x7F);
}

/* Line breaks stay. */
static char *make_harmless(Arena *arena, const char *text) {
  char *copy = arena_strdup(arena, text), *end = copy + strlen(copy);
  for (char *c = copy; c < end;) {
    size_t bytes = source_char_length(c, end);
    if (!is_plain(c, bytes) && *c != '\n') *c = '?';
    if (c[0] == '*' && c[1] == '/') *c = '+';
    if (c[0] == '/' && c[1] == '*') c[1] = '+';
    c += bytes;
  }
  return copy;
}

const char *code_in_comment(Arena *arena, const char *text) {
  char *copy = make_harmless(arena, text);
  for (char *c = copy; (c = strchr(c, '\n')) != NULL;) *c = ' ';
  return copy;
}

/* How much of the text stands in a line of so many bytes: to a line break, else to a space, else to
 * the end of a character. */
static size_t first_line(const char *text, size_t room) {
  size_t line = strcspn(text, "\n");
  if (line <= room) return line;
  size_t cut = room;
  while (cut > room / 2 && text[cut] != ' ') cut--;
  if (text[cut] == ' ') return cut;
  for (cut = room; ((unsigned char)text[cut] & 0xC0) == 0x80;) cut--;
  return cut;
}

void code_comment(Code *code, const char *format, ...) {
  enum { WIDTH = 98 };
  va_list arguments;
  va_start(arguments, format);
  char *text = make_harmless(code->arena, arena_vprintf(code->arena, format, arguments));
  va_end(arguments);
  size_t room = (size_t)(WIDTH - 2 * code->indent - 3);
  const char *lead = "/* ";
  while (strlen(text) > room - 3 || strchr(text, '\n') != NULL) {
    size_t cut = first_line(text, room);
    if (text[cut] == 0) cut = first_line(text, room - 3); /* the end has to go with something */
    code_line(code, "%s%.*s", lead, (int)cut, text);
    text += cut;
    while (*text == ' ' || *text == '\n') text++;
    lead = " * ";
  }
  code_line(code, "%s%s */", lead, text);
}

/* ---- literals ---- */

const char *code_string(Arena *arena, const char *string) {
  const char *end = string + strlen(string);
  char *literal = arena_alloc(arena, 4 * (size_t)(end - string) + 3), *at = literal;
  *at++ = '"';
  for (const char *c = string; c < end;) {
    size_t bytes = source_char_length(c, end);
    if (*c == '\n') at += sprintf(at, "\\n");
    else if (*c == '"' || *c == '\\' || *c == '?') at += sprintf(at, "\\%c", *c);
    else if (!is_plain(c, bytes)) at += sprintf(at, "\\%03o", (unsigned char)*c);
    else at = (char *)memcpy(at, c, bytes) + bytes;
    c += bytes;
  }
  *at = '"';
  return literal;
}

const char *code_string_lines(Arena *arena, const char *string) {
  enum { ROOM = 84 };
  Text text = {0};
  while (*string) {
    size_t length = 0;
    while (string[length]) { /* as many lines as there is room for */
      size_t line = strcspn(string + length, "\n");
      line += string[length + line] == '\n';
      if (length > 0 && length + line > ROOM) break;
      length += line;
    }
    text_printf(&text, "\n       %s", code_string(arena, arena_strndup(arena, string, length)));
    string += length;
  }
  return text.length > 0 ? text_take(&text, arena) : " \"\"";
}

const char *code_integer(Arena *arena, int64_t value) {
  if (value == INT64_MIN) return "INT64_MIN";
  return arena_printf(arena, "%lld", (long long)value);
}

const char *code_integers(Arena *arena, int count, const int64_t *values) {
  const char *list = count > 0 ? code_integer(arena, values[0]) : "0";
  for (int i = 1; i < count; i++)
    list = arena_printf(arena, "%s, %s", list, code_integer(arena, values[i]));
  return list;
}
