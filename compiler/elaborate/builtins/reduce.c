/* Reductions: over all axes by default; argmax and its kin over the last. */
#include "elaborate/builtins/builtins.h"
#include "elaborate/core/emit.h"
#include "elaborate/core/report.h"
#include "elaborate/eval/convert.h"
#include "elaborate/eval/operate.h"
#include "ops/op.h"

/* The reduced tensor with its axes kept as 1 where asked. */
static Node *keep_axes(Elaborator *e, Node *reduced, Shape from, int count, const int64_t *axes,
                       bool keep) {
  if (!reduced || !keep) return reduced;
  for (int i = 0; i < count; i++) from.dim[axes[i]] = 1;
  return emit_reshape(e, reduced, from);
}

/* Whether there are results, each over no elements. */
static bool is_over_none(Shape shape, int count, const int64_t *axes) {
  bool is_reduced[MAX_RANK] = {false}, over_none = false;
  for (int i = 0; i < count; i++) is_reduced[axes[i]] = true;
  for (int i = 0; i < shape.rank; i++) {
    if (shape.dim[i] > 0) continue;
    if (!is_reduced[i]) return false;
    over_none = true;
  }
  return over_none;
}

/* As in NumPy, a sum of nothing is 0 and a product 1; no other reduction of nothing has a value. */
static bool check_some(Elaborator *e, const Bound *bound, Op op, const Node *x, int count,
                       const int64_t *axes) {
  if (op == OP_REDUCE_SUM || op == OP_REDUCE_PROD) return true;
  if (!is_over_none(x->type.shape, count, axes)) return true;
  Diagnostic *d = report_error(e, bound->call, "'%s' over no elements of %s", bound->builtin->name,
                               type_text(e->arena, x->type));
  report_note_tensor(e, d, "the operand", x);
  return diag_help(d, "of nothing, sum is 0, prod 1, any false and all true");
}

/* Truths are counted and compared as numbers, bytes compared as wider ones. */
static Node *reduce_operand(Elaborator *e, const Bound *bound, Op op) {
  Node *x = builtins_tensor(e, bound, 0);
  if (!x) return NULL;
  DType dtype = x->type.dtype;
  bool compares = op == OP_ARGMAX || op == OP_ARGMIN || op == OP_REDUCE_MAX || op == OP_REDUCE_MIN;
  if (dtype == DTYPE_BOOL) return emit_cast(e, x, op == OP_REDUCE_MEAN ? DTYPE_F32 : DTYPE_I32);
  if (dtype == DTYPE_U8 && compares) return emit_cast(e, x, DTYPE_I32);
  bool fits = op == OP_REDUCE_MEAN ? dtype_is_float(dtype) : dtype != DTYPE_U8;
  return fits ? x : builtins_refuse_type(e, bound, 0, x);
}

/* The greatest byte is a byte. */
static Node *narrow_again(Elaborator *e, const Bound *bound, Node *reduced) {
  const Value *operand = &bound->values[0];
  bool is_byte = value_is_tensor(*operand) && operand->tensor.node->type.dtype == DTYPE_U8;
  return reduced && is_byte ? emit_cast(e, reduced, DTYPE_U8) : reduced;
}

static Value reduce_by(Elaborator *e, const Bound *bound, Op op) {
  Node *x = reduce_operand(e, bound, op);
  int count;
  int64_t axes[MAX_RANK];
  if (!x || !convert_axes(e, bound->values[1], bound->spans[1], x->type.shape.rank, &count, axes) ||
      !check_some(e, bound, op, x, count, axes))
    return value_error();
  Node *reduced = narrow_again(e, bound, emit_reduce(e, op, x, count, axes));
  return value_tensor(e,
                      keep_axes(e, reduced, x->type.shape, count, axes, bound->values[2].boolean));
}

static Value apply_reduce(Elaborator *e, const Bound *bound) {
  return reduce_by(e, bound, (Op)bound->builtin->data);
}

/* max(a, b) and min(a, b) of compile-time numbers; of a list; else over axes of a tensor. */
static Value apply_extreme(Elaborator *e, const Bound *bound) {
  Value x = bound->values[0], y = bound->values[1];
  bool greatest = bound->builtin->data == OP_REDUCE_MAX;
  if (value_is_number(x) && bound->given[1] && value_is_number(y)) {
    bool first = (value_number(x) > value_number(y)) == greatest;
    Value chosen = first ? x : y;
    return x.kind == y.kind ? chosen : value_float(value_number(chosen));
  }
  bool is_list = value_is_sequence(x) && value_sequence_length(x) > 0 && !bound->given[1];
  for (int64_t i = 0; is_list && i < value_sequence_length(x); i++)
    is_list = value_is_number(value_sequence_item(x, i));
  if (!is_list) {
    bool pairwise = bound->given[1] && (value_is_tensor(y) || y.kind == VALUE_FLOAT ||
                                        (value_is_number(x) && value_is_tensor(y)) ||
                                        (value_is_tensor(x) && x.tensor.is_host));
    if (!pairwise) return apply_reduce(e, bound);
    Node *a, *b;
    if (!builtins_unify(e, bound, 0, &a, &b)) return value_error();
    return value_tensor(e, emit_binary(e, greatest ? OP_MAX : OP_MIN, a, b));
  }
  Value best = value_sequence_item(x, 0);
  for (int64_t i = 1; i < value_sequence_length(x); i++) {
    Value item = value_sequence_item(x, i);
    if ((value_number(item) > value_number(best)) == greatest) best = item;
  }
  return best;
}

