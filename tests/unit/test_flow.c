/* The flow of examples (ops/flow.h), judged by the interpreter: in random graphs over a batch of three,
 * where many other extents are three as well, a value said to belong to single examples must follow
 * its example wherever that lies and must not change with another; what no example decides must not
 * change at all. */
#include "evaluate_graphs.h"
#include "ops/flow.h"
#include "ops/own_gradient.h"
#include "ops/scan.h"
#include "random_graph.h"

enum { BATCH = 3, GRAPHS = 4000 };

/* ---- graphs -------------------------------------------------------------------------------- */

/* Any elementwise operator. */
static void add_elementwise(RandomGraph *r) {
  Op op = (Op)draw(r, OP_COUNT);
  while (!op_is_elementwise(op)) op = (Op)draw(r, OP_COUNT);
  Node *a = draw_node(r), *b = fitting(r, a->type);
  const Maker *m = &r->maker;
  if (op == OP_CAST || op == OP_WHERE) return add_binary(r);
  if (op == OP_NOT || op == OP_AND || op == OP_OR) {
    a = make_binary(m, OP_LT, a, b);
    b = make_binary(m, OP_GE, b, a->type.dtype == DTYPE_BOOL ? b : a);
  }
  Node *y = op_info(op)->most_operands == 1 ? make_unary(m, op, a) : make_binary(m, op, a, b);
  pool_add(r, y->type.dtype == DTYPE_F32 ? y : make_cast(m, y, DTYPE_F32));
}

static void add_order(RandomGraph *r) {
  Node *x = draw_node(r);
  if (x->type.shape.rank == 0) return;
  Attribute descending = attr_make_int(ATTR_DESCENDING, draw(r, 2));
  Node *order = add_node(r, OP_ARGSORT, x, NULL, 1, &descending);
  vec_push(r->module->arena, &r->integers, order);
  pool_add(r, make_cast(&r->maker, order, DTYPE_F32));
}

static void add_counts(RandomGraph *r) {
  Node *x = draw_node(r);
  if (x->type.shape.rank == 0) return;
  pool_add(r, make_iota(&r->maker, x->type, (int)draw(r, x->type.shape.rank)));
  int axis = (int)draw(r, x->type.shape.rank);
  Node *worst = make_arg(&r->maker, OP_ARGMIN, x, axis);
  vec_push(r->module->arena, &r->integers, worst);
  pool_add(r, make_unpick(&r->maker, make_cast(&r->maker, worst, DTYPE_F32), worst, axis,
                          x->type.shape));
  pool_add(r, make_reduce(&r->maker, OP_REDUCE_PROD, tame(r, x), 1, (int64_t[]){axis}));
}

static void add_own_gradient(RandomGraph *r) {
  Node *x = draw_node(r), *y = fitting(r, x->type);
  Graph *rule = graph_create(r->module->arena, "rule");
  Maker maker = {rule, {0}, "rule"};
  output(rule, OUTPUT_RESULT, "0", make_argument(&maker, x->type, 0));
  pool_add(r, make_own_gradient(&r->maker, rule, 2, (Node *[]){x, y}));
}

