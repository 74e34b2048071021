/* Where a cursor stands: see cursor.h. */
#include "server/cursor.h"

#include <string.h>
#include "elaborate/builtins/doc.h"
#include "server/describe.h"
#include "support/names.h"
#include "syntax/parse.h"
#include "net.tab.h"

/* A bracket that is open at the cursor. */
typedef struct Open {
  int bracket;
  const Token *callee; /* of '(' */
  const Token *word;   /* of '{': what the statement begins with */
  int begin;           /* the first token of the statement, line or argument in it */
  int commas;
  VEC(const char *) named;
} Open;

typedef struct Walk {
  Arena *arena;
  Tokens tokens;
  int count; /* tokens before the word that is typed */
  VEC(Open) open;
} Walk;

static const Token *token_at(const Walk *walk, int i) {
  return i >= 0 && i < walk->tokens.count ? walk->tokens.items[i] : NULL;
}

static bool is_kind(const Token *token, int kind) { return token && token->kind == kind; }

/* ---- the brackets around ---- */

static void open_bracket(Walk *walk, int i) {
  const Token *token = token_at(walk, i), *before = token_at(walk, i - 1);
  const Open *around = &walk->open.items[walk->open.count - 1];
  Open open = {.bracket = token->kind, .begin = i + 1};
  if (token->kind == '(' && before && token_is_name(before->kind)) open.callee = before;
  if (token->kind == '{') open.word = token_at(walk, around->begin);
  vec_push(walk->arena, &walk->open, open);
}

/* Whether a statement, or a line of a block, begins with token `i`. */
static bool begins_line(const Walk *walk, const Open *open, int i) {
  const Token *before = token_at(walk, i - 1), *token = token_at(walk, i);
  if (!before || is_kind(before, T_SEP)) return true;
  if (open->bracket == '(' || open->bracket == '[') return false;
  return token && token->newlines > 0 && layout_ends_statement(before, token);
}

static void step(Walk *walk, int i) {
  const Token *token = token_at(walk, i);
  Open *open = &walk->open.items[walk->open.count - 1];
  if (begins_line(walk, open, i)) open->begin = i;
  if (token->kind == ',' || token->kind == T_SEP) {
    bool is_list = open->bracket == '(' || (open->bracket == '{' && open->word);
    if (is_list) open->begin = i + 1;
    open->commas += token->kind == ',';
  }
  if (token->kind == '=' && open->callee && i == open->begin + 1)
    vec_push(walk->arena, &open->named, token_at(walk, i - 1)->name);
  if (token_is_opener(token->kind)) open_bracket(walk, i);
  if (token_is_closer(token->kind) && walk->open.count > 1) walk->open.count--;
}

/* ---- what may come ---- */

static bool is_block_of_lines(const Token *word) {
  static const int kinds[] = {T_DATA, T_TRAIN, T_PREDICT, T_GENERATE, T_PARAMS, T_EXTERN};
  for (size_t i = 0; word && i < sizeof kinds / sizeof *kinds; i++)
    if (word->kind == kinds[i]) return true;
  return false;
}

static bool declares_type(const Token *first) {
  static const int kinds[] = {T_INPUT, T_PARAM, T_STATE, T_STREAM, T_DEF, T_EXTERN};
  for (size_t i = 0; first && i < sizeof kinds / sizeof *kinds; i++)
    if (first->kind == kinds[i]) return true;
  return false;
}

/* In a block of lines: a key, or what follows it. */
static void place_in_line(const Walk *walk, const Open *open, Cursor *cursor) {
  int at = walk->count;
  cursor->word = open->word->name;
  bool is_data = open->word->kind == T_DATA;
  cursor->place = CURSOR_KEY;
  if (begins_line(walk, open, at) || open->begin >= at) return;
  cursor->key =
      token_is_name(token_at(walk, open->begin)->kind) ? token_at(walk, open->begin)->name : NULL;
  cursor->place = CURSOR_EXPRESSION;
  if (is_data && is_kind(token_at(walk, at - 1), '=')) cursor->place = CURSOR_SOURCE;
  if (is_data && is_kind(token_at(walk, at - 1), '|')) cursor->place = CURSOR_STAGE;
}

static void place_in_call(const Walk *walk, const Open *open, Cursor *cursor) {
  cursor->callee = open->callee->name;
  cursor->arguments = open->commas;
  for (int i = 0; i < open->named.count; i++)
    vec_push(walk->arena, &cursor->named, open->named.items[i]);
  bool has_name = is_kind(token_at(walk, open->begin + 1), '=') && open->begin + 1 < walk->count;
  if (has_name) cursor->argument = token_at(walk, open->begin)->name;
}

static void find_place(const Walk *walk, Cursor *cursor) {
  const Open *open = &walk->open.items[walk->open.count - 1];
  const Token *before = token_at(walk, walk->count - 1);
  cursor->place = CURSOR_EXPRESSION;
  for (int i = walk->open.count - 1; i > 0 && !cursor->word; i--)
    if (is_block_of_lines(walk->open.items[i].word)) cursor->word = walk->open.items[i].word->name;
  if (open->bracket == '(' && open->callee) place_in_call(walk, open, cursor);
  if (is_kind(before, '.')) {
    const Token *object = token_at(walk, walk->count - 2);
    cursor->place = CURSOR_MEMBER;
    cursor->object = object && token_is_name(object->kind) ? object->name : NULL;
    return;
  }
  if (open->bracket == '{' && is_block_of_lines(open->word)) {
    place_in_line(walk, open, cursor);
    return;
  }
  const Open *bottom = &walk->open.items[0];
  bool is_type = is_kind(before, ':') && open->bracket != '[' &&
                 declares_type(token_at(walk, open->bracket == '(' ? bottom->begin : open->begin));
  if (is_type) cursor->place = CURSOR_TYPE;
  bool is_statement =
      (!open->bracket || open->bracket == '{') && begins_line(walk, open, walk->count);
  if (is_statement || is_kind(before, '{')) cursor->place = CURSOR_STATEMENT;
}

