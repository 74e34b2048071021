/* cse, dce, expand, hoist and the runner. (Rules of simplify: test_rules.c.) */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "evaluate_graphs.h"
#include "mutate.h"
#include "passes/pass.h"
#include "sample_module.h"

static int make_arena(void **state) {
  *state = arena_create();
  return 0;
}

static int drop_arena(void **state) {
  arena_destroy(*state);
  return 0;
}

static Module *read_module(Arena *arena, const char *text) {
  char *errors;
  Module *module = parse_text(arena, text, strlen(text), &errors);
  if (!module) fail_msg("%s", errors);
  return module;
}

#define HEADING "nnc_dump 1\nmodule \"m\"\ninput \"x\" : f32[2]\ninput \"y\" : f32[2]\n"

/* Runs a pass on a predict entry given by its lines and compares what becomes of them. */
static void check_predict(Arena *arena, void (*pass)(Module *, Diagnostics *), const char *before,
                          const char *after) {
  Module *module =
      read_module(arena, arena_printf(arena, HEADING "entry predict {\n%s}\n", before));
  Graph *original = module->entries[ENTRY_PREDICT];
  pass(module, diagnostics_create(arena));
  assert_verified(arena, module);
  assert_string_equal(print_graph(arena, module->entries[ENTRY_PREDICT]),
                      arena_printf(arena, "entry predict {\n%s}\n", after));
  assert_same_results(arena, original, module->entries[ENTRY_PREDICT]);
}

/* ---- cse, dce, expand --------------------------------------------------------------------- */

static void test_cse_merges_equal_nodes_under_the_first_name(void **state) {
  check_predict(*state, pass_cse,
                "  %0 : f32[2] = input() {name = \"x\"} \"a\"\n"
                "  %1 : f32[2] = input() {name = \"x\"} \"b\"\n"
                "  %2 : f32[2] = input() {name = \"y\"} \"b\"\n"
                "  %3 : f32[2] = exp(%0) \"first\"\n"
                "  %4 : f32[2] = exp(%1) \"second\"\n"
                "  %5 : f32[2] = add(%3, %2) \"third\"\n"
                "  %6 : f32[2] = add(%2, %4) \"fourth\"\n"
                "  %7 : f32[2] = sub(%3, %2) \"fifth\"\n"
                "  %8 : f32[2] = sub(%2, %3) \"sixth\"\n"
                "  result \"a\" = %5\n"
                "  result \"b\" = %6\n"
                "  result \"c\" = %7\n"
                "  result \"d\" = %8\n",
                "  %0 : f32[2] = input() {name = \"x\"} \"a\"\n"
                "  %1 : f32[2] = input() {name = \"y\"} \"b\"\n"
                "  %2 : f32[2] = exp(%0) \"first\"\n"
                "  %3 : f32[2] = add(%2, %1) \"third\"\n"
                "  %4 : f32[2] = sub(%2, %1) \"fifth\"\n"
                "  %5 : f32[2] = sub(%1, %2) \"sixth\"\n"
                "  result \"a\" = %3\n"
                "  result \"b\" = %3\n"
                "  result \"c\" = %4\n"
                "  result \"d\" = %5\n");
}

static void test_cse_keeps_random_nodes_types_and_attributes_apart(void **state) {
  static const char lines[] = "  %0 : f32[2] = random_uniform() {stream = 1, key = \"k\"} \"p\"\n"
                              "  %1 : f32[2] = random_uniform() {stream = 1, key = \"k\"} \"p\"\n"
                              "  %2 : f32[2] = constant() {value = 0.0} \"p\"\n"
                              "  %3 : f32[2] = constant() {value = -0.0} \"p\"\n"
                              "  %4 : f32[3] = constant() {value = 0.0} \"p\"\n"
                              "  %5 : f64[2] = constant() {value = 0.0} \"p\"\n"
                              "  result \"a\" = %0\n  result \"b\" = %1\n  result \"c\" = %2\n"
                              "  result \"d\" = %3\n  result \"e\" = %4\n  result \"f\" = %5\n";
  check_predict(*state, pass_cse, lines, lines);
}

