/* The interpreter: graphs, runs of several steps, made-up inputs, and the check of gradients,
 * which must also notice what is wrong. */
#include <math.h>
#include <string.h>

#include "build_graph.h"
#include "elaborate/elaborate.h"
#include "interpret/check_gradients.h"
#include "interpret/inputs.h"
#include "ops/own_gradient.h"
#include "ops/scan.h"
#include "passes/pass.h"
#include "support/hash.h"
#include "syntax/parse.h"

/* ---- graphs ---- */

static void test_only_live_nodes_are_evaluated(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Graph *graph = graph_create(arena, "g");
  Maker maker = maker_of(graph, "y");
  Type type = type_make(DTYPE_F64, SHAPE(2));
  Node *x = leaf(graph, OP_INPUT, type, "x");
  leaf(graph, OP_INPUT, type, "unbound but unused");
  Node *twice = make_add(&maker, x, x);
  add_output(graph, OUTPUT_RESULT, "y", make_add(&maker, twice, x));
  add_output(graph, OUTPUT_RESULT, "x", x);
  Binding binding = {OP_INPUT, name_intern("x"), tensor_of(arena, type, (double[]){1, 2})};
  EvaluateContext context = {0};
  Evaluation *all = graph_evaluate(arena, graph, 1, &binding, &context);
  assert_true(evaluation_node(all, twice)->data[1] == 4);
  Evaluation *outputs = graph_evaluate_outputs(arena, graph, 1, &binding, &context);
  assert_true(evaluation_output(outputs, 0)->data[1] == 6);
  assert_true(evaluation_output(outputs, 1)->data[1] == 2);
  /* The binding was copied. */
  assert_ptr_not_equal(evaluation_output(outputs, 1)->data, binding.value->data);
  arena_destroy(arena);
}

/* Memory that is used again must not disturb later values: a chain with two values alive. */
static void test_outputs_do_not_depend_on_reuse(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Graph *graph = graph_create(arena, "g");
  Maker maker = maker_of(graph, "y");
  Type type = type_make(DTYPE_F64, SHAPE(3));
  Node *a = leaf(graph, OP_INPUT, type, "x"), *b = make_unary(&maker, OP_NEG, a);
  for (int i = 0; i < 20; i++) {
    Node *next = make_binary(&maker, OP_SUB, a, make_binary_value(&maker, OP_MUL, b, 0.5));
    a = b;
    b = next;
    if (i % 7 == 0) add_output(graph, OUTPUT_RESULT, name_printf("o%d", i), next);
  }
  add_output(graph, OUTPUT_RESULT, "last", b);
  Binding binding = {OP_INPUT, name_intern("x"), tensor_of(arena, type, (double[]){1, -2, 3})};
  EvaluateContext context = {0};
  Evaluation *all = graph_evaluate(arena, graph, 1, &binding, &context);
  Evaluation *outputs = graph_evaluate_outputs(arena, graph, 1, &binding, &context);
  for (int i = 0; i < graph->outputs.count; i++)
    assert_memory_equal(evaluation_output(all, i)->data, evaluation_output(outputs, i)->data,
                        3 * sizeof(double));
  arena_destroy(arena);
}

static void test_refresh_follows_a_changed_leaf(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Graph *graph = graph_create(arena, "g");
  Maker maker = maker_of(graph, "y");
  Type type = type_scalar(DTYPE_F64);
  Node *a = leaf(graph, OP_PARAM, type, "a"), *b = leaf(graph, OP_PARAM, type, "b");
  add_output(graph, OUTPUT_RESULT, "y", make_binary(&maker, OP_MUL, a, make_add(&maker, b, b)));
  Binding bindings[] = {{OP_PARAM, name_intern("a"), tensor_of(arena, type, (double[]){3})},
                        {OP_PARAM, name_intern("b"), tensor_of(arena, type, (double[]){5})}};
  EvaluateContext context = {0};
  Evaluation *evaluation = graph_evaluate(arena, graph, 2, bindings, &context);
  assert_true(evaluation_output(evaluation, 0)->data[0] == 30);
  evaluation_leaf(evaluation, b)->data[0] = 7;
  evaluation_refresh(evaluation, b);
  assert_true(evaluation_output(evaluation, 0)->data[0] == 42);
  assert_true(bindings[1].value->data[0] == 5);
  arena_destroy(arena);
}

