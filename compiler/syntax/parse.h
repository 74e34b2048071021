/* Source text -> syntax tree. */
#ifndef NNC_SYNTAX_PARSE_H
#define NNC_SYNTAX_PARSE_H

#include "support/diagnostics.h"
#include "syntax/ast.h"

/* Parses a whole file.  Mistakes are recorded as errors; parsing goes on with the next statement.
 * Never NULL: after errors the tree holds the statements that could be read, each of them complete
 * (no NULL where the tree promises a node), but names may be missing: do not elaborate it.
 * Reentrant; keeps nothing but what lies in the arena. */
AstProgram *parse_program(Arena *arena, Diagnostics *diagnostics, const SourceFile *file);

/* One expression from a command-line argument (-D train.lr=1e-4).  NULL after an error. */
AstExpr *parse_expression(Arena *arena, Diagnostics *diagnostics, const SourceFile *file);

#endif
