/* Elaboration: values of expressions by the interpreter, paths, variables, updates, metrics. */
#include <math.h>
#include "elaborate/builtins/doc.h"
#include "elaborate/elaborate.h"
#include "graphs.h"
#include "interpret/interpret.h"
#include "ops/retype.h"
#include "passes/pass.h"
#include "syntax/parse.h"

static int make_arena(void **state) {
  *state = arena_create();
  return 0;
}

static int drop_arena(void **state) {
  arena_destroy(*state);
  return 0;
}

/* ---- helpers ------------------------------------------------------------------------------ */

static Module *elaborate_text(Arena *arena, const char *text, const ElaborateOptions *options,
                              Diagnostics **result) {
  SourceFile *file = source_from_text(arena, "test.net", text, strlen(text));
  Diagnostics *diagnostics = diagnostics_create(arena);
  AstProgram *program = parse_program(arena, diagnostics, file);
  Module *module = NULL;
  if (diagnostics_error_count(diagnostics) == 0)
    module = elaborate(arena, diagnostics, program, options);
  if (result) *result = diagnostics;
  if (!module && !result) {
    diagnostics_print(diagnostics, stderr, 0);
    fail_msg("does not elaborate: %s", text);
  }
  if (module) assert_null(module_verify(arena, module));
  return module;
}

static Module *elaborate_good(Arena *arena, const char *text) {
  return elaborate_text(arena, text, NULL, NULL);
}

/* x: [2, 3] = 1 .. 6 for a batch of 2. */
#define HEAD                                                                                       \
  "const batch = 2\n"                                                                              \
  "data train { x, k = npy(\"x\", \"k\") }\n"                                                      \
  "input x : f32[batch, 3]\n"                                                                      \
  "input k : i32[batch]\n"                                                                         \
  "param p : [3] = 0.5\n"
#define TRAIN "train { minimize = loss, optimizer = sgd(lr = 0.1), steps = 10 }\n"

static Tensor *make_tensor(Arena *arena, Type type, const double *values) {
  Tensor *tensor = tensor_create(arena, type);
  memcpy(tensor->data, values, sizeof *values * (size_t)shape_elements(type.shape));
  return tensor;
}

static int bind_inputs(Arena *arena, const Module *module, const double *const *values,
                       Binding *bindings) {
  for (int i = 0; i < module->inputs.count; i++) {
    const InputInfo *input = &module->inputs.items[i];
    bindings[i] = (Binding){OP_INPUT, input->name, make_tensor(arena, input->type, values[i])};
  }
  return module->inputs.count;
}

static const double x_values[] = {1, 2, 3, 4, 5, 6}, k_values[] = {2, 0};
static const double *const input_values[] = {x_values, k_values};

/* ---- expressions -------------------------------------------------------------------------- */

/* A state of the training step holds the value, whatever its shape. */
static const Tensor *evaluate_expression(Arena *arena, const char *expression) {
  char *probe = arena_printf(arena,
                             HEAD "loss = mean(x * p)\nif training {\n  v = %s\n"
                                  "  state s : [v.shape] = 0\n  s <- cast(v, f32)\n}\n" TRAIN,
                             expression);
  Module *module = elaborate_good(arena, probe);
  Binding bindings[8];
  int count = bind_inputs(arena, module, input_values, bindings);
  static const double half[] = {0.5, 0.5, 0.5};
  Type p = module_find_variable(module, "p")->type;
  bindings[count++] = (Binding){OP_PARAM, name_intern("p"), make_tensor(arena, p, half)};
  Type s = module_find_variable(module, "s")->type;
  bindings[count++] = (Binding){OP_STATE, name_intern("s"), tensor_create(arena, s)};
  Graph *graph = module->entries[ENTRY_TRAIN];
  Graph *alone = graph_create(arena, "probe");
  NodeMap map = node_map_create(arena, graph);
  Output *store = graph_find_output(graph, OUTPUT_STORE, "s");
  assert_non_null(store);
  Output copy = *store;
  copy.kind = OUTPUT_RESULT;
  copy.node = graph_copy_tree(alone, store->node, &map);
  graph_add_output(alone, copy);
  EvaluateContext context = {.seed = 1, .step = 1};
  Evaluation *evaluation = graph_evaluate(arena, alone, count, bindings, &context);
  return evaluation_output(evaluation, 0);
}

