/* auc, average_precision, boxes_ranked: metrics that follow from the order of all examples of a set.
 *
 * Evaluation gives scores and labels as results, an example a row; the runtime puts the rows of all batches together. What
 * the program sees is a scalar that the entry finish alone can read: it can be reported, and computed with in a
 * metric, and nothing else. */
#include <string.h>
#include "elaborate/builtins/builtins.h"
#include "elaborate/core/emit.h"
#include "elaborate/core/report.h"
#include "support/names.h"

static bool fits(const Elaborator *e, const Node *scores, const Node *label) {
  Shape x = scores->type.shape, y = label->type.shape;
  bool has_batch = e->module->run.batch > 0; /* not in the first trace */
  int64_t batch = e->trace->single ? 1 : e->module->run.batch;
  return shape_equal(x, y) && x.rank > 0 && (!has_batch || x.dim[0] == batch);
}

/* Whether each is true: of floats what is above one half. */
static Node *truth_of(Elaborator *e, Node *label) {
  Type type = label->type;
  if (type.dtype == DTYPE_BOOL) return emit_cast(e, label, DTYPE_I32);
  double limit = dtype_is_float(type.dtype) ? 0.5 : 0;
  Node *above = emit_binary(e, OP_GT, label, emit_constant(e, limit, type));
  return above ? emit_cast(e, above, DTYPE_I32) : NULL;
}

static Value add_ranked(Elaborator *e, const char *name, Node *scores, Node *label) {
  bool is_evaluation = e->trace->entry == ENTRY_EVAL || e->trace->entry == ENTRY_EVAL_ONE;
  if (is_evaluation) vec_push(e->arena, &e->trace->ranked, ((Ranked){name, scores, label}));
  return value_tensor(e, emit_scalar(e, name));
}

static bool is_boxes(const Elaborator *e, const Node *boxes, int numbers) {
  Shape shape = boxes->type.shape;
  bool has_batch = e->module->run.batch > 0; /* not in the first trace */
  int64_t batch = e->trace->single ? 1 : e->module->run.batch;
  return dtype_is_float(boxes->type.dtype) && shape.rank == 3 && shape.dim[2] == numbers &&
         shape.dim[1] > 0 && (!has_batch || shape.dim[0] == batch);
}

/* Found boxes and true ones; how the library calls it: metrics.net, box_precision. */
static Value apply_boxes(Elaborator *e, const Bound *bound) {
  enum { FOUND_NUMBERS = 6, TRUTH_NUMBERS = 5 };
  Node *found = builtins_tensor(e, bound, 0), *truth = builtins_tensor(e, bound, 1);
  int64_t percent = bound->values[2].integer;
  if (!found || !truth) return value_error();
  bool is_known = percent == 0 || (percent >= 50 && percent <= 95 && percent % 5 == 0);
  if (!is_known || !is_boxes(e, found, FOUND_NUMBERS) || !is_boxes(e, truth, TRUTH_NUMBERS)) {
    Diagnostic *d =
        report_error(e, bound->call,
                     "'%s' needs float boxes [batch, boxes, 6] and [batch, boxes, 5], and "
                     "an overlap of 0, 50, 55, ..., 95 percent",
                     bound->builtin->name);
    report_note_tensor(e, d, "the first", found);
    report_note_tensor(e, d, "the second", truth);
    return value_error();
  }
  return add_ranked(
      e, name_printf("%sboxes%d:%d", MODULE_RANKING, (int)percent, e->trace->ranking_count++),
      found, truth);
}

static Value apply_ranked(Elaborator *e, const Bound *bound) {
  Node *scores = builtins_tensor(e, bound, 0), *label = builtins_tensor(e, bound, 1);
  if (!scores || !label) return value_error();
  const char *name =
      name_printf("%s%s:%d", MODULE_RANKING, bound->builtin->name, e->trace->ranking_count++);
  if (!fits(e, scores, label)) {
    Diagnostic *d = report_error(e, bound->call,
                                 "'%s' needs scores and labels of one shape, [batch] "
                                 "or [batch, ...]",
                                 bound->builtin->name);
    report_note_tensor(e, d, "the first", scores);
    report_note_tensor(e, d, "the second", label);
    return value_error();
  }
  DType type = scores->type.dtype;
  if (type == DTYPE_BOOL || dtype_is_half(type)) scores = emit_cast(e, scores, DTYPE_F32);
  Node *truth = truth_of(e, label);
  if (!scores || !truth) return value_error();
  return add_ranked(e, name, scores, truth);
}

void builtins_add_ranked(Trace *eval, Trace *eval_one) {
  Trace *const traces[] = {eval, eval_one};
  for (int t = 0; t < 2; t++)
    for (int i = 0; i < traces[t]->ranked.count; i++) {
      const Ranked *ranked = &traces[t]->ranked.items[i];
      emit_own_result(traces[t], ranked->name, ranked->scores);
      emit_own_result(traces[t], name_printf("%s:label", ranked->name), ranked->label);
    }
}

/* A use that no report is. */
static void check_graph(Elaborator *e, const Graph *graph) {
  const bool *live = graph_live_nodes(e->arena, graph);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (!live[node->id] || node->op != OP_SCALAR ||
        !module_is_ranking(node_string(node, ATTR_NAME)))
      continue;
    Diagnostic *d = report_error(e, node->span,
                                 "what follows from the order of a whole set is a "
                                 "metric: nothing else can be computed of it");
    diag_help(d, "it stands in metrics = [...], alone or in an expression of metrics");
    return;
  }
}

void builtins_check_ranked(Elaborator *e) {
  for (int i = 0; i < ENTRY_COUNT; i++)
    if (i != ENTRY_FINISH && e->module->entries[i]) check_graph(e, e->module->entries[i]);
}

const Builtin builtins_ranked[] = {
    BUILTIN("metrics by rank", apply_ranked, 0, "auc", "scores: tensor, label: tensor",
            "The area under the curve of true against false positives over a whole data set: the "
            "share of pairs of a true and another example of which the true one has the greater "
            "score, equal ones half. A label is true above 0, a float above 0.5. For metrics, of "
            "sets that are evaluated."
            " Example: area = auc(logits[:, 1], label == 1)"),
    BUILTIN("metrics by rank", apply_ranked, 0, "average_precision",
            "scores: tensor, label: tensor",
            "The mean of the precision at the score of each true example, over a whole data set: "
            "the area under the curve of precision against recall, without interpolation. "
            "Labels as in auc."
            " Example: area = average_precision(logits[:, 1], label == 1)"),
    BUILTIN(
        "metrics by rank", apply_boxes, 0, "boxes_ranked",
        "found: tensor, truth: tensor, percent: int",
        "Internal: the computation of box_precision, of rows x1, y1, x2, y2, score, class and x1, "
        "y1, x2, y2, "
        "class; percent: the overlap, 0 for the mean over 50, 55, ..., 95."
        " Example: precise = boxes_ranked(x[:, none, :6], x[:, none, :5], 50)"),
    {0},
};
