/* Gradients as values: grad(y, x).
 *
 * The backward pass from y to x is written into the graph where the call stands (ops/adjoints.h),
 * out of plain operators. So it needs no rule of its own anywhere else: evaluation and prediction
 * have it, a loss that contains it is differentiated once more, and in the body of a scan it is
 * that of the step.
 *
 * x must be the very value that y was computed from. */
#include <string.h>
#include "elaborate/builtins/builtins.h"
#include "elaborate/core/report.h"
#include "elaborate/eval/convert.h"
#include "ops/adjoints.h"
#include "ops/op.h"

/* A float tensor of the current graph; NULL after an error. */
static Node *float_operand(Elaborator *e, const Bound *bound, int i, Value value) {
  Span at = bound->spans[i];
  if (!value_is_tensor(value))
    return report_wrong_kind(
        e, at, i == 0 ? "what 'grad' differentiates" : "what 'grad' differentiates by",
        i == 0 ? "a scalar tensor" : "a tensor, or a list of tensors", value);
  Node *node = convert_any_tensor(e, value, at);
  if (!node || dtype_is_float(node->type.dtype)) return node;
  Diagnostic *d = report_error(e, at, "'grad' of %s: only floats have gradients",
                               type_text(e->arena, node->type));
  report_note_tensor(e, d, "the operand", node);
  return diag_help(d, "x = f32(...) converts; compute what is differentiated from that x");
}

static bool check_scalar(Elaborator *e, const Bound *bound, const Node *y) {
  if (y->type.shape.rank == 0) return true;
  Diagnostic *d = report_error(e, bound->spans[0], "'grad' needs a scalar, found %s",
                               type_text(e->arena, y->type));
  report_note_tensor(e, d, "the operand", y);
  return diag_help(
      d, "grad(sum(y), x) has for each example the gradient of its own y, where examples do "
         "not mix");
}

/* Marks the ways from the targets; false when one of them does not lead to y. */
static bool mark_ways(Elaborator *e, const Bound *bound, const Node *y, int count, Node *const *x,
                      Adjoints *adjoints) {
  for (int i = 0; i < count; i++) {
    memset(adjoints->leads, 0, sizeof *adjoints->leads * (size_t)adjoints->count);
    if (x[i]->id < adjoints->count) adjoints->leads[x[i]->id] = true;
    adjoints_spread(adjoints);
    if (adjoints->leads[y->id]) continue;
    Diagnostic *d =
        report_error(e, bound->call, "'grad' by a tensor that the scalar does not depend on");
    report_note_tensor(e, d, "the scalar", y);
    report_note_tensor(e, d, "the tensor", x[i]);
    return diag_help(d,
                     "give the very value that the scalar was computed from; integers, comparisons "
                     "and stop_gradient let no gradient through");
  }
  memset(adjoints->leads, 0, sizeof *adjoints->leads * (size_t)adjoints->count);
  for (int i = 0; i < count; i++) adjoints->leads[x[i]->id] = true;
  adjoints_spread(adjoints);
  return true;
}

/* What the rules have added counts like what emit_node() adds. */
static void count_bytes(Elaborator *e, int first) {
  const Graph *graph = e->region->graph;
  for (int i = first; i < graph->nodes.count; i++)
    e->region->bytes += (double)type_bytes(graph->nodes.items[i]->type);
  region_sync(e);
}

/* The gradient as a node of its own: the program may differentiate by it. */
static Node *own_node(Elaborator *e, const Adjoints *adjoints, const Node *x) {
  Maker maker = adjoints_maker(e->region->graph, x);
  return make_alias(&maker, adjoints_get(adjoints, x));
}

static Value differentiate(Elaborator *e, const Bound *bound, Node *y, int count, Node **x) {
  Graph *graph = e->region->graph;
  int first = graph->nodes.count;
  Adjoints adjoints = adjoints_create(graph, y->id + 1);
  Node **gradients = ARENA_ARRAY(e->arena, Node *, count);
  Value *values = ARENA_ARRAY(e->arena, Value, count);
  if (!mark_ways(e, bound, y, count, x, &adjoints)) return value_error();
  Maker maker = adjoints_maker(graph, y);
  adjoints_add(&adjoints, y, make_constant(&maker, y->type, 1));
  adjoints_run(&adjoints);
  for (int i = 0; i < count; i++) gradients[i] = own_node(e, &adjoints, x[i]);
  count_bytes(e, first);
  for (int i = 0; i < count; i++) values[i] = value_tensor(e, gradients[i]);
  bool is_list = value_is_sequence(bound->values[1]);
  return is_list ? value_tuple(e->arena, count, values) : values[0];
}

static Value apply_grad(Elaborator *e, const Bound *bound) {
  Value by = bound->values[1];
  bool is_list = value_is_sequence(by);
  int count = is_list ? (int)value_sequence_length(by) : 1;
  Node *y = float_operand(e, bound, 0, bound->values[0]);
  Node **x = ARENA_ARRAY(e->arena, Node *, count + 1);
  if (!y || !check_scalar(e, bound, y)) return value_error();
  for (int i = 0; i < count; i++) {
    x[i] = float_operand(e, bound, 1, is_list ? value_sequence_item(by, i) : by);
    if (!x[i]) return value_error();
  }
  if (count > 0) return differentiate(e, bound, y, count, x);
  return report_error_value(e, bound->spans[1], "'grad' by an empty list");
}

const Builtin builtins_gradient[] = {
    BUILTIN("gradients", apply_grad, 0, "grad", "y: any, x: any",
            "The gradient of the scalar y by x, a tensor that it was computed from: of x's shape. "
            "Of a list of tensors a tuple. It is a value like any other, which may be part of a "
            "loss."
            " Example: penalty = mean((norm(grad(sum(tanh(linear(x, 1))), x), axis = 1) - 1) ^ 2)"),
    {0},
};
