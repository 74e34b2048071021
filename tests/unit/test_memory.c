/* Recomputation, rematerialization and micro-batches: the graphs mean what they did before, the programs compute it,
 * and what cannot be taken in pieces is refused. */
#include "backend/c/kernels.h"
#include "memory/memory.h"
#include "networks.h"
#include "passes/microbatch.h"
#include "passes/recompute.h"
#include "run_program.h"

static void assert_close_results(Arena *arena, const Graph *before, const Graph *after,
                                 double tolerance, const char *what) {
  const Evaluation *a = evaluate(arena, before), *b = evaluate(arena, after);
  assert_int_equal(before->outputs.count, after->outputs.count);
  for (int i = 0; i < before->outputs.count; i++) {
    const Tensor *x = evaluation_output(a, i), *y = evaluation_output(b, i);
    assert_true(type_equal(x->type, y->type));
    double difference = 0, norm = 0;
    for (int64_t k = 0; k < shape_elements(x->type.shape); k++) {
      difference = fmax(difference, fabs(x->data[k] - y->data[k]));
      norm = fmax(norm, fabs(x->data[k]));
    }
    if (!(difference <= tolerance * (norm + 1e-300)))
      fail_msg("%s: output %s differs by %g of %g", what, before->outputs.items[i].name, difference,
               norm);
  }
}

static void check_recompute(Arena *arena, Module *module, const char *name) {
  Graph *before = module->entries[ENTRY_TRAIN];
  for (int segments = 2; segments <= 5; segments++)
    for (int kind = 0; kind < 4; kind++) {
      RecomputeOptions options = {segments, (kind & 1) != 0, (kind & 2) != 0};
      RecomputeResult result;
      Graph *after = graph_recompute(arena, before, &options, &result);
      const char *what = arena_printf(arena, "%s, %d segments, kind %d", name, segments, kind);
      assert_close_results(arena, before, after, 0, what);
      assert_int_equal(after->nodes.count, before->nodes.count + result.node_count);
      module->entries[ENTRY_TRAIN] = after;
      assert_null(module_verify(arena, module));
      check_program(arena, module, ENTRY_TRAIN, 1e-9, what);
      module->entries[ENTRY_TRAIN] = before;
    }
}

static void test_recomputation_keeps_results(void **state) {
  (void)state;
  for (int i = 0; i < NETWORKS; i++) {
    Arena *arena = arena_create();
    check_recompute(arena, network_module(arena, network_names[i], 1), network_names[i]);
    arena_destroy(arena);
  }
}

/* ---- rematerialization ---- */

/* How many nodes the training step has more; it computes what it did before. */
static int check_rematerialize(Arena *arena, Module *module, const char *name) {
  Graph *before = module->entries[ENTRY_TRAIN];
  Graph *after = graph_rematerialize(arena, before, 0);
  const char *what = arena_printf(arena, "%s, rematerialized", name);
  assert_close_results(arena, before, after, 0, what);
  module->entries[ENTRY_TRAIN] = after;
  assert_null(module_verify(arena, module));
  check_program(arena, module, ENTRY_TRAIN, 1e-9, what);
  module->entries[ENTRY_TRAIN] = before;
  return after->nodes.count - before->nodes.count;
}

static void test_rematerialization_keeps_results(void **state) {
  (void)state;
  for (int i = 0; i < NETWORKS; i++) {
    Arena *arena = arena_create();
    Module *module = network_module(arena, network_names[i], 1);
    check_rematerialize(arena, module, network_names[i]);
    arena_destroy(arena);
  }
}

/* Copies of the nodes with an operator and a path, which begin the second phase. */
static int count_again(const Graph *graph, Op op, const char *path) {
  int count = 0;
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    count += node->op == op && strcmp(node->path, path) == 0 && node_attribute(node, ATTR_PHASE);
  }
  return count;
}

/* Gradients need the sum before an activation and its result, which is made of the sum: GELU and SiLU
 * have copies; ReLU's result is all that its gradient reads, and stays. Products are never copied. */
static void test_activations_are_made_again(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Module *module = network_module(arena, "slopes", 1);
  Graph *after = graph_rematerialize(arena, module->entries[ENTRY_TRAIN], 0);
  assert_int_equal(count_again(after, OP_MUL, "gelu.0"), 1);
  assert_true(count_again(after, OP_ERF, "gelu.0.share") == 1);
  assert_int_equal(count_again(after, OP_WHERE, "relu.0.y"), 0);
  for (int i = 0; i < after->nodes.count; i++)
    if (after->nodes.items[i]->op == OP_CONTRACT && !strstr(after->nodes.items[i]->path, "grad"))
      assert_null(node_attribute(after->nodes.items[i], ATTR_PHASE));
  arena_destroy(arena);
}

