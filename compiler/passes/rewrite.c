/* Rebuilding graphs: see rewrite.h. */
#include "passes/rewrite.h"

Graph *rewrite_start(const Graph *graph) { return graph_create(graph->arena, graph->name); }

void rewrite_entries(Module *module, Graph *(*rewrite)(const Graph *graph)) {
  for (int i = 0; i < ENTRY_COUNT; i++)
    if (module->entries[i]) module->entries[i] = rewrite(module->entries[i]);
}