typedef struct ExpressionCase {
  const char *expression;
  int count;
  double values[12];
} ExpressionCase;

static const ExpressionCase expression_cases[] = {
    {"x + 1", 6, {2, 3, 4, 5, 6, 7}},
    {"x - x[0]", 6, {0, 0, 0, 3, 3, 3}},
    {"-x ^ 2", 6, {-1, -4, -9, -16, -25, -36}},
    {"x ^ 3", 6, {1, 8, 27, 64, 125, 216}},
    {"2 ^ x", 6, {2, 4, 8, 16, 32, 64}},
    {"x // 2 + x % 2", 6, {1, 1, 2, 2, 3, 3}},
    {"(k - 3) // 2", 2, {-1, -2}},
    {"(k - 3) % 2", 2, {1, 1}},
    {"x[:, ::2]", 4, {1, 3, 4, 6}},
    {"x[:, ::-1]", 6, {3, 2, 1, 6, 5, 4}},
    {"x[:, -1]", 2, {3, 6}},
    {"x[..., 1:]", 4, {2, 3, 5, 6}},
    {"x[:, [2, 0]]", 4, {3, 1, 6, 4}},
    {"x[1, none, 1]", 1, {5}},
    {"p[k]", 2, {0.5, 0.5}},
    {"arange(3)[k]", 2, {2, 0}},
    {"pick(x, k)", 2, {3, 4}},
    {"one_hot(k, 3)", 6, {0, 0, 1, 1, 0, 0}},
    {"x.T", 6, {1, 4, 2, 5, 3, 6}},
    {"transpose(reshape(x, [1, 2, 3]), [2, 0, 1])", 6, {1, 4, 2, 5, 3, 6}},
    {"flatten(reshape(x, [2, 3, 1]))", 6, {1, 2, 3, 4, 5, 6}},
    {"reshape(x, [3, -1])", 6, {1, 2, 3, 4, 5, 6}},
    {"broadcast(x[:, :1], [2, 2])", 4, {1, 1, 4, 4}},
    {"along([1, 2], 0, x)", 6, {1, 1, 1, 2, 2, 2}},
    {"concat(x, x[:, :1])", 8, {1, 2, 3, 1, 4, 5, 6, 4}},
    {"stack(x[0], x[1], axis = 1)", 6, {1, 4, 2, 5, 3, 6}},
    {"split(x, [1, 2])[1]", 4, {2, 3, 5, 6}},
    {"pad(x, [0, (1, 0)], value = 9)", 8, {9, 1, 2, 3, 9, 4, 5, 6}},
    {"flip(x, 0)", 6, {4, 5, 6, 1, 2, 3}},
    {"roll(x, 1)", 6, {3, 1, 2, 6, 4, 5}},
    {"roll(x, -1, axis = 0)", 6, {4, 5, 6, 1, 2, 3}},
    {"tile(x[0], 2)", 6, {1, 2, 3, 1, 2, 3}},
    {"repeat(x[0], 2)", 6, {1, 1, 2, 2, 3, 3}},
    {"sum(x)", 1, {21}},
    {"sum(x, axis = 0)", 3, {5, 7, 9}},
    {"mean(x, axis = -1, keep = true)", 2, {2, 5}},
    {"mean(x > 2)", 1, {4.0 / 6}},
    {"max(x, axis = 1)", 2, {3, 6}},
    {"prod(x, axis = 0)", 3, {4, 10, 18}},
    {"var(x, axis = 1)", 2, {2.0 / 3, 2.0 / 3}},
    {"norm(x[0])", 1, {3.7416573867739413}},
    {"argmax(x)", 2, {2, 2}},
    {"argmin(-x, axis = 0)", 3, {1, 1, 1}},
    {"any(x > 5, axis = 1)", 2, {0, 1}},
    {"all(x > 3, axis = 1)", 2, {0, 1}},
    {"where(x > 2 && !(x > 4), x, 0)", 6, {0, 0, 3, 4, 0, 0}},
    {"clip(x, 2, 5)", 6, {2, 2, 3, 4, 5, 5}},
    {"minimum(x, 3) + maximum(x, 3)", 6, {4, 5, 6, 7, 8, 9}},
    {"x @ x.T", 4, {14, 32, 32, 77}},
    {"x @ x[0]", 2, {14, 32}},
    {"stack(x, x) @ x.T", 8, {14, 32, 32, 77, 14, 32, 32, 77}},
    {"x @ stack(x.T, x.T)", 8, {14, 32, 32, 77, 14, 32, 32, 77}},
    {"einsum(\"ij,kj->ki\", x, x)", 4, {14, 32, 32, 77}},
    {"einsum(\"ij->j\", x)", 3, {5, 7, 9}},
    {"einsum(\"i,ij,j->\", [1.0, 2], x, p)", 1, {18}},
    {"outer(x[0], x[1])", 9, {4, 5, 6, 8, 10, 12, 12, 15, 18}},
    {"tril(outer(x[0], x[1]))", 9, {4, 0, 0, 8, 10, 0, 12, 15, 18}},
    {"triu(outer(x[0], x[1]), k = 1)", 9, {0, 5, 6, 0, 0, 12, 0, 0, 0}},
    {"cumsum(x)", 6, {1, 3, 6, 4, 9, 15}},
    {"cumsum(x, axis = 0)", 6, {1, 2, 3, 5, 7, 9}},
    {"diag(x[0])", 9, {1, 0, 0, 0, 2, 0, 0, 0, 3}},
    {"eye(2)", 4, {1, 0, 0, 1}},
    {"relu(x - 3)", 6, {0, 0, 0, 1, 2, 3}},
    {"softmax(0 * x)", 6, {1 / 3.0, 1 / 3.0, 1 / 3.0, 1 / 3.0, 1 / 3.0, 1 / 3.0}},
    {"logsumexp(x - x, axis = -1)", 2, {1.0986122886681098, 1.0986122886681098}},
    {"cross_entropy(0 * x, k)", 1, {1.0986122886681098}},
    {"binary_cross_entropy(0 * x, 0 * x)", 1, {0.6931471805599453}},
    {"mse(x, x + 2)", 1, {4}},
    {"huber(x, x + 3, delta = 1)", 1, {2.5}},
    {"in_top_k(x, k, 2)", 2, {1, 0}},
    {"layer_norm(x * 0 + 7, scale = false, shift = false)", 6, {0}},
    {"sum_pool(x[:, none], 2, 1)", 4, {3, 5, 9, 11}},
    {"max_pool(x[:, none], 3)", 2, {3, 6}},
    {"conv(x[:, none], ones([1, 1, 2]))", 4, {3, 5, 9, 11}},
    {"conv(x[:, none], ones([1, 1, 2]), padding = \"same\")", 6, {3, 5, 3, 9, 11, 6}},
    {"conv_transpose(x[:, none], ones([1, 1, 2]))", 8, {1, 3, 5, 3, 4, 9, 11, 6}},
    {"full([2], 2 * 3 + 10 // 3 - 7 % 4)", 2, {6, 6}},
    {"full([2], 2 ^ 3 ^ 0 - -1)", 2, {3, 3}},
    {"full([len([1, 2] + (0..2))], max([1, 5, 2]))", 4, {5, 5, 5, 5}},
    {"full([1], 1 < 2 && 2.0 == 2 && !(\"a\" == \"b\") ? 1 : 0)", 1, {1}},
    {"full([1], sqrt(16) + floor(2.5) + abs(-3))", 1, {9}},
    {"top_k(x, 2)[0]", 4, {3, 2, 6, 5}},
    {"top_k(-x, 2)[1]", 4, {0, 1, 0, 1}},
    {"dropout(x, 0.0)", 6, {1, 2, 3, 4, 5, 6}},
    {"cast(x, i32) + k[:, none]", 6, {3, 4, 5, 4, 5, 6}},
};

