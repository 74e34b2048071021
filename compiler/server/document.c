/* Open documents: see document.h. */
#include "server/document.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

Document *document_create(const char *uri, const Library *library) {
  Arena *scratch = arena_create();
  Document *document = calloc(1, sizeof *document);
  const char *path = path_of_uri(scratch, uri);
  if (document) {
    document->uri = strdup(uri);
    document->path = strdup(path ? path : uri);
    document->is_library = path && library_has(library, path);
    document->is_unchecked = true;
  }
  if (!document || !document->uri || !document->path) abort();
  arena_destroy(scratch);
  return document;
}

void document_destroy(Document *document) {
  job_stop(&document->job);
  json_decref(document->facts);
  json_decref(document->version);
  for (Waiting *waiting = document->waiting, *next; waiting; waiting = next) {
    next = waiting->next;
    json_decref(waiting->request);
    free(waiting);
  }
  text_free(&document->text);
  free(document->uri);
  free(document->path);
  free(document);
}

void document_set_text(Document *document, const char *text, size_t length) {
  text_free(&document->text);
  text_add_bytes(&document->text, text, length);
  document->is_unchecked = true;
  document->is_known = false;
}

bool document_read_place(const json_t *json, Place *place) {
  const json_t *line = json_object_get(json, "line"),
               *character = json_object_get(json, "character");
  if (!json_is_integer(line) || !json_is_integer(character)) return false;
  json_int_t values[] = {json_integer_value(line), json_integer_value(character)};
  for (int i = 0; i < 2; i++)
    if (values[i] > INT32_MAX) values[i] = INT32_MAX;
  for (int i = 0; i < 2; i++)
    if (values[i] < 0) values[i] = 0;
  *place = (Place){(int)values[0], (int)values[1]};
  return true;
}

Lines *document_lines(Arena *arena, const Document *document, Encoding encoding) {
  const char *text = document->text.data ? document->text.data : "";
  return lines_create(arena, encoding, text, document->text.length);
}

static void replace(Document *document, size_t from, size_t to, const char *text, size_t length) {
  const Text *old = &document->text;
  Text new = {0};
  if (from > 0) text_add_bytes(&new, old->data, from);
  text_add_bytes(&new, text, length);
  if (to < old->length) text_add_bytes(&new, old->data + to, old->length - to);
  text_free(&document->text);
  document->text = new;
  document->is_unchecked = true;
  document->is_known = false;
}

bool document_change(Document *document, Encoding encoding, const json_t *change) {
  const json_t *text = json_object_get(change, "text"), *range = json_object_get(change, "range");
  Place from, to;
  if (!json_is_string(text)) return false;
  const char *bytes = json_string_value(text);
  size_t length = json_string_length(text);
  if (!range) {
    document_set_text(document, bytes, length);
    return true;
  }
  if (!document_read_place(json_object_get(range, "start"), &from) ||
      !document_read_place(json_object_get(range, "end"), &to))
    return false;
  Arena *scratch = arena_create();
  const Lines *lines = document_lines(scratch, document, encoding);
  size_t first = lines_offset(lines, from), last = lines_offset(lines, to);
  arena_destroy(scratch);
  replace(document, first, last > first ? last : first, bytes, length);
  return true;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

bool document_word(const Document *document, size_t offset, size_t *from, size_t *to) {
  const Text *text = &document->text;
  *from = *to = offset;
  while (*from > 0 && is_word(text->data[*from - 1])) --*from;
  while (*to < text->length && is_word(text->data[*to])) ++*to;
  return *to > *from;
}

bool document_is_code(const Document *document, size_t offset) {
  const char *text = document->text.data;
  size_t at = offset;
  bool is_quoted = false;
  while (at > 0 && text[at - 1] != '\n') at--;
  for (; at < offset; at++) {
    if (text[at] == '#' && !is_quoted) return false;
    if (text[at] == '"') is_quoted = !is_quoted;
    if (text[at] == '\\' && is_quoted) at++;
  }
  return !is_quoted;
}
