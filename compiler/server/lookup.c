/* Requests that are answered from the facts of a document (analysis.h). */
#include <string.h>
#include "elaborate/builtins/doc.h"
#include "server/client.h"

/* ---- names ---- */

static int compare_places(Place a, Place b) {
  return a.line != b.line ? a.line - b.line : a.character - b.character;
}

/* Whether the place is in the range or just behind it, where a cursor still touches the word. */
static bool touches(const json_t *range, Place place) {
  Place from, to;
  return document_read_place(json_object_get(range, "start"), &from) &&
         document_read_place(json_object_get(range, "end"), &to) &&
         compare_places(from, place) <= 0 && compare_places(place, to) <= 0;
}

/* The name at the position that `params` has; NULL. */
static json_t *find_name(const Document *document, const json_t *params) {
  Place place;
  size_t i;
  json_t *name;
  if (!document_read_place(json_object_get(params, "position"), &place)) return NULL;
  json_array_foreach(json_object_get(document->facts, "names"), i,
                     name) if (touches(json_object_get(name, "at"), place)) return name;
  return NULL;
}

/* Names of the program alone can be looked for and changed. */
static json_int_t thing_of(const json_t *name) {
  return name ? json_integer_value(json_object_get(name, "thing")) : -1;
}

/* ---- hover ---- */

static json_t *make_hover(const Server *server, const char *text, json_t *range) {
  const char *kind = server->has_markdown ? "markdown" : "plaintext";
  return json_pack("{s:{s:s, s:s}, s:o}", "contents", "kind", kind, "value", text, "range", range);
}

/* A word that is no name of the program: a statement, a key, a source of data. */
static json_t *hover_word(const Server *server, const Document *document, const json_t *params) {
  size_t offset, from, to;
  if (!server_offset(server, document, params, &offset) ||
      !document_word(document, offset, &from, &to) || !document_is_code(document, from))
    return json_null();
  Arena *scratch = arena_create();
  const Lines *lines = document_lines(scratch, document, server->encoding);
  Text text = {0};
  json_t *hover = json_null();
  if (doc_markdown(&text, arena_strndup(scratch, document->text.data + from, to - from))) {
    Range range = {lines_place(lines, from), lines_place(lines, to)};
    hover = make_hover(server, text.data, json_of_range(range));
  }
  text_free(&text);
  arena_destroy(scratch);
  return hover;
}

json_t *answer_hover(const Server *server, const Document *document, const json_t *params) {
  const json_t *name = find_name(document, params);
  const char *text = json_string_value(json_object_get(name, "hover"));
  if (!text) return hover_word(server, document, params);
  return make_hover(server, text, json_incref(json_object_get(name, "at")));
}

/* ---- places of names ---- */

json_t *answer_definition(const Server *server, const Document *document, const json_t *params) {
  json_t *target = json_object_get(find_name(document, params), "target");
  return target ? json_incref(target) : json_null();
}

/* A part of the answer for each mention of what the name at the position means; `with_bindings`: also where it is bound. */
static json_t *each_mention(const Document *document, const json_t *params, bool with_bindings,
                            json_t *(*make)(const Document *document, const json_t *name)) {
  json_int_t thing = thing_of(find_name(document, params));
  json_t *list = json_array(), *name;
  size_t i;
  if (thing < 0) return list;
  json_array_foreach(json_object_get(document->facts, "names"), i, name) {
    bool binds = json_is_true(json_object_get(name, "binds"));
    if (thing_of(name) == thing && (with_bindings || !binds))
      json_array_append_new(list, make(document, name));
  }
  return list;
}

static json_t *make_location(const Document *document, const json_t *name) {
  return json_pack("{s:s, s:O}", "uri", document->uri, "range", json_object_get(name, "at"));
}

json_t *answer_references(const Server *server, const Document *document, const json_t *params) {
  const json_t *context = json_object_get(params, "context");
  bool with_bindings = json_is_true(json_object_get(context, "includeDeclaration"));
  return each_mention(document, params, with_bindings, make_location);
}

enum { HIGHLIGHT_READ = 2, HIGHLIGHT_WRITE = 3 };

static json_t *make_highlight(const Document *document, const json_t *name) {
  bool binds = json_is_true(json_object_get(name, "binds"));
  return json_pack("{s:O, s:i}", "range", json_object_get(name, "at"), "kind",
                   binds ? HIGHLIGHT_WRITE : HIGHLIGHT_READ);
}

json_t *answer_highlight(const Server *server, const Document *document, const json_t *params) {
  return each_mention(document, params, true, make_highlight);
}

json_t *answer_prepare_rename(const Server *server, const Document *document,
                              const json_t *params) {
  json_t *name = find_name(document, params);
  if (thing_of(name) < 0) return json_null();
  return json_pack("{s:O, s:O}", "range", json_object_get(name, "at"), "placeholder",
                   json_object_get(name, "name"));
}

static bool is_identifier(const char *text) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  return text && *text && strspn(text, letters) == strlen(text) && !strchr("0123456789", *text);
}

static json_t *make_edit(const Document *document, const json_t *name) {
  return json_pack("{s:O}", "range", json_object_get(name, "at"));
}

json_t *answer_rename(const Server *server, const Document *document, const json_t *params) {
  json_t *new_name = json_object_get(params, "newName"), *edit;
  size_t i;
  if (!is_identifier(json_string_value(new_name))) return json_null();
  json_t *edits = each_mention(document, params, true, make_edit);
  json_array_foreach(edits, i, edit) json_object_set(edit, "newText", new_name);
  return json_pack("{s:{s:o}}", "changes", document->uri, edits);
}

/* ---- lists ---- */

static json_t *list_of(const Document *document, const char *key) {
  json_t *list = json_object_get(document->facts, key);
  return list ? json_incref(list) : json_array();
}

json_t *answer_symbols(const Server *server, const Document *document, const json_t *params) {
  return list_of(document, "symbols");
}

json_t *answer_hints(const Server *server, const Document *document, const json_t *params) {
  return list_of(document, "hints");
}

/* ---- quick fixes ---- */

/* "did you mean ...?" becomes an edit. */
json_t *answer_actions(const Server *server, const Document *document, const json_t *params) {
  json_t *actions = json_array(), *diagnostic;
  size_t i;
  const json_t *context = json_object_get(params, "context");
  json_array_foreach(json_object_get(context, "diagnostics"), i, diagnostic) {
    json_t *word = json_object_get(json_object_get(diagnostic, "data"), "replacement");
    json_t *range = json_object_get(diagnostic, "range");
    if (!json_is_string(word) || !json_is_object(range)) continue;
    json_t *edit = json_pack("[{s:O, s:O}]", "range", range, "newText", word);
    Text title = {0};
    text_printf(&title, "Write '%s'", json_string_value(word));
    json_array_append_new(actions, json_pack("{s:s, s:s, s:[O], s:{s:{s:o}}}", "title", title.data,
                                             "kind", "quickfix", "diagnostics", diagnostic, "edit",
                                             "changes", document->uri, edit));
    text_free(&title);
  }
  return actions;
}