static void test_expressions(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof expression_cases / sizeof *expression_cases; i++) {
    const ExpressionCase *test = &expression_cases[i];
    Arena *arena = arena_create();
    const Tensor *value = evaluate_expression(arena, test->expression);
    if (shape_elements(value->type.shape) != test->count)
      fail_msg("%s has %d elements", test->expression, (int)shape_elements(value->type.shape));
    for (int k = 0; k < test->count; k++)
      if (fabs(value->data[k] - test->values[k]) > 1e-6)
        fail_msg("%s: element %d is %g, not %g", test->expression, k, value->data[k],
                 test->values[k]);
    arena_destroy(arena);
  }
}

/* ---- paths -------------------------------------------------------------------------------- */

static void check_paths(Arena *arena, const char *body, const char *expected) {
  Module *module = elaborate_good(arena, arena_printf(arena, HEAD "%s" TRAIN, body));
  Text text = {0};
  for (int i = 0; i < module->variables.count; i++) {
    const Variable *variable = &module->variables.items[i];
    if (variable->path == name_intern("p")) continue;
    text_printf(&text, "%s%s", text.length ? " " : "", variable->path);
  }
  assert_string_equal(text.data ? text.data : "", expected);
  text_free(&text);
}

static void test_paths(void **state) {
  Arena *arena = *state;
  check_paths(arena, "h = relu(linear(x, 4))\nloss = mean(linear(h, 2, bias = false) + sum(p))\n",
              "h.w h.b loss.w");
  check_paths(arena, "h = linear(linear(x, 4, bias = false), 2)\nloss = mean(h) + sum(p)\n",
              "linear.0.w linear.1.w linear.1.b");
  check_paths(arena,
              "h = x\nfor i in 0..2 { h = linear(h, 3, bias = false) }\n"
              "loss = mean(h) + sum(p)\n",
              "linear.0.w linear.1.w");
  check_paths(arena,
              "h = linear(x, 3, bias = false)\nh = linear(h, 3, bias = false)\n"
              "loss = mean(h) + sum(p)\n",
              "linear.0.w linear.1.w");
  check_paths(arena,
              "def block(x) { y = linear(x, 3, bias = false)\n"
              "  return linear(y, 3, bias = false) }\n"
              "h = x\nfor i in 0..2 { h = block(h) }\nloss = mean(h) + sum(p)\n",
              "block.0.y.w block.0.linear.0.w block.1.y.w block.1.linear.0.w");
  check_paths(arena, "e = linear(_, 3, bias = false)\nloss = mean(e(x) + e(e(x))) + sum(p)\n",
              "e.w");
  check_paths(arena, "h = linear(x, 3, bias = false, name = \"head\")\nloss = mean(h) + sum(p)\n",
              "head.w");
  check_paths(arena,
              "def twice(f, x) { return f(f(x, 3, bias = false), 3, bias = false) }\n"
              "h = twice(linear, x)\ng = twice(linear, h)\nloss = mean(g) + sum(p)\n",
              "h.twice.linear.0.w h.twice.linear.1.w g.twice.linear.0.w g.twice.linear.1.w");
}

