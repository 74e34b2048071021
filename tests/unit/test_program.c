/* Programs: lowering, fusion and memory plans, judged by the interpreter. */
#include "networks.h"
#include "random_graph.h"
#include "run_program.h"

#include "kernel/builder.h"

/* ---- random graphs ------------------------------------------------------------------------ */

static void test_random_graphs(void **state) {
  (void)state;
  const char *only = getenv("NNC_TEST_SEED"), *count = getenv("NNC_TEST_COUNT");
  int begin = only ? atoi(only) : 0, end = only ? begin + 1 : count ? atoi(count) : 400;
  for (int seed = begin; seed < end; seed++) {
    Arena *arena = arena_create();
    check_program(arena, random_module(arena, (uint64_t)seed), ENTRY_TRAIN, 1e-9,
                  arena_printf(arena, "seed %d", seed));
    arena_destroy(arena);
  }
}

/* ---- networks ----------------------------------------------------------------------------- */

static void test_networks(void **state) {
  (void)state;
  for (int i = 0; i < NETWORKS; i++) {
    for (int level = 0; level <= 1; level++) {
      Arena *arena = arena_create();
      Module *module = network_module(arena, network_names[i], level);
      for (int e = 0; e < ENTRY_COUNT; e++)
        if (module->entries[e] && e != ENTRY_HOST && e != ENTRY_FINISH)
          check_program(arena, module, (EntryKind)e, 1e-9,
                        arena_printf(arena, "%s, passes at level %d, entry %s", network_names[i],
                                     level, entry_name((EntryKind)e)));
      arena_destroy(arena);
    }
  }
}

/* ---- stores into variables ---------------------------------------------------------------- */

static Module *two_variables(Arena *arena, Shape shape) {
  Module *module = module_create(arena, "stores", NULL);
  add_variable(module, VARIABLE_PARAM, "a", type_make(DTYPE_F32, shape));
  add_variable(module, VARIABLE_PARAM, "b", type_make(DTYPE_F32, shape));
  return module;
}

static Node *variable_leaf(const Maker *maker, const char *name, Shape shape) {
  return leaf(maker, OP_PARAM, type_make(DTYPE_F32, shape), name_intern(name));
}

static void store(Module *module, const char *name, Node *node) {
  output(module->entries[ENTRY_TRAIN], OUTPUT_STORE, name_intern(name), node);
}

static void test_variables_can_swap(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Module *module = two_variables(arena, SHAPE(5));
  Maker maker = entry_maker(module, ENTRY_TRAIN, "swap");
  Node *a = variable_leaf(&maker, "a", SHAPE(5)), *b = variable_leaf(&maker, "b", SHAPE(5));
  store(module, "a", b);
  store(module, "b", a);
  check_program(arena, module, ENTRY_TRAIN, 0, "swap");
  arena_destroy(arena);
}

static void test_a_new_value_may_read_the_old_one_elsewhere(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Module *module = two_variables(arena, SHAPE(4, 4));
  Maker maker = entry_maker(module, ENTRY_TRAIN, "turn");
  Node *a = variable_leaf(&maker, "a", SHAPE(4, 4)), *b = variable_leaf(&maker, "b", SHAPE(4, 4));
  int64_t turn[] = {1, 0}, axis = 0;
  Node *turned = make_transpose(&maker, a, turn);
  store(module, "a", turned);
  store(module, "b", make_binary(&maker, OP_ADD, turned, b));
  output(maker.graph, OUTPUT_RESULT, "r", make_reduce(&maker, OP_REDUCE_SUM, a, 1, &axis));
  check_program(arena, module, ENTRY_TRAIN, 1e-12, "turn");
  arena_destroy(arena);
}

static void test_readers_of_the_old_value_come_first(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Module *module = two_variables(arena, SHAPE(6, 6));
  Maker maker = entry_maker(module, ENTRY_TRAIN, "order");
  Node *a = variable_leaf(&maker, "a", SHAPE(6, 6)), *b = variable_leaf(&maker, "b", SHAPE(6, 6));
  ContractAxes axes = {.sum_count = 1, .sum_left = {1}, .sum_right = {0}};
  Node *next = make_binary_value(&maker, OP_MUL, a, 0.5);
  Node *product = make_contract(&maker, next, b, &axes); /* of the new value */
  Node *other = make_contract(&maker, b, a, &axes);      /* of the old one */
  store(module, "a", next);
  store(module, "b", make_binary(&maker, OP_SUB, b, product));
  output(maker.graph, OUTPUT_RESULT, "old", other);
  output(maker.graph, OUTPUT_RESULT, "new", product);
  check_program(arena, module, ENTRY_TRAIN, 1e-12, "order");
  arena_destroy(arena);
}

