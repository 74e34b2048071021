/* Convolutions to few channels as products (ops/few_channels.h), and layouts of heads (program/layout.c), judged by the
 * interpreter. */
#include "convolution_program.h"

/* Whether the program has no convolution. Fails unless the interpreter agrees. */
static bool is_product(const ConvolutionTest *test) {
  Arena *arena = arena_create();
  Module *module = convolution_module(arena, test);
  check_program(arena, module, ENTRY_TRAIN, test->dtype == DTYPE_F32 ? 1e-5 : 1e-12, "few");
  const Program *program = make_program(arena, module, 1);
  int convolutions = 0, products = 0;
  for (int i = 0; i < program->kernels.count; i++) {
    KernelKind kind = program->kernels.items[i]->kind;
    convolutions += kind == KERNEL_CONV || kind == KERNEL_CONV_INPUT || kind == KERNEL_CONV_WEIGHT;
    products += kind == KERNEL_CONTRACT;
  }
  arena_destroy(arena);
  assert_int_equal(convolutions + products, 1);
  return products == 1;
}

static ConvolutionTest planes(int64_t channels, int64_t results, int64_t taps, int64_t padding) {
  return (ConvolutionTest){.dtype = DTYPE_F32,
                           .spatial = 2,
                           .images = 2,
                           .channels = channels,
                           .results = results,
                           .extent = {9, 11},
                           .taps = {taps, taps},
                           .low = {padding, padding},
                           .high = {padding, padding},
                           .stride = {1, 1},
                           .dilation = {1, 1}};
}

/* Colours: with zeros around them, none, more than windows reach, and on one side; with holes; along one axis; in doubles. */
static void test_few_results(void **state) {
  (void)state;
  ConvolutionTest tests[] = {planes(32, 3, 3, 1), planes(40, 1, 4, 0),  planes(64, 7, 3, 2),
                             planes(32, 2, 3, 3), planes(128, 3, 2, 0), planes(32, 4, 3, 1)};
  enum { COUNT = sizeof tests / sizeof *tests };
  tests[1].dtype = DTYPE_F64;
  tests[2].low[0] = 0, tests[2].taps[1] = 2;
  tests[3].dilation[0] = 2, tests[3].dilation[1] = 3;
  tests[4].extent[0] = tests[4].taps[0] = 5;
  tests[5].spatial = 1;
  for (int i = 0; i < COUNT; i++)
    for (int k = 0; k < CONVOLUTION_OPS; k++) {
      tests[i].op = convolution_ops[k];
      assert_true(is_product(&tests[i]));
    }
}

/* The adjoint of a convolution that reads few channels: all remainders by its strides, also those of which a tap meets
 * none, and places at the end that no window has. */
static void test_few_channels_of_adjoints(void **state) {
  (void)state;
  ConvolutionTest tests[] = {planes(3, 32, 4, 1), planes(1, 64, 3, 0), planes(2, 40, 2, 0),
                             planes(5, 32, 3, 1), planes(3, 48, 3, 2), planes(3, 32, 5, 2)};
  enum { COUNT = sizeof tests / sizeof *tests };
  static const int64_t strides[COUNT][2] = {{2, 2}, {3, 1}, {3, 3}, {1, 1}, {1, 2}, {4, 2}};
  tests[1].dtype = DTYPE_F64;
  tests[2].high[0] = 2;
  tests[5].spatial = 1;
  for (int i = 0; i < COUNT; i++) {
    memcpy(tests[i].stride, strides[i], sizeof strides[i]);
    tests[i].op = OP_CONV_INPUT;
    assert_true(is_product(&tests[i]));
  }
}

/* One tap, more channels or taps than are few, few others, and a stride of a convolution to few: it would leave out most of
 * the product. */
static void test_others_stay_convolutions(void **state) {
  (void)state;
  ConvolutionTest tests[] = {planes(64, 3, 1, 0), planes(64, 8, 3, 1), planes(64, 3, 5, 2),
                             planes(24, 3, 3, 1), planes(36, 3, 3, 1), planes(64, 3, 3, 1)};
  tests[5].stride[0] = 2;
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
    tests[i].op = OP_CONV;
    assert_false(is_product(&tests[i]));
  }
}

/* Two convolutions of one tap with so many channels, or three: whether the last one reads its channels last. */
static bool has_last_head(int64_t middle, int64_t results, bool goes_on) {
  Arena *arena = arena_create();
  Module *module = module_create(arena, "head", NULL);
  Maker maker = entry_maker(module, ENTRY_TRAIN, "head");
  Type types[] = {TYPE(F32, 2, 9, 12, 10), TYPE(F32, middle, 9, 1, 1),
                  TYPE(F32, results, middle, 1, 1), TYPE(F32, 9, results, 1, 1)};
  static const char *const names[] = {"x", "w", "v", "u"};
  Node *leaves[4];
  for (int i = 0; i < 3 + goes_on; i++) {
    add_input(module, names[i], types[i], false);
    leaves[i] = leaf(&maker, OP_INPUT, types[i], names[i]);
  }
  int64_t zeros[] = {0, 0}, ones[] = {1, 1};
  Attribute attributes[] = {attr_make_ints(ATTR_LOW, 2, zeros), attr_make_ints(ATTR_HIGH, 2, zeros),
                            attr_make_ints(ATTR_STRIDE, 2, ones), attr_make_int(ATTR_GROUPS, 1),
                            attr_make_ints(ATTR_DILATION, 2, ones)};
  Node *y = leaves[0];
  for (int i = 1; i < 3 + goes_on; i++) {
    Node *sides[] = {y, leaves[i]};
    y = make_unary(&maker, OP_TANH, make_node(&maker, OP_CONV, 2, sides, 5, attributes));
  }
  output(maker.graph, OUTPUT_RESULT, "y", y);
  check_program(arena, module, ENTRY_TRAIN, 1e-5, "head");
  const Program *program = make_program(arena, module, 1);
  bool is_last = false;
  for (int i = 0; i < program->kernels.count; i++) {
    const Kernel *kernel = program->kernels.items[i];
    if (kernel->kind == KERNEL_CONV && kernel->conv.c == (goes_on ? results : middle))
      is_last = (kernel->conv.last & 1) != 0;
  }
  arena_destroy(arena);
  return is_last;
}

static void test_heads_follow_their_other_side(void **state) {
  (void)state;
  assert_true(has_last_head(64, 21, false));
  assert_true(has_last_head(64, 2, false));
  assert_false(has_last_head(36, 21, false));
  assert_false(has_last_head(64, 100, true)); /* 100 is no end */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_few_results),
      cmocka_unit_test(test_few_channels_of_adjoints),
      cmocka_unit_test(test_others_stay_convolutions),
      cmocka_unit_test(test_heads_follow_their_other_side),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
