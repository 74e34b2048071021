/* Frozen layers. */
#ifndef NNC_ELABORATE_FROZEN_H
#define NNC_ELABORATE_FROZEN_H

#include "elaborate/core/elaborator.h"

/* Is the variable, by the groups with `frozen`? The train block may stand further down. */
bool frozen_path(Elaborator *e, const char *path);
/* The value of `training`: false inside a layer whose states are all frozen, or that is evaluated(). */
Value frozen_training(Elaborator *e, const Symbol *symbol);
/* When a trace reaches a group: reports what was not foreseen and matters. */
void frozen_check(Elaborator *e, const AstEntry *entry, const AstExpr *expr, bool frozen);

#endif