static void test_one_value_goes_to_several_places(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Module *module = two_variables(arena, SHAPE(3));
  Maker maker = entry_maker(module, ENTRY_TRAIN, "twice");
  Node *a = variable_leaf(&maker, "a", SHAPE(3));
  Node *zero = make_constant(&maker, a->type, 0), *sum = make_binary(&maker, OP_ADD, a, a);
  store(module, "a", sum);
  store(module, "b", zero);
  output(maker.graph, OUTPUT_RESULT, "r", sum);
  output(maker.graph, OUTPUT_RESULT, "old", a);
  output(maker.graph, OUTPUT_RESULT, "zero", zero);
  check_program(arena, module, ENTRY_TRAIN, 0, "twice");
  const Program *program = make_program(arena, module, 1);
  for (int i = 0; i < program->entries[ENTRY_TRAIN].steps.count; i++)
    assert_int_not_equal(program->entries[ENTRY_TRAIN].steps.items[i].kind, STEP_COPY);
  arena_destroy(arena);
}

/* ---- shape of programs -------------------------------------------------------------------- */

static void test_large_reductions_have_many_tasks(void **state) {
  (void)state;
  static const Op ops[] = {OP_REDUCE_SUM, OP_REDUCE_MAX, OP_REDUCE_MEAN};
  for (int i = 0; i < 3; i++) {
    Arena *arena = arena_create();
    Module *module = module_create(arena, "reduce", NULL);
    Maker maker = entry_maker(module, ENTRY_TRAIN, "reduce");
    Type x = TYPE(F32, 48, 30, 50), flat = TYPE(F32, 60000);
    add_input(module, "x", x, false);
    add_input(module, "flat", flat, false);
    int64_t all[] = {0, 1, 2};
    output(maker.graph, OUTPUT_RESULT, "a",
           make_reduce(&maker, ops[i], leaf(&maker, OP_INPUT, x, "x"), 3, all));
    output(maker.graph, OUTPUT_RESULT, "b",
           make_reduce(&maker, ops[i], leaf(&maker, OP_INPUT, flat, "flat"), 1, all));
    check_program(arena, module, ENTRY_TRAIN, 1e-9, "large reduction");
    const Program *program = make_program(arena, module, 1);
    int64_t most = 0;
    for (int s = 0; s < program->entries[ENTRY_TRAIN].steps.count; s++)
      if (program->entries[ENTRY_TRAIN].steps.items[s].task_count > most)
        most = program->entries[ENTRY_TRAIN].steps.items[s].task_count;
    assert_true(most >= 4);
    arena_destroy(arena);
  }
}

static int launches(const Program *program, EntryKind entry) {
  int count = 0;
  for (int i = 0; i < program->entries[entry].steps.count; i++)
    count += program->entries[entry].steps.items[i].kind == STEP_LAUNCH;
  return count;
}

/* a^T b over `depth` rows: the launches. */
static int launches_of_product(int64_t depth, bool is_weight) {
  Arena *arena = arena_create();
  Module *module = module_create(arena, "product", NULL);
  Maker maker = entry_maker(module, ENTRY_TRAIN, "product");
  Type a = TYPE(F32, depth, 48), b = TYPE(F32, depth, 64);
  add_input(module, "a", a, false);
  if (is_weight) add_variable(module, VARIABLE_PARAM, "b", b);
  else add_input(module, "b", b, false);
  ContractAxes axes = {.sum_count = 1};
  Node *right = leaf(&maker, is_weight ? OP_PARAM : OP_INPUT, b, "b");
  output(maker.graph, OUTPUT_RESULT, "y",
         make_contract_of(&maker, leaf(&maker, OP_INPUT, a, "a"), right, &axes, DTYPE_F32));
  check_program(arena, module, ENTRY_TRAIN, 1e-9, "product");
  int count = launches(make_program(arena, module, 1), ENTRY_TRAIN);
  arena_destroy(arena);
  return count;
}

/* In pieces, and what adds them up; but weights are read where they lie. */
static void test_deep_products_of_activations_are_made_in_pieces(void **state) {
  (void)state;
  assert_int_equal(launches_of_product(8192, false), 2);
  assert_int_equal(launches_of_product(8192, true), 1);
  assert_int_equal(launches_of_product(512, false), 1);
}