/* A call with a name of its own owns what it declares: its def does, and takes the statement's name. */
static void test_paths_of_defs_whose_calls_are_named(void **state) {
  Arena *arena = *state;
  const char *body = "def body(v) { v = linear(v, 3, bias = false, name = \"first\")\n"
                     "  return linear(v, 3, bias = false%s) }\n"
                     "def outer(v) { return body(v, name = \"inner\") }\n"
                     "def walked(v) {\n"
                     "  return scan s in v with h = 0 * v[0] { h = h + linear(s, 3, bias = false, "
                     "name = \"step\"); yield h } }\n"
                     "h = body(x)\nshared = body(_)\ng = shared(x)\no = outer(x)\n"
                     "n = linear(x, 3, bias = false, name = \"own\") + linear(x, 3, bias = false)\n"
                     "w = walked(linear(x, 3, bias = false, name = \"before\")[:, none])\n"
                     "loss = mean(h + g + o + n) + mean(w) + sum(p)\n";
  check_paths(arena, arena_printf(arena, body, ", name = \"last\""),
              "h.first.w h.last.w shared.first.w shared.last.w o.inner.first.w o.inner.last.w "
              "own.w n.w before.w w.step.w");
  check_paths(arena, arena_printf(arena, body, ""),
              "h.first.w h.linear.0.w shared.first.w shared.linear.0.w o.inner.first.w "
              "o.inner.linear.0.w own.w n.w before.w w.step.w");
}

