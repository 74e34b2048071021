/* Programs of one convolution, or of one of its gradients. */
#ifndef NNC_TESTS_UNIT_CONVOLUTION_PROGRAM_H
#define NNC_TESTS_UNIT_CONVOLUTION_PROGRAM_H

#include "run_program.h"

typedef struct ConvolutionTest {
  Op op;
  DType dtype;
  int spatial;
  int64_t images, channels, results, extent[2], taps[2], low[2], high[2], stride[2], dilation[2];
} ConvolutionTest;

static inline Shape with_places(int64_t a, int64_t b, int spatial, const int64_t *places) {
  Shape shape = {.rank = 2 + spatial, .dim = {a, b}};
  for (int i = 0; i < spatial; i++) shape.dim[2 + i] = places[i];
  return shape;
}

static inline Module *convolution_module(Arena *arena, const ConvolutionTest *test) {
  Module *module = module_create(arena, "convolution", NULL);
  Maker maker = entry_maker(module, ENTRY_TRAIN, "convolution");
  int64_t out[2] = {0};
  for (int i = 0; i < test->spatial; i++)
    out[i] = (test->extent[i] + test->low[i] + test->high[i] -
              test->dilation[i] * (test->taps[i] - 1) - 1) /
                 test->stride[i] +
             1;
  Type x = {test->dtype, with_places(test->images, test->channels, test->spatial, test->extent)};
  Type w = {test->dtype, with_places(test->results, test->channels, test->spatial, test->taps)};
  Type y = {test->dtype, with_places(test->images, test->results, test->spatial, out)};
  Attribute attributes[6] = {
      attr_make_ints(ATTR_LOW, test->spatial, test->low),
      attr_make_ints(ATTR_HIGH, test->spatial, test->high),
      attr_make_ints(ATTR_STRIDE, test->spatial, test->stride),
      attr_make_int(ATTR_GROUPS, 1),
      attr_make_ints(ATTR_DILATION, test->spatial, test->dilation),
  };
  Type a = test->op == OP_CONV_INPUT ? y : x, b = test->op == OP_CONV_WEIGHT ? y : w;
  Type made = test->op == OP_CONV_INPUT ? x : w;
  int count = 5;
  if (test->op != OP_CONV)
    attributes[count++] = attr_make_ints(ATTR_SHAPE, made.shape.rank, made.shape.dim);
  add_input(module, "a", a, false);
  add_input(module, "b", b, false);
  Node *sides[] = {leaf(&maker, OP_INPUT, a, "a"), leaf(&maker, OP_INPUT, b, "b")};
  output(maker.graph, OUTPUT_RESULT, "y", make_node(&maker, test->op, 2, sides, count, attributes));
  return module;
}

static const Op convolution_ops[] = {OP_CONV, OP_CONV_INPUT, OP_CONV_WEIGHT};
enum { CONVOLUTION_OPS = sizeof convolution_ops / sizeof *convolution_ops };

#endif