/* The one kernel of its kind. */
static const Kernel *only_kernel(const Program *program, KernelKind kind) {
  const Kernel *found = NULL;
  for (int i = 0; i < program->kernels.count; i++) {
    if (program->kernels.items[i]->kind != kind) continue;
    assert_null(found);
    found = program->kernels.items[i];
  }
  assert_non_null(found);
  return found;
}

/* The pieces in which the gradient of 3 x 3 taps in weights of 64 x 64 channels is made; 0: it is not cut. */
static int64_t pieces_by_winograd(int64_t images, int64_t extent) {
  Arena *arena = arena_create();
  Module *module = module_create(arena, "weights", NULL);
  Maker maker = entry_maker(module, ENTRY_TRAIN, "weights");
  Type planes = TYPE(F32, images, 64, extent, extent);
  add_input(module, "x", planes, false);
  add_input(module, "dy", planes, false);
  int64_t ones[] = {1, 1}, shape[] = {64, 64, 3, 3};
  Attribute attributes[] = {
      attr_make_ints(ATTR_SHAPE, 4, shape),   attr_make_ints(ATTR_LOW, 2, ones),
      attr_make_ints(ATTR_HIGH, 2, ones),     attr_make_ints(ATTR_STRIDE, 2, ones),
      attr_make_ints(ATTR_DILATION, 2, ones), attr_make_int(ATTR_GROUPS, 1)};
  Node *sides[] = {make_unary(&maker, OP_EXP, leaf(&maker, OP_INPUT, planes, "x")),
                   make_unary(&maker, OP_COS, leaf(&maker, OP_INPUT, planes, "dy"))};
  output(maker.graph, OUTPUT_RESULT, "dw",
         make_node(&maker, OP_CONV_WEIGHT, 2, sides, 6, attributes));
  const Program *program = make_program(arena, module, 1);
  const Kernel *kernel = only_kernel(program, KERNEL_CONV_WEIGHT);
  assert_true(target_c.is_winograd(kernel));
  int64_t pieces = kernel->conv.pieces;
  assert_int_equal(launches(program, ENTRY_TRAIN), 3 + (pieces > 0));
  arena_destroy(arena);
  return pieces;
}

/* Of one block of channels there would be one task; small planes are cut by channels. */
static void test_weights_by_winograd_are_made_in_pieces(void **state) {
  (void)state;
  assert_int_equal(pieces_by_winograd(8, 56), 8);
  assert_int_equal(pieces_by_winograd(36, 56), 9);
  assert_int_equal(pieces_by_winograd(8, 24), 0);
  assert_int_equal(pieces_by_winograd(7, 112), 0);
}

/* sum_m (a b + 1)[b, m, n], where the product is read with m at the end: it is written so, and many rows of one b are a
 * product of their own. */
static void check_turned_product(int64_t rows, int batches) {
  Arena *arena = arena_create();
  Module *module = module_create(arena, "turned", NULL);
  Maker maker = entry_maker(module, ENTRY_TRAIN, "turned");
  Type a = TYPE(F32, 3, rows, 10), b = TYPE(F32, 10, 30);
  add_input(module, "a", a, false);
  add_input(module, "b", b, false);
  ContractAxes axes = {.sum_count = 1, .sum_left = {2}, .sum_right = {0}};
  Node *product =
      make_contract(&maker, leaf(&maker, OP_INPUT, a, "a"), leaf(&maker, OP_INPUT, b, "b"), &axes);
  Node *turned = make_transpose(&maker, make_binary_value(&maker, OP_ADD, product, 1),
                                (const int64_t[]){0, 2, 1});
  int64_t last = 2;
  output(maker.graph, OUTPUT_RESULT, "y", make_reduce(&maker, OP_REDUCE_SUM, turned, 1, &last));
  check_program(arena, module, ENTRY_TRAIN, 1e-9, "turned");
  const Kernel *kernel = only_kernel(make_program(arena, module, 1), KERNEL_CONTRACT);
  int64_t base, coefficient[KERNEL_MAX_AXES];
  assert_true(index_is_affine(kernel->epilogue[0].index, kernel->axis_count, &base, coefficient));
  assert_int_equal(coefficient[1], 1); /* along m */
  assert_int_equal(coefficient[2], rows);
  assert_int_equal(kernel->contract.batch.count, batches);
  arena_destroy(arena);
}

