/* All steps at once: see all_steps.h.
 *
 * An operator keeps its meaning with the steps as one more axis in front. Where an operator needs
 * all operands alike, one that is the same in every step is repeated along it. In a contraction the
 * steps are a further free axis of one side, or paired between both; in a convolution and in a
 * table look-up they join the examples. */
#include "passes/rules/rules.h"

#include "ops/op.h"
#include "support/panic.h"

typedef struct Steps {
  const Maker *maker;
  const Node *node;
  int64_t length;
  Node *const *operands;
  const bool *stacked;
} Steps;

static Shape with_steps(int64_t length, Shape shape) {
  for (int i = shape.rank++; i > 0; i--) shape.dim[i] = shape.dim[i - 1];
  shape.dim[0] = length;
  return shape;
}

static Shape result_shape(const Steps *s) { return with_steps(s->length, s->node->type.shape); }

static Node *spread(const Steps *s, int operand) {
  Node *x = s->operands[operand];
  int64_t axes[MAX_RANK];
  if (s->stacked[operand]) return x;
  for (int i = 0; i < x->type.shape.rank; i++) axes[i] = i + 1;
  return make_broadcast(s->maker, x, with_steps(s->length, x->type.shape), axes);
}

/* Axes of a list, each one further; `first`: those in front of them. */
static int shift(const Attribute *list, int first, int64_t *axes) {
  for (int i = 0; i < list->count; i++) axes[first + i] = list->ints[i] + 1;
  return first + list->count;
}

/* A list of extents with that of the steps in front. */
static void put_first(const Attribute *list, int64_t first, int64_t *values) {
  values[0] = first;
  for (int i = 0; i < list->count; i++) values[i + 1] = list->ints[i];
}

/* ---- the operators ------------------------------------------------------------------------ */

static Node *elementwise(const Steps *s) {
  Node **operands = ARENA_ARRAY(s->maker->graph->arena, Node *, s->node->operand_count);
  for (int i = 0; i < s->node->operand_count; i++) operands[i] = spread(s, i);
  return make_node(s->maker, s->node->op, s->node->operand_count, operands,
                   s->node->attribute_count, s->node->attributes);
}

static Node *reshape(const Steps *s) {
  return make_reshape(s->maker, s->operands[0], result_shape(s));
}

static Node *transpose(const Steps *s) {
  int64_t permutation[MAX_RANK] = {0};
  shift(node_ints(s->node, ATTR_PERMUTATION), 1, permutation);
  return make_transpose(s->maker, s->operands[0], permutation);
}

static Node *broadcast(const Steps *s) {
  int64_t axes[MAX_RANK] = {0};
  shift(node_ints(s->node, ATTR_AXES), 1, axes);
  return make_broadcast(s->maker, s->operands[0], result_shape(s), axes);
}

static Node *slice(const Steps *s) {
  int64_t start[MAX_RANK], stop[MAX_RANK], step[MAX_RANK];
  put_first(node_ints(s->node, ATTR_START), 0, start);
  put_first(node_ints(s->node, ATTR_STOP), s->length, stop);
  put_first(node_ints(s->node, ATTR_STEP), 1, step);
  return make_slice(s->maker, s->operands[0], start, stop, step);
}

static Node *pad(const Steps *s) {
  int64_t low[MAX_RANK], high[MAX_RANK], step[MAX_RANK];
  put_first(node_ints(s->node, ATTR_LOW), 0, low);
  put_first(node_ints(s->node, ATTR_HIGH), 0, high);
  put_first(node_ints(s->node, ATTR_STEP), 1, step);
  return make_pad(s->maker, s->operands[0], low, high, step, node_float(s->node, ATTR_VALUE));
}

static Node *concat(const Steps *s) {
  Node **parts = ARENA_ARRAY(s->maker->graph->arena, Node *, s->node->operand_count);
  for (int i = 0; i < s->node->operand_count; i++) parts[i] = spread(s, i);
  int axis = (int)node_int(s->node, ATTR_AXIS) + 1;
  return make_concat(s->maker, s->node->operand_count, parts, axis);
}

static Node *reduction(const Steps *s) {
  int64_t axes[MAX_RANK];
  int count = shift(node_ints(s->node, ATTR_AXES), 0, axes);
  return make_reduce(s->maker, s->node->op, s->operands[0], count, axes);
}

static Node *best(const Steps *s) {
  return make_arg(s->maker, s->node->op, s->operands[0], (int)node_int(s->node, ATTR_AXIS) + 1);
}

static Node *pick(const Steps *s) {
  Node *x = spread(s, 0), *index = spread(s, 1);
  return make_pick(s->maker, x, index, (int)node_int(s->node, ATTR_AXIS) + 1);
}

