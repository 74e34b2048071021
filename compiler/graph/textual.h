/* The textual form of a module: printed AND read back.  print(parse(print(m))) == print(m), byte
 * for byte. It carries everything: variables, inputs, data sets, run configuration, entries with
 * types, attributes, paths and spans, the source text. */
#ifndef NNC_GRAPH_TEXTUAL_H
#define NNC_GRAPH_TEXTUAL_H

#include "graph/module.h"
#include "support/diagnostics.h"

void module_print(Text *text, const Module *module);
/* One graph alone, for messages and tests. */
void graph_print(Text *text, const Graph *graph);
/* NULL after errors, which are reported with their places in `dump`. */
Module *module_parse(Arena *arena, Diagnostics *diagnostics, const SourceFile *dump);
/* Graphviz: one cluster an entry. */
void module_print_dot(Text *text, const Module *module);

#endif