static void test_products_that_are_read_turned_are_written_turned(void **state) {
  (void)state;
  check_turned_product(20, 0);
  check_turned_product(80, 1);
}

static Node *convolution_of(const Maker *maker, Node *x, Node *w, int64_t padding, int64_t groups) {
  int64_t ones[] = {1, 1}, around[] = {padding, padding};
  Attribute attributes[] = {
      attr_make_ints(ATTR_STRIDE, 2, ones), attr_make_ints(ATTR_LOW, 2, around),
      attr_make_ints(ATTR_HIGH, 2, around), attr_make_ints(ATTR_DILATION, 2, ones),
      attr_make_int(ATTR_GROUPS, groups)};
  return make_node(maker, OP_CONV, 2, (Node *[]){x, w}, 5, attributes);
}

/* Between convolutions of all channels, which lie last there, one of groups of four reads a copy that is planes. */
static void test_groups_of_few_channels_read_planes(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Module *module = module_create(arena, "grouped", NULL);
  Maker maker = entry_maker(module, ENTRY_TRAIN, "grouped");
  Type x = TYPE(F32, 2, 32, 6, 6), one = TYPE(F32, 32, 32, 1, 1), few = TYPE(F32, 32, 4, 3, 3);
  add_input(module, "x", x, false);
  add_variable(module, VARIABLE_PARAM, "a", one);
  add_variable(module, VARIABLE_PARAM, "b", few);
  Node *a = leaf(&maker, OP_PARAM, one, "a"), *b = leaf(&maker, OP_PARAM, few, "b");
  Node *first =
      convolution_of(&maker, make_unary(&maker, OP_EXP, leaf(&maker, OP_INPUT, x, "x")), a, 0, 1);
  Node *middle = convolution_of(&maker, make_unary(&maker, OP_TANH, first), b, 1, 8);
  Node *last = convolution_of(&maker, make_unary(&maker, OP_TANH, middle), a, 0, 1);
  output(maker.graph, OUTPUT_RESULT, "y", make_unary(&maker, OP_COS, last));
  check_program(arena, module, ENTRY_TRAIN, 1e-9, "grouped");
  const Program *program = make_program(arena, module, 1);
  int of_groups = 0, of_all = 0;
  for (int i = 0; i < program->kernels.count; i++) {
    const Kernel *kernel = program->kernels.items[i];
    if (kernel->kind != KERNEL_CONV) continue;
    bool reads_planes = (kernel->conv.last & 1) == 0;
    assert_int_equal(reads_planes, kernel->conv.groups == 8);
    of_groups += kernel->conv.groups == 8;
    of_all += kernel->conv.groups == 1;
  }
  assert_int_equal(of_groups, 1);
  assert_true(of_all > 0);
  arena_destroy(arena);
}

/* An input of many channels is copied once, for the convolution and for the gradient in its weights. */
static void test_inputs_of_many_channels_are_turned(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Module *module = module_create(arena, "sensors", NULL);
  Maker maker = entry_maker(module, ENTRY_TRAIN, "sensors");
  Type x = TYPE(F32, 2, 48, 6, 6), few = TYPE(F32, 32, 48, 3, 3), y = TYPE(F32, 2, 32, 6, 6);
  add_input(module, "x", x, false);
  add_input(module, "dy", y, false);
  add_variable(module, VARIABLE_PARAM, "w", few);
  Node *input = leaf(&maker, OP_INPUT, x, "x"), *w = leaf(&maker, OP_PARAM, few, "w");
  Node *dy = make_unary(&maker, OP_EXP, leaf(&maker, OP_INPUT, y, "dy"));
  int64_t ones[] = {1, 1};
  Attribute attributes[] = {
      attr_make_ints(ATTR_SHAPE, 4, few.shape.dim), attr_make_ints(ATTR_LOW, 2, ones),
      attr_make_ints(ATTR_HIGH, 2, ones),           attr_make_ints(ATTR_STRIDE, 2, ones),
      attr_make_ints(ATTR_DILATION, 2, ones),       attr_make_int(ATTR_GROUPS, 1)};
  output(maker.graph, OUTPUT_RESULT, "y",
         make_unary(&maker, OP_COS, convolution_of(&maker, input, w, 1, 1)));
  output(maker.graph, OUTPUT_RESULT, "dw",
         make_node(&maker, OP_CONV_WEIGHT, 2, (Node *[]){input, dy}, 6, attributes));
  check_program(arena, module, ENTRY_TRAIN, 1e-9, "sensors");
  const Program *program = make_program(arena, module, 1);
  assert_int_equal(only_kernel(program, KERNEL_CONV)->conv.last & 1, 1);
  assert_int_equal(only_kernel(program, KERNEL_CONV_WEIGHT)->conv.last & 1, 1);
  assert_int_equal(launches(program, ENTRY_TRAIN), 4); /* with the copy and dy */
  arena_destroy(arena);
}

