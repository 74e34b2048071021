/* gradient_norm: the norm of all gradients of a step together, as a metric of training.
 *
 * The gradients come after the program, with the update (sections/gradient_norm.c). So what the program sees is a scalar
 * that metrics alone can read: it can be reported, and computed with in a metric, and nothing else. */
#include <string.h>
#include "elaborate/builtins/builtins.h"
#include "elaborate/core/emit.h"
#include "elaborate/core/report.h"
#include "support/names.h"

#define PREFIX "gradient_norm:"

bool builtins_is_gradient_norm(const Node *node) {
  return node->op == OP_SCALAR &&
         strncmp(node_string(node, ATTR_NAME), PREFIX, sizeof PREFIX - 1) == 0;
}

static Value apply_gradient_norm(Elaborator *e, const Bound *bound) {
  Node *loss = builtins_tensor(e, bound, 0);
  if (!loss) return value_error();
  Node *scalar = emit_scalar(e, name_printf(PREFIX "%d", e->trace->gradient_norms.count));
  if (!scalar) return value_error();
  GradientNorm norm = {.scalar = scalar, .loss = loss, .span = bound->call};
  vec_push(e->arena, &e->trace->gradient_norms, norm);
  return value_tensor(e, scalar);
}

bool builtins_refuse_gradient_norm(Elaborator *e, Span at) {
  Diagnostic *d =
      report_error(e, at, "gradient_norm is a metric: nothing else can be computed of it");
  return diag_help(
      d, "it stands in metrics = [...], alone or in an expression of metrics; grad(loss, [...]) "
         "has the gradients as values");
}

static bool check_graph(Elaborator *e, const Graph *graph) {
  const bool *live = graph_live_nodes(e->arena, graph);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (!live[node->id] || !builtins_is_gradient_norm(node)) continue;
    return builtins_refuse_gradient_norm(e, node->span);
  }
  return true;
}

void builtins_check_gradient_norms(Elaborator *e) {
  if (!check_graph(e, e->host.graph)) return;
  for (int i = 0; i < ENTRY_COUNT; i++)
    if (i != ENTRY_FINISH && e->module->entries[i] && !check_graph(e, e->module->entries[i]))
      return;
}

const Builtin builtins_gradient_norm[] = {
    BUILTIN("gradients", apply_gradient_norm, 0, "gradient_norm", "loss: tensor",
            "The norm of all gradients of a step together, a metric of training: of a loss that "
            "train minimizes, by the parameters that are trained with it, as the optimizer gets "
            "them, before `clip`. Reports have the mean over the steps; evaluation has none."
            " Example: loss = mse(linear(x, 16), x); train { minimize = loss, optimizer = sgd, "
            "steps = 9, metrics = [gradient_norm(loss)] }"),
    {0},
};
