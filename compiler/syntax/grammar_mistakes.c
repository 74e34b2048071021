/* Syntax errors with a message of their own.
 *
 * Each rule looks at the place where the grammar failed and either reports the error in the terms
 * of the mistake that probably caused it, or leaves it to the next rule.  The table at the end gives
 * their order. */
#include <string.h>

#include "support/names.h"
#include "syntax/syntax_error.h"

typedef const SyntaxError *Error;

static Diagnostic *complain(Error e, Span at, const char *message) {
  return diag_error(e->parser->diagnostics, at, "%s", message);
}

static int complain_with_help(Error e, Span at, const char *message, const char *help) {
  diag_help(complain(e, at, message), "%s", help);
  return 1;
}

static int kind_at(Error e, int index) {
  int last = e->parser->tokens.count - 1;
  return e->tokens[index < last ? index : last]->kind;
}

static int is_end(int kind) { return kind == T_SEP || kind == T_END || kind == '}'; }

static int is_comparison(int kind) {
  return kind == '<' || kind == '>' || kind == T_LE || kind == T_GE || kind == T_EQ || kind == T_NE;
}

static int is_hard_word(int kind) { return kind >= T_CONST && kind <= T_PARAM; }

/* ---- statements that are none ------------------------------------------------------------- */

static const char *const statement_words[] = {
    "const", "def",      "for",    "if",     "else",   "return",   "yield",
    "param", "data",     "input",  "state",  "train",  "predict",  "optimizer",
    "init",  "schedule", "stream", "extern", "option", "generate",
};

/* The end of the statement, or the '=' or '<-' in it that stands outside brackets. */
static int find_binder(Error e) {
  int depth = e->tokens[e->start]->depth;
  for (int i = e->start;; i++) {
    const Token *token = e->tokens[i];
    if (is_end(token->kind) || token->kind == '{') return i;
    if (token->depth == depth && (token->kind == '=' || token->kind == T_ARROW)) return i;
  }
}

/* fro i in 0..3 {, dfe f(x) {, trian { and fi (a) { */
static int misspelt_statement(Error e) {
  const Token *word = e->tokens[e->start];
  int found = e->found->kind;
  if (!e->expects[T_ARROW] || e->at != e->start + 1 || word->kind != T_ID) return 0;
  if (!token_is_name(found) && found != '{' && found != '(') return 0;
  int count = (int)(sizeof statement_words / sizeof *statement_words);
  const char *nearest = name_nearest(word->name, statement_words, count);
  if (!nearest) return 0;
  if (found == '(' && kind_at(e, find_binder(e)) != '{') return 0; /* rather a call */
  Diagnostic *diagnostic =
      diag_error(e->parser->diagnostics, word->span, "unknown statement '%s'", word->name);
  diag_help(diagnostic, "did you mean '%s'?", nearest);
  return 1;
}

static Span span_of(Error e, int from, int to) {
  return span_join(e->tokens[from]->span, e->tokens[to > from ? to - 1 : from]->span);
}

/* x[0] = 1 and (a, b) = f(x) and f(x) = x + 1 */
static int complain_of_target(Error e, int binder) {
  Span left = span_of(e, e->start, binder);
  const Token *first = e->tokens[e->start];
  Diagnostic *diagnostic = e->tokens[binder]->kind == '='
                               ? complain(e, left, "only names can stand on the left side of '='")
                               : complain(e, left, "only names can stand on the left side of '<-'");
  int second = kind_at(e, e->start + 1);
  if (first->kind == '(' || first->kind == '[')
    diag_help(diagnostic, "several names are bound without brackets: 'a, b = ...'");
  else if (token_is_name(first->kind) && second == '(')
    diag_help(diagnostic, "a function is written 'def %s(...) { return ... }'", first->name);
  else if (token_is_name(first->kind) && second == '[')
    diag_help(diagnostic, "tensors are values: elements cannot be set; make a new value, for "
                          "example with 'where' or 'concat'");
  return 1;
}

static int expression_statement(Error e) {
  int is_first = e->at == e->start && e->expects[T_CONST] && token_begins_operand(e->found->kind);
  if (!is_first && !(e->expects[T_ARROW] && e->at > e->start)) return 0;
  if (!is_first && token_begins_operand(e->found->kind) && e->found->kind != '(' &&
      e->found->kind != '[' && e->found->kind != '-')
    return 0;
  if (e->found->kind == ':' && e->at == e->start + 1) return 0;
  if (is_hard_word(e->found->kind) && e->found->kind != T_SCAN) return 0;
  int binder = find_binder(e);
  int kind = e->tokens[binder]->kind;
  if (kind == '=' || kind == T_ARROW) return complain_of_target(e, binder);
  if (kind == '{' && e->found->kind != T_SCAN) return 0;
  return complain_with_help(e, span_of(e, e->start, binder),
                            "a statement cannot be just an expression",
                            "bind its value to a name, as in 'y = ...', or return it");
}

