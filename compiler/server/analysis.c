/* What the server knows of a text: see analysis.h. */
#include "server/analysis.h"

#include <string.h>
#include "server/describe.h"
#include "syntax/parse.h"

typedef struct Analysis {
  Arena *arena;
  const AnalysisText *text;
  Lines *lines;
  Diagnostics *diagnostics;
  AstProgram *program;
  Names *names;
  Sights *sights;
  void (*send)(void *context, json_t *facts);
  void *context;
  int64_t sent; /* what had been seen when the first facts were sent; 0: they were not */
} Analysis;

/* ---- JSON of positions and texts ---- */

static json_t *json_of_place(Place place) {
  return json_pack("{s:i, s:i}", "line", place.line, "character", place.character);
}

json_t *json_of_range(Range range) {
  return json_pack("{s:o, s:o}", "start", json_of_place(range.from), "end",
                   json_of_place(range.to));
}

json_t *json_of_text(const char *text) {
  json_t *string = json_string(text);
  if (string) return string;
  Text clean = {0};
  for (const char *at = text, *end = text + strlen(text); at < end;) {
    size_t bytes = source_char_length(at, end);
    if (bytes == 1 && (unsigned char)*at >= 0x80) text_add_char(&clean, '?');
    else text_add_bytes(&clean, at, bytes);
    at += bytes;
  }
  string = json_string(clean.data);
  text_free(&clean);
  return string;
}

static json_t *range_of_span(const Analysis *a, Span span) {
  return json_of_range(lines_range(a->lines, span));
}

/* A place in another file, whose lines are ASCII up to it. */
static json_t *range_elsewhere(Span span) {
  Place from = {span.line - 1, span.column - 1}, to = {span.end_line - 1, span.end_column - 1};
  return json_of_range((Range){from, to});
}

/* {uri, range}; NULL for a place that an editor cannot show. */
static json_t *location_of(const Analysis *a, Span span) {
  if (!span.file || span.line == 0) return NULL;
  if (span.file == a->program->file)
    return json_pack("{s:s, s:o}", "uri", a->text->uri, "range", range_of_span(a, span));
  const char *uri =
      span.file->is_prelude ? library_uri(a->arena, a->text->library, span.file->name) : NULL;
  return uri ? json_pack("{s:s, s:o}", "uri", uri, "range", range_elsewhere(span)) : NULL;
}

/* ---- diagnostics ---- */

/* "did you mean 'relu'?" of a help, where the place is exactly a word: the editor may put that in its place. */
static const char *replacement_in(Arena *arena, const char *help) {
  static const char begin[] = "did you mean '";
  if (strncmp(help, begin, strlen(begin)) != 0) return NULL;
  const char *word = help + strlen(begin), *end = strstr(word, "'?");
  return end ? arena_strndup(arena, word, (size_t)(end - word)) : NULL;
}

/* Notes with a place become related places where the client knows them; the rest goes into the text. */
static void add_more(const Analysis *a, json_t *diagnostic, Text *text, const Message *more) {
  bool is_related = more->severity == SEVERITY_NOTE && a->text->has_related;
  json_t *location = is_related ? location_of(a, more->at) : NULL;
  if (location) {
    json_t *list = json_object_get(diagnostic, "relatedInformation");
    if (!list) {
      list = json_array();
      json_object_set_new(diagnostic, "relatedInformation", list);
    }
    json_array_append_new(
        list, json_pack("{s:o, s:o}", "location", location, "message", json_of_text(more->text)));
    return;
  }
  text_printf(text, "\n%s: %s", more->severity == SEVERITY_HELP ? "help" : "note", more->text);
  if (more->at.file == a->program->file && more->at.line)
    text_printf(text, " (line %d)", more->at.line);
  const char *replacement =
      more->severity == SEVERITY_HELP ? replacement_in(a->arena, more->text) : NULL;
  if (replacement)
    json_object_set_new(diagnostic, "data", json_pack("{s:s}", "replacement", replacement));
}

static json_t *json_of_diagnostic(const Analysis *a, int i) {
  const Message *main = diagnostics_message(a->diagnostics, i, 0), *more;
  bool is_here = main->at.file == a->program->file && main->at.line;
  json_t *range = is_here ? range_of_span(a, main->at) : json_of_range((Range){0});
  json_t *diagnostic = json_pack("{s:o, s:i, s:s}", "range", range, "severity",
                                 main->severity == SEVERITY_ERROR ? 1 : 2, "source", "nnc");
  Text text = {0};
  text_add(&text, main->text);
  for (int part = 1; (more = diagnostics_message(a->diagnostics, i, part)); part++)
    add_more(a, diagnostic, &text, more);
  json_object_set_new(diagnostic, "message", json_of_text(text.data));
  text_free(&text);
  static const char unused[] = "is never used"; /* editors show such names pale: tag 1 */
  if (main->severity == SEVERITY_WARNING && strstr(main->text, unused))
    json_object_set_new(diagnostic, "tags", json_pack("[i]", 1));
  return diagnostic;
}

