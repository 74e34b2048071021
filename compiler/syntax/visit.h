/* Visiting the expressions of a tree. */
#ifndef NNC_SYNTAX_VISIT_H
#define NNC_SYNTAX_VISIT_H

#include <stdbool.h>
#include "syntax/ast.h"

typedef void AstVisit(const AstExpr *expr, void *context);

/* Calls `visit` for each expression that is directly a part of `expr`; of a scan, for those of its
 * body as well. */
void visit_parts(const AstExpr *expr, AstVisit *visit, void *context);
/* The depth of the highest expression or block that is directly a part; 0 without any. */
int visit_parts_depth(const AstExpr *expr);
int visit_stmt_depth(const AstStmt *stmt);
/* Calls `visit` for each expression that stands in the statements, those of blocks and entries
 * included, without the parts of these. */
void visit_stmts(const AstStmts *stmts, AstVisit *visit, void *context);
/* Whether `expr`, or a part of a part of it, is this name; whether one in the statements is. */
bool visit_finds_name(const AstExpr *expr, const char *name);
bool visit_finds_name_in(const AstStmts *stmts, const char *name);

#endif
