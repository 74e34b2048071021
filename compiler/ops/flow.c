/* The flow of examples: flow.h. */
#include "ops/flow.h"

#include "ops/op.h"
#include "ops/scan.h"

/* ---- axes ---------------------------------------------------------------------------------- */

static bool divides(int64_t pieces, Type type, int axis) {
  return axis < type.shape.rank && type.shape.dim[axis] % pieces == 0;
}

static bool axis_fits(const Node *node, int64_t pieces, int axis,
                      bool (*fits)(const void *state, int operand, int axis), const void *state) {
  const OpClass *class = op_info(node->op)->class;
  if (axis < node->type.shape.rank && !divides(pieces, node->type, axis)) return false;
  for (int k = 0; k < node->operand_count; k++) {
    int cut = class->cut(node, axis, k);
    if (cut == AXIS_UNCUT || !fits(state, k, cut)) return false;
    if (cut >= 0 && !divides(pieces, node->operands[k]->type, cut)) return false;
  }
  return true;
}

int loop_find_axis(const Node *node, int64_t pieces,
                   bool (*fits)(const void *state, int operand, int axis), const void *state) {
  if (!op_info(node->op)->class->cut) return -1;
  for (int axis = 0; axis < node->type.shape.rank + MAX_RANK; axis++)
    if (axis_fits(node, pieces, axis, fits, state)) return axis;
  return -1;
}

/* ---- the analysis of one graph ------------------------------------------------------------- */

typedef struct Analysis {
  Arena *arena;
  const Graph *graph;
  int64_t batch;
  const Node *const *single; /* by id; or NULL */
  const Flow *arguments;     /* of a body: by index */
  Flow *flow;                /* by id */
  const Flow **results;      /* of scans, by id */
} Analysis;

static Flow flow_none(uint32_t alike) { return (Flow){.kind = FLOW_NONE, .alike = alike}; }

static Flow flow_separate(int axis) { return (Flow){.kind = FLOW_SEPARATE, .axis = axis}; }

static Flow flow_mixed(FlowCause cause, const Node *by) {
  return (Flow){.kind = FLOW_MIXED, .cause = cause, .by = by};
}

static const Node *counterpart(const Analysis *a, const Node *node) {
  return a->single ? a->single[node->id] : NULL;
}

/* The axis that is `batch` times as long as with a batch of one; -1: none. */
static int find_batch_axis(const Analysis *a, const Node *node) {
  const Node *single = counterpart(a, node);
  Shape shape = node->type.shape;
  if (op_info(node->op)->class->leaf == LEAF_INPUT && (!single || single->op != node->op))
    return shape.rank > 0 && shape.dim[0] == a->batch ? 0 : -1;
  if (!single || single->type.shape.rank != shape.rank) return -1;
  int found = -1;
  for (int i = 0; i < shape.rank; i++) {
    if (shape.dim[i] == single->type.shape.dim[i]) continue;
    bool is_times =
        shape.dim[i] % a->batch == 0 && shape.dim[i] / a->batch == single->type.shape.dim[i];
    if (found >= 0 || !is_times) return -1;
    found = i;
  }
  return found;
}

static uint32_t all_axes(const Analysis *a, Type type) {
  uint32_t alike = 0;
  for (int i = 0; i < type.shape.rank; i++)
    if (divides(a->batch, type, i)) alike |= 1u << i;
  return alike;
}

/* Random numbers of an axis for the batch are each example's own. */
static Flow flow_leaf(const Analysis *a, const Node *node) {
  const OpClass *class = op_info(node->op)->class;
  int axis = find_batch_axis(a, node);
  if (class->leaf == LEAF_ARGUMENT)
    return a->arguments ? a->arguments[node_int(node, ATTR_INDEX)] : flow_none(0);
  if (class->leaf == LEAF_CONSTANT) {
    const Node *single = counterpart(a, node);
    bool is_sized = single && single->op == node->op &&
                    node_float(node, ATTR_VALUE) != node_float(single, ATTR_VALUE);
    if (is_sized) return (Flow){.kind = FLOW_SIZED, .cause = CAUSE_SIZE, .by = node};
    return axis >= 0 ? flow_separate(axis) : flow_none(all_axes(a, node->type));
  }
  if (class->leaf != LEAF_NONE || class->draw)
    return axis >= 0 ? flow_separate(axis) : flow_none(0);
  const Attribute *counted = node_attribute(node, ATTR_AXIS);
  if (!counted) return flow_none(0);
  if (axis >= 0 && axis == counted->integer)
    return (Flow){.kind = FLOW_SIZED, .cause = CAUSE_PLACE, .by = node};
  if (axis >= 0) return flow_separate(axis);
  return flow_none(all_axes(a, node->type) & ~(1u << counted->integer));
}

/* ---- operators ----------------------------------------------------------------------------- */

