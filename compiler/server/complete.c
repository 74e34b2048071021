/* textDocument/completion and signatureHelp: what may stand at the cursor. */
#include <string.h>
#include "elaborate/builtins/doc.h"
#include "server/cursor.h"
#include "server/describe.h"

/* CompletionItemKind */
enum {
  ITEM_FUNCTION = 3,
  ITEM_FIELD = 5,
  ITEM_VARIABLE = 6,
  ITEM_PROPERTY = 10,
  ITEM_KEYWORD = 14,
  ITEM_CONSTANT = 21,
  ITEM_TYPE = 25
};

typedef struct Completion {
  const Cursor *cursor;
  const Server *server;
  const Document *document;
  json_t *items;
  const char *wanted; /* the family that comes first: "optimizers"; NULL */
} Completion;

/* `rank`: what is likelier comes first; the rest is in the order of the alphabet. */
static json_t *add_item(Completion *c, const char *label, int kind, const char *detail, int rank) {
  json_t *item = json_pack("{s:s, s:i}", "label", label, "kind", kind);
  if (detail) json_object_set_new(item, "detail", json_of_text(detail));
  Text order = {0};
  text_printf(&order, "%d%s", rank, label);
  json_object_set_new(item, "sortText", json_of_text(order.data));
  text_free(&order);
  json_array_append_new(c->items, item);
  return item;
}

/* ---- what the language offers ---- */

typedef struct FamilyRule {
  const char *family;
  CursorPlace place;
  int kind;
} FamilyRule;

/* Functions, the rest, are for expressions. */
static const FamilyRule families[] = {
    {"statements", CURSOR_STATEMENT, ITEM_KEYWORD},
    {"words inside statements", CURSOR_NOWHERE, 0},
    {"words that definers see", CURSOR_EXPRESSION, ITEM_VARIABLE},
    {"values", CURSOR_EXPRESSION, ITEM_CONSTANT},
    {"types", CURSOR_TYPE, ITEM_TYPE},
    {"train", CURSOR_KEY, ITEM_PROPERTY},
    {"data keys", CURSOR_KEY, ITEM_PROPERTY},
    {"data sources", CURSOR_SOURCE, ITEM_FUNCTION},
    {"data stages", CURSOR_STAGE, ITEM_FUNCTION},
};

/* A key is told by its signature: "clip = LIMIT". */
static bool is_key(const DocEntry *entry) {
  size_t length = strlen(entry->name);
  return strncmp(entry->signature, entry->name, length) == 0 &&
         (strncmp(entry->signature + length, " = ", 3) == 0 || !strcmp(entry->name, "params"));
}

/* Words that definers see are known in their bodies alone. */
static bool is_in_definer(const Cursor *cursor) {
  const NameScope *scope = cursor->scope;
  while (scope && !scope->function) scope = scope->parent;
  AstStmtKind kind = scope ? scope->function->kind : AST_STMT_KINDS;
  return kind == AST_OPTIMIZER || kind == AST_INIT || kind == AST_SCHEDULE;
}

static bool fits(const Completion *c, const DocEntry *entry, const FamilyRule *rule) {
  const Cursor *cursor = c->cursor;
  if (rule->place != cursor->place) return false;
  if (!strcmp(rule->family, "words that definers see")) return is_in_definer(cursor);
  if (rule->place != CURSOR_KEY) return true;
  bool is_train =
      cursor->word && (!strcmp(cursor->word, "train") || !strcmp(cursor->word, "params"));
  bool is_data = cursor->word && !strcmp(cursor->word, "data");
  return is_key(entry) && (strcmp(rule->family, "train") == 0 ? is_train : is_data);
}