/* carry' = f(carry, element, invariant), which also comes out. */
static void add_scan(RandomGraph *r) {
  Node *sequence = draw_node(r), *unit = NULL;
  Shape x = sequence->type.shape;
  if (x.rank == 0) return;
  Type element = type_make(DTYPE_F32, shape_make(x.rank - 1, x.dim + 1));
  Node *operands[3] = {fitting(r, element), sequence, fitting(r, element)};
  Graph *body = graph_create(r->module->arena, "body");
  RandomGraph inside = {.state = r->state, .module = r->module, .maker = {body, {0}, "body"}};
  for (int i = 0; i < 3; i++) pool_add(&inside, make_argument(&inside.maker, element, i));
  typedef void (*Grow)(RandomGraph * r);
  static const Grow grow[] = {add_unary, add_binary,    add_movement,   add_movement,
                              add_rows,  add_reduction, add_contraction};
  for (int i = 0; i < 6; i++) grow[draw(&inside, 7)](&inside);
  r->state = inside.state;
  unit = tame(&inside, fitting(&inside, element));
  unit = make_binary(&inside.maker, OP_ADD, unit, inside.pool.items[draw(&inside, 3)]);
  output(body, OUTPUT_RESULT, "0", tame(&inside, unit));
  output(body, OUTPUT_RESULT, "1", draw_node(&inside));
  ScanShape shape = {.carries = 1, .sequences = 1, .length = x.dim[0], .reverse = draw(r, 2)};
  Node *scan = make_scan(&r->maker, body, shape, 3, operands);
  for (int i = 0; i < 2; i++) {
    Node *result = make_scan_result(&r->maker, scan, i);
    if (result->type.dtype == DTYPE_F32 && result->type.shape.rank < 5) pool_add(r, result);
  }
}

/* A checked index, with the number of each of its elements: those differ from place to place. */
static void add_check(RandomGraph *r) {
  Node *index = r->integers.items[draw(r, r->integers.count)];
  Shape shape = index->type.shape, flat = {.rank = 1, .dim = {shape_elements(shape)}};
  Node *numbers = make_iota(&r->maker, type_make(DTYPE_I64, flat), 0);
  Attribute attributes[] = {attr_make_string(ATTR_NAME, name_intern("pick")),
                            attr_make_int(ATTR_AXIS, 0), attr_make_int(ATTR_LENGTH, 6),
                            attr_make_int(ATTR_INDEX, 0),
                            attr_make_ints(ATTR_EXTENTS, shape.rank, shape.dim)};
  Node *checked =
      add_node(r, OP_CHECK_INDEX, index, make_reshape(&r->maker, numbers, shape), 5, attributes);
  vec_push(r->module->arena, &r->integers, checked);
}

/* Rows that fixed numbers add up. */
static void add_rows_up(RandomGraph *r) {
  Node *x = draw_node(r);
  Shape shape = x->type.shape;
  if (shape.rank < 2 || shape.dim[0] != BATCH) return;
  shape.dim[0] = 4;
  pool_add(r, make_scatter_add(&r->maker, x, r->integers.items[1], shape));
}

/* The examples as the batch, the heads or the queries of attention, and its adjoints. */
static void add_attention(RandomGraph *r) {
  const Maker *m = &r->maker;
  Node *x = draw_node(r);
  Shape shape = {.rank = 4, .dim = {1, 1, 1, 1}}, from = x->type.shape;
  if (from.rank == 0) return;
  int first = (int)draw(r, 3);
  for (int i = 0; i < from.rank; i++) shape.dim[i == 0 ? first : 3] *= from.dim[i];
  Node *q = make_reshape(m, tame(r, x), shape);
  Type other = type_make(DTYPE_F32, shape);
  if (first == 2 && draw(r, 2)) other.shape.dim[2] = 4;
  Node *operands[6] = {q, tame(r, fitting(r, other)), fitting(r, other), fitting(r, q->type)};
  Attribute all[3] = {attr_make_int(ATTR_DTYPE, DTYPE_F32), attr_make_float(ATTR_SCALE, 0.5),
                      attr_make_int(ATTR_CAUSAL, 1)};
  const Attribute *attributes = all + 1;
  int count = 1 + (int)draw(r, 2);
  Node *y = make_node(m, OP_ATTENTION, 3, operands, count, attributes);
  operands[4] = make_node(m, OP_ATTENTION_LSE, 2, operands, count + 1, all);
  int64_t last = 3;
  Node *product = make_binary(m, OP_MUL, y, operands[3]);
  operands[5] = make_reduce(m, OP_REDUCE_SUM, product, 1, &last);
  pool_add(r, y);
  pool_add(r, operands[4]);
  pool_add(r, make_node(m, OP_ATTENTION_GRAD_Q, 6, operands, count, attributes));
  pool_add(r, make_node(m, OP_ATTENTION_GRAD_KV, 6, operands, count, attributes));
  operands[4] = make_node(m, OP_ATTENTION_ROWS, 3, operands, count + 1, all);
  pool_add(r, operands[4]);
  pool_add(r, make_node(m, OP_ATTENTION_GRADS, 5, operands, count, attributes));
}

