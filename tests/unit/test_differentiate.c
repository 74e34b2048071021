/* The differentiate pass: what it promises of targets, losses, names and sizes, and whole networks
 * whose gradients it writes out. The operators' rules one by one are test_gradients.c. */
#include <math.h>
#include <string.h>

#include "build_graph.h"
#include "interpret/check_gradients.h"
#include "ops/own_gradient.h"
#include "ops/scan.h"
#include "passes/pass.h"

static void expect(const char *what, int count, const double *given, const double *expected) {
  for (int i = 0; i < count; i++)
    if (!(fabs(given[i] - expected[i]) < 1e-12) && !(given[i] == expected[i]))
      fail_msg("%s: element %d is %g, not %g", what, i, given[i], expected[i]);
}

/* ---- small graphs ---- */

typedef struct Fixture {
  Arena *arena;
  Graph *graph;
  Maker maker;
  Node *a, *b;
} Fixture;

static Fixture fixture_create(void) {
  Fixture f = {.arena = arena_create()};
  f.graph = graph_create(f.arena, "train");
  f.maker = maker_of(f.graph, "y");
  f.a = leaf(f.graph, OP_PARAM, type_make(DTYPE_F64, SHAPE(3)), "a");
  f.b = leaf(f.graph, OP_PARAM, type_make(DTYPE_F64, SHAPE(3)), "b");
  return f;
}

static const Tensor *fixture_result(Fixture *f, int output) {
  Module *module = module_of(f->arena, f->graph);
  pass_find("differentiate")->run(module, diagnostics_create(f->arena));
  Graph *graph = module->entries[ENTRY_TRAIN];
  for (int i = 0; i < graph->nodes.count; i++)
    assert_int_not_equal(graph->nodes.items[i]->op, OP_GRADIENT);
  Binding bindings[] = {
      {OP_PARAM, name_intern("a"), tensor_of(f->arena, f->a->type, (double[]){1, 2, 3})},
      {OP_PARAM, name_intern("b"), tensor_of(f->arena, f->b->type, (double[]){4, 5, 6})}};
  EvaluateContext context = {0};
  return evaluation_output(graph_evaluate(f->arena, graph, 2, bindings, &context), output);
}

static void test_stop_gradient_cuts(void **state) {
  (void)state;
  Fixture f = fixture_create();
  Node *cut = make_unary(&f.maker, OP_STOP_GRADIENT, f.a);
  Node *loss = sum_all(&f.maker, make_binary(&f.maker, OP_MUL, f.a, cut));
  add_output(f.graph, OUTPUT_RESULT, "da", gradient_of(&f.maker, loss, f.a));
  expect("a * stop(a)", 3, fixture_result(&f, 0)->data, (double[]){1, 2, 3});
  arena_destroy(f.arena);
}

static void test_no_dependence_gives_zeros(void **state) {
  (void)state;
  Fixture f = fixture_create();
  Node *loss = sum_all(&f.maker, f.a);
  add_output(f.graph, OUTPUT_RESULT, "db", gradient_of(&f.maker, loss, f.b));
  expect("db", 3, fixture_result(&f, 0)->data, (double[]){0, 0, 0});
  arena_destroy(f.arena);
}

static void test_uses_add_up(void **state) {
  (void)state;
  Fixture f = fixture_create();
  Node *square = make_binary(&f.maker, OP_MUL, f.a, f.a);
  Node *loss = sum_all(&f.maker, make_add(&f.maker, square, make_add(&f.maker, f.a, f.a)));
  add_output(f.graph, OUTPUT_RESULT, "da", gradient_of(&f.maker, loss, f.a));
  expect("2a + 2", 3, fixture_result(&f, 0)->data, (double[]){4, 6, 8});
  arena_destroy(f.arena);
}

static void test_inner_nodes_are_targets_too(void **state) {
  (void)state;
  Fixture f = fixture_create();
  Node *h = make_binary(&f.maker, OP_MUL, f.a, f.b);
  Node *loss = sum_all(&f.maker, make_binary(&f.maker, OP_MUL, h, h));
  add_output(f.graph, OUTPUT_RESULT, "dh", gradient_of(&f.maker, loss, h));
  add_output(f.graph, OUTPUT_RESULT, "da", gradient_of(&f.maker, loss, f.a));
  expect("2h", 3, fixture_result(&f, 0)->data, (double[]){8, 20, 36});
  f.graph = f.maker.graph;
  expect("2hb", 3, fixture_result(&f, 1)->data, (double[]){32, 100, 216});
  arena_destroy(f.arena);
}