/* any, all: maximum and minimum of truths as numbers; of none sum and product, which have a value. */
static Value apply_truth(Elaborator *e, const Bound *bound) {
  Node *x = builtins_tensor(e, bound, 0);
  if (!x) return value_error();
  if (x->type.dtype != DTYPE_BOOL)
    return report_kind(e, bound->spans[0], "the operand", "truth values", bound->values[0]);
  Bound numbers = *bound;
  numbers.values[0] = value_tensor(e, emit_cast(e, x, DTYPE_I32));
  Op op = (Op)bound->builtin->data;
  if (shape_elements(x->type.shape) == 0) op = op == OP_REDUCE_MAX ? OP_REDUCE_SUM : OP_REDUCE_PROD;
  Value reduced =
      value_is_error(numbers.values[0]) ? numbers.values[0] : reduce_by(e, &numbers, op);
  return operate_binary(e, AST_NE, reduced, value_int(0), bound->call, bound->call);
}

static Value apply_argument(Elaborator *e, const Bound *bound) {
  Op op = (Op)bound->builtin->data;
  Node *x = reduce_operand(e, bound, op);
  int axis;
  if (!x || !builtins_axis(e, bound, 1, x->type.shape.rank, &axis)) return value_error();
  int64_t axes[] = {axis};
  if (!check_some(e, bound, op, x, 1, axes)) return value_error();
  Attribute attribute = attr_make_int(ATTR_AXIS, axis);
  Node *result = emit_node(e, op, 1, &x, 1, &attribute);
  return value_tensor(e, keep_axes(e, result, x->type.shape, 1, axes, bound->values[2].boolean));
}

/* The operator sorts along the last axis. */
static Value apply_argsort(Elaborator *e, const Bound *bound) {
  Node *x = builtins_tensor(e, bound, 0);
  int axis, rank = x ? x->type.shape.rank : 0;
  if (!x || !builtins_axis(e, bound, 1, rank, &axis)) return value_error();
  Attribute descending = attr_make_int(ATTR_DESCENDING, bound->values[2].boolean);
  Node *last = emit_move_axis(e, x, axis, rank - 1);
  Node *order = emit_node(e, OP_ARGSORT, 1, &last, 1, &descending);
  return value_tensor(e, emit_move_axis(e, order, rank - 1, axis));
}

#define REDUCTION(name, op, doc)                                                                   \
  {                                                                                                \
    name, name "(x: tensor, axis: axes = none, keep: bool = false)", doc, apply_reduce, op,        \
        "reductions"                                                                               \
  }

const Builtin builtins_reduce[] = {
    REDUCTION("sum", OP_REDUCE_SUM,
              "The sum over `axis`, all axes by default; keep leaves them with extent 1. Truth "
              "values count."
              " Example: y = sum(x, axis = -1)"),
    REDUCTION("mean", OP_REDUCE_MEAN,
              "The mean over `axis`; the mean of truth values is f32."
              " Example: y = mean(image, axis = [2, 3])"),
    REDUCTION("prod", OP_REDUCE_PROD,
              "The product over `axis`."
              " Example: y = prod(x, axis = 0)"),
    BUILTIN("reductions", apply_extreme, OP_REDUCE_MAX, "max",
            "x: tensor, axis: any = none, keep: bool = false",
            "The greatest element over `axis`; of two numbers or of a list of numbers the "
            "greatest."
            " Example: y = max(x, axis = -1)"),
    BUILTIN("reductions", apply_extreme, OP_REDUCE_MIN, "min",
            "x: tensor, axis: any = none, keep: bool = false",
            "The least element over `axis`; of two numbers or of a list of numbers the least."
            " Example: y = min(x)"),
    BUILTIN("reductions", apply_truth, OP_REDUCE_MAX, "any",
            "x: tensor, axis: axes = none, keep: bool = false",
            "Whether some element over `axis` is true."
            " Example: y = any(x > 3)"),
    BUILTIN("reductions", apply_truth, OP_REDUCE_MIN, "all",
            "x: tensor, axis: axes = none, keep: bool = false",
            "Whether every element over `axis` is true."
            " Example: y = all(x > -9, axis = 0)"),
    BUILTIN("reductions", apply_argument, OP_ARGMAX, "argmax",
            "x: tensor, axis: int = -1, keep: bool = false",
            "The index of the greatest element along `axis`, the first of equals; i32."
            " Example: digit = argmax(logits)"),
    BUILTIN("reductions", apply_argument, OP_ARGMIN, "argmin",
            "x: tensor, axis: int = -1, keep: bool = false",
            "The index of the least element along `axis`, the first of equals; i32."
            " Example: y = argmin(x, axis = 0)"),
    BUILTIN("reductions", apply_argsort, OP_ARGSORT, "argsort",
            "x: tensor, axis: int = -1, descending: bool = false",
            "The order of the elements along `axis`: argsort(x)[0] is the place of the least. "
            "Equal elements keep their order, NaNs count as greatest; i32."
            " Example: order = argsort(x, descending = true)"),
    {0},
};