/* train on a line of its own */
static int blockless_section(Error e) {
  const Token *first = e->tokens[e->start];
  int is_section = first->kind == T_TRAIN || first->kind == T_PREDICT || first->kind == T_GENERATE;
  if (!is_section || e->at != e->start + 1 || !is_end(e->found->kind)) return 0;
  diag_error(e->parser->diagnostics, first->span, "a '%s' block is written '%s { ... }'",
             first->name, first->name);
  return 1;
}

/* x : f32 = 3 */
static int annotated_name(Error e) {
  if (e->found->kind != ':' || !e->expects[T_ARROW] || e->at != e->start + 1) return 0;
  return complain_with_help(e, e->found->span, "a name is bound without a type",
                            "types stand in 'input', 'param', 'state' and in formals");
}

/* ---- words at the wrong place ------------------------------------------------------------- */

/* a if c else b */
static int python_ternary(Error e) {
  if (e->found->kind != T_IF || !e->last || !token_ends_operand(e->last->kind) || !e->expects['*'])
    return 0;
  for (int i = e->at + 1; !is_end(kind_at(e, i)) && kind_at(e, i) != '{'; i++)
    if (kind_at(e, i) == T_ELSE)
      return complain_with_help(e, e->found->span, "'if' cannot stand in an expression",
                                "a choice is written 'condition ? a : b'");
  return 0;
}

/* The clauses of a scan after its sequences, in their order; 0 for other words. */
static int clause_rank(int kind) {
  return kind == T_ALONG ? 1 : kind == T_RECOMPUTE ? 2 : kind == T_WITH ? 3 : 0;
}

/* scan x in s with h = 0 along 1 {, scan x in s recompute along 1 { */
static int clause_order(Error e) {
  int rank = clause_rank(e->found->kind), depth = e->found->depth;
  for (int i = e->at - 1; i >= e->start && rank; i--) {
    const Token *token = e->tokens[i];
    if (token->depth != depth) continue;
    if (token->kind == '{' || token->kind == T_SCAN) return 0;
    if (clause_rank(token->kind) < rank) continue;
    return complain_with_help(
        e, e->found->span,
        arena_printf(e->parser->arena, "'%s' stands too late or twice", e->found->name),
        "the order is 'scan x in s along 1 recompute with h = h0 { ... }'");
  }
  return 0;
}

/* scan x in s aling 1 {, scan x in s recomptue { */
static int misspelt_clause(Error e) {
  static const char *const clauses[] = {"along", "recompute", "with"};
  if (e->found->kind != T_ID || !e->expects[T_RECOMPUTE] || e->found->newlines) return 0;
  const char *nearest = name_nearest(e->found->name, clauses, 3);
  if (!nearest) return 0;
  Diagnostic *diagnostic = diag_error(e->parser->diagnostics, e->found->span,
                                      "a scan has no clause '%s'", e->found->name);
  diag_help(diagnostic, "did you mean '%s'?", nearest);
  return 1;
}

static int lonely_gradient(Error e) {
  int at = e->found->kind == T_GRADIENT ? e->at : e->start;
  if (e->tokens[at]->kind != T_GRADIENT || kind_at(e, at + 1) != '(') return 0;
  return complain_with_help(e, e->tokens[at]->span,
                            "'gradient' without a 'def' or 'extern' before it",
                            "it stands after the '}' of the function it belongs to");
}

static int reserved_word(Error e) {
  if (!is_hard_word(e->found->kind) || !e->expects[T_ID] || e->expects['*']) return 0;
  if (e->expects[T_CONST] && e->next->kind != '=') return 0;
  if (e->found->newlines && !e->found->starts_stmt) return 0; /* the line before lacks something */
  const char *word = e->found->name;
  if (e->expects[T_NUMBER] && e->found->kind == T_IF)
    return complain_with_help(e, e->found->span, "'if' is a statement, not an expression",
                              "a choice is written 'condition ? a : b'");
  diag_error(e->parser->diagnostics, e->found->span,
             e->expects[T_NUMBER] ? "'%s' cannot stand in an expression: it is a reserved word"
                                  : "'%s' is a reserved word and cannot be a name",
             word);
  return 1;
}

/* ---- '=', ':', '<-', '|' ------------------------------------------------------------------ */

