/* The gradient of a scan: a scan in the other direction.
 *
 * Its step begins as a copy of the forward step, computed from the carries' values before it, which
 * the forward scan yields for this (ATTR_SAVED), and runs reverse mode over it. Carries are the
 * adjoints of the carries; sequences are the saved carries, the forward sequences and the adjoints
 * of what was yielded; it yields the adjoints of the sequences. The adjoint of an invariant is a
 * sum over the steps: where that is one contraction or reduction of the steps' values
 * (sum_steps.h) these are yielded and it is computed after the loop, else it is one more
 * carry. What is expensive of the copy the forward scan yields as well (scan_save.h), and the backward
 * step reads it instead, unless the scan says that its steps are to be computed again.
 *
 * Where `unroll` writes both out, cse finds all forward values that are there already; so what is
 * computed again is decided with the rest of the graph. */
#include "ops/op.h"
#include "ops/scan.h"
#include "ops/adjoints.h"
#include "ops/sum_steps.h"
#include "ops/scan_save.h"
#include "support/names.h"
#include "support/panic.h"

/* Where the adjoint of an invariant comes from. */
typedef struct Total {
  int operand; /* of the forward scan */
  Node *part;  /* of a step, in the body */
  int carry;   /* the carry that adds it up; -1: computed after the loop */
} Total;

/* The operands of a scan stand in this order. */
typedef enum OperandKind { CARRIES, SEQUENCES, INVARIANTS, OPERAND_KIND_COUNT } OperandKind;

typedef struct Backward {
  Adjoints *outer;
  Node *scan; /* forward, with saved carries */
  ScanShape shape;
  int saved;        /* result number of the first saved carry */
  Graph *body;      /* of the backward scan */
  Node **arguments; /* in it: the forward step's, by operand */
  ForwardStep step; /* in it: the copy */
  Node **read;      /* by id in it: the argument that is read instead; NULL elsewhere */
  bool *wanted;     /* by operand: its adjoint is asked for, or a carry's that leads to one */
  bool *moves;      /* by id in it: a result that has an adjoint depends on it, in some step */
  Nodes operands[OPERAND_KIND_COUNT];     /* of the backward scan */
  Nodes arguments_of[OPERAND_KIND_COUNT]; /* their leaves, in its body */
  Nodes next, yields;                     /* results of its step, in the body */
  VEC(Total) totals;
  Nodes stacked;          /* of the body, for sums after the loop */
  int *yield_of_sequence; /* by operand */
} Backward;

/* ---- the forward scan with its carries saved ---------------------------------------------- */

static bool is_saved(const Node *scan) { return node_attribute(scan, ATTR_SAVED) != NULL; }

/* The body with one more yield a carry: its value before the step. */
static Graph *saving_body(Arena *arena, const Node *scan) {
  const Graph *from = scan->body;
  ScanShape shape = scan_shape(scan);
  Graph *body = graph_create(arena, from->name);
  NodeMap map = node_map_create(arena, from);
  for (int i = 0; i < from->nodes.count; i++) {
    const Node *node = from->nodes.items[i];
    node_map_set(&map, node, scan_copy_node(body, node, &map));
  }
  graph_map_outputs(body, from, &map);
  Node **arguments = scan_arguments(arena, body, scan->operand_count);
  for (int i = 0; i < shape.carries; i++) {
    Maker maker = {body, scan->span, scan->path};
    if (!arguments[i]) arguments[i] = make_argument(&maker, scan->operands[i]->type, i);
    graph_add_output(
        body,
        (Output){.kind = OUTPUT_RESULT, .name = body->outputs.items[i].name, .node = arguments[i]});
  }
  return body;
}

static Node *make_saving(Graph *into, const Node *scan, Node *const *operands) {
  Maker maker = {into, scan->span, scan->path};
  return make_saving_scan(&maker, saving_body(into->arena, scan), scan_shape(scan),
                          scan_result_count(scan), scan->operand_count, operands);
}