/* A value that is thrown away by `_` names nothing: the others do, or the call. */
static void test_thrown_away_values_name_nothing(void **state) {
  Arena *arena = *state;
  const char *body =
      "_, last = scan v in x with h = sum(0 * x, axis = 0) { h = h + v ; yield 2 * h }\n"
      "loss = mean(last) + sum(p)\n";
  Module *module = elaborate_good(arena, arena_printf(arena, HEAD "%s" TRAIN, body));
  const Graph *graph = module->entries[ENTRY_TRAIN];
  bool found = false;
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    assert_true(node->path[0] != '_');
    if (node->body) assert_string_equal(node->path, "last");
    found = found || node->body;
  }
  assert_true(found);
}

/* ---- updates ------------------------------------------------------------------------------ */

/* Steps of a program with one parameter w of one element and loss = w * w / 2: the gradient is
 * w. */
static double run_steps(Arena *arena, const char *train, int steps, int64_t micro) {
  const char *text =
      arena_printf(arena,
                   "const batch = 2\ndata train { x = npy(\"x\") }\ninput x : f32[batch]\n"
                   "param w : [1] = 2\nloss = mean(x) * sum(w * w) / 2\n"
                   "train { minimize = loss, steps = 100, %s }\n",
                   train);
  Diagnostics *diagnostics;
  Module *module = elaborate_text(arena, text, NULL, &diagnostics);
  if (!module) diagnostics_print(diagnostics, stderr, 0);
  assert_non_null(module);
  module_retype_floats(module, DTYPE_F64);
  pass_differentiate(module, diagnostics);
  Interpreter *interpreter = interpreter_create(arena, module, 1);
  static const double ones[] = {1, 1};
  static const double *const inputs[] = {ones};
  for (int t = 1; t <= steps; t++) {
    Binding bindings[1];
    int count = bind_inputs(arena, module, inputs, bindings);
    for (int64_t m = 1; m < micro; m++)
      interpreter_run(interpreter, ENTRY_ACCUMULATE, count, bindings, (RunTime){t, 0, 100, 10});
    interpreter_run(interpreter, ENTRY_TRAIN, count, bindings, (RunTime){t, 0, 100, 10});
  }
  double w = interpreter_variable(interpreter, "w")->data[0];
  interpreter_destroy(interpreter);
  return w;
}

static void assert_near(double value, double expected) {
  if (fabs(value - expected) > 1e-9 * fmax(1, fabs(expected)))
    fail_msg("%.15g is not %.15g", value, expected);
}

static double adam_by_hand(int steps, double decay) {
  double w = 2, m = 0, v = 0;
  for (int t = 1; t <= steps; t++) {
    double g = w;
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    double step = m / (1 - pow(0.9, t)) / (sqrt(v / (1 - pow(0.999, t))) + 1e-8);
    w -= 0.1 * (step + decay * w);
  }
  return w;
}

static double momentum_by_hand(int steps) {
  double w = 2, v = 0;
  for (int t = 1; t <= steps; t++) {
    v = 0.9 * v + w + 0.01 * w;
    w -= 0.1 * v;
  }
  return w;
}

static double rate_by_hand(int steps) { /* cosine with 5 steps of warm-up to 100 */
  double w = 2;
  for (int t = 1; t <= steps; t++) {
    double at = fmin(fmax((t - 5) / 95.0, 0), 1);
    w -= 0.1 * 0.5 * (1 + cos(3.14159265358979323846 * at)) * fmin(1, t / 5.0) * w;
  }
  return w;
}

static void test_optimizers(void **state) {
  Arena *arena = *state;
  assert_near(run_steps(arena, "optimizer = sgd(lr = 0.1)", 3, 1), 2 * pow(0.9, 3));
  assert_near(
      run_steps(arena, "optimizer = sgd(lr = 0.1, momentum = 0.9, weight_decay = 0.01)", 4, 1),
      momentum_by_hand(4));
  assert_near(run_steps(arena, "optimizer = adam(lr = 0.1)", 5, 1), adam_by_hand(5, 0));
  assert_near(run_steps(arena, "optimizer = adamw(lr = 0.1, weight_decay = 0.5)", 5, 1),
              adam_by_hand(5, 0.5));
  assert_near(run_steps(arena, "optimizer = sgd(lr = cosine(0.1, warmup = 5))", 9, 1),
              rate_by_hand(9));
  assert_near(run_steps(arena, "optimizer = sgd(lr = cosine(0.1, warmup = 0.5 epochs))", 9, 1),
              rate_by_hand(9)); /* 10 steps an epoch */
}

