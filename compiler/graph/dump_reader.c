/* Tokens of the textual form and the small things made of them: numbers, strings, types, places.
 *
 * The text may hold anything: every number is bounded when it is read, every extent before it is
 * multiplied.  Columns count characters, as diagnostics do. */
#include "graph/dump_reader.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "support/names.h"

enum {
  LONGEST_NUMBER = 64,
  LARGEST_NODE_ID = 1 << 22, /* tables indexed by id stay small whatever a dump says */
  LARGEST_PLACE = 1 << 30,
};

/* ---- errors ------------------------------------------------------------------------------- */

static bool fail_with(Reader *reader, Span span, const char *format, va_list arguments) {
  if (!reader->failed)
    diag_error(reader->diagnostics, span, "%s", arena_vprintf(reader->arena, format, arguments));
  reader->failed = true;
  return false;
}

bool reader_fail_at(Reader *reader, Span span, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fail_with(reader, span, format, arguments);
  va_end(arguments);
  return false;
}

bool reader_fail(Reader *reader, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fail_with(reader, reader->token.span, format, arguments);
  va_end(arguments);
  return false;
}

/* The next token as messages name it. */
static const char *token_describe(Reader *reader) {
  static const int longest = 40;
  const Token *token = &reader->token;
  if (token->kind == TOKEN_END) return "the end of the dump";
  if (token->kind == TOKEN_STRING) return "a string";
  int length = token->length < (size_t)longest ? (int)token->length : longest;
  return arena_printf(reader->arena, "'%.*s'", length, token->start);
}

static bool fail_expected(Reader *reader, const char *what) {
  return reader_fail(reader, "expected %s but found %s", what, token_describe(reader));
}

/* ---- characters --------------------------------------------------------------------------- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void skip_character(Reader *reader) {
  if (*reader->at == '\n') {
    reader->at++;
    reader->line++;
    reader->column = 1;
    return;
  }
  reader->at += source_char_length(reader->at, reader->end);
  reader->column++;
}

static bool at_digit(const Reader *reader, int offset) {
  return reader->end - reader->at > offset && is_digit(reader->at[offset]);
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* Blanks and comments, which run from '#' to the end of the line. */
static void skip_blanks(Reader *reader) {
  bool in_comment = false;
  while (reader->at < reader->end) {
    char c = *reader->at;
    in_comment = (in_comment || c == '#') && c != '\n';
    if (!in_comment && !is_blank(c)) return;
    skip_character(reader);
  }
}

static void skip_digits(Reader *reader) {
  while (at_digit(reader, 0)) skip_character(reader);
}

/* ---- tokens ------------------------------------------------------------------------------- */

/* Digits, perhaps a fraction, perhaps an exponent; the sign is a mark before it. */
static void scan_number(Reader *reader) {
  skip_digits(reader);
  if (reader->at < reader->end && *reader->at == '.' && at_digit(reader, 1)) {
    skip_character(reader);
    skip_digits(reader);
  }
  if (reader->at == reader->end || *reader->at != 'e') return;
  bool is_signed = reader->end - reader->at > 1 && (reader->at[1] == '-' || reader->at[1] == '+');
  if (!at_digit(reader, is_signed ? 2 : 1)) return;
  skip_character(reader);
  if (is_signed) skip_character(reader);
  skip_digits(reader);
}

static bool scan_string(Reader *reader) {
  Token *token = &reader->token;
  skip_character(reader);
  token->start = reader->at;
  while (reader->at < reader->end && *reader->at != '"' && *reader->at != '\n') {
    if (*reader->at == '\\' && reader->end - reader->at > 1 && reader->at[1] != '\n')
      skip_character(reader);
    skip_character(reader);
  }
  token->length = (size_t)(reader->at - token->start);
  if (reader->at == reader->end || *reader->at != '"')
    return reader_fail(reader, "this string does not end on its line");
  skip_character(reader);
  return true;
}

static TokenKind scan_plain(Reader *reader) {
  char c = *reader->at;
  if (is_letter(c)) {
    while (reader->at < reader->end && (is_letter(*reader->at) || is_digit(*reader->at)))
      skip_character(reader);
    return TOKEN_WORD;
  }
  if (is_digit(c)) {
    scan_number(reader);
    return TOKEN_NUMBER;
  }
  bool is_node = c == '%' && at_digit(reader, 1);
  skip_character(reader);
  if (!is_node) return TOKEN_MARK;
  skip_digits(reader);
  return TOKEN_NODE;
}