/* Less than what is asked for: nothing changes. */
static void test_few_bytes_are_not_made_again(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Module *module = network_module(arena, "cnn", 1);
  Graph *graph = module->entries[ENTRY_TRAIN];
  assert_ptr_equal(graph_rematerialize(arena, graph, 1 << 30), graph);
  assert_ptr_not_equal(graph_rematerialize(arena, graph, 0), graph);
  arena_destroy(arena);
}

/* ---- places of maxima ---- */

static int count_nodes(const Graph *graph, Op op) {
  int count = 0;
  for (int i = 0; i < graph->nodes.count; i++) count += graph->nodes.items[i]->op == op;
  return count;
}

/* Of four poolings one reads what a weight's gradient needs too. Two adjoints of one pooling read its places. */
static void test_places_stand_for_what_was_pooled(void **state) {
  (void)state;
  Arena *arena = arena_create();
  const Graph *graph = network_module(arena, "pools", 1)->entries[ENTRY_TRAIN];
  assert_int_equal(count_nodes(graph, OP_MAX_PLACE), 3);
  assert_int_equal(count_nodes(graph, OP_MAX_UNPOOL), 4);
  assert_int_equal(count_nodes(graph, OP_MAX_POOL_GRAD), 1);
  arena_destroy(arena);
}

/* What a convolution reads stays as a whole: the mask of its second part is compared in it. The first part is a ReLU of
 * what stays too. */
static void test_masks_of_parts_are_of_the_whole(void **state) {
  (void)state;
  Arena *arena = arena_create();
  const Graph *graph = network_module(arena, "pools", 1)->entries[ENTRY_TRAIN];
  int count = 0;
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    count += node->op == OP_LE && node->operands[0]->op == OP_SLICE &&
             node->operands[0]->operands[0]->op == OP_CONCAT;
  }
  assert_int_equal(count, 1);
  arena_destroy(arena);
}

/* x with ties, NaN and infinities; windows that overlap, and those that lie side by side. */
static Module *pooled_module(Arena *arena, DType dtype, int64_t stride) {
  Module *module = module_create(arena, "m", NULL);
  Graph *graph = module->entries[ENTRY_TRAIN] = graph_create(arena, "train");
  Maker maker = {graph, (Span){0}, "x"};
  Type type = type_make(dtype, SHAPE(2, 3, 8, 16));
  add_variable(module, VARIABLE_PARAM, "p", type);
  Node *p = leaf(&maker, OP_PARAM, type, "p");
  Node *above = make_unary(&maker, OP_FLOOR, make_binary_value(&maker, OP_MUL, p, 3));
  Node *below = make_unary(&maker, OP_FLOOR, make_binary_value(&maker, OP_MUL, p, 2));
  Node *x = make_binary(&maker, OP_DIV, above, below);
  int64_t kernel = stride == 1 ? 3 : stride, low = stride == 1;
  int64_t sizes[] = {kernel, kernel}, strides[] = {stride, stride}, ones[] = {1, 1};
  Attribute attributes[] = {
      attr_make_ints(ATTR_KERNEL, 2, sizes), attr_make_ints(ATTR_STRIDE, 2, strides),
      attr_make_ints(ATTR_LOW, 2, (int64_t[]){low, low}),
      attr_make_ints(ATTR_HIGH, 2, (int64_t[]){low, low}), attr_make_ints(ATTR_DILATION, 2, ones)};
  Node *y = make_node(&maker, OP_MAX_POOL, 1, &x, 5, attributes);
  Node *dy = make_cast(&maker, make_iota(&maker, y->type, 3), dtype);
  Node *dx = make_node(&maker, OP_MAX_POOL_GRAD, 2, (Node *[]){x, dy}, 5, attributes);
  Node *some = make_cast(&maker, make_binary_value(&maker, OP_GE, y, 1), dtype);
  Node *loss = make_reduce(&maker, OP_REDUCE_MAX, some, 4, (int64_t[]){0, 1, 2, 3});
  output(graph, OUTPUT_ACCUMULATOR, "loss", loss);
  output(graph, OUTPUT_STORE, name_intern("p"), dx);
  return module;
}

