/* Scans: a body grown by the recipes themselves.
 *
 * The body has a generator of its own, whose pool begins with the arguments; the values there are
 * those of the first step. Leaves that recipes ask for are made in the train entry and come in as
 * invariants (generate.c). When the scan is there, numeric.c computes all its steps, and where a
 * value in some step is not sound the recipe is taken back like any other. */
#include <math.h>

#include "generate.h"
#include "ops/scan.h"
#include "support/names.h"

enum { MOST_LENGTH = 6, MOST_DEPTH = 2, BODY_PRODUCTS = 200000 };

static int depth_of(const Generator *g) {
  int depth = 0;
  for (; g->outer; g = g->outer) depth++;
  return depth;
}

static Generator *body_generator(Generator *g, const Sizes *sizes) {
  Generator *body = ARENA_NEW(g->arena, Generator);
  *body = *g;
  body->outer = g;
  body->sizes = sizes;
  body->maker.graph = graph_create(g->arena, name_printf("%sstep", g->prefix));
  body->numbers = numbers_create(g->arena);
  body->numbers.standard = g->numbers.standard;
  body->computed = 0;
  body->pool.items = body->params.items = NULL;
  body->pool.count = body->pool.capacity = body->params.count = body->params.capacity = 0;
  body->arguments.items = NULL;
  body->arguments.count = body->arguments.capacity = 0;
  return body;
}

static void add_pooled(Generator *body, ArgumentKind kind, Node *outer, Type type) {
  vec_push(body->arena, &body->pool, add_scan_argument(body, kind, outer, type));
}

static Type element_type(const Node *sequence) {
  Type type = sequence->type;
  type.shape = shape_make(type.shape.rank - 1, type.shape.dim + 1);
  return type;
}

/* ---- what goes in ---- */

/* What the pool has with few elements along axis 0 gives the number of steps, or a draw does. */
static int64_t add_sequences(Generator *g, Generator *body) {
  Node *first = draw_node(g, KIND_ANY | KIND_AXES | KIND_ELEMENTS);
  int64_t length = 1 + draw_below(g, MOST_LENGTH);
  if (first && first->type.shape.dim[0] <= MOST_LENGTH) {
    length = first->type.shape.dim[0];
    add_pooled(body, ARGUMENT_SEQUENCE, first, element_type(first));
  }
  int more = (int)draw_below(g, 2);
  for (int i = 0; i < more; i++) {
    Shape shape = draw_shape(g, 0, 3);
    for (int k = shape.rank++; k > 0; k--) shape.dim[k] = shape.dim[k - 1];
    shape.dim[0] = length;
    Node *sequence = draw_like(g, type_make(g->real, shape));
    if (shape_elements(sequence->type.shape) <= g->sizes->node)
      add_pooled(body, ARGUMENT_SEQUENCE, sequence, element_type(sequence));
  }
  return length;
}

static int add_carries(Generator *g, Generator *body) {
  int count = 0, wanted = 1 + (int)draw_below(g, 3);
  for (int i = 0; i < wanted; i++) {
    Node *initial = i > 0 && draw_chance(g, 15) ? constant_of(g, type_scalar(DTYPE_I32), 1)
                                                : draw_node(g, KIND_FLOAT | KIND_ELEMENTS);
    if (!initial) continue;
    add_pooled(body, ARGUMENT_CARRY, initial, initial->type);
    count++;
  }
  return count;
}

static void add_invariants(Generator *g, Generator *body) {
  int count = (int)draw_below(g, 3);
  for (int i = 0; i < count; i++) {
    Node *node = draw_node(g, KIND_ANY);
    if (node) add_pooled(body, ARGUMENT_INVARIANT, node, node->type);
  }
}

/* ---- what comes out ---- */

static void add_result(Generator *body, Node *node) {
  graph_add_output(
      body->maker.graph,
      (Output){.kind = OUTPUT_RESULT, .name = name_printf("r%d", node->id), .node = node});
}

/* Bounded from step to step. */
static Node *next_carry(Generator *body, Node *carry) {
  const Maker *m = &body->maker;
  if (!dtype_is_float(carry->type.dtype)) return make_binary_value(m, OP_ADD, carry, 1);
  Node *x = tame(body, draw_like(body, carry->type));
  switch (draw_below(body, 4)) {
  case 0: return make_unary(m, OP_TANH, make_binary(m, OP_ADD, x, carry));
  case 1: return make_binary_value(m, OP_MUL, make_binary(m, OP_ADD, x, carry), 0.5);
  case 2: return make_binary(m, OP_MUL, carry, make_unary(m, OP_SIGMOID, x));
  default: return x;
  }
}