/* The batch in another place, or merged with another axis. */
static void add_place(RandomGraph *r) {
  Node *x = draw_node(r);
  Shape shape = x->type.shape;
  if (shape.rank < 2) return;
  Shape merged = {.rank = shape.rank - 1};
  int at = (int)draw(r, merged.rank);
  for (int i = 0, k = 0; i < merged.rank; i++, k++) {
    merged.dim[i] = shape.dim[k];
    if (i == at) merged.dim[i] *= shape.dim[++k];
  }
  Node *y = make_reshape(&r->maker, x, merged);
  pool_add(r, y);
  pool_add(r, make_reshape(&r->maker, tame(r, y), shape));
}

static Graph *draw_graph(Arena *arena, uint64_t seed) {
  RandomGraph *r = ARENA_NEW(arena, RandomGraph);
  r->state = seed * 0x9E3779B97F4A7C15u + 1;
  r->module = module_create(arena, "random", NULL);
  r->maker = entry_maker(r->module, ENTRY_EVAL, "node");
  for (int i = 0; i < 3; i++) {
    Type type = type_make(DTYPE_F32, draw_shape(r));
    pool_add(r, leaf(&r->maker, OP_PARAM, type, name_printf("v%d", i)));
    if (type.shape.rank == MAX_RANK) continue;
    for (int k = type.shape.rank++; k > 0; k--) type.shape.dim[k] = type.shape.dim[k - 1];
    type.shape.dim[0] = BATCH;
    pool_add(r, leaf(&r->maker, OP_INPUT, type, name_printf("x%d", i)));
  }
  Type labels = TYPE(U8, BATCH, 1 + draw(r, 3));
  vec_push(arena, &r->integers, leaf(&r->maker, OP_INPUT, labels, "labels"));
  vec_push(arena, &r->integers, leaf(&r->maker, OP_PARAM, TYPE(I32, 3), "numbers"));
  typedef void (*Grow)(RandomGraph * r);
  static const Grow grow[] = {
      add_unary,       add_binary,   add_binary,      add_rows,         add_reduction,
      add_reshape,     add_movement, add_place,       add_place,        add_contraction,
      add_gather,      add_gather,   add_convolution, add_pooling,      add_elementwise,
      add_elementwise, add_order,    add_counts,      add_own_gradient, add_scan,
      add_random,      add_scalar,   add_rows_up,     add_check,        add_attention};
  int operators = 6 + (int)draw(r, 14);
  for (int i = 0; i < operators; i++) grow[draw(r, sizeof grow / sizeof *grow)](r);
  Graph *graph = r->maker.graph;
  for (int i = 0; i < graph->nodes.count; i++) /* so that all are evaluated */
    if (!graph->nodes.items[i]->body)
      output(graph, OUTPUT_RESULT, name_printf("r%d", i), graph->nodes.items[i]);
  return graph;
}

/* ---- examples ------------------------------------------------------------------------------ */

/* Example i of the inputs is number order[i] of those that there are: 3 of the batch, 2 others. */
static Evaluation *evaluate_examples(Arena *arena, const Graph *graph, const int *order) {
  VEC(Binding) bindings = {0};
  for (int n = 0; n < graph->nodes.count; n++) {
    const Node *node = graph->nodes.items[n];
    bool is_number = node->type.dtype != DTYPE_F32;
    if (node->op != OP_INPUT && !(node->op == OP_PARAM && is_number)) continue;
    const char *name = node_string(node, ATTR_NAME);
    Tensor *value = tensor_create(arena, node->type);
    int64_t count = shape_elements(node->type.shape), row = count / BATCH;
    for (int64_t i = 0; i < count; i++) {
      int64_t example = node->op == OP_INPUT ? order[i / row] : i / row;
      uint64_t seed = (uint64_t)(example * row + i % row) + 977u * (uint64_t)name[1];
      seed = (seed + 1) * 0x9E3779B97F4A7C15u;
      seed ^= seed >> 29;
      value->data[i] = is_number ? (double)(seed % 4) : (double)(seed % 4093) / 1024 - 2;
    }
    vec_push(arena, &bindings, ((Binding){node->op, name, value}));
  }
  return evaluate_with(arena, graph, bindings.count, bindings.items);
}