static void check_places(Arena *arena, DType dtype, int64_t stride) {
  Module *module = pooled_module(arena, dtype, stride);
  const Graph *before = module->entries[ENTRY_TRAIN];
  pass_remember(module, diagnostics_create(arena));
  const Graph *after = module->entries[ENTRY_TRAIN];
  assert_int_equal(count_nodes(after, OP_MAX_UNPOOL), 1);
  assert_null(module_verify(arena, module));
  const Tensor *x = evaluation_output(evaluate(arena, before), 1);
  const Tensor *y = evaluation_output(evaluate(arena, after), 1);
  for (int64_t i = 0; i < shape_elements(x->type.shape); i++) assert_true(x->data[i] == y->data[i]);
  check_program(arena, module, ENTRY_TRAIN, 0, "places");
}

/* As many max_unpool as poolings of such a window get. */
static int places_of_window(Arena *arena, int64_t high, int64_t wide, EntryKind entry) {
  Module *module = module_create(arena, "m", NULL);
  Graph *graph = module->entries[entry] = graph_create(arena, "g");
  Maker maker = {graph, (Span){0}, "x"};
  Type type = type_make(DTYPE_F32, SHAPE(1, 1, 20, 20));
  add_variable(module, VARIABLE_PARAM, "p", type);
  Node *x = make_unary(&maker, OP_EXP, leaf(&maker, OP_PARAM, type, "p"));
  int64_t sizes[] = {high, wide}, ones[] = {1, 1}, zeros[] = {0, 0};
  Attribute attributes[] = {attr_make_ints(ATTR_KERNEL, 2, sizes),
                            attr_make_ints(ATTR_STRIDE, 2, ones),
                            attr_make_ints(ATTR_LOW, 2, zeros), attr_make_ints(ATTR_HIGH, 2, zeros),
                            attr_make_ints(ATTR_DILATION, 2, ones)};
  Node *y = make_node(&maker, OP_MAX_POOL, 1, &x, 5, attributes);
  Node *dy = make_cast(&maker, make_iota(&maker, y->type, 3), DTYPE_F32);
  Node *dx = make_node(&maker, OP_MAX_POOL_GRAD, 2, (Node *[]){x, dy}, 5, attributes);
  output(graph, OUTPUT_ACCUMULATOR, "loss",
         make_reduce(&maker, OP_REDUCE_MAX, y, 4, (int64_t[]){0, 1, 2, 3}));
  output(graph, OUTPUT_STORE, name_intern("p"), dx);
  pass_remember(module, diagnostics_create(arena));
  return count_nodes(module->entries[entry], OP_MAX_UNPOOL);
}

/* A byte tells 255 places apart; a window of one element has no choice. Earlier minibatches of a step remember, too. */
static void test_windows_of_places(void **state) {
  (void)state;
  Arena *arena = arena_create();
  assert_int_equal(places_of_window(arena, 15, 17, ENTRY_TRAIN), 1);
  assert_int_equal(places_of_window(arena, 16, 16, ENTRY_TRAIN), 0);
  assert_int_equal(places_of_window(arena, 1, 1, ENTRY_TRAIN), 0);
  assert_int_equal(places_of_window(arena, 2, 2, ENTRY_ACCUMULATE), 1);
  arena_destroy(arena);
}

static void test_places_are_those_of_the_first_maxima(void **state) {
  (void)state;
  Arena *arena = arena_create();
  for (int64_t stride = 1; stride <= 2; stride++) {
    check_places(arena, DTYPE_F32, stride);
    check_places(arena, DTYPE_F64, stride);
  }
  arena_destroy(arena);
}

/* ---- parts of joined channels ---- */

/* How many convolutions the adjoint of joined channels takes, where it is read from `begin` to 8 and from 8 on, or as a
 * whole too. The results stay. */
