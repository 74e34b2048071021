/* The JSON reader: recursive descent with a depth limit; nothing is accepted that the RFC forbids.
 * Duplicate keys are refused, because a file that says two things at once is not to be trusted. */
#include "core/json.h"
#include "os/buffer.h"
#include "os/printable.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 32, MAX_VALUES = 1 << 21, FIRST_VALUES = NNC_BUFFER(64, 1) };

typedef struct Parser {
  char *text, *at, *end; /* *end is '\0' */
  nnc_json_document *document;
  int capacity;
  int depth;
  char *message;
  size_t message_size;
} Parser;

static bool fail(Parser *parser, const char *what) {
  snprintf(parser->message, parser->message_size, "JSON: %s at byte %zu", what,
           (size_t)(parser->at - parser->text));
  return false;
}

static void skip_space(Parser *parser) {
  while (parser->at < parser->end && memchr(" \t\r\n", *parser->at, 4)) parser->at++;
}

/* Index of a new value; -1 when there is no memory or no end of values. */
static int add_value(Parser *parser) {
  nnc_json_document *document = parser->document;
  if (document->count == MAX_VALUES) return -1;
  if (document->count == parser->capacity) {
    int capacity = parser->capacity ? parser->capacity * 2 : FIRST_VALUES;
    nnc_json *values = realloc(document->values, (size_t)capacity * sizeof *values);
    if (!values) return -1;
    document->values = values;
    parser->capacity = capacity;
  }
  document->values[document->count] = (nnc_json){.first = -1, .next = -1};
  return document->count++;
}

static int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/* Four digits after "\u"; -1 when they are not. */
static int parse_hex4(Parser *parser) {
  int code = 0;
  if (parser->end - parser->at < 4) return -1;
  for (int i = 0; i < 4; i++) {
    int digit = hex_value(parser->at[i]);
    if (digit < 0) return -1;
    code = code * 16 + digit;
  }
  parser->at += 4;
  return code;
}

static char *put_utf8(char *out, unsigned code) {
  if (code < 0x80) {
    *out++ = (char)code;
  } else if (code < 0x800) {
    *out++ = (char)(0xC0 | code >> 6);
    *out++ = (char)(0x80 | (code & 63));
  } else if (code < 0x10000) {
    *out++ = (char)(0xE0 | code >> 12);
    *out++ = (char)(0x80 | (code >> 6 & 63));
    *out++ = (char)(0x80 | (code & 63));
  } else {
    *out++ = (char)(0xF0 | code >> 18);
    *out++ = (char)(0x80 | (code >> 12 & 63));
    *out++ = (char)(0x80 | (code >> 6 & 63));
    *out++ = (char)(0x80 | (code & 63));
  }
  return out;
}