static void test_dce_drops_what_no_output_needs(void **state) {
  check_predict(*state, pass_dce,
                "  %0 : f32[2] = input() {name = \"x\"} \"p\"\n"
                "  %1 : f32[2] = input() {name = \"y\"} \"p\"\n"
                "  %2 : f32[2] = exp(%1) \"p\"\n"
                "  %7 : f32[2] = neg(%0) \"p\"\n"
                "  %8 : f32[2] = neg(%7) \"p\"\n"
                "  result \"a\" = %7\n",
                "  %0 : f32[2] = input() {name = \"x\"} \"p\"\n"
                "  %1 : f32[2] = neg(%0) \"p\"\n"
                "  result \"a\" = %1\n");
}

static void test_expand_writes_a_mean_as_a_sum(void **state) {
  check_predict(*state, pass_expand,
                "  %0 : f32[2] = input() {name = \"x\"} \"p\"\n"
                "  %1 : f32[] = reduce_mean(%0) {axes = [0]} \"loss\"\n"
                "  result \"a\" = %1\n",
                "  %0 : f32[2] = input() {name = \"x\"} \"p\"\n"
                "  %1 : f32[] = reduce_sum(%0) {axes = [0]} \"loss\"\n"
                "  %2 : f32[] = constant() {value = 0.5} \"loss\"\n"
                "  %3 : f32[] = mul(%1, %2) \"loss\"\n"
                "  result \"a\" = %3\n");
}

/* ---- join --------------------------------------------------------------------------------- */

/* A product [8, 2] of x and y. */
#define PRODUCT                                                                                    \
  "  %0 : f32[2] = input() {name = \"x\"} \"p\"\n"                                                 \
  "  %1 : f32[2] = input() {name = \"y\"} \"p\"\n"                                                 \
  "  %2 : f32[8, 2] = broadcast(%0) {axes = [1], shape = [8, 2]} \"p\"\n"                          \
  "  %3 : f32[2, 2] = broadcast(%1) {axes = [0], shape = [2, 2]} \"p\"\n"                          \
  "  %4 : f32[8, 2] = contract(%2, %3) {batch_left = [], batch_right = [], sum_left = [1], "       \
  "sum_right = [0]} \"p\"\n"                                                                       \
  "  %5 : f32[8, 2] = broadcast(%1) {axes = [1], shape = [8, 2]} \"p\"\n"

/* Both are also read by others. */
#define READ "  result \"product\" = %4\n  result \"vectors\" = %5\n"

/* What join makes of the lines after a product, without what nothing needs, is this; it computes the same. */
static void check_joined(Arena *arena, const char *before, const char *after) {
  Module *module = read_module(
      arena, arena_printf(arena, HEADING "entry predict {\n%s%s%s}\n", PRODUCT, before, READ));
  Graph *original = module->entries[ENTRY_PREDICT];
  Diagnostics *diagnostics = diagnostics_create(arena);
  pass_join(module, diagnostics);
  pass_dce(module, diagnostics);
  assert_verified(arena, module);
  assert_string_equal(print_graph(arena, module->entries[ENTRY_PREDICT]),
                      arena_printf(arena, "entry predict {\n%s%s%s}\n", PRODUCT, after, READ));
  assert_same_results(arena, original, module->entries[ENTRY_PREDICT]);
}

static void test_join_makes_a_normalization_one_product_and_one_sum(void **state) {
  check_joined(*state,
               "  %6 : f32[8, 2] = sub(%4, %2) \"a\"\n"
               "  %7 : f32[8, 2] = mul(%6, %5) \"b\"\n"
               "  %8 : f32[8, 2] = mul(%2, %7) \"c\"\n"
               "  %9 : f32[8, 2] = add(%8, %5) \"d\"\n"
               "  result \"a\" = %9\n",
               /* ((p - x) y) x + y = p (y x) + (-x y x + y), in two steps: at c, then at d */
               "  %6 : f32[2] = neg(%0) \"c\"\n"
               "  %7 : f32[2] = mul(%6, %1) \"c\"\n"
               "  %8 : f32[2] = mul(%1, %0) \"c\"\n"
               "  %9 : f32[2] = mul(%7, %0) \"c\"\n"
               "  %10 : f32[2] = add(%9, %1) \"d\"\n"
               "  %11 : f32[8, 2] = broadcast(%8) {axes = [1], shape = [8, 2]} \"d\"\n"
               "  %12 : f32[8, 2] = mul(%4, %11) \"d\"\n"
               "  %13 : f32[8, 2] = broadcast(%10) {axes = [1], shape = [8, 2]} \"d\"\n"
               "  %14 : f32[8, 2] = add(%12, %13) \"d\"\n"
               "  result \"a\" = %14\n");
}