/* da and db of sum(a + b) are the same node; differentiating by one must not move the other. */
static void test_gradients_are_targets_too(void **state) {
  (void)state;
  Fixture f = fixture_create();
  Node *loss = sum_all(&f.maker, make_add(&f.maker, f.a, f.b));
  Node *da = gradient_of(&f.maker, loss, f.a), *db = gradient_of(&f.maker, loss, f.b);
  Node *second = sum_all(&f.maker, make_add(&f.maker, make_binary_value(&f.maker, OP_MUL, da, 2),
                                            make_binary_value(&f.maker, OP_MUL, db, 3)));
  add_output(f.graph, OUTPUT_RESULT, "dda", gradient_of(&f.maker, second, da));
  expect("2", 3, fixture_result(&f, 0)->data, (double[]){2, 2, 2});
  arena_destroy(f.arena);
}

static void test_two_losses(void **state) {
  (void)state;
  Fixture f = fixture_create();
  Node *first = sum_all(&f.maker, f.a);
  Node *second = sum_all(&f.maker, make_binary(&f.maker, OP_MUL, f.a, f.b));
  add_output(f.graph, OUTPUT_RESULT, "first", gradient_of(&f.maker, first, f.a));
  add_output(f.graph, OUTPUT_RESULT, "second", gradient_of(&f.maker, second, f.a));
  expect("1", 3, fixture_result(&f, 0)->data, (double[]){1, 1, 1});
  expect("b", 3, fixture_result(&f, 1)->data, (double[]){4, 5, 6});
  arena_destroy(f.arena);
}

/* A chain of n products with n parameters needs nodes linear in n: one sweep, not n. */
static int nodes_of_chain(int parameters) {
  Arena *arena = arena_create();
  Graph *graph = graph_create(arena, "train");
  Maker maker = maker_of(graph, "y");
  Type type = type_make(DTYPE_F64, SHAPE(2));
  Node *x = leaf(graph, OP_INPUT, type, "x"), *leaves[64];
  for (int i = 0; i < parameters; i++) {
    leaves[i] = leaf(graph, OP_PARAM, type, name_printf("w%d", i));
    x = make_binary(&maker, OP_MUL, x, leaves[i]);
  }
  Node *loss = sum_all(&maker, x);
  for (int i = 0; i < parameters; i++)
    add_output(graph, OUTPUT_RESULT, name_printf("d%d", i), gradient_of(&maker, loss, leaves[i]));
  Module *module = module_of(arena, graph);
  pass_find("differentiate")->run(module, diagnostics_create(arena));
  int count = module->entries[ENTRY_TRAIN]->nodes.count;
  arena_destroy(arena);
  return count;
}

static void test_one_sweep_for_all_parameters(void **state) {
  (void)state;
  int increase = nodes_of_chain(8) - nodes_of_chain(4);
  assert_int_equal(nodes_of_chain(64) - nodes_of_chain(32), 8 * increase);
}

static int nodes_called(const Graph *graph, const char *path) {
  int count = 0;
  for (int i = 0; i < graph->nodes.count; i++)
    count += strcmp(graph->nodes.items[i]->path, path) == 0;
  return count;
}

static void test_names_of_gradient_nodes(void **state) {
  (void)state;
  Fixture f = fixture_create();
  Node *x = make_node(&(Maker){f.graph, (Span){.line = 7}, "h1.exp"}, OP_EXP, 1, &f.a, 0, NULL);
  Node *y = make_node(&(Maker){f.graph, (Span){.line = 8}, "h2.exp"}, OP_EXP, 1, &x, 0, NULL);
  add_output(f.graph, OUTPUT_RESULT, "da", gradient_of(&f.maker, sum_all(&f.maker, y), f.a));
  Module *module = module_of(f.arena, f.graph);
  pass_find("differentiate")->run(module, diagnostics_create(f.arena));
  const Graph *graph = module->entries[ENTRY_TRAIN];
  const Node *result = graph->outputs.items[0].node;
  assert_string_equal(result->path, "a.grad");
  assert_int_equal(result->span.line, 7);
  assert_int_equal(nodes_called(graph, "h2.exp.grad"), 1);
  assert_int_equal(nodes_called(graph, "h1.exp.grad"), 0);
  arena_destroy(f.arena);
}

