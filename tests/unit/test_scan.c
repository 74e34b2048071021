/* Scans: the textual form, the verifier, evaluation against a loop by hand, gradients against those
 * of the loop written out, and that compiled steps share kernels. Whole training steps against
 * executables are tests/agree/programs/recurrent*.net, messages tests/elaborate/errors/scan_*. */
#include "backend/c/kernels.h"
#include "passes/recompute.h"
#include "program/program.h"
#include "scan_programs.h"

/* h' = h * w + x, yields h * x; over x: [3]. */
static const char dump[] =
    "nnc_dump 1\nmodule \"m\"\n"
    "run {batch = 1, epochs = 1, steps = 0, validate_steps = 0, accumulate = 1, seed = 0, "
    "precision = f64}\n"
    "param \"w\" : f64[]\nparam \"x\" : f64[3]\n"
    "entry init {\n"
    "  %0 : f64[] = constant() {value = 0.5} \"w\"\n"
    "  %1 : f64[3] = constant() {value = 2.0} \"x\"\n"
    "  store \"w\" = %0\n"
    "  store \"x\" = %1\n"
    "}\n"
    "entry predict {\n"
    "  %0 : f64[] = param() {name = \"w\"} \"w\"\n"
    "  %1 : f64[3] = param() {name = \"x\"} \"x\"\n"
    "  %2 : f64[] = constant() {value = 1.0} \"h\"\n"
    "  %3 : f64[] = scan(%2, %1, %0) {carries = 1, sequences = 1, length = 3, reverse = 0} \"h\" "
    "{\n"
    "    %0 : f64[] = argument() {index = 0} \"h\"\n"
    "    %1 : f64[] = argument() {index = 1} \"x\"\n"
    "    %2 : f64[] = argument() {index = 2} \"w\"\n"
    "    %3 : f64[] = mul(%0, %2) \"h\"\n"
    "    %4 : f64[] = add(%3, %1) \"h\"\n"
    "    %5 : f64[] = mul(%0, %1) \"y\"\n"
    "    result \"h\" = %4\n"
    "    result \"yield\" = %5\n"
    "  }\n"
    "  %4 : f64[] = scan_result(%3) {index = 0} \"h\"\n"
    "  %5 : f64[3] = scan_result(%3) {index = 1} \"y\"\n"
    "  result \"last\" = %4\n"
    "  result \"all\" = %5\n"
    "}\n";

static char *replaced(Arena *arena, const char *text, const char *what, const char *by) {
  const char *at = strstr(text, what);
  assert_non_null(at);
  return arena_printf(arena, "%.*s%s%s", (int)(at - text), text, by, at + strlen(what));
}

static Module *read_dump(Arena *arena, const char *text) {
  char *errors;
  Module *module = parse_text(arena, text, strlen(text), &errors);
  if (!module) fail_msg("%s", errors);
  assert_verified(arena, module);
  return module;
}

static void test_printed_with_its_body(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Module *module = read_dump(arena, dump);
  char *printed = print_module(arena, module);
  assert_non_null(strstr(printed, "    %4 : f64[] = add(%3, %1) \"h\"\n"));
  assert_string_equal(print_module(arena, read_dump(arena, printed)), printed);
  arena_destroy(arena);
}

static void expect_refusal(const char *what, const char *by, const char *message) {
  Arena *arena = arena_create();
  char *errors, *text = replaced(arena, dump, what, by);
  assert_null(parse_text(arena, text, strlen(text), &errors));
  assert_contains(errors, message);
  arena_destroy(arena);
}

