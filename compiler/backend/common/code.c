/* Writing C: see code.h. */
#include "backend/common/code.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "support/names.h"
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

/* ---- what is declared when it is known to be used ---- */

size_t code_mark(const Code *code) { return code->out->length; }

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

bool c_mentions(const char *text, const char *name) {
  size_t length = strlen(name);
  for (const char *at = strstr(text, name); at != NULL; at = strstr(at + 1, name))
    if ((at == text || !is_word(at[-1])) && !is_word(at[length])) return true;
  return false;
}

void code_declare(Code *code, size_t mark, const char *name, const char *line) {
  if (mark == code->out->length || !c_mentions(code->out->data + mark, name)) return;
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

const char *c_comment(Arena *arena, const char *text) {
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
    code_line(code, "%s%.*s", lead, (int)cut, text);
    text += cut;
    while (*text == ' ' || *text == '\n') text++;
    lead = " * ";
  }
  code_line(code, "%s%s */", lead, text);
}

/* ---- identifiers ---- */

static const char *const reserved[] = {
    "auto",      "bool",      "break",      "case",    "char",         "const",    "continue",
    "default",   "do",        "double",     "else",    "enum",         "extern",   "false",
    "float",     "for",       "goto",       "if",      "inline",       "int",      "long",
    "register",  "restrict",  "return",     "short",   "signed",       "sizeof",   "static",
    "struct",    "switch",    "true",       "typedef", "union",        "unsigned", "void",
    "volatile",  "while",     "asm",        "typeof",  "main",         "linux",    "unix",
    "worker",    "arena",     "task",       "first",   "last",         "row",      "rows",
    "tile",      "cols",      "acc",        "packed",  "host",         "finish",   "left",
    "right",     "depth",     "batch",      "panel",   "sums",         "begin",    "end",
    "count",     "best",      "better",     "errno",   "stdin",        "stdout",   "stderr",
    "NULL",      "INFINITY",  "NAN",        "source",  "image",        "images",   "chunk",
    "group",     "channel",   "channels",   "taps",    "phases",       "phase",    "shift",
    "length",    "raster",    "rasters",    "from",    "to",           "value",    "given",
    "planes",    "plane",     "patches",    "seen",    "tiles",        "part",     "slot",
    "done",      "weights",   "window",     "where",   "distance",     "inside",   "shape",
    "tap_count", "sort_keys", "spare_keys", "places",  "spare_places", "sorted",
};

/* Names such as i0, t12, a1 belong to the generated code. */
static bool is_generated_name(const char *name) {
  if (strchr("abcijklmnrstvx", name[0]) == NULL) return false;
  if (name[1] == 0) return true;
  for (const char *c = name + 1; *c; c++)
    if (!isdigit((unsigned char)*c)) return false;
  return true;
}

static bool is_reserved(const char *name) {
  for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
    if (strcmp(reserved[i], name) == 0) return true;
  return is_generated_name(name) || strncmp(name, "nnc_", 4) == 0 ||
         strncmp(name, "mem_", 4) == 0 || name[0] == '_';
}

/* "train_run", "data_0_1_calls": the emitted tables and functions of one file. */
static bool is_table(const char *name) {
  static const char *const tables[] = {
      "host",   "finish",    "levels", "variables",    "initials", "plateaus", "source",
      "worker", "data_sets", "task",   "scalar_names", "inputs",   "result",   "metric_names"};
  static const char *const entries[] = {"init", "train",    "accumulate",
                                        "eval", "eval_one", "predict"};
  static const char *const ends[] = {"run",    "steps",      "inputs",  "batched",
                                     "limits", "exceptions", "results", "accumulators"};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    if (strcmp(tables[i], name) == 0) return true;
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
      size_t length = strlen(entries[i]);
      if (strncmp(name, entries[i], length) == 0 && name[length] == '_' &&
          strcmp(name + length + 1, ends[k]) == 0)
        return true;
    }
  return strncmp(name, "data_", 5) == 0 && isdigit((unsigned char)name[5]);
}

bool c_is_emitted(const char *name) {
  return is_table(name) || strncmp(name, "net_", 4) == 0 || strncmp(name, "mem_", 4) == 0;
}

static int *scope_place(const NameScope *scope, const char *name) {
  size_t hash = (size_t)((uintptr_t)name >> 3) * 0x9E3779B97F4A7C15u, mask = scope->capacity - 1;
  for (size_t i = hash >> 20 & mask;; i = (i + 1) & mask) {
    int *place = &scope->table[i];
    if (*place == 0 || scope->taken.items[*place - 1].name == name) return place;
  }
}

/* In this scope alone; NULL when it is free. */
static TakenName *find_taken(const NameScope *scope, const char *name) {
  int place = scope->capacity > 0 ? *scope_place(scope, name) : 0;
  return place > 0 ? &scope->taken.items[place - 1] : NULL;
}

static void scope_grow(NameScope *scope) {
  scope->capacity = scope->capacity > 0 ? 2 * scope->capacity : 32;
  scope->table = ARENA_ARRAY(scope->arena, int, scope->capacity);
  for (int i = 0; i < scope->taken.count; i++)
    *scope_place(scope, scope->taken.items[i].name) = i + 1;
}

void scope_take(NameScope *scope, const char *name) {
  name = name_intern(name);
  if (find_taken(scope, name)) return;
  if (2 * scope->taken.count >= scope->capacity) scope_grow(scope);
  vec_push(scope->arena, &scope->taken, ((TakenName){name, 2}));
  *scope_place(scope, name) = scope->taken.count;
}

static bool is_taken(const NameScope *scope, const char *name) {
  name = name_intern(name);
  for (; scope != NULL; scope = scope->outer)
    if (find_taken(scope, name)) return true;
  return false;
}

const char *scope_name(NameScope *scope, const char *wish) {
  char *base = arena_strdup(scope->arena, wish);
  for (char *c = base; *c; c++)
    if (!isalnum((unsigned char)*c)) *c = '_';
  while (*base == '_') base++;
  if (*base == 0) base = arena_strdup(scope->arena, "value"); /* a name of signs alone */
  if (isdigit((unsigned char)*base)) base = arena_printf(scope->arena, "n%s", base);
  /* Names without small letters are the templates' constants. */
  if (strpbrk(base, "abcdefghijklmnopqrstuvwxyz") == NULL)
    base = arena_printf(scope->arena, "v_%s", base);
  const char *name = base;
  if (is_reserved(name)) name = base = arena_printf(scope->arena, "%s_", base);
  TakenName *same = find_taken(scope, name_intern(base));
  int number = same ? same->next : 2;
  while (is_reserved(name) || is_taken(scope, name))
    name = arena_printf(scope->arena, "%s_%d", base, number++);
  if (same) same->next = number;
  scope_take(scope, name);
  return name;
}

const char *scope_function_name(NameScope *scope, const char *wish) {
  return scope_name(scope, arena_printf(scope->arena, "net_%s", wish));
}

/* ---- literals ---- */

const char *c_string(Arena *arena, const char *string) {
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

const char *c_integer(Arena *arena, int64_t value) {
  if (value == INT64_MIN) return "INT64_MIN";
  return arena_printf(arena, "%lld", (long long)value);
}