/* ---- a whole run: w <- w - rate * dL/dw with L = mean((x w - y)^2), rate = 0.1 / t ---- */

typedef struct Program {
  Arena *arena;
  Module *module;
} Program;

enum { BATCH = 4, WIDTH = 3 };

static void build_init(Module *module) {
  Graph *graph = module->entries[ENTRY_INIT] = graph_create(module->arena, "init");
  Maker maker = maker_of(graph, "w");
  Type type = type_make(DTYPE_F64, SHAPE(WIDTH));
  Attribute attributes[2] = {attr_make_int(ATTR_STREAM, 0), attr_make_string(ATTR_KEY, "w")};
  Node *w = make_leaf(&(Maker){graph, (Span){0}, "w"}, OP_RANDOM_NORMAL, type, 2, attributes);
  add_output(graph, OUTPUT_STORE, "w", w);
  add_output(graph, OUTPUT_STORE, "seen", make_constant(&maker, type_scalar(DTYPE_F64), 0));
}

static void build_host(Module *module) {
  Graph *graph = module->entries[ENTRY_HOST] = graph_create(module->arena, "host");
  Maker maker = maker_of(graph, "rate");
  Node *t = leaf(graph, OP_SCALAR, type_scalar(DTYPE_F64), "t");
  Node *tenth = make_constant(&maker, t->type, 0.1);
  add_output(graph, OUTPUT_SCALAR, "rate", make_binary(&maker, OP_DIV, tenth, t));
}

/* x with a gradient of its own, which is twice what it should be. */
static Node *twice_the_gradient(Maker *maker, Node *x) {
  Graph *rule = graph_create(maker->graph->arena, "rule");
  Maker inside = maker_of(rule, "rule");
  Node *dy = make_argument(&inside, x->type, 0);
  add_output(rule, OUTPUT_RESULT, "dx", make_add(&inside, dy, dy));
  return make_own_gradient(maker, rule, 2, (Node *[]){x, x});
}

/* With `broken`, differentiation is told something wrong. */
static Node *build_loss(Maker *maker, Node *w, bool broken) {
  Node *x = leaf(maker->graph, OP_INPUT, type_make(DTYPE_F64, SHAPE(BATCH, WIDTH)), "x");
  Node *y = leaf(maker->graph, OP_INPUT, type_make(DTYPE_F64, SHAPE(BATCH)), "y");
  Node *prediction = make_contract(maker, x, w, &(ContractAxes){.sum_count = 1, .sum_left = {1}});
  Node *error = make_binary(maker, OP_SUB, prediction, y);
  Node *other = broken ? twice_the_gradient(maker, error) : error;
  return make_reduce(maker, OP_REDUCE_MEAN, make_binary(maker, OP_MUL, error, other), 1,
                     (int64_t[]){0});
}

static void build_train(Module *module, bool broken) {
  Graph *graph = module->entries[ENTRY_TRAIN] = graph_create(module->arena, "train");
  Maker maker = maker_of(graph, "train");
  Node *w = leaf(graph, OP_PARAM, type_make(DTYPE_F64, SHAPE(WIDTH)), "w");
  Node *seen = leaf(graph, OP_STATE, type_scalar(DTYPE_F64), "seen");
  Node *rate = leaf(graph, OP_SCALAR, type_scalar(DTYPE_F64), "rate");
  Node *loss = build_loss(&maker, w, broken);
  Node *step = make_binary(&maker, OP_MUL, make_broadcast(&maker, rate, w->type.shape, NULL),
                           gradient_of(&maker, loss, w));
  add_output(graph, OUTPUT_STORE, "w", make_binary(&maker, OP_SUB, w, step));
  add_output(graph, OUTPUT_STORE, "seen", make_binary_value(&maker, OP_ADD, seen, BATCH));
  add_output(graph, OUTPUT_ACCUMULATOR, "loss.0", loss);
}

