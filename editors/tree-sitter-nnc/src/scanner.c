/* Where a newline ends a statement, as compiler/syntax/layout.c decides: unless the next token cannot begin one. That the
 * statement may end here, the parser knows: it asks for a newline only then. */
#include <string.h>
#include <tree_sitter/parser.h>

enum { NEWLINE, LONGEST_WORD = 16 };

void *tree_sitter_nnc_external_scanner_create(void) { return NULL; }
void tree_sitter_nnc_external_scanner_destroy(void *payload) { (void)payload; }
unsigned tree_sitter_nnc_external_scanner_serialize(void *payload, char *buffer) {
  (void)payload, (void)buffer;
  return 0;
}
void tree_sitter_nnc_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
  (void)payload, (void)buffer, (void)length;
}

/* Blanks, ends of lines and comments. */
static void skip_blanks(TSLexer *lexer) {
  while (!lexer->eof(lexer)) {
    int32_t c = lexer->lookahead;
    if (c == '#') {
      while (lexer->lookahead != '\n' && !lexer->eof(lexer)) lexer->advance(lexer, false);
      continue;
    }
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n' && c != '\f' && c != '\v' && c != 0xfeff) break;
    lexer->advance(lexer, false);
  }
}

static bool is_letter(int32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Words that go on with a statement: `in`, `else`, `with`, and `gradient` before its arguments. */
static bool continues_word(TSLexer *lexer) {
  char word[LONGEST_WORD + 1];
  int length = 0;
  for (; is_letter(lexer->lookahead); lexer->advance(lexer, false))
    if (length < LONGEST_WORD) word[length++] = (char)lexer->lookahead;
  word[length] = 0;
  if (!strcmp(word, "in") || !strcmp(word, "else") || !strcmp(word, "with")) return true;
  if (strcmp(word, "gradient") != 0) return false;
  skip_blanks(lexer);
  return lexer->lookahead == '(';
}

static bool continues_statement(TSLexer *lexer) {
  int32_t c = lexer->lookahead;
  if (lexer->eof(lexer) || (c < 128 && strchr("+-*/%@^?:.|=<>,)]{};&", (char)c))) return true;
  if (is_letter(c)) return continues_word(lexer);
  if (c != '!') return false;
  lexer->advance(lexer, false);
  return lexer->lookahead == '=';
}

/* The token is the end of a line and the blanks before it. A comment before it is read by the parser first. */
bool tree_sitter_nnc_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid_symbols) {
  (void)payload;
  if (!valid_symbols[NEWLINE]) return false;
  while (lexer->lookahead == ' ' || lexer->lookahead == '\t' || lexer->lookahead == '\r')
    lexer->advance(lexer, true);
  if (lexer->lookahead != '\n') return false;
  lexer->advance(lexer, false);
  lexer->mark_end(lexer);
  skip_blanks(lexer);
  if (continues_statement(lexer)) return false;
  lexer->result_symbol = NEWLINE;
  return true;
}