typedef struct Fitting {
  const Analysis *analysis;
  const Node *node;
  bool places_count; /* what differs from piece to piece does not fit */
  int only;          /* operand that alone is looked at; -1: all are */
} Fitting;

static bool piece_fits(const void *state, int operand, int axis) {
  const Fitting *fitting = state;
  const Flow *flow = &fitting->analysis->flow[fitting->node->operands[operand]->id];
  if (fitting->only >= 0 && operand != fitting->only) return true;
  if (flow->kind == FLOW_SEPARATE) return axis == flow->axis;
  return axis == AXIS_WHOLE || !fitting->places_count || (flow->alike >> axis & 1);
}

static bool axis_is_alike(const Analysis *a, const Node *node, int axis) {
  Fitting fitting = {a, node, true, -1};
  return op_info(node->op)->class->cut && axis_fits(node, a->batch, axis, piece_fits, &fitting);
}

/* Of a node that no example decides. Where it has an axis for the batch, each example has a piece of
 * its own there. */
static Flow flow_constant(const Analysis *a, const Node *node) {
  uint32_t alike = 0;
  for (int i = 0; i < node->type.shape.rank; i++)
    if (axis_is_alike(a, node, i)) alike |= 1u << i;
  int axis = find_batch_axis(a, node);
  return axis >= 0 && (alike >> axis & 1) ? flow_separate(axis) : flow_none(alike);
}

static bool is_reduction(const Node *node) {
  return op_info(node->op)->class->family == FAMILY_REDUCTION;
}

/* Each operand with examples could be cut along their axis, but not all along one of the result. */
static bool meets_in_pairs(const Analysis *a, const Node *node) {
  int count = 0;
  for (int k = 0; k < node->operand_count; k++) {
    if (a->flow[node->operands[k]->id].kind != FLOW_SEPARATE) continue;
    Fitting fitting = {a, node, false, k};
    if (loop_find_axis(node, a->batch, piece_fits, &fitting) < 0) return false;
    count++;
  }
  return count > 1;
}

/* Why no axis of the node's loop follows the examples. */
static Flow explain_mixing(const Analysis *a, const Node *node) {
  Fitting anywhere = {a, node, false, -1};
  if (loop_find_axis(node, a->batch, piece_fits, &anywhere) >= 0)
    for (int k = 0; k < node->operand_count; k++)
      if (a->flow[node->operands[k]->id].kind == FLOW_NONE)
        return flow_mixed(CAUSE_PLACE, node->operands[k]);
  return flow_mixed(meets_in_pairs(a, node) ? CAUSE_PAIRS : CAUSE_MOVED, node);
}

/* Of a node some operands of which belong to single examples; the others no example decides. */
static Flow flow_examples(const Analysis *a, const Node *node) {
  Fitting fitting = {a, node, true, -1};
  int axis = loop_find_axis(node, a->batch, piece_fits, &fitting);
  if (axis >= 0 && axis < node->type.shape.rank) return flow_separate(axis);
  if (axis >= 0 || is_reduction(node)) return (Flow){.kind = FLOW_JOINED, .by = node};
  return explain_mixing(a, node);
}

static Flow flow_operator(const Analysis *a, const Node *node) {
  const Flow *first[FLOW_MIXED + 1] = {NULL}; /* of each kind, among the operands */
  for (int k = 0; k < node->operand_count; k++) {
    const Flow *flow = &a->flow[node->operands[k]->id];
    if (!first[flow->kind]) first[flow->kind] = flow;
  }
  if (first[FLOW_MIXED]) return *first[FLOW_MIXED];
  if (first[FLOW_SEPARATE] && first[FLOW_JOINED])
    return flow_mixed(CAUSE_JOINED, first[FLOW_JOINED]->by);
  if (first[FLOW_SEPARATE] && first[FLOW_SIZED])
    return flow_mixed(first[FLOW_SIZED]->cause, first[FLOW_SIZED]->by);
  if (first[FLOW_SEPARATE]) return flow_examples(a, node);
  if (first[FLOW_JOINED]) return *first[FLOW_JOINED];
  if (first[FLOW_SIZED]) return *first[FLOW_SIZED];
  return flow_constant(a, node);
}

/* ---- scans --------------------------------------------------------------------------------- */

static bool same_flow(const Flow *x, const Flow *y) {
  return x->kind == y->kind && (x->kind != FLOW_SEPARATE || x->axis == y->axis) &&
         (x->kind != FLOW_NONE || x->alike == y->alike);
}

/* What holds of a carry before the first step and of one after a step. */
static Flow join_flows(Flow x, Flow y, const Node *scan) {
  if (x.kind > y.kind) return join_flows(y, x, scan);
  if (y.kind == FLOW_MIXED) return y;
  if (y.kind == FLOW_NONE) return flow_none(x.alike & y.alike);
  if (y.kind != FLOW_SEPARATE) {
    return x.kind == FLOW_SEPARATE ? flow_mixed(CAUSE_JOINED, y.by) : y;
  }
  if (x.kind == FLOW_SIZED) return flow_mixed(x.cause, x.by);
  if (x.kind == FLOW_NONE) return x.alike >> y.axis & 1 ? y : flow_mixed(CAUSE_PLACE, scan);
  return x.axis == y.axis ? y : flow_mixed(CAUSE_MOVED, scan);
}