static void build_finish(Module *module) {
  Graph *graph = module->entries[ENTRY_FINISH] = graph_create(module->arena, "finish");
  Maker maker = maker_of(graph, "loss");
  Node *mean = leaf(graph, OP_SCALAR, type_scalar(DTYPE_F64), "loss.0");
  add_output(graph, OUTPUT_SCALAR, "loss", make_unary(&maker, OP_SQRT, mean));
}

static Program program_create(bool broken) {
  Program program = {.arena = arena_create()};
  Module *module = program.module = module_create(program.arena, "line", NULL);
  Type vector = type_make(DTYPE_F64, SHAPE(WIDTH));
  vec_push(program.arena, &module->variables,
           ((Variable){.kind = VARIABLE_PARAM, .path = name_intern("w"), .type = vector}));
  vec_push(program.arena, &module->variables,
           ((Variable){.kind = VARIABLE_STATE,
                       .path = name_intern("seen"),
                       .type = type_scalar(DTYPE_F64)}));
  vec_push(program.arena, &module->inputs,
           ((InputInfo){.name = name_intern("x"),
                        .is_batched = true,
                        .type = type_make(DTYPE_F64, SHAPE(BATCH, WIDTH))}));
  vec_push(program.arena, &module->inputs,
           ((InputInfo){.name = name_intern("y"),
                        .is_batched = true,
                        .type = type_make(DTYPE_F64, SHAPE(BATCH))}));
  build_init(module);
  build_host(module);
  build_train(module, broken);
  build_finish(module);
  return program;
}

/* The same step by hand; returns the loss. */
static double step_by_hand(double *w, const double *x, const double *y, double rate) {
  double loss = 0, gradient[WIDTH] = {0};
  for (int n = 0; n < BATCH; n++) {
    double error = -y[n];
    for (int i = 0; i < WIDTH; i++) error += x[n * WIDTH + i] * w[i];
    loss += error * error / BATCH;
    for (int i = 0; i < WIDTH; i++) gradient[i] += 2 * error * x[n * WIDTH + i] / BATCH;
  }
  for (int i = 0; i < WIDTH; i++) w[i] -= rate * gradient[i];
  return loss;
}

static void test_a_run_of_steps(void **state) {
  (void)state;
  Program program = program_create(false);
  Binding *inputs = random_inputs(program.arena, program.module, 1);
  pass_find("differentiate")->run(program.module, diagnostics_create(program.arena));
  Interpreter *interpreter = interpreter_create(program.arena, program.module, 9);
  double w[WIDTH];
  memcpy(w, interpreter_variable(interpreter, "w")->data, sizeof w);
  uint64_t key = philox_key(9, hash_text("w"));
  assert_true(w[0] == philox_normal(philox_block(key, 0, 0, 0), 0));
  for (int t = 1; t <= 10; t++) {
    double loss = step_by_hand(w, inputs[0].value->data, inputs[1].value->data, 0.1 / t);
    Evaluation *step =
        interpreter_run(interpreter, ENTRY_TRAIN, 2, inputs, (RunTime){t, 0, 10, 10});
    const Tensor *mean = evaluation_output(step, 2);
    assert_true(fabs(mean->data[0] - loss) < 1e-12);
    for (int i = 0; i < WIDTH; i++)
      assert_true(fabs(interpreter_variable(interpreter, "w")->data[i] - w[i]) < 1e-12);
    Binding accumulator = {OP_SCALAR, name_intern("loss.0"), mean};
    Evaluation *finish =
        interpreter_run(interpreter, ENTRY_FINISH, 1, &accumulator, (RunTime){t, 0, 10, 10});
    assert_true(fabs(evaluation_output(finish, 0)->data[0] - sqrt(loss)) < 1e-12);
  }
  assert_true(interpreter_variable(interpreter, "seen")->data[0] == 10 * BATCH);
  interpreter_destroy(interpreter);
  arena_destroy(program.arena);
}

/* ---- made-up inputs ---- */

