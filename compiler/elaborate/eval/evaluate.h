/* Evaluation: expressions, statements, written types. Mistakes are reported and give error values. */
#ifndef NNC_ELABORATE_EVALUATE_H
#define NNC_ELABORATE_EVALUATE_H

#include "elaborate/core/function.h"
#include "elaborate/core/scope.h"

Value evaluate_expr(Elaborator *e, const AstExpr *expr);
void evaluate_block(Elaborator *e, const AstStmts *stmts);
/* A written type; dims may be shapes. False after an error. */
bool evaluate_type(Elaborator *e, const AstType *ast, Type *type);
/* Checks a tensor argument against the type written at a formal. */
bool evaluate_formal_type(Elaborator *e, const AstFormal *formal, Value value, Span at);

/* host.c: the value of a schedule as a leaf of the current graph, NULL after an error; t, epoch, steps and
 * steps_per_epoch, which every definer sees. */
Node *evaluate_schedule(Elaborator *e, Deferred *deferred, const char *name);
void evaluate_ambient(Elaborator *e, Symbol ambient[4]);
/* The name of the host scalar that a tensor known to the host is, made where there is none, or of one made for a
 * number; NULL after an error. */
const char *evaluate_host_scalar(Elaborator *e, Value value, const char *wanted, Span at);

/* What -D gives in the place of the value of a constant or an option (`what`), of the same kind. */
Value evaluate_definition(Elaborator *e, AstName name, const char *what, Value value);

/* ---- kinds of expressions and statements, in files of their own ---- */

/* Of a tensor of that type: its "shape", "rank", "size" or "dtype". */
Value evaluate_property(Elaborator *e, Type type, const char *name);
Value evaluate_index(Elaborator *e, const AstExpr *expr);
Value evaluate_call(Elaborator *e, const AstExpr *expr);
Value evaluate_scan(Elaborator *e, const AstExpr *expr);
/* The same where `wanted` names are bound: final carries follow what is yielded if they fit. */
Value evaluate_scan_for(Elaborator *e, const AstExpr *expr, int wanted);
void evaluate_yield(Elaborator *e, const AstStmt *stmt);
/* A random leaf; inside a body, one drawn outside for all steps. */
Node *evaluate_random(Elaborator *e, Op op, Type type, int attribute_count,
                      const Attribute *attributes);
/* An operator in C: in the frame of the call, with the formals bound to `values`. */
Value evaluate_extern(Elaborator *e, const Function *function, Span call, const Value *values);
/* In the frame of a call that gave `result`: the same with the gradient that is written after the
 * def. `values` are those of its formals. */
Value evaluate_own_gradient(Elaborator *e, const Function *function, Span call, const Value *values,
                            Value result);

#endif
