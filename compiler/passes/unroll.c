/* unroll: scans are written out, a copy of the body a step, or stay loops.
 *
 * The module's choice (--scans) says which: all, none but those without steps, or by the number of
 * operations that a scan makes when it is written out, all scans in it as well. One whose steps
 * are to be computed again always stays: cse would merge them. One that stays has its body treated
 * in the same way.
 *
 * When a scan is written out, carries become plain values, an element of a sequence a slice of it;
 * where the sequence is what another scan yields, the element is the very node that the step has
 * yielded. What is yielded is stacked by one concatenation. So it is a graph like any other
 * afterwards: equal subexpressions of forward and backward steps merge, kernels are shared by
 * structure, and a memory limit decides what is computed again.
 *
 * Before: no gradients. After: scans of one step or more, whose carries are no longer marked as
 * saved. Refuses what would make too many operations. */
#include "ops/op.h"
#include "ops/scan.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

#define MOST_OPERATIONS 400000.0 /* of one entry, written out */
#define MOST_UNROLLED 300.0      /* of one scan that SCANS_AUTO writes out */

/* What became of a scan. */
typedef struct Results {
  int carries;
  int64_t length;
  Node **final;   /* by carry */
  Node ***yields; /* by yield, then by step */
} Results;

/* A graph or body being copied. */
typedef struct Copy {
  Graph *into;
  Arena *arena;
  NodeMap map;
  Results **results; /* by id of a scan in the graph that is copied; NULL: it stays */
  ScanChoice choice;
} Copy;

static void copy_graph(Copy *copy, const Graph *from);

/* ---- the choice --------------------------------------------------------------------------- */

/* Of a graph, every scan in it written out. */
static double count_written(const Graph *graph) {
  double count = 0;
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    count += node->body ? (double)scan_shape(node).length * count_written(node->body) : 1;
  }
  return count;
}

static bool stays(const Node *scan, ScanChoice choice) {
  ScanShape shape = scan_shape(scan);
  if (shape.length == 0) return false;
  if (shape.recomputes || choice == SCANS_LOOP) return true;
  return choice == SCANS_AUTO && (double)shape.length * count_written(scan->body) > MOST_UNROLLED;
}

/* Of a graph as this pass leaves it, bodies included. */
static double count_operations(const Graph *graph, ScanChoice choice) {
  double count = 0;
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    double steps = node->body && !stays(node, choice) ? (double)scan_shape(node).length : 1;
    count += node->body ? steps * count_operations(node->body, choice) : 1;
  }
  return count;
}

static Maker maker_of(const Copy *copy, const Node *node) {
  return (Maker){copy->into, node->span, node->path};
}

/* ---- sequences ---------------------------------------------------------------------------- */

/* The steps' own nodes, when the sequence is what a scan yields; else NULL. */
static Node **yielded_parts(const Copy *copy, const Node *sequence) {
  if (!node_is_scan_result(sequence)) return NULL;
  const Results *results = copy->results[sequence->operands[0]->id];
  if (!results) return NULL;
  int yield = (int)node_int(sequence, ATTR_INDEX) - results->carries;
  return yield < 0 ? NULL : results->yields[yield];
}

/* [length, ...] at t: [...] */
static Node *element(Copy *copy, const Node *scan, const ScanShape *shape, int operand, int64_t t) {
  const Node *sequence = scan->operands[operand];
  Node **parts = yielded_parts(copy, sequence);
  if (parts) return parts[t];
  Maker maker = maker_of(copy, scan);
  Node *slice = make_range(&maker, node_map_get(&copy->map, sequence), 0, t, t + 1);
  return make_reshape(&maker, slice, scan_argument_type(shape, sequence, operand).shape);
}

/* ---- steps -------------------------------------------------------------------------------- */

static Node *argument_value(Copy *copy, const Node *scan, const ScanShape *shape,
                            const Results *results, int operand, int64_t t) {
  if (operand < shape->carries) return results->final[operand];
  if (scan_is_sequence(shape, operand)) return element(copy, scan, shape, operand, t);
  return node_map_get(&copy->map, scan->operands[operand]);
}

static void write_step(Copy *copy, const Node *scan, const ScanShape *shape, Node *const *arguments,
                       Results *results, int64_t t) {
  Arena *scratch = arena_create();
  Copy step = {.into = copy->into,
               .arena = scratch,
               .map = node_map_create(scratch, scan->body),
               .results = ARENA_ARRAY(scratch, Results *, scan->body->next_id),
               .choice = copy->choice};
  for (int i = 0; i < scan->operand_count; i++)
    if (arguments[i])
      node_map_set(&step.map, arguments[i], argument_value(copy, scan, shape, results, i, t));
  copy_graph(&step, scan->body);
  const Graph *body = scan->body;
  for (int i = 0; i < body->outputs.count; i++) {
    Node *value = node_map_get(&step.map, body->outputs.items[i].node);
    if (i < shape->carries) results->final[i] = value;
    else results->yields[i - shape->carries][t] = value;
  }
  arena_destroy(scratch);
}