static void test_clip_and_groups(void **state) {
  Arena *arena = *state;
  assert_near(run_steps(arena, "optimizer = sgd(lr = 1), clip = 0.5", 1, 1),
              2 - 0.5 * 2 / (2 + 1e-6));
  assert_near(run_steps(arena, "optimizer = sgd(lr = 1), clip = clip_value(0.25)", 1, 1), 1.75);
  assert_near(run_steps(arena, "optimizer = sgd(lr = 0.1), params \"w\" { lr_scale = 2 }", 1, 1),
              1.6);
  assert_near(run_steps(arena, "optimizer = sgd(lr = 0.1), params \"*\" { lr = 0.3 }", 1, 1), 1.4);
}

static void test_accumulation_is_the_mean(void **state) {
  assert_near(run_steps(*state, "optimizer = sgd(lr = 0.1), accumulate = 4", 3, 4),
              2 * pow(0.9, 3));
}

/* The block's loss updates g; then the group's loss sees the new g, also after stop_gradient. */
static void test_groups_update_in_text_order(void **state) {
  Arena *arena = *state;
  Module *module = elaborate_good(
      arena, "const batch = 2\ndata train { x = npy(\"x\") }\ninput x : f32[batch]\n"
             "param g : [1] = 1\nparam d : [1] = 1\n"
             "a = mean(x) * sum(g * g * d)\nb = mean(x) * sum(d * d * stop_gradient(g))\n"
             "train { minimize = a, optimizer = sgd(lr = 0.1), steps = 1,\n"
             "  params \"d\" { minimize = b } }\n");
  Diagnostics *diagnostics = diagnostics_create(arena);
  pass_differentiate(module, diagnostics);
  assert_null(module_verify(arena, module));
  Interpreter *interpreter = interpreter_create(arena, module, 1);
  static const double ones[] = {1, 1};
  static const double *const inputs[] = {ones};
  Binding bindings[1];
  int count = bind_inputs(arena, module, inputs, bindings);
  interpreter_run(interpreter, ENTRY_TRAIN, count, bindings, (RunTime){1, 0, 1, 1});
  double g = 1 - 0.1 * 2, d = 1 - 0.1 * 2 * g; /* d's loss sees the new g, as a constant */
  assert_true(fabs(interpreter_variable(interpreter, "g")->data[0] - g) < 1e-6);
  assert_true(fabs(interpreter_variable(interpreter, "d")->data[0] - d) < 1e-6);
  interpreter_destroy(interpreter);
}

/* ---- structure ---------------------------------------------------------------------------- */

static void test_entries(void **state) {
  Arena *arena = *state;
  Module *module = elaborate_good(
      arena,
      HEAD "logits = linear(x, 4)\nloss = cross_entropy(logits, k)\n"
           "right = sum(f32(argmax(logits) == k))\nall = sum(ones([batch]) + 0 * logits[:, 0])\n"
           "score = 2 * right / all\nworst = max(logits)\n"
           "train { minimize = loss + 0.1 * sum(p * p), optimizer = adam(lr = cosine(1e-3)), steps "
           "= 5,\n"
           "        metrics = [score, worst] }\npredict { digit = argmax(logits) }\n");
  static const EntryKind present[] = {ENTRY_INIT,     ENTRY_HOST,    ENTRY_TRAIN, ENTRY_EVAL,
                                      ENTRY_EVAL_ONE, ENTRY_PREDICT, ENTRY_FINISH};
  for (size_t i = 0; i < sizeof present / sizeof *present; i++)
    assert_non_null(module->entries[present[i]]);
  assert_null(module->entries[ENTRY_ACCUMULATE]);
  assert_non_null(graph_find_output(module->entries[ENTRY_HOST], OUTPUT_SCALAR, "lr"));
  static const struct {
    const char *name;
    Combine combine;
  } accumulators[] = {{"loss.0", COMBINE_MEAN},
                      {"loss.1", COMBINE_LAST},
                      {"score.0", COMBINE_SUM},
                      {"score.1", COMBINE_SUM},
                      {"worst", COMBINE_MAX}};
  static const EntryKind measured[] = {ENTRY_TRAIN, ENTRY_EVAL, ENTRY_EVAL_ONE};
  for (int m = 0; m < 3; m++)
    for (int i = 0; i < 5; i++) {
      Output *output =
          graph_find_output(module->entries[measured[m]], OUTPUT_ACCUMULATOR, accumulators[i].name);
      assert_non_null(output);
      assert_int_equal(output->combine, accumulators[i].combine);
    }
  const Output *result = graph_find_output(module->entries[ENTRY_PREDICT], OUTPUT_RESULT, "digit");
  assert_non_null(result);
  assert_int_equal(result->node->type.shape.dim[0], 1);
  for (int i = 0; i < module->entries[ENTRY_PREDICT]->nodes.count; i++) {
    const Node *node = module->entries[ENTRY_PREDICT]->nodes.items[i];
    assert_false(node->op == OP_INPUT && node_string(node, ATTR_NAME) == name_intern("k"));
  }
}