/* The table has `rows` rows; `index` reaches it through a cast and a reshape. */
static Module *module_with_index(Arena *arena, DType dtype, int64_t rows) {
  Module *module = module_create(arena, "index", NULL);
  Graph *graph = module->entries[ENTRY_PREDICT] = graph_create(arena, "predict");
  Maker maker = maker_of(graph, "y");
  Node *index = leaf(graph, OP_INPUT, type_make(dtype, SHAPE(10, 40)), "index");
  Node *table = leaf(graph, OP_PARAM, type_make(DTYPE_F32, SHAPE(rows, 2)), "table");
  Node *flat = make_reshape(&maker, make_cast(&maker, index, DTYPE_I64), SHAPE(400));
  add_output(graph, OUTPUT_RESULT, "y", make_gather(&maker, table, flat));
  vec_push(arena, &module->inputs,
           ((InputInfo){.name = name_intern("index"), .type = index->type}));
  vec_push(arena, &module->inputs,
           ((InputInfo){.name = name_intern("image"), .type = type_make(DTYPE_U8, SHAPE(4000))}));
  vec_push(arena, &module->inputs,
           ((InputInfo){.name = name_intern("x"), .type = type_make(DTYPE_F32, SHAPE(4000))}));
  vec_push(arena, &module->inputs,
           ((InputInfo){.name = name_intern("mask"), .type = type_make(DTYPE_BOOL, SHAPE(100))}));
  return module;
}

static void extremes(const Tensor *tensor, double *least, double *greatest) {
  *least = INFINITY, *greatest = -INFINITY;
  for (int64_t i = 0; i < shape_elements(tensor->type.shape); i++) {
    *least = fmin(*least, tensor->data[i]);
    *greatest = fmax(*greatest, tensor->data[i]);
  }
}

static void test_random_inputs_are_in_range(void **state) {
  (void)state;
  Arena *arena = arena_create();
  double least, greatest;
  Binding *inputs = random_inputs(arena, module_with_index(arena, DTYPE_I32, 5), 3);
  extremes(inputs[0].value, &least, &greatest);
  assert_true(least == 0 && greatest == 4);
  extremes(inputs[1].value, &least, &greatest);
  assert_true(least == 0 && greatest == 255);
  extremes(inputs[2].value, &least, &greatest);
  assert_true(least < -2 && least > -6 && greatest > 2 && greatest < 6);
  extremes(inputs[3].value, &least, &greatest);
  assert_true(least == 0 && greatest == 1);
  inputs = random_inputs(arena, module_with_index(arena, DTYPE_U8, 1000), 3);
  extremes(inputs[0].value, &least, &greatest);
  assert_true(least >= 0 && greatest <= 255 && greatest > 200);
  arena_destroy(arena);
}

/* The values of an input `x` of [400, 4] of a program with these statements, which give `v`. */
static void check_values(const char *type, const char *statements, double first, double last) {
  Arena *arena = arena_create();
  const char *text = arena_printf(arena,
                                  "const batch = 400\ndata predict { x = npy(\"x.npy\") }\n"
                                  "input x : %s[batch, 4]\n"
                                  "param table : [5] = ones\n%s\n"
                                  "predict { v = v }\n",
                                  type, statements);
  Diagnostics *diagnostics = diagnostics_create(arena);
  const SourceFile *file = source_from_text(arena, "a.net", text, strlen(text));
  Module *module = elaborate(arena, diagnostics, parse_program(arena, diagnostics, file), NULL);
  if (!module) diagnostics_print(diagnostics, stderr, 0);
  assert_non_null(module);
  double least, greatest;
  extremes(random_inputs(arena, module, 3)[0].value, &least, &greatest);
  if (least != first || greatest != last)
    fail_msg("from %g to %g instead of %g to %g: %s", least, greatest, first, last, statements);
  arena_destroy(arena);
}