static void test_damaged_bodies_are_refused(void **state) {
  (void)state;
  expect_refusal("length = 3", "length = 4", "sequence 1 has shape [3], not 4 elements");
  expect_refusal("carries = 1", "carries = 5", "carries = 5 is not between 0 and 3");
  expect_refusal("{index = 2} \"w\"", "{index = 3} \"w\"", "argument 3 of its body");
  expect_refusal("{index = 2} \"w\"", "{index = 1} \"w\"", "argument 1 of its body");
  expect_refusal("{carries = 1, sequences = 1", "{carries = 2, sequences = 0",
                 "argument 1 of its body is f64[] but gets f64[3]");
  expect_refusal("argument() {index = 2}", "param() {name = \"w\"}", "by arguments alone");
  expect_refusal("    result \"h\" = %4\n    result \"yield\" = %5\n", "",
                 "0 results for 1 carries");
  expect_refusal("scan_result(%3) {index = 1}", "scan_result(%3) {index = 2}",
                 "index = 2 is not between 0 and 1");
  expect_refusal("scan_result(%3) {index = 1}", "scan_result(%2) {index = 1}", "is no scan");
  expect_refusal("    result \"h\" = %4\n", "    store \"h\" = %4\n", "malformed");
  expect_refusal("%2 : f64[] = constant() {value = 1.0} \"h\"\n",
                 "%2 : f64[] = constant() {value = 1.0} \"h\" {\n  }\n", "only a scan has a body");
  expect_refusal("reverse = 0}", "reverse = 0, saved = 1}", "is not the saved carry 0");
  expect_refusal("reverse = 0}", "reverse = 0, recompute = 0}", "neither 1 nor left out");
}

static const double *results(Arena *arena, const char *text, bool unrolled, int output) {
  Module *module = read_dump(arena, text);
  if (unrolled) pass_find("unroll")->run(module, diagnostics_create(arena));
  assert_verified(arena, module);
  Interpreter *interpreter = interpreter_create(arena, module, 1);
  double x[] = {2, 3, 5};
  for (int i = 0; i < 3; i++) interpreter_variable(interpreter, "x")->data[i] = x[i];
  Evaluation *evaluation =
      interpreter_run(interpreter, ENTRY_PREDICT, 0, NULL, (RunTime){1, 0, 1, 1});
  return evaluation_output(evaluation, output)->data;
}

static void test_steps_forward_and_backward(void **state) {
  (void)state;
  Arena *arena = arena_create();
  for (int unrolled = 0; unrolled <= 1; unrolled++) {
    const double *all = results(arena, dump, unrolled, 1);
    /* h: 1, 2.5, 4.25, 7.125 */
    assert_true(results(arena, dump, unrolled, 0)[0] == 7.125);
    assert_true(all[0] == 2 && all[1] == 7.5 && all[2] == 21.25);
    char *back = replaced(arena, dump, "reverse = 0", "reverse = 1");
    all = results(arena, back, unrolled, 1);
    /* h: 1, 5.5, 5.75, 4.875 */
    assert_true(results(arena, back, unrolled, 0)[0] == 4.875);
    assert_true(all[2] == 5 && all[1] == 16.5 && all[0] == 11.5);
  }
  arena_destroy(arena);
}

static void run_named_pass(Arena *arena, Module *module, const char *name) {
  pass_find(name)->run(module, diagnostics_create(arena));
  assert_verified(arena, module);
}