static bool is_close(double x, double y) {
  return x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= 1e-9 * fmax(fabs(x), fabs(y));
}

/* Whether piece i of `a` is piece k of `b`; the pieces lie along `axis`. */
static bool same_piece(const Tensor *a, int i, const Tensor *b, int k, int axis) {
  Shape shape = a->type.shape;
  int64_t inner = shape.dim[axis] / BATCH;
  for (int d = axis + 1; d < shape.rank; d++) inner *= shape.dim[d];
  for (int64_t from = 0; from < shape_elements(shape); from += BATCH * inner)
    for (int64_t e = 0; e < inner; e++)
      if (!is_close(a->data[from + i * inner + e], b->data[from + k * inner + e])) return false;
  return true;
}

typedef struct Tally {
  int separate[OP_COUNT], other[OP_COUNT];
} Tally;

/* The examples turned round, and two of the three exchanged for others. */
static void check_node(Evaluation *const *e, const Node *node, const Flow *flow, uint64_t seed) {
  const Tensor *value = evaluation_node(e[0], node);
  const char *name = op_info(node->op)->name;
  int axis = flow->axis;
  for (int i = 0; i < BATCH && flow->kind == FLOW_SEPARATE; i++)
    if (!same_piece(value, i, evaluation_node(e[1], node), (i + 1) % BATCH, axis))
      fail_msg("graph %d, %%%d = %s: example %d lies elsewhere", (int)seed, node->id, name, i);
  if (flow->kind == FLOW_SEPARATE && !same_piece(value, 1, evaluation_node(e[2], node), 1, axis))
    fail_msg("graph %d, %%%d = %s: other examples matter", (int)seed, node->id, name);
  if (flow->kind != FLOW_NONE) return;
  for (int64_t i = 0; i < shape_elements(value->type.shape); i++)
    if (!is_close(value->data[i], evaluation_node(e[2], node)->data[i]))
      fail_msg("graph %d, %%%d = %s: an example matters", (int)seed, node->id, name);
  for (int a = 0; a < node->type.shape.rank; a++)
    for (int i = 1; flow->alike >> a & 1 && i < BATCH; i++)
      if (!same_piece(value, 0, value, i, a))
        fail_msg("graph %d, %%%d = %s: pieces differ", (int)seed, node->id, name);
}

static void check_graph(uint64_t seed, Tally *tally) {
  static const int orders[3][BATCH] = {{0, 1, 2}, {2, 0, 1}, {3, 1, 4}};
  Arena *arena = arena_create();
  const Graph *graph = draw_graph(arena, seed);
  const Flow *flow = flow_find(arena, graph, BATCH, NULL);
  Evaluation *e[3];
  for (int i = 0; i < 3; i++) e[i] = evaluate_examples(arena, graph, orders[i]);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    const Flow *own = &flow[node->id];
    if (!node->body && shape_elements(node->type.shape) > 0) check_node(e, node, own, seed);
    *(own->kind == FLOW_SEPARATE ? &tally->separate[node->op] : &tally->other[node->op]) += 1;
  }
  arena_destroy(arena);
}

/* Operators that no value of an example comes out of, or that the graphs do not have. */
static bool has_no_examples(Op op) {
  const OpClass *class = op_info(op)->class;
  return (class->family == FAMILY_LEAF && class->leaf != LEAF_INPUT) || class->draw ||
         class->owns_body || op == OP_CONV_WEIGHT || op == OP_EXTERN || op == OP_GRADIENT;
}

