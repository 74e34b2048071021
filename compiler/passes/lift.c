/* lift: work leaves the bodies of scans where the steps do not need each other for it.
 *
 * What is the same in every step is computed once before the loop, if that takes less memory than
 * it stands on or many operations an element. What a step computes from its elements of sequences
 * and from nothing that is carried, and is expensive (a contraction, a convolution, a reduction), is
 * computed for all steps at once and read row by row: `x_t @ w` is one product. That needs memory for
 * all steps, which a gradient would keep anyway; nothing is lifted that has more than MOST_GROWTH
 * times the bytes of what it is made of. Movement and cheap elementwise work on top of what is
 * lifted stays in the step. Inner bodies come first, so work climbs through several.
 *
 * Before: anything. After: the same values; operands that no body reads any more may be left. */
#include "ops/op.h"
#include "ops/scan.h"
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "passes/rules/rules.h"

/* Bytes of a step's value for each byte of its largest operand that is different in each step. */
#define MOST_GROWTH 8
/* What an element of a costly operator stands for, in operations. */
#define COSTLY_OPERATIONS 16

/* How a value of a body depends on the step. */
typedef enum Dependence {
  BOUND, /* on the steps before; or it cannot be computed for all at once */
  APART, /* on the step's elements of sequences */
  SAME   /* not at all */
} Dependence;

typedef struct Lift {
  Graph *into;      /* that holds the scan */
  NodeMap *outer;   /* from the graph that is rewritten to `into` */
  const Node *scan; /* in that graph */
  ScanShape shape;
  const Graph *body;        /* lifted inside already */
  Dependence *dependence;   /* by id in the body */
  double *work, *stands_on; /* of what is SAME: operations; bytes of its largest leaf */
  bool *needed;             /* by a step, if only as an argument */
  bool *lifted, *moved;     /* replaced by an argument; computed outside */
  NodeMap outside;          /* of the body: what was moved, and arguments */
} Lift;

static Graph *lift_graph(const Graph *graph);

static bool is_argument(const Node *node) {
  return op_info(node->op)->class->leaf == LEAF_ARGUMENT;
}

/* ---- what depends on what ----------------------------------------------------------------- */

static Dependence argument_dependence(const Lift *lift, const Node *argument) {
  int index = (int)node_int(argument, ATTR_INDEX);
  if (index < lift->shape.carries) return BOUND;
  return index < lift->shape.carries + lift->shape.sequences ? APART : SAME;
}

static bool grows_too_much(const Lift *lift, const Node *node) {
  int64_t largest = 0;
  for (int i = 0; i < node->operand_count; i++) {
    int64_t bytes = type_bytes(node->operands[i]->type);
    bool differs = lift->dependence[node->operands[i]->id] == APART;
    if (differs && bytes > largest) largest = bytes;
  }
  return type_bytes(node->type) > MOST_GROWTH * largest;
}

static Dependence find_dependence(const Lift *lift, const Node *node) {
  bool *stacked = ARENA_ARRAY(lift->into->arena, bool, node->operand_count);
  Dependence least = SAME;
  if (is_argument(node)) return argument_dependence(lift, node);
  for (int i = 0; i < node->operand_count; i++) {
    Dependence operand = lift->dependence[node->operands[i]->id];
    stacked[i] = operand == APART;
    if (operand < least) least = operand;
  }
  if (least != APART) return least;
  if (!all_steps_can(node, lift->shape.length, stacked)) return BOUND;
  return node_is_expensive(node) && grows_too_much(lift, node) ? BOUND : APART;
}

static void weigh(Lift *lift, const Node *node) {
  double elements = (double)shape_elements(node->type.shape);
  double work = node_cost(node).flops, leaf = 0;
  if (op_info(node->op)->class->is_costly) work = COSTLY_OPERATIONS * elements;
  if (is_argument(node)) leaf = (double)type_bytes(node->type);
  for (int i = 0; i < node->operand_count; i++) {
    int id = node->operands[i]->id;
    work += lift->work[id];
    if (lift->stands_on[id] > leaf) leaf = lift->stands_on[id];
  }
  lift->work[node->id] = work;
  lift->stands_on[node->id] = leaf;
}

/* ---- what is lifted ----------------------------------------------------------------------- */

static bool is_worth_once(const Lift *lift, const Node *node) {
  if (node->body) return false;
  if (node_is_scan_result(node) || node_is_expensive(node)) return true;
  double work = lift->work[node->id], elements = (double)shape_elements(node->type.shape);
  if (node_cost(node).flops == 0 && !op_is_elementwise(node->op)) return false;
  return work >= COSTLY_OPERATIONS * elements ||
         (double)type_bytes(node->type) <= lift->stands_on[node->id];
}

static bool is_lifted(const Lift *lift, const Node *node) {
  switch (lift->dependence[node->id]) {
  case SAME: return node->operand_count > 0 && is_worth_once(lift, node);
  case APART: return !is_argument(node) && node_is_expensive(node);
  case BOUND: break;
  }
  return false;
}

/* From the results down; what is lifted takes all that it stands on with it. */
static bool choose(Lift *lift) {
  bool any = false;
  bool *needed = lift->needed;
  for (int i = 0; i < lift->body->outputs.count; i++)
    needed[lift->body->outputs.items[i].node->id] = true;
  for (int i = lift->body->nodes.count - 1; i >= 0; i--) {
    const Node *node = lift->body->nodes.items[i];
    bool *lifted = &lift->lifted[node->id], *moved = &lift->moved[node->id];
    *lifted = needed[node->id] && is_lifted(lift, node);
    *moved = *moved || *lifted;
    any = any || *lifted;
    for (int k = 0; k < node->operand_count; k++) {
      int id = node->operands[k]->id;
      if (needed[node->id] && !*lifted) needed[id] = true;
      if (*moved) lift->moved[id] = true;
    }
  }
  return any;
}

