/* turn: a scan over reversed sequences goes over the sequences themselves, the other way.
 *
 * What it yields lies in the order of the sequences then, and is reversed after it; where the
 * program reverses it, too, simplify finds that nothing is left. A scan is turned when the
 * sequences that are reversed are more bytes than those that would have to be.
 *
 * Before: anything. After: the same values; scans no longer mark saved carries. */
#include "ops/op.h"
#include "ops/scan.h"
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "passes/rules/rules.h"

static const bool first_axis[MAX_RANK] = {true};

static Node *reverse_steps(const Maker *maker, Node *x) {
  return reversal_make(maker, x, first_axis);
}

static bool is_worth_turning(const Node *scan) {
  ScanShape shape = scan_shape(scan);
  int64_t gained = 0;
  for (int i = shape.carries; i < shape.carries + shape.sequences; i++) {
    int64_t bytes = type_bytes(scan->operands[i]->type);
    gained += reversal_is_seen(scan->operands[i]) ? bytes : -bytes;
  }
  return gained > 0;
}

static Node *turn_sequence(const Maker *maker, const Node *given, Node *copy) {
  return reversal_is_seen(given) ? reversal_source(maker, copy) : reverse_steps(maker, copy);
}

/* The scan over sequences in the other order. */
static Node *turn_scan(const Maker *maker, const Node *scan, const Graph *body,
                       const NodeMap *map) {
  ScanShape shape = scan_shape(scan);
  Node **operands = ARENA_ARRAY(maker->graph->arena, Node *, scan->operand_count);
  for (int i = 0; i < scan->operand_count; i++) {
    operands[i] = node_map_get(map, scan->operands[i]);
    if (scan_is_sequence(&shape, i))
      operands[i] = turn_sequence(maker, scan->operands[i], operands[i]);
  }
  shape.reverse = !shape.reverse;
  return make_scan(maker, body, shape, scan->operand_count, operands);
}

static bool is_yield_of_turned(const Node *node, const bool *turned) {
  if (!node_is_scan_result(node)) return false;
  const Node *scan = node->operands[0];
  return turned[scan->id] && node_int(node, ATTR_INDEX) >= scan_shape(scan).carries;
}

static Graph *turn_graph(const Graph *graph) {
  Graph *into = rewrite_start(graph);
  NodeMap map = node_map_create(graph->arena, graph);
  bool *turned = ARENA_ARRAY(graph->arena, bool, graph->next_id);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    Maker maker = {into, node->span, node->path};
    const Graph *body = node->body ? turn_graph(node->body) : NULL;
    turned[node->id] = body && is_worth_turning(node);
    Node *copy =
        turned[node->id] ? turn_scan(&maker, node, body, &map) : graph_copy_node(into, node, &map);
    copy->body = body;
    if (is_yield_of_turned(node, turned)) copy = reverse_steps(&maker, copy);
    node_map_set(&map, node, copy);
  }
  graph_map_outputs(into, graph, &map);
  return into;
}

void pass_turn(Module *module, Diagnostics *diagnostics) { rewrite_entries(module, turn_graph); }
