/* Several cases as one module, so that one executable computes all of them: their names differ by
 * the prefix, so graphs and tables are put one after the other.  So are the references. */
#include <string.h>

#include "fuzz.h"
#include "support/panic.h"

static void append_graph(Arena *arena, Graph *into, const Graph *graph) {
  NodeMap map = node_map_create(arena, graph);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    node_map_set(&map, node, graph_copy_node(into, node, &map));
  }
  for (int i = 0; i < graph->outputs.count; i++) {
    Output output = graph->outputs.items[i];
    output.node = node_map_get(&map, output.node);
    graph_add_output(into, output);
  }
}

static void append_case(Case *into, const Case *test) {
  Arena *arena = into->arena;
  Module *module = into->module;
  for (int i = 0; i < ENTRY_COUNT; i++) {
    if (!test->module->entries[i]) continue;
    if (!module->entries[i]) module->entries[i] = graph_create(arena, entry_name((EntryKind)i));
    append_graph(arena, module->entries[i], test->module->entries[i]);
  }
  for (int i = 0; i < test->start.count; i++) {
    vec_push(arena, &module->variables, test->module->variables.items[i]);
    vec_push(arena, &into->start, test->start.items[i]);
  }
  for (int i = 0; i < test->inputs.count; i++) {
    vec_push(arena, &module->inputs, test->module->inputs.items[i]);
    vec_push(arena, &into->inputs, test->inputs.items[i]);
  }
  for (int i = 0; i < test->module->metrics.count; i++)
    vec_push(arena, &module->metrics, test->module->metrics.items[i]);
}

Case *cases_merge(Arena *arena, int count, Case *const *cases) {
  Case *merged = ARENA_NEW(arena, Case);
  *merged = (Case){.arena = arena,
                   .seed = cases[0]->seed,
                   .steps = cases[0]->steps,
                   .standard = cases[0]->standard};
  merged->module = module_create(arena, cases[0]->module->name, NULL);
  merged->module->run = cases[0]->module->run;
  for (int i = 0; i < count; i++) {
    CHECK(cases[i]->steps == merged->steps);
    append_case(merged, cases[i]);
  }
  return merged;
}

static Expected *append(Expected *into, const Expected *from, int count) {
  if (count > 0) memcpy(into, from, sizeof *into * (size_t)count);
  return into + count;
}

Reference *references_merge(Arena *arena, const Case *merged, int count,
                            Reference *const *references) {
  Reference *all = ARENA_NEW(arena, Reference);
  *all = (Reference){.module = merged->module,
                     .output_count = merged->module->entries[ENTRY_TRAIN]->outputs.count,
                     .is_steady_in_own = true};
  int variables = merged->start.count;
  all->init = ARENA_ARRAY(arena, Expected, variables + 1);
  Expected *init = all->init;
  for (int i = 0; i < count; i++) {
    init = append(init, references[i]->init, references[i]->module->variables.count);
    all->is_steady_in_own = all->is_steady_in_own && references[i]->is_steady_in_own;
  }
  for (int step = 0; step < merged->steps; step++) {
    Expected *values = ARENA_ARRAY(arena, Expected, variables + 1);
    Expected *outputs = ARENA_ARRAY(arena, Expected, all->output_count + 1);
    all->variables[step] = values;
    all->outputs[step] = outputs;
    for (int i = 0; i < count; i++) {
      const Reference *one = references[i];
      values = append(values, one->variables[step], one->module->variables.count);
      outputs = append(outputs, one->outputs[step], one->output_count);
    }
  }
  return all;
}