static void test_join_leaves_what_has_no_more_operations_then(void **state) {
  static const char *const lines[] = {
      "  %6 : f32[8, 2] = mul(%4, %5) \"a\"\n" /* one product and one sum already */
      "  %7 : f32[8, 2] = sub(%6, %2) \"b\"\n"
      "  result \"a\" = %7\n",
      "  %6 : f32[8, 2] = sub(%4, %5) \"a\"\n" /* what it is subtracted from varies */
      "  %7 : f32[8, 2] = sub(%5, %6) \"b\"\n"
      "  %8 : f32[8, 2] = mul(%7, %5) \"b\"\n"
      "  result \"a\" = %8\n",
      "  %6 : f32[8, 2] = mul(%2, %5) \"a\"\n" /* no product is below them */
      "  %7 : f32[8, 2] = sub(%6, %5) \"b\"\n"
      "  %8 : f32[8, 2] = mul(%7, %2) \"c\"\n"
      "  result \"a\" = %8\n",
  };
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    check_joined(*state, lines[i], lines[i]);
}

static void test_join_leaves_what_trains(void **state) {
  Module *module = read_module(*state, HEADING "param \"w\" : f32[8, 2]\nentry train {\n" PRODUCT
                                               "  %6 : f32[8, 2] = sub(%4, %2) \"a\"\n"
                                               "  %7 : f32[8, 2] = mul(%6, %5) \"b\"\n"
                                               "  %8 : f32[8, 2] = mul(%7, %2) \"c\"\n"
                                               "  store \"w\" = %8\n"
                                               "}\n");
  Graph *original = module->entries[ENTRY_TRAIN];
  pass_join(module, diagnostics_create(*state));
  assert_ptr_equal(module->entries[ENTRY_TRAIN], original);
}

/* ---- operators ---------------------------------------------------------------------------- */

/* Every operator has a kernel, is a leaf, or is gone after differentiate, unroll and expand. */
static void test_every_operator_reaches_a_kernel(void **state) {
  (void)state;
  for (int op = 0; op < OP_COUNT; op++) {
    const OpClass *class = op_info((Op)op)->class;
    bool is_gone = op == OP_GRADIENT || op == OP_REDUCE_MEAN || class->family == FAMILY_SCAN;
    if (!class->lower && class->family != FAMILY_LEAF && !is_gone)
      fail_msg("%s has no lowering", op_info((Op)op)->name);
  }
}

static void test_stops_stay_until_gradients_are_gone(void **state) {
  static const char dump[] = "nnc_dump 1\nmodule \"m\"\nparam \"w\" : f32[]\n"
                             "entry train {\n"
                             "  %0 : f32[] = param() {name = \"w\"} \"w\"\n"
                             "  %1 : f32[] = stop_gradient(%0) \"p\"\n"
                             "  %2 : f32[] = mul(%0, %1) \"p\"\n"
                             "  %3 : f32[] = gradient(%2, %0) {loss = \"loss\"} \"p\"\n"
                             "  store \"w\" = %3\n"
                             "}\n";
  Module *module = read_module(*state, dump);
  Diagnostics *diagnostics = diagnostics_create(*state);
  pass_simplify(module, diagnostics);
  assert_contains(print_graph(*state, module->entries[ENTRY_TRAIN]), "stop_gradient");
  pass_differentiate(module, diagnostics);
  pass_simplify(module, diagnostics);
  /* d (w * stop(w)) / dw = w, not 2 w */
  assert_string_equal(print_graph(*state, module->entries[ENTRY_TRAIN]),
                      "entry train {\n"
                      "  %0 : f32[] = param() {name = \"w\"} \"w\"\n"
                      "  store \"w\" = %0\n"
                      "}\n");
}

