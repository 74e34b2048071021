/* Definitions of the command line: -D name=value. */
#ifndef NNC_ELABORATE_DEFINITION_H
#define NNC_ELABORATE_DEFINITION_H

#include "elaborate/core/elaborator.h"

void definition_parse(Elaborator *e);
/* The text of -D for `name`, or NULL. */
AstExpr *definition_find(Elaborator *e, const char *name);

#endif