/* Sums over the places of few images are made in pieces, too. */
static void test_sums_of_few_images_have_many_tasks(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Module *module = module_create(arena, "places", NULL);
  Maker maker = entry_maker(module, ENTRY_TRAIN, "places");
  Type x = TYPE(F32, 2, 32, 32, 24);
  add_input(module, "x", x, false);
  Node *value = make_unary(&maker, OP_EXP, leaf(&maker, OP_INPUT, x, "x"));
  int64_t axes[] = {0, 2, 3};
  output(maker.graph, OUTPUT_RESULT, "sum", make_reduce(&maker, OP_REDUCE_SUM, value, 3, axes));
  check_program(arena, module, ENTRY_TRAIN, 1e-6, "places");
  const Program *program = make_program(arena, module, 1);
  assert_int_equal(launches(program, ENTRY_TRAIN), 2);
  arena_destroy(arena);
}

/* Means of groups, once for each of their channels, which are factors of all places: no kernel divides to find them. */
static void test_values_repeated_inside_of_an_axis_are_stored(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Module *module = module_create(arena, "groups", NULL);
  Maker maker = entry_maker(module, ENTRY_TRAIN, "groups");
  Type x = TYPE(F32, 4, 24, 50), means = TYPE(F32, 4, 8);
  static const int64_t two[] = {0, 1};
  add_input(module, "x", x, false);
  add_input(module, "m", means, false);
  Node *each = make_broadcast(
      &maker, make_unary(&maker, OP_EXP, leaf(&maker, OP_INPUT, means, "m")), SHAPE(4, 8, 3), two);
  Node *factors = make_broadcast(&maker, make_reshape(&maker, each, SHAPE(4, 24)), x.shape, two);
  output(maker.graph, OUTPUT_RESULT, "y",
         make_binary(&maker, OP_MUL, leaf(&maker, OP_INPUT, x, "x"), factors));
  check_program(arena, module, ENTRY_TRAIN, 1e-9, "groups");
  const Program *program = make_program(arena, module, 1);
  for (int i = 0; i < program->kernels.count; i++) {
    const Kernel *kernel = program->kernels.items[i];
    int64_t base, coefficient[KERNEL_MAX_AXES];
    ExprList list = kernel_expressions(arena, kernel, 0);
    for (int k = 0; k < list.count; k++)
      if (list.items[k]->kind == EXPR_LOAD)
        assert_true(index_is_affine(list.items[k]->index, kernel->axis_count, &base, coefficient));
  }
  arena_destroy(arena);
}

/* How the product of a vector with a matrix [rows, columns], summed along `axis` of it, is computed. */
static KernelKind kind_of_vector_product(int64_t rows, int64_t columns, int64_t axis) {
  Arena *arena = arena_create();
  Module *module = module_create(arena, "vector", NULL);
  Maker maker = entry_maker(module, ENTRY_TRAIN, "vector");
  Type x = TYPE(F32, 1, axis == 0 ? rows : columns), w = TYPE(F32, rows, columns);
  add_input(module, "x", x, false);
  add_variable(module, VARIABLE_PARAM, "w", w);
  ContractAxes axes = {.sum_count = 1, .sum_left = {1}, .sum_right = {axis}};
  output(
      maker.graph, OUTPUT_RESULT, "y",
      make_contract(&maker, leaf(&maker, OP_INPUT, x, "x"), leaf(&maker, OP_PARAM, w, "w"), &axes));
  check_program(arena, module, ENTRY_TRAIN, 1e-9, "vector");
  module->run.splits_products = true; /* it is no such product: it waits for memory */
  const Program *program = make_program(arena, module, 1);
  KernelKind kind = program->kernels.items[0]->kind;
  assert_int_equal(program->kernels.count, 1);
  assert_false(program->kernels.items[0]->is_x3);
  arena_destroy(arena);
  return kind;
}

