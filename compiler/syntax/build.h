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

/* build.c. A node is made of what is written in the grammar's action, and gets its depth: an expression
 * that would be too high loses its parts, a block its statements. */
AstExpr *build_expr(Parser *, const AstExpr *written);
AstStmt *build_stmt(Parser *, const AstStmt *written);
AstBlock *build_block(Parser *, Span, const AstStmts *);
AstBlock *build_else_if(Parser *, AstStmt *branch);
AstExpr *build_name(Parser *, const AstName *);
AstExpr *build_literal(Parser *, const Token *);
AstExprs *build_items(Parser *, AstExpr *first, const AstExprs *rest);
/* The lists may be NULL. */
AstArguments *build_arguments(Parser *, AstArguments *, const AstArgument *);
AstFormals *build_formals(Parser *, AstFormals *, const AstFormal *);
AstIndices *build_indices(Parser *, AstIndices *, const AstIndex *);
/* x[i], where i may be `none`. */
AstIndex *build_at(Parser *, Span, AstExpr *);
/* `element` NULL: the default; `dims` NULL: any shape, or none. */
AstType *build_type(Parser *, Span, const Token *element, const AstExprs *dims);

#endif