/* The choice travels with the dump; a scan without steps is no loop. */
static void test_chosen_scans_stay_loops(void **state) {
  (void)state;
  Arena *arena = arena_create();
  static const struct {
    const char *word;
    int64_t length;
    bool stays;
  } cases[] = {{"auto", 3, false}, {"unroll", 3, false}, {"loop", 3, true}, {"loop", 0, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *text = replaced(arena, dump, "precision = f64",
                                arena_printf(arena, "scans = %s, precision = f64", cases[i].word));
    if (cases[i].length == 0) {
      text = replaced(arena, text, "length = 3", "length = 0");
      for (int k = 0; k < 4; k++) text = replaced(arena, text, "f64[3]", "f64[0]");
    }
    Module *module = read_dump(arena, text);
    run_named_pass(arena, module, "unroll");
    assert_int_equal(first_scan(module->entries[ENTRY_PREDICT]) != NULL, cases[i].stays);
  }
  expect_refusal("precision = f64", "scans = both, precision = f64",
                 "expected auto, unroll or loop");
  arena_destroy(arena);
}

/* Carries a, b, c, d and yields u, v, w. The program reads the final a and v; a needs b, v needs
 * the sequence y. So c, which only c and u need, d, u, w and the operands that none else reads
 * go. */
static const char crowded[] =
    "nnc_dump 1\nmodule \"m\"\n"
    "run {batch = 1, epochs = 1, steps = 0, validate_steps = 0, accumulate = 1, seed = 0, "
    "scans = loop, precision = f64}\n"
    "input \"x\" : f64[3]\ninput \"y\" : f64[3]\n"
    "entry predict {\n"
    "  %0 : f64[3] = input() {name = \"x\"} \"x\"\n"
    "  %1 : f64[3] = input() {name = \"y\"} \"y\"\n"
    "  %2 : f64[] = constant() {value = 1.0} \"a\"\n"
    "  %3 : f64[] = constant() {value = 2.0} \"b\"\n"
    "  %4 : f64[] = constant() {value = 3.0} \"c\"\n"
    "  %5 : f64[] = constant() {value = 0.5} \"k\"\n"
    "  %6 : f64[] = scan(%4, %2, %3, %2, %0, %1, %4, %5) {carries = 4, sequences = 2, length = 3, "
    "reverse = 0} \"s\" {\n"
    "    %0 : f64[] = argument() {index = 0} \"c\"\n"
    "    %1 : f64[] = argument() {index = 1} \"a\"\n"
    "    %2 : f64[] = argument() {index = 2} \"b\"\n"
    "    %3 : f64[] = argument() {index = 3} \"d\"\n"
    "    %4 : f64[] = argument() {index = 4} \"x\"\n"
    "    %5 : f64[] = argument() {index = 5} \"y\"\n"
    "    %6 : f64[] = argument() {index = 6} \"three\"\n"
    "    %7 : f64[] = argument() {index = 7} \"k\"\n"
    "    %8 : f64[] = add(%0, %4) \"c\"\n"
    "    %9 : f64[] = add(%1, %2) \"a\"\n"
    "    %10 : f64[] = mul(%2, %7) \"b\"\n"
    "    %11 : f64[] = mul(%3, %6) \"d\"\n"
    "    %12 : f64[] = sin(%5) \"v\"\n"
    "    result \"c\" = %8\n"
    "    result \"a\" = %9\n"
    "    result \"b\" = %10\n"
    "    result \"d\" = %11\n"
    "    result \"u\" = %0\n"
    "    result \"v\" = %12\n"
    "    result \"w\" = %4\n"
    "  }\n"
    "  %7 : f64[] = scan_result(%6) {index = 1} \"a\"\n"
    "  %8 : f64[3] = scan_result(%6) {index = 5} \"v\"\n"
    "  %9 : f64[3] = scan_result(%6) {index = 4} \"u\"\n"
    "  result \"a\" = %7\n"
    "  result \"v\" = %8\n"
    "}\n";

static void test_unread_results_and_operands_disappear(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Module *module = read_dump(arena, crowded);
  Graph *before = module->entries[ENTRY_PREDICT];
  run_named_pass(arena, module, "dce");
  assert_same_results(arena, before, module->entries[ENTRY_PREDICT]);
  assert_string_equal(
      print_graph(arena, module->entries[ENTRY_PREDICT]),
      "entry predict {\n"
      "  %0 : f64[3] = input() {name = \"y\"} \"y\"\n"
      "  %1 : f64[] = constant() {value = 1.0} \"a\"\n"
      "  %2 : f64[] = constant() {value = 2.0} \"b\"\n"
      "  %3 : f64[] = constant() {value = 0.5} \"k\"\n"
      "  %4 : f64[] = scan(%1, %2, %0, %3) {carries = 2, sequences = 1, length = 3, reverse = 0} "
      "\"s\" {\n"
      "    %0 : f64[] = argument() {index = 0} \"a\"\n"
      "    %1 : f64[] = argument() {index = 1} \"b\"\n"
      "    %2 : f64[] = argument() {index = 2} \"y\"\n"
      "    %3 : f64[] = argument() {index = 3} \"k\"\n"
      "    %4 : f64[] = add(%0, %1) \"a\"\n"
      "    %5 : f64[] = mul(%1, %3) \"b\"\n"
      "    %6 : f64[] = sin(%2) \"v\"\n"
      "    result \"a\" = %4\n"
      "    result \"b\" = %5\n"
      "    result \"v\" = %6\n"
      "  }\n"
      "  %5 : f64[] = scan_result(%4) {index = 0} \"a\"\n"
      "  %6 : f64[3] = scan_result(%4) {index = 2} \"v\"\n"
      "  result \"a\" = %5\n"
      "  result \"v\" = %6\n"
      "}\n");
  arena_destroy(arena);
}

/* The same body twice, in other words: one scan, and one sine in it. */
static void test_equal_bodies_merge(void **state) {
  (void)state;
  Arena *arena = arena_create();
  static const char *const order[] = {"add(%1, %2)", "add(%2, %1)"};
  const char *scans[2];
  for (int i = 0; i < 2; i++)
    scans[i] = arena_printf(
        arena,
        "  %%%d : f64[] = scan(%%1, %%0) {carries = 1, sequences = 1, length = 3, reverse = 0} "
        "\"%c\" {\n"
        "    %%0 : f64[] = argument() {index = 0} \"a\"\n"
        "    %%1 : f64[] = argument() {index = 1} \"x\"\n"
        "    %%2 : f64[] = sin(%%0) \"s\"\n"
        "    %%3 : f64[] = %s \"s\"\n"
        "    %%4 : f64[] = sin(%%0) \"again\"\n"
        "    %%5 : f64[] = mul(%%3, %%4) \"s\"\n"
        "    result \"a%d\" = %%5\n"
        "  }\n"
        "  %%%d : f64[] = scan_result(%%%d) {index = 0} \"r\"\n",
        2 + 2 * i, 'a' + i, order[i], i, 3 + 2 * i, 2 + 2 * i);
  Module *module = read_dump(
      arena, arena_printf(arena,
                          "nnc_dump 1\nmodule \"m\"\ninput \"x\" : f64[3]\nentry predict {\n"
                          "  %%0 : f64[3] = input() {name = \"x\"} \"x\"\n"
                          "  %%1 : f64[] = constant() {value = 0.5} \"c\"\n"
                          "%s%s  result \"one\" = %%3\n  result \"two\" = %%5\n}\n",
                          scans[0], scans[1]));
  Graph *before = module->entries[ENTRY_PREDICT];
  run_named_pass(arena, module, "cse");
  const Graph *after = module->entries[ENTRY_PREDICT];
  assert_same_results(arena, before, after);
  assert_ptr_equal(after->outputs.items[0].node, after->outputs.items[1].node);
  assert_int_equal(first_scan(after)->body->nodes.count, 5);
  arena_destroy(arena);
}

/* Two sequences that are x are one, two invariants k, and what is yielded twice. */
static void test_equal_operands_and_results_merge(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Module *module = read_dump(
      arena,
      "nnc_dump 1\nmodule \"m\"\ninput \"x\" : f64[3]\ninput \"k\" : f64[]\nentry predict {\n"
      "  %0 : f64[3] = input() {name = \"x\"} \"x\"\n"
      "  %1 : f64[] = input() {name = \"k\"} \"k\"\n"
      "  %2 : f64[] = scan(%1, %1, %0, %0, %1, %1) {carries = 2, sequences = 2, length = 3, "
      "reverse = 0} \"s\" {\n"
      "    %0 : f64[] = argument() {index = 0} \"a\"\n"
      "    %1 : f64[] = argument() {index = 1} \"b\"\n"
      "    %2 : f64[] = argument() {index = 5} \"k\"\n"
      "    %3 : f64[] = argument() {index = 3} \"x\"\n"
      "    %4 : f64[] = argument() {index = 2} \"x\"\n"
      "    %5 : f64[] = argument() {index = 4} \"k\"\n"
      "    %6 : f64[] = mul(%3, %2) \"p\"\n"
      "    %7 : f64[] = mul(%5, %4) \"p\"\n"
      "    %8 : f64[] = add(%0, %6) \"a\"\n"
      "    %9 : f64[] = sub(%1, %7) \"b\"\n"
      "    result \"a\" = %8\n    result \"b\" = %9\n"
      "    result \"u\" = %6\n    result \"v\" = %7\n  }\n"
      "  %3 : f64[] = scan_result(%2) {index = 0} \"a\"\n"
      "  %4 : f64[] = scan_result(%2) {index = 1} \"b\"\n"
      "  %5 : f64[3] = scan_result(%2) {index = 2} \"u\"\n"
      "  %6 : f64[3] = scan_result(%2) {index = 3} \"v\"\n"
      "  result \"a\" = %3\n  result \"b\" = %4\n  result \"u\" = %5\n  result \"v\" = %6\n}\n");
  Graph *before = module->entries[ENTRY_PREDICT];
  run_named_pass(arena, module, "cse");
  run_named_pass(arena, module, "dce");
  const Graph *after = module->entries[ENTRY_PREDICT];
  assert_same_results(arena, before, after);
  assert_ptr_equal(after->outputs.items[2].node, after->outputs.items[3].node);
  assert_int_equal(first_scan(after)->operand_count, 4);
  assert_int_equal(first_scan(after)->body->outputs.count, 3);
  arena_destroy(arena);
}

/* ---- whole programs ----------------------------------------------------------------------- */

/* Carries read and not read, one that stays, several sequences, a scan in a scan, invariants in
 * products and otherwise, a yield that the loss does not read. */
static void test_same_as_written_by_hand(void **state) {
  (void)state;
  static const char scan[] =
      HEADING "ys, hs, h, n, _, inner = scan u, v in x, y[:, ::-1] along 1\n"
              "  with h = zeros([batch, 3]), n = 0, fixed = b * 2, s = ones([batch]) {\n"
              "  h = tanh((h + u[:, none]) @ w + b * v[:, none] + fixed)\n"
              "  n = n + 1\n"
              "  s = scan row in k with s = s { s = sin(s + h @ row + sum(row * b)) }\n"
              "  yield h * s[:, none] @ k, h\n"
              "}\n"
              "loss = mean(ys ^ 2) + mean(h) + 0.1 * f32(n) + mean(ys[:, 1] * x)\n"
              "loss = loss + 0 * mean(hs) + 0 * mean(inner)\n" ENDING;
  static const char loop[] =
      HEADING "h = zeros([batch, 3])\nfixed = b * 2\ns = ones([batch])\nall = []\n"
              "for t in 0..3 {\n"
              "  h = tanh((h + x[:, t:t + 1]) @ w + b * y[:, 2 - t:3 - t] + fixed)\n"
              "  for r in 0..3 { s = sin(s + h @ k[r] + sum(k[r] * b)) }\n"
              "  out = h * s[:, none] @ k\n"
              "  all = all + [out]\n"
              "}\n"
              "ys = stack(all, axis = 1)\n"
              "loss = mean(ys ^ 2) + mean(h) + 0.3 + mean(ys[:, 1] * x)\n" ENDING;
  expect_same_weights(scan, loop);
}

static void test_none_and_one_step(void **state) {
  (void)state;
  static const char scan[] = HEADING
      "none_, h = scan i in 0..0 with h = b * 1.0 { h = h * sum(w) ; yield h + f32(i) }\n"
      "one, g = scan v in x[:, 1:2] along 1 with g = h { g = g * sum(k) ; yield g + v[0] }\n"
      "_ = assert(none_.shape == [0, 3] && one.shape == [3, 1], \"shapes\")\n"
      "loss = mean(one * g[:, none]) + mean(w)\n" ENDING;
  static const char loop[] =
      HEADING "g = b * sum(k)\nloss = mean((g + x[0, 1]) * g) + mean(w)\n" ENDING;
  expect_same_weights(scan, loop);
}

static const char *recurrent(Arena *arena, int steps) {
  return arena_printf(arena,
                      "const batch = 4\ndata train { x, y = csv(\"a.csv\") }\n"
                      "input x : f32[batch, %d, 6]\ninput y : f32[batch]\n"
                      "_, h = scan v in x along 1 with h = zeros([batch, 8]) {\n"
                      "  h = tanh(linear(concat(v, h), 8)) ; yield h }\n"
                      "loss = mean((sum(h, axis = 1) - y) ^ 2)\n"
                      "train { minimize = loss, optimizer = sgd(lr = 0.5), steps = 3 }\n",
                      steps);
}

static void test_steps_share_kernels(void **state) {
  (void)state;
  Arena *arena = arena_create();
  ProgramOptions options = {.level = 1, .target = &target_c};
  int kernels[2], steps[2];
  for (int i = 0; i < 2; i++) {
    Module *module = elaborate_text(arena, recurrent(arena, i == 0 ? 10 : 30), NULL, 1);
    const Program *program = program_create(arena, module, &options);
    kernels[i] = program->kernels.count;
    steps[i] = program->entries[ENTRY_TRAIN].steps.count;
  }
  assert_true(steps[1] > 2 * steps[0]);
  assert_int_equal(kernels[1], kernels[0]);
  arena_destroy(arena);
}

/* The gradient of a weight that the body reads in parts is one contraction a part after the loop,
 * so the memory is the only carry of the backward scan. */
static void test_parts_of_a_weight_are_summed_after_the_loop(void **state) {
  (void)state;
  Arena *arena = arena_create();
  static const char text[] = "const batch = 4\ndata train { x, y = csv(\"a.csv\") }\n"
                             "input x : f32[batch, 5, 8]\ninput y : f32[batch]\n"
                             "param u : f32[8, 16] = 0.1\n"
                             "_, h = scan v in x along 1 with h = zeros([batch, 8]) {\n"
                             "  h = tanh(h @ u[:, :8]) * sigmoid(v + h @ u[:, 8:]) ; yield h }\n"
                             "loss = mean((sum(h, axis = 1) - y) ^ 2)\n"
                             "train { minimize = loss, optimizer = sgd(lr = 0.5), steps = 3 }\n";
  Module *module = elaborate_text(arena, text, "differentiate", 1);
  const Graph *graph = module->entries[ENTRY_TRAIN];
  int backward = 0;
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (!node->body || !scan_shape(node).reverse) continue;
    backward++;
    assert_int_equal(scan_shape(node).carries, 1);
  }
  assert_int_equal(backward, 1);
  arena_destroy(arena);
}