Node *scan_copy_node(Graph *into, const Node *node, const NodeMap *map) {
  if (!node->body || is_saved(node)) return graph_copy_node(into, node, map);
  Node **operands = ARENA_ARRAY(into->arena, Node *, node->operand_count);
  for (int i = 0; i < node->operand_count; i++) operands[i] = node_map_get(map, node->operands[i]);
  return make_saving(into, node, operands);
}

/* ---- the body of the backward scan -------------------------------------------------------- */

static Arena *arena_of(const Backward *b) { return b->outer->into->arena; }

static bool is_float(const Node *node) { return dtype_is_float(node->type.dtype); }

/* A new operand, of this type in a step; returns its leaf in the body, whose index is set at the end. */
static Node *add_operand(Backward *b, OperandKind kind, Node *operand, Type type) {
  Maker maker = adjoints_maker(b->body, b->scan);
  Node *argument = make_argument(&maker, type, 0);
  vec_push(arena_of(b), &b->operands[kind], operand);
  vec_push(arena_of(b), &b->arguments_of[kind], argument);
  return argument;
}

static Node *add_carry(Backward *b, Node *initial) {
  return add_operand(b, CARRIES, initial, initial->type);
}

static Maker outer_maker(const Backward *b) { return adjoints_maker(b->outer->into, b->scan); }

/* What the forward step reads: saved carries, sequences and invariants. */
static void add_forward_arguments(Backward *b) {
  b->arguments = ARENA_ARRAY(arena_of(b), Node *, b->scan->operand_count);
  for (int i = 0; i < b->scan->operand_count; i++) {
    Node *operand = b->scan->operands[i];
    Type type = scan_argument_type(&b->shape, operand, i);
    Maker maker = outer_maker(b);
    if (i < b->shape.carries) operand = make_scan_result(&maker, b->scan, b->saved + i);
    bool is_invariant = i >= b->shape.carries && !scan_is_sequence(&b->shape, i);
    b->arguments[i] = add_operand(b, is_invariant ? INVARIANTS : SEQUENCES, operand, type);
  }
}

/* The forward step in the body; returns its results. Leaves and nodes of it are the first ones. */
static Node **copy_forward(Backward *b) {
  Arena *arena = arena_of(b);
  const Graph *from = b->scan->body;
  NodeMap map = node_map_create(arena, from);
  Node **arguments = scan_arguments(arena, from, b->scan->operand_count);
  for (int i = 0; i < b->scan->operand_count; i++)
    if (arguments[i]) node_map_set(&map, arguments[i], b->arguments[i]);
  b->step = (ForwardStep){.scan = b->scan, .in = b->body};
  b->step.origins = ARENA_ARRAY(arena, Node *, b->body->next_id + from->next_id);
  for (int i = 0; i < from->nodes.count; i++) {
    Node *node = from->nodes.items[i];
    if (node_map_get(&map, node)) continue;
    Node *copy = scan_copy_node(b->body, node, &map);
    node_map_set(&map, node, copy);
    b->step.origins[copy->id] = node;
  }
  b->step.count = b->body->next_id;
  Node **results = ARENA_ARRAY(arena, Node *, from->outputs.count);
  for (int i = 0; i < from->outputs.count; i++)
    results[i] = node_map_get(&map, from->outputs.items[i].node);
  return results;
}

/* Marks what depends on a wanted operand; a carry that does is wanted, too, from step to step. */
static Adjoints mark_step(Backward *b, Node *const *results, int count) {
  for (;;) {
    Adjoints step = adjoints_create(b->body, count);
    bool more = false;
    for (int i = 0; i < b->scan->operand_count; i++) step.leads[b->arguments[i]->id] = b->wanted[i];
    adjoints_spread(&step);
    for (int i = 0; i < b->shape.carries; i++) {
      if (b->wanted[i] || !is_float(results[i]) || !step.leads[results[i]->id]) continue;
      b->wanted[i] = more = true;
    }
    if (!more) return step;
  }
}

/* ---- adjoints of the results -------------------------------------------------------------- */

