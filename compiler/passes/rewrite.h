/* What passes that rebuild graphs share: a fresh graph for each entry, outputs carried over. */
#ifndef NNC_PASSES_REWRITE_H
#define NNC_PASSES_REWRITE_H

#include "graph/module.h"

/* An empty graph of the same name in the same arena. */
Graph *rewrite_start(const Graph *graph);
/* Replaces each entry of the module by what `rewrite` makes of it. */
void rewrite_entries(Module *module, Graph *(*rewrite)(const Graph *graph));

#endif