static void test_a_replacement_keeps_place_and_path(void **state) {
  Module *module = read_module(*state, "nnc_dump 1\nmodule \"m\"\nsource \"a.net\"\n"
                                       "input \"x\" : f32[2]\n"
                                       "entry predict {\n"
                                       "  %0 : f32[2] = input() {name = \"x\"} \"x\" @1:1-1:2\n"
                                       "  %1 : f32[2] = constant() {value = 2.0} \"c\" @2:1-2:2\n"
                                       "  %2 : f32[2] = pow(%0, %1) \"square\" @3:1-3:9\n"
                                       "  result \"r\" = %2\n"
                                       "}\n");
  pass_simplify(module, diagnostics_create(*state));
  assert_contains(print_module(*state, module), "= mul(%0, %0) \"square\" @3:1-3:9\n");
}

/* ---- hoist -------------------------------------------------------------------------------- */

/* lr comes from the host; bias = 1 - 0.9 ^ t is arithmetic of the step. */
#define HOIST_HEADING                                                                              \
  "nnc_dump 1\nmodule \"m\"\nparam \"w\" : f32[2]\n"                                               \
  "entry host {\n"                                                                                 \
  "  %0 : f64[] = scalar() {name = \"t\"} \"t\"\n"                                                 \
  "  %1 : f64[] = constant() {value = 0.1} \"lr\"\n"                                               \
  "  %2 : f64[] = mul(%0, %1) \"lr\"\n"                                                            \
  "  scalar \"lr\" = %2\n"                                                                         \
  "}\n"
#define HOIST_LINES                                                                                \
  "  %0 : f32[2] = param() {name = \"w\"} \"w\"\n"                                                 \
  "  %1 : f64[] = scalar() {name = \"lr\"} \"adam\"\n"                                             \
  "  %2 : f64[] = scalar() {name = \"t\"} \"adam\"\n"                                              \
  "  %3 : f64[] = constant() {value = 0.9} \"adam\"\n"                                             \
  "  %4 : f64[] = pow(%3, %2) \"adam\"\n"                                                          \
  "  %5 : f64[] = div(%1, %4) \"adam.rate\"\n"                                                     \
  "  %6 : f32[] = cast(%5) {dtype = f32} \"adam\"\n"                                               \
  "  %7 : f32[2] = broadcast(%6) {axes = [], shape = [2]} \"adam\"\n"                              \
  "  %8 : f32[2] = mul(%0, %7) \"adam\"\n"                                                         \
  "  store \"w\" = %8\n"

/* The stores of `after` from what its host entry gives at step t are those of `before`. */
static void check_hoisted(Arena *arena, const char *dump, Module *after) {
  Module *before = read_module(arena, dump);
  Tensor *t = tensor_create(arena, type_scalar(DTYPE_F64));
  t->data[0] = 3;
  VEC(Binding) given = {0};
  Binding step = {OP_SCALAR, name_intern("t"), t};
  vec_push(arena, &given, step);
  Graph *host = after->entries[ENTRY_HOST];
  const Evaluation *scalars = evaluate_with(arena, host, given.count, given.items);
  for (int i = 0; i < host->outputs.count; i++) {
    Binding binding = {OP_SCALAR, host->outputs.items[i].name, evaluation_output(scalars, i)};
    vec_push(arena, &given, binding);
  }
  for (int i = 0; i < ENTRY_COUNT; i++) {
    if (!before->entries[i] || i == ENTRY_HOST) continue;
    const Evaluation *a = evaluate_with(arena, before->entries[i], given.count, given.items);
    const Evaluation *b = evaluate_with(arena, after->entries[i], given.count, given.items);
    for (int k = 0; k < before->entries[i]->outputs.count; k++)
      assert_same_value(evaluation_output(a, k), evaluation_output(b, k),
                        before->entries[i]->outputs.items[k].name);
  }
}

static Module *hoist_dump(Arena *arena, const char *dump) {
  Module *module = read_module(arena, dump);
  pass_hoist(module, diagnostics_create(arena));
  assert_verified(arena, module);
  check_hoisted(arena, dump, module);
  pass_dce(module, diagnostics_create(arena));
  return module;
}

