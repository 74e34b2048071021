/* Sums of squared deviations by pieces (ops/moments.h), judged by the interpreter. */
#include "run_program.h"

/* As target_c, whose large values are small here. */
static Target near_target(void) {
  Target target = target_c;
  target.reductions.large = 512;
  target.reductions.huge = 1024;
  target.reductions.twice_bytes = 2048;
  return target;
}

typedef struct Deviations {
  Shape shape;
  int axis_count;
  int64_t axes[MAX_RANK];
  DType dtype;
  bool is_product; /* what is summed */
  double moves_by; /* the value whose distance is summed, away from the mean */
  bool varies;     /* that value varies along a summed axis */
} Deviations;

/* x, or x times a matrix over the last axis. */
static Node *values(const Maker *maker, const Deviations *test) {
  Node *x = leaf(maker, OP_INPUT, type_make(test->dtype, test->shape), "x");
  if (!test->is_product) return x;
  int64_t last = test->shape.rank - 1, extent = test->shape.dim[last];
  Node *w = leaf(maker, OP_PARAM, type_make(test->dtype, SHAPE(extent, extent)), "w");
  ContractAxes axes = {.sum_count = 1, .sum_left = {last}, .sum_right = {0}};
  return make_contract(maker, x, w, &axes);
}

static Module *deviations_module(Arena *arena, const Deviations *test) {
  Module *module = module_create(arena, "deviations", NULL);
  Maker maker = entry_maker(module, ENTRY_TRAIN, "deviations");
  int64_t last = test->shape.dim[test->shape.rank - 1];
  add_input(module, "x", type_make(test->dtype, test->shape), false);
  add_variable(module, VARIABLE_PARAM, "w", type_make(test->dtype, SHAPE(last, last)));
  Node *x = values(&maker, test);
  Node *sum = make_reduce(&maker, OP_REDUCE_SUM, x, test->axis_count, test->axes);
  double count = (double)(shape_elements(x->type.shape) / shape_elements(sum->type.shape));
  Node *mean = make_binary_value(&maker, OP_MUL, sum, 1 / count);
  Node *from = make_binary_value(&maker, OP_ADD, mean, test->moves_by);
  int64_t kept[MAX_RANK];
  int next = 0;
  for (int64_t axis = 0; axis < x->type.shape.rank; axis++) {
    bool is_summed = false;
    for (int i = 0; i < test->axis_count; i++) is_summed |= test->axes[i] == axis;
    if (!is_summed) kept[next++] = axis;
  }
  Node *spread = make_broadcast(&maker, from, x->type.shape, kept);
  if (test->varies) spread = make_add(&maker, spread, x);
  Node *d = make_binary(&maker, OP_SUB, x, spread);
  Node *squares = make_reduce(&maker, OP_REDUCE_SUM, make_binary(&maker, OP_MUL, d, d),
                              test->axis_count, test->axes);
  output(maker.graph, OUTPUT_RESULT, "mean", mean);
  output(maker.graph, OUTPUT_RESULT, "squares", squares);
  return module;
}

/* How many launches have an operand as large as what is summed, and whether there is a buffer of so many sums of pieces. */
typedef struct Outcome {
  int large;
  bool has_pieces;
} Outcome;

static bool is_large(const Kernel *kernel, int64_t elements) {
  for (int i = 0; i < kernel->operand_count; i++)
    if (kernel->operands[i].elements == elements) return true;
  return false;
}

/* Fails unless the interpreter agrees. */
static Outcome outcome(const Deviations *test, const Target *target, int64_t pieces) {
  Arena *arena = arena_create();
  Module *module = deviations_module(arena, test);
  ProgramOptions options = {.level = 1, .target = target};
  const Program *program = program_create(arena, module, &options);
  const char *wrong = compare_outputs(arena, program, ENTRY_TRAIN, 1e-9);
  if (wrong) fail_msg("%s", wrong);
  Outcome found = {0};
  for (int i = 0; i < program->entries[ENTRY_TRAIN].steps.count; i++) {
    const Step *step = &program->entries[ENTRY_TRAIN].steps.items[i];
    found.large += step->kind == STEP_LAUNCH &&
                   is_large(program->kernels.items[step->kernel], shape_elements(test->shape));
  }
  for (int i = 0; i < program->buffers.count; i++)
    found.has_pieces |= shape_elements(program->buffers.items[i].type.shape) == pieces;
  arena_destroy(arena);
  return found;
}

static int large_launches(const Deviations *test, const Target *target) {
  return outcome(test, target, 0).large;
}

/* One kernel goes over the values. */
static void test_pieces_are_read_twice_by_one_kernel(void **state) {
  (void)state;
  const Deviations tests[] = {
      {.shape = SHAPE(8, 6, 12, 10), .axis_count = 3, .axes = {0, 2, 3}, .dtype = DTYPE_F32},
      {.shape = SHAPE(8, 6, 12, 10), .axis_count = 3, .axes = {0, 2, 3}, .dtype = DTYPE_F64},
      {.shape = SHAPE(8, 6, 12, 10),
       .axis_count = 3,
       .axes = {0, 2, 3},
       .dtype = DTYPE_F32,
       .moves_by = 3},
      {.shape = SHAPE(640, 7), .axis_count = 1, .axes = {0}, .dtype = DTYPE_F32},
      {.shape = SHAPE(5, 31, 29), .axis_count = 2, .axes = {0, 2}, .dtype = DTYPE_F32},
      {.shape = SHAPE(4096), .axis_count = 1, .axes = {0}, .dtype = DTYPE_F32},
  };
  Target target = near_target();
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
    assert_int_equal(large_launches(&tests[i], &target), 1);
}

/* An image of 7 channels of 12 x 10 takes 3360 bytes, and one of 11 x 10 has no two halves; 127 has no divisors. */
static void test_images_of_products_are_cut(void **state) {
  (void)state;
  Deviations test = {.axis_count = 3, .dtype = DTYPE_F32, .is_product = true};
  struct {
    Shape shape;
    int64_t axes[3], pieces;
  } cases[] = {{SHAPE(8, 7, 12, 10), {0, 2, 3}, 8 * 2 * 7},
               {SHAPE(8, 7, 11, 10), {0, 2, 3}, 8 * 11 * 7},
               {SHAPE(8, 7, 7, 10), {0, 2, 3}, 8 * 7},
               {SHAPE(4, 2, 127, 3), {0, 2, 3}, 4 * 2},
               {SHAPE(2, 8, 3, 14, 10), {1, 3, 4}, 2 * 8 * 2 * 3}};
  Target target = near_target();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    test.shape = cases[i].shape;
    memcpy(test.axes, cases[i].axes, sizeof cases[i].axes);
    Outcome found = outcome(&test, &target, cases[i].pieces);
    assert_int_equal(found.large, 2); /* with the product */
    assert_true(found.has_pieces);
  }
}

static void test_others_are_summed_as_they_are(void **state) {
  (void)state;
  Deviations test = {.shape = SHAPE(8, 6, 12, 10),
                     .axis_count = 3,
                     .axes = {0, 2, 3},
                     .dtype = DTYPE_F32,
                     .varies = true};
  Target target = near_target();
  assert_int_equal(large_launches(&test, &target), 2);
  test.varies = false;
  target.reductions.twice_bytes = 0;
  assert_int_equal(large_launches(&test, &target), 2);
  target = near_target();
  target.reductions.huge = 1 << 20;
  assert_int_equal(large_launches(&test, &target), 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pieces_are_read_twice_by_one_kernel),
      cmocka_unit_test(test_images_of_products_are_cut),
      cmocka_unit_test(test_others_are_summed_as_they_are),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
