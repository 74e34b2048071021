/* classified: which scores rate the classes of an example, and which class is the true one, for `eval --confusion`,
 * --per-class and --wrong.
 *
 * The losses of the library say it of what they are given; a program says it itself where that is not what
 * is meant. Evaluation gives both tensors as results where they are known: an example a row. */
#include "elaborate/builtins/builtins.h"
#include "elaborate/core/emit.h"
#include "elaborate/core/report.h"
#include "support/names.h"

/* Scores [batch, classes] with labels [batch], or of two classes scores [batch] or [batch, 1] with labels of their
 * shape. Where the program says it itself, also scores [batch, places..., classes] with labels [batch, places...]. */
static bool fits(const Elaborator *e, Type scores, Type label, bool is_own) {
  Shape x = scores.shape, y = label.shape;
  int64_t batch = e->trace->single ? 1 : e->module->run.batch;
  if (x.rank < 1 || y.rank < 1 || x.dim[0] != batch || y.dim[0] != batch) return false;
  if (!dtype_is_float(scores.dtype)) return false;
  if (y.rank == x.rank) return x.rank == 1 || (x.rank == 2 && x.dim[1] == 1 && y.dim[1] == 1);
  if (x.rank != y.rank + 1 || (y.rank > 1 && !is_own)) return false;
  for (int i = 0; i < y.rank; i++)
    if (x.dim[i] != y.dim[i]) return false;
  return x.dim[y.rank] >= 2 && dtype_is_int(label.dtype);
}

/* A row for each label. */
static void add_found(Elaborator *e, Classified found, Node *origin, Node *numbers) {
  Type scores = origin->type;
  bool has_classes = found.truth->type.shape.rank < scores.shape.rank;
  int64_t labels = shape_elements(found.truth->type.shape);
  Shape list = {.rank = 1, .dim = {labels}};
  Shape row = {.rank = has_classes ? 2 : 1,
               .dim = {labels, scores.shape.dim[scores.shape.rank - 1]}};
  DType wide = dtype_is_half(scores.dtype) ? DTYPE_F32 : scores.dtype;
  found.scores = emit_reshape(e, emit_cast(e, origin, wide), row);
  found.label = numbers ? emit_reshape(e, numbers, list) : NULL;
  if (found.scores && found.label) vec_push(e->arena, &e->trace->classified, found);
}

/* Class numbers as i32, -1 where an example does not count; of a float whether it is above one half. */
static Node *class_numbers(Elaborator *e, const Bound *bound, Node *label) {
  Value ignore = bound->values[2];
  Type type = label->type;
  Node *numbers = label;
  if (dtype_is_float(type.dtype))
    numbers = emit_binary(e, OP_GT, label, emit_constant(e, 0.5, type));
  numbers = emit_cast(e, numbers, DTYPE_I32);
  if (!numbers || ignore.kind == VALUE_NONE) return numbers;
  Node *ignored = emit_constant(e, value_number(ignore), numbers->type);
  Node *operands[] = {emit_binary(e, OP_EQ, numbers, ignored), emit_constant(e, -1, numbers->type),
                      numbers};
  return operands[0] ? emit_node(e, OP_WHERE, 3, operands, 0, NULL) : NULL;
}

static void refuse(Elaborator *e, const Bound *bound, const Node *scores, const Node *label) {
  Diagnostic *d =
      report_error(e, bound->call,
                   "'classified' needs scores [batch, ..., classes] and class numbers "
                   "[batch, ...], or scores of two classes [batch] with labels of that shape");
  report_note_tensor(e, d, "the first", scores);
  report_note_tensor(e, d, "the second", label);
}

/* What casts, movements and an own gradient were made from. */
static const Node *source_of(const Node *node) {
  while (node->op == OP_CAST || node->op == OP_RESHAPE || node->op == OP_BROADCAST ||
         node->op == OP_OWN_GRADIENT)
    node = node->operands[0];
  return node;
}

