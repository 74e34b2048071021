/* Convolutions for test_emit.c, made by hand, and products that are such. */
#ifndef TESTS_CONVOLUTION_CASES_H
#define TESTS_CONVOLUTION_CASES_H

#include "contraction_cases.h"

typedef struct ConvShape {
  int64_t n, c, k, groups;
  int spatial;
  int64_t in[3], kernel[3], stride[3], low[3], high[3], dilation[3];
} ConvShape;

static ConvSlots conv_slots(const ConvShape *s) {
  ConvSlots slots = {.spatial = s->spatial, .n = s->n, .c = s->c, .k = s->k, .groups = s->groups};
  for (int i = 0; i < s->spatial; i++) {
    slots.in[i] = s->in[i];
    slots.kernel[i] = s->kernel[i];
    slots.stride[i] = s->stride[i];
    slots.low[i] = s->low[i];
    slots.high[i] = s->high[i];
    slots.dilation[i] = s->dilation[i];
    slots.out[i] = (s->in[i] + s->low[i] + s->high[i] - (s->kernel[i] - 1) * s->dilation[i] - 1) /
                       s->stride[i] +
                   1;
  }
  return slots;
}

enum { RESULT_LAST = 4 };

/* Of a value [n, c, ...], row-major or with its channels last. */
static Index *planes_place(CaseList *list, int rank, const int64_t *extent, bool is_last) {
  int64_t stride[5] = {0}, below = is_last ? extent[1] : 1;
  for (int i = rank - 1; i >= 0; i--) {
    if (i == 1 && is_last) continue;
    stride[i] = below;
    below *= extent[i];
  }
  if (is_last) stride[1] = 1;
  return strided(list, rank, stride);
}

/* epilogue 0: store; 1: relu(result + bias[axis 1]); 2: an update in place. `last`: as in ConvSlots, and
 * RESULT_LAST. */
static void make_conv(CaseList *list, const ConvShape *s, KernelKind kind, DType dtype,
                      int epilogue, int last) {
  ConvSlots slots = conv_slots(s);
  int64_t x[5] = {s->n, s->c}, w[5] = {s->k, s->c / s->groups}, y[5] = {s->n, s->k};
  for (int i = 0; i < s->spatial; i++)
    x[2 + i] = slots.in[i], w[2 + i] = slots.kernel[i], y[2 + i] = slots.out[i];
  const int64_t *result = kind == KERNEL_CONV ? y : kind == KERNEL_CONV_INPUT ? x : w;
  const int64_t *left = kind == KERNEL_CONV_INPUT ? y : x,
                *right = kind == KERNEL_CONV_WEIGHT ? y : w;
  int rank = 2 + s->spatial;
  /* names that the templates use themselves */
  static const char *const all_names[][3] = {
      {"image", "taps", "tile"}, {"X0", "given", "planes"}, {"source", "ROWS", "patches"}};
  const char *const *names = all_names[list->cases.count % 3];
  Kernel *kernel = new_kernel(list, kind, rank, result);
  kernel->conv = slots;
  kernel->conv.last = last & ~RESULT_LAST;
  add_operand(kernel, names[0], dtype, product(rank, left), false);
  add_operand(kernel, names[1], dtype, product(rank, right), false);
  int out = add_operand(kernel, names[2], dtype, product(rank, result), true);
  Index *place = planes_place(list, rank, result, last & RESULT_LAST);
  Expr *value = new_expr(list, EXPR_RESULT, dtype);
  if (epilogue == 1) {
    int bias = add_operand(kernel, "b", dtype, result[1], false);
    value = apply(list, OP_ADD, dtype, value,
                  load_at(list, kernel, bias, index_axis(list->arena, 1)), NULL);
    value = apply(list, OP_MAX, dtype, value, number(list, dtype, 0), NULL);
  }
  if (epilogue == 2)
    value = apply(list, OP_SUB, dtype, load_at(list, kernel, out, place),
                  apply(list, OP_MUL, dtype, value, number(list, dtype, 0.5), NULL), NULL);
  add_store(kernel->epilogue, &kernel->epilogue_count, out, place, value);
  add_case(list,
           kind == KERNEL_CONV         ? "conv"
           : kind == KERNEL_CONV_INPUT ? "conv_input"
                                       : "conv_weight",
           kernel, 20);
}

