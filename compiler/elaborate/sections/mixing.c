/* How messages speak of values that mix the examples of a batch (ops/flow.h), and the predict block's
 * use of them. */
#include "elaborate/core/report.h"
#include "elaborate/sections/metrics.h"

const char *metrics_mixing_text(const Flow *mixed) {
  switch (mixed->cause) {
  case CAUSE_PAIRS: return "compares the examples of a batch with each other";
  case CAUSE_SIZE: return "depends on the size of a batch";
  case CAUSE_PLACE: return "depends on an example's place in the batch";
  case CAUSE_MOVED: return "mixes the examples of a batch";
  default: return "another reduction over the batch has a part in";
  }
}

const char *metrics_mixing_advice(const Flow *mixed) {
  if (mixed->by->op == OP_EXTERN)
    return "rowwise = true in its declaration says that row i of its result follows from row i of "
           "the arguments";
  switch (mixed->cause) {
  case CAUSE_SIZE:
    return "divide after the reduction, sum(x) / batch; by grad(sum(y), x) each example has "
           "the gradient of its own y; per_batch(...) takes the mean over batches";
  case CAUSE_JOINED:
    return "write it with reductions of single examples: mean(x * x) - mean(x) ^ 2 for "
           "mean((x - mean(x)) ^ 2), or take the mean over batches: per_batch(...)";
  default:
    return "which examples share a batch, and in which order, is chance: use what follows from "
           "each example by itself, or per_batch(...) for the mean over batches";
  }
}

void metrics_note_mixing(Elaborator *e, Diagnostic *diagnostic, const Flow *mixed) {
  const char *what = mixed->cause == CAUSE_MOVED || mixed->cause == CAUSE_PAIRS
                         ? "where examples meet"
                     : mixed->cause == CAUSE_PLACE ? "what differs from place to place"
                                                   : "what it depends on";
  if (mixed->by->body) diag_note(diagnostic, mixed->by->span, "%s is this scan", what);
  else report_note_tensor(e, diagnostic, what, mixed->by);
}

static bool keeps_batch(const Elaborator *e, const Node *node) {
  Shape shape = node->type.shape;
  return shape.rank > 0 && shape.dim[0] == e->module->run.batch;
}

/* A prediction is computed with a batch of one, where what mixes examples has lost its meaning. What
 * reduces the batch at the end, as a loss does, is that of the one example. */
void metrics_check_predictions(Elaborator *e, Trace *eval, const Trace *eval_one) {
  int count = eval->results.count;
  if (count != eval_one->results.count) return;
  Node **roots = ARENA_ARRAY(e->arena, Node *, count + 1);
  Node **single = ARENA_ARRAY(e->arena, Node *, count + 1);
  for (int i = 0; i < count; i++) {
    roots[i] = eval->results.items[i].node;
    single[i] = eval_one->results.items[i].node;
  }
  const Graph *graph = eval->region.graph;
  const Flow *flow = flow_find(e->arena, graph, e->module->run.batch,
                               counterparts_find(e->arena, graph, count, roots, single));
  e->trace = eval;
  for (int i = 0; i < count; i++) {
    const Output *result = &eval->results.items[i];
    const Flow *mixed = &flow[result->node->id];
    if (mixed->kind != FLOW_MIXED) continue;
    Diagnostic *d = report_warning(e, result->span,
                                   "'%s' is predicted for each example alone, but is computed from "
                                   "what %s",
                                   result->name, metrics_mixing_text(mixed));
    metrics_note_mixing(e, d, mixed);
    if (mixed->by->op == OP_EXTERN) diag_help(d, "%s", metrics_mixing_advice(mixed));
    else if (mixed->by->op == OP_SLICE && !keeps_batch(e, result->node))
      diag_help(d, "a result keeps the axis of the examples; each example is given its own part, "
                   "without that axis");
  }
}
