/* The parse of a file: prepares the tokens, runs the grammar, hands out tokens, goes on after
 * errors.
 *
 * Problems that the earlier steps (tokens.h) hung on tokens are reported as the grammar reads them.  Such a
 * statement is suspect: a syntax error in it is taken for a consequence and not reported. */
#include "syntax/parse.h"

#include "syntax/build.h"
#include "net.tab.h"
#include "syntax/syntax_error.h"

enum { ERRORS_MAX = 1000 }; /* then the rest of the file is not read */

/* ---- handing out tokens ------------------------------------------------------------------- */

static int ends_statement(int kind) { return kind == T_SEP || kind == '{' || kind == '}'; }

/* Is a closer without a partner only the other end of a mistake that was reported? */
static int is_aftermath(Parser *parser, const Problem *problem) {
  if (problem->stray == '}') return parser->missing_braces > 0 && parser->missing_braces--;
  return problem->stray && parser->resumed >= 0 && parser->next <= parser->resumed + 1;
}

static void report_problems(Parser *parser, Token *token) {
  for (const Problem *problem = token->problem; problem; problem = problem->next) {
    if (is_aftermath(parser, problem)) continue;
    problem_report(parser->diagnostics, problem);
    parser->is_suspect = 1;
  }
  token->problem = NULL;
}

int net_lex(NET_STYPE *value, Span *span, Parser *parser) {
  Token *token = parser->tokens.items[parser->next];
  if (parser->wants_separator) {
    parser->wants_separator = 0;
    parser->last_read = parser->next;
    *span = token->span;
    return T_SEP;
  }
  if (parser->next && ends_statement(parser->tokens.items[parser->next - 1]->kind))
    parser->is_suspect = 0;
  report_problems(parser, token);
  if (diagnostics_error_count(parser->diagnostics) > ERRORS_MAX)
    parser->next = parser->tokens.count - 1;
  token = parser->tokens.items[parser->next];
  parser->last_read = parser->next;
  if (token->kind != T_END) parser->next++;
  value->token = token;
  *span = token->span;
  return token->kind;
}

Span parser_join_spans(const Span *spans, int count) {
  int first = 1, last = count;
  Span before = spans[0];
  while (first <= last && spans[first].line == spans[first].end_line &&
         spans[first].column == spans[first].end_column)
    first++;
  while (last > first && spans[last].line == spans[last].end_line &&
         spans[last].column == spans[last].end_column)
    last--;
  if (first <= last) return span_join(spans[first], spans[last]);
  before.line = before.end_line;
  before.column = before.end_column;
  return before;
}

/* ---- errors ------------------------------------------------------------------------------- */

/* Only "memory exhausted" arrives here: syntax errors go to parser_syntax_error(). */
void net_error(Span *span, Parser *parser, const char *message) {
  (void)message;
  diag_error(parser->diagnostics, *span, "the program nests too deeply here");
}

void parser_syntax_error(Parser *parser, const int *expected, int count) {
  parser->failed = parser->last_read;
  for (int i = 0; i < count; i++)
    if (expected[i] == '{') parser->missing_braces++;
  if (!parser->is_suspect) syntax_error_report(parser, expected, count);
}

/* Goes on after the statement that failed: at the next separator or closing brace of its block. */
int parser_resume(Parser *parser) {
  if (parser->wants_separator) {
    parser->next = parser->failed;
    return 1;
  }
  const Token *const *tokens = (const Token *const *)parser->tokens.items;
  int at = parser->failed, braces = 0;
  for (; tokens[at]->kind != T_END; at++) {
    int kind = tokens[at]->kind;
    if (kind == '{') braces++;
    if (kind == '}' && braces-- == 0) break;
    if (kind == T_SEP && !braces && !tokens[at]->depth) break;
  }
  if (at <= parser->resumed) {
    if (tokens[at]->kind == T_END) return 0;
    at = parser->resumed + 1; /* always go forward */
  }
  parser->resumed = at;
  parser->next = at;
  return 1;
}

/* ---- entry points ------------------------------------------------------------------------- */

static int prepare_tokens(Parser *parser) {
  Arena *arena = parser->arena;
  Tokens all = {0};
  const SourceFile *file = parser->file;
  Span nowhere = {.file = file};
  if (file->length > SOURCE_MAX_BYTES) {
    diag_error(parser->diagnostics, nowhere, "the file is larger than %d MiB",
               SOURCE_MAX_BYTES >> 20);
    return 0;
  }
  if (!tokens_scan(arena, file, &all)) {
    diag_error(parser->diagnostics, nowhere, "the file has more than %d tokens", TOKENS_MAX);
    return 0;
  }
  parser->tokens = tokens_without_ignored(arena, &all);
  const Token *too_deep;
  if (!brackets_match(arena, &parser->tokens, &too_deep)) {
    diag_error(parser->diagnostics, too_deep->span, "brackets nest more than %d deep",
               AST_MAX_NESTING);
    return 0;
  }
  mistakes_in_words(arena, &parser->tokens);
  layout_apply(arena, &parser->tokens);
  mistakes_in_statements(arena, &parser->tokens);
  return 1;
}

static Parser parser_create(Arena *arena, Diagnostics *diagnostics, const SourceFile *file) {
  Parser parser = {.arena = arena, .diagnostics = diagnostics, .file = file, .resumed = -1};
  parser.program = ARENA_NEW(arena, AstProgram);
  parser.program->file = file;
  return parser;
}

AstProgram *parse_program(Arena *arena, Diagnostics *diagnostics, const SourceFile *file) {
  Parser parser = parser_create(arena, diagnostics, file);
  if (prepare_tokens(&parser)) net_parse(&parser); /* its result says no more than the errors do */
  return parser.program;
}

AstExpr *parse_expression(Arena *arena, Diagnostics *diagnostics, const SourceFile *file) {
  Parser parser = parser_create(arena, diagnostics, file);
  int errors = diagnostics_error_count(diagnostics);
  if (!prepare_tokens(&parser)) return NULL;
  Tokens tokens = {0};
  vec_push(arena, &tokens, token_synthetic(arena, T_START_EXPR, NULL, parser.tokens.items[0]));
  for (int i = 0; i < parser.tokens.count; i++) vec_push(arena, &tokens, parser.tokens.items[i]);
  parser.tokens = tokens;
  net_parse(&parser);
  return diagnostics_error_count(diagnostics) == errors ? parser.expression : NULL;
}