/* Lines of a large matrix are read several at a time; a sum of more than 4,096 terms is in double. */
static void test_a_vector_by_a_large_matrix_is_a_product(void **state) {
  (void)state;
  assert_int_equal(kind_of_vector_product(1000, 300, 0), KERNEL_CONTRACT);
  assert_int_equal(kind_of_vector_product(300, 1000, 1), KERNEL_CONTRACT);
  assert_int_equal(kind_of_vector_product(100, 300, 0), KERNEL_LOOP);
  assert_int_equal(kind_of_vector_product(512, 512, 0), KERNEL_LOOP); /* it stays in the cache */
  assert_int_equal(kind_of_vector_product(4000, 100, 0), KERNEL_LOOP);
  assert_int_equal(kind_of_vector_product(4100, 300, 0), KERNEL_LOOP);
}

/* The channels of a convolution whose places become one axis, which is then turned, lie last all the same. */
static void test_places_that_become_one_axis_leave_channels_last(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Module *module = module_create(arena, "patches", NULL);
  Maker maker = entry_maker(module, ENTRY_TRAIN, "patches");
  Type x = TYPE(F32, 2, 3, 12, 20), w = TYPE(F32, 48, 3, 4, 4);
  add_input(module, "x", x, false);
  add_variable(module, VARIABLE_PARAM, "w", w);
  int64_t fours[] = {4, 4}, zeros[] = {0, 0}, ones[] = {1, 1};
  Attribute attributes[] = {attr_make_ints(ATTR_STRIDE, 2, fours),
                            attr_make_ints(ATTR_LOW, 2, zeros), attr_make_ints(ATTR_HIGH, 2, zeros),
                            attr_make_ints(ATTR_DILATION, 2, ones), attr_make_int(ATTR_GROUPS, 1)};
  Node *sides[] = {make_unary(&maker, OP_EXP, leaf(&maker, OP_INPUT, x, "x")),
                   leaf(&maker, OP_PARAM, w, "w")};
  Node *conv = make_node(&maker, OP_CONV, 2, sides, 5, attributes);
  Node *patches = make_transpose(&maker, make_reshape(&maker, conv, SHAPE(2, 48, 15)),
                                 (const int64_t[]){0, 2, 1});
  int64_t last = 2;
  output(maker.graph, OUTPUT_RESULT, "y", make_reduce(&maker, OP_REDUCE_MAX, patches, 1, &last));
  check_program(arena, module, ENTRY_TRAIN, 1e-9, "patches");
  const Kernel *kernel = only_kernel(make_program(arena, module, 1), KERNEL_CONV);
  int64_t base, coefficient[KERNEL_MAX_AXES];
  assert_true(index_is_affine(kernel->epilogue[0].index, kernel->axis_count, &base, coefficient));
  assert_int_equal(coefficient[1], 1); /* along channels */
  arena_destroy(arena);
}

/* x_k+1 = shuffled pad(x_k) + pad(input): were each computed where it is read, the guards of the
 * innermost would hold those of all around it. */
static void test_joined_parts_in_joined_parts_are_stored(void **state) {
  (void)state;
  enum { DEPTH = 6 };
  Arena *arena = arena_create();
  Module *module = module_create(arena, "nested", NULL);
  Maker maker = entry_maker(module, ENTRY_TRAIN, "nested");
  Type half = TYPE(F32, 3, 8, 5);
  int64_t none[3] = {0}, side[3] = {0, 8, 0}, one[3] = {1, 1, 1};
  int64_t whole[3] = {3, 8, 5}, turn[4] = {0, 2, 1, 3};
  Node *x = NULL;
  for (int i = 0; i < DEPTH; i++) {
    const char *name = arena_printf(arena, "x%d", i);
    add_input(module, name, half, false);
    Node *part = leaf(&maker, OP_INPUT, half, name);
    Node *kept = x ? make_slice(&maker, x, none, whole, one) : part;
    Node *both = make_binary(&maker, OP_ADD, make_pad(&maker, kept, none, side, one, 0),
                             make_pad(&maker, part, side, none, one, 0));
    Node *split = make_reshape(&maker, both, SHAPE(3, 2, 8, 5));
    x = make_reshape(&maker, make_transpose(&maker, split, turn), SHAPE(3, 16, 5));
  }
  output(maker.graph, OUTPUT_RESULT, "r", make_unary(&maker, OP_NEG, x));
  check_program(arena, module, ENTRY_TRAIN, 0, "nested");
  const Program *program = make_program(arena, module, 1);
  for (int i = 0; i < program->kernels.count; i++) {
    Text text = {0};
    kernel_print(&text, program->kernels.items[i]);
    assert_true(text.length < 2500);
    text_free(&text);
  }
  arena_destroy(arena);
}

