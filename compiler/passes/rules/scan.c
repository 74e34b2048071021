/* Scans: operands that a step need not be handed, results that are known without the loop.
 *
 * An operand that repeats a smaller value is handed over small, and repeated in the step; a
 * constant is in the step. What is yielded and is the same in every step, or an element of a
 * sequence as it is, is not stacked by the loop; and the last of what is yielded and carried is the
 * carry. */
#include "ops/scan.h"
#include "passes/rules/rules.h"

/* ---- operands ----------------------------------------------------------------------------- */

typedef enum Handing { HANDED, INSIDE, SMALL } Handing; /* as it is; a constant; what it repeats */

/* Repeated over the steps, or any invariant that is repeated. */
static Handing find_handing(const ScanShape *shape, const Node *operand, int i) {
  double value;
  if (i < shape->carries) return HANDED;
  if (match_constant(operand, &value)) return INSIDE;
  if (operand->op != OP_BROADCAST) return HANDED;
  const Attribute *axes = node_ints(operand, ATTR_AXES);
  bool has_steps = axes->count > 0 && axes->ints[0] == 0;
  return scan_is_sequence(shape, i) && has_steps ? HANDED : SMALL;
}

typedef struct Handover {
  const Node *scan;
  ScanShape shape;  /* of `scan` */
  Handing *handing; /* by operand */
  int *index;       /* by operand: of its argument afterwards; -1: it has none */
  Node **operands;  /* afterwards */
  int count;
} Handover;

static void hand_over(Handover *h, int i, Node *operand) {
  h->index[i] = h->count;
  h->operands[h->count++] = operand;
}

/* Sequences that stay in front of the invariants; those that do not are among them. */
static int order_operands(Handover *h) {
  int sequences = 0, invariants = h->shape.carries + h->shape.sequences;
  for (int i = 0; i < h->scan->operand_count; i++) h->index[i] = -1;
  for (int i = 0; i < invariants; i++) {
    if (h->handing[i] != HANDED) continue;
    hand_over(h, i, h->scan->operands[i]);
    sequences += scan_is_sequence(&h->shape, i);
  }
  for (int i = h->shape.carries; i < h->scan->operand_count; i++) {
    if (h->handing[i] == SMALL) hand_over(h, i, h->scan->operands[i]->operands[0]);
    if (h->handing[i] == HANDED && i >= invariants) hand_over(h, i, h->scan->operands[i]);
  }
  return sequences;
}

/* What stands for the argument of operand `i` in the new body. */
static Node *new_argument(const Handover *h, const Maker *maker, const Node *argument, int i) {
  const Node *operand = h->scan->operands[i];
  if (h->handing[i] == INSIDE)
    return make_constant(maker, argument->type, node_float(operand, ATTR_VALUE));
  if (h->handing[i] == HANDED) return make_argument(maker, argument->type, h->index[i]);
  Node *small = make_argument(maker, operand->operands[0]->type, h->index[i]);
  const Attribute *list = node_ints(operand, ATTR_AXES);
  int64_t axes[MAX_RANK];
  for (int k = 0; k < list->count; k++) axes[k] = list->ints[k] - scan_is_sequence(&h->shape, i);
  return make_broadcast(maker, small, argument->type.shape, axes);
}

static Graph *new_body(const Handover *h) {
  const Graph *from = h->scan->body;
  Graph *body = graph_create(from->arena, from->name);
  NodeMap map = node_map_create(from->arena, from);
  for (int i = 0; i < from->nodes.count; i++) {
    const Node *node = from->nodes.items[i];
    Maker maker = {body, node->span, node->path};
    bool is_argument = op_info(node->op)->class->leaf == LEAF_ARGUMENT;
    node_map_set(&map, node,
                 is_argument ? new_argument(h, &maker, node, (int)node_int(node, ATTR_INDEX))
                             : graph_copy_node(body, node, &map));
  }
  graph_map_outputs(body, from, &map);
  return body;
}