static json_t *all_diagnostics(const Analysis *a) {
  json_t *list = json_array();
  for (int i = 0; diagnostics_message(a->diagnostics, i, 0); i++)
    json_array_append_new(list, json_of_diagnostic(a, i));
  return list;
}

/* ---- names ---- */

/* Where a mention's name is defined; line 0: in no text. */
static Span definition_of(const Analysis *a, const Mention *mention) {
  if (mention->thing) return mention->binding;
  const char *function = mention->callee ? mention->callee : mention->name;
  const AstStmt *stmt = library_find(a->text->library, function);
  if (!stmt) return (Span){0};
  if (!mention->callee) return stmt->function.name.span;
  const AstFormals *formals = &stmt->function.formals;
  for (int i = 0; i < formals->count; i++)
    if (formals->items[i].name.text == mention->name) return formals->items[i].name.span;
  return (Span){0};
}

/* A name that nothing was seen of where it stands, as an argument where it is declared, or a field of data, is what it was seen to
 * be elsewhere. */
static Mention with_sight(const Analysis *a, const Mention *mention) {
  Mention found = *mention;
  const Thing *thing = mention->thing;
  bool is_one = thing && thing->bindings.count == 1;
  if (!is_one || observe_find(a->sights, mention->key)) return found;
  for (int i = 0; i < a->names->mentions.count; i++) {
    const Mention *other = &a->names->mentions.items[i];
    if (other->thing != thing || !observe_find(a->sights, other->key)) continue;
    found.key = other->key;
    break;
  }
  return found;
}

static int number_of_thing(Arena *arena, PointerTable *numbers, const Thing *thing) {
  if (!thing) return -1;
  int number = table_find(numbers, thing);
  if (number >= 0) return number;
  number = numbers->count;
  table_add(arena, numbers, thing, number);
  return number;
}

static json_t *json_of_mention(const Analysis *a, PointerTable *numbers, const Mention *mention) {
  json_t *name = json_pack(
      "{s:o, s:s, s:i, s:b}", "at", range_of_span(a, mention->at), "name", mention->name, "thing",
      number_of_thing(a->arena, numbers, mention->thing), "binds", mention->binds);
  Text hover = {0};
  Mention seen = with_sight(a, mention);
  if (describe_mention(&hover, a->sights, &seen))
    json_object_set_new(name, "hover", json_of_text(hover.data));
  text_free(&hover);
  json_t *target = location_of(a, definition_of(a, mention));
  if (target) json_object_set_new(name, "target", target);
  return name;
}

static json_t *all_names(const Analysis *a) {
  PointerTable numbers = {0};
  json_t *list = json_array();
  for (int i = 0; i < a->names->mentions.count; i++)
    json_array_append_new(list, json_of_mention(a, &numbers, &a->names->mentions.items[i]));
  return list;
}

/* Of each name the last of its values. */
static json_t *all_values(const Analysis *a) {
  json_t *values = json_object();
  for (int i = 0; i < a->names->mentions.count; i++) {
    const Mention mention = with_sight(a, &a->names->mentions.items[i]);
    const char *text = mention.binds && mention.thing->kind != THING_FUNCTION
                           ? describe_short(a->sights, observe_find(a->sights, mention.key))
                           : NULL;
    if (text) json_object_set_new(values, mention.name, json_of_text(text));
  }
  return values;
}

/* ": f32[100, 10]" behind names that an assignment binds to tensors of one type. */
static json_t *all_hints(const Analysis *a) {
  json_t *list = json_array();
  for (int i = 0; i < a->names->mentions.count; i++) {
    const Mention *mention = &a->names->mentions.items[i];
    if (!mention->binds || mention->thing->kind != THING_VALUE) continue;
    const Sight *sight = observe_find(a->sights, mention->key);
    if (!sight || sight->variants.count != 1 || !sight->variants.items[0].is_tensor) continue;
    const char *label = arena_printf(a->arena, ": %s", describe_short(a->sights, sight));
    Place place = lines_range(a->lines, mention->at).to;
    json_array_append_new(list, json_pack("{s:o, s:s, s:i, s:b}", "position", json_of_place(place),
                                          "label", label, "kind", 1, "paddingLeft", false));
  }
  return list;
}

/* ---- symbols ---- */

enum {
  SYMBOL_KIND_MODULE = 2,
  SYMBOL_KIND_FUNCTION = 12,
  SYMBOL_KIND_VARIABLE,
  SYMBOL_KIND_CONSTANT
};