/* The backward step of a loop reads the contractions, sums and scans of the forward step: it has
 * those of its adjoints alone. */
static void test_dear_values_are_kept(void **state) {
  (void)state;
  Arena *arena = arena_create();
  static const char text[] =
      HEADING "param q : f32[12, 3] = 0.1\n"
              "_, h, s = scan u in x along 1 with h = zeros([batch, 3]), s = ones([batch]) {\n"
              "  h = tanh(concat(h, h + u[:, none], sin(h), h) @ q)\n"
              "  s = scan row in k with s = s {\n"
              "    s = sin(s + row[0]) * sum(sin(concat(h, h, h) * s[:, none]), axis = 1)\n"
              "  }\n"
              "  yield h\n"
              "}\n"
              "loss = mean(h) + mean(s) + 0 * mean(y @ w + b)\n" ENDING;
  Module *module = elaborate_with(arena, text, NULL, 1, SCANS_LOOP);
  const Graph *graph = module->entries[ENTRY_TRAIN];
  const Graph *forward = first_scan(graph)->body, *backward = reverse_scan(graph)->body;
  assert_int_equal(count_family(forward, FAMILY_CONTRACTION), 1);
  assert_int_equal(count_family(backward, FAMILY_CONTRACTION), 1);
  const Node *inner = reverse_scan(backward);
  assert_int_equal(first_scan(forward)->body->outputs.count, 3);
  assert_int_equal(count_family(first_scan(forward)->body, FAMILY_REDUCTION), 1);
  assert_int_equal(count_family(inner->body, FAMILY_REDUCTION), 2); /* of s and row */
  assert_ptr_equal(first_scan(backward), inner);
  arena_destroy(arena);
}

