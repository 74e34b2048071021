/* What looks on while a program is elaborated: an editor wants to know what each name stands for.
 *
 * Only what stands in the program's own file is shown, and mistakes are shown as well, as error values. */
#ifndef NNC_ELABORATE_OBSERVER_H
#define NNC_ELABORATE_OBSERVER_H

#include "elaborate/core/scope.h"

/* `first_slot`: the slots of the trace from this one on were made meanwhile. */
typedef struct Observer {
  void *context;
  void (*name)(void *context, Elaborator *e, const AstExpr *expr, Value value);
  void (*call)(void *context, Elaborator *e, const AstExpr *expr, Value value, int first_slot);
  /* After it was executed: the names that it binds are in the current scope. */
  void (*statement)(void *context, Elaborator *e, const AstStmt *stmt, int first_slot);
  void (*trace)(void *context, Elaborator *e); /* at the end of each */
} Observer;

#endif