static void write_scan(Copy *copy, const Node *scan) {
  ScanShape shape = scan_shape(scan);
  int yields = scan_result_count(scan) - shape.carries;
  Results *results = ARENA_NEW(copy->arena, Results);
  results->carries = shape.carries;
  results->length = shape.length;
  results->final = ARENA_ARRAY(copy->arena, Node *, shape.carries);
  results->yields = ARENA_ARRAY(copy->arena, Node **, yields);
  for (int i = 0; i < yields; i++)
    results->yields[i] = ARENA_ARRAY(copy->arena, Node *, shape.length);
  for (int i = 0; i < shape.carries; i++)
    results->final[i] = node_map_get(&copy->map, scan->operands[i]);
  Node **arguments = scan_arguments(copy->arena, scan->body, scan->operand_count);
  for (int64_t step = 0; step < shape.length; step++)
    write_step(copy, scan, &shape, arguments, results,
               shape.reverse ? shape.length - 1 - step : step);
  copy->results[scan->id] = results;
}

/* ---- results ------------------------------------------------------------------------------ */

static Node *stack(Copy *copy, const Node *result, Node *const *parts, int64_t length) {
  Maker maker = maker_of(copy, result);
  if (length == 0) return make_constant(&maker, result->type, 0);
  Node **rows = ARENA_ARRAY(copy->arena, Node *, length);
  Shape row = result->type.shape;
  row.dim[0] = 1;
  for (int64_t t = 0; t < length; t++) rows[t] = make_reshape(&maker, parts[t], row);
  return length == 1 ? rows[0] : make_concat(&maker, (int)length, rows, 0);
}

static Node *result_value(Copy *copy, const Node *result) {
  const Results *results = copy->results[result->operands[0]->id];
  int index = (int)node_int(result, ATTR_INDEX);
  if (index < results->carries) return results->final[index];
  return stack(copy, result, results->yields[index - results->carries], results->length);
}

/* Nodes that something else than steps written out reads: others need not be made. */
static bool *find_read(Arena *arena, const Graph *from, ScanChoice choice) {
  bool *read = ARENA_ARRAY(arena, bool, from->next_id);
  for (int i = 0; i < from->outputs.count; i++) read[from->outputs.items[i].node->id] = true;
  for (int i = 0; i < from->nodes.count; i++) {
    const Node *node = from->nodes.items[i];
    ScanShape shape = {0};
    if (node->body && !stays(node, choice)) shape = scan_shape(node);
    for (int k = 0; k < node->operand_count; k++)
      if (!scan_is_sequence(&shape, k)) read[node->operands[k]->id] = true;
  }
  return read;
}

static Graph *rewrite_graph(const Graph *graph, ScanChoice choice) {
  Copy copy = {.into = rewrite_start(graph),
               .arena = graph->arena,
               .map = node_map_create(graph->arena, graph),
               .results = ARENA_ARRAY(graph->arena, Results *, graph->next_id),
               .choice = choice};
  copy_graph(&copy, graph);
  graph_map_outputs(copy.into, graph, &copy.map);
  return copy.into;
}

static Node *copy_scan(Copy *copy, const Node *scan) {
  Node **operands = ARENA_ARRAY(copy->arena, Node *, scan->operand_count);
  for (int i = 0; i < scan->operand_count; i++)
    operands[i] = node_map_get(&copy->map, scan->operands[i]);
  Maker maker = maker_of(copy, scan);
  return make_scan(&maker, rewrite_graph(scan->body, copy->choice), scan_shape(scan),
                   scan->operand_count, operands);
}

static bool is_written_out(const Copy *copy, const Node *result) {
  return node_is_scan_result(result) && copy->results[result->operands[0]->id];
}

static void copy_graph(Copy *copy, const Graph *from) {
  const bool *live = graph_live_nodes(copy->arena, from);
  const bool *read = find_read(copy->arena, from, copy->choice);
  for (int i = 0; i < from->nodes.count; i++) {
    const Node *node = from->nodes.items[i];
    if (!live[node->id] || node_map_get(&copy->map, node)) continue;
    if (node->body && stays(node, copy->choice)) {
      node_map_set(&copy->map, node, copy_scan(copy, node));
    } else if (node->body) {
      write_scan(copy, node);
    } else if (!is_written_out(copy, node)) {
      node_map_set(&copy->map, node, graph_copy_node(copy->into, node, &copy->map));
    } else if (read[node->id] || !yielded_parts(copy, node)) {
      node_map_set(&copy->map, node, result_value(copy, node));
    }
  }
}

/* ---- the pass ----------------------------------------------------------------------------- */

/* One that is written out, itself or in a body; NULL: there is none. */
static const Node *first_written(const Graph *graph, ScanChoice choice) {
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (!node->body) continue;
    const Node *found = stays(node, choice) ? first_written(node->body, choice) : node;
    if (found) return found;
  }
  return NULL;
}

static bool check_size(const Module *module, const Graph *graph, Diagnostics *diagnostics) {
  ScanChoice choice = module->run.scans;
  double count = count_operations(graph, choice);
  const Node *scan = first_written(graph, choice);
  if (count <= MOST_OPERATIONS || !scan) return true;
  Diagnostic *d = diag_error(diagnostics, scan->span,
                             "the scans of this program make %.0f operations when their steps are "
                             "written out, more than %.0f",
                             count, MOST_OPERATIONS);
  diag_help(d, "--scans=auto leaves scans of many operations loops");
  return false;
}

void pass_unroll(Module *module, Diagnostics *diagnostics) {
  for (int i = 0; i < ENTRY_COUNT; i++) {
    const Graph *graph = module->entries[i];
    if (!graph || !graph_has_scans(graph)) continue;
    if (!check_size(module, graph, diagnostics)) return;
    module->entries[i] = rewrite_graph(graph, module->run.scans);
  }
}