/* With `recompute` the forward scan keeps its carries alone and stays a loop whatever is chosen;
 * the backward step computes its step again. */
static void test_recomputed_scans_keep_carries_alone(void **state) {
  (void)state;
  Arena *arena = arena_create();
  static const char *const words[] = {"", " recompute"};
  const char *texts[2];
  for (int i = 0; i < 2; i++)
    texts[i] = arena_printf(
        arena,
        HEADING "param q : f32[12, 3] = 0.1\n"
                "hs, h, s = scan u in x along 1%s with h = zeros([batch, 3]), s = ones([batch]) {\n"
                "  h = tanh(concat(h, h + u[:, none], sin(h), h) @ q)\n"
                "  s = scan row in k%s with s = s { s = sin(s + row[0] * h[:, 1]) }\n"
                "  yield h @ w\n"
                "}\n"
                "loss = mean(h) + mean(s) + mean(hs ^ 2) + 0 * mean(y @ w + b)\n" ENDING,
        words[i], words[i]);
  expect_same_weights(texts[1], texts[0]);
  Module *module = elaborate_with(arena, texts[1], NULL, 1, SCANS_UNROLL);
  const Node *forward = first_scan(module->entries[ENTRY_TRAIN]);
  const Node *backward = reverse_scan(module->entries[ENTRY_TRAIN]);
  assert_true(scan_shape(forward).recomputes && scan_shape(backward).recomputes);
  assert_int_equal(forward->body->outputs.count, 2 + 1 + 2);
  assert_int_equal(count_family(backward->body, FAMILY_CONTRACTION), 2); /* by q, and its adjoint */
  assert_false(scan_shape(first_scan(backward->body)).reverse);
  Module *again = read_dump(arena, print_module(arena, module));
  assert_string_equal(print_module(arena, again), print_module(arena, module));
  arena_destroy(arena);
}