Node *rule_scan_operands(const Rewrite *rewrite, Node *scan) {
  Arena *arena = scan->body->arena;
  Handover h = {.scan = scan, .shape = scan_shape(scan)};
  bool any = false;
  h.handing = ARENA_ARRAY(arena, Handing, scan->operand_count);
  for (int i = 0; i < scan->operand_count; i++) {
    h.handing[i] = find_handing(&h.shape, scan->operands[i], i);
    any = any || h.handing[i] != HANDED;
  }
  if (!any) return NULL;
  h.index = ARENA_ARRAY(arena, int, scan->operand_count);
  h.operands = ARENA_ARRAY(arena, Node *, scan->operand_count);
  ScanShape shape = h.shape;
  shape.sequences = order_operands(&h);
  return make_scan(&rewrite->maker, new_body(&h), shape, h.count, h.operands);
}

/* ---- results ------------------------------------------------------------------------------ */

/* The operand that the step yields as it is; -1 when it yields something else. */
static int yielded_operand(const Node *value) {
  return value->op == OP_ARGUMENT ? (int)node_int(value, ATTR_INDEX) : -1;
}

Node *rule_scan_yield(const Rewrite *rewrite, Node *node) {
  const Node *scan = node->operands[0];
  ScanShape shape = scan_shape(scan);
  int index = (int)node_int(node, ATTR_INDEX);
  if (index < shape.carries) return NULL;
  const Node *value = scan->body->outputs.items[index].node;
  double constant;
  if (match_constant(value, &constant)) return make_constant(&rewrite->maker, node->type, constant);
  int operand = yielded_operand(value);
  if (operand < shape.carries) return NULL;
  if (scan_is_sequence(&shape, operand)) return scan->operands[operand];
  int64_t axes[MAX_RANK];
  for (int i = 0; i < MAX_RANK; i++) axes[i] = i + 1;
  return make_broadcast(&rewrite->maker, scan->operands[operand], node->type.shape, axes);
}

/* The carry whose next value is what result `index` stacks; -1: there is none. */
static int carried_yield(const Node *scan, int index) {
  int carries = scan_shape(scan).carries;
  const Output *results = scan->body->outputs.items;
  for (int i = 0; i < carries && index >= carries; i++)
    if (results[i].node == results[index].node) return i;
  return -1;
}

/* The stack that is sliced, or transposed before; then *permutation says how, else it is NULL. */
static Node *find_stack(const Node *slice, const Attribute **permutation) {
  Node *stack = slice->operands[0];
  *permutation = stack->op == OP_TRANSPOSE ? node_ints(stack, ATTR_PERMUTATION) : NULL;
  if (*permutation) stack = stack->operands[0];
  return stack->op == OP_SCAN_RESULT ? stack : NULL;
}

static void copy_extents(const Node *slice, AttributeKey key, int64_t *extents) {
  const Attribute *list = node_ints(slice, key);
  for (int i = 0; i < list->count; i++) extents[i] = list->ints[i];
}

/* ys[-1], ys[:, -1] of a transposed one */
Node *rule_slice_last_step(const Rewrite *rewrite, Node *node) {
  const Maker *maker = &rewrite->maker;
  const Attribute *permutation;
  Node *stack = find_stack(node, &permutation);
  int axis = 0;
  int carry = stack ? carried_yield(stack->operands[0], (int)node_int(stack, ATTR_INDEX)) : -1;
  if (carry < 0) return NULL;
  while (permutation && permutation->ints[axis] != 0) axis++;
  ScanShape shape = scan_shape(stack->operands[0]);
  int64_t start[MAX_RANK], stop[MAX_RANK], step[MAX_RANK];
  copy_extents(node, ATTR_START, start);
  copy_extents(node, ATTR_STOP, stop);
  copy_extents(node, ATTR_STEP, step);
  int64_t last = shape.reverse ? 0 : shape.length - 1;
  if (node->type.shape.dim[axis] != 1 || start[axis] != last) return NULL;
  start[axis] = 0;
  stop[axis] = step[axis] = 1;
  Shape one = stack->type.shape;
  one.dim[0] = 1;
  Node *final = make_reshape(maker, make_scan_result(maker, stack->operands[0], carry), one);
  if (permutation) final = make_transpose(maker, final, permutation->ints);
  return make_slice(maker, final, start, stop, step);
}
