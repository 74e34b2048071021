/* The generate block: what follows a text, as the logits of one example. */
#include "elaborate/sections/generate.h"

#include <string.h>
#include "elaborate/core/region.h"
#include "elaborate/core/report.h"
#include "elaborate/eval/convert.h"
#include "elaborate/eval/evaluate.h"
#include "support/names.h"

static const char help[] = "generate { from = tokens, next = logits }";

static void check_tokens(Elaborator *e, const AstEntry *entry, Node *node) {
  Type type = node->type;
  bool is_whole = dtype_is_int(type.dtype);
  if (node->op == OP_INPUT && is_whole && type.shape.rank == 2) {
    e->trace->tokens = node;
    return;
  }
  Diagnostic *d = report_error(e, entry->value->span,
                               "'from' must be an input of class numbers, i32[batch, length]");
  report_note_tensor(e, d, "found", node);
}

static void check_next(Elaborator *e, const AstEntry *entry, Node *node) {
  Type type = node->type;
  if (dtype_is_float(type.dtype) && (type.shape.rank == 3 || type.shape.rank == 2)) {
    e->trace->next = node;
    return;
  }
  Diagnostic *d = report_error(
      e, entry->value->span,
      "'next' must be logits, [batch, length, classes] of what follows each place, or [batch, "
      "classes] of what follows the last");
  report_note_tensor(e, d, "found", node);
}

/* False after a mistake, also one that was reported where the value was bound. */
static bool evaluate_key(Elaborator *e, const AstEntry *entry) {
  AstName name = entry->names.items[0];
  bool is_from = strcmp(name.text, "from") == 0, is_next = strcmp(name.text, "next") == 0;
  Node **known = is_from ? &e->trace->tokens : &e->trace->next;
  if (!is_from && !is_next) {
    diag_help(report_error(e, name.span, "'generate' has no key '%s'", name.text), "%s", help);
    return false;
  }
  if (*known) {
    report_error(e, name.span, "'%s' is given twice", name.text);
    return false;
  }
  e->frame->label = name.text;
  Value value = evaluate_expr(e, entry->value);
  Node *node = value_is_error(value) ? NULL : convert_any_tensor(e, value, entry->value->span);
  if (!node) return false;
  if (is_from) check_tokens(e, entry, node);
  else check_next(e, entry, node);
  return *known;
}

/* The extents of tokens and logits belong to each other. */
static void check_shapes(Elaborator *e, const AstStmt *stmt) {
  const Node *tokens = e->trace->tokens, *next = e->trace->next;
  Shape from = tokens->type.shape, to = next->type.shape;
  if (from.dim[0] == to.dim[0] && (to.rank == 2 || from.dim[1] == to.dim[1])) return;
  Diagnostic *d =
      report_error(e, stmt->keyword, "the logits are of other places than the tokens have");
  report_note_tensor(e, d, "from", (Node *)tokens);
  report_note_tensor(e, d, "next", (Node *)next);
}

void generate_evaluate(Elaborator *e, const AstStmt *stmt) {
  for (int i = 0; i < e->sections.count; i++) {
    const AstStmt *first = e->sections.items[i];
    if (first == stmt || first->kind != AST_GENERATE) continue;
    diag_note(report_error(e, stmt->keyword, "there is a second generate block"), first->keyword,
              "the first");
    return;
  }
  if (e->trace->entry == ENTRY_TRAIN) vec_push(e->arena, &e->sections, stmt);
  bool fine = true;
  for (int i = 0; i < stmt->section.entries.count; i++)
    if (stmt->section.entries.items[i].kind == AST_ENTRY_SET)
      fine = evaluate_key(e, &stmt->section.entries.items[i]) && fine;
  if (!fine) return;
  if (e->trace->tokens && e->trace->next) {
    check_shapes(e, stmt);
    return;
  }
  diag_help(
      report_error(e, stmt->keyword, "'generate' needs '%s'", e->trace->tokens ? "next" : "from"),
      "%s", help);
}

/* An input besides the tokens has no value when a text is written. */
static bool reads_others(Elaborator *e, const Trace *trace, const bool *is_used) {
  const Graph *graph = trace->region.graph;
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (!is_used[node->id] || node->op != OP_INPUT || node == trace->tokens) continue;
    const char *name = node_string(node, ATTR_NAME);
    if (strcmp(name, node_string(trace->tokens, ATTR_NAME)) == 0) continue;
    report_error(e, trace->next->span,
                 "what follows a text must depend on the input '%s' alone, but it depends on '%s', "
                 "too",
                 node_string(trace->tokens, ATTR_NAME), name);
    return true;
  }
  return false;
}

void generate_build(Elaborator *e, const Trace *trace) {
  if (!trace->tokens || !trace->next || diagnostics_error_count(e->diagnostics) > 0) return;
  const Graph *from = trace->region.graph;
  Graph *into = graph_create(e->arena, entry_name(ENTRY_GENERATE));
  bool *is_used = ARENA_ARRAY(e->arena, bool, from->next_id);
  NodeMap map = node_map_create(e->arena, from);
  is_used[trace->next->id] = true;
  region_mark_needed(from, is_used);
  if (reads_others(e, trace, is_used)) return;
  if (!is_used[trace->tokens->id]) {
    report_error(e, trace->next->span, "what follows a text does not depend on the input '%s'",
                 node_string(trace->tokens, ATTR_NAME));
    return;
  }
  for (int i = 0; i < from->nodes.count; i++) {
    const Node *node = from->nodes.items[i];
    if (is_used[node->id]) node_map_set(&map, node, graph_copy_node(into, node, &map));
  }
  graph_add_output(into, (Output){.kind = OUTPUT_RESULT,
                                  .name = name_intern("next"),
                                  .node = node_map_get(&map, trace->next),
                                  .span = trace->next->span});
  e->module->entries[ENTRY_GENERATE] = into;
}
