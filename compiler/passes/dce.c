/* dce: what no output needs disappears, and ids become compact.
 *
 * Of a scan, results that nothing reads disappear one by one, with what only they need in the
 * body: a carry stays if its final value is read, or if a result that stays depends on it in some
 * step; an operand, if a step reads it or it begins a carry that stays. Results and arguments are
 * numbered anew, and a scan is no longer marked to have saved its carries.
 *
 * Requires nothing; breaks nothing. */
#include "ops/op.h"
#include "ops/scan.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

/* What is needed of a graph. */
typedef struct Needs Needs;
struct Needs {
  bool *nodes;    /* by id */
  Needs **bodies; /* by id of a scan; NULL where none is needed */
  bool **results; /* by id of a scan, then by result; NULL: none is read */
};

static Needs *find_needs(Arena *arena, const Graph *graph, const bool *outputs);

/* ---- marking ------------------------------------------------------------------------------ */

static void need_result(Arena *arena, Needs *needs, const Node *result) {
  const Node *scan = result->operands[0];
  bool **results = &needs->results[scan->id];
  if (!*results) *results = ARENA_ARRAY(arena, bool, scan_result_count(scan));
  (*results)[node_int(result, ATTR_INDEX)] = true;
}

/* A carry that a step reads is needed from every step: another round. */
static void need_scan(Arena *arena, Needs *needs, const Node *scan) {
  bool *results = needs->results[scan->id];
  int carries = scan_shape(scan).carries;
  Node **arguments = scan_arguments(arena, scan->body, scan->operand_count);
  for (bool more = true; more;) {
    const Needs *body = needs->bodies[scan->id] = find_needs(arena, scan->body, results);
    more = false;
    for (int i = 0; i < scan->operand_count; i++) {
      bool is_read = arguments[i] && body->nodes[arguments[i]->id];
      bool is_kept = is_read || (i < carries && results[i]);
      more = more || (i < carries && is_read && !results[i]);
      if (i < carries) results[i] = is_kept;
      if (is_kept) needs->nodes[scan->operands[i]->id] = true;
    }
  }
}

/* Of all that its marked outputs depend on; `outputs` NULL: every output. */
static Needs *find_needs(Arena *arena, const Graph *graph, const bool *outputs) {
  Needs *needs = ARENA_NEW(arena, Needs);
  needs->nodes = ARENA_ARRAY(arena, bool, graph->next_id);
  needs->bodies = ARENA_ARRAY(arena, Needs *, graph->next_id);
  needs->results = ARENA_ARRAY(arena, bool *, graph->next_id);
  for (int i = 0; i < graph->outputs.count; i++)
    if (!outputs || outputs[i]) needs->nodes[graph->outputs.items[i].node->id] = true;
  for (int i = graph->nodes.count - 1; i >= 0; i--) {
    const Node *node = graph->nodes.items[i];
    if (!needs->nodes[node->id]) continue;
    if (node_is_scan_result(node)) need_result(arena, needs, node);
    if (node->body && needs->results[node->id]) {
      need_scan(arena, needs, node);
      continue;
    }
    for (int k = 0; k < node->operand_count; k++) needs->nodes[node->operands[k]->id] = true;
  }
  return needs;
}

/* ---- copying ------------------------------------------------------------------------------ */

static Graph *keep(const Graph *graph, const Needs *needs, const bool *outputs);

/* How many of the first `index` are kept. */
static int count_kept(const bool *kept, int index) {
  int count = 0;
  for (int i = 0; i < index; i++) count += kept[i];
  return count;
}

static bool *find_operands(const Node *scan, const Needs *body, const bool *results) {
  Arena *arena = scan->body->arena;
  Node **arguments = scan_arguments(arena, scan->body, scan->operand_count);
  bool *kept = ARENA_ARRAY(arena, bool, scan->operand_count);
  for (int i = 0; i < scan->operand_count; i++)
    kept[i] =
        i < scan_shape(scan).carries ? results[i] : arguments[i] && body->nodes[arguments[i]->id];
  return kept;
}

static void number_arguments(const Graph *body, const bool *kept) {
  for (int i = 0; i < body->nodes.count; i++) {
    Node *node = body->nodes.items[i];
    if (op_info(node->op)->class->leaf == LEAF_ARGUMENT)
      node->attributes[0].integer = count_kept(kept, (int)node_int(node, ATTR_INDEX));
  }
}

static Node *keep_scan(Graph *into, const Node *scan, const Needs *needs, const NodeMap *map) {
  const bool *results = needs->results[scan->id];
  const Needs *inside = needs->bodies[scan->id];
  const bool *kept = find_operands(scan, inside, results);
  Graph *body = keep(scan->body, inside, results);
  number_arguments(body, kept);
  ScanShape from = scan_shape(scan), shape = from;
  shape.carries = count_kept(kept, from.carries);
  shape.sequences = count_kept(kept + from.carries, from.sequences);
  Node **operands = ARENA_ARRAY(into->arena, Node *, scan->operand_count);
  int count = 0;
  for (int i = 0; i < scan->operand_count; i++)
    if (kept[i]) operands[count++] = node_map_get(map, scan->operands[i]);
  Maker maker = {into, scan->span, scan->path};
  return make_scan(&maker, body, shape, count, operands);
}

static Node *keep_result(Graph *into, const Node *result, const Needs *needs, const NodeMap *map) {
  const Node *scan = result->operands[0];
  Maker maker = {into, result->span, result->path};
  int index = count_kept(needs->results[scan->id], (int)node_int(result, ATTR_INDEX));
  return make_scan_result(&maker, node_map_get(map, scan), index);
}

static Graph *keep(const Graph *graph, const Needs *needs, const bool *outputs) {
  Graph *into = rewrite_start(graph);
  NodeMap map = node_map_create(graph->arena, graph);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (!needs->nodes[node->id]) continue;
    node_map_set(&map, node,
                 node->body && needs->results[node->id] ? keep_scan(into, node, needs, &map)
                 : node_is_scan_result(node)            ? keep_result(into, node, needs, &map)
                                                        : graph_copy_node(into, node, &map));
  }
  for (int i = 0; i < graph->outputs.count; i++) {
    Output output = graph->outputs.items[i];
    if (outputs && !outputs[i]) continue;
    output.node = node_map_get(&map, output.node);
    graph_add_output(into, output);
  }
  return into;
}

static Graph *keep_live(const Graph *graph) {
  return keep(graph, find_needs(graph->arena, graph, NULL), NULL);
}

void pass_dce(Module *module, Diagnostics *diagnostics) { rewrite_entries(module, keep_live); }
