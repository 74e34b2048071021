/* The norm of the gradients of a step, for the metric gradient_norm(loss) (builtins/gradient_norm.c).
 *
 * It is made of the gradients that the update computes anyway, before they are clipped, in the order of `clip`: where one
 * `clip = NUMBER` holds for all of them, both norms are the same nodes. */
#include "elaborate/sections/gradient_norm.h"

#include "elaborate/builtins/builtins.h"
#include "elaborate/core/emit.h"
#include "elaborate/core/report.h"
#include "elaborate/sections/loss_scale.h"
#include "ops/op.h"

static Node *objective_squares(const Update *update, int objective, Node *squares) {
  Elaborator *e = update->e;
  for (int i = 0; i < update->targets.count; i++) {
    const UpdateTarget *target = &update->targets.items[i];
    if (target->objective != objective || !target->gradient) continue;
    Node *own = update_sum_squares(e, target->gradient);
    squares = squares ? update_add_squares(e, squares, own) : own;
    if (!squares) return NULL;
  }
  return squares;
}

void gradient_norm_add(const Update *update, int objective, const Node *loss, Node *is_finite) {
  Elaborator *e = update->e;
  for (int i = 0; i < e->trace->gradient_norms.count; i++) {
    GradientNorm *norm = &e->trace->gradient_norms.items[i];
    if (norm->loss != loss) continue;
    e->at = norm->span;
    e->frame->label = "gradient_norm";
    norm->squares = objective_squares(update, objective, norm->squares);
    if (is_finite && norm->squares) norm->squares = loss_scale_or_zero(e, norm->squares, is_finite);
  }
}

/* Asked for when the update is made, as by `clip`, or within a scan. */
static bool is_misplaced(const Update *update, const GradientNorm *norm) {
  bool is_minimized = false;
  for (int i = 0; i < update->targets.count && !is_minimized; i++)
    is_minimized = update_loss(update->plan, update->targets.items[i].objective) == norm->loss;
  return is_minimized || norm->loss->op == OP_ARGUMENT;
}

static void report_other(const Update *update, const GradientNorm *norm) {
  Elaborator *e = update->e;
  if (is_misplaced(update, norm)) {
    builtins_refuse_gradient_norm(e, norm->span);
    return;
  }
  Diagnostic *d = report_error(
      e, norm->span, "'gradient_norm' needs a loss that train minimizes, with parameters to train");
  report_note_tensor(e, d, "the argument", norm->loss);
  const AstExpr *loss = update->plan->keys[KEY_MINIMIZE].expr;
  if (loss) diag_note(d, loss->span, "what is minimized");
  diag_help(d, "give it a name that both use: loss = ...; of other scalars, grad(y, [h.w, h.b]) "
               "has the gradients");
}

void gradient_norm_finish(const Update *update) {
  Elaborator *e = update->e;
  for (int i = 0; i < e->trace->gradient_norms.count; i++) {
    GradientNorm *norm = &e->trace->gradient_norms.items[i];
    e->at = norm->span;
    e->frame->label = "gradient_norm";
    if (norm->squares) norm->norm = emit_unary(e, OP_SQRT, norm->squares);
    else if (e->errors == 0) report_other(update, norm);
  }
}

Node *gradient_norm_value(Elaborator *e, Trace *trace, const Node *scalar) {
  for (int i = 0; i < trace->gradient_norms.count; i++)
    if (trace->gradient_norms.items[i].scalar == scalar && trace->gradient_norms.items[i].norm)
      return trace->gradient_norms.items[i].norm;
  Region *outer = e->region;
  e->region = &trace->region;
  Node *none = emit_constant(e, 0, type_scalar(DTYPE_F32));
  e->region = outer;
  return none;
}