static void add_results(Generator *body) {
  int inputs = body->arguments.count;
  for (int i = 0; i < inputs; i++) {
    const ScanArgument *argument = &body->arguments.items[i];
    if (argument->kind == ARGUMENT_CARRY) add_result(body, next_carry(body, argument->leaf));
  }
  int yields = (int)draw_below(body, 3) + (body->maker.graph->outputs.count == 0);
  for (int i = 0; i < yields; i++) {
    Node *node = draw_node(body, KIND_ANY);
    if (node && node->type.shape.rank < 6) add_result(body, node);
  }
}

/* The operands in their order; each leaf takes its number. */
static Node **order_operands(Generator *body) {
  Node **operands = ARENA_ARRAY(body->arena, Node *, body->arguments.count + 1);
  int at = 0;
  for (ArgumentKind kind = ARGUMENT_CARRY; kind <= ARGUMENT_INVARIANT; kind++)
    for (int i = 0; i < body->arguments.count; i++) {
      const ScanArgument *argument = &body->arguments.items[i];
      if (argument->kind != kind) continue;
      argument->leaf->attributes[0].integer = at;
      operands[at++] = argument->outer;
    }
  return operands;
}

static int count_kind(const Generator *body, ArgumentKind kind) {
  int count = 0;
  for (int i = 0; i < body->arguments.count; i++) count += body->arguments.items[i].kind == kind;
  return count;
}

/* Results as nodes: one, or a float one with the sum of another added. */
static Node *draw_result(Generator *g, Node *scan) {
  const Maker *m = &g->maker;
  int count = scan_result_count(scan);
  Node *one = make_scan_result(m, scan, (int)draw_below(g, count));
  Node *other = make_scan_result(m, scan, (int)draw_below(g, count));
  if (one->type.dtype != other->type.dtype || !dtype_is_float(one->type.dtype)) return one;
  if (one->type.shape.rank == MAX_RANK || draw_chance(g, 40)) return one;
  int64_t axes[MAX_RANK];
  for (int i = 0; i < other->type.shape.rank; i++) axes[i] = i;
  Node *sum = make_reduce(m, OP_REDUCE_SUM, other, other->type.shape.rank, axes);
  return make_binary(m, OP_ADD, one, make_broadcast(m, sum, one->type.shape, NULL));
}

/* Fewer and smaller nodes than a train entry: a step is computed often. */
static Sizes body_sizes(const Sizes *around) {
  Sizes sizes = *around;
  sizes.node = around->node < 2000 ? around->node : 2000;
  sizes.pooled = around->pooled < 1000 ? around->pooled : 1000;
  sizes.drawn = sizes.fresh = 300;
  sizes.products = around->products < BODY_PRODUCTS ? around->products : BODY_PRODUCTS;
  return sizes;
}

Node *grow_scan(Generator *g) {
  if (depth_of(g) >= MOST_DEPTH || (g->outer && draw_chance(g, 60))) return NULL;
  Sizes *sizes = ARENA_NEW(g->arena, Sizes);
  *sizes = body_sizes(g->sizes);
  Generator *body = body_generator(g, sizes);
  int64_t length = add_sequences(g, body);
  if (add_carries(g, body) == 0 && body->pool.count == 0) return NULL;
  add_invariants(g, body);
  body->state = g->state;
  if (!settle(body, 0)) return NULL;
  int wanted = 1 + (int)draw_below(body, 5);
  for (int tries = 0; wanted > 0 && tries < 30; tries++) wanted -= grow_once(body);
  int mark = mark_now(body);
  add_results(body);
  bool sound = settle(body, mark) && body->maker.graph->outputs.count > 0;
  g->state = body->state;
  if (!sound) return NULL;
  Node **operands = order_operands(body);
  ScanShape shape = {.carries = count_kind(body, ARGUMENT_CARRY),
                     .sequences = count_kind(body, ARGUMENT_SEQUENCE),
                     .length = length,
                     .reverse = draw_chance(g, 30)};
  shape.recomputes = draw_chance(g, 20);
  Node *scan = make_scan(&g->maker, body->maker.graph, shape, body->arguments.count, operands);
  return draw_result(g, scan);
}