/* A state may begin as another does, or as a parameter, and with what is computed of them. */
static void test_states_begin_as_others(void **state) {
  Arena *arena = *state;
  Module *module = elaborate_good(
      arena, HEAD "state a : [3] = [1.0, 2.0, 4.0]\nstate b : [3] = 2 * a + 1\nstate c : [3] = b\n"
                  "state d : bool[3] = ones\nc <- c + 1\nd <- a > b\n"
                  "loss = mean(x * p) + sum(a + b + c) * 0\n" TRAIN);
  assert_null(module_verify(arena, module));
  Interpreter *interpreter = interpreter_create(arena, module, 1);
  static const double wanted[4][3] = {{1, 2, 4}, {3, 5, 9}, {3, 5, 9}, {1, 1, 1}};
  for (int i = 0; i < 4; i++) {
    const Tensor *value =
        interpreter_variable(interpreter, (const char *[]){"a", "b", "c", "d"}[i]);
    for (int k = 0; k < 3; k++) assert_near(value->data[k], wanted[i][k]);
  }
  interpreter_destroy(interpreter);
}

/* The expression above the reductions of a metric may be as long as a program is. */
static void test_metric_of_many_terms(void **state) {
  Arena *arena = *state;
  Module *module = elaborate_good(
      arena,
      HEAD "m = 0.0\nfor i in 0..5000 { m = 0.5 * (m + mean(x) * i) }\nloss = mean(x * p)\n"
           "train { minimize = loss, optimizer = sgd(lr = 0.1), steps = 2, metrics = [m] }\n");
  const Output *metric =
      graph_find_output(module->entries[ENTRY_FINISH], OUTPUT_SCALAR, name_intern("m"));
  assert_non_null(metric);
  assert_true(module->entries[ENTRY_FINISH]->nodes.count > 10000);
}

/* sum / batch is a mean over the examples, and so over a data set. */
static void test_mean_by_hand(void **state) {
  Module *module = elaborate_good(
      *state, HEAD "loss = -0.5 * sum((x * p) ^ 2) / batch + sum(x * p) * (1.0 / batch)\n" TRAIN);
  const Graph *eval = module->entries[ENTRY_EVAL];
  assert_int_equal(eval->outputs.count, 2);
  for (int i = 0; i < 2; i++) assert_int_equal(eval->outputs.items[i].combine, COMBINE_MEAN);
}

static void test_definitions(void **state) {
  Arena *arena = *state;
  static const Definition good[] = {{"batch", "5"}, {"train.steps", "77"}};
  ElaborateOptions options = {.definition_count = 2, .definitions = good};
  const char *text = HEAD "loss = mean(x * p)\n" TRAIN;
  Diagnostics *diagnostics;
  Module *module = elaborate_text(arena, text, &options, &diagnostics);
  assert_non_null(module);
  assert_int_equal(module->run.batch, 5);
  assert_int_equal(module->run.steps, 77);
  assert_int_equal(module->inputs.items[0].type.shape.dim[0], 5);
  static const Definition bad[] = {{"bacth", "5"}};
  options = (ElaborateOptions){.definition_count = 1, .definitions = bad};
  assert_null(elaborate_text(arena, text, &options, &diagnostics));
  static const Definition wrong[] = {{"batch", "\"five\""}};
  options.definitions = wrong;
  assert_null(elaborate_text(arena, text, &options, &diagnostics));
}