static void add_symbol(const Analysis *a, json_t *list, const AstStmt *stmt, const AstName *name,
                       int kind) {
  const char *text = name && name->text ? name->text : ast_stmt_kind_text(stmt->kind);
  Span at = name && name->text ? name->span : stmt->keyword;
  const char *detail = describe_short(a->sights, observe_find(a->sights, name));
  if (!detail) detail = ast_stmt_kind_text(stmt->kind);
  json_array_append_new(list,
                        json_pack("{s:s, s:i, s:o, s:o, s:o}", "name", text, "kind", kind, "detail",
                                  json_of_text(detail), "range", range_of_span(a, stmt->span),
                                  "selectionRange", range_of_span(a, at)));
}

static void add_symbols(const Analysis *a, json_t *list, const AstStmt *stmt) {
  switch (stmt->kind) {
  case AST_CONST:
    for (int i = 0; i < stmt->constants.count; i++)
      add_symbol(a, list, stmt, &stmt->constants.items[i].name, SYMBOL_KIND_CONSTANT);
    return;
  case AST_OPTION: add_symbol(a, list, stmt, &stmt->option.name, SYMBOL_KIND_CONSTANT); return;
  case AST_INPUT:
  case AST_PARAM:
  case AST_STATE:
  case AST_STREAM: add_symbol(a, list, stmt, &stmt->variable.name, SYMBOL_KIND_VARIABLE); return;
  case AST_DATA:
  case AST_TRAIN:
  case AST_PREDICT:
  case AST_GENERATE: add_symbol(a, list, stmt, &stmt->section.name, SYMBOL_KIND_MODULE); return;
  case AST_ASSIGN:
    for (int i = 0; i < stmt->assignment.names.count; i++)
      add_symbol(a, list, stmt, &stmt->assignment.names.items[i], SYMBOL_KIND_VARIABLE);
    return;
  case AST_DEF:
  case AST_OPTIMIZER:
  case AST_INIT:
  case AST_SCHEDULE:
  case AST_EXTERN: add_symbol(a, list, stmt, &stmt->function.name, SYMBOL_KIND_FUNCTION); return;
  default: return;
  }
}

static json_t *all_symbols(const Analysis *a) {
  json_t *list = json_array();
  for (int i = 0; i < a->program->stmts.count; i++)
    add_symbols(a, list, a->program->stmts.items[i]);
  return list;
}

/* ---- parameters ---- */

static json_t *all_parameters(const Analysis *a) {
  json_t *list = json_array();
  for (int i = 0; i < a->sights->slots.count; i++) {
    const Slot *slot = a->sights->slots.items[i];
    json_array_append_new(list, json_pack("{s:o, s:s}", "path", json_of_text(slot->path), "type",
                                          type_text(a->arena, slot->type)));
  }
  return list;
}

/* ---- the whole ---- */

/* Of a text that does not parse the values are not known; those of the text before it stay. */
static json_t *all_facts(const Analysis *a) {
  json_t *facts = json_pack("{s:o, s:o, s:o}", "names", all_names(a), "symbols", all_symbols(a),
                            "hints", all_hints(a));
  if (a->sights->items.count == 0) return facts;
  json_object_set_new(facts, "values", all_values(a));
  json_object_set_new(facts, "parameters", all_parameters(a));
  return facts;
}

static void send_early(void *context) {
  Analysis *a = context;
  a->sent = a->sights->seen;
  a->send(a->context, all_facts(a));
}

void analysis_run(const AnalysisText *text, void (*send)(void *context, json_t *facts),
                  void *context) {
  Arena *arena = arena_create();
  const SourceFile *source = source_from_text(arena, text->path, text->text, text->length);
  Analysis a = {.arena = arena, .text = text, .send = send, .context = context};
  a.lines = lines_create(arena, text->encoding, text->text, text->length);
  a.diagnostics = diagnostics_create(arena);
  a.program = parse_program(arena, a.diagnostics, source);
  a.names = resolve_names(arena, a.program);
  a.sights = observe_create(arena);
  a.sights->after_training = send_early;
  a.sights->context = &a;
  ElaborateOptions options = {
      .check_only = true, .prelude = text->library->prelude, .observer = &a.sights->observer};
  if (diagnostics_error_count(a.diagnostics) == 0) {
    const Module *module = elaborate(arena, a.diagnostics, a.program, &options);
    a.sights->is_f64 = module && module->run.precision == DTYPE_F64;
  }
  bool is_new = a.sent == 0 || a.sent != a.sights->seen || a.sights->is_f64;
  json_t *facts = is_new ? all_facts(&a) : json_object();
  json_object_set_new(facts, "diagnostics", all_diagnostics(&a));
  send(context, facts);
  arena_destroy(arena);
}