/* `x =` on one line and `y = 3` on the next: the newline was no separator. */
static int dangling_line(Error e) {
  for (int at = e->at; at > e->start; at--) {
    const Token *token = e->tokens[at], *before = e->tokens[at - 1];
    if (token->kind == '}') return 0;
    if (!token->newlines || token->depth || token->starts_stmt) continue;
    if (token_ends_operand(before->kind)) continue; /* the newline belongs to a continued line */
    if (is_end(before->kind) || before->kind == '{' ||
        !tokens_seem_to_begin(&e->parser->tokens, at))
      continue;
    diag_error(e->parser->diagnostics, before->span, "something is missing after '%.*s'",
               (int)before->length, before->text);
    syntax_error_restart(e, at);
    return 1;
  }
  return 0;
}

/* a = 5 b = 3 and f(a = 5 b = 3) read as the quantity `5 b` first. */
static int swallowed_name(Error e) {
  int fits = (e->found->kind == '=' || e->found->kind == T_ARROW) && e->at >= 2 &&
             e->last->kind == T_ID && e->tokens[e->at - 2]->kind == T_NUMBER;
  if (!fits) return 0;
  if (e->found->depth) {
    Span at = e->tokens[e->at - 2]->span;
    at.column = at.end_column;
    return complain_with_help(e, at, "expected ',' after the number", "is a comma missing?");
  }
  syntax_error_restart(e, e->at - 1);
  return complain_with_help(e, e->last->span, "two statements on one line",
                            "put ';' or a new line between them");
}

/* ---- inside expressions ------------------------------------------------------------------- */

static int comparison_chain(Error e) {
  if (!is_comparison(e->found->kind) || !e->expects['*']) return 0;
  return complain_with_help(e, e->found->span, "comparisons cannot be chained",
                            "write 'a < b && b < c'");
}

static int empty_index(Error e) {
  if (e->found->kind != ']' || !e->last || e->last->kind != '[') return 0;
  return complain_with_help(e, span_join(e->last->span, e->found->span), "an index is missing",
                            "':' takes the whole axis, '...' all of them");
}

/* f(a b), and a list whose line lacks its comma */
static int missing_comma(Error e) {
  if (!e->found->depth || !e->expects[','] || !token_begins_operand(e->found->kind)) return 0;
  Span at = e->found->span;
  if (e->found->newlines && e->last) {
    at = e->last->span;
    at.line = at.end_line;
    at.column = at.end_column;
  }
  Diagnostic *diagnostic = diag_error(e->parser->diagnostics, at, "expected %s, found %s",
                                      syntax_error_expected(e), syntax_error_found(e));
  diag_help(diagnostic, "is a comma missing?");
  return 1;
}

/* x = a, b and a = 1, b = 2 */
static int bare_tuple(Error e) {
  if (e->found->kind != ',' || !e->expects['*'] || !e->expects[T_SEP]) return 0;
  if (token_is_name(e->next->kind) && kind_at(e, e->at + 2) == '=')
    return complain_with_help(e, e->found->span, "',' cannot separate statements",
                              "put ';' or a new line between them");
  return complain_with_help(e, e->found->span, "a tuple is written in parentheses",
                            "write 'x = (a, b)'");
}

/* ---- statements ---------------------------------------------------------------------------- */

static int missing_value(Error e) {
  if (!e->last || !is_end(e->found->kind)) return 0;
  if (e->last->kind != T_RETURN && e->last->kind != T_YIELD) return 0;
  diag_error(e->parser->diagnostics, e->last->span, "'%s' needs a value", e->last->name);
  return 1;
}

static int untyped_input(Error e) {
  if (e->tokens[e->start]->kind != T_INPUT || !e->expects[':'] || !is_end(e->found->kind)) return 0;
  return complain_with_help(e, e->last->span, "an input needs a type",
                            "write 'input x : f32[batch, 10]'");
}

static int result_type(Error e) {
  int first = e->tokens[e->start]->kind;
  if (first != T_DEF || e->found->kind != '-' || e->next->kind != '>' || !e->expects['{']) return 0;
  return complain_with_help(e, span_join(e->found->span, e->next->span),
                            "the result of a 'def' has no type", "it follows from the arguments");
}

static int missing_separator(Error e) {
  int may_end = e->expects[T_SEP] || e->expects[T_END];
  if (!may_end || e->found->newlines || !e->last || e->found->depth) return 0;
  if (!tokens_seem_to_begin(&e->parser->tokens, e->at)) return 0;
  syntax_error_restart(e, e->at);
  return complain_with_help(e, e->found->span, "two statements on one line",
                            "put ';' or a new line between them");
}

/* ---- the rules ---------------------------------------------------------------------------- */

/* A place where the grammar fails: kinds of tokens, of which 0 asks nothing. */
typedef struct Place {
  int first;          /* of the statement */
  int last;           /* before the one that does not fit; then the caret is there */
  int found;          /* the one that does not fit */
  int expects, lacks; /* what would fit; what would not */
  int in_brackets;
} Place;

