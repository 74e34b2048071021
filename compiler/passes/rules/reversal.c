/* Reversals: see reversal.h.
 *
 * A slice of every element along each axis, with steps of 1 and -1, is a reversal. Two of them, and
 * two around a transposition, are one. */

#include "passes/rules/rules.h"

bool reversal_match(const Node *node, bool axes[MAX_RANK]) {
  bool any = false;
  if (node->op != OP_SLICE || !shape_equal(node->type.shape, node->operands[0]->type.shape))
    return false;
  const Attribute *step = node_ints(node, ATTR_STEP);
  for (int i = 0; i < step->count; i++) {
    axes[i] = step->ints[i] < 0 && node->type.shape.dim[i] > 1;
    any = any || axes[i];
  }
  return any;
}

Node *reversal_make(const Maker *maker, Node *x, const bool axes[MAX_RANK]) {
  int64_t start[MAX_RANK], stop[MAX_RANK], step[MAX_RANK];
  for (int i = 0; i < x->type.shape.rank; i++) {
    int64_t extent = x->type.shape.dim[i];
    start[i] = axes[i] ? extent - 1 : 0;
    stop[i] = axes[i] ? -1 : extent;
    step[i] = axes[i] ? -1 : 1;
  }
  return make_slice(maker, x, start, stop, step);
}

/* The reversal that `node` is, or transposes; then *permutation says how, else it is NULL. */
static const Node *find_reversal(const Node *node, bool axes[MAX_RANK],
                                 const Attribute **permutation) {
  bool transposes = node->op == OP_TRANSPOSE;
  *permutation = transposes ? node_ints(node, ATTR_PERMUTATION) : NULL;
  if (transposes) node = node->operands[0];
  return reversal_match(node, axes) ? node : NULL;
}

/* The same with the axes that `more` marks, of the result, reversed once more. */
static Node *reverse_more(const Maker *maker, const Node *reversal, bool axes[MAX_RANK],
                          const Attribute *permutation, const bool *more) {
  for (int i = 0; i < reversal->type.shape.rank; i++)
    if (more[i]) axes[permutation ? permutation->ints[i] : i] ^= true;
  Node *result = reversal_make(maker, reversal->operands[0], axes);
  return permutation ? make_transpose(maker, result, permutation->ints) : result;
}

Node *rule_slice_reversal(const Rewrite *rewrite, Node *node) {
  bool outer[MAX_RANK], inner[MAX_RANK];
  const Attribute *permutation;
  if (!reversal_match(node, outer)) return NULL;
  const Node *reversal = find_reversal(node->operands[0], inner, &permutation);
  return reversal ? reverse_more(&rewrite->maker, reversal, inner, permutation, outer) : NULL;
}

bool reversal_is_seen(const Node *sequence) {
  bool axes[MAX_RANK];
  const Attribute *permutation;
  return find_reversal(sequence, axes, &permutation) &&
         axes[permutation ? permutation->ints[0] : 0];
}

Node *reversal_source(const Maker *maker, const Node *sequence) {
  static const bool steps[MAX_RANK] = {true};
  bool axes[MAX_RANK];
  const Attribute *permutation;
  const Node *reversal = find_reversal(sequence, axes, &permutation);
  return reverse_more(maker, reversal, axes, permutation, steps);
}