static void test_random_inputs_suit_the_program(void **state) {
  (void)state;
  check_values("i32", "v = 1 / f32(x)", 1, 10);
  check_values("u8", "v = f32(x) / 255", 0, 255);
  /* Lengths of sequences. */
  check_values("i32", "v = sum(f32(arange(7) < x[..., none]), axis = -1) / f32(x)", 1, 7);
  check_values("i32", "v = f32(f32(x)[..., none] >= f32(arange(5)))", 1, 5);
  check_values("i32",
               "t = broadcast(arange(6), [batch, 6])\n"
               "v, h = scan k in t along 1 with h = zeros([batch]) { h = where(k < x[:, 0], h + "
               "1.0, h)\n yield h }",
               1, 6);
  check_values("i32", "v = sum(where(arange(5) < x[:, :1], 1.0, 0.0), axis = 1) + f32(x[:, 1] < 9)",
               1, 5);
  check_values("i32", "v = pick(broadcast(arange(5), [batch, 5]), x[:, 0] - 1)", 1, 5);
  check_values("i32", "v = f32(arange(8) == x[..., none] - 1)", 1, 8);
  /* Classes and tokens begin at 0 and stay within their range. */
  check_values("i32", "v = one_hot(x, 3)", 0, 2);
  check_values("i32", "v = table[x]", 0, 4);
  check_values("i32", "v = table[maximum(x, 0)]", 0, 4);
  check_values("i32", "v = table[where(x == 9, 0, x)]", 0, 4);
  check_values("i32", "v = f32(x > 0)", 0, 1);
  check_values("i32", "v = f32(x == 0) + 2 * f32(x == 3)", 0, 4);
  check_values("i32", "v = f32(f32(x) > 0.5)", 0, 1);
  /* Thresholds. */
  check_values("i32", "v = f32(x > 50)", 1, 51);
}

static void test_random_inputs_are_deterministic(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Module *module = module_with_index(arena, DTYPE_I32, 5);
  const Tensor *a = random_inputs(arena, module, 3)[2].value;
  const Tensor *b = random_inputs(arena, module, 3)[2].value;
  const Tensor *c = random_inputs(arena, module, 4)[2].value;
  assert_memory_equal(a->data, b->data, 4000 * sizeof(double));
  assert_memory_not_equal(a->data, c->data, 4000 * sizeof(double));
  arena_destroy(arena);
}

/* ---- the check of gradients ---- */

static bool check(Program *program, const char *part_of_table) {
  Text table = {0};
  bool passes =
      check_gradients(program->arena, program->module, pass_find("differentiate")->run,
                      &gradient_check_default, &table, diagnostics_create(program->arena));
  assert_non_null(table.data);
  if (!strstr(table.data, part_of_table))
    fail_msg("\"%s\" is not in the table:\n%s", part_of_table, table.data);
  text_free(&table);
  return passes;
}

static void test_right_gradients_pass_the_check(void **state) {
  (void)state;
  Program program = program_create(false);
  Graph *train = program.module->entries[ENTRY_TRAIN];
  assert_true(check(&program, "ok"));
  assert_ptr_equal(program.module->entries[ENTRY_TRAIN], train); /* untouched */
  arena_destroy(program.arena);
}

static void test_wrong_gradients_fail_the_check(void **state) {
  (void)state;
  Program program = program_create(true);
  assert_false(check(&program, "WRONG"));
  arena_destroy(program.arena);
}

/* A program whose loss is `loss` of a vector parameter w, which starts at the given values. */
static Program program_of(Node *(*loss)(Maker *maker, Node *w), double start) {
  Program program = {.arena = arena_create()};
  Module *module = program.module = module_create(program.arena, "one", NULL);
  Type type = type_make(DTYPE_F64, SHAPE(4));
  vec_push(program.arena, &module->variables,
           ((Variable){.kind = VARIABLE_PARAM, .path = name_intern("w"), .type = type}));
  Graph *init = module->entries[ENTRY_INIT] = graph_create(program.arena, "init");
  Maker maker = maker_of(init, "w");
  add_output(init, OUTPUT_STORE, "w", make_constant(&maker, type, start));
  Graph *train = module->entries[ENTRY_TRAIN] = graph_create(program.arena, "train");
  maker = maker_of(train, "train");
  Node *w = leaf(train, OP_PARAM, type, "w");
  add_output(train, OUTPUT_STORE, "w", gradient_of(&maker, loss(&maker, w), w));
  return program;
}