bool reader_advance(Reader *reader) {
  skip_blanks(reader);
  Token *token = &reader->token;
  token->start = reader->at;
  token->length = 0;
  token->span =
      (Span){reader->dump, reader->line, reader->column, reader->line, reader->column + 1};
  token->kind = TOKEN_END;
  if (reader->at == reader->end) return true;
  if (*reader->at == '"') {
    token->kind = TOKEN_STRING;
    if (!scan_string(reader)) return false;
  } else {
    token->kind = scan_plain(reader);
    token->length = (size_t)(reader->at - token->start);
  }
  token->span.end_line = reader->line;
  token->span.end_column = reader->column;
  return true;
}

void reader_start(Reader *reader, Arena *arena, Diagnostics *diagnostics, const SourceFile *dump) {
  *reader = (Reader){.arena = arena,
                     .diagnostics = diagnostics,
                     .dump = dump,
                     .at = dump->text,
                     .end = dump->text + dump->length,
                     .line = 1,
                     .column = 1};
  vec_push(arena, &reader->files, NULL);
  (void)reader_advance(reader);
}

/* ---- marks and words ---------------------------------------------------------------------- */

bool reader_sees_mark(const Reader *reader, char mark) {
  return !reader->failed && reader->token.kind == TOKEN_MARK && reader->token.length == 1 &&
         *reader->token.start == mark;
}

bool reader_sees_word(const Reader *reader, const char *word) {
  const Token *token = &reader->token;
  return !reader->failed && token->kind == TOKEN_WORD && token->length == strlen(word) &&
         memcmp(token->start, word, token->length) == 0;
}

bool reader_accept_mark(Reader *reader, char mark) {
  return reader_sees_mark(reader, mark) && reader_advance(reader);
}

bool reader_accept_word(Reader *reader, const char *word) {
  return reader_sees_word(reader, word) && reader_advance(reader);
}

bool reader_expect_mark(Reader *reader, char mark) {
  if (reader_accept_mark(reader, mark)) return true;
  return fail_expected(reader, arena_printf(reader->arena, "'%c'", mark));
}

bool reader_expect_word(Reader *reader, const char *word) {
  if (reader_accept_word(reader, word)) return true;
  return fail_expected(reader, arena_printf(reader->arena, "'%s'", word));
}

bool reader_word(Reader *reader, const char **word) {
  if (reader->failed || reader->token.kind != TOKEN_WORD) return fail_expected(reader, "a name");
  *word = name_intern_bytes(reader->token.start, reader->token.length);
  return reader_advance(reader);
}

bool reader_choice(Reader *reader, const char *const *words, int count, const char *what,
                   int *choice) {
  for (int i = 0; i < count; i++) {
    if (!reader_sees_word(reader, words[i])) continue;
    *choice = i;
    return reader_advance(reader);
  }
  return fail_expected(reader, what);
}

/* ---- strings ------------------------------------------------------------------------------ */

static int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/* \u00XX of an ASCII character, which is all that text_add_quoted() writes so; 0 for another. */
static char decode_unicode(const char *digits, size_t available) {
  int value = 0;
  if (available < 4) return 0;
  for (int i = 0; i < 4; i++) {
    int digit = hex_digit(digits[i]);
    if (digit < 0) return 0;
    value = value * 16 + digit;
  }
  return value < 0x80 ? (char)value : 0;
}

bool reader_string_text(Reader *reader, Text *text) {
  static const char letters[] = "ntrbf\"\\", meant[] = "\n\t\r\b\f\"\\";
  if (reader->failed || reader->token.kind != TOKEN_STRING)
    return fail_expected(reader, "a string");
  const char *at = reader->token.start, *end = at + reader->token.length;
  while (at < end) {
    char c = *at++;
    if (c == '\0') return reader_fail(reader, "this string holds a NUL");
    if (c != '\\') {
      text_add_char(text, c);
      continue;
    }
    const char *letter = at < end && *at ? strchr(letters, *at) : NULL;
    char decoded = letter ? meant[letter - letters] : 0;
    size_t length = 1;
    if (!letter && at < end && *at == 'u') {
      decoded = decode_unicode(at + 1, (size_t)(end - at) - 1);
      length = 5;
    }
    if (!decoded) return reader_fail(reader, "this string has an unknown escape");
    text_add_char(text, decoded);
    at += length;
  }
  return reader_advance(reader);
}

bool reader_string(Reader *reader, const char **string) {
  Text text = {0};
  bool fine = reader_string_text(reader, &text);
  if (fine) *string = name_intern_bytes(text.data ? text.data : "", text.length);
  text_free(&text);
  return fine;
}

/* ---- numbers ------------------------------------------------------------------------------ */

/* The text of the next token, a number, as a C string; false when it is too long for one. */
static bool number_text(const Reader *reader, char buffer[LONGEST_NUMBER]) {
  if (reader->failed || reader->token.kind != TOKEN_NUMBER) return false;
  if (reader->token.length >= LONGEST_NUMBER) return false;
  memcpy(buffer, reader->token.start, reader->token.length);
  buffer[reader->token.length] = '\0';
  return true;
}