static void offer_entry(void *context, const DocEntry *entry) {
  Completion *c = context;
  FamilyRule rule = {entry->family, CURSOR_EXPRESSION, ITEM_FUNCTION};
  for (size_t i = 0; i < sizeof families / sizeof *families; i++)
    if (strcmp(families[i].family, entry->family) == 0) rule = families[i];
  if (entry->is_internal || !fits(c, entry, &rule)) return;
  bool is_wanted = c->wanted && strcmp(c->wanted, entry->family) == 0;
  json_t *item = add_item(c, entry->name, rule.kind, entry->signature, is_wanted ? 0 : 5);
  json_object_set_new(item, "documentation", json_of_text(entry->summary));
  if (rule.place == CURSOR_KEY && strcmp(entry->name, "params") != 0)
    json_object_set_new(item, "insertText", json_sprintf("%s = ", entry->name));
}

/* ---- names of the program ---- */

static int kind_of_thing(const Thing *thing) {
  if (thing->kind == THING_FUNCTION) return ITEM_FUNCTION;
  return thing->kind == THING_CONST || thing->kind == THING_OPTION ? ITEM_CONSTANT : ITEM_VARIABLE;
}

/* A function does not see the values of the program around it. */
static bool is_visible(const Cursor *cursor, const Thing *thing, bool is_outside) {
  bool is_value = thing->kind == THING_VALUE || thing->kind == THING_LOOP;
  if (is_value && is_outside) return false;
  Span at = {.line = cursor->line, .column = cursor->column};
  return thing->kind == THING_FUNCTION || resolve_is_before(thing->bindings.items[0], at);
}

static const char *detail_of_thing(const Completion *c, const Thing *thing) {
  if (thing->kind == THING_FUNCTION) return describe_head(c->cursor->arena, thing->stmt);
  const json_t *values = json_object_get(c->document->facts, "values");
  const char *value = json_string_value(json_object_get(values, thing->name));
  return value ? value : thing_words[thing->kind];
}

static void offer_names(Completion *c) {
  bool is_outside = false;
  for (const NameScope *scope = c->cursor->scope; scope; scope = scope->parent) {
    for (int i = 0; i < scope->things.count; i++) {
      const Thing *thing = scope->things.items[i];
      if (!is_visible(c->cursor, thing, is_outside)) continue;
      add_item(c, thing->name, kind_of_thing(thing), detail_of_thing(c, thing), 2);
    }
    is_outside = is_outside || scope->function;
  }
}

/* ---- arguments, members, keys ---- */

static bool is_given(const Cursor *cursor, const char *name) {
  for (int i = 0; i < cursor->named.count; i++)
    if (strcmp(cursor->named.items[i], name) == 0) return true;
  return false;
}

static void offer_arguments(Completion *c) {
  const Cursor *cursor = c->cursor;
  const char *signature = cursor->callee && !cursor->argument
                              ? cursor_signature(cursor, c->server, cursor->callee)
                              : NULL;
  const char *parameter;
  for (int i = 0; signature && (parameter = cursor_parameter(cursor->arena, signature, i)); i++) {
    const char *name = cursor_parameter_name(cursor->arena, parameter);
    bool is_positional = i < cursor->arguments - cursor->named.count;
    if (!*name || *name == '"' || *parameter == '.' || is_positional || is_given(cursor, name))
      continue;
    const char *label = arena_printf(cursor->arena, "%s =", name);
    json_t *item = add_item(c, label, ITEM_FIELD, parameter, 1);
    json_object_set_new(item, "insertText", json_sprintf("%s = ", name));
    json_object_set_new(item, "filterText", json_of_text(name));
  }
}

static void offer_members(Completion *c) {
  static const char *const members[][2] = {{"shape", "the extents, a list"},
                                           {"rank", "the number of axes"},
                                           {"size", "the number of elements"},
                                           {"dtype", "the type of the elements"},
                                           {"T", "all axes reversed"}};
  for (size_t i = 0; i < sizeof members / sizeof *members; i++)
    add_item(c, members[i][0], ITEM_PROPERTY, members[i][1], 5);
  size_t i;
  json_t *parameter;
  size_t length = c->cursor->object ? strlen(c->cursor->object) : 0;
  json_array_foreach(json_object_get(c->document->facts, "parameters"), i, parameter) {
    const char *path = json_string_value(json_object_get(parameter, "path"));
    bool is_own =
        length && path && !strncmp(path, c->cursor->object, length) && path[length] == '.';
    if (is_own && !strpbrk(path + length + 1, ".:"))
      add_item(c, path + length + 1, ITEM_FIELD,
               json_string_value(json_object_get(parameter, "type")), 1);
  }
}