static void test_hoist_moves_scalar_arithmetic_to_the_host(void **state) {
  Module *module = hoist_dump(*state, HOIST_HEADING "entry train {\n" HOIST_LINES "}\n");
  assert_string_equal(print_graph(*state, module->entries[ENTRY_TRAIN]),
                      "entry train {\n"
                      "  %0 : f32[2] = param() {name = \"w\"} \"w\"\n"
                      "  %1 : f64[] = scalar() {name = \"host.0\"} \"adam.rate\"\n"
                      "  %2 : f32[] = cast(%1) {dtype = f32} \"adam\"\n"
                      "  %3 : f32[2] = broadcast(%2) {axes = [], shape = [2]} \"adam\"\n"
                      "  %4 : f32[2] = mul(%0, %3) \"adam\"\n"
                      "  store \"w\" = %4\n"
                      "}\n");
  assert_string_equal(print_graph(*state, module->entries[ENTRY_HOST]),
                      "entry host {\n"
                      "  %0 : f64[] = scalar() {name = \"t\"} \"t\"\n"
                      "  %1 : f64[] = constant() {value = 0.1} \"lr\"\n"
                      "  %2 : f64[] = mul(%0, %1) \"lr\"\n"
                      "  %3 : f64[] = constant() {value = 0.9} \"adam\"\n"
                      "  %4 : f64[] = pow(%3, %0) \"adam\"\n"
                      "  %5 : f64[] = div(%2, %4) \"adam.rate\"\n"
                      "  scalar \"lr\" = %2\n"
                      "  scalar \"host.0\" = %5\n"
                      "}\n");
}

static void test_hoist_shares_between_entries(void **state) {
  Module *module = hoist_dump(*state, HOIST_HEADING "entry train {\n" HOIST_LINES "}\n"
                                                    "entry accumulate {\n" HOIST_LINES "}\n");
  assert_int_equal(module->entries[ENTRY_HOST]->outputs.count, 2);
  assert_contains(print_graph(*state, module->entries[ENTRY_ACCUMULATE]), "{name = \"host.0\"}");
}

static void test_hoist_finds_what_the_host_already_gives(void **state) {
  Module *module =
      hoist_dump(*state, HOIST_HEADING "entry train {\n"
                                       "  %0 : f64[] = scalar() {name = \"t\"} \"p\"\n"
                                       "  %1 : f64[] = constant() {value = 0.1} \"p\"\n"
                                       "  %2 : f64[] = mul(%0, %1) \"p\"\n"
                                       "  accumulator last \"rate\" = %2\n"
                                       "}\n");
  assert_int_equal(module->entries[ENTRY_HOST]->outputs.count, 1);
  assert_string_equal(print_graph(*state, module->entries[ENTRY_TRAIN]),
                      "entry train {\n"
                      "  %0 : f64[] = scalar() {name = \"lr\"} \"p\"\n"
                      "  accumulator last \"rate\" = %0\n"
                      "}\n");
}

/* A comparison stays, over hoisted operands; a leaf alone is not worth an output; names differ. */
static void test_hoist_leaves_bools_and_leaves(void **state) {
  Module *module =
      hoist_dump(*state, "nnc_dump 1\nmodule \"m\"\nparam \"w\" : f32[]\nparam \"v\" : f32[]\n"
                         "entry host {\n"
                         "  %0 : f64[] = scalar() {name = \"t\"} \"t\"\n"
                         "  scalar \"host.0\" = %0\n"
                         "}\n"
                         "entry train {\n"
                         "  %0 : f64[] = scalar() {name = \"t\"} \"p\"\n"
                         "  %1 : f64[] = constant() {value = 10.5} \"p\"\n"
                         "  %2 : f64[] = sqrt(%0) \"p\"\n"
                         "  %3 : bool[] = lt(%2, %1) \"p\"\n"
                         "  %4 : f32[] = param() {name = \"w\"} \"w\"\n"
                         "  %5 : f32[] = cast(%0) {dtype = f32} \"p\"\n"
                         "  %6 : f32[] = where(%3, %4, %5) \"p\"\n"
                         "  store \"w\" = %6\n"
                         "}\n");
  assert_string_equal(print_graph(*state, module->entries[ENTRY_TRAIN]),
                      "entry train {\n"
                      "  %0 : f64[] = scalar() {name = \"t\"} \"p\"\n"
                      "  %1 : f64[] = constant() {value = 10.5} \"p\"\n"
                      "  %2 : f64[] = scalar() {name = \"host.1\"} \"p\"\n"
                      "  %3 : bool[] = lt(%2, %1) \"p\"\n"
                      "  %4 : f32[] = param() {name = \"w\"} \"w\"\n"
                      "  %5 : f32[] = cast(%0) {dtype = f32} \"p\"\n"
                      "  %6 : f32[] = where(%3, %4, %5) \"p\"\n"
                      "  store \"w\" = %6\n"
                      "}\n");
}