/* The index has the steps in front, and so has the result. */
static Node *gather(const Steps *s) {
  return make_gather(s->maker, s->operands[0], s->operands[1]);
}

static int side_axes(const Steps *s, int side, AttributeKey key, bool pairs, int64_t *axes) {
  const Attribute *list = node_ints(s->node, key);
  axes[0] = 0;
  if (s->stacked[side]) return shift(list, pairs, axes);
  for (int i = 0; i < list->count; i++) axes[i] = list->ints[i];
  return list->count;
}

/* Result axes: batch, free of the left, free of the right; the steps are the first of theirs. */
static Node *contraction(const Steps *s) {
  ContractAxes axes;
  bool pairs = s->stacked[0] && s->stacked[1];
  axes.batch_count = side_axes(s, 0, ATTR_BATCH_LEFT, pairs, axes.batch_left);
  side_axes(s, 1, ATTR_BATCH_RIGHT, pairs, axes.batch_right);
  axes.sum_count = side_axes(s, 0, ATTR_SUM_LEFT, false, axes.sum_left);
  side_axes(s, 1, ATTR_SUM_RIGHT, false, axes.sum_right);
  Node *result = make_contract(s->maker, s->operands[0], s->operands[1], &axes);
  int free_left = s->operands[0]->type.shape.rank - axes.batch_count - axes.sum_count;
  int at = pairs ? 0 : s->stacked[0] ? axes.batch_count : axes.batch_count + free_left;
  int64_t permutation[MAX_RANK] = {at};
  for (int i = 0, next = 1; i < result->type.shape.rank; i++)
    if (i != at) permutation[next++] = i;
  return make_transpose(s->maker, result, permutation);
}

/* x: [length, n, ...] as [length * n, ...] */
static Node *convolution(const Steps *s) {
  Shape x = s->node->operands[0]->type.shape;
  x.dim[0] *= s->length;
  Node *examples = make_reshape(s->maker, s->operands[0], x);
  Node *result = make_like(s->maker, s->node->op, examples, s->operands[1], s->node, NULL);
  return make_reshape(s->maker, result, result_shape(s));
}

/* ---- the table ---------------------------------------------------------------------------- */

typedef struct Entry {
  Op op;
  Node *(*make)(const Steps *steps);
  bool (*fits)(const bool *stacked); /* NULL: whichever operands are stacks */
} Entry;

static bool index_alone(const bool *stacked) { return !stacked[0] && stacked[1]; }
static bool input_alone(const bool *stacked) { return stacked[0] && !stacked[1]; }

static const Entry entries[] = {
    {OP_RESHAPE, reshape, NULL},
    {OP_TRANSPOSE, transpose, NULL},
    {OP_BROADCAST, broadcast, NULL},
    {OP_SLICE, slice, NULL},
    {OP_PAD, pad, NULL},
    {OP_CONCAT, concat, NULL},
    {OP_REDUCE_SUM, reduction, NULL},
    {OP_REDUCE_MEAN, reduction, NULL},
    {OP_REDUCE_MAX, reduction, NULL},
    {OP_REDUCE_MIN, reduction, NULL},
    {OP_REDUCE_PROD, reduction, NULL},
    {OP_ARGMAX, best, NULL},
    {OP_ARGMIN, best, NULL},
    {OP_CONTRACT, contraction, NULL},
    {OP_CONV, convolution, input_alone},
    {OP_GATHER, gather, index_alone},
    {OP_PICK, pick, NULL},
};

static const Entry *find_entry(Op op) {
  static const Entry plain = {OP_COUNT, elementwise, NULL};
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
    if (entries[i].op == op) return &entries[i];
  return op_is_elementwise(op) ? &plain : NULL;
}

static bool can_stack(Type type, int64_t length) {
  return type.shape.rank < MAX_RANK &&
         (double)shape_elements(type.shape) * (double)length <= (double)MAX_ELEMENTS;
}

bool all_steps_can(const Node *node, int64_t length, const bool *stacked) {
  const Entry *entry = find_entry(node->op);
  if (!entry || (entry->fits && !entry->fits(stacked)) || !can_stack(node->type, length))
    return false;
  for (int i = 0; i < node->operand_count; i++)
    if (!can_stack(node->operands[i]->type, length)) return false;
  return true;
}

Node *all_steps_make(const Maker *maker, const Node *node, int64_t length, Node *const *operands,
                     const bool *stacked) {
  const Entry *entry = find_entry(node->op);
  if (!entry) panic("%s (%s) has no form for all steps", op_info(node->op)->name, node->path);
  Steps steps = {maker, node, length, operands, stacked};
  return entry->make(&steps);
}
