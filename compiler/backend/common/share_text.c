/* Tokens of a function's text, and which of its numbers must be constants: see share_text.h. */
#include "backend/common/share_text.h"

#include <ctype.h>
#include <string.h>
#include "support/panic.h"

/* ---- tokens ---- */

bool share_text_is(const Token *token, const char *word) {
  return strlen(word) == (size_t)token->length && strncmp(token->at, word, strlen(word)) == 0;
}

bool share_text_same(const Token *a, const Token *b) {
  return a->length == b->length && strncmp(a->at, b->at, (size_t)a->length) == 0;
}

bool share_text_is_number(const Token *token) { return token->kind >= TOKEN_INTEGER; }

static bool begins_with(const Token *token, const char *start) {
  return strlen(start) <= (size_t)token->length && strncmp(token->at, start, strlen(start)) == 0;
}

static bool is_of_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* A word without small letters: a constant or a macro. */
static bool is_constant(const Token *token) {
  if (token->kind != TOKEN_WORD) return false;
  for (int i = 0; i < token->length; i++)
    if (islower((unsigned char)token->at[i])) return false;
  return true;
}

/* "12", "1.5e-05f", "0x1p-2": the length, with the point and exponent. */
static int number_length(const char *at) {
  int length = 1;
  for (;; length++) {
    bool is_sign = (at[length] == '+' || at[length] == '-') && strchr("eEpP", at[length - 1]) &&
                   !(at[0] == '0' && tolower((unsigned char)at[1]) == 'x' &&
                     tolower((unsigned char)at[length - 1]) == 'e');
    if (!is_of_word(at[length]) && at[length] != '.' && !is_sign) return length;
  }
}

static TokenKind number_kind(const char *at, int length) {
  int digits = 0, points = 0;
  if (at[0] == '0' && length > 1 && tolower((unsigned char)at[1]) == 'x') return TOKEN_WORD;
  for (int i = 0; i < length; i++) {
    digits += isdigit((unsigned char)at[i]) != 0;
    points += at[i] == '.' || at[i] == 'e';
  }
  if (digits == length) return TOKEN_INTEGER;
  if (points == 0) return TOKEN_WORD; /* 12u */
  char last = at[length - 1];
  return last == 'f' ? TOKEN_FLOAT : isdigit((unsigned char)last) ? TOKEN_DOUBLE : TOKEN_WORD;
}

static Token next_token(const char *at) {
  Token token = {.kind = TOKEN_SIGN, .at = at, .length = 1};
  if (isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1]))) {
    token.length = number_length(at);
    token.kind = number_kind(at, token.length);
  } else if (is_of_word(*at)) {
    while (is_of_word(at[token.length])) token.length++;
    token.kind = TOKEN_WORD;
  } else if (*at == '"') {
    while (at[token.length] != '"') token.length += at[token.length] == '\\' ? 2 : 1;
    token.length++;
    token.kind = TOKEN_WORD;
  }
  return token;
}

static void cut(Arena *arena, ShareText *text) {
  VEC(Token) tokens = {0};
  int depth = 0, function = 0;
  for (const char *at = text->begin; at < text->end;) {
    if (isspace((unsigned char)*at)) {
      at++;
    } else if (at[0] == '/' && at[1] == '*') {
      const char *close = strstr(at, "*/");
      CHECK(close != NULL);
      at = close + 2;
    } else {
      Token token = next_token(at);
      token.function = function;
      vec_push(arena, &tokens, token);
      at += token.length;
      if (token.kind != TOKEN_SIGN) continue;
      depth += (*token.at == '{') - (*token.at == '}');
      function += *token.at == '}' && depth == 0;
    }
  }
  text->tokens = tokens.items;
  text->count = tokens.count;
}

int share_text_after(const ShareText *text, int open) {
  int depth = 0, i = open;
  do {
    CHECK(i < text->count);
    char sign = *text->tokens[i].at;
    if (text->tokens[i].kind == TOKEN_SIGN)
      depth += (strchr("([{", sign) != NULL) - (strchr(")]}", sign) != NULL);
    i++;
  } while (depth > 0);
  return i;
}

/* ---- lists of constants ---- */

static void read_extents(Arena *arena, ShareText *text, int list) {
  int end = share_text_after(text, list + 1) - 1;
  for (int i = list + 2, name = i; i <= end; i++) {
    while (*text->tokens[i].at == '(') i = share_text_after(text, i);
    if (i < end && *text->tokens[i].at != ',') continue;
    Extent extent = {list, name, i};
    vec_push(arena, &text->extents, extent);
    name = i + 1;
  }
}

const Extent *share_text_extent(const ShareText *text, int token) {
  for (int e = 0; e < text->extents.count; e++)
    if (token >= text->extents.items[e].name && token < text->extents.items[e].end)
      return &text->extents.items[e];
  return NULL;
}

/* ---- what is fixed ---- */

/* The numbers in [first, end), and those that the enumerators there are made of. */
static void fix(ShareText *text, int first, int end) {
  for (int i = first; i < end; i++) {
    Token *token = &text->tokens[i];
    if (share_text_is_number(token)) token->is_fixed = true;
    if (!is_constant(token)) continue;
    for (int e = 0; e < text->extents.count; e++) {
      const Extent *extent = &text->extents.items[e];
      const Token *name = &text->tokens[extent->name];
      bool is_itself = i >= extent->name && i < extent->end;
      if (!is_itself && name->function == token->function && share_text_same(name, token))
        fix(text, extent->name + 2, extent->end);
    }
  }
}