static void test_low_precision_keeps_its_type(void **state) {
  (void)state;
  Fixture f = fixture_create();
  Node *low = make_cast(&f.maker, f.a, DTYPE_BF16);
  Node *loss =
      make_cast(&f.maker, sum_all(&f.maker, make_binary(&f.maker, OP_MUL, low, low)), DTYPE_F32);
  add_output(f.graph, OUTPUT_RESULT, "da", gradient_of(&f.maker, loss, f.a));
  expect("2a", 3, fixture_result(&f, 0)->data, (double[]){2, 4, 6});
  arena_destroy(f.arena);
}

/* ---- networks: what rules and sweep give together, judged by the check of gradients ---- */

typedef struct Network {
  Arena *arena;
  Module *module;
  Graph *init;
  Maker maker;
} Network;

static Network network_create(void) {
  Network net = {.arena = arena_create()};
  net.module = module_create(net.arena, "network", NULL);
  net.init = net.module->entries[ENTRY_INIT] = graph_create(net.arena, "init");
  net.maker = maker_of(net.module->entries[ENTRY_TRAIN] = graph_create(net.arena, "train"), "net");
  return net;
}

/* A parameter that starts normally distributed. */
static Node *parameter(Network *net, const char *name, Shape shape) {
  Type type = type_make(DTYPE_F64, shape);
  vec_push(net->arena, &net->module->variables,
           ((Variable){.kind = VARIABLE_PARAM, .path = name_intern(name), .type = type}));
  Attribute attributes[2] = {attr_make_int(ATTR_STREAM, 0), attr_make_string(ATTR_KEY, name)};
  Node *start =
      make_leaf(&(Maker){net->init, (Span){0}, name}, OP_RANDOM_NORMAL, type, 2, attributes);
  add_output(net->init, OUTPUT_STORE, name, start);
  return leaf(net->maker.graph, OP_PARAM, type, name);
}

static Node *input(Network *net, const char *name, DType dtype, Shape shape) {
  Type type = type_make(dtype, shape);
  vec_push(net->arena, &net->module->inputs,
           ((InputInfo){.name = name_intern(name), .type = type, .is_batched = true}));
  return leaf(net->maker.graph, OP_INPUT, type, name);
}

/* Trains all parameters by the loss, and checks. */
static void check_network(Network *net, Node *loss) {
  for (int i = 0; i < net->module->variables.count; i++) {
    const Variable *variable = &net->module->variables.items[i];
    Node *target = leaf(net->maker.graph, OP_PARAM, variable->type, variable->path);
    for (int k = 0; k < net->maker.graph->nodes.count; k++) {
      Node *node = net->maker.graph->nodes.items[k];
      if (node->op != OP_PARAM || strcmp(node_string(node, ATTR_NAME), variable->path) != 0)
        continue;
      target = node;
      break;
    }
    add_output(net->maker.graph, OUTPUT_STORE, variable->path,
               gradient_of(&net->maker, loss, target));
  }
  Text table = {0};
  GradientCheck check = {.seed = 5, .samples = 12, .tolerance = 1e-6};
  if (!check_gradients(net->arena, net->module, pass_find("differentiate")->run, &check, &table,
                       diagnostics_create(net->arena)))
    fail_msg("%s", table.data);
  text_free(&table);
  arena_destroy(net->arena);
}

static Node *times(const Maker *m, Node *a, Node *b) { return make_binary(m, OP_MUL, a, b); }

/* `row` repeated so that its axis lies at `axis` of `like`. */
static Node *along(const Maker *m, Node *row, int64_t axis, const Node *like) {
  return make_broadcast(m, row, like->type.shape, &axis);
}

/* Reduces the last axis and repeats the result along it again. */
static Node *over_last(const Maker *m, Op op, Node *x) {
  int64_t last = x->type.shape.rank - 1, others[MAX_RANK];
  for (int i = 0; i < last; i++) others[i] = i;
  return make_broadcast(m, make_reduce(m, op, x, 1, &last), x->type.shape, others);
}

static Node *softmax(const Maker *m, Node *x) {
  Node *shifted = make_binary(m, OP_SUB, x, over_last(m, OP_REDUCE_MAX, x));
  Node *power = make_unary(m, OP_EXP, shifted);
  return make_binary(m, OP_DIV, power, over_last(m, OP_REDUCE_SUM, power));
}