static void test_frozen_and_states(void **state) {
  Arena *arena = *state;
  Module *module = elaborate_good(
      arena, HEAD
      "h = batch_norm(linear(x, 4))\nloss = mean(h ^ 2 * sum(p))\n"
      "train { minimize = loss, optimizer = adam(), steps = 1, params \"p\" { frozen = true } }\n");
  assert_true(module_find_variable(module, "p")->frozen);
  assert_null(module_find_variable(module, "p:m"));
  assert_non_null(module_find_variable(module, "linear.0.w:m"));
  assert_int_equal(module_find_variable(module, "batch_norm.0.running_mean")->kind, VARIABLE_STATE);
  assert_non_null(
      graph_find_output(module->entries[ENTRY_TRAIN], OUTPUT_STORE, "batch_norm.0.running_var"));
  for (int i = 0; i < module->entries[ENTRY_EVAL]->outputs.count; i++)
    assert_int_equal(module->entries[ENTRY_EVAL]->outputs.items[i].kind, OUTPUT_ACCUMULATOR);
}

static void test_random_keys_differ(void **state) {
  Arena *arena = *state;
  Module *module = elaborate_good(
      arena, HEAD "h = x\nfor i in 0..3 { h = dropout(h, 0.5) }\nloss = mean(h * p)\n" TRAIN);
  const Graph *graph = module->entries[ENTRY_TRAIN];
  const char *keys[8];
  int count = 0;
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (node->op != OP_RANDOM_BITS) continue;
    keys[count] = node_string(node, ATTR_KEY);
    for (int k = 0; k < count; k++) assert_true(keys[k] != keys[count]);
    count++;
    assert_int_equal(node_int(node, ATTR_STREAM), 1);
  }
  assert_int_equal(count, 3);
}

static void test_documentation(void **state) {
  (void)state;
  static const char *const names[] = {"linear", "adam", "cosine", "he_normal", "sum", "conv"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    Text text = {0};
    assert_true(doc_print(&text, names[i]));
    assert_non_null(strstr(text.data, names[i]));
    text_free(&text);
  }
  Text text = {0};
  assert_false(doc_print(&text, "no_such_name"));
  doc_list(&text, false);
  assert_non_null(strstr(text.data, "\n  batch_norm "));
  assert_null(strstr(text.data, "\n  lower_solved "));
  text_free(&text);
  text = (Text){0};
  doc_list(&text, true);
  assert_non_null(strstr(text.data, "\n  lower_solved "));
  text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_expressions),
      cmocka_unit_test_setup_teardown(test_paths, make_arena, drop_arena),
      cmocka_unit_test_setup_teardown(test_paths_of_defs_whose_calls_are_named, make_arena,
                                      drop_arena),
      cmocka_unit_test_setup_teardown(test_thrown_away_values_name_nothing, make_arena, drop_arena),
      cmocka_unit_test_setup_teardown(test_optimizers, make_arena, drop_arena),
      cmocka_unit_test_setup_teardown(test_clip_and_groups, make_arena, drop_arena),
      cmocka_unit_test_setup_teardown(test_accumulation_is_the_mean, make_arena, drop_arena),
      cmocka_unit_test_setup_teardown(test_groups_update_in_text_order, make_arena, drop_arena),
      cmocka_unit_test_setup_teardown(test_entries, make_arena, drop_arena),
      cmocka_unit_test_setup_teardown(test_mean_by_hand, make_arena, drop_arena),
      cmocka_unit_test_setup_teardown(test_states_begin_as_others, make_arena, drop_arena),
      cmocka_unit_test_setup_teardown(test_metric_of_many_terms, make_arena, drop_arena),
      cmocka_unit_test_setup_teardown(test_definitions, make_arena, drop_arena),
      cmocka_unit_test_setup_teardown(test_frozen_and_states, make_arena, drop_arena),
      cmocka_unit_test_setup_teardown(test_random_keys_differ, make_arena, drop_arena),
      cmocka_unit_test(test_documentation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