bool reader_integer(Reader *reader, int64_t least, int64_t most, int64_t *value) {
  char buffer[LONGEST_NUMBER + 1] = "-";
  Span start = reader->token.span;
  bool is_negative = reader_accept_mark(reader, '-');
  if (!number_text(reader, buffer + 1)) return fail_expected(reader, "an integer");
  if (buffer[1 + strspn(buffer + 1, "0123456789")]) return fail_expected(reader, "an integer");
  errno = 0;
  long long read = strtoll(is_negative ? buffer : buffer + 1, NULL, 10);
  if (errno != 0 || read < least || read > most)
    return reader_fail_at(reader, span_join(start, reader->token.span),
                          "this integer is not between %lld and %lld", (long long)least,
                          (long long)most);
  *value = read;
  return reader_advance(reader);
}

bool reader_double(Reader *reader, double *value) {
  char buffer[LONGEST_NUMBER];
  bool is_negative = reader_accept_mark(reader, '-');
  if (reader_accept_word(reader, "inf")) {
    *value = is_negative ? -INFINITY : INFINITY;
    return true;
  }
  if (!is_negative && reader_accept_word(reader, "nan")) {
    *value = NAN;
    return true;
  }
  if (!number_text(reader, buffer)) return fail_expected(reader, "a number");
  double read = strtod(buffer, NULL);
  *value = is_negative ? -read : read;
  return reader_advance(reader);
}

bool reader_node_id(Reader *reader, int *id) {
  if (reader->failed || reader->token.kind != TOKEN_NODE)
    return fail_expected(reader, "a node such as %3");
  int64_t value = 0;
  for (size_t i = 1; i < reader->token.length; i++) {
    value = value * 10 + (reader->token.start[i] - '0');
    if (value > LARGEST_NODE_ID)
      return reader_fail(reader, "node ids end at %d", (int)LARGEST_NODE_ID);
  }
  *id = (int)value;
  return reader_advance(reader);
}

/* ---- types and places --------------------------------------------------------------------- */

bool reader_dtype(Reader *reader, DType *dtype) {
  Span span = reader->token.span;
  const char *word = NULL;
  if (!reader_word(reader, &word)) return false;
  if (dtype_parse(word, dtype)) return true;
  return reader_fail_at(reader, span, "'%.40s' is not an element type", word);
}

bool reader_type(Reader *reader, Type *type) {
  Span start = reader->token.span;
  *type = (Type){0};
  if (!reader_dtype(reader, &type->dtype) || !reader_expect_mark(reader, '[')) return false;
  Shape *shape = &type->shape;
  while (!reader_sees_mark(reader, ']')) {
    if (shape->rank > 0 && !reader_expect_mark(reader, ',')) return false;
    if (shape->rank == MAX_RANK) return reader_fail(reader, "a shape has at most 8 axes");
    if (!reader_integer(reader, 0, MAX_ELEMENTS, &shape->dim[shape->rank])) return false;
    shape->rank++;
  }
  if (!shape_is_representable(*shape))
    return reader_fail_at(reader, span_join(start, reader->token.span), "this tensor is too large");
  return reader_expect_mark(reader, ']');
}

/* line:column */
static bool read_point(Reader *reader, int *line, int *column) {
  int64_t a, b;
  if (!reader_integer(reader, 1, LARGEST_PLACE, &a) || !reader_expect_mark(reader, ':') ||
      !reader_integer(reader, 0, LARGEST_PLACE, &b))
    return false;
  *line = (int)a;
  *column = (int)b;
  return true;
}

/* @line:column-line:column, with `file/` before it when it is not in the source. */
bool reader_optional_place(Reader *reader, Span *span) {
  *span = (Span){0};
  if (!reader_accept_mark(reader, '@')) return !reader->failed;
  Span first = reader->token.span;
  int64_t number, column, file = 0;
  if (!reader_integer(reader, 0, LARGEST_PLACE, &number)) return false;
  if (reader_accept_mark(reader, '/')) {
    file = number;
    if (!reader_integer(reader, 0, LARGEST_PLACE, &number)) return false;
  }
  if (file >= reader->files.count || !reader->files.items[file])
    return reader_fail_at(reader, first, "this place lies in a file that is not listed");
  if (number == 0) return reader_fail(reader, "lines count from 1");
  if (!reader_expect_mark(reader, ':') || !reader_integer(reader, 0, LARGEST_PLACE, &column) ||
      !reader_expect_mark(reader, '-') || !read_point(reader, &span->end_line, &span->end_column))
    return false;
  span->file = reader->files.items[file];
  span->line = (int)number;
  span->column = (int)column;
  return true;
}
