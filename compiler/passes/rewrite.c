/* Rebuilding graphs: see rewrite.h. */
#include "passes/rewrite.h"

#include "support/panic.h"

Graph *rewrite_start(const Graph *graph) { return graph_create(graph->arena, graph->name); }

void rewrite_outputs(Graph *into, const Graph *from, const NodeMap *map) {
  for (int i = 0; i < from->outputs.count; i++) {
    Output output = from->outputs.items[i];
    output.node = node_map_get(map, output.node);
    if (!output.node) panic("output \"%s\" of %s lost its node", output.name, from->name);
    graph_add_output(into, output);
  }
}

void rewrite_entries(Module *module, Graph *(*rewrite)(const Graph *graph)) {
  for (int i = 0; i < ENTRY_COUNT; i++)
    if (module->entries[i]) module->entries[i] = rewrite(module->entries[i]);
}