static int is_at(Error e, const Place *place) {
  return (!place->first || e->tokens[e->start]->kind == place->first) &&
         (!place->last || (e->last && e->last->kind == place->last)) &&
         e->found->kind == place->found && (!place->expects || e->expects[place->expects]) &&
         (!place->lacks || !e->expects[place->lacks]) && (!place->in_brackets || e->found->depth);
}

/* Before the general message; the first rule that knows the mistake reports it: a function, or a place
 * with what is said there. */
#define SAY(words, advice, ...)                                                                    \
  {                                                                                                \
    .message = words, .help = advice, .place = { __VA_ARGS__ }                                     \
  }

static const struct {
  int (*report)(Error);
  const char *message, *help; /* `help` may be NULL */
  Place place;
} rules[] = {
    {.report = dangling_line},
    SAY("a 'data' block needs a name", "write 'data train { ... }'", .last = T_DATA, .found = '{'),
    {.report = blockless_section},
    {.report = lonely_gradient},
    {.report = misspelt_statement},
    {.report = annotated_name},
    {.report = expression_statement},
    {.report = python_ternary},
    SAY("'for' cannot stand in an expression", "build a value step by step in a 'for' statement",
        .found = T_FOR, .in_brackets = 1),
    SAY("'else' without an 'if' before it", NULL, .found = T_ELSE),
    {.report = swallowed_name},
    SAY("a loop runs over a range or a list", "write 'for i in 0..n { ... }'", .first = T_FOR,
        .found = '=', .lacks = '*'),
    SAY("a loop runs over a range or a list", "write 'for i in 0..n { ... }'", .first = T_FOR,
        .found = ':', .lacks = '*'),
    SAY("the body of a 'def' is a block", "write '{ return ... }'", .first = T_DEF, .found = '=',
        .expects = '{'),
    SAY("an input has a type and no value",
        "write 'input x : f32[batch, 10]'; a 'data' block feeds it", .first = T_INPUT, .found = '=',
        .expects = ':'),
    SAY("an input has no value", "a 'data' block feeds it", .first = T_INPUT, .found = '='),
    SAY("'=' cannot stand in an expression", "'==' compares", .found = '=', .expects = '*'),
    SAY("a block is written in braces", "write '{' here and '}' after the block", .found = ':',
        .expects = '{'),
    SAY("a constant has no type", "write 'const n = 3'", .first = T_CONST, .found = ':'),
    SAY("an option has no type: its default tells whether it takes whole numbers alone",
        "write 'option n = 3', or 'option lr = 3.0'", .first = T_OPTION, .found = ':'),
    SAY("an option has a statement of its own", "write 'option a = 1' and 'option b = 2'",
        .first = T_OPTION, .found = ','),
    SAY("an argument is named with '='", "write 'name = value'", .found = ':', .expects = '=',
        .in_brackets = 1),
    SAY("a key is set with '='", "write 'key = value'", .found = ':', .expects = '='),
    SAY("'<-' cannot stand in an expression: it stores a state",
        "a comparison with a negative number is written '< -'", .found = T_ARROW, .expects = '*'),
    SAY("'|' joins the stages of a 'data' block", "'||' is the logical or", .found = '|'),
    {.report = comparison_chain},
    SAY("a range has no step", "write 'a..b' and compute with its elements", .found = T_DOTDOT,
        .expects = '*'),
    SAY("there is no unary '+'", NULL, .found = '+', .expects = T_NUMBER, .lacks = '*'),
    SAY("'...' stands only in an index or a type", "a range is written 'a..b'", .found = T_ELLIPSIS,
        .expects = T_DOTDOT),
    SAY("'...' stands only in an index or a type", NULL, .found = T_ELLIPSIS),
    {.report = empty_index},
    {.report = missing_separator},
    {.report = missing_comma},
    {.report = bare_tuple},
    {.report = missing_value},
    {.report = untyped_input},
    SAY("a 'def' has a list of formals", "it may be empty: 'def f() { ... }'", .first = T_DEF,
        .found = '{', .expects = '('),
    {.report = result_type},
    {.report = reserved_word},
    {.report = misspelt_clause},
    {.report = clause_order},
};

int syntax_mistake_report(const SyntaxError *error) {
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    if (rules[i].report && rules[i].report(error)) return 1;
    if (rules[i].report || !is_at(error, &rules[i].place)) continue;
    Span at = rules[i].place.last ? error->last->span : error->found->span;
    Diagnostic *diagnostic = complain(error, at, rules[i].message);
    if (rules[i].help) diag_help(diagnostic, "%s", rules[i].help);
    return 1;
  }
  return 0;
}