static int count_parts(Arena *arena, int64_t filters, int64_t begin, bool is_whole) {
  Module *module = module_create(arena, "m", NULL);
  module->target = &target_c;
  Graph *graph = module->entries[ENTRY_TRAIN] = graph_create(arena, "train");
  Maker maker = {graph, (Span){0}, "x"};
  Type weights = type_make(DTYPE_F32, SHAPE(filters, 24, 1, 1));
  Type type = type_make(DTYPE_F32, SHAPE(2, filters, 12, 12));
  add_variable(module, VARIABLE_PARAM, "w", weights);
  add_variable(module, VARIABLE_PARAM, "y", type);
  Node *w = make_unary(&maker, OP_COS, leaf(&maker, OP_PARAM, weights, "w"));
  Node *dy = make_unary(&maker, OP_EXP, leaf(&maker, OP_PARAM, type, "y"));
  int64_t ones[] = {1, 1}, zeros[] = {0, 0}, whole[] = {2, 24, 12, 12};
  Attribute attributes[] = {
      attr_make_ints(ATTR_SHAPE, 4, whole),   attr_make_ints(ATTR_LOW, 2, zeros),
      attr_make_ints(ATTR_HIGH, 2, zeros),    attr_make_ints(ATTR_STRIDE, 2, ones),
      attr_make_ints(ATTR_DILATION, 2, ones), attr_make_int(ATTR_GROUPS, 1)};
  Node *dx = make_node(&maker, OP_CONV_INPUT, 2, (Node *[]){dy, w}, 6, attributes);
  int64_t all[] = {0, 1, 2, 3};
  Node *first = make_unary(&maker, OP_TANH, make_range(&maker, dx, 1, begin, 8));
  Node *second = make_unary(&maker, OP_SIN, make_range(&maker, dx, 1, 8, 24));
  Node *sum = make_binary(&maker, OP_ADD, make_reduce(&maker, OP_REDUCE_SUM, first, 4, all),
                          make_reduce(&maker, OP_REDUCE_SUM, second, 4, all));
  if (is_whole)
    sum = make_binary(&maker, OP_ADD, sum, make_reduce(&maker, OP_REDUCE_MAX, dx, 4, all));
  output(graph, OUTPUT_ACCUMULATOR, "loss", sum);
  pass_split(module, diagnostics_create(arena));
  pass_dce(module, diagnostics_create(arena));
  assert_null(module_verify(arena, module));
  assert_close_results(arena, graph, module->entries[ENTRY_TRAIN], 1e-12, "parts");
  check_program(arena, module, ENTRY_TRAIN, 1e-4, "parts");
  return count_nodes(module->entries[ENTRY_TRAIN], OP_CONV_INPUT);
}

/* Not where it is read as a whole, too, nor where each part reads as much as it makes. */
static void test_joined_channels_are_computed_by_parts(void **state) {
  (void)state;
  Arena *arena = arena_create();
  assert_int_equal(count_parts(arena, 4, 0, false), 2);
  assert_int_equal(count_parts(arena, 4, 3, false), 2);
  assert_int_equal(count_parts(arena, 4, 0, true), 1);
  assert_int_equal(count_parts(arena, 16, 0, false), 1);
  arena_destroy(arena);
}

/* Pictures that are normalized by what a program writes are made of leaves: so they alone are made again, where they are
 * some of what gradients need. */
static void test_pictures_are_normalized_again(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Module *module = network_module(arena, "pictures", 1);
  Graph *after = graph_rematerialize(arena, module->entries[ENTRY_TRAIN], 0);
  assert_int_equal(count_again(after, OP_DIV, "normalize.0"), 1);
  check_rematerialize(arena, module, "pictures");
  arena_destroy(arena);
}

/* ---- micro-batches ---- */

static void check_pieces(Arena *arena, Module *module, const char *name, int pieces) {
  Graph *before = module->entries[ENTRY_TRAIN];
  for (int segments = 1; segments <= 3; segments += 2) {
    RecomputeOptions options = {.segments = segments};
    RecomputeResult result;
    const Node *coupled;
    Graph *first = segments > 1 ? graph_recompute(arena, before, &options, &result) : before;
    Graph *after = graph_microbatch(arena, module, first, pieces, &coupled);
    const char *what = arena_printf(arena, "%s, %d pieces, %d segments", name, pieces, segments);
    if (!after) fail_msg("%s: impossible because of %s", what, coupled ? coupled->path : "nothing");
    assert_close_results(arena, before, after, 1e-11, what);
    module->entries[ENTRY_TRAIN] = after;
    assert_null(module_verify(arena, module));
    check_program(arena, module, ENTRY_TRAIN, 1e-9, what);
    module->entries[ENTRY_TRAIN] = before;
  }
}

static void test_micro_batches_keep_results(void **state) {
  (void)state;
  static const char *const names[] = {"mlp", "gpt"};
  for (int i = 0; i < 2; i++) {
    Arena *arena = arena_create();
    Module *module = network_module(arena, names[i], 1);
    for (int pieces = 2; pieces <= module->run.batch; pieces++)
      if (module->run.batch % pieces == 0) check_pieces(arena, module, names[i], pieces);
    arena_destroy(arena);
  }
}

/* The gradient of 60 x 50 weights is much larger than what 8 examples make it of: it is a single
 * node, while that of the 50 others is one a piece. */