/* -mean(log softmax(logits)[label]); logits: [n, classes]  label: [n] */
static Node *cross_entropy(const Maker *m, Node *logits, Node *label) {
  Node *chosen = make_pick(m, make_unary(m, OP_LOG, softmax(m, logits)), label, 1);
  return make_unary(m, OP_NEG, make_reduce(m, OP_REDUCE_MEAN, chosen, 1, (int64_t[]){0}));
}

/* x: [n, a]  w: [a, b] */
static Node *matmul(const Maker *m, Node *x, Node *w) {
  return make_contract(m, x, w, &(ContractAxes){.sum_count = 1, .sum_left = {1}});
}

/* Convolution, bias, batch normalization, ReLU, overlapping max pooling, linear, cross-entropy. */
static void test_convolutional_network(void **state) {
  (void)state;
  Network net = network_create();
  const Maker *m = &net.maker;
  Node *x = make_cast(m, input(&net, "image", DTYPE_U8, SHAPE(3, 2, 6, 6)), DTYPE_F64);
  Node *w = parameter(&net, "conv.w", SHAPE(4, 1, 3, 3)), *label;
  Attribute same[] = {INTS(STRIDE, 1, 1), INTS(LOW, 1, 1), INTS(HIGH, 1, 1), INTS(DILATION, 1, 1),
                      INT(GROUPS, 2)};
  x = make_binary_value(m, OP_DIV, x, 255);
  Node *h = make_node(&(Maker){m->graph, (Span){0}, "conv"}, OP_CONV, 2, (Node *[]){x, w}, 5, same);
  int64_t axes[] = {0, 2, 3};
  Node *mean = make_reduce(m, OP_REDUCE_MEAN, h, 3, axes);
  Node *centred = make_binary(m, OP_SUB, h, along(m, mean, 1, h));
  Node *variance = make_reduce(m, OP_REDUCE_MEAN, times(m, centred, centred), 3, axes);
  Node *scale = make_unary(m, OP_RSQRT, make_binary_value(m, OP_ADD, variance, 1e-5));
  h = times(m, centred, along(m, times(m, scale, parameter(&net, "gamma", SHAPE(4))), 1, h));
  h = make_add(m, h, along(m, parameter(&net, "beta", SHAPE(4)), 1, h));
  h = make_binary_value(m, OP_MAX, h, 0);
  Attribute pool[] = {INTS(KERNEL, 3, 3), INTS(STRIDE, 2, 2), INTS(LOW, 1, 1), INTS(HIGH, 1, 1),
                      INTS(DILATION, 1, 1)};
  h = make_node(&(Maker){m->graph, (Span){0}, "pool"}, OP_MAX_POOL, 1, &h, 5, pool);
  h = matmul(m, make_reshape(m, h, SHAPE(3, 36)), parameter(&net, "out.w", SHAPE(36, 5)));
  label = input(&net, "label", DTYPE_U8, SHAPE(3));
  check_network(&net, cross_entropy(m, h, label));
}

/* Embedding, one attention head with a causal mask, residual, tied output, cross-entropy. */
static void test_attention(void **state) {
  (void)state;
  enum { T = 4, C = 3, V = 6 };
  Network net = network_create();
  const Maker *m = &net.maker;
  Node *table = parameter(&net, "table", SHAPE(V, C));
  Node *x = make_gather(m, table, input(&net, "tokens", DTYPE_I32, SHAPE(T)));
  Node *q = matmul(m, x, parameter(&net, "q", SHAPE(C, C)));
  Node *k = matmul(m, x, parameter(&net, "k", SHAPE(C, C)));
  Node *v = matmul(m, x, parameter(&net, "v", SHAPE(C, C)));
  ContractAxes last = {.sum_count = 1, .sum_left = {1}, .sum_right = {1}};
  Node *scores = make_contract(m, q, k, &last);
  Type index = type_make(DTYPE_I32, scores->type.shape);
  Node *seen = make_binary(m, OP_GE, make_iota(m, index, 0), make_iota(m, index, 1));
  scores = make_where(m, seen, scores, make_constant(m, scores->type, -INFINITY));
  x = make_add(m, x, matmul(m, softmax(m, scores), v));
  Node *logits = make_contract(m, x, table, &last);
  check_network(&net, cross_entropy(m, logits, input(&net, "next", DTYPE_I32, SHAPE(T))));
}

