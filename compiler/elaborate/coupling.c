/* Values that take part of a batch only.
 *
 * A metric of a data set is joined from what its reductions give for each batch. That is exact
 * where what is reduced belongs to single examples, and wrong where it depends on another
 * reduction over the batch, as the outer mean of mean((x - mean(x)) ^ 2) does, or on how many
 * examples a batch has. Which reductions run over the batch is seen from two elaborations, with a
 * batch and with a batch of one: their operand has `batch` times as many elements, their result as
 * many.
 *
 * Nor can batches be joined where examples meet in pairs, as in a @ b.T, a similarity of each with
 * each: such an operator has batch^2 times as much to do. */
#include "elaborate/train.h"

#include "ops/op.h"

static bool is_simple_movement(const Node *node) {
  return op_info(node->op)->class->family == FAMILY_MOVEMENT && node->operand_count == 1;
}

/* For each node that `root` depends on its counterpart; NULL where the graphs differ. With a batch
 * of one some reshapes and broadcasts are not there. */
static const Node **find_counterparts(Arena *arena, const Graph *graph, const Node *root,
                                      const Node *single_root) {
  const Node **single = ARENA_ARRAY(arena, const Node *, graph->next_id);
  single[root->id] = single_root;
  for (int i = root->id; i >= 0; i--) {
    const Node *node = graph->nodes.items[i], *other = single[node->id];
    if (!other) continue;
    while (other->op != node->op && is_simple_movement(other)) other = other->operands[0];
    single[node->id] = other;
    if (other->op != node->op) {
      if (is_simple_movement(node)) single[node->operands[0]->id] = other;
      continue;
    }
    for (int k = 0; k < node->operand_count && node->operand_count == other->operand_count; k++)
      single[node->operands[k]->id] = other->operands[k];
  }
  return single;
}

static bool is_times(const Node *node, const Node *single, int64_t factor) {
  return shape_elements(node->type.shape) == factor * shape_elements(single->type.shape);
}

static bool reduces_batch(const Node *node, const Node *single, int64_t batch) {
  if (!single || single->op != node->op || !is_times(node, single, 1)) return false;
  OpFamily family = op_info(node->op)->class->family;
  if (family != FAMILY_REDUCTION && family != FAMILY_CONTRACTION) return false;
  for (int k = 0; k < node->operand_count; k++)
    if (!is_times(node->operands[k], single->operands[k], batch)) return false;
  return true;
}

/* Elements of the result, times those that a contraction sums for each. */
static int64_t iterations(const Node *node) {
  int64_t count = shape_elements(node->type.shape);
  if (node->op != OP_CONTRACT) return count;
  const Attribute *sum = node_ints(node, ATTR_SUM_LEFT);
  for (int i = 0; i < sum->count; i++) count *= node->operands[0]->type.shape.dim[sum->ints[i]];
  return count;
}

static bool pairs_examples(const Node *node, const Node *single, int64_t batch) {
  if (!single || single->op != node->op || iterations(single) == 0) return false;
  return iterations(node) == batch * batch * iterations(single);
}

/* A number made of the batch's size: 1 / n in the gradient of a mean. */
static bool is_batch_size(const Node *node, const Node *single) {
  return single && node->op == OP_CONSTANT && single->op == OP_CONSTANT &&
         node_float(node, ATTR_VALUE) != node_float(single, ATTR_VALUE);
}

/* What joins the examples in the steps of a scan. */
static Coupling couples_in_body(Arena *arena, const Node *scan, const Node *single,
                                int64_t batch) {
  if (!scan->body || !single || !single->body) return (Coupling){0};
  int count = scan->body->outputs.count, single_count = single->body->outputs.count;
  for (int i = 0; i < count && i < single_count; i++) {
    const Node *root = scan->body->outputs.items[i].node;
    const Node *other = single->body->outputs.items[i].node;
    const Coupling *inside = find_coupling(arena, scan->body, root, other, batch);
    if (reduces_batch(root, other, batch)) return (Coupling){root, false};
    if (inside[root->id].by) return inside[root->id];
  }
  return (Coupling){0};
}

const Coupling *find_coupling(Arena *arena, const Graph *graph, const Node *root,
                              const Node *single_root, int64_t batch) {
  Coupling *coupling = ARENA_ARRAY(arena, Coupling, graph->next_id);
  if (batch == 1) return coupling;
  const Node **single = find_counterparts(arena, graph, root, single_root);
  for (int i = 0; i <= root->id; i++) {
    const Node *node = graph->nodes.items[i];
    Coupling *c = &coupling[node->id];
    *c = couples_in_body(arena, node, single[node->id], batch);
    if (!c->by && pairs_examples(node, single[node->id], batch)) *c = (Coupling){node, true};
    for (int k = 0; k < node->operand_count && !c->by; k++) {
      const Node *operand = node->operands[k];
      *c = coupling[operand->id];
      if (c->by) continue;
      if (reduces_batch(operand, single[operand->id], batch) ||
          is_batch_size(operand, single[operand->id]))
        *c = (Coupling){operand, false};
    }
  }
  return coupling;
}
