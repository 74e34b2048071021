/* The gradient of a scan: a scan in the other direction.
 *
 * Its step computes the forward step again, from the carries' values before it, which the forward
 * scan yields for this (ATTR_SAVED), and runs reverse mode over it. Carries are the adjoints of the
 * carries; sequences are the saved carries, the forward sequences and the adjoints of what was
 * yielded; it yields the adjoints of the sequences. The adjoint of an invariant is a sum over the
 * steps: where that is one contraction or reduction of the steps' values (rules/sum_steps.h) these
 * are yielded and it is computed behind the loop, else it is one more carry.
 *
 * After `unroll`, cse finds the forward values that are there already; so what is saved and what is
 * computed again is decided with the rest of the graph. */
#include "ops/op.h"
#include "ops/scan.h"
#include "passes/adjoints.h"
#include "passes/rules/sum_steps.h"
#include "support/names.h"
#include "support/panic.h"

/* Where the adjoint of an invariant comes from. */
typedef struct Total {
  int operand;   /* of the forward scan */
  Node *part;    /* of a step, in the body */
  int carry;     /* the carry that adds it up; -1: computed behind the loop */
} Total;

typedef struct Backward {
  Adjoints *outer;
  Node *scan;            /* forward, with saved carries */
  ScanShape shape;
  int saved;             /* result number of the first saved carry */
  Graph *body;           /* of the backward scan */
  Node **arguments;      /* in it: the forward step's, by operand */
  bool *wanted;          /* by operand: its adjoint is asked for, or a carry's that leads to one */
  Nodes carries, sequences, invariants; /* operands of the backward scan */
  Nodes carry_arguments, sequence_arguments, invariant_arguments; /* their leaves */
  Nodes next, yields;    /* results of its step, in the body */
  VEC(Total) totals;
  Nodes stacked;         /* of the body, for sums behind the loop */
  int *yield_of_sequence;   /* by operand */
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
  for (int i = 0; i < from->outputs.count; i++) {
    Output output = from->outputs.items[i];
    output.node = node_map_get(&map, output.node);
    graph_add_output(body, output);
  }
  Node **arguments = scan_arguments(arena, body, scan->operand_count);
  for (int i = 0; i < shape.carries; i++) {
    Maker maker = {body, scan->span, scan->path};
    if (!arguments[i]) arguments[i] = make_argument(&maker, scan->operands[i]->type, i);
    graph_add_output(body, (Output){.kind = OUTPUT_RESULT, .name = body->outputs.items[i].name,
                                    .node = arguments[i]});
  }
  return body;
}