/* Forward and backward contractions, the images' conversion, rows of the loss, the means, column
 * sums; the optimizer adds none. */
static void test_a_perceptron_needs_few_launches(void **state) {
  (void)state;
  Arena *arena = arena_create();
  const Program *program = make_program(arena, network_module(arena, "mlp", 1), 1);
  assert_int_equal(launches(program, ENTRY_TRAIN), 3 + 5 + 1 + 2 + 3);
  for (int i = 0; i < program->entries[ENTRY_TRAIN].steps.count; i++)
    assert_int_not_equal(program->entries[ENTRY_TRAIN].steps.items[i].kind, STEP_COPY);
  arena_destroy(arena);
}

/* Bytes of activations that the step named `loss` finds and leaves. */
static int64_t bytes_across_the_loss(const Program *program) {
  const ProgramEntry *entry = &program->entries[ENTRY_TRAIN];
  int loss_step = -1;
  for (int i = 0; i < entry->steps.count; i++) {
    const Step *step = &entry->steps.items[i];
    if (step->kind == STEP_LAUNCH && strcmp(step->path, "loss") == 0) loss_step = i;
  }
  assert_true(loss_step > 0);
  int64_t bytes = 0;
  for (int i = 0; i < program->buffers.count; i++) {
    const Buffer *buffer = &program->buffers.items[i];
    if (buffer->kind != BUFFER_ACTIVATION || buffer->entry != ENTRY_TRAIN || buffer->view_of >= 0 ||
        buffer->alias_of >= 0)
      continue;
    if (buffer->first_step < loss_step && buffer->last_step > loss_step) bytes += buffer->bytes;
  }
  return bytes;
}

/* Of gelu, silu and gelu by tanh the gradients need two values a place, the result for the next layer and the slope; of
 * relu, relu6 and softmax the result alone, which they share with the next layer. What feeds the activation is not
 * kept, nor are masks or exponentials: 3 * 2 + 3 at the loss, and the gradient of the loss. */
static void test_gradients_need_little_of_activations(void **state) {
  (void)state;
  Arena *arena = arena_create();
  const Program *program = make_program(arena, network_module(arena, "slopes", 1), 1);
  int64_t place_bytes = 16 * 48 * (int64_t)sizeof(float);
  assert_true(bytes_across_the_loss(program) <= 10 * place_bytes + place_bytes / 2);
  arena_destroy(arena);
}

/* Two layers keep a result and a mask each, of a byte an element, and there is the gradient of the loss. */
static void test_gradients_need_masks_of_what_is_compared(void **state) {
  (void)state;
  Arena *arena = arena_create();
  const Program *program = make_program(arena, network_module(arena, "masks", 1), 1);
  int64_t place_bytes = 16 * 48 * (int64_t)sizeof(float);
  assert_true(bytes_across_the_loss(program) <=
              2 * (place_bytes + place_bytes / 4) + place_bytes + 256);
  arena_destroy(arena);
}

/* The loss needs the scores of the true classes: the kernel that reads all scores takes them, and nothing reads the
 * scores after it. */
static void test_scores_are_read_once(void **state) {
  (void)state;
  Arena *arena = arena_create();
  const Program *program = make_program(arena, network_module(arena, "mlp", 1), 1);
  const ProgramEntry *entry = &program->entries[ENTRY_TRAIN];
  int scores = -1, readers = 0;
  for (int i = 0; i < program->buffers.count; i++)
    if (program->buffers.items[i].entry == ENTRY_TRAIN &&
        strcmp(program->buffers.items[i].name, "logits.y") == 0)
      scores = i;
  assert_true(scores >= 0);
  for (int s = 0; s < entry->steps.count; s++) {
    const Step *step = &entry->steps.items[s];
    for (int k = 0; step->kind == STEP_LAUNCH && k < step->operand_count; k++)
      readers += step->operands[k] == scores &&
                 !program->kernels.items[step->kernel]->operands[k].is_output;
  }
  assert_int_equal(readers, 1);
  arena_destroy(arena);
}

/* Examples go through in blocks as far as nothing couples them; what only a block sees is no part
 * of the arena. */
