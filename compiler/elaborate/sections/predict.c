/* The predict block: named results of one example. */
#include "elaborate/core/report.h"
#include "elaborate/eval/convert.h"
#include "elaborate/eval/evaluate.h"
#include "elaborate/sections/predict.h"
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