/* Each value of a long loop is a small part of all, but they are worth computing again. */
static void test_steps_are_computed_again(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Module *module = elaborate_text(arena, recurrent(arena, 400), NULL, 1);
  RecomputeOptions options = {.segments = 4};
  RecomputeResult result = {0};
  graph_recompute(arena, module->entries[ENTRY_TRAIN], &options, &result);
  assert_true(result.node_count > 400);
  arena_destroy(arena);
}

static void test_too_many_steps_are_refused(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Diagnostics *diagnostics = diagnostics_create(arena);
  const char *text = recurrent(arena, 100000);
  const SourceFile *file = source_from_text(arena, "a.net", text, strlen(text));
  AstProgram *program = parse_program(arena, diagnostics, file);
  Module *module = elaborate(arena, diagnostics, program, NULL);
  PipelineOptions options = {.level = 1};
  bool stopped;
  assert_non_null(module);
  module->run.scans = SCANS_UNROLL; /* left to themselves they are loops */
  assert_false(passes_run(module, diagnostics, &options, &stopped));
  assert_contains(print_diagnostics(arena, diagnostics),
                  "operations when their steps are written out");
  arena_destroy(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_printed_with_its_body),
      cmocka_unit_test(test_damaged_bodies_are_refused),
      cmocka_unit_test(test_steps_forward_and_backward),
      cmocka_unit_test(test_chosen_scans_stay_loops),
      cmocka_unit_test(test_unread_results_and_operands_disappear),
      cmocka_unit_test(test_equal_bodies_merge),
      cmocka_unit_test(test_equal_operands_and_results_merge),
      cmocka_unit_test(test_same_as_written_by_hand),
      cmocka_unit_test(test_none_and_one_step),
      cmocka_unit_test(test_steps_share_kernels),
      cmocka_unit_test(test_parts_of_a_weight_are_summed_after_the_loop),
      cmocka_unit_test(test_dear_values_are_kept),
      cmocka_unit_test(test_recomputed_scans_keep_carries_alone),
      cmocka_unit_test(test_steps_are_computed_again),
      cmocka_unit_test(test_too_many_steps_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