/* Fields of data are called as inputs are; keys of these blocks are in no table. */
static void offer_keys(Completion *c) {
  const Cursor *cursor = c->cursor;
  static const char *const generate[] = {"from", "next"}, *const external[] = {
                                                              "c", "cuda", "function", "rowwise"};
  if (!cursor->word) return;
  const NameScope *program = cursor->names->scopes.items[0];
  for (int i = 0; !strcmp(cursor->word, "data") && i < program->things.count; i++)
    if (program->things.items[i]->kind == THING_INPUT)
      add_item(c, program->things.items[i]->name, ITEM_VARIABLE,
               detail_of_thing(c, program->things.items[i]), 1);
  for (int i = 0; !strcmp(cursor->word, "generate") && i < 2; i++)
    add_item(c, generate[i], ITEM_PROPERTY, NULL, 1);
  for (int i = 0; !strcmp(cursor->word, "extern") && i < 4; i++)
    add_item(c, external[i], ITEM_PROPERTY, NULL, 1);
}

/* The definers that a key or an argument takes. */
static const char *wanted_family(const Cursor *cursor) {
  const char *word = cursor->argument ? cursor->argument : cursor->callee ? NULL : cursor->key;
  if (!word) return NULL;
  return !strcmp(word, "optimizer")  ? "optimizers"
         : !strcmp(word, "init")     ? "initializers"
         : !strcmp(word, "lr")       ? "schedules"
         : !strcmp(word, "minimize") ? "losses"
         : !strcmp(word, "metrics")  ? "metrics"
                                     : NULL;
}

json_t *answer_completion(const Server *server, const Document *document, const json_t *params) {
  Arena *arena = arena_create();
  Cursor cursor;
  json_t *items = json_array();
  Completion completion = {
      .cursor = &cursor, .server = server, .document = document, .items = items};
  Completion *c = &completion;
  if (!cursor_find(arena, server, document, params, &cursor)) return items;
  c->wanted = wanted_family(&cursor);
  bool is_value = cursor.place == CURSOR_EXPRESSION || cursor.place == CURSOR_STATEMENT;
  if (cursor.place == CURSOR_EXPRESSION) offer_arguments(c);
  if (cursor.place == CURSOR_SOURCE || cursor.place == CURSOR_STAGE) cursor.callee = NULL;
  if (is_value) offer_names(c);
  if (cursor.place == CURSOR_MEMBER) offer_members(c);
  else if (cursor.place != CURSOR_NOWHERE) doc_each(arena, offer_entry, c);
  if (cursor.place == CURSOR_KEY) offer_keys(c);
  return items;
}

/* ---- signatures ---- */

/* Which parameter the cursor is at. */
static int active_parameter(const Cursor *cursor, const char *signature) {
  const char *parameter;
  if (!cursor->argument) return cursor->arguments;
  for (int i = 0; (parameter = cursor_parameter(cursor->arena, signature, i)); i++)
    if (strcmp(cursor_parameter_name(cursor->arena, parameter), cursor->argument) == 0) return i;
  return cursor->arguments;
}

json_t *answer_signature(const Server *server, const Document *document, const json_t *params) {
  Arena *arena = arena_create();
  Cursor cursor;
  if (!cursor_find(arena, server, document, params, &cursor) || !cursor.callee) return json_null();
  const char *signature = cursor_signature(&cursor, server, cursor.callee), *parameter;
  if (!signature) return json_null();
  json_t *parameters = json_array();
  for (int i = 0; (parameter = cursor_parameter(arena, signature, i)); i++)
    json_array_append_new(parameters, json_pack("{s:o}", "label", json_of_text(parameter)));
  return json_pack("{s:[{s:o, s:o}], s:i, s:i}", "signatures", "label", json_of_text(signature),
                   "parameters", parameters, "activeSignature", 0, "activeParameter",
                   active_parameter(&cursor, signature));
}