static void test_hoist_makes_a_host_entry_where_there_is_none(void **state) {
  Module *module = read_module(*state, "nnc_dump 1\nmodule \"m\"\n"
                                       "entry eval {\n"
                                       "  %0 : f64[] = scalar() {name = \"t\"} \"p\"\n"
                                       "  %1 : f64[] = sqrt(%0) \"p\"\n"
                                       "  accumulator last \"a\" = %1\n"
                                       "}\n");
  pass_hoist(module, diagnostics_create(*state));
  assert_verified(*state, module);
  assert_non_null(module->entries[ENTRY_HOST]);
  Module *without = read_module(*state, "nnc_dump 1\nmodule \"m\"\nentry eval {\n}\n");
  pass_hoist(without, diagnostics_create(*state));
  assert_null(without->entries[ENTRY_HOST]);
}

/* ---- the runner --------------------------------------------------------------------------- */

/* What passes_run() writes to stdout. */
static char *run_captured(Arena *arena, Module *module, const PipelineOptions *options,
                          bool *stopped, bool *finished) {
  FILE *file = tmpfile();
  assert_non_null(file);
  fflush(stdout);
  int saved = dup(STDOUT_FILENO);
  assert_true(saved >= 0 && dup2(fileno(file), STDOUT_FILENO) >= 0);
  *finished = passes_run(module, diagnostics_create(arena), options, stopped);
  fflush(stdout);
  assert_true(dup2(saved, STDOUT_FILENO) >= 0);
  close(saved);
  long length = ftell(file);
  assert_true(fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) >= 0);
  rewind(file);
  char *text = arena_alloc(arena, (size_t)length + 1);
  assert_int_equal(fread(text, 1, (size_t)length, file), length);
  fclose(file);
  return text;
}

static void test_a_dump_resumes_where_it_was_written(void **state) {
  for (int i = 0; i < pass_count; i++) {
    bool stopped, finished;
    Sample straight = sample_create(*state), first = sample_create(*state);
    PipelineOptions all = {.level = 2};
    assert_string_equal(run_captured(*state, straight.module, &all, &stopped, &finished), "");
    assert_true(finished && !stopped);
    PipelineOptions until = {
        .level = 2, .dump_after = pass_table[i].name, .stop_after = pass_table[i].name};
    char *dump = run_captured(*state, first.module, &until, &stopped, &finished);
    assert_true(stopped && !finished);
    Module *resumed = read_module(*state, dump);
    PipelineOptions from = {.level = 2, .start_after = pass_table[i].name};
    run_captured(*state, resumed, &from, &stopped, &finished);
    assert_true(finished);
    assert_string_equal(print_module(*state, resumed), print_module(*state, straight.module));
  }
}

static void test_low_levels_pass_over_optimizing_passes(void **state) {
  bool stopped, finished;
  Sample sample = sample_create(*state);
  PipelineOptions options = {.level = 0, .dump_after = "all"};
  char *text = run_captured(*state, sample.module, &options, &stopped, &finished);
  assert_true(finished);
  for (int i = 0; i < pass_count; i++)
    assert_contains(text, arena_printf(*state, "# after %s\n", pass_table[i].name));
  assert_contains(print_graph(*state, sample.module->entries[ENTRY_HOST]), "mul(%0, %1)");
  assert_null(strstr(print_module(*state, sample.module), "reduce_mean"));
}