static Node *make_saving(Graph *into, const Node *scan, Node *const *operands) {
  Attribute attributes[ATTR_COUNT];
  int count = 0;
  for (; count < scan->attribute_count; count++) attributes[count] = scan->attributes[count];
  attributes[count++] = attr_make_int(ATTR_SAVED, scan_result_count(scan));
  Node *copy = graph_add_typed(into, scan->op, scan->type, scan->operand_count, operands, count,
                               attributes, scan->span, scan->path);
  copy->body = saving_body(into->arena, scan);
  return copy;
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

/* A leaf in the body for a new operand; its index is set at the end. */
static Node *add_argument(Backward *b, Type type) {
  Maker maker = adjoints_maker(b->body, b->scan);
  return make_argument(&maker, type, 0);
}

static Node *add_carry(Backward *b, Node *initial) {
  Node *argument = add_argument(b, initial->type);
  vec_push(arena_of(b), &b->carries, initial);
  vec_push(arena_of(b), &b->carry_arguments, argument);
  return argument;
}

static Node *add_sequence(Backward *b, Node *sequence, Type element) {
  Node *argument = add_argument(b, element);
  vec_push(arena_of(b), &b->sequences, sequence);
  vec_push(arena_of(b), &b->sequence_arguments, argument);
  return argument;
}

static Node *add_invariant(Backward *b, Node *value) {
  Node *argument = add_argument(b, value->type);
  vec_push(arena_of(b), &b->invariants, value);
  vec_push(arena_of(b), &b->invariant_arguments, argument);
  return argument;
}

static Maker outer_maker(const Backward *b) { return adjoints_maker(b->outer->into, b->scan); }

static bool is_sequence(const Backward *b, int operand) {
  return operand >= b->shape.carries && operand < b->shape.carries + b->shape.sequences;
}

/* What the forward step reads: saved carries, sequences and invariants. */
static void add_forward_arguments(Backward *b) {
  b->arguments = ARENA_ARRAY(arena_of(b), Node *, b->scan->operand_count);
  for (int i = 0; i < b->scan->operand_count; i++) {
    Node *operand = b->scan->operands[i];
    Type type = scan_argument_type(&b->shape, operand, i);
    Maker maker = outer_maker(b);
    if (i < b->shape.carries)
      b->arguments[i] = add_sequence(b, make_scan_result(&maker, b->scan, b->saved + i), type);
    else if (is_sequence(b, i))
      b->arguments[i] = add_sequence(b, operand, type);
    else
      b->arguments[i] = add_invariant(b, operand);
  }
}

/* The forward step in the body; returns its results. */
static Node **copy_forward(Backward *b) {
  Arena *arena = arena_of(b);
  const Graph *from = b->scan->body;
  NodeMap map = node_map_create(arena, from);
  Node **arguments = scan_arguments(arena, from, b->scan->operand_count);
  for (int i = 0; i < b->scan->operand_count; i++)
    if (arguments[i]) node_map_set(&map, arguments[i], b->arguments[i]);
  for (int i = 0; i < from->nodes.count; i++) {
    const Node *node = from->nodes.items[i];
    if (!node_map_get(&map, node)) node_map_set(&map, node, scan_copy_node(b->body, node, &map));
  }
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
    for (int i = 0; i < b->scan->operand_count; i++)
      step.leads[b->arguments[i]->id] = b->wanted[i];
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

/* ---- the step's adjoints ------------------------------------------------------------------ */

/* The sum over the steps of an invariant's adjoint: behind the loop, or in a carry. */
static void add_total(Backward *b, int operand, Node *part) {
  Arena *arena = arena_of(b);
  Total total = {.operand = operand, .part = part, .carry = -1};
  int before = b->stacked.count;
  if (!sum_steps_find(arena, part, &b->stacked)) {
    b->stacked.count = before;
    Maker outer = outer_maker(b), inner = adjoints_maker(b->body, b->scan);
    total.carry = b->carries.count;
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
    if (is_sequence(b, i)) {
      b->yield_of_sequence[i] = b->yields.count;
      vec_push(arena, &b->yields, part);
    } else {
      add_total(b, i, part);
    }
  }
}

/* ---- the backward scan -------------------------------------------------------------------- */

static void number_arguments(Backward *b) {
  int index = 0;
  for (int i = 0; i < b->carry_arguments.count; i++)
    b->carry_arguments.items[i]->attributes[0].integer = index++;
  for (int i = 0; i < b->sequence_arguments.count; i++)
    b->sequence_arguments.items[i]->attributes[0].integer = index++;
  for (int i = 0; i < b->invariant_arguments.count; i++)
    b->invariant_arguments.items[i]->attributes[0].integer = index++;
}

static void add_result(Backward *b, Node *node) {
  graph_add_output(b->body, (Output){.kind = OUTPUT_RESULT, .name = node->path, .node = node,
                                     .span = node->span});
}

/* A stack is an operand already, or one more yield. */
static int *add_stacks(Backward *b) {
  int *yield = ARENA_ARRAY(arena_of(b), int, b->stacked.count);
  for (int i = 0; i < b->stacked.count; i++) {
    yield[i] = -1;
    for (int k = 0; k < b->sequence_arguments.count; k++)
      if (b->sequence_arguments.items[k] == b->stacked.items[i]) yield[i] = -2 - k;
    if (yield[i] != -1) continue;
    yield[i] = b->yields.count;
    vec_push(arena_of(b), &b->yields, b->stacked.items[i]);
  }
  return yield;
}

static Node *make_backward(Backward *b) {
  Arena *arena = arena_of(b);
  for (int i = 0; i < b->next.count; i++) add_result(b, b->next.items[i]);
  for (int i = 0; i < b->yields.count; i++) add_result(b, b->yields.items[i]);
  number_arguments(b);
  Nodes all = {0};
  for (int i = 0; i < b->carries.count; i++) vec_push(arena, &all, b->carries.items[i]);
  for (int i = 0; i < b->sequences.count; i++) vec_push(arena, &all, b->sequences.items[i]);
  for (int i = 0; i < b->invariants.count; i++) vec_push(arena, &all, b->invariants.items[i]);
  ScanShape shape = {.carries = b->carries.count, .sequences = b->sequences.count,
                     .length = b->shape.length, .reverse = !b->shape.reverse};
  Maker maker = outer_maker(b);
  return make_scan(&maker, b->body, shape, all.count, all.items);
}

static void add_operand_adjoints(Backward *b, Node *backward, const int *stack_yields) {
  Maker maker = outer_maker(b);
  int carry = 0, first_yield = b->carries.count;
  for (int i = 0; i < b->shape.carries; i++)
    if (b->wanted[i])
      adjoints_add(b->outer, b->scan->operands[i], make_scan_result(&maker, backward, carry++));
  for (int i = b->shape.carries; i < b->shape.carries + b->shape.sequences; i++)
    if (b->yield_of_sequence[i] >= 0)
      adjoints_add(b->outer, b->scan->operands[i],
                   make_scan_result(&maker, backward, first_yield + b->yield_of_sequence[i]));
  Node **stacks = ARENA_ARRAY(arena_of(b), Node *, b->stacked.count);
  for (int i = 0; i < b->stacked.count; i++)
    stacks[i] = stack_yields[i] < 0
                  ? b->sequences.items[-2 - stack_yields[i]]
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
  Backward b = {.outer = outer, .scan = scan, .shape = scan_shape(scan),
                .saved = (int)node_int(scan, ATTR_SAVED)};
  b.body = graph_create(arena_of(&b), scan->body->name);
  find_wanted(&b);
  add_forward_arguments(&b);
  Node **step_results = copy_forward(&b);
  int count = b.body->next_id;
  Adjoints step = mark_step(&b, step_results, count);
  Maker maker = outer_maker(&b);
  for (int i = 0; i < b.shape.carries; i++) {
    if (!b.wanted[i]) continue;
    Node *last = adjoints[i] ? adjoints[i] : make_constant(&maker, scan->operands[i]->type, 0);
    adjoints_add(&step, step_results[i], add_carry(&b, last));
  }
  for (int i = b.shape.carries; i < results; i++)
    if (adjoints[i] && step.leads[step_results[i]->id])
      adjoints_add(&step, step_results[i],
                   add_sequence(&b, adjoints[i], step_results[i]->type));
  adjoints_run(&step);
  collect_step(&b, &step);
  const int *stack_yields = add_stacks(&b);
  add_operand_adjoints(&b, make_backward(&b), stack_yields);
}