/* A gradient penalty: the loss contains the norm of the gradient by the input. */
static void test_loss_of_a_gradient(void **state) {
  (void)state;
  Network net = network_create();
  const Maker *m = &net.maker;
  Node *x = input(&net, "x", DTYPE_F64, SHAPE(3, 4));
  Node *h = make_unary(m, OP_TANH, matmul(m, x, parameter(&net, "w1", SHAPE(4, 5))));
  Node *score = sum_all(m, matmul(m, h, parameter(&net, "w2", SHAPE(5, 1))));
  Node *slope = gradient_of(m, score, x);
  Node *squares = make_reduce(m, OP_REDUCE_SUM, times(m, slope, slope), 1, (int64_t[]){1});
  Node *excess = make_binary_value(m, OP_SUB, make_unary(m, OP_SQRT, squares), 1);
  check_network(&net, make_add(m, score, sum_all(m, times(m, excess, excess))));
}

/* A recurrent cell unrolled over five steps with shared weights. */
static void test_recurrence(void **state) {
  (void)state;
  Network net = network_create();
  const Maker *m = &net.maker;
  Node *x = input(&net, "x", DTYPE_F64, SHAPE(2, 5, 3));
  Node *w = parameter(&net, "w", SHAPE(3, 4)), *u = parameter(&net, "u", SHAPE(4, 4));
  Node *h = make_constant(m, type_make(DTYPE_F64, SHAPE(2, 4)), 0);
  for (int64_t t = 0; t < 5; t++) {
    Node *at =
        make_slice(m, x, (int64_t[]){0, t, 0}, (int64_t[]){2, t + 1, 3}, (int64_t[]){1, 1, 1});
    Node *sum = make_add(m, matmul(m, make_reshape(m, at, SHAPE(2, 3)), w), matmul(m, h, u));
    h = times(m, make_unary(m, OP_TANH, sum), make_unary(m, OP_SIGMOID, sum));
  }
  check_network(&net, sum_all(m, times(m, h, h)));
}

/* y = a b with ten times the gradient for a, computed from dy, b and y; none for b. */
static void test_own_gradient_is_told(void **state) {
  (void)state;
  Fixture f = fixture_create();
  Graph *rule = graph_create(f.arena, "gradient");
  Maker inside = {rule, (Span){0}, "rule"};
  Node *dy = make_argument(&inside, f.a->type, 0), *b = make_argument(&inside, f.b->type, 2);
  Node *part = make_binary_value(&inside, OP_MUL, make_binary(&inside, OP_MUL, dy, b), 10);
  graph_add_output(rule, (Output){.kind = OUTPUT_RESULT, .name = "a", .node = part});
  Node *product = make_binary(&f.maker, OP_MUL, f.a, f.b);
  Node *y = make_own_gradient(&f.maker, rule, 3, (Node *[]){product, f.a, f.b});
  Node *loss = sum_all(&f.maker, make_binary(&f.maker, OP_MUL, y, y));
  add_output(f.graph, OUTPUT_RESULT, "da", gradient_of(&f.maker, loss, f.a));
  add_output(f.graph, OUTPUT_RESULT, "db", gradient_of(&f.maker, loss, f.b));
  add_output(f.graph, OUTPUT_RESULT, "y", y);
  expect("10 b 2 y", 3, fixture_result(&f, 0)->data, (double[]){320, 1000, 2160});
  expect("nothing", 3, fixture_result(&f, 1)->data, (double[]){0, 0, 0});
  expect("y", 3, fixture_result(&f, 2)->data, (double[]){4, 10, 18});
  arena_destroy(f.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stop_gradient_cuts),
      cmocka_unit_test(test_no_dependence_gives_zeros),
      cmocka_unit_test(test_uses_add_up),
      cmocka_unit_test(test_inner_nodes_are_targets_too),
      cmocka_unit_test(test_gradients_are_targets_too),
      cmocka_unit_test(test_two_losses),
      cmocka_unit_test(test_one_sweep_for_all_parameters),
      cmocka_unit_test(test_names_of_gradient_nodes),
      cmocka_unit_test(test_low_precision_keeps_its_type),
      cmocka_unit_test(test_convolutional_network),
      cmocka_unit_test(test_attention),
      cmocka_unit_test(test_loss_of_a_gradient),
      cmocka_unit_test(test_recurrence),
      cmocka_unit_test(test_own_gradient_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