/* By result number; NULL where nobody asked for it. */
static Node **result_adjoints(const Adjoints *outer, const Node *scan) {
  Node **found = ARENA_ARRAY(outer->into->arena, Node *, scan_result_count(scan));
  for (int i = scan->id + 1; i < outer->count; i++) {
    const Node *node = outer->into->nodes.items[i];
    if (node->operand_count != 1 || node->operands[0] != scan || !outer->adjoint[i]) continue;
    Node **sum = &found[node_int(node, ATTR_INDEX)];
    Maker maker = adjoints_maker(outer->into, node);
    *sum = *sum ? make_add(&maker, *sum, outer->adjoint[i]) : outer->adjoint[i];
  }
  return found;
}

static bool any_adjoint(Node *const *adjoints, int count) {
  for (int i = 0; i < count; i++)
    if (adjoints[i]) return true;
  return false;
}

/* Marks what results with adjoints depend on, from step to step. The adjoint of all else is 0, and is
 * not computed: on the way on, 0 times an infinite derivative would make it NaN. */
static void mark_moves(Backward *b, Node *const *results, Node *const *adjoints, int count) {
  int nodes = b->body->next_id;
  bool *moves = b->moves = ARENA_ARRAY(arena_of(b), bool, nodes);
  for (int i = 0; i < count; i++)
    if (adjoints[i]) moves[results[i]->id] = true;
  for (bool more = true; more;) {
    more = false;
    for (int i = nodes - 1; i >= 0; i--) {
      const Node *node = b->body->nodes.items[i];
      if (!moves[i] || !node_passes_gradient(node)) continue;
      for (int k = 0; k < node->operand_count; k++) moves[node->operands[k]->id] = true;
    }
    for (int i = 0; i < b->shape.carries; i++) {
      if (!moves[b->arguments[i]->id] || moves[results[i]->id]) continue;
      moves[results[i]->id] = more = true;
    }
  }
  for (int i = 0; i < b->shape.carries; i++) b->wanted[i] = b->wanted[i] && moves[results[i]->id];
}

/* Whether any operand has an adjoint. */
static bool moves_any(const Backward *b) {
  for (int i = 0; i < b->scan->operand_count; i++)
    if (b->wanted[i] && b->moves[b->arguments[i]->id]) return true;
  return false;
}

/* ---- the step's adjoints ------------------------------------------------------------------ */

/* The sum over the steps of an invariant's adjoint: after the loop, or in a carry. */
static void add_total(Backward *b, int operand, Node *part) {
  Arena *arena = arena_of(b);
  Total total = {.operand = operand, .part = part, .carry = -1};
  int before = b->stacked.count;
  if (!sum_steps_find(arena, part, &b->stacked)) {
    b->stacked.count = before;
    Maker outer = outer_maker(b), inner = adjoints_maker(b->body, b->scan);
    total.carry = b->operands[CARRIES].count;
    Node *sum = add_carry(b, make_constant(&outer, part->type, 0));
    vec_push(arena, &b->next, make_add(&inner, sum, part));
  }
  vec_push(arena, &b->totals, total);
}

static void collect_step(Backward *b, const Adjoints *step) {
  Arena *arena = arena_of(b);
  int count = b->scan->operand_count;
  for (int i = 0; i < b->shape.carries; i++)
    if (b->wanted[i]) vec_push(arena, &b->next, adjoints_get(step, b->arguments[i]));
  b->yield_of_sequence = ARENA_ARRAY(arena, int, count);
  for (int i = b->shape.carries; i < count; i++) {
    Node *part = step->adjoint[b->arguments[i]->id];
    b->yield_of_sequence[i] = -1;
    if (!b->wanted[i] || !part) continue;
    if (scan_is_sequence(&b->shape, i)) {
      b->yield_of_sequence[i] = b->yields.count;
      vec_push(arena, &b->yields, part);
    } else {
      add_total(b, i, part);
    }
  }
}

/* ---- what the forward scan keeps ---------------------------------------------------------- */

static void add_all(Arena *arena, Nodes *nodes, const Nodes *more) {
  for (int i = 0; i < more->count; i++) vec_push(arena, nodes, more->items[i]);
}