/* ---- outside ------------------------------------------------------------------------------ */

static Node *outer_operand(const Lift *lift, int index) {
  return node_map_get(lift->outer, lift->scan->operands[index]);
}

static Node *move_node(Lift *lift, const Node *node) {
  Maker maker = {lift->into, node->span, node->path};
  if (lift->dependence[node->id] == SAME) return graph_copy_node(lift->into, node, &lift->outside);
  Node **operands = ARENA_ARRAY(lift->into->arena, Node *, node->operand_count);
  bool *stacked = ARENA_ARRAY(lift->into->arena, bool, node->operand_count);
  for (int i = 0; i < node->operand_count; i++) {
    operands[i] = node_map_get(&lift->outside, node->operands[i]);
    stacked[i] = lift->dependence[node->operands[i]->id] == APART;
  }
  return all_steps_make(&maker, node, lift->shape.length, operands, stacked);
}

static void move_out(Lift *lift) {
  for (int i = 0; i < lift->body->nodes.count; i++) {
    const Node *node = lift->body->nodes.items[i];
    if (is_argument(node))
      node_map_set(&lift->outside, node, outer_operand(lift, (int)node_int(node, ATTR_INDEX)));
    else if (lift->moved[node->id]) node_map_set(&lift->outside, node, move_node(lift, node));
  }
}

/* ---- the scan ----------------------------------------------------------------------------- */

/* The number of an argument when `more` sequences have come in front of the invariants. */
static int new_index(const Lift *lift, int index, int more) {
  return index < lift->shape.carries + lift->shape.sequences ? index : index + more;
}

/* The step without what was lifted; `operands` and its count grow by what it reads instead. */
static Graph *shrink_body(const Lift *lift, int more, Node **operands) {
  Graph *into = rewrite_start(lift->body);
  NodeMap map = node_map_create(into->arena, lift->body);
  int sequence = lift->shape.carries + lift->shape.sequences;
  int invariant = lift->scan->operand_count + more;
  for (int i = 0; i < lift->body->nodes.count; i++) {
    const Node *node = lift->body->nodes.items[i];
    Maker maker = {into, node->span, node->path};
    Node *copy;
    if (!lift->needed[node->id]) continue;
    if (lift->lifted[node->id]) {
      int index = lift->dependence[node->id] == APART ? sequence++ : invariant++;
      operands[index] = node_map_get(&lift->outside, node);
      copy = make_argument(&maker, node->type, index);
    } else if (is_argument(node)) {
      int index = new_index(lift, (int)node_int(node, ATTR_INDEX), more);
      copy = make_argument(&maker, node->type, index);
    } else {
      copy = graph_copy_node(into, node, &map);
    }
    node_map_set(&map, node, copy);
  }
  graph_map_outputs(into, lift->body, &map);
  return into;
}

static Node *shrink_scan(const Lift *lift) {
  int count = lift->scan->operand_count, more = 0, once = 0;
  for (int i = 0; i < lift->body->nodes.count; i++) {
    int id = lift->body->nodes.items[i]->id;
    more += lift->lifted[id] && lift->dependence[id] == APART;
    once += lift->lifted[id] && lift->dependence[id] == SAME;
  }
  Node **operands = ARENA_ARRAY(lift->into->arena, Node *, count + more + once);
  for (int i = 0; i < count; i++) operands[new_index(lift, i, more)] = outer_operand(lift, i);
  const Graph *body = shrink_body(lift, more, operands);
  ScanShape shape = lift->shape;
  shape.sequences += more;
  Maker maker = {lift->into, lift->scan->span, lift->scan->path};
  return make_scan(&maker, body, shape, count + more + once, operands);
}

static Node *lift_scan(Graph *into, const Node *scan, NodeMap *outer) {
  Arena *arena = into->arena;
  const Graph *body = lift_graph(scan->body);
  Lift lift = {.into = into,
               .outer = outer,
               .scan = scan,
               .shape = scan_shape(scan),
               .body = body,
               .dependence = ARENA_ARRAY(arena, Dependence, body->next_id),
               .work = ARENA_ARRAY(arena, double, body->next_id),
               .stands_on = ARENA_ARRAY(arena, double, body->next_id),
               .needed = ARENA_ARRAY(arena, bool, body->next_id),
               .lifted = ARENA_ARRAY(arena, bool, body->next_id),
               .moved = ARENA_ARRAY(arena, bool, body->next_id),
               .outside = node_map_create(arena, body)};
  for (int i = 0; i < body->nodes.count; i++) {
    const Node *node = body->nodes.items[i];
    lift.dependence[node->id] = find_dependence(&lift, node);
    weigh(&lift, node);
  }
  if (choose(&lift)) {
    move_out(&lift);
    return shrink_scan(&lift);
  }
  Node *copy = graph_copy_node(into, scan, outer);
  copy->body = body;
  return copy;
}

static Graph *lift_graph(const Graph *graph) {
  Graph *into = rewrite_start(graph);
  NodeMap map = node_map_create(graph->arena, graph);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    bool has_steps = node->body && scan_shape(node).length > 0;
    node_map_set(&map, node,
                 has_steps ? lift_scan(into, node, &map) : graph_copy_node(into, node, &map));
  }
  graph_map_outputs(into, graph, &map);
  return into;
}

void pass_lift(Module *module, Diagnostics *diagnostics) { rewrite_entries(module, lift_graph); }
