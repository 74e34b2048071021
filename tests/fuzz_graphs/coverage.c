/* Which operators the graphs held, and through which gradients flowed. */
#include <stdio.h>

#include "fuzz.h"
#include "ops/op.h"

/* Nodes between some parameter and some loss, by id. */
static bool *find_ways(Arena *arena, const Graph *graph) {
  bool *leads = ARENA_ARRAY(arena, bool, graph->next_id + 1);
  bool *asked = ARENA_ARRAY(arena, bool, graph->next_id + 1);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    leads[node->id] = node->op == OP_PARAM;
    for (int k = 0; k < node->operand_count && node_passes_gradient(node); k++)
      leads[node->id] = leads[node->id] || leads[node->operands[k]->id];
  }
  for (int i = graph->nodes.count - 1; i >= 0; i--) {
    const Node *node = graph->nodes.items[i];
    if (node->op == OP_GRADIENT) asked[node->operands[0]->id] = true;
    for (int k = 0; k < node->operand_count && asked[node->id] && node_passes_gradient(node); k++)
      asked[node->operands[k]->id] = asked[node->operands[k]->id] || leads[node->operands[k]->id];
  }
  for (int i = 0; i < graph->next_id; i++) asked[i] = asked[i] && leads[i];
  return asked;
}

/* Of a body only what it holds is counted. */
static void add_graph(Coverage *coverage, const Graph *graph, const bool *ways) {
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    coverage->generated[node->op]++;
    if (ways) coverage->differentiated[node->op] += ways[node->id];
    if (node->body) add_graph(coverage, node->body, NULL);
  }
}

void coverage_add(Coverage *coverage, const Module *module) {
  Arena *arena = arena_create();
  for (int entry = 0; entry < ENTRY_COUNT; entry++) {
    const Graph *graph = module->entries[entry];
    if (graph) add_graph(coverage, graph, find_ways(arena, graph));
  }
  arena_destroy(arena);
}

void coverage_join(Coverage *into, const Coverage *coverage) {
  for (int op = 0; op < OP_COUNT; op++) {
    into->generated[op] += coverage->generated[op];
    into->differentiated[op] += coverage->differentiated[op];
  }
}

/* The interpreter knows no functions of the user's: tests/extern. */
static bool is_judged_elsewhere(Op op) { return op == OP_EXTERN; }

int coverage_print(const Coverage *coverage) {
  int missing = 0;
  printf("%-16s %10s %15s\n", "operator", "generated", "differentiated");
  for (int op = 0; op < OP_COUNT; op++) {
    const OpInfo *info = op_info((Op)op);
    if (is_judged_elsewhere((Op)op)) {
      printf("%-16s %10s %15s\n", info->name, "elsewhere", "elsewhere");
      continue;
    }
    bool wants = op_passes_gradient((Op)op) && op != OP_GRADIENT;
    printf("%-16s %10lld ", info->name, (long long)coverage->generated[op]);
    if (wants) printf("%15lld\n", (long long)coverage->differentiated[op]);
    else printf("%15s\n", "-");
    if (coverage->generated[op] == 0) {
      printf("FAILED: no graph holds the operator %s\n", info->name);
      missing++;
    } else if (wants && coverage->differentiated[op] == 0) {
      printf("FAILED: no gradient flows through the operator %s\n", info->name);
      missing++;
    }
  }
  return missing;
}