/* Expensive values of the copy become sequences. */
static void read_saved_values(Backward *b) {
  Arena *arena = arena_of(b);
  Nodes roots = {0};
  add_all(arena, &roots, &b->next);
  add_all(arena, &roots, &b->yields);
  add_all(arena, &roots, &b->stacked);
  SavedValues saved = {0};
  if (!b->shape.recomputes) saved = scan_save_values(arena, &b->step, &roots);
  b->read = ARENA_ARRAY(arena, Node *, b->body->next_id + saved.count);
  Maker maker = outer_maker(b);
  for (int i = 0; i < saved.count; i++) {
    const SavedValue *value = &saved.items[i];
    Node *stack = make_scan_result(&maker, b->scan, value->result);
    b->read[value->node->id] = add_operand(b, SEQUENCES, stack, value->node->type);
  }
}

/* The node of the backward step, or the argument that is read instead. */
static Node *value_of(const Backward *b, Node *node) {
  Node *argument = b->read[node->id];
  return argument ? argument : node;
}

/* ---- the backward scan -------------------------------------------------------------------- */

/* A stack is an operand already, or one more yield. */
static int *add_stacks(Backward *b) {
  const Nodes *read = &b->arguments_of[SEQUENCES];
  int *yield = ARENA_ARRAY(arena_of(b), int, b->stacked.count);
  for (int i = 0; i < b->stacked.count; i++) {
    const Node *value = value_of(b, b->stacked.items[i]);
    yield[i] = -1;
    for (int k = 0; k < read->count; k++)
      if (read->items[k] == value) yield[i] = -2 - k;
    if (yield[i] != -1) continue;
    yield[i] = b->yields.count;
    vec_push(arena_of(b), &b->yields, b->stacked.items[i]);
  }
  return yield;
}

static void copy_arguments(const Backward *b, Graph *into, NodeMap *map) {
  Nodes leaves = {0};
  for (int kind = 0; kind < OPERAND_KIND_COUNT; kind++)
    add_all(into->arena, &leaves, &b->arguments_of[kind]);
  for (int i = 0; i < leaves.count; i++) {
    leaves.items[i]->attributes[0].integer = i;
    node_map_set(map, leaves.items[i], graph_copy_node(into, leaves.items[i], map));
  }
}

static void copy_needed(const Backward *b, const Nodes *results, Graph *into, NodeMap *map) {
  bool *needed = ARENA_ARRAY(into->arena, bool, b->body->next_id);
  for (int i = 0; i < results->count; i++) needed[value_of(b, results->items[i])->id] = true;
  for (int i = b->body->nodes.count - 1; i >= 0; i--) {
    const Node *node = b->body->nodes.items[i];
    for (int k = 0; k < node->operand_count && needed[node->id]; k++)
      needed[value_of(b, node->operands[k])->id] = true;
  }
  for (int i = 0; i < b->body->nodes.count; i++) {
    Node *node = b->body->nodes.items[i];
    if (node_map_get(map, node)) continue;
    if (value_of(b, node) != node) node_map_set(map, node, node_map_get(map, value_of(b, node)));
    else if (needed[node->id]) node_map_set(map, node, graph_copy_node(into, node, map));
  }
}

static void add_result(Graph *body, Node *node) {
  graph_add_output(
      body, (Output){.kind = OUTPUT_RESULT, .name = node->path, .node = node, .span = node->span});
}

/* What is needed of the step, its arguments in front; a step of it saves its carries, too. */
static Graph *finish_body(Backward *b) {
  Graph *into = graph_create(arena_of(b), b->body->name);
  NodeMap map = node_map_create(arena_of(b), b->body);
  Nodes results = {0};
  add_all(into->arena, &results, &b->next);
  add_all(into->arena, &results, &b->yields);
  copy_arguments(b, into, &map);
  copy_needed(b, &results, into, &map);
  add_all(into->arena, &results, &b->arguments_of[CARRIES]);
  for (int i = 0; i < results.count; i++) add_result(into, node_map_get(&map, results.items[i]));
  return into;
}