static void test_flow_is_what_values_do(void **state) {
  (void)state;
  Tally tally = {0};
  for (uint64_t seed = 0; seed < GRAPHS; seed++) check_graph(seed, &tally);
  for (int op = 0; op < OP_COUNT; op++)
    if (!has_no_examples((Op)op) && tally.separate[op] < 5)
      fail_msg("%s: examples went through it apart %d times only", op_info((Op)op)->name,
               tally.separate[op]);
}

/* ---- operators alone ----------------------------------------------------------------------- */

/* An operator without a `cut` rule mixes what it is given. */
static void test_no_rule_mixes(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Module *module = module_create(arena, "m", NULL);
  Maker m = entry_maker(module, ENTRY_EVAL, "n");
  Node *x = leaf(&m, OP_INPUT, TYPE(F32, BATCH, 4), "x");
  Attribute attributes[] = {
      attr_make_string(ATTR_NAME, name_intern("f")), attr_make_int(ATTR_DTYPE, DTYPE_F32),
      attr_make_ints(ATTR_SHAPE, 2, x->type.shape.dim), attr_make_int(ATTR_ROWWISE, 1)};
  Node *plain = make_node(&m, OP_EXTERN, 1, &x, 3, attributes);
  Node *rows = make_node(&m, OP_EXTERN, 1, &x, 4, attributes);
  const Flow *flow = flow_find(arena, m.graph, BATCH, NULL);
  assert_int_equal(flow[plain->id].kind, FLOW_MIXED);
  assert_int_equal(flow[plain->id].cause, CAUSE_MOVED);
  assert_ptr_equal(flow[plain->id].by, plain);
  assert_int_equal(flow[rows->id].kind, FLOW_SEPARATE);
  arena_destroy(arena);
}

/* x - mean(x), x @ x.T, x + arange(batch): each with its cause. */
static void test_causes(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Module *module = module_create(arena, "m", NULL);
  Maker m = entry_maker(module, ENTRY_EVAL, "n");
  Node *x = leaf(&m, OP_INPUT, TYPE(F32, BATCH, 4), "x");
  int64_t columns = 1;
  Node *mean = make_reduce(&m, OP_REDUCE_MEAN, x, 1, (int64_t[]){0});
  Node *centred = make_binary(&m, OP_SUB, x, make_broadcast(&m, mean, x->type.shape, &columns));
  ContractAxes axes = {.sum_count = 1, .sum_left = {1}, .sum_right = {1}};
  Node *pairs = make_contract(&m, x, x, &axes);
  Node *place = make_add(&m, x, make_iota(&m, x->type, 0));
  Node *column = make_add(&m, x, make_iota(&m, x->type, 1));
  Node *sum = make_reduce(&m, OP_REDUCE_SUM, centred, 2, (int64_t[]){0, 1});
  const Flow *flow = flow_find(arena, m.graph, BATCH, NULL);
  assert_int_equal(flow[mean->id].kind, FLOW_JOINED);
  assert_int_equal(flow[centred->id].cause, CAUSE_JOINED);
  assert_ptr_equal(flow[centred->id].by, mean);
  assert_int_equal(flow[pairs->id].cause, CAUSE_PAIRS);
  assert_int_equal(flow[place->id].kind, FLOW_MIXED);
  assert_int_equal(flow[place->id].cause, CAUSE_PLACE);
  assert_int_equal(flow[column->id].kind, FLOW_SEPARATE);
  assert_int_equal(flow[sum->id].kind, FLOW_MIXED);
  assert_int_equal(flow_find(arena, m.graph, 1, NULL)[sum->id].kind, FLOW_SEPARATE);
  arena_destroy(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_flow_is_what_values_do),
      cmocka_unit_test(test_no_rule_mixes),
      cmocka_unit_test(test_causes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