static Node *relu_loss(Maker *maker, Node *w) {
  return sum_all(maker, make_binary_value(maker, OP_MAX, w, 0));
}

static Node *nan_loss(Maker *maker, Node *w) {
  return sum_all(maker, make_unary(maker, OP_LOG, w));
}

static Node *constant_loss(Maker *maker, Node *w) {
  (void)w;
  return make_constant(maker, type_scalar(DTYPE_F64), 1);
}

/* Exactly at a kink, or within reach of the smallest step, there is nothing to compare; farther
 * away a smaller step is taken. */
static void test_kinks_are_skipped_and_alone_do_not_pass(void **state) {
  (void)state;
  const double starts[] = {0, 3e-7, 3e-5, 1};
  for (int i = 0; i < 4; i++) {
    Program program = program_of(relu_loss, starts[i]);
    assert_int_equal(check(&program, i < 2 ? "nothing smooth to check" : "ok"), i >= 2);
    arena_destroy(program.arena);
  }
}

/* a relu(w - d) - a relu(-w - d): at 0 a slope of 0, and from d on one of a on either side. */
static Node *pair_of_kinks(Maker *maker, Node *w, double d, double a) {
  Node *above = make_binary_value(maker, OP_MAX, make_binary_value(maker, OP_SUB, w, d), 0);
  Node *turned = make_binary_value(maker, OP_SUB, make_binary_value(maker, OP_MUL, w, -1), d);
  Node *below = make_binary_value(maker, OP_MAX, turned, 0);
  return make_binary_value(maker, OP_MUL, make_binary(maker, OP_SUB, above, below), a);
}

/* Differences over 1e-4 and half of that agree on a slope that is .6 % too large, and nothing bends. */
static Node *kinks_as_slope_loss(Maker *maker, Node *w) {
  Node *near = pair_of_kinks(maker, w, .2e-4, .01), *far = pair_of_kinks(maker, w, .75e-4, -.008);
  return sum_all(maker, make_add(maker, w, make_add(maker, near, far)));
}

static void test_kinks_that_look_like_a_slope_pass(void **state) {
  (void)state;
  Program program = program_of(kinks_as_slope_loss, 0);
  assert_true(check(&program, "ok"));
  arena_destroy(program.arena);
}

static void test_nan_fails_the_check(void **state) {
  (void)state;
  Program program = program_of(nan_loss, -1);
  assert_false(check(&program, "NaN at random inputs"));
  arena_destroy(program.arena);
}

/* w stop(w): the gradient is stop(w), and so is the difference. */
static Node *constant_factor_loss(Maker *maker, Node *w) {
  Node *fast = make_unary(maker, OP_STOP_GRADIENT, w);
  return sum_all(maker, make_binary(maker, OP_MUL, w, fast));
}

static void test_what_stops_gradients_is_held_fast(void **state) {
  (void)state;
  Program program = program_of(constant_factor_loss, 3);
  assert_true(check(&program, "ok"));
  arena_destroy(program.arena);
}

static void test_an_unused_parameter_has_gradient_zero(void **state) {
  (void)state;
  Program program = program_of(constant_loss, 1);
  assert_true(check(&program, "ok"));
  arena_destroy(program.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_only_live_nodes_are_evaluated),
      cmocka_unit_test(test_outputs_do_not_depend_on_reuse),
      cmocka_unit_test(test_refresh_follows_a_changed_leaf),
      cmocka_unit_test(test_a_run_of_steps),
      cmocka_unit_test(test_random_inputs_are_in_range),
      cmocka_unit_test(test_random_inputs_suit_the_program),
      cmocka_unit_test(test_random_inputs_are_deterministic),
      cmocka_unit_test(test_right_gradients_pass_the_check),
      cmocka_unit_test(test_wrong_gradients_fail_the_check),
      cmocka_unit_test(test_kinks_are_skipped_and_alone_do_not_pass),
      cmocka_unit_test(test_kinks_that_look_like_a_slope_pass),
      cmocka_unit_test(test_nan_fails_the_check),
      cmocka_unit_test(test_what_stops_gradients_is_held_fast),
      cmocka_unit_test(test_an_unused_parameter_has_gradient_zero),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