static void test_examples_go_through_in_blocks(void **state) {
  (void)state;
  static const struct {
    const char *network;
    int least_loops, least_workers;
  } cases[] = {{"blocks", 1, 8},
               {"blocks_norm", 3, 1}}; /* to the statistics, after them, and back from them */
  for (int c = 0; c < 2; c++) {
    Arena *arena = arena_create();
    const Program *program = make_program(arena, network_module(arena, cases[c].network, 1), 1);
    const ProgramEntry *entry = &program->entries[ENTRY_TRAIN];
    int inside = 0, workers = 0;
    assert_true(entry->loops.count >= cases[c].least_loops);
    for (int i = 0; i < entry->loops.count; i++) {
      assert_int_equal(entry->loops.items[i].blocks, 32);
      inside += entry->loops.items[i].last_step - entry->loops.items[i].first_step + 1;
    }
    for (int i = 0; i < program->buffers.count; i++)
      workers += program->buffers.items[i].kind == BUFFER_WORKER &&
                 program->buffers.items[i].entry == ENTRY_TRAIN;
    assert_true(workers >= cases[c].least_workers);
    assert_true(inside > launches(program, ENTRY_TRAIN) / 2);
    assert_true(3 * entry->barrier_count < launches(program, ENTRY_TRAIN));
    for (int i = 0; i < entry->steps.count; i++)
      if (entry->steps.items[i].kind == STEP_BARRIER) assert_non_null(entry->steps.items[i].reason);
    const Program *plain = make_program(arena, program->module, 0);
    assert_int_equal(plain->entries[ENTRY_TRAIN].loops.count, 0);
    arena_destroy(arena);
  }
}

/* What follows alias_of to the memory's owner must not lose the offset of a view. */
static void test_views_have_offsets_of_their_own(void **state) {
  (void)state;
  Arena *arena = arena_create();
  const Program *program = make_program(arena, network_module(arena, "gpt", 1), 1);
  int views = 0;
  for (int i = 0; i < program->buffers.count; i++) {
    const Buffer *buffer = &program->buffers.items[i];
    if (buffer->view_of < 0) continue;
    views++;
    assert_int_equal(buffer->alias_of, -1);
    assert_int_equal(buffer->entry, -1);
    assert_int_equal(buffer->offset,
                     program->buffers.items[buffer->view_of].offset + buffer->view_offset);
  }
  assert_true(views > 0); /* keys and values after the queries */
  arena_destroy(arena);
}

static void test_programs_are_deterministic(void **state) {
  (void)state;
  for (int i = 0; i < NETWORKS; i++) {
    Arena *arena = arena_create();
    Text texts[2] = {{0}, {0}};
    for (int k = 0; k < 2; k++)
      program_print(&texts[k], make_program(arena, network_module(arena, network_names[i], 1), 1));
    assert_string_equal(texts[0].data, texts[1].data);
    text_free(&texts[0]);
    text_free(&texts[1]);
    arena_destroy(arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_networks),
      cmocka_unit_test(test_random_graphs),
      cmocka_unit_test(test_variables_can_swap),
      cmocka_unit_test(test_a_new_value_may_read_the_old_one_elsewhere),
      cmocka_unit_test(test_readers_of_the_old_value_come_first),
      cmocka_unit_test(test_one_value_goes_to_several_places),
      cmocka_unit_test(test_large_reductions_have_many_tasks),
      cmocka_unit_test(test_deep_products_of_activations_are_made_in_pieces),
      cmocka_unit_test(test_weights_by_winograd_are_made_in_pieces),
      cmocka_unit_test(test_products_that_are_read_turned_are_written_turned),
      cmocka_unit_test(test_groups_of_few_channels_read_planes),
      cmocka_unit_test(test_inputs_of_many_channels_are_turned),
      cmocka_unit_test(test_sums_of_few_images_have_many_tasks),
      cmocka_unit_test(test_values_repeated_inside_of_an_axis_are_stored),
      cmocka_unit_test(test_a_vector_by_a_large_matrix_is_a_product),
      cmocka_unit_test(test_places_that_become_one_axis_leave_channels_last),
      cmocka_unit_test(test_gradients_need_little_of_activations),
      cmocka_unit_test(test_gradients_need_masks_of_what_is_compared),
      cmocka_unit_test(test_scores_are_read_once),
      cmocka_unit_test(test_examples_go_through_in_blocks),
      cmocka_unit_test(test_joined_parts_in_joined_parts_are_stored),
      cmocka_unit_test(test_a_perceptron_needs_few_launches),
      cmocka_unit_test(test_views_have_offsets_of_their_own),
      cmocka_unit_test(test_programs_are_deterministic),
  };
  return cmocka_run_group_tests_name("program", tests, NULL, NULL);
}