static void test_large_sums_over_examples_stay_whole(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Module *module = network_module(arena, "wide", 1);
  const Node *coupled;
  Graph *graph = graph_microbatch(arena, module, module->entries[ENTRY_TRAIN], 4, &coupled);
  assert_non_null(graph);
  int wide = 0, narrow = 0;
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (node->op != OP_CONTRACT) continue;
    wide += shape_elements(node->type.shape) == 60 * 50;
    narrow += shape_elements(node->type.shape) == 50;
  }
  assert_int_equal(wide, 1);
  assert_int_equal(narrow, 4);
  module->entries[ENTRY_TRAIN] = graph;
  assert_null(module_verify(arena, module));
  check_program(arena, module, ENTRY_TRAIN, 1e-9, "wide");
  arena_destroy(arena);
}

static void test_batch_normalization_couples_the_examples(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Module *module = network_module(arena, "cnn", 1);
  const Node *coupled = NULL;
  assert_null(graph_microbatch(arena, module, module->entries[ENTRY_TRAIN], 2, &coupled));
  assert_non_null(coupled);
  assert_non_null(strstr(coupled->path, "batch_norm"));
  arena_destroy(arena);
}

static void test_pieces_must_divide_the_batch(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Module *module = network_module(arena, "mlp", 1);
  const Node *coupled = NULL;
  int pieces = (int)module->run.batch + 1;
  assert_null(graph_microbatch(arena, module, module->entries[ENTRY_TRAIN], pieces, &coupled));
  assert_null(coupled);
  arena_destroy(arena);
}

/* Both entries of a step, with the results that they had; the module itself and its evaluation stay. */
static void test_modules_are_divided(void **state) {
  (void)state;
  Arena *arena = arena_create();
  const Module *module = network_module(arena, "accumulate", 1);
  Module *divided = memory_divide(arena, module, 2);
  assert_non_null(divided);
  static const EntryKind kinds[] = {ENTRY_TRAIN, ENTRY_ACCUMULATE};
  for (int i = 0; i < 2; i++) {
    const Graph *before = module->entries[kinds[i]], *after = divided->entries[kinds[i]];
    assert_true(after->nodes.count > before->nodes.count);
    assert_close_results(arena, before, after, 1e-11, entry_name(kinds[i]));
    check_program(arena, divided, kinds[i], 1e-9, entry_name(kinds[i]));
  }
  assert_ptr_equal(divided->entries[ENTRY_EVAL], module->entries[ENTRY_EVAL]);
  assert_null(memory_divide(arena, module, 3)); /* batches of 4 */
  assert_null(memory_divide(arena, network_module(arena, "cnn", 1), 2));
  arena_destroy(arena);
}

static void test_stages_survive_a_dump(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Module *module = network_module(arena, "mlp", 1);
  const Node *coupled;
  module->entries[ENTRY_TRAIN] =
      graph_microbatch(arena, module, module->entries[ENTRY_TRAIN], 2, &coupled);
  Text text = {0}, again = {0};
  module_print(&text, module);
  SourceFile *file = source_from_text(arena, "dump", text.data, text.length);
  Module *read = module_parse(arena, diagnostics_create(arena), file, module_find_violation);
  assert_non_null(read);
  module_print(&again, read);
  assert_string_equal(text.data, again.data);
  assert_non_null(strstr(text.data, "stage = 1"));
  text_free(&text);
  text_free(&again);
  arena_destroy(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_recomputation_keeps_results),
      cmocka_unit_test(test_rematerialization_keeps_results),
      cmocka_unit_test(test_activations_are_made_again),
      cmocka_unit_test(test_places_stand_for_what_was_pooled),
      cmocka_unit_test(test_places_are_those_of_the_first_maxima),
      cmocka_unit_test(test_windows_of_places),
      cmocka_unit_test(test_masks_of_parts_are_of_the_whole),
      cmocka_unit_test(test_few_bytes_are_not_made_again),
      cmocka_unit_test(test_joined_channels_are_computed_by_parts),
      cmocka_unit_test(test_pictures_are_normalized_again),
      cmocka_unit_test(test_micro_batches_keep_results),
      cmocka_unit_test(test_large_sums_over_examples_stay_whole),
      cmocka_unit_test(test_batch_normalization_couples_the_examples),
      cmocka_unit_test(test_pieces_must_divide_the_batch),
      cmocka_unit_test(test_modules_are_divided),
      cmocka_unit_test(test_stages_survive_a_dump),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