/* ---- the whole ---- */

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Tokens before `end`, which is in the source; false inside of a comment or a string. The one after them tells whether the
 * cursor begins a line. */
static bool read_tokens(Walk *walk, const SourceFile *source, size_t end) {
  Tokens all = {0};
  if (!tokens_scan(walk->arena, source, &all)) return false;
  int newlines = 0;
  for (int i = 0; i < all.count; i++) {
    Token *token = all.items[i];
    size_t from = (size_t)(token->text - source->text);
    bool is_inside = from < end && end < from + token->length + (token->kind == T_COMMENT);
    if (is_inside && (token->kind == T_COMMENT || token->kind == T_STRING)) return false;
    if (token->kind == T_COMMENT || token->kind == T_IGNORED) {
      newlines += token->newlines;
      continue;
    }
    token->newlines += newlines;
    newlines = 0;
    vec_push(walk->arena, &walk->tokens, token);
    if (from < end && token->kind != T_END) walk->count = walk->tokens.count;
    else break;
  }
  return true;
}

/* A stand-in for the word that is typed, on the line of the cursor. */
static void add_word(Walk *walk, int line) {
  const Token *before = token_at(walk, walk->count - 1);
  Token *word = ARENA_NEW(walk->arena, Token);
  word->kind = T_ID;
  word->name = "";
  word->newlines = line - (before ? before->span.end_line : 0);
  walk->tokens.count = walk->count;
  vec_push(walk->arena, &walk->tokens, word);
}

bool cursor_find(Arena *arena, const Server *server, const Document *document, const json_t *params,
                 Cursor *cursor) {
  size_t offset;
  if (!server_offset(server, document, params, &offset)) return false;
  const char *text = document->text.data ? document->text.data : "";
  *cursor = (Cursor){.arena = arena, .from = offset};
  while (cursor->from > 0 && is_letter(text[cursor->from - 1])) cursor->from--;
  cursor->source = source_from_text(arena, document->path, text, document->text.length);
  size_t mark = document->text.length - cursor->source->length; /* left out at the beginning */
  size_t end = cursor->from > mark ? cursor->from - mark : 0;
  cursor->line = cursor->column = 1;
  for (const char *at = cursor->source->text, *last = at + end; at < last;) {
    size_t bytes = source_char_length(at, last);
    cursor->column = *at == '\n' ? 1 : cursor->column + 1;
    cursor->line += *at == '\n';
    at += bytes;
  }
  cursor->names =
      resolve_names(arena, parse_program(arena, diagnostics_create(arena), cursor->source));
  cursor->scope = resolve_scope_at(cursor->names, cursor->line, cursor->column);
  Walk walk = {.arena = arena};
  if (!read_tokens(&walk, cursor->source, end)) return true;
  add_word(&walk, cursor->line);
  vec_push(arena, &walk.open, (Open){0});
  for (int i = 0; i < walk.count; i++) step(&walk, i);
  Open *open = &walk.open.items[walk.open.count - 1];
  if (begins_line(&walk, open, walk.count)) open->begin = walk.count;
  find_place(&walk, cursor);
  return true;
}

/* ---- signatures ---- */

typedef struct Wanted {
  const char *name;
  bool is_data;
  const char *signature;
} Wanted;

static void look_for(void *context, const DocEntry *entry) {
  Wanted *wanted = context;
  if (strcmp(entry->name, wanted->name) != 0 || !strchr(entry->signature, '(')) return;
  bool is_data = strncmp(entry->family, "data", 4) == 0;
  if (!wanted->signature || is_data == wanted->is_data) wanted->signature = entry->signature;
}

const char *cursor_signature(const Cursor *cursor, const Server *server, const char *callee) {
  const Thing *thing = resolve_find(cursor->scope, callee);
  if (thing && thing->kind == THING_FUNCTION) return describe_head(cursor->arena, thing->stmt);
  Wanted wanted = {.name = callee, .is_data = cursor->word && strcmp(cursor->word, "data") == 0};
  if (!thing) doc_each(cursor->arena, look_for, &wanted);
  return wanted.signature;
}

const char *cursor_parameter(Arena *arena, const char *signature, int i) {
  const char *at = strchr(signature, '(');
  int depth = 0;
  bool is_quoted = false;
  if (!at) return NULL;
  for (const char *begin = ++at;; at++) {
    if (*at == '"') is_quoted = !is_quoted;
    if (!*at) return NULL;
    if (is_quoted) continue;
    bool ends = depth == 0 && (*at == ',' || *at == ')');
    depth += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
    if (!ends) continue;
    while (*begin == ' ' || *begin == '\n') begin++;
    if (i-- == 0) return at > begin ? arena_strndup(arena, begin, (size_t)(at - begin)) : NULL;
    if (*at == ')') return NULL;
    begin = at + 1;
  }
}

const char *cursor_parameter_name(Arena *arena, const char *parameter) {
  while (*parameter == '.') parameter++;
  return arena_strndup(arena, parameter, strcspn(parameter, ":= "));
}
