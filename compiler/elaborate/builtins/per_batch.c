/* per_batch: a number of a batch as a whole, of which a report takes the mean over the batches of a set.
 *
 * It is the scalar itself, as a node of its own; metrics.c makes that an accumulator without looking below it. */
#include "elaborate/builtins/builtins.h"
#include "elaborate/core/report.h"
#include "ops/make.h"
#include "support/names.h"

static Value apply_per_batch(Elaborator *e, const Bound *bound) {
  Node *x = builtins_tensor(e, bound, 0);
  if (!x) return value_error();
  if (x->type.shape.rank > 0) {
    Diagnostic *d = report_error(e, bound->spans[0], "'per_batch' needs a scalar, found %s",
                                 type_text(e->arena, x->type));
    report_note_tensor(e, d, "the operand", x);
    diag_help(d, "the mean of all elements is per_batch(mean(x)); of a list, per_batch of each");
    return value_error();
  }
  Maker maker = {e->region->graph, bound->call, e->frame->label};
  Node *node = make_alias(&maker, x);
  region_sync(e);
  vec_push(e->arena, &e->trace->per_batch, node);
  return value_tensor(e, node);
}

const Builtin builtins_per_batch[] = {
    BUILTIN(
        "means over batches", apply_per_batch, 0, "per_batch", "x: tensor",
        "x itself, a scalar; as a metric, or in one, it is reported as the mean over whole "
        "batches. It is for values that mix the examples of a batch, which no other metric may, "
        "or where this mean is wanted instead of the exact value over the set."
        " Example: spread = per_batch(std(logits))"),
    {0},
};
