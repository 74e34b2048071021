/* The predict block: named results of one example, and where that is the same, of a batch. */
#include "elaborate/core/report.h"
#include "elaborate/eval/convert.h"
#include "elaborate/eval/evaluate.h"
#include "elaborate/sections/predict.h"
#include "ops/flow.h"
#include "support/names.h"

static void add_result(Elaborator *e, AstName name, Value value, Span at) {
  Node *node = value_is_error(value) ? NULL : convert_any_tensor(e, value, at);
  if (!node) return;
  for (int i = 0; i < e->trace->results.count; i++)
    if (e->trace->results.items[i].name == name.text) {
      Diagnostic *d = report_error(e, name.span, "predict gives '%s' twice", name.text);
      diag_note(d, e->trace->results.items[i].span, "the first");
      return;
    }
  Output output = {.kind = OUTPUT_RESULT, .name = name.text, .node = node, .span = name.span};
  vec_push(e->arena, &e->trace->results, output);
}

static void evaluate_entry(Elaborator *e, const AstEntry *entry) {
  if (entry->kind != AST_ENTRY_SET) {
    report_error(e, entry->span, "groups of parameters belong in train");
    return;
  }
  e->frame->label = entry->names.items[0].text;
  Value value = evaluate_expr(e, entry->value);
  Span at = entry->value->span;
  if (entry->names.count == 1) {
    add_result(e, entry->names.items[0], value, at);
    return;
  }
  if (value_is_error(value)) return;
  if (!value_is_sequence(value) || value_sequence_length(value) != entry->names.count) {
    report_error(e, at, "%d names for %s", entry->names.count, value_describe(e->arena, value));
    return;
  }
  for (int i = 0; i < entry->names.count; i++)
    add_result(e, entry->names.items[i], value_sequence_item(value, i), at);
}

/* Evaluated by every trace, so that mistakes show early; only the predict trace keeps the results. */
void predict_evaluate(Elaborator *e, const AstStmt *stmt) {
  for (int i = 0; i < e->sections.count; i++) {
    const AstStmt *first = e->sections.items[i];
    if (first == stmt || first->kind != AST_PREDICT) continue;
    Diagnostic *d = report_error(e, stmt->keyword, "there is a second predict block");
    diag_note(d, first->keyword, "the first");
    return;
  }
  if (e->trace->entry == ENTRY_TRAIN) vec_push(e->arena, &e->sections, stmt);
  for (int i = 0; i < stmt->section.entries.count; i++)
    evaluate_entry(e, &stmt->section.entries.items[i]);
}

/* ---- batches ---- */

/* A stream goes from one minibatch to the next, which is not what an example alone gives. */
static bool reads_stream(Elaborator *e, const Graph *graph, int count, Node *const *roots) {
  bool *is_used = ARENA_ARRAY(e->arena, bool, graph->next_id);
  for (int i = 0; i < count; i++) is_used[roots[i]->id] = true;
  region_mark_needed(graph, is_used);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (!is_used[node->id] || node->op != OP_STATE) continue;
    const Variable *variable = module_find_variable(e->module, node_string(node, ATTR_NAME));
    if (!variable || variable->kind == VARIABLE_STREAM) return true;
  }
  return false;
}

/* [batch, ...] where the single example's is [1, ...]. */
static bool is_batch_of(const Node *node, const Node *single, int64_t batch) {
  Shape shape = single->type.shape;
  if (shape.rank == 0 || shape.dim[0] != 1 || node->type.dtype != single->type.dtype) return false;
  shape.dim[0] = batch;
  return shape_equal(node->type.shape, shape);
}

static void copy_results(Elaborator *e, const Trace *eval, int count, Node *const *roots) {
  const Graph *from = eval->region.graph;
  Graph *into = graph_create(e->arena, entry_name(ENTRY_PREDICT_BATCH));
  bool *is_used = ARENA_ARRAY(e->arena, bool, from->next_id);
  NodeMap map = node_map_create(e->arena, from);
  for (int i = 0; i < count; i++) is_used[roots[i]->id] = true;
  region_mark_needed(from, is_used);
  for (int i = 0; i < from->nodes.count; i++) {
    const Node *node = from->nodes.items[i];
    if (is_used[node->id]) node_map_set(&map, node, graph_copy_node(into, node, &map));
  }
  for (int i = 0; i < count; i++) {
    Output output = eval->results.items[i];
    output.node = node_map_get(&map, output.node);
    graph_add_output(into, output);
  }
  e->module->entries[ENTRY_PREDICT_BATCH] = into;
}

void predict_build_batch(Elaborator *e, const Trace *eval, const Trace *single) {
  int count = eval->results.count;
  int64_t batch = e->module->run.batch;
  if (count == 0 || count != single->results.count || batch < 2) return;
  Node **roots = ARENA_ARRAY(e->arena, Node *, count);
  Node **single_roots = ARENA_ARRAY(e->arena, Node *, count);
  for (int i = 0; i < count; i++) {
    roots[i] = eval->results.items[i].node;
    single_roots[i] = single->results.items[i].node;
    if (!is_batch_of(roots[i], single_roots[i], batch)) return;
  }
  const Graph *graph = eval->region.graph;
  if (reads_stream(e, graph, count, roots)) return;
  const Flow *flow = flow_find(e->arena, graph, batch,
                               counterparts_find(e->arena, graph, count, roots, single_roots));
  for (int i = 0; i < count; i++) {
    const Flow *own = &flow[roots[i]->id];
    if (own->kind != FLOW_SEPARATE || own->axis != 0) return;
  }
  copy_results(e, eval, count, roots);
}