/* exp(v) by its sum: what the library's softmax gives. */
static bool is_softmax(const Node *scores) {
  const Node *share = source_of(scores);
  if (share->op != OP_DIV) return false;
  const Node *power = source_of(share->operands[0]), *sum = source_of(share->operands[1]);
  return power->op == OP_EXP && sum->op == OP_REDUCE_SUM && source_of(sum->operands[0]) == power;
}

/* The loss of a softmax of a softmax is a number like others, and what it trains is poor. */
static void warn_of_softmax(Elaborator *e, const Bound *bound, const Node *scores) {
  if (!is_softmax(scores)) return;
  Diagnostic *d = report_warning(e, bound->call, "the scores of this loss are a softmax already");
  diag_help(d, "cross_entropy takes the values before it, logits; nll takes their log_softmax");
}

static Value apply_classified(Elaborator *e, const Bound *bound) {
  Node *scores = builtins_tensor(e, bound, 0), *label = builtins_tensor(e, bound, 1);
  bool is_evaluation = e->trace->entry == ENTRY_EVAL || e->trace->entry == ENTRY_EVAL_ONE;
  bool is_own = !bound->call.file || !bound->call.file->is_prelude;
  if (!scores || !label) return value_error();
  if (!is_own && e->trace->entry == ENTRY_TRAIN) warn_of_softmax(e, bound, scores);
  if (!is_evaluation) return value_none();
  if (!fits(e, scores->type, label->type, is_own)) {
    if (is_own && e->trace->entry == ENTRY_EVAL) refuse(e, bound, scores, label);
    return value_none();
  }
  Classified found = {.origin = scores, .truth = label, .is_own = is_own};
  add_found(e, found, scores, class_numbers(e, bound, label));
  return value_none();
}

/* The number of the only one; -1 where there is none, or several that differ. *count: how many. */
static int choose(const Trace *eval, int64_t *count) {
  int chosen = -1;
  bool has_own = false;
  *count = 0;
  for (int i = 0; i < eval->classified.count; i++)
    has_own = has_own || eval->classified.items[i].is_own;
  for (int i = 0; i < eval->classified.count; i++) {
    const Classified *found = &eval->classified.items[i];
    const Classified *first = chosen >= 0 ? &eval->classified.items[chosen] : NULL;
    if (found->is_own != has_own) continue;
    if (first && first->origin == found->origin && first->truth == found->truth) continue;
    chosen = i;
    ++*count;
  }
  return *count == 1 ? chosen : -1;
}

void builtins_add_classified(Elaborator *e, Trace *eval, Trace *eval_one) {
  Trace *const traces[] = {eval, eval_one};
  int at = choose(eval, &e->module->run.class_losses);
  if (at < 0) return;
  bool are_both = eval_one->classified.count == eval->classified.count;
  const Classified *batch = &eval->classified.items[at];
  const Classified *one = are_both ? &eval_one->classified.items[at] : NULL;
  /* Classes that are the examples of the batch, as a contrastive loss has them, are none. */
  if (!one || batch->scores->type.shape.rank != one->scores->type.shape.rank ||
      (batch->scores->type.shape.rank == 2 &&
       batch->scores->type.shape.dim[1] != one->scores->type.shape.dim[1])) {
    e->module->run.class_losses = 0;
    return;
  }
  for (int i = 0; i < 2; i++) {
    const Classified *found = &traces[i]->classified.items[at];
    emit_own_result(traces[i], name_intern(MODULE_CLASS_SCORES), found->scores);
    emit_own_result(traces[i], name_intern(MODULE_CLASS_LABEL), found->label);
  }
}

const Builtin builtins_classified[] = {
    BUILTIN(
        "compile time", apply_classified, 0, "classified",
        "scores: tensor, label: tensor, ignore: number = none",
        "Says which scores rate the classes, logits or logarithms of probabilities [batch, "
        "classes], and which class is the true one [batch], for `eval --confusion`, --per-class "
        "and --wrong; of two classes also one logit and a label for each example, of words and "
        "pixels [batch, ..., classes] and [batch, ...]. Without it "
        "they are those of the only cross_entropy, nll or binary_cross_entropy whose labels are "
        "[batch]. "
        "A label that is `ignore` does not count."
        " Example: _ = classified(logits, label)"),
    {0},
};
