/* Parameters and states: declaration, initial values, stores. */
#ifndef NNC_ELABORATE_VARIABLE_H
#define NNC_ELABORATE_VARIABLE_H

#include "elaborate/core/elaborator.h"

void variable_declare(Elaborator *e, const AstStmt *stmt);
void variable_store(Elaborator *e, const AstStmt *stmt);
/* An optimizer's own state without a declaration: "path:accumulated". */
Slot *variable_create(Elaborator *e, VariableKind kind, const char *path, Type type, Span span);
/* Evaluates an initial value in the init graph and stores it. */
void variable_initialize(Elaborator *e, const char *path, Type type, const AstExpr *expr,
                         Value given, Span at);

#endif