static void test_an_unknown_pass_is_a_diagnostic(void **state) {
  bool stopped;
  Sample sample = sample_create(*state);
  Diagnostics *diagnostics = diagnostics_create(*state);
  PipelineOptions options = {.stop_after = "simplfy", .dump_after = "nothing"};
  assert_false(passes_run(sample.module, diagnostics, &options, &stopped));
  assert_false(stopped);
  char *errors = print_diagnostics(*state, diagnostics);
  assert_contains(errors, "--dump-after: there is no pass 'nothing'");
  assert_contains(errors, "--stop-after: there is no pass 'simplfy'");
  assert_contains(errors, "did you mean 'simplify'?");
}

static void test_a_broken_module_is_a_bug_of_ours(void **state) {
  Sample sample = sample_create(*state);
  sample.module->entries[ENTRY_TRAIN]->nodes.items[2]->type.dtype = DTYPE_F64;
  FILE *errors = tmpfile();
  assert_non_null(errors);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    bool stopped;
    PipelineOptions options = {.level = 2};
    signal(SIGABRT, SIG_DFL);
    if (dup2(fileno(errors), STDERR_FILENO) < 0) _exit(1);
    passes_run(sample.module, diagnostics_create(*state), &options, &stopped);
    _exit(0);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  char text[1000] = "";
  rewind(errors);
  assert_true(fread(text, 1, sizeof text - 1, errors) > 0);
  fclose(errors);
  assert_contains(text, "the verifier rejects the module: entry train: node %2 (contract");
  assert_contains(text, "elaboration");
}

/* Whatever numbers a dump holds, if the verifier accepts it so does every pass. */
static void test_passes_take_whatever_the_verifier_accepts(void **state) {
  const char *reason, *path = SOURCE_DIR "/tests/unit/data/operators.dump";
  SourceFile *file = source_read(*state, path, &reason);
  assert_non_null(file);
  size_t capacity = 2 * file->length;
  char *errors, *text = arena_alloc(*state, capacity);
  const char *wanted = getenv("NNC_MUTATIONS");
  int accepted = 0, attempts = wanted ? atoi(wanted) : 2000;
  uint64_t seed = 1;
  for (int i = 0; i < attempts; i++) {
    Arena *arena = arena_create();
    memcpy(text, file->text, file->length);
    size_t length = mutate_number(text, file->length, capacity, &seed);
    Module *module = parse_text(arena, text, length, &errors);
    bool stopped;
    PipelineOptions options = {.level = 2};
    if (module) assert_true(passes_run(module, diagnostics_create(arena), &options, &stopped));
    accepted += module != NULL;
    arena_destroy(arena);
  }
  assert_true(accepted > 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_arena, drop_arena)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_cse_merges_equal_nodes_under_the_first_name),
      TEST(test_cse_keeps_random_nodes_types_and_attributes_apart),
      TEST(test_dce_drops_what_no_output_needs),
      TEST(test_expand_writes_a_mean_as_a_sum),
      TEST(test_join_makes_a_normalization_one_product_and_one_sum),
      TEST(test_join_leaves_what_has_no_more_operations_then),
      TEST(test_join_leaves_what_trains),
      TEST(test_every_operator_reaches_a_kernel),
      TEST(test_stops_stay_until_gradients_are_gone),
      TEST(test_a_replacement_keeps_place_and_path),
      TEST(test_hoist_moves_scalar_arithmetic_to_the_host),
      TEST(test_hoist_shares_between_entries),
      TEST(test_hoist_finds_what_the_host_already_gives),
      TEST(test_hoist_leaves_bools_and_leaves),
      TEST(test_hoist_makes_a_host_entry_where_there_is_none),
      TEST(test_a_dump_resumes_where_it_was_written),
      TEST(test_low_levels_pass_over_optimizing_passes),
      TEST(test_an_unknown_pass_is_a_diagnostic),
      TEST(test_passes_take_whatever_the_verifier_accepts),
      TEST(test_a_broken_module_is_a_bug_of_ours),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
