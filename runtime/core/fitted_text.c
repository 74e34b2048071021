/* Numbers are written as strings of 17 digits, which is exact and can say nan and inf.
 * Strings of the data may be in any encoding: a byte that is no part of UTF-8, and '%', become
 * %XX. */

#include "core/fitted_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fitted.h"
#include "core/json.h"
#include "os/printable.h"

/* malloc'ed; NULL: no memory */
static char *escape(const char *string) {
  size_t length = strlen(string);
  const char *end = string + length;
  char *text = malloc(length * 3 + 1), *out = text;
  if (!text) return NULL;
  while (string < end) {
    int bytes = nnc_utf8_length(string, end);
    if (bytes == 0 || *string == '%') {
      out += sprintf(out, "%%%02X", (unsigned char)*string++);
      continue;
    }
    memcpy(out, string, (size_t)bytes);
    out += bytes;
    string += bytes;
  }
  *out = '\0';
  return text;
}

static bool unescape(char *text) {
  char *out = text;
  while (*text) {
    unsigned byte = (unsigned char)*text;
    if (byte == '%') {
      if (sscanf(text + 1, "%2X", &byte) != 1 || byte == 0 || !text[1] || !text[2]) return false;
      text += 2;
    }
    *out++ = (char)byte;
    text++;
  }
  *out = '\0';
  return true;
}

static bool put_value(FILE *file, const nnc_fitted_value *value) {
  fputs("{\"name\":", file);
  nnc_json_put_string(file, value->name);
  fputs(value->numbers ? ",\"numbers\":[" : ",\"strings\":[", file);
  for (int64_t i = 0; i < value->count; i++) {
    if (i) fputc(',', file);
    if (value->numbers) {
      fprintf(file, "\"%.17g\"", value->numbers[i]);
      continue;
    }
    char *text = escape(value->strings[i]);
    if (!text) return false;
    nnc_json_put_string(file, text);
    free(text);
  }
  fputs("]}", file);
  return true;
}

char *nnc_fitted_format(const nnc_fitted *fitted) {
  char *text = NULL;
  size_t size;
  FILE *file = open_memstream(&text, &size);
  if (!file) return NULL;
  bool good = true;
  fputc('[', file);
  for (int i = 0; i < fitted->count; i++) {
    if (i) fputc(',', file);
    good = put_value(file, &fitted->values[i]) && good;
  }
  fputc(']', file);
  if (fclose(file) == 0 && good) return text;
  free(text);
  return NULL;
}

static bool add_numbers(nnc_fitted *fitted, const char *name, int64_t count, char *const *texts) {
  double *numbers = calloc((size_t)count + 1, sizeof *numbers);
  bool good = numbers != NULL;
  for (int64_t i = 0; good && i < count; i++) {
    char *end;
    numbers[i] = strtod(texts[i], &end);
    good = end > texts[i] && *end == '\0';
  }
  good = good && nnc_fitted_add_numbers(fitted, name, count, numbers) == 0;
  free(numbers);
  return good;
}

static bool add_strings(nnc_fitted *fitted, const char *name, int64_t count, char *const *texts) {
  for (int64_t i = 0; i < count; i++)
    if (!unescape(texts[i])) return false;
  return nnc_fitted_add_strings(fitted, name, count, (const char *const *)texts) == 0;
}

static bool add_value(nnc_fitted *fitted, const nnc_json_document *document,
                      const nnc_json *value) {
  const nnc_json *name = nnc_json_member(document, value, "name");
  const nnc_json *numbers = nnc_json_member(document, value, "numbers");
  const nnc_json *list = numbers ? numbers : nnc_json_member(document, value, "strings");
  if (!name || name->kind != NNC_JSON_STRING || !list || list->kind != NNC_JSON_ARRAY) return false;
  char **texts = calloc((size_t)list->count + 1, sizeof *texts);
  bool good = texts != NULL;
  const nnc_json *child = NULL;
  int64_t count = 0;
  while (good && (child = nnc_json_next(document, list, child))) {
    good = child->kind == NNC_JSON_STRING;
    texts[count++] = (char *)child->text; /* in the document's own, writable text */
  }
  if (good) good = (numbers ? add_numbers : add_strings)(fitted, name->text, count, texts);
  free(texts);
  return good;
}

bool nnc_fitted_parse(nnc_fitted *fitted, const char *text, char *message, size_t message_size) {
  size_t length = strlen(text);
  nnc_json_document document;
  char *copy = malloc(length + 1);
  if (!copy) {
    snprintf(message, message_size, "no memory");
    return false;
  }
  memcpy(copy, text, length + 1);
  bool good = nnc_json_parse(&document, copy, length, message, message_size);
  if (good) {
    const nnc_json *child = NULL;
    good = document.values[0].kind == NNC_JSON_ARRAY;
    while (good && (child = nnc_json_next(&document, &document.values[0], child)))
      good = add_value(fitted, &document, child);
    if (!good) snprintf(message, message_size, "the list of fitted data values is malformed");
    nnc_json_free(&document);
  }
  free(copy);
  return good;
}