static const ConvShape conv_shapes[] = {
    {2, 3, 8, 1, 2, {28, 28}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {3, 1, 20, 1, 2, {12, 13}, {5, 5}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    {2, 4, 6, 2, 2, {11, 9}, {3, 2}, {2, 2}, {1, 0}, {0, 1}, {1, 1}},
    {2, 6, 6, 6, 2, {10, 17}, {3, 3}, {2, 1}, {1, 1}, {1, 1}, {1, 1}},
    {1, 5, 7, 1, 1, {40}, {4}, {3}, {2}, {1}, {2}},
    {2, 2, 3, 1, 3, {5, 6, 7}, {2, 3, 2}, {1, 2, 1}, {0, 1, 1}, {1, 1, 0}, {2, 1, 1}},
    {2, 3, 4, 1, 2, {9, 9}, {1, 1}, {2, 2}, {0, 0}, {0, 0}, {1, 1}},
    {1, 2, 2, 1, 2, {12, 12}, {3, 3}, {1, 1}, {-2, -1}, {-1, 2}, {1, 1}},
    {1, 3, 3, 1, 2, {16, 16}, {4, 4}, {4, 4}, {0, 0}, {0, 0}, {1, 1}},
    {1, 2, 9, 1, 2, {8, 8}, {2, 2}, {3, 3}, {0, 0}, {0, 0}, {1, 1}},
    {1, 16, 17, 1, 2, {60, 50}, {3, 3}, {1, 1}, {2, 2}, {2, 2}, {2, 2}},
    {1, 3, 3, 1, 1, {5000}, {5}, {1}, {2}, {2}, {1}},
    {2, 40, 20, 1, 2, {4, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {0, 2, 2, 1, 2, {4, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    /* small planes: by columns and by patches */
    {5, 20, 13, 1, 2, {12, 12}, {5, 5}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    {19, 7, 9, 1, 2, {5, 6}, {5, 4}, {1, 1}, {2, 2}, {2, 1}, {1, 1}},
    {3, 10, 14, 2, 2, {9, 11}, {3, 4}, {2, 2}, {1, 2}, {2, 1}, {1, 2}},
    {2, 9, 21, 3, 1, {11}, {4}, {1}, {3}, {3}, {2}},
    {2, 1, 33, 1, 2, {7, 7}, {7, 7}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    {2, 6, 17, 1, 3, {3, 4, 5}, {2, 3, 3}, {1, 1, 1}, {1, 1, 0}, {0, 1, 2}, {1, 1, 1}},
    {2, 8, 30, 1, 2, {10, 10}, {5, 5}, {1, 1}, {-1, 0}, {0, -2}, {1, 1}},
    /* several images at a time, the last time fewer */
    {11, 40, 70, 1, 2, {3, 3}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {7, 48, 36, 2, 2, {5, 4}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
    {13, 33, 50, 1, 2, {3, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
};

static void make_convolutions(CaseList *list) {
  static const KernelKind kinds[] = {KERNEL_CONV, KERNEL_CONV_INPUT, KERNEL_CONV_WEIGHT};
  int turn = 0;
  for (size_t i = 0; i < sizeof conv_shapes / sizeof *conv_shapes; i++)
    for (int kind = 0; kind < 3; kind++, turn++)
      make_conv(list, &conv_shapes[i], kinds[kind], turn % 4 == 3 ? DTYPE_F64 : DTYPE_F32,
                turn % 3 ? (turn + (int)i) % 3 : (turn / 3) % 3, 0);
  for (int kind = 0; kind < 3; kind++) {
    make_conv(list, &conv_shapes[2], kinds[kind], DTYPE_BF16, 0, 0);
    make_conv(list, &conv_shapes[0], kinds[kind], DTYPE_F16, 1, 0);
    make_conv(list, &conv_shapes[5], kinds[kind], DTYPE_F64, 1, 0);
  }
}

/* The gradient of weights in pieces of the images, the first axis of the result. */
static const Kernel *make_weight_pieces(CaseList *list, const ConvShape *s, int64_t pieces,
                                        DType dtype, int last) {
  make_conv(list, s, KERNEL_CONV_WEIGHT, dtype, 0, last);
  Kernel *kernel = (Kernel *)last_case(list)->kernel;
  kernel->conv.pieces = pieces;
  for (int i = kernel->axis_count++; i > 0; i--) kernel->extent[i] = kernel->extent[i - 1];
  kernel->extent[0] = pieces;
  Index *place = index_const(list->arena, 0);
  for (int i = 0; i < kernel->axis_count; i++)
    place = index_add(list->arena, index_mul(list->arena, place, kernel->extent[i]),
                      index_axis(list->arena, i));
  kernel->epilogue[0].index = place;
  kernel->operands[kernel->epilogue[0].operand].elements *= pieces;
  return kernel;
}

/* With their channels last; all shapes of above, and some more. */
static void make_convolutions_last(CaseList *list) {
  static const KernelKind kinds[] = {KERNEL_CONV, KERNEL_CONV_INPUT, KERNEL_CONV_WEIGHT};
  static const ConvShape more[] = {
      {3, 64, 48, 1, 2, {14, 10}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {2, 32, 24, 1, 2, {9, 9}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
      {2, 24, 72, 3, 2, {9, 8}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
      {2, 3, 40, 1, 2, {30, 31}, {7, 7}, {2, 2}, {3, 3}, {3, 3}, {1, 1}},
      {1, 530, 20, 1, 2, {5, 5}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
      {2, 40, 40, 40, 2, {11, 12}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {2, 70, 70, 70, 2, {13, 9}, {5, 3}, {2, 2}, {2, 1}, {2, 1}, {1, 1}},
      {1, 17, 17, 17, 1, {40}, {4}, {3}, {2}, {1}, {2}},
      {1, 130, 130, 130, 3, {4, 5, 6}, {2, 3, 3}, {1, 2, 1}, {1, 1, 1}, {0, 1, 1}, {1, 1, 2}},
      {2, 20, 20, 20, 2, {6, 6}, {2, 2}, {3, 3}, {0, 0}, {0, 0}, {1, 1}},
      {2, 1, 1, 1, 1, {13}, {2}, {2}, {0}, {0}, {1}},
      {1, 18, 18, 18, 1, {5000}, {5}, {1}, {2}, {2}, {1}}, /* parts of a line */
      {1, 18, 18, 18, 1, {4001}, {4}, {2}, {1}, {2}, {1}},
      {2, 1, 18, 1, 2, {9, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {2, 56, 56, 56, 2, {14, 29}, {3, 5}, {1, 1}, {4, 4}, {4, 4}, {4, 2}},
      {1,
       24,
       24,
       24,
       2,
       {23, 34},
       {3, 3},
       {3, 3},
       {2, 4},
       {2, 4},
       {2, 2}}, /* taps meet one residue of three */
      {1, 33, 33, 33, 1, {60}, {2}, {1}, {32}, {0}, {32}},
      {3,
       528,
       528,
       528,
       2,
       {4, 3},
       {3, 3},
       {2, 2},
       {1, 1},
       {1, 1},
       {1, 1}}, /* blocks of channels */
      {1, 40, 40, 40, 2, {7, 7}, {7, 7}, {1, 1}, {3, 3}, {3, 3}, {1, 1}},
      {2, 24, 24, 24, 2, {5, 12}, {1, 3}, {1, 2}, {-1, -2}, {2, 4}, {1, 1}},
  };
  static const int lasts[] = {7, 1, 3, 6, 5, 2};
  static const DType types[] = {DTYPE_F32, DTYPE_BF16, DTYPE_F32, DTYPE_F64, DTYPE_F16};
  int count = (int)(sizeof conv_shapes / sizeof *conv_shapes), turn = 0;
  int all = count + (int)(sizeof more / sizeof *more);
  for (int i = 0; i < all; i++)
    for (int kind = 0; kind < 3; kind++, turn++) {
      const ConvShape *shape = i < count ? &conv_shapes[i] : &more[i - count];
      make_conv(list, shape, kinds[kind], DTYPE_F32, turn % 3, 7);
      make_conv(list, shape, kinds[kind], types[(turn + i) % 5], (turn + i) % 3, lasts[turn % 6]);
    }
  /* Pairs of channels: of a place, or of the last place of a tap and the first of the next; lines of places, and the depth
   * in pieces. */
  static const ConvShape odd[] = {
      {3, 7, 8, 1, 2, {6, 3}, {3, 2}, {1, 2}, {0, 0}, {3, 2}, {1, 1}},
      {2, 3, 40, 1, 2, {20, 23}, {7, 7}, {2, 2}, {3, 3}, {3, 3}, {1, 1}},
      {2, 131, 5, 1, 2, {4, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
  };
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
    for (int kind = 0; kind < 3; kind++) make_conv(list, &odd[i], kinds[kind], DTYPE_BF16, 0, 7);
  static const ConvShape pieces = {6,      40,     40,     40,     2,     {9, 11},
                                   {3, 3}, {2, 1}, {1, 1}, {1, 1}, {1, 1}};
  assert_true(kernel_is_depthwise(make_weight_pieces(list, &pieces, 3, DTYPE_F32, 3)));
  assert_true(kernel_is_depthwise(make_weight_pieces(list, &pieces, 6, DTYPE_BF16, 3)));
  assert_true(kernel_is_depthwise(make_weight_pieces(list, &pieces, 2, DTYPE_F64, 3)));
}

/* The case that was made last, by Winograd's minimal filtering; its sums are rounded so many times as much. */
static Kernel *go_by_winograd(CaseList *list, double scale) {
  KernelCase *test = last_case(list);
  Kernel *kernel = (Kernel *)test->kernel;
  kernel->conv.may_be_winograd = true;
  assert_true(kernel_is_winograd(kernel));
  test->scale = scale;
  return kernel;
}

/* By Winograd's minimal filtering: odd and even planes, zeros around them, none, and windows that leave
 * places out; one block of channels and several, the last one narrower; several blocks of places for each of several
 * parts of the weights; five taps along both axes or one, and convolutions along one axis and three. */
static void make_winograd_shapes(CaseList *list, bool is_sparse) {
  static const KernelKind kinds[] = {KERNEL_CONV, KERNEL_CONV_INPUT, KERNEL_CONV_WEIGHT};
  static const ConvShape shapes[] = {
      {2, 32, 48, 1, 2, {9, 13}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {1, 16, 16, 1, 2, {3, 3}, {3, 3}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
      {3, 80, 112, 1, 2, {12, 10}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {2, 64, 176, 1, 2, {17, 30}, {3, 3}, {1, 1}, {0, 1}, {2, 0}, {1, 1}},
      {1, 208, 32, 1, 2, {25, 70}, {3, 3}, {1, 1}, {2, 2}, {2, 2}, {1, 1}},
      {2, 48, 64, 1, 2, {21, 18}, {3, 3}, {1, 1}, {-1, -2}, {3, -1}, {1, 1}},
      {1, 16, 32, 1, 2, {1, 1}, {3, 3}, {1, 1}, {4, 3}, {5, 3}, {1, 1}},
      {0, 16, 32, 1, 2, {5, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {2, 160, 192, 1, 2, {12, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {2, 48, 64, 1, 2, {9, 12}, {5, 5}, {1, 1}, {2, 2}, {2, 2}, {1, 1}},
      {2, 32, 112, 1, 2, {13, 18}, {5, 3}, {1, 1}, {0, 1}, {4, 2}, {1, 1}},
      {2, 16, 32, 1, 2, {7, 18}, {1, 5}, {1, 1}, {0, 3}, {0, 0}, {1, 1}},
      {3, 80, 16, 1, 2, {14, 5}, {3, 1}, {1, 1}, {1, 0}, {1, 0}, {1, 1}},
      {2, 64, 48, 1, 1, {37}, {3}, {1}, {1}, {0}, {1}},
      {1, 32, 64, 1, 1, {301}, {5}, {1}, {2}, {3}, {1}},
      {2, 32, 48, 1, 3, {6, 9, 12}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
      {1, 80, 64, 1, 3, {5, 11, 15}, {3, 3, 3}, {1, 1, 1}, {0, 1, 0}, {1, 1, 2}, {1, 1, 1}},
      {1, 32, 112, 1, 3, {4, 30, 32}, {2, 3, 3}, {1, 1, 1}, {1, 0, 1}, {0, 2, 1}, {1, 1, 1}},
      {2, 16, 32, 1, 3, {3, 8, 5}, {1, 5, 3}, {1, 1, 1}, {0, 2, 1}, {0, 2, 1}, {1, 1, 1}},
      {1, 48, 32, 1, 3, {7, 5, 6}, {5, 1, 3}, {1, 1, 1}, {3, 0, 1}, {2, 0, 1}, {1, 1, 1}},
  };
  static const int lasts[] = {7, 3};
  int turn = 0;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (int kind = 0; kind < 3; kind++, turn++) {
      int epilogue = is_sparse ? 0 : turn % 3;
      make_conv(list, &shapes[i], kinds[kind], DTYPE_F32, epilogue, lasts[turn / 2 % 2]);
      last_case(list)->is_sparse = is_sparse;
      /* Twice as much as directly; sums of some 2,000 products are off by more. */
      double products = kinds[kind] == KERNEL_CONV ? 9 * (double)shapes[i].c : 0;
      const Kernel *kernel = go_by_winograd(list, products > 960 ? products / 24 : 40);
      int64_t weights = (int64_t)sizeof(float) * 16 * shapes[i].c * shapes[i].k; /* transformed */
      if (weights > 3 << 19) assert_true(winograd_worker_bytes(kernel) < weights);
    }
}
static void make_winograd_convolutions(CaseList *list) { make_winograd_shapes(list, false); }

/* The same, and of bf16, where most numbers are 0: results whose products are all 0 are 0, whatever else is in their tiles. */
static void make_sparse_winograd_convolutions(CaseList *list) {
  static const ConvShape halves = {4,      48,     32,     1,      2,     {23, 25},
                                   {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  make_winograd_shapes(list, true);
  for (int i = 0; i < 3; i++) {
    static const KernelKind kinds[] = {KERNEL_CONV, KERNEL_CONV_INPUT, KERNEL_CONV_WEIGHT};
    make_conv(list, &halves, kinds[i], DTYPE_BF16, 0, 7);
    last_case(list)->is_sparse = true;
    go_by_winograd(list, 40);
  }
}

/* The same of bf16, where it gains beside pairs of them: by shared tiles and others, along one axis and three, from far
 * away, in pieces; and where it does not. */
static void make_winograd_convolutions_of_halves(CaseList *list) {
  static const KernelKind kinds[] = {KERNEL_CONV, KERNEL_CONV_INPUT, KERNEL_CONV_WEIGHT};
  static const ConvShape shapes[] = {
      {4, 48, 32, 1, 2, {23, 25}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {3, 80, 48, 1, 2, {22, 26}, {3, 3}, {1, 1}, {0, 1}, {2, 0}, {1, 1}},
      {4, 48, 32, 1, 2, {20, 23}, {5, 5}, {1, 1}, {2, 2}, {2, 2}, {1, 1}},
      {2, 48, 32, 1, 2, {40, 44}, {5, 3}, {1, 1}, {0, 1}, {4, 2}, {1, 1}},
      {1, 48, 32, 1, 3, {6, 24, 28}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
  };
  enum { SHAPES = sizeof shapes / sizeof *shapes };
  for (int i = 0; i < 3 * SHAPES; i++) {
    make_conv(list, &shapes[i / 3], kinds[i % 3], DTYPE_BF16, i % 3, i % 2 ? 7 : 3);
    const Kernel *kernel = go_by_winograd(list, 40);
    assert_true(winograd_gains(&kernel->conv, DTYPE_BF16, i % 3 == 2));
  }
  make_weight_pieces(list, &shapes[0], 2, DTYPE_BF16, 3);
  go_by_winograd(list, 40);
  static const ConvShape far = {2, 128, 16, 1, 2, {92, 94}, {3, 3}, {1, 1}, {1, 1}, {1, 0}, {1, 1}};
  for (int kind = 0; kind < 3; kind += 2) {
    make_conv(list, &far, kinds[kind], DTYPE_BF16, 0, 7);
    go_by_winograd(list, kind == 2 ? 700 : 50);
    const KernelOperand *places = &last_case(list)->kernel->operands[0];
    assert_true(places->elements * (int64_t)sizeof(uint16_t) > 2 * FAR_SIDE_BYTES);
  }
  static const ConvShape small = {2, 32, 48, 1, 2, {9, 13}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  make_conv(list, &small, KERNEL_CONV, DTYPE_BF16, 0, 7);
  assert_false(winograd_gains(&last_case(list)->kernel->conv, DTYPE_BF16, false));
  assert_true(winograd_gains(&last_case(list)->kernel->conv, DTYPE_F32, false));
}

/* Gradients in the weights in pieces of the images, in one block of channels and in several. */
static void make_pieces_by_winograd(CaseList *list) {
  static const ConvShape shapes[] = {
      {6, 64, 48, 1, 2, {9, 11}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {4, 144, 112, 1, 2, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {9, 32, 80, 1, 2, {5, 14}, {3, 3}, {1, 1}, {0, 2}, {1, 0}, {1, 1}},
      {2, 32, 32, 1, 2, {40, 38}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
  };
  static const int64_t pieces[] = {3, 2, 9, 2};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    make_weight_pieces(list, &shapes[i], pieces[i], DTYPE_F32, 3);
    go_by_winograd(list, 40);
  }
}

/* Whose operands are so large that each tile asks for some of what is transformed next: rows of tiles, and whole images;
 * in pieces, too. */
static void make_far_winograd_convolutions(CaseList *list) {
  static const KernelKind kinds[] = {KERNEL_CONV, KERNEL_CONV_INPUT, KERNEL_CONV_WEIGHT};
  static const ConvShape rows = {2,      128,    16,     1,      2,     {64, 66},
                                 {3, 3}, {1, 1}, {1, 1}, {1, 0}, {1, 1}};
  static const ConvShape images = {170,    16,     128,    1,      2,     {7, 8},
                                   {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  for (int kind = 0; kind < 3; kind++) {
    make_conv(list, kind == 1 ? &images : &rows, kinds[kind], DTYPE_F32, 0, 7);
    go_by_winograd(list, kind == 2 ? 350 : 50); /* sums of some 8,000 products, and of 1,152 */
  }
  make_weight_pieces(list, &images, 5, DTYPE_F32, 3);
  go_by_winograd(list, 80);
  for (int i = 0; i < list->cases.count; i++) {
    const Kernel *kernel = list->cases.items[i].kernel;
    int64_t elements = greatest(kernel->operands[0].elements, kernel->operands[1].elements);
    assert_true(elements * (int64_t)sizeof(float) > 2 * FAR_SIDE_BYTES);
  }
}

/* Strided windows over operands so large that tiles ask for what is copied next, as rows and as columns: the next piece of
 * the depth, and the next block; of depthwise convolutions what the next positions see. */
static void make_far_windows(CaseList *list) {
  static const ConvShape shapes[] = {
      {3, 32, 200, 1, 2, {55, 57}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
      {5, 24, 208, 1, 2, {57, 58}, {1, 1}, {2, 2}, {0, 0}, {0, 0}, {1, 1}},
  };
  for (int i = 0; i < 2; i++) {
    make_conv(list, &shapes[i], KERNEL_CONV, DTYPE_F64, 0, 7);
    last_case(list)->mentions = "NNC_FETCH_WINDOW_ROWS";
    make_conv(list, &shapes[i], KERNEL_CONV_WEIGHT, DTYPE_F64, 0, 7);
    /* As one task all channels are rows of one block. */
    ((Kernel *)last_case(list)->kernel)->is_serial = true;
    last_case(list)->mentions = "NNC_FETCH_WINDOW_COLUMNS";
  }
  static const KernelKind kinds[] = {KERNEL_CONV, KERNEL_CONV_INPUT, KERNEL_CONV_WEIGHT};
  static const ConvShape deep = {3,      24,     24,     24,     2,     {131, 130},
                                 {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  for (int kind = 0; kind < 3; kind++) {
    make_conv(list, &deep, kinds[kind], DTYPE_F64, 0, 7);
    last_case(list)->mentions = "nnc_fetch_places";
  }
}

/* The results of the case that was made last become parts of ones so large that they go past the caches. */
static void be_part(CaseList *list) {
  KernelCase *test = last_case(list);
  test->is_part = true;
  test->mentions = "nnc_stream_row";
}

static void enlarge_results(Kernel *kernel) {
  for (int i = 0; i < kernel->operand_count; i++) {
    KernelOperand *operand = &kernel->operands[i];
    if (operand->is_output) operand->elements = STREAM_BYTES / dtype_size(operand->dtype);
  }
}

/* Tiles whose rows are stored past the caches: of products, either side broadcast, of windows, in phases and as runs of a
 * line, of depthwise convolutions and of Winograd's filtering. */
static void make_streamed(CaseList *list) {
  ContractShape product = {.batch = 1,
                           .m = 37,
                           .n = 72,
                           .k = 5,
                           .left = DTYPE_F64,
                           .right = DTYPE_F64,
                           .result = DTYPE_F64};
  for (product.epilogue = 0; product.epilogue < 3; product.epilogue++) {
    make_contraction(list, &product);
    be_part(list);
  }
  ContractShape turned = product;
  turned.batch = 3, turned.m = 40, turned.n = 9, turned.k = 7, turned.epilogue = 0;
  turned.left_transposed = turned.result_transposed = true;
  make_contraction(list, &turned);
  be_part(list);
  assert_true(contract_grid(last_case(list)->kernel, NULL).swap);
  static const ConvShape shapes[] = {
      {2, 24, 40, 1, 2, {9, 11}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
      {2, 3, 40, 1, 2, {20, 23}, {7, 7}, {2, 2}, {3, 3}, {3, 3}, {1, 1}},
      {2, 40, 40, 40, 2, {9, 12}, {3, 3}, {1, 2}, {1, 1}, {1, 1}, {1, 1}},
  };
  static const KernelKind kinds[] = {KERNEL_CONV, KERNEL_CONV_INPUT};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (int kind = 0; kind < 2; kind++) {
      if (kind == 1 && shapes[i].c % 8 != 0) continue;
      make_conv(list, &shapes[i], kinds[kind], DTYPE_F64, (int)(i + (size_t)kind) % 3, 7);
      /* The last epilogue reads the result. */
      if ((i + (size_t)kind) % 3 < 2) be_part(list);
    }
  static const ConvShape filtered = {2,      16,     112,    1,      2,     {9, 13},
                                     {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  make_conv(list, &filtered, KERNEL_CONV, DTYPE_F32, 1, 7);
  go_by_winograd(list, 40);
  be_part(list);
}

/* Tight ones take less of a worker's block where many channels are summed, and no more elsewhere. */
static void make_tight_winograd_convolutions(CaseList *list) {
  make_winograd_convolutions(list);
  int smaller = 0;
  for (int i = 0; i < list->cases.count; i++) {
    Kernel *kernel = (Kernel *)list->cases.items[i].kernel;
    int64_t before = winograd_worker_bytes(kernel);
    kernel->is_tight = true;
    assert_true(winograd_worker_bytes(kernel) <= before);
    smaller += winograd_worker_bytes(kernel) < before;
  }
  assert_true(smaller > 0);
}

/* Of a block of a task loop, which one worker computes: several images, and one, by tiles of 2 x 2 too. Blocks of few
 * tiles, for which the weights would be transformed each time, are computed directly. */
static void make_blocks_by_winograd(CaseList *list) {
  static const KernelKind kinds[] = {KERNEL_CONV, KERNEL_CONV_INPUT};
  static const ConvShape shapes[] = {
      {2, 32, 64, 1, 2, {14, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {1, 64, 64, 1, 2, {20, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {5, 48, 32, 1, 2, {7, 9}, {3, 3}, {1, 1}, {1, 0}, {0, 1}, {1, 1}},
      {2, 32, 64, 1, 2, {9, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, /* 50 tiles */
      {1, 32, 64, 1, 2, {9, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, /* 25 */
  };
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (int kind = 0; kind < 2; kind++) {
      make_conv(list, &shapes[i], kinds[kind], DTYPE_F32, (int)i % 3, 7);
      KernelCase *test = last_case(list);
      Kernel *kernel = (Kernel *)test->kernel;
      kernel->conv.may_be_winograd = kernel->is_serial = true;
      assert_int_equal(kernel_is_winograd(kernel), i < 4);
      test->scale = 40;
    }
}

/* Directly and by tiles that see 6 places along an axis, whose errors are at most 4 times as large (8 times the greatest):
 * of one picture, of several, and of their gradients in the weights. */
static void make_exact_convolutions(CaseList *list) {
  static const KernelKind kinds[] = {KERNEL_CONV, KERNEL_CONV_INPUT, KERNEL_CONV_WEIGHT};
  static const ConvShape shapes[] = {
      {1, 64, 64, 1, 2, {20, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {1, 128, 96, 1, 2, {28, 32}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {4, 80, 48, 1, 2, {15, 12}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {2, 64, 80, 1, 2, {15, 12}, {5, 5}, {1, 1}, {2, 2}, {2, 2}, {1, 1}},
      {1, 96, 64, 1, 1, {300}, {3}, {1}, {1}, {1}, {1}},
      {2, 64, 64, 1, 1, {190}, {5}, {1}, {2}, {2}, {1}},
      {1, 48, 64, 1, 3, {6, 12, 16}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
  };
  enum { SHAPES = sizeof shapes / sizeof *shapes };
  for (int i = 0; i < 3 * SHAPES; i++)
    for (int filtered = 0; filtered < 2; filtered++) {
      make_conv(list, &shapes[i / 3], kinds[i % 3], DTYPE_F32, 0, 7);
      KernelCase *test = last_case(list);
      test->scale = 80;
      if (!filtered) continue;
      ((Kernel *)test->kernel)->conv.may_be_winograd = true;
      assert_true(kernel_is_winograd(test->kernel));
      test->times = 4;
      test->mentions = shapes[i / 3].kernel[0] == 5 ? "TAPS_0 = 5" : "SIZE_0 = 4";
    }
}

/* Sums of 256 products or fewer, and of 8,192: by chains the errors of these are some 6 times as large, by a single one 32
 * times. Products by tiles and by lines, and convolutions of planes and with their channels last. */
static void make_chains(CaseList *list) {
  enum { LONGER = 32, TIMES = 12, WAYS = 4 };
  for (int i = 0; i < 2 * WAYS; i++) {
    bool is_long = i % 2 == 1;
    int64_t longer = is_long ? LONGER : 1;
    if (i / 2 < 2) {
      ContractShape s = {.batch = 1,
                         .m = i / 2 == 0 ? 72 : 3,
                         .n = i / 2 == 0 ? 96 : 701,
                         .k = 256 * longer,
                         .left = DTYPE_F32,
                         .right = DTYPE_F32,
                         .result = DTYPE_F32};
      make_contraction(list, &s);
    } else {
      ConvShape s = {2, 28 * longer, 24, 1, 2, {9, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
      make_conv(list, &s, KERNEL_CONV, DTYPE_F32, 0, i / 2 == 2 ? 0 : 7);
    }
    last_case(list)->scale = 200;
    if (is_long) last_case(list)->times = TIMES;
  }
}

/* Small planes tap by tap: windows of which some see no place, with holes, and larger than their planes; along one axis, two and
 * three; several blocks of images; channels in one part, in parts of one to three vectors, the last one narrower; with
 * weights that are kept; and planes that see too few zeros. */
static void make_taps(CaseList *list) {
  static const ConvShape shapes[] = {
      {8, 40, 80, 1, 2, {3, 3}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {8, 33, 32, 1, 2, {2, 2}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {6, 64, 208, 1, 2, {5, 3}, {7, 5}, {1, 1}, {3, 2}, {3, 2}, {1, 1}},
      {8, 48, 48, 1, 2, {4, 5}, {3, 3}, {1, 1}, {3, 2}, {2, 3}, {2, 3}},
      {16, 64, 64, 1, 1, {4}, {5}, {1}, {2}, {2}, {1}},
      {4, 32, 96, 1, 3, {2, 3, 2}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
      {70, 640, 32, 1, 2, {3, 3}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {8, 64, 48, 1, 2, {3, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 0}, {1, 1}},
  };
  static const KernelKind kinds[] = {KERNEL_CONV, KERNEL_CONV_INPUT};
  static const int lasts[] = {7, 3};
  for (int i = 0; i < 3 * (int)(sizeof shapes / sizeof *shapes); i++) {
    const ConvShape *shape = &shapes[i / 3];
    bool is_input = i % 3 == 1, keeps = i % 3 == 2;
    if (is_input && shape->c % 16 != 0) continue;
    make_conv(list, shape, kinds[is_input], i % 2 ? DTYPE_F64 : DTYPE_F32, i % 3, lasts[i / 3 % 2]);
    KernelCase *test = last_case(list);
    Kernel *kernel = (Kernel *)test->kernel;
    assert_true(kernel_goes_by_taps(kernel));
    if (keeps) assert_true(target_kept_bytes(&target_c, kernel) > 0);
    kernel->keeps_weights = keeps;
    test->scale = 20;
    test->mentions = "runs[RUNS]";
  }
  /* With all zeros that a window can see around the plane; the adjoint sees them where there is no padding. */
  static const ConvShape full = {3, 96, 112, 1, 2, {8, 7}, {3, 3}, {1, 1}, {2, 2}, {2, 2}, {1, 1}};
  static const ConvShape none = {3, 96, 112, 1, 2, {8, 7}, {3, 3}, {1, 1}, {0, 0}, {0, 0}, {1, 1}};
  for (int i = 0; i < 4; i++) {
    make_conv(list, i % 2 ? &none : &full, kinds[i / 2], DTYPE_F32, i % 3, 7);
    assert_int_equal(kernel_goes_by_taps(last_case(list)->kernel), i == 0 || i == 3);
  }
  static const ConvShape others[] = {
      {4, 64, 48, 1, 2, {11, 11}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {1, 64, 48, 1, 2, {3, 3}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {8, 64, 48, 1, 2, {3, 3}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
      {8, 64, 48, 2, 2, {3, 3}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
  };
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    make_conv(list, &others[i], KERNEL_CONV, DTYPE_F32, 0, 7);
    assert_false(kernel_goes_by_taps(last_case(list)->kernel));
  }
}

/* Products that keep their panels: a last one narrower than the others, none, and that alone; tiles as high as they can
 * be and lower; depths that are cut. */
static void make_keeping_products(CaseList *list) {
  static const ConvShape shapes[] = {
      {1, 64, 112, 1, 2, {7, 7}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
      {1, 1056, 96, 1, 2, {7, 7}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
      {1, 32, 40, 1, 2, {3, 11}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
      {1, 48, 504, 1, 2, {1, 17}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
      {1, 24, 144, 1, 2, {14, 14}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
      {1, 128, 200, 1, 2, {9, 13}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
      {1, 96, 160, 1, 2, {13, 13}, {1, 1}, {2, 2}, {0, 0}, {0, 0}, {1, 1}},
  };
  for (int i = 0; i < 3 * (int)(sizeof shapes / sizeof *shapes); i++) {
    make_conv(list, &shapes[i / 3], KERNEL_CONV, DTYPE_F32, i % 3, i % 2 ? 7 : 3);
    Kernel *kernel = (Kernel *)last_case(list)->kernel;
    assert_true(target_kept_bytes(&target_c, kernel) > 0);
    kernel->keeps_weights = true;
  }
}

/* Convolutions of few channels whose tiles read runs of taps from lines (window_reads_runs): one panel of the result's
 * channels and more, the last one narrower; lines of positions that are no whole tiles, in parts, and several images;
 * strides, holes and padding; weights that are kept, and not; with an epilogue, and without. */
static void make_seen_convolutions(CaseList *list) {
  static const ConvShape shapes[] = {
      {1, 3, 32, 1, 2, {30, 32}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
      {2, 3, 64, 1, 2, {30, 31}, {7, 7}, {2, 2}, {3, 3}, {3, 3}, {1, 1}},
      {1, 15, 72, 1, 2, {14, 9}, {5, 5}, {1, 1}, {-1, -2}, {3, -1}, {1, 1}},
      {3, 4, 24, 1, 2, {12, 13}, {3, 3}, {1, 3}, {1, 0}, {0, 2}, {2, 1}},
      {1, 2, 80, 1, 1, {900}, {9}, {3}, {4}, {5}, {1}},
      {2, 3, 16, 1, 3, {5, 9, 8}, {2, 3, 3}, {1, 2, 1}, {0, 1, 1}, {1, 1, 0}, {2, 1, 1}},
      {2, 1, 48, 1, 2, {30, 33}, {3, 3}, {1, 1}, {1, 1}, {0, 1}, {1, 1}}, /* one channel */
      {3, 1, 32, 1, 2, {20, 22}, {4, 4}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
      {2, 1, 16, 1, 1, {500}, {25}, {5}, {12}, {12}, {1}},
  };
  for (int i = 0; i < 6 * (int)(sizeof shapes / sizeof *shapes); i++) {
    make_conv(list, &shapes[i / 6], KERNEL_CONV, i % 6 == 5 ? DTYPE_F64 : DTYPE_F32, i / 2 % 3, 7);
    Kernel *kernel = (Kernel *)last_case(list)->kernel;
    assert_true(conv_is_product(kernel));
    kernel->keeps_weights = i % 2 == 0 && target_kept_bytes(&target_c, kernel) > 0;
  }
}

/* Depthwise convolutions that keep their weights by taps: a block of channels and several, strides, lines and planes. */
static void make_keeping_depthwise(CaseList *list) {
  static const ConvShape shapes[] = {
      {1, 40, 40, 40, 2, {9, 11}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {1, 592, 592, 592, 2, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {2, 96, 96, 96, 2, {17, 14}, {5, 3}, {2, 2}, {2, 1}, {1, 1}, {1, 1}},
      {1, 300, 300, 300, 1, {60}, {7}, {1}, {3}, {3}, {2}},
  };
  for (int i = 0; i < 3 * (int)(sizeof shapes / sizeof *shapes); i++) {
    make_conv(list, &shapes[i / 3], KERNEL_CONV, i % 3 == 2 ? DTYPE_F64 : DTYPE_F32, i % 3, 7);
    Kernel *kernel = (Kernel *)last_case(list)->kernel;
    assert_true(kernel_is_depthwise(kernel) && target_kept_bytes(&target_c, kernel) > 0);
    kernel->keeps_weights = true;
  }
}

/* Convolutions that keep the transformed weights: tiles of both sizes, one block of an image with its channels in
 * parts and several, the last one shorter, several images; planes that go so only where weights are kept; an image
 * that is one block because its weights are large. */
static void make_keeping_winograd_convolutions(CaseList *list) {
  static const ConvShape shapes[] = {
      {1, 32, 64, 1, 2, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {1, 48, 192, 1, 2, {8, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {1, 208, 160, 1, 2, {14, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {1, 64, 128, 1, 2, {30, 27}, {3, 3}, {1, 1}, {1, 0}, {1, 2}, {1, 1}},
      {2, 32, 48, 1, 2, {20, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {3, 32, 32, 1, 2, {12, 10}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {1, 256, 128, 1, 2, {14, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
  };
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    make_conv(list, &shapes[i], KERNEL_CONV, DTYPE_F32, (int)i % 3, i % 2 ? 7 : 3);
    Kernel *kernel = (Kernel *)last_case(list)->kernel;
    kernel->conv.may_be_winograd = kernel->keeps_weights = true;
    assert_true(kernel_is_winograd(kernel));
    kernel->keeps_weights = false;
    assert_int_equal(kernel_is_winograd(kernel), i > 1);
    kernel->keeps_weights = true;
  }
}

/* Gradients in the weights whose rasters are planes of x moved as a whole: dy in place and with zeros after it; padding
 * of each size, none and less than that; windows that leave the plane; several images and blocks of rows; two and three
 * axes. */
static void make_moved_convolutions(CaseList *list) {
  static const ConvShape shapes[] = {
      {1, 8, 8, 1, 2, {28, 28}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {1, 8, 8, 1, 2, {27, 29}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {3, 5, 12, 1, 2, {24, 23}, {3, 5}, {1, 1}, {0, 2}, {1, 2}, {1, 1}},
      {1, 8, 16, 2, 2, {30, 32}, {4, 4}, {1, 1}, {-3, 3}, {5, 0}, {1, 1}},
      {2, 6, 9, 1, 2, {33, 26}, {3, 3}, {1, 1}, {4, 0}, {-2, 4}, {1, 2}},
      {1, 4, 16, 1, 2, {250, 64}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {1, 4, 8, 1, 3, {9, 12, 20}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
      {1, 8, 8, 1, 2, {60, 20}, {2, 5}, {1, 1}, {1, 44}, {1, 44}, {1, 22}},
  };
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (int type = 0; type < 4; type++) {
      static const DType types[] = {DTYPE_F32, DTYPE_F64, DTYPE_BF16, DTYPE_F16};
      if (type > 0 && (i % 3 != (size_t)type - 1 || i == 5)) continue;
      make_conv(list, &shapes[i], KERNEL_CONV_WEIGHT, types[type], (int)i % 3, 0);
      Kernel *kernel = (Kernel *)last_case(list)->kernel;
      kernel->is_serial = true;
      assert_true(conv_grid(kernel).moved);
    }
}

/* Gradients in the weights of few channels: lines of taps in pieces, whole, and several together; planes and
 * channels last; one vector of the result's channels and more, the last panel narrower. */
static void make_narrow_convolutions(CaseList *list) {
  static const ConvShape shapes[] = {
      {2, 3, 64, 1, 2, {30, 31}, {7, 7}, {2, 2}, {3, 3}, {3, 3}, {1, 1}},
      {3, 1, 32, 1, 2, {17, 20}, {4, 4}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
      {2, 4, 48, 1, 2, {12, 9}, {3, 3}, {1, 1}, {1, 0}, {0, 2}, {2, 1}},
      {1, 2, 80, 1, 1, {200}, {9}, {3}, {4}, {5}, {1}},
      {2, 3, 16, 1, 3, {5, 9, 8}, {2, 3, 3}, {1, 2, 1}, {0, 1, 1}, {1, 1, 0}, {2, 1, 1}},
      {1, 15, 112, 1, 2, {14, 14}, {5, 5}, {1, 1}, {-1, -2}, {3, -1}, {1, 1}},
      {0, 3, 32, 1, 2, {9, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {1, 3, 32, 1, 2, {70, 3}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {1, 4, 32, 1, 2, {12, 11}, {11, 11}, {2, 1}, {5, 5}, {5, 5}, {1, 1}},
      {2, 2, 144, 1, 2, {9, 130}, {1, 1}, {2, 2}, {0, 0}, {0, 0}, {1, 1}},
      {1, 2, 32, 1, 2, {80, 1}, {5, 1}, {1, 1}, {2, 0}, {2, 0}, {1, 1}},
  };
  static const int lasts[] = {7, 2, 3, 6};
  int turn = 0;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (int way = 0; way < 2; way++, turn++) {
      make_conv(list, &shapes[i], KERNEL_CONV_WEIGHT, turn % 3 == 2 ? DTYPE_F64 : DTYPE_F32,
                turn / 2 % 3, lasts[turn % 4]);
      Kernel *kernel = (Kernel *)last_case(list)->kernel;
      kernel->is_serial = turn % 7 == 3;
      assert_true(kernel_is_narrow(kernel));
    }
  static const ConvShape pieces = {6, 3, 32, 1, 2, {9, 20}, {3, 3}, {2, 1}, {1, 1}, {1, 1}, {1, 1}};
  assert_true(kernel_is_narrow(make_weight_pieces(list, &pieces, 3, DTYPE_F32, 3)));
}

#endif
