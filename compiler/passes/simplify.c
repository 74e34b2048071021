/* simplify: rewrites by the rules of rules/rules.def, to a fixed point.
 *
 * A sweep copies the live nodes of a graph in order; each copy is offered to the rules of its
 * operator, and what a rule returns is offered again.  Sweeps repeat until one changes nothing.
 * Both loops are bounded, though every rule makes its node simpler by some measure, so that a
 * mistake in a rule costs quality and not the user's time.  A replacement takes over place and
 * path.  The body of a scan is swept with the graph that it is in.
 *
 * Requires a verified module; keeps every output's value (see rules.h for what "value" means). */
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "passes/rules/rules.h"

enum { MOST_SWEEPS = 40, MOST_REWRITES_A_NODE = 24 };

typedef struct Sweep {
  Graph *into;
  NodeMap map;
  bool keeps_stops;
  bool changed;
} Sweep;

static Node *apply_rules(Sweep *sweep, Node *node) {
  for (int rewrites = 0; rewrites < MOST_REWRITES_A_NODE; rewrites++) {
    Rewrite rewrite = {.maker = {sweep->into, node->span, node->path},
                       .keeps_stops = sweep->keeps_stops};
    Node *replacement = rules_apply(&rewrite, node);
    if (!replacement) break;
    sweep->changed = true;
    node = replacement;
  }
  return node;
}

static Graph *sweep_graph(const Graph *graph, bool keeps_stops, bool *changed) {
  Sweep sweep = {.into = rewrite_start(graph),
                 .map = node_map_create(graph->arena, graph),
                 .keeps_stops = keeps_stops};
  const bool *live = graph_live_nodes(graph->arena, graph);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (!live[node->id]) {
      sweep.changed = true;
      continue;
    }
    Node *copy = graph_copy_node(sweep.into, node, &sweep.map);
    if (node->body) copy->body = sweep_graph(node->body, keeps_stops, &sweep.changed);
    node_map_set(&sweep.map, node, apply_rules(&sweep, copy));
  }
  graph_map_outputs(sweep.into, graph, &sweep.map);
  *changed = *changed || sweep.changed;
  return sweep.into;
}

static Graph *simplify_graph(const Graph *graph) {
  bool changed = true, keeps_stops = rules_need_stops(graph);
  Graph *now = NULL;
  for (int sweeps = 0; changed && sweeps < MOST_SWEEPS; sweeps++) {
    changed = false;
    now = sweep_graph(now ? now : graph, keeps_stops, &changed);
  }
  return now;
}

void pass_simplify(Module *module, Diagnostics *diagnostics) {
  rewrite_entries(module, simplify_graph);
}