/* [9], [ROWS * MOST]: the length of an array. What is x[i * 9] has small letters. */
static void fix_lengths(ShareText *text, int open) {
  int after = share_text_after(text, open);
  for (int i = open; i < after; i++) {
    const Token *token = &text->tokens[i];
    if (token->kind == TOKEN_WORD && !is_constant(token)) return;
  }
  fix(text, open, after);
}

/* Divisors are fixed, but those of a task's number, which is divided once a task. */
static void fix_divisor(ShareText *text, int at) {
  const Token *tokens = text->tokens;
  if (share_text_extent(text, at) != NULL) return;
  int first = at - 1;
  while (first >= 2 && tokens[first].kind != TOKEN_SIGN && strchr("*/%", *tokens[first - 1].at))
    first -= 2;
  if (share_text_is(&tokens[first], "task") || share_text_is(&tokens[first], "block")) return;
  int end = *tokens[at + 1].at == '(' ? share_text_after(text, at + 1) : at + 2;
  fix(text, at + 1, end);
}

/* Whether a loop or a function of the kernel's own is in the body that begins at `first`. */
static bool has_inner(const ShareText *text, int first) {
  int end = first;
  if (*text->tokens[first].at == '{') end = share_text_after(text, first);
  else
    while (*text->tokens[end].at != ';')
      end = *text->tokens[end].at == '(' ? share_text_after(text, end) : end + 1;
  for (int i = first; i < end; i++)
    if (share_text_is(&text->tokens[i], "for") ||
        begins_with(&text->tokens[i], text->function->name))
      return true;
  return false;
}

/* The bounds of innermost loops, and of loops that are written out. */
static void fix_loop(ShareText *text, int at) {
  int after = share_text_after(text, at + 1);
  bool is_written_out = at > 0 && share_text_is(&text->tokens[at - 1], "NNC_UNROLL");
  if (is_written_out || !has_inner(text, after)) fix(text, at + 1, after);
}

/* Functions and macros of the runtime that do not gain by constants. Others are inline, and many are written
 * for arguments that are known. */
static bool takes_any_number(const Token *token) {
  static const char *const names[] = {
      "NNC_TASKS",      "NNC_EXTENTS",   "NNC_FIXED_TILES", "nnc_least",
      "nnc_greatest",   "nnc_within",    "nnc_clamp",       "NNC_BLOCK_OF",
      "NNC_EACH_PIECE", "NNC_MULTIPLY",  "NNC_NEXT_PANEL",  "NNC_PANEL_IN_PLACE",
      "NNC_NEXT_ROWS",  "NNC_NEXT_TILE", "NNC_PACK",        "NNC_THEN_PACKS"};
  static const char *const starts[] = {"nnc_random_", "nnc_philox_", "nnc_pack_"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (share_text_is(token, names[i])) return true;
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
    if (begins_with(token, starts[i])) return true;
  return false;
}

static bool is_of_runtime(const Token *token) {
  static const char *const starts[] = {"nnc_", "NNC_", "__", "mem"};
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
    if (begins_with(token, starts[i])) return true;
  return false;
}

static void fix_numbers(ShareText *text) {
  for (int i = 0; i + 1 < text->count; i++) {
    const Token *token = &text->tokens[i];
    bool is_before_list = *text->tokens[i + 1].at == '(';
    if (share_text_is(token, "static")) {
      int end = i;
      while (*text->tokens[end].at != ';' && *text->tokens[end].at != '{') end++;
      if (*text->tokens[end].at == '{') end = share_text_after(text, end);
      fix(text, i, end);
    } else if (share_text_is(token, "for")) {
      fix_loop(text, i);
    } else if (token->kind == TOKEN_WORD && is_before_list && is_of_runtime(token)) {
      if (!takes_any_number(token)) fix(text, i, share_text_after(text, i + 1));
    } else if (*token->at == '[') {
      fix_lengths(text, i);
    } else if (*token->at == '/' || *token->at == '%') {
      fix_divisor(text, i);
    }
  }
}

ShareText share_text_read(Arena *arena, const KernelFunction *function, const Text *from) {
  ShareText text = {.function = function, .begin = from->data, .end = from->data + from->length};
  cut(arena, &text);
  for (int i = 0; i < text.count; i++)
    if (share_text_is(&text.tokens[i], "NNC_EXTENTS")) read_extents(arena, &text, i);
  fix_numbers(&text);
  return text;
}

/* ---- keys ---- */

/* A name of the function's own by its number; NULL: it is none. */
static const char *own_name(Arena *arena, const KernelFunction *function, const Token *token) {
  const Kernel *kernel = function->kernel;
  for (int i = 0; i < kernel->operand_count; i++)
    if (share_text_is(token, function->operands[i])) return arena_printf(arena, "@%d", i);
  for (int i = 0; i < kernel->scalar_count; i++)
    if (share_text_is(token, function->scalars[i])) return arena_printf(arena, "$%d", i);
  if (!begins_with(token, function->name)) return NULL;
  int length = (int)strlen(function->name);
  return arena_printf(arena, "@%.*s", token->length - length, token->at + length);
}

const char *share_text_key(Arena *arena, const ShareText *text) {
  static const char *const any[] = {
      [TOKEN_INTEGER] = "#", [TOKEN_FLOAT] = "#f", [TOKEN_DOUBLE] = "#d"};
  Text key = {0};
  for (int i = 0; i < text->count; i++) {
    const Token *token = &text->tokens[i];
    const char *name = token->kind == TOKEN_WORD ? own_name(arena, text->function, token) : NULL;
    if (share_text_is_number(token) && !token->is_fixed) text_add(&key, any[token->kind]);
    else if (name != NULL) text_add(&key, name);
    else text_add_bytes(&key, token->at, (size_t)token->length);
    text_add_char(&key, ' ');
  }
  return text_take(&key, arena);
}
