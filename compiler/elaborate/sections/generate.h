/* The generate block. */
#ifndef NNC_ELABORATE_GENERATE_H
#define NNC_ELABORATE_GENERATE_H

#include "elaborate/core/elaborator.h"

void generate_evaluate(Elaborator *e, const AstStmt *stmt);

/* The entry that gives what follows the tokens of one example, if the program has such a block; `trace` is one of
 * a single example. */
void generate_build(Elaborator *e, const Trace *trace);

#endif