static bool parse_unicode(Parser *parser, char **out) {
  int code = parse_hex4(parser);
  if (code < 0) return fail(parser, "bad \\u escape");
  if (code == 0) return fail(parser, "a string with a zero character");
  if (code >= 0xDC00 && code < 0xE000) return fail(parser, "lone surrogate");
  if (code >= 0xD800 && code < 0xDC00) {
    if (parser->end - parser->at < 6 || parser->at[0] != '\\' || parser->at[1] != 'u')
      return fail(parser, "lone surrogate");
    parser->at += 2;
    int low = parse_hex4(parser);
    if (low < 0xDC00 || low >= 0xE000) return fail(parser, "lone surrogate");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  *out = put_utf8(*out, (unsigned)code);
  return true;
}

static bool parse_escape(Parser *parser, char **out) {
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  char c = *parser->at++;
  if (c == 'u') return parse_unicode(parser, out);
  const char *found = c ? strchr(from, c) : NULL;
  if (!found) return fail(parser, "bad escape");
  *(*out)++ = to[found - from];
  return true;
}

/* The string after an opening quote, ended with '\0' in place. */
static bool parse_string(Parser *parser, const char **string, int *length) {
  char *start = parser->at, *out = start;
  while (parser->at < parser->end) {
    unsigned char c = (unsigned char)*parser->at;
    if (c == '"') {
      parser->at++;
      if (out - start > INT32_MAX) return fail(parser, "a string too long");
      *out = '\0';
      *string = start;
      *length = (int)(out - start);
      return true;
    }
    if (c < 0x20) return fail(parser, "control character in a string");
    if (c == '\\') {
      parser->at++;
      if (parser->at == parser->end) break;
      if (!parse_escape(parser, &out)) return false;
      continue;
    }
    int bytes = 1;
    if (c >= 0x80) bytes = nnc_utf8_length(parser->at, parser->end);
    if (bytes == 0) return fail(parser, "bytes that are not UTF-8");
    memmove(out, parser->at, (size_t)bytes);
    out += bytes;
    parser->at += bytes;
  }
  return fail(parser, "string without an end");
}

static bool skip_digits(Parser *parser) {
  char *start = parser->at;
  while (*parser->at >= '0' && *parser->at <= '9') parser->at++;
  return parser->at > start;
}

static bool parse_number(Parser *parser, nnc_json *value) {
  char *start = parser->at;
  if (*parser->at == '-') parser->at++;
  if (*parser->at == '0') parser->at++;
  else if (!skip_digits(parser)) return fail(parser, "a value expected");
  if (*parser->at == '.') {
    parser->at++;
    if (!skip_digits(parser)) return fail(parser, "digits expected");
  }
  if (*parser->at == 'e' || *parser->at == 'E') {
    parser->at++;
    if (*parser->at == '+' || *parser->at == '-') parser->at++;
    if (!skip_digits(parser)) return fail(parser, "digits expected");
  }
  if (parser->at - start > 400) return fail(parser, "a number too long");
  value->kind = NNC_JSON_NUMBER;
  value->text = start;
  value->length = (int)(parser->at - start);
  return true;
}

static bool parse_word(Parser *parser, nnc_json *value) {
  static const struct {
    const char *word;
    int kind;
  } words[] = {{"null", NNC_JSON_NULL}, {"false", NNC_JSON_FALSE}, {"true", NNC_JSON_TRUE}};
  for (int i = 0; i < 3; i++) {
    size_t length = strlen(words[i].word);
    if ((size_t)(parser->end - parser->at) < length) continue;
    if (memcmp(parser->at, words[i].word, length) != 0) continue;
    parser->at += length;
    value->kind = words[i].kind;
    return true;
  }
  return parse_number(parser, value);
}

static bool parse_value(Parser *parser, int index);

/* The key of a member, its quote at parser->at, and the colon. */
static bool parse_key(Parser *parser, const char **key) {
  int length;
  if (parser->at == parser->end || *parser->at != '"') return fail(parser, "a key expected");
  parser->at++;
  if (!parse_string(parser, key, &length)) return false;
  skip_space(parser);
  if (parser->at == parser->end || *parser->at != ':') return fail(parser, "':' expected");
  parser->at++;
  return true;
}

/* What stands after '[' or '{', up to its closing bracket. */
static bool parse_children(Parser *parser, int parent, char close) {
  if (++parser->depth > MAX_DEPTH) return fail(parser, "too deep a nesting");
  int last = -1;
  skip_space(parser);
  bool is_empty = parser->at < parser->end && *parser->at == close;
  while (!is_empty) {
    const char *key = NULL;
    skip_space(parser);
    if (close == '}' && !parse_key(parser, &key)) return false;
    int child = add_value(parser);
    if (child < 0) return fail(parser, "too many values");
    parser->document->values[child].key = key;
    if (!parse_value(parser, child)) return false;
    nnc_json *values = parser->document->values;
    if (last < 0) values[parent].first = child;
    else values[last].next = child;
    values[parent].count++;
    last = child;
    skip_space(parser);
    if (parser->at < parser->end && *parser->at == ',') {
      parser->at++;
      continue;
    }
    if (parser->at < parser->end && *parser->at == close) break;
    return fail(parser, "',' or a closing bracket expected");
  }
  parser->at++;
  parser->depth--;
  return true;
}

static bool parse_value(Parser *parser, int index) {
  skip_space(parser);
  if (parser->at == parser->end) return fail(parser, "unexpected end");
  nnc_json *value = &parser->document->values[index];
  char c = *parser->at;
  if (c == '{' || c == '[') {
    parser->at++;
    value->kind = c == '{' ? NNC_JSON_OBJECT : NNC_JSON_ARRAY;
    return parse_children(parser, index, c == '{' ? '}' : ']');
  }
  if (c != '"') return parse_word(parser, value);
  parser->at++;
  const char *text;
  int length;
  if (!parse_string(parser, &text, &length)) return false;
  value->kind = NNC_JSON_STRING;
  value->text = text;
  value->length = length;
  return true;
}

static int compare_keys(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted, not compared in pairs: a hostile header may have a million keys. */
static bool keys_are_unique(const nnc_json_document *document, const nnc_json *object,
                            bool *unique) {
  const char **keys = malloc(((size_t)object->count + 1) * sizeof *keys);
  if (!keys) return false;
  int count = 0;
  const nnc_json *child = NULL;
  while ((child = nnc_json_next(document, object, child))) keys[count++] = child->key;
  qsort(keys, (size_t)count, sizeof *keys, compare_keys);
  *unique = true;
  for (int i = 1; i < count; i++)
    if (strcmp(keys[i - 1], keys[i]) == 0) *unique = false;
  free(keys);
  return true;
}

static bool check_keys(Parser *parser) {
  for (int i = 0; i < parser->document->count; i++) {
    const nnc_json *value = &parser->document->values[i];
    bool unique;
    if (value->kind != NNC_JSON_OBJECT) continue;
    if (!keys_are_unique(parser->document, value, &unique)) return fail(parser, "no memory");
    if (!unique) return fail(parser, "an object with the same key twice");
  }
  return true;
}

bool nnc_json_parse(nnc_json_document *document, char *text, size_t length, char *message,
                    size_t message_size) {
  *document = (nnc_json_document){0};
  Parser parser = {.text = text,
                   .at = text,
                   .end = text + length,
                   .document = document,
                   .message = message,
                   .message_size = message_size};
  text[length] = '\0';
  bool good = add_value(&parser) == 0 || fail(&parser, "no memory");
  good = good && parse_value(&parser, 0);
  if (good) {
    skip_space(&parser);
    if (parser.at != parser.end) good = fail(&parser, "something after the end");
  }
  good = good && check_keys(&parser);
  if (!good) nnc_json_free(document);
  return good;
}

void nnc_json_free(nnc_json_document *document) {
  free(document->values);
  *document = (nnc_json_document){0};
}

const nnc_json *nnc_json_next(const nnc_json_document *document, const nnc_json *parent,
                              const nnc_json *child) {
  int index = child ? child->next : parent->first;
  return index < 0 ? NULL : &document->values[index];
}

const nnc_json *nnc_json_member(const nnc_json_document *document, const nnc_json *object,
                                const char *key) {
  const nnc_json *child = NULL;
  if (!object || object->kind != NNC_JSON_OBJECT) return NULL;
  while ((child = nnc_json_next(document, object, child)))
    if (strcmp(child->key, key) == 0) return child;
  return NULL;
}

bool nnc_json_unsigned(const nnc_json *value, uint64_t *number) {
  if (value->kind != NNC_JSON_NUMBER) return false;
  uint64_t sum = 0;
  for (int i = 0; i < value->length; i++) {
    int digit = value->text[i] - '0';
    if (digit < 0 || digit > 9) return false;
    if (__builtin_mul_overflow(sum, 10, &sum)) return false;
    if (__builtin_add_overflow(sum, (uint64_t)digit, &sum)) return false;
  }
  *number = sum;
  return true;
}

void nnc_json_put_string(FILE *file, const char *string) {
  const char *end = string + strlen(string);
  putc('"', file);
  while (string < end) {
    unsigned char c = (unsigned char)*string;
    int bytes = nnc_utf8_length(string, end);
    if (bytes == 0) fputs("\xEF\xBF\xBD", file);
    else if (c == '"' || c == '\\') fprintf(file, "\\%c", c);
    else if (c == '\n') fputs("\\n", file);
    else if (c == '\t') fputs("\\t", file);
    else if (nnc_is_control(nnc_utf8_decode(string, bytes))) /* none reaches a terminal as it is */
      fprintf(file, "\\u%04lx", nnc_utf8_decode(string, bytes));
    else fwrite(string, 1, (size_t)bytes, file);
    string += bytes ? bytes : 1;
  }
  putc('"', file);
}

void nnc_json_put_number(FILE *file, double number) {
  if (isfinite(number)) fprintf(file, "%.9g", number);
  else if (isnan(number)) fputs("\"NaN\"", file);
  else fputs(number > 0 ? "\"Infinity\"" : "\"-Infinity\"", file);
}
