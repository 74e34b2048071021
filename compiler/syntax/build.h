/* What the actions of the grammar call: the state of one parse, and a builder for each node. */
#ifndef NNC_SYNTAX_BUILD_H
#define NNC_SYNTAX_BUILD_H

#include "support/diagnostics.h"
#include "syntax/ast.h"
#include "syntax/tokens.h"

/* Repetitions are looked for among so many formals or arguments. */
enum { REPETITIONS_MAX = 1000 };

typedef struct Parser {
  Arena *arena;
  Diagnostics *diagnostics;
  const SourceFile *file;
  Tokens tokens;      /* repaired; T_END last */
  int next;           /* the token to be handed out */
  int last_read;      /* the one handed out last */
  int failed;         /* the token at which the last syntax error was seen */
  int resumed;        /* where the parse went on after it */
  int is_suspect;     /* a problem was reported in this statement: its syntax errors are not news */
  int is_too_high;    /* that was reported */
  int missing_braces; /* errors that may be followed by a '}' without a partner */
  int wants_separator; /* hand out a separator before the next token */
  AstProgram *program;
  AstExpr *expression; /* of parse_expression() */
} Parser;

/* parse.c: handing out tokens, errors. */
Span parser_join_spans(const Span *spans, int count); /* spans[0] is what stands before */
int parser_resume(Parser *parser);                    /* 0: the end of the file was tried before */
void parser_syntax_error(Parser *parser, const int *expected, int count);

/* build.c */
AstName *build_ast_name(Parser *, const Token *);
AstExpr *build_name(Parser *, const AstName *);
AstExpr *build_literal(Parser *, const Token *);
AstExpr *build_quantity(Parser *, Span, const Token *number, const Token *unit);
AstExpr *build_unary(Parser *, AstOperator, Span, Span op, AstExpr *operand);
AstExpr *build_binary(Parser *, AstOperator, Span, Span op, AstExpr *left, AstExpr *right);
AstExpr *build_ternary(Parser *, Span, Span op, AstExpr *condition, AstExpr *then,
                       AstExpr *otherwise);
AstExpr *build_range(Parser *, Span, Span op, AstExpr *from, AstExpr *to);
AstExpr *build_member(Parser *, Span, AstExpr *object, const AstName *);
AstExpr *build_call(Parser *, Span, Span open, Span close, AstExpr *callee, AstArguments *);
AstExpr *build_index_expr(Parser *, Span, Span open, Span close, AstExpr *object, AstIndices *);
AstExpr *build_tuple(Parser *, Span, AstExpr *first, const AstExprs *rest);
AstExpr *build_list(Parser *, Span, const AstExprs *);
AstExpr *build_scan(Parser *, Span, const AstScan *scan);
AstArgument *build_argument(Parser *, Span, const AstName *, AstExpr *value); /* name may be NULL */
AstArguments *build_arguments(Parser *, AstArguments *, const AstArgument *); /* list may be NULL */
AstIndex *build_at(Parser *, Span, AstExpr *);
AstIndex *build_ellipsis(Parser *, Span);
AstIndex *build_slice(Parser *, Span, AstExpr *from, AstExpr *to, AstExpr *step);
AstIndices *build_indices(Parser *, AstIndices *, const AstIndex *);

/* `element` NULL: the default; `dims` NULL: any shape, or none. */
AstType *build_type(Parser *, Span, const Token *element, const AstExprs *dims);
AstFormal *build_formal(Parser *, Span, const AstName *, AstType *, AstExpr *default_value);
AstFormals *build_formal_list(Parser *, AstFormals *, const AstFormal *);
AstBinding *build_binding(Parser *, const AstName *, AstExpr *value);
AstBlock *build_block(Parser *, Span, const AstStmts *);
AstGradient *build_gradient(Parser *, Span keyword, AstFormals *, AstBlock *body);
AstEntry *build_entry(Parser *, Span, AstNames *, AstExpr *value, AstExprs *stages);
AstEntry *build_group(Parser *, Span, AstExprs *patterns, AstEntries *);

AstStmt *build_const(Parser *, Span, Span keyword, AstBindings *);
/* An empty statement, which the first builders fill. */
AstStmt *build_stmt(Parser *, AstStmtKind, Span, Span keyword);
AstStmt *build_variable(AstStmt *, const AstName *, AstType *, AstExpr *value);
AstStmt *build_function(AstStmt *, const AstName *, AstFormals *, AstBlock *body, AstGradient *);
AstStmt *build_extern(Parser *, AstStmt *function, AstType *result, AstEntries *);
AstStmt *build_section(Parser *, AstStmtKind, Span, Span keyword, const AstName *, AstEntries *);
AstStmt *build_assignment(Parser *, AstStmtKind, Span, Span op, AstNames *, AstExpr *value);
AstStmt *build_for(Parser *, Span, Span keyword, AstNames *pattern, AstExpr *sequence, AstBlock *);
AstStmt *build_if(Parser *, Span, Span keyword, AstExpr *condition, AstBlock *then,
                  AstBlock *otherwise);
AstStmt *build_else_if(Parser *, Span, Span keyword, AstExpr *condition, AstBlock *then, AstStmt *);
AstStmt *build_values(Parser *, AstStmtKind, Span, Span keyword, AstExprs *);

#endif
