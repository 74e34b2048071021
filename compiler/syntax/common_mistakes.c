/* What people write who come from other languages: each such mistake gets a message of its own, and the
 * tokens that were meant take its place. */
#include "syntax/tokens.h"

#include <string.h>

#include "net.tab.h"

static int is_word(const Token *token, const char *word) {
  return token->kind == T_ID && !strcmp(token->name, word);
}

static void keyword_instead(Arena *arena, Token *token, int kind, const char *right) {
  token_problem(arena, token, token->span, "'%s' is written '%s'", token->name, right);
  token->kind = kind;
}

/* ---- words inside expressions, before the layout ------------------------------------------ */

static int is_binder(int kind) {
  return kind == '=' || kind == ',' || kind == T_ARROW || kind == ':';
}

/* Takes `token` for what was meant; 1 when an `if` must follow. */
static int repair_word(Arena *arena, const Token *last, Token *token, const Token *next) {
  int after_operand = last && token_ends_operand(last->kind);
  int before_operand = next && token_begins_operand(next->kind);
  if (after_operand && before_operand && is_word(token, "and"))
    keyword_instead(arena, token, T_AND, "&&");
  else if (after_operand && before_operand && is_word(token, "or"))
    keyword_instead(arena, token, T_OR, "||");
  else if ((!after_operand || token->newlines) && before_operand && is_word(token, "not"))
    keyword_instead(arena, token, '!', "!");
  else if (is_word(token, "True") && next && next->kind != '=')
    keyword_instead(arena, token, T_BOOL, "true");
  else if (is_word(token, "False") && next && next->kind != '=')
    keyword_instead(arena, token, T_BOOL, "false");
  else if (is_word(token, "lambda") && next && (token_is_name(next->kind) || next->kind == ':')) {
    token_problem(arena, token, token->span, "there is no 'lambda'")->help =
        "define a function with 'def' and use its name";
    token->kind = T_BAD;
  } else if (last && last->kind == '}' && next && !is_binder(next->kind) &&
             (is_word(token, "elif") || is_word(token, "elseif") || is_word(token, "elsif"))) {
    keyword_instead(arena, token, T_ELSE, "else if");
    return 1;
  }
  return 0;
}

void mistakes_in_words(Arena *arena, Tokens *tokens) {
  Tokens out = {0};
  for (int i = 0; i < tokens->count; i++) {
    Token *token = tokens->items[i];
    const Token *last = out.count ? out.items[out.count - 1] : NULL;
    const Token *next = i + 1 < tokens->count ? tokens->items[i + 1] : NULL;
    int wants_if = token->kind == T_ID && repair_word(arena, last, token, next);
    vec_push(arena, &out, token);
    if (wants_if) vec_push(arena, &out, token_synthetic(arena, T_IF, token, NULL));
  }
  *tokens = out;
}

/* ---- words at the beginning of a statement ------------------------------------------------ */

typedef struct ForeignWord {
  const char *word;
  int kind; /* what it is taken for; T_IGNORED: left out; T_BAD: the statement is given up */
  const char *message, *help;
} ForeignWord;

static const char no_binder[] = "'=' alone binds a name: 'x = ...'";
static const char no_module[] = "a program is one file, and the library is always there";
static const char no_loop[] =
    "'for' repeats over a range at compile time, 'scan' is the loop of the running program";
static const char no_jump[] =
    "'for' and 'if' run at compile time; use 'if' around what is not wanted";
static const char no_output[] = "list what is to be seen under 'metrics' in the 'train' block";

static const ForeignWord foreign_words[] = {
    {"let", T_IGNORED, "there is no 'let'", no_binder},
    {"var", T_IGNORED, "there is no 'var'", no_binder},
    {"val", T_IGNORED, "there is no 'val'", no_binder},
    {"auto", T_IGNORED, "there is no 'auto'", no_binder},
    {"global", T_BAD, "there is no 'global'", "a 'def' sees constants, defs, params and inputs"},
    {"function", T_DEF, "'function' is written 'def'", NULL},
    {"func", T_DEF, "'func' is written 'def'", NULL},
    {"fn", T_DEF, "'fn' is written 'def'", NULL},
    {"fun", T_DEF, "'fun' is written 'def'", NULL},
    {"foreach", T_FOR, "'foreach' is written 'for'", NULL},
    {"while", T_IF, "there is no 'while'", no_loop},
    {"until", T_IF, "there is no 'until'", no_loop},
    {"loop", T_BAD, "there is no 'loop'", no_loop},
    {"do", T_BAD, "there is no 'do'", no_loop},
    {"break", T_BAD, "there is no 'break'", no_jump},
    {"continue", T_BAD, "there is no 'continue'", no_jump},
    {"pass", T_BAD, "there is no 'pass'", "a block may be empty: { }"},
    {"import", T_BAD, "there is no 'import'", no_module},
    {"from", T_BAD, "there is no 'from'", no_module},
    {"include", T_BAD, "there is no 'include'", no_module},
    {"use", T_BAD, "there is no 'use'", no_module},
    {"class", T_BAD, "there is no 'class'", "a layer is a 'def' that has its own 'param's"},
    {"struct", T_BAD, "there is no 'struct'", "a layer is a 'def' that has its own 'param's"},
    {"print", T_BAD, "there is no 'print'", no_output},
    {"printf", T_BAD, "there is no 'printf'", no_output},
    {"switch", T_BAD, "there is no 'switch'", "use 'if' and 'else if'"},
    {"match", T_BAD, "there is no 'match'", "use 'if' and 'else if'"},
    {"try", T_BAD, "there is no 'try'", NULL},
    {"raise", T_BAD, "there is no 'raise'", NULL},
    {"del", T_BAD, "there is no 'del'", "memory is planned by the compiler"},
    {"end", T_BAD, "there is no 'end'", "a block ends with '}'"},
};