/* An element of a sequence; the steps lie along its first axis. */
static Flow flow_element(Flow sequence, const Node *scan) {
  if (sequence.kind == FLOW_SEPARATE && sequence.axis == 0) return flow_mixed(CAUSE_MOVED, scan);
  sequence.axis--;
  sequence.alike >>= 1;
  return sequence;
}

static Flow flow_stacked(Flow yielded) {
  yielded.axis++;
  yielded.alike <<= 1;
  return yielded;
}

static const Flow *flow_graph(Arena *arena, const Graph *graph, int64_t batch,
                              const Node *const *single, const Flow *arguments);

static const Node **body_counterparts(const Analysis *a, const Node *scan) {
  const Node *single = counterpart(a, scan);
  const Graph *body = scan->body;
  int count = body->outputs.count;
  if (!single || !single->body || single->body->outputs.count != count) count = 0;
  Node **roots = ARENA_ARRAY(a->arena, Node *, count + 1);
  Node **others = ARENA_ARRAY(a->arena, Node *, count + 1);
  for (int i = 0; i < count; i++) {
    roots[i] = body->outputs.items[i].node;
    others[i] = single->body->outputs.items[i].node;
  }
  return counterparts_find(a->arena, body, count, roots, others);
}

/* The results of a scan. Carries go from step to step until nothing changes any more; what holds of
 * one only gets less, so that ends. */
static const Flow *flow_scan(const Analysis *a, const Node *scan) {
  ScanShape shape = scan_shape(scan);
  const Node *const *single = body_counterparts(a, scan);
  Flow *arguments = ARENA_ARRAY(a->arena, Flow, scan->operand_count + 1);
  for (int k = 0; k < scan->operand_count; k++) {
    arguments[k] = a->flow[scan->operands[k]->id];
    if (scan_is_sequence(&shape, k)) arguments[k] = flow_element(arguments[k], scan);
  }
  const Flow *body = NULL;
  for (bool changes = true; changes;) {
    changes = false;
    body = flow_graph(a->arena, scan->body, a->batch, single, arguments);
    for (int k = 0; k < shape.carries; k++) {
      Flow next = join_flows(arguments[k], body[scan->body->outputs.items[k].node->id], scan);
      changes = changes || !same_flow(&next, &arguments[k]);
      arguments[k] = next;
    }
  }
  int count = scan_result_count(scan);
  Flow *results = ARENA_ARRAY(a->arena, Flow, count + 1);
  for (int i = 0; i < count; i++)
    results[i] = i < shape.carries ? arguments[i]
                                   : flow_stacked(body[scan->body->outputs.items[i].node->id]);
  return results;
}

/* ---- all nodes ----------------------------------------------------------------------------- */

static Flow flow_node(Analysis *a, const Node *node) {
  const OpClass *class = op_info(node->op)->class;
  if (node_is_scan_result(node))
    return a->results[node->operands[0]->id][node_int(node, ATTR_INDEX)];
  if (class->owns_body) {
    a->results[node->id] = flow_scan(a, node);
    return flow_none(0); /* a token */
  }
  if (class->is_alias) return a->flow[node->operands[0]->id];
  return node->operand_count == 0 ? flow_leaf(a, node) : flow_operator(a, node);
}

static const Flow *flow_graph(Arena *arena, const Graph *graph, int64_t batch,
                              const Node *const *single, const Flow *arguments) {
  Analysis a = {arena,
                graph,
                batch,
                single,
                arguments,
                ARENA_ARRAY(arena, Flow, graph->next_id + 1),
                ARENA_ARRAY(arena, const Flow *, graph->next_id + 1)};
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    a.flow[node->id] = flow_node(&a, node);
  }
  return a.flow;
}

/* In a batch of one: whether an input decides a node. */
static const Flow *flow_of_one(Arena *arena, const Graph *graph) {
  Flow *flow = ARENA_ARRAY(arena, Flow, graph->next_id + 1);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    const OpClass *class = op_info(node->op)->class;
    if (class->leaf == LEAF_INPUT || class->draw) flow[node->id].kind = FLOW_SEPARATE;
    for (int k = 0; k < node->operand_count; k++)
      if (flow[node->operands[k]->id].kind) flow[node->id].kind = FLOW_SEPARATE;
  }
  return flow;
}

const Flow *flow_find(Arena *arena, const Graph *graph, int64_t batch, const Node *const *single) {
  return batch == 1 ? flow_of_one(arena, graph) : flow_graph(arena, graph, batch, single, NULL);
}
