/* Dilated convolutions by phases (ops/dilated.h), judged by the interpreter. */
#include "convolution_program.h"

/* How many pictures the convolution of the program has, if it has no dilation, else 0. Fails unless the interpreter agrees. */
static int64_t pictures_without_dilation(const ConvolutionTest *test) {
  Arena *arena = arena_create();
  Module *module = convolution_module(arena, test);
  check_program(arena, module, ENTRY_TRAIN, 1e-9, "dilated");
  const Program *program = make_program(arena, module, 1);
  int64_t pictures = -1;
  for (int i = 0; i < program->kernels.count; i++) {
    const Kernel *kernel = program->kernels.items[i];
    if (kernel->kind != KERNEL_CONV && kernel->kind != KERNEL_CONV_INPUT &&
        kernel->kind != KERNEL_CONV_WEIGHT)
      continue;
    assert_int_equal(pictures, -1);
    bool is_plain = kernel->conv.dilation[0] == 1 && kernel->conv.dilation[1] == 1;
    pictures = is_plain ? kernel->conv.n : 0;
  }
  arena_destroy(arena);
  return pictures;
}

static void check_phases(ConvolutionTest test, int64_t pictures) {
  for (int i = 0; i < CONVOLUTION_OPS; i++) {
    test.op = convolution_ops[i];
    assert_int_equal(pictures_without_dilation(&test), pictures);
  }
}

/* Of h x w places, with a padding of so many on each side. */
static ConvolutionTest dilated(int64_t images, int64_t channels, int64_t h, int64_t w,
                               int64_t padding, int64_t dilation) {
  return (ConvolutionTest){.dtype = DTYPE_F32,
                           .spatial = 2,
                           .images = images,
                           .channels = channels,
                           .taps = {3, 3},
                           .results = 32,
                           .extent = {h, w},
                           .low = {padding, padding},
                           .high = {padding, padding},
                           .dilation = {dilation, dilation},
                           .stride = {1, 1}};
}

static void test_phases_are_pictures(void **state) {
  (void)state;
  check_phases(dilated(2, 48, 12, 16, 2, 2), 8);
  ConvolutionTest along_one =
      dilated(1, 32, 15, 16, 3, 3); /* and with a padding of its own on either side */
  along_one.dilation[1] = 1;
  along_one.low[1] = 0;
  along_one.high[1] = 2;
  check_phases(along_one, 3);
}

/* Planes that the dilation does not divide, with a padding and with none at most sides. */
static void test_planes_grow_to_whole_phases(void **state) {
  (void)state;
  check_phases(dilated(1, 32, 17, 16, 2, 2), 4);
  ConvolutionTest unpadded = dilated(1, 32, 21, 18, 0, 2);
  unpadded.low[1] = 2;
  check_phases(unpadded, 4);
}

/* A gradient in few weights copies both sides for planes that grow by a sixth. */
static void test_small_planes_of_few_channels_grow_for_products_alone(void **state) {
  (void)state;
  ConvolutionTest test = dilated(2, 32, 13, 15, 2, 2);
  static const int64_t pictures[] = {8, 8, 0};
  for (int i = 0; i < 3; i++) {
    test.op = convolution_ops[i];
    assert_int_equal(pictures_without_dilation(&test), pictures[i]);
  }
}

/* A padding that puts the phases of the result elsewhere, a stride, channels that the filtering does not take, and a dilation
 * that is larger than the plane: its phases would be mostly zeros. */
static void test_others_keep_their_dilation(void **state) {
  (void)state;
  check_phases(dilated(2, 32, 12, 12, 1, 2), 0);
  ConvolutionTest strided = dilated(2, 32, 12, 12, 2, 2);
  strided.stride[0] = strided.stride[1] = 2;
  check_phases(strided, 0);
  check_phases(dilated(2, 8, 12, 12, 2, 2), 0);
  check_phases(dilated(2, 32, 12, 12, 40, 40), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_phases_are_pictures),
      cmocka_unit_test(test_planes_grow_to_whole_phases),
      cmocka_unit_test(test_small_planes_of_few_channels_grow_for_products_alone),
      cmocka_unit_test(test_others_keep_their_dilation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