/* `let = 3` and `use, x = f()` are honest bindings. */
static void repair_statement_word(Arena *arena, Token *token, const Token *next) {
  if (token->kind != T_ID || (next && is_binder(next->kind))) return;
  for (size_t i = 0; i < sizeof foreign_words / sizeof *foreign_words; i++) {
    const ForeignWord *foreign = &foreign_words[i];
    if (!is_word(token, foreign->word)) continue;
    if (foreign->kind == T_DEF && !(next && token_is_name(next->kind))) return;
    Problem *problem = token_problem(arena, token, token->span, "%s", foreign->message);
    problem->help = foreign->help;
    token->kind = foreign->kind;
    return;
  }
}

/* ---- '=' in a condition, '<-' that may be '< -' ------------------------------------------- */

/* if a = b { : between `if` and its brace every '=' outside brackets compares. */
static void repair_condition(Arena *arena, const Tokens *tokens, int index) {
  int depth = tokens->items[index]->depth;
  for (int i = index + 1; i < tokens->count; i++) {
    Token *token = tokens->items[i];
    int ends = token->kind == '{' || token->kind == T_SEP || token->kind == T_SCAN ||
               token_begins_statement(token->kind);
    if (ends || token->depth < depth) return;
    if (token->kind != '=' || token->depth != depth) continue;
    token_problem(arena, token, token->span, "'=' binds a name")->help = "'==' compares";
    token->kind = T_EQ;
  }
}

/* Do only names and commas stand between the beginning of the statement and this token? */
static int is_after_names(const Tokens *tokens, int index) {
  for (int i = index - 1; i >= 0; i--) {
    const Token *token = tokens->items[i];
    if (!token_is_name(token->kind) && token->kind != ',') return 0;
    if (token->starts_stmt) return 1;
  }
  return 0;
}

/* x <-1 is a store or a comparison; inside an expression it can only be the latter.  Returns
 * whether a '-' must follow the token. */
static int repair_arrow(Arena *arena, const Tokens *tokens, int index) {
  Token *arrow = tokens->items[index];
  const Token *next = tokens->items[index + 1];
  if (next->newlines || next->text != arrow->text + arrow->length || next->kind == T_SEP) return 0;
  const Token *last = index ? tokens->items[index - 1] : NULL;
  int is_store = is_after_names(tokens, index);
  const char *message = is_store ? "'<-' without a blank after it may be a store or a comparison"
                                 : "'<-' stores; this looks like '<' and '-'";
  Problem *problem = token_problem(arena, arrow, arrow->span, "%s", message);
  const char *left = last && token_is_name(last->kind) ? last->name : "x";
  const char *right = arena_strndup(arena, next->text, next->length);
  problem->help = is_store ? arena_printf(arena, "write '%s <- %s' to store, '%s < -%s' to compare",
                                          left, right, left, right)
                           : arena_printf(arena, "write '%s < -%s' to compare", left, right);
  if (is_store) return 0;
  arrow->kind = '<';
  return 1;
}

void mistakes_in_statements(Arena *arena, Tokens *tokens) {
  Tokens out = {0};
  for (int i = 0; i < tokens->count; i++) {
    Token *token = tokens->items[i];
    const Token *next = i + 1 < tokens->count ? tokens->items[i + 1] : NULL;
    if (token->starts_stmt) repair_statement_word(arena, token, next);
    if (token->kind == T_IF) repair_condition(arena, tokens, i);
    int wants_minus = token->kind == T_ARROW && next && repair_arrow(arena, tokens, i);
    vec_push(arena, &out, token);
    if (wants_minus) vec_push(arena, &out, token_synthetic(arena, '-', token, NULL));
  }
  *tokens = tokens_without_ignored(arena, &out);
}