static Node *make_backward(Backward *b) {
  Arena *arena = arena_of(b);
  const Graph *body = finish_body(b);
  Nodes all = {0};
  for (int kind = 0; kind < OPERAND_KIND_COUNT; kind++) add_all(arena, &all, &b->operands[kind]);
  ScanShape shape = {.carries = b->operands[CARRIES].count,
                     .sequences = b->operands[SEQUENCES].count,
                     .length = b->shape.length,
                     .reverse = !b->shape.reverse,
                     .recomputes = b->shape.recomputes};
  Maker maker = outer_maker(b);
  return make_saving_scan(&maker, body, shape, b->next.count + b->yields.count, all.count,
                          all.items);
}

static void add_operand_adjoints(Backward *b, Node *backward, const int *stack_yields) {
  Maker maker = outer_maker(b);
  int carry = 0, first_yield = b->operands[CARRIES].count;
  for (int i = 0; i < b->shape.carries; i++) {
    if (b->wanted[i] && b->moves[b->arguments[i]->id])
      adjoints_add(b->outer, b->scan->operands[i], make_scan_result(&maker, backward, carry));
    carry += b->wanted[i];
  }
  for (int i = b->shape.carries; i < b->shape.carries + b->shape.sequences; i++)
    if (b->yield_of_sequence[i] >= 0)
      adjoints_add(b->outer, b->scan->operands[i],
                   make_scan_result(&maker, backward, first_yield + b->yield_of_sequence[i]));
  Node **stacks = ARENA_ARRAY(arena_of(b), Node *, b->stacked.count);
  for (int i = 0; i < b->stacked.count; i++)
    stacks[i] = stack_yields[i] < 0
                    ? b->operands[SEQUENCES].items[-2 - stack_yields[i]]
                    : make_scan_result(&maker, backward, first_yield + stack_yields[i]);
  for (int i = 0; i < b->totals.count; i++) {
    const Total *total = &b->totals.items[i];
    Node *sum = total->carry >= 0 ? make_scan_result(&maker, backward, total->carry)
                                  : sum_steps_make(&maker, total->part, &b->stacked, stacks);
    adjoints_add(b->outer, b->scan->operands[total->operand], sum);
  }
}

static void find_wanted(Backward *b) {
  b->wanted = ARENA_ARRAY(arena_of(b), bool, b->scan->operand_count);
  for (int i = 0; i < b->scan->operand_count; i++)
    b->wanted[i] = is_float(b->scan->operands[i]) && b->outer->leads[b->scan->operands[i]->id];
}

void scan_propagate(Adjoints *outer, Node *forward) {
  Node **adjoints = result_adjoints(outer, forward);
  int results = scan_result_count(forward);
  if (!any_adjoint(adjoints, results)) return;
  Node *scan = is_saved(forward) ? forward : make_saving(outer->into, forward, forward->operands);
  Backward b = {.outer = outer,
                .scan = scan,
                .shape = scan_shape(scan),
                .saved = (int)node_int(scan, ATTR_SAVED)};
  b.body = graph_create(arena_of(&b), scan->body->name);
  find_wanted(&b);
  add_forward_arguments(&b);
  Node **step_results = copy_forward(&b);
  int count = b.body->next_id;
  Adjoints step = mark_step(&b, step_results, count);
  mark_moves(&b, step_results, adjoints, results);
  if (!moves_any(&b)) return;
  Maker maker = outer_maker(&b);
  for (int i = 0; i < b.shape.carries; i++) {
    if (!b.wanted[i]) continue;
    Node *last = adjoints[i] ? adjoints[i] : make_constant(&maker, scan->operands[i]->type, 0);
    adjoints_add(&step, step_results[i], add_carry(&b, last));
  }
  for (int i = b.shape.carries; i < results; i++)
    if (adjoints[i] && step.leads[step_results[i]->id])
      adjoints_add(&step, step_results[i],
                   add_operand(&b, SEQUENCES, adjoints[i], step_results[i]->type));
  adjoints_run(&step);
  collect_step(&b, &step);
  read_saved_values(&b);
  const int *stack_yields = add_stacks(&b);
  add_operand_adjoints(&b, make_backward(&b), stack_yields);
}
